-- Index generations: model, dimension and text form move as one (answers.md section 1).

CREATE TABLE generation (
    tenant text NOT NULL,
    name text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    -- How a passage becomes the text that is embedded; vectors of two forms do not compare.
    form text NOT NULL,
    declared_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- Declared once, never changed: vectors that are stored would lose their meaning.
CREATE FUNCTION generation_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'generations are append-only' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER generation_append_only BEFORE UPDATE OR DELETE ON generation FOR EACH ROW EXECUTE FUNCTION generation_is_append_only();

-- Which generation a tenant's searches use.
CREATE TABLE generation_serving (
    tenant text PRIMARY KEY,
    name text NOT NULL,
    since timestamptz NOT NULL,
    FOREIGN KEY (tenant, name) REFERENCES generation (tenant, name)
);

CREATE TABLE embedding (
    tenant text NOT NULL,
    generation text NOT NULL,
    passage bigint NOT NULL REFERENCES passage (id) ON DELETE CASCADE,
    segment bigint NOT NULL REFERENCES segment (id) ON DELETE CASCADE,
    language text NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (tenant, generation, language, passage)
);
-- In the row, also with 1,024 dimensions: a scan would otherwise fetch each from the TOAST table.
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX embedding_passage ON embedding (passage);
CREATE INDEX embedding_segment ON embedding (segment);

-- Keyed by what was embedded and by what; bounded by the caller.
CREATE TABLE embedding_cache (
    tenant text NOT NULL,
    content_hash text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    vector halfvec NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, content_hash, model, dimension)
);
ALTER TABLE embedding_cache ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX embedding_cache_used ON embedding_cache (tenant, used_at);
