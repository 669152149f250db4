-- Rows by shard (one span log partition; 0 is the local log), so that shards are rolled up side by side. Readers add shards up.
-- The previous release goes on beside this one: what it writes belongs to shard 0.
ALTER TABLE observed_row ADD COLUMN shard smallint NOT NULL DEFAULT 0;
ALTER TABLE observed_row DROP CONSTRAINT observed_row_pkey, ADD PRIMARY KEY (tenant, grain, edge, start, shard);
-- Kept for the previous release and as the pattern of each session's own staging tables.
ALTER TABLE observed_revised ADD COLUMN shard smallint NOT NULL DEFAULT 0;
ALTER TABLE observed_touched ADD COLUMN shard smallint NOT NULL DEFAULT 0;

-- When a window settled: shards let its spans go at different times. Null: before this release, or by the previous one.
ALTER TABLE observed_window ADD COLUMN settled_at timestamptz;
