-- "Roll up what is acknowledged now", asked of the aggregators by any process; each shard says in its position how far it has got.
CREATE TABLE observed_request (
    tenant text NOT NULL DEFAULT 'default',
    id bigint GENERATED ALWAYS AS IDENTITY,
    asked_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX observed_request_id ON observed_request (id);
-- The newest request after which the shard reached the end of its log, and what it is behind by now (bytes of the local log, else messages).
ALTER TABLE observed_position ADD COLUMN caught_up bigint NOT NULL DEFAULT 0;
ALTER TABLE observed_position ADD COLUMN behind bigint NOT NULL DEFAULT 0;
