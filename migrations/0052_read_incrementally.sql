-- What a refresh needs to know of every document without reading it again: which names it introduces and uses, which words it
-- holds, which other files it was read with. Rows of the release before have version 0 and are read once more.
ALTER TABLE designed_document
    -- Version of the readers and extractors that the row is from.
    ADD COLUMN version integer NOT NULL DEFAULT 0,
    -- Names that the document introduces, one JSON text each (designed.summaries).
    ADD COLUMN introduced text[] NOT NULL DEFAULT '{}',
    -- Names at the ends of its claims, one JSON text each.
    ADD COLUMN ends text[] NOT NULL DEFAULT '{}',
    -- Paths of other files that were asked for (includes), there or not.
    ADD COLUMN files text[] NOT NULL DEFAULT '{}',
    -- 0: its claims stand by themselves; 1: they matter to manifests; 2: they are made of several documents.
    ADD COLUMN joined smallint NOT NULL DEFAULT 2,
    -- Bloom filter over its words and pairs of words.
    ADD COLUMN signature bytea NOT NULL DEFAULT '';
CREATE INDEX designed_claim_document ON designed_claim (tenant, document_rid) WHERE valid_to IS NULL;
