-- The code index: what source files define and enforce, and the names in documents that are bound to it (answers.md section 1.10).
-- Names, places and hashes only; the files stay where they are.

CREATE TABLE code_file (
    tenant text NOT NULL,
    uri text NOT NULL,
    -- Root's name and path below it, with `/`; for people.
    path text NOT NULL,
    language text NOT NULL,
    -- A hash of the content and of all else that decides what is indexed: equal = skip.
    fingerprint text NOT NULL,
    -- 0 PUBLIC, 1 INTERNAL, 2 RESTRICTED.
    level smallint NOT NULL,
    indexed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, uri)
);

CREATE TABLE code_symbol (
    tenant text NOT NULL,
    uri text NOT NULL,
    name text NOT NULL,
    -- The path of names inside the file; the file's own path for the file itself.
    qualified text NOT NULL,
    kind text NOT NULL,
    line_start integer NOT NULL,
    line_end integer NOT NULL,
    signature text NOT NULL,
    -- Of its tokens, without comments and layout.
    hash text NOT NULL,
    FOREIGN KEY (tenant, uri) REFERENCES code_file (tenant, uri) ON DELETE CASCADE
);
CREATE INDEX code_symbol_name ON code_symbol (tenant, name);
CREATE INDEX code_symbol_file ON code_symbol (tenant, uri);

CREATE TABLE code_value (
    tenant text NOT NULL,
    uri text NOT NULL,
    name text NOT NULL,
    -- The name without case and separators.
    key text NOT NULL,
    value text NOT NULL,
    rule text NOT NULL CHECK (rule IN ('constant', 'annotation')),
    line integer NOT NULL,
    FOREIGN KEY (tenant, uri) REFERENCES code_file (tenant, uri) ON DELETE CASCADE
);
CREATE INDEX code_value_key ON code_value (tenant, key);
CREATE INDEX code_value_file ON code_value (tenant, uri);

-- Members of enums in their order, which is what grades are made of.
CREATE TABLE code_grade (
    tenant text NOT NULL,
    uri text NOT NULL,
    enum text NOT NULL,
    member text NOT NULL,
    level integer NOT NULL,
    FOREIGN KEY (tenant, uri) REFERENCES code_file (tenant, uri) ON DELETE CASCADE
);
CREATE INDEX code_grade_enum ON code_grade (tenant, enum);
CREATE INDEX code_grade_file ON code_grade (tenant, uri);

-- Places where code demands a member of an enum.
CREATE TABLE code_gate (
    tenant text NOT NULL,
    uri text NOT NULL,
    -- "" where the member stands as a text, like "ROLE_ADMIN".
    enum text NOT NULL,
    member text NOT NULL,
    action text NOT NULL,
    demand text NOT NULL,
    line integer NOT NULL,
    certain boolean NOT NULL,
    FOREIGN KEY (tenant, uri) REFERENCES code_file (tenant, uri) ON DELETE CASCADE
);
CREATE INDEX code_gate_member ON code_gate (tenant, member);
CREATE INDEX code_gate_file ON code_gate (tenant, uri);

-- Names of code in passages. The last four are null until exactly one symbol was meant; what it is now is told by comparing.
CREATE TABLE code_anchor (
    tenant text NOT NULL,
    document text NOT NULL,
    passage text NOT NULL,
    -- Of the passage: while its words stand, so does what they were bound to.
    content_hash text NOT NULL,
    name text NOT NULL,
    -- The last segment of the name: what the symbol is called.
    symbol text NOT NULL,
    bound_uri text,
    bound_to text,
    bound_hash text,
    bound_at timestamptz,
    PRIMARY KEY (tenant, document, passage, name),
    FOREIGN KEY (tenant, document) REFERENCES document (tenant, rid) ON DELETE CASCADE
);
CREATE INDEX code_anchor_symbol ON code_anchor (tenant, symbol);
CREATE INDEX code_anchor_passage ON code_anchor (tenant, passage);
