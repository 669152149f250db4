-- Spans that could not be rolled up (a bug meets an odd span): kept to be tried again by a later release, while everything else goes on.
-- `payload` is null where more was set aside than is kept: such spans are only counted.
CREATE TABLE observed_aside (
    tenant text NOT NULL DEFAULT 'default',
    id bigint GENERATED ALWAYS AS IDENTITY,
    shard smallint NOT NULL,
    spans bigint NOT NULL,
    reason text NOT NULL,
    payload bytea,
    set_aside_at timestamptz NOT NULL,
    retry boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX observed_aside_retry ON observed_aside (shard, id) WHERE retry;
