-- What is observed: edges (and services, which are rows of the same shape), and their measures by window.
CREATE TABLE observed_edge (
    tenant text NOT NULL DEFAULT 'default',
    -- Small number that rows are known by.
    id bigint GENERATED ALWAYS AS IDENTITY,
    -- Stable across databases: a hash of the key below.
    rid text NOT NULL,
    -- CALLS_OBSERVED, ... or SERVICE for what a service says of itself.
    relation text NOT NULL,
    source text NOT NULL,
    source_env text NOT NULL DEFAULT '',
    target text NOT NULL DEFAULT '',
    target_kind text NOT NULL DEFAULT 'service',
    target_env text NOT NULL DEFAULT '',
    infrastructure boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, rid),
    UNIQUE (tenant, id)
);
CREATE INDEX observed_edge_source ON observed_edge (tenant, source, relation);
CREATE INDEX observed_edge_target ON observed_edge (tenant, target, relation);

-- Measures of one edge in one window. Replaced by what its spans say; see docs/explanation/observed-edges.md for `bags`.
CREATE TABLE observed_row (
    tenant text NOT NULL DEFAULT 'default',
    -- 0 minute, 1 hour, 2 day, 3 era of 64 days.
    grain smallint NOT NULL,
    edge bigint NOT NULL,
    -- Start of the window, seconds since the epoch.
    start bigint NOT NULL,
    facts bigint NOT NULL,
    calls bigint NOT NULL,
    handled bigint NOT NULL,
    messages bigint NOT NULL,
    retries bigint NOT NULL,
    client_errors bigint NOT NULL,
    server_errors bigint NOT NULL,
    errors bigint NOT NULL,
    cancelled bigint NOT NULL,
    observed bigint NOT NULL,
    clock_suspect bigint NOT NULL,
    queue_unmeasured bigint NOT NULL,
    -- Nanoseconds.
    client_sum bigint NOT NULL,
    server_sum bigint NOT NULL,
    queue_sum bigint NOT NULL,
    first_ns bigint,
    last_ns bigint,
    client_min bigint,
    client_max bigint,
    server_min bigint,
    server_max bigint,
    queue_min bigint,
    queue_max bigint,
    -- JSON: counted texts, probabilities and latency buckets; sample traces.
    bags text NOT NULL,
    examples text NOT NULL,
    PRIMARY KEY (tenant, grain, edge, start)
);
CREATE INDEX observed_row_start ON observed_row (tenant, grain, start);

-- Rows on their way in; emptied in each transaction that uses them.
CREATE UNLOGGED TABLE observed_touched (
    tenant text NOT NULL,
    grain smallint NOT NULL,
    edge bigint NOT NULL,
    start bigint NOT NULL
);
CREATE UNLOGGED TABLE observed_revised (LIKE observed_row);

-- How far the span log is rolled up. Moves in the transaction of the rows.
CREATE TABLE observed_position (
    name text PRIMARY KEY,
    position jsonb NOT NULL,
    -- Number of the last batch; names the files of the working store.
    seq bigint NOT NULL,
    -- Pairing settings that the kept rows were made with.
    rules text NOT NULL DEFAULT '',
    moved_at timestamptz NOT NULL DEFAULT now()
);

-- Windows that spans touched, by minute of event time: when last, and whether they are settled.
CREATE TABLE observed_window (
    tenant text NOT NULL DEFAULT 'default',
    start bigint NOT NULL,
    touched_at timestamptz NOT NULL,
    settled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, start)
);
CREATE INDEX observed_window_open ON observed_window (touched_at) WHERE NOT settled;

-- What describes deliveries and not spans, by minute of arrival.
CREATE TABLE observed_delivery (
    tenant text NOT NULL DEFAULT 'default',
    service text NOT NULL,
    environment text NOT NULL DEFAULT '',
    minute timestamptz NOT NULL,
    late bigint NOT NULL DEFAULT 0,
    duplicates bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, service, environment, minute)
);

-- Edges beyond the limit of a tenant that were folded into overflow edges, by the source that most of them name.
CREATE TABLE observed_overflow (
    tenant text NOT NULL DEFAULT 'default',
    offender text NOT NULL,
    folded bigint NOT NULL,
    PRIMARY KEY (tenant, offender)
);
