-- Spans that shards tell one another of: copies of traces that are linked across shards, and spans that came to the wrong partition.
-- Written and taken in the transactions of the rows, so that none is lost or taken twice; kept for the horizon of links, to make a shard's working spans again.
CREATE TABLE observed_link (
    tenant text NOT NULL DEFAULT 'default',
    id bigint GENERATED ALWAYS AS IDENTITY,
    shard smallint NOT NULL,
    sender smallint NOT NULL,
    spans integer NOT NULL,
    -- Arrow IPC.
    payload bytea NOT NULL,
    sent_at timestamptz NOT NULL,
    taken_at timestamptz,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX observed_link_waiting ON observed_link (shard, id) WHERE taken_at IS NULL;
CREATE INDEX observed_link_taken ON observed_link (shard, taken_at) WHERE taken_at IS NOT NULL;

-- When a window was first touched (null: by an earlier release), and where each shard's log stood from time to time: how far back a log has to be read
-- to make working spans again. `marks` is [[seconds since the epoch, position], ...], oldest first.
ALTER TABLE observed_window ADD COLUMN opened_at timestamptz;
CREATE INDEX observed_window_settled ON observed_window (settled_at) WHERE settled_at IS NOT NULL;
ALTER TABLE observed_position ADD COLUMN marks jsonb NOT NULL DEFAULT '[]';
-- Which folder has the working spans of that position; empty: the one of the local log.
ALTER TABLE observed_position ADD COLUMN holder text NOT NULL DEFAULT '';
