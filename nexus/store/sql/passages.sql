-- name: clear_segments
DELETE FROM segment WHERE tenant = %(tenant)s AND document = %(document)s

-- name: clear_passages
DELETE FROM passage WHERE tenant = %(tenant)s AND document = %(document)s

-- name: add_segment
INSERT INTO segment (tenant, document, namespace, level, served, passages, length, languages, language_passages)
VALUES (%(tenant)s, %(document)s, %(namespace)s, %(level)s, %(served)s, %(passages)s, %(length)s, %(languages)s, %(language_passages)s)
RETURNING id

-- name: new_passage_ids
SELECT nextval(pg_get_serial_sequence('passage', 'id')) FROM generate_series(1, %(count)s)

-- name: copy_passages
COPY passage (id, tenant, rid, document, segment, ordinal, section, line_start, line_end, lead, text, level, language, content_hash) FROM STDIN

-- name: add_terms
INSERT INTO segment_terms (tenant, segment, passages, lengths, terms, places, frequencies)
VALUES (%(tenant)s, %(segment)s, %(passages)s, %(lengths)s, %(terms)s, %(places)s, %(frequencies)s)

-- name: readable_passages
SELECT p.id, p.rid, p.ordinal, p.section, p.line_start, p.line_end, p.text, p.level, p.language, d.rid AS document, d.title, d.uri, d.revision, d.tier,
       d.status, d.modified_at, d.indexed_at, d.doc_type, d.superseded_by, d.path, s.namespace
FROM passage p
JOIN segment s ON s.id = p.segment
JOIN document d ON d.tenant = p.tenant AND d.rid = p.document
WHERE p.tenant = %(tenant)s AND s.tenant = %(tenant)s AND s.served AND s.level <= %(level)s
  AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND (p.id = ANY (%(ids)s) OR p.rid = ANY (%(rids)s))

-- name: section_passages
SELECT p.id, p.rid, p.document, p.ordinal, p.section
FROM passage p
JOIN segment s ON s.id = p.segment
WHERE p.tenant = %(tenant)s AND s.served AND s.level <= %(level)s
  AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND p.document = ANY (%(documents)s)
ORDER BY p.document, p.ordinal
