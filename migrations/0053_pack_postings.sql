-- BM25 over few large rows: a segment's terms in one row, and packs of many segments by term (docs/adr/0013).

-- The pack that a segment's passages were put into, and the place of the first of them; NULL until then.
ALTER TABLE segment ADD COLUMN pack bigint, ADD COLUMN place integer;
CREATE INDEX segment_pack ON segment (pack);
CREATE INDEX segment_unpacked ON segment (tenant) INCLUDE (id, passages) WHERE pack IS NULL;
CREATE INDEX segment_served ON segment (tenant, level, namespace) INCLUDE (id, passages, length, pack, place) WHERE served;
DROP INDEX segment_visible;

-- The terms of a segment's passages. Numbers are big-endian, one after the other; the three of a posting are in the order of
-- the terms. A posting's place counts the segment's passages from 0, in the order of their ids.
CREATE TABLE segment_terms (
    tenant text NOT NULL,
    segment bigint NOT NULL REFERENCES segment (id) ON DELETE CASCADE,
    -- 64-bit ids and 32-bit lengths, one for each passage.
    passages bytea NOT NULL,
    lengths bytea NOT NULL,
    -- 64-bit terms, 32-bit places and 16-bit frequencies, one for each posting.
    terms bytea NOT NULL,
    places bytea NOT NULL,
    frequencies bytea NOT NULL,
    PRIMARY KEY (tenant, segment)
);
CREATE INDEX segment_terms_segment ON segment_terms (segment);

-- The passages of many segments of one tenant, namespace and level. Written once, never changed; which of them a reader may still
-- see is what the segments say.
CREATE TABLE pack (
    tenant text NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    namespace text NOT NULL,
    level smallint NOT NULL,
    size integer NOT NULL,
    passages bytea NOT NULL,
    lengths bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- Postings of a pack in the order of their terms, so many a row; a term is in one row only.
CREATE TABLE pack_terms (
    tenant text NOT NULL,
    pack bigint NOT NULL,
    -- The largest of the row.
    last_term bigint NOT NULL,
    -- 64-bit terms, each once, and 32-bit numbers of their postings.
    terms bytea NOT NULL,
    counts bytea NOT NULL,
    places bytea NOT NULL,
    frequencies bytea NOT NULL,
    PRIMARY KEY (tenant, pack, last_term),
    FOREIGN KEY (tenant, pack) REFERENCES pack (tenant, id) ON DELETE CASCADE
);

-- Read whole and in a hurry: not compressed.
ALTER TABLE segment_terms ALTER COLUMN passages SET STORAGE EXTERNAL, ALTER COLUMN lengths SET STORAGE EXTERNAL, ALTER COLUMN terms SET STORAGE EXTERNAL,
    ALTER COLUMN places SET STORAGE EXTERNAL, ALTER COLUMN frequencies SET STORAGE EXTERNAL;
ALTER TABLE pack ALTER COLUMN passages SET STORAGE EXTERNAL, ALTER COLUMN lengths SET STORAGE EXTERNAL;
ALTER TABLE pack_terms ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN counts SET STORAGE EXTERNAL, ALTER COLUMN places SET STORAGE EXTERNAL,
    ALTER COLUMN frequencies SET STORAGE EXTERNAL;

-- What was indexed before. The old table stays for processes of the release before; nothing else reads it.
INSERT INTO segment_terms (tenant, segment, passages, lengths, terms, places, frequencies)
WITH entry AS (
    SELECT segment, term, unnest(passages) AS passage, unnest(frequencies) AS frequency, unnest(lengths) AS length FROM posting
),
placed AS (
    SELECT p.id, p.segment, (row_number() OVER (PARTITION BY p.segment ORDER BY p.id) - 1)::integer AS place, coalesce(l.length, 0) AS length
    FROM passage p LEFT JOIN (SELECT passage, max(length) AS length FROM entry GROUP BY passage) l ON l.passage = p.id
    WHERE p.segment IS NOT NULL
),
passages AS (
    SELECT segment, string_agg(int8send(id), ''::bytea ORDER BY place) AS ids, string_agg(int4send(length), ''::bytea ORDER BY place) AS lengths
    FROM placed GROUP BY segment
),
postings AS (
    SELECT e.segment, string_agg(int8send(e.term), ''::bytea ORDER BY e.term, p.place) AS terms, string_agg(int4send(p.place), ''::bytea ORDER BY e.term, p.place) AS places,
           string_agg(int2send(e.frequency), ''::bytea ORDER BY e.term, p.place) AS frequencies
    FROM entry e JOIN placed p ON p.id = e.passage GROUP BY e.segment
)
SELECT s.tenant, s.id, p.ids, p.lengths, coalesce(t.terms, ''), coalesce(t.places, ''), coalesce(t.frequencies, '')
FROM segment s JOIN passages p ON p.segment = s.id LEFT JOIN postings t ON t.segment = s.id;
