-- What documents say. Written by `designed` only.

-- Each document as last read: what the reader and the prose pass got out of it, so that an unchanged one is not read again.
CREATE TABLE designed_document (
    tenant text NOT NULL,
    rid text NOT NULL,
    namespace text NOT NULL,
    path text NOT NULL,
    uri text NOT NULL,
    title text NOT NULL,
    revision text NOT NULL,
    classification text NOT NULL CHECK (classification IN ('PUBLIC', 'INTERNAL', 'RESTRICTED')),
    -- Name of the reader; empty where no format fits.
    reader text NOT NULL,
    reading jsonb NOT NULL,
    prose jsonb NOT NULL,
    read_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, rid)
);

-- Claims, resolved. A claim that its document no longer makes keeps its row with `valid_to`.
CREATE TABLE designed_claim (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    rid text NOT NULL,
    edge_rid text NOT NULL,
    document_rid text NOT NULL,
    namespace text NOT NULL,
    relation text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    environment text NOT NULL,
    modality text NOT NULL,
    weak boolean NOT NULL,
    -- 0 PUBLIC, 1 INTERNAL, 2 RESTRICTED: a reader sees what is at most its clearance's.
    class_rank smallint NOT NULL CHECK (class_rank BETWEEN 0 AND 2),
    first_line integer NOT NULL,
    -- Hash over the row's values, so that a refresh writes only what changed.
    digest text NOT NULL,
    body jsonb NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX designed_claim_live ON designed_claim (tenant, rid) WHERE valid_to IS NULL;
CREATE INDEX designed_claim_edge ON designed_claim (tenant, edge_rid) WHERE valid_to IS NULL;
CREATE INDEX designed_claim_ends ON designed_claim (tenant, source, target) WHERE valid_to IS NULL;

-- One row a tenant: what the stored claims stand on.
CREATE TABLE designed_state (
    tenant text PRIMARY KEY,
    document_revision text NOT NULL,
    -- Hash over everything that went in: documents, decisions, names of traces, version of the extractors.
    input_key text NOT NULL,
    counts jsonb NOT NULL,
    -- Document namespace -> spellings that prose was read with.
    spellings jsonb NOT NULL,
    problems jsonb NOT NULL,
    refreshed_at timestamptz NOT NULL
);
