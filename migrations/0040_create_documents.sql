-- Documents, their passages, what was quarantined, and the search index over them (answers.md sections 1 and 2).

CREATE TABLE document (
    tenant text NOT NULL,
    -- From namespace and canonical URI: the same file keeps its identity, whichever folder was passed.
    rid text NOT NULL,
    namespace text NOT NULL,
    uri text NOT NULL,
    -- Below the root that it was collected from; for people.
    path text NOT NULL,
    suffix text NOT NULL,
    title text NOT NULL,
    doc_type text NOT NULL,
    -- A hash of the content and its level: what was made of the document is out of date when it changes.
    revision text NOT NULL,
    -- A hash of all that decides what is indexed (content, level, chunking, scanner): equal = skip.
    fingerprint text NOT NULL,
    classification text NOT NULL CHECK (classification IN ('PUBLIC', 'INTERNAL', 'RESTRICTED')),
    tier text NOT NULL CHECK (tier IN ('authored', 'machine_read', 'machine_written')),
    status text NOT NULL CHECK (status IN ('active', 'hidden', 'superseded', 'quarantined')),
    superseded_by text,
    -- Of the file, where there is one.
    modified_at timestamptz,
    indexed_at timestamptz NOT NULL,
    passages integer NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant, rid)
);
CREATE UNIQUE INDEX document_identity ON document (tenant, namespace, uri);

-- The passages of one document and one level: what a reader may see or not see is decided here, once, for every list.
CREATE TABLE segment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    document text NOT NULL,
    namespace text NOT NULL,
    -- 0 PUBLIC, 1 INTERNAL, 2 RESTRICTED.
    level smallint NOT NULL,
    -- False while the document is hidden or quarantined.
    served boolean NOT NULL,
    passages integer NOT NULL,
    -- Tokens, for BM25's average length.
    length bigint NOT NULL,
    languages text[] NOT NULL,
    -- Passages in each of them.
    language_passages integer[] NOT NULL,
    -- Generations in which every passage has its vector.
    generations text[] NOT NULL DEFAULT '{}',
    FOREIGN KEY (tenant, document) REFERENCES document (tenant, rid) ON DELETE CASCADE
);
CREATE INDEX segment_document ON segment (tenant, document);
CREATE INDEX segment_visible ON segment (tenant, level, namespace) INCLUDE (id, passages, length) WHERE served;

CREATE TABLE passage (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    rid text NOT NULL,
    document text NOT NULL,
    -- NULL where the passage is quarantined: then `text` holds nothing but its line ends.
    segment bigint REFERENCES segment (id) ON DELETE CASCADE,
    ordinal integer NOT NULL,
    section text[] NOT NULL,
    line_start integer NOT NULL,
    line_end integer NOT NULL,
    -- The end of the passage before, repeated for the index; not part of the original here.
    lead text NOT NULL,
    text text NOT NULL,
    level smallint NOT NULL,
    language text NOT NULL,
    -- Of the text that is embedded.
    content_hash text NOT NULL,
    FOREIGN KEY (tenant, document) REFERENCES document (tenant, rid) ON DELETE CASCADE
);
CREATE UNIQUE INDEX passage_place ON passage (tenant, document, ordinal);
CREATE INDEX passage_rid ON passage (tenant, rid);
CREATE INDEX passage_segment ON passage (segment);

-- BM25: the passages of one segment that hold one term, at most 64 a row. `term` is the first 64 bits of the term's hash.
CREATE TABLE posting (
    tenant text NOT NULL,
    term bigint NOT NULL,
    segment bigint NOT NULL REFERENCES segment (id) ON DELETE CASCADE,
    passages bigint[] NOT NULL,
    frequencies smallint[] NOT NULL,
    lengths integer[] NOT NULL
);
CREATE INDEX posting_term ON posting (term, tenant) INCLUDE (segment, passages, frequencies, lengths);
CREATE INDEX posting_segment ON posting (segment);

CREATE TABLE quarantine (
    tenant text NOT NULL,
    document text NOT NULL,
    namespace text NOT NULL,
    -- Masked where the name itself is the finding.
    path text NOT NULL,
    kind text NOT NULL,
    place text NOT NULL,
    -- 0 where the place has no line.
    line integer NOT NULL,
    level smallint NOT NULL,
    found_at timestamptz NOT NULL
);
CREATE INDEX quarantine_document ON quarantine (tenant, document);

-- Who decided what about a document, and why.
CREATE TABLE document_decision (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    document text NOT NULL,
    action text NOT NULL,
    other text NOT NULL DEFAULT '',
    who text NOT NULL,
    why text NOT NULL,
    decided_at timestamptz NOT NULL
);
CREATE INDEX document_decision_document ON document_decision (tenant, document, id);
