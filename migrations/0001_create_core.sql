-- What every part stands on: principals and their tokens, and leases.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE principal (
    name text NOT NULL,
    tenant text NOT NULL DEFAULT 'default',
    -- SHA-256 of the token, hex. The token itself is shown once and kept nowhere.
    token_hash text PRIMARY KEY,
    clearance text NOT NULL CHECK (clearance IN ('PUBLIC', 'INTERNAL', 'RESTRICTED')),
    capabilities text[] NOT NULL,
    -- Empty = every namespace of the tenant.
    namespaces text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE INDEX principal_name ON principal (tenant, name);

-- Where only one process may act at a time.
CREATE TABLE lease (
    name text PRIMARY KEY,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL
);
