-- The registry of names. `entity` is a fold of documents, traces and decisions, and replaced as a whole; decisions are kept for ever.
CREATE TABLE entity (
    tenant text NOT NULL,
    rid text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('service', 'database', 'topic', 'external', 'api')),
    aliases text[] NOT NULL,
    owner text NOT NULL,
    namespace text NOT NULL,
    environments text[] NOT NULL,
    state text NOT NULL CHECK (state IN ('declared', 'accepted', 'proposed', 'rejected')),
    evidence text[] NOT NULL,
    members text[] NOT NULL,
    attributes jsonb NOT NULL,
    -- Document namespaces that know the name; empty for names of people and traces.
    scopes text[] NOT NULL,
    class_rank smallint NOT NULL CHECK (class_rank BETWEEN 0 AND 2),
    PRIMARY KEY (tenant, rid)
);
CREATE INDEX entity_name ON entity (tenant, lower(name));

CREATE TABLE entity_decision (
    tenant text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    action text NOT NULL CHECK (action IN ('accept', 'reject', 'merge', 'split', 'alias', 'unalias')),
    name text NOT NULL,
    kind text NOT NULL,
    other text NOT NULL,
    who text NOT NULL,
    why text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- Spellings that mean several things, from the last refresh.
CREATE TABLE entity_ambiguous (
    tenant text NOT NULL,
    name text NOT NULL,
    candidates text[] NOT NULL,
    class_rank smallint NOT NULL,
    scopes text[] NOT NULL,
    PRIMARY KEY (tenant, name)
);
