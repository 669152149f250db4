-- Which ranges of event time a polled source has read, and how. Ranges of one source do not overlap; what is in none was never asked for.
CREATE TABLE coverage_range (
    tenant text NOT NULL DEFAULT 'default',
    source text NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('complete', 'truncated', 'failed', 'pending', 'partial')),
    reason text NOT NULL DEFAULT '',
    -- Share of the traces in the range that the source kept; null where it keeps all.
    probability double precision CHECK (probability > 0 AND probability <= 1),
    PRIMARY KEY (tenant, source, start_at),
    CHECK (start_at < end_at)
);
CREATE INDEX coverage_range_end ON coverage_range (tenant, source, end_at);

-- Where a polled source stands. Moves in the transaction that records the range, after the range's spans are durable.
CREATE TABLE source_cursor (
    tenant text NOT NULL DEFAULT 'default',
    source text NOT NULL,
    -- Where reading began.
    read_from timestamptz NOT NULL,
    -- Everything before was read once; everything before `settled_to` twice, for traces that came late.
    read_to timestamptz NOT NULL,
    settled_to timestamptz NOT NULL,
    attempted_at timestamptz,
    succeeded_at timestamptz,
    -- Reason why the last attempt failed; empty where it did not.
    error text NOT NULL DEFAULT '',
    traces bigint NOT NULL DEFAULT 0,
    spans bigint NOT NULL DEFAULT 0,
    requests bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, source),
    CHECK (settled_to <= read_to)
);

-- Traces that were taken lately, so that a trace found again is fetched only where it has changed, and only its new spans are appended.
CREATE TABLE source_trace (
    tenant text NOT NULL DEFAULT 'default',
    source text NOT NULL,
    trace_id bytea NOT NULL,
    -- What search said of it; 0 = to be fetched again whatever search says.
    fingerprint bigint NOT NULL,
    -- Eight bytes a span: a hash of its content.
    row_hashes bytea NOT NULL,
    -- Share of traces kept when this one was taken; null where the source keeps all.
    probability double precision,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, source, trace_id)
);
CREATE INDEX source_trace_seen ON source_trace (tenant, source, seen_at);
