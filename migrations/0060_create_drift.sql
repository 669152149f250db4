-- Drift runs, their findings, and what became of findings over time. Written by `diff` only.

CREATE TABLE drift_run (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    -- Hash over window, environment, document revision and configuration: the same four are the same run.
    id text NOT NULL,
    environment text NOT NULL,
    window_from timestamptz NOT NULL,
    window_to timestamptz NOT NULL,
    document_revision text NOT NULL,
    config_hash text NOT NULL,
    -- Hash over everything that was read; a run of the same four is made again when late spans or names changed it.
    input_digest text NOT NULL,
    state text NOT NULL CHECK (state IN ('done', 'failed')),
    error text NOT NULL DEFAULT '',
    error_code text NOT NULL DEFAULT '',
    -- What asked for it: schedule, change, request, start.
    trigger text NOT NULL,
    -- Whether findings over time follow this run (the default window).
    standard boolean NOT NULL,
    -- Labels of the claims it was made from (visibility.py).
    labels text[] NOT NULL DEFAULT '{}',
    -- Policy, notes, coverage, estimates: nothing of a document.
    body jsonb NOT NULL DEFAULT '{}',
    started_at timestamptz NOT NULL,
    generated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX drift_run_newest ON drift_run (tenant, environment, seq DESC);

CREATE TABLE drift_finding (
    tenant text NOT NULL,
    run_id text NOT NULL,
    fingerprint text NOT NULL,
    -- Labels that a reader must see, and must not see, for this verdict to be the reader's.
    needs text[] NOT NULL,
    hidden text[] NOT NULL,
    environment text NOT NULL,
    flag text NOT NULL,
    status text NOT NULL,
    severity smallint NOT NULL,
    undecided boolean NOT NULL,
    -- False for a broken promise beside the finding of its edge.
    main boolean NOT NULL,
    -- From an earlier run: gone from this one, and not resolved yet, or resolved lately.
    carried boolean NOT NULL DEFAULT false,
    rank double precision NOT NULL,
    calls bigint NOT NULL,
    -- Lower case: both ends and their other spellings; namespaces of services and documents.
    names text[] NOT NULL,
    namespaces text[] NOT NULL,
    body jsonb NOT NULL,
    FOREIGN KEY (tenant, run_id) REFERENCES drift_run (tenant, id) ON DELETE CASCADE
);
CREATE INDEX drift_finding_ranked ON drift_finding (tenant, run_id, rank DESC, fingerprint);
CREATE INDEX drift_finding_one ON drift_finding (tenant, fingerprint);

-- A finding over runs. `scope` is the environment of the runs that it belongs to.
CREATE TABLE drift_state (
    tenant text NOT NULL,
    scope text NOT NULL,
    fingerprint text NOT NULL,
    state text NOT NULL CHECK (state IN ('new', 'open', 'acknowledged', 'suppressed', 'resolved', 'reopened', 'held')),
    -- The state that a hold ends in.
    before text NOT NULL DEFAULT '',
    flag text NOT NULL,
    status text NOT NULL,
    relation text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    decided boolean NOT NULL,
    first_detected timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    -- Window ends (days) on which it was there, or was gone, in a row.
    present integer NOT NULL,
    missing integer NOT NULL,
    counted_on date NOT NULL,
    reason text NOT NULL DEFAULT '',
    owner text NOT NULL DEFAULT '',
    expires_at timestamptz,
    PRIMARY KEY (tenant, scope, fingerprint)
);

CREATE TABLE drift_transition (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    scope text NOT NULL,
    fingerprint text NOT NULL,
    from_state text NOT NULL,
    to_state text NOT NULL,
    at timestamptz NOT NULL,
    -- A run's id, or the name of who did it.
    run_id text NOT NULL DEFAULT '',
    actor text NOT NULL DEFAULT '',
    note text NOT NULL DEFAULT ''
);
CREATE INDEX drift_transition_of ON drift_transition (tenant, fingerprint, id);

-- CloudEvents that wait for their receiver.
CREATE TABLE drift_outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    url text NOT NULL,
    event jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL,
    last_error text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL
);
CREATE INDEX drift_outbox_due ON drift_outbox (next_at);

-- When a schedule fired last, so that restarts neither miss nor repeat it.
CREATE TABLE drift_schedule (
    tenant text NOT NULL,
    name text NOT NULL,
    fired_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, name)
);
