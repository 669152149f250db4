-- What a shard of the aggregator waits for (a full disk, an error that nobody foresaw), for `GET /status` of any process. Empty: it goes on.
CREATE TABLE observed_wait (
    tenant text NOT NULL DEFAULT 'default',
    shard smallint NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (tenant, shard)
);
