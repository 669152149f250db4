-- name: lock_document
SELECT pg_advisory_xact_lock(hashtextextended(%(tenant)s || E'\x1f' || %(rid)s, 0))

-- name: find_document
SELECT rid, namespace, uri, path, suffix, title, doc_type, revision, fingerprint, classification, tier, status, superseded_by, modified_at, indexed_at,
       passages, metadata
FROM document
WHERE tenant = %(tenant)s AND rid = %(rid)s

-- name: below_uri
SELECT rid, uri
FROM document
WHERE tenant = %(tenant)s AND namespace = %(namespace)s AND (uri = %(uri)s OR starts_with(uri, %(uri)s || '/'))
ORDER BY uri

-- name: put_document
-- A person's decision about a document outlives its next version, also where its file was gone or held a secret in between; quarantine comes and
-- goes with the content. The row is what decisions made of it; where there is none, or a quarantined one, the decisions are asked.
WITH decided AS (
    SELECT coalesce((
               SELECT h.action = 'hide' FROM document_decision h
               WHERE h.tenant = %(tenant)s AND h.document = %(rid)s AND h.action IN ('hide', 'restore')
               ORDER BY h.id DESC LIMIT 1
           ), false) AS hidden,
           (
               SELECT o.rid
               FROM (
                   SELECT s.action, s.other FROM document_decision s
                   WHERE s.tenant = %(tenant)s AND s.document = %(rid)s AND s.action IN ('supersede', 'undo')
                   ORDER BY s.id DESC LIMIT 1
               ) last
               -- One that went itself, or was superseded meanwhile, takes nobody's place.
               JOIN document o ON o.tenant = %(tenant)s AND o.rid = last.other AND o.superseded_by IS NULL
               WHERE last.action = 'supersede'
           ) AS superseded_by
)
INSERT INTO document (tenant, rid, namespace, uri, path, suffix, title, doc_type, revision, fingerprint, classification, tier, status, superseded_by,
                      modified_at, indexed_at, passages, metadata)
SELECT %(tenant)s, %(rid)s, %(namespace)s, %(uri)s, %(path)s, %(suffix)s, %(title)s, %(doc_type)s, %(revision)s, %(fingerprint)s, %(classification)s,
       %(tier)s,
       CASE
           WHEN %(status)s = 'quarantined' THEN 'quarantined'
           WHEN d.hidden THEN 'hidden'
           WHEN d.superseded_by IS NOT NULL THEN 'superseded'
           ELSE %(status)s
       END,
       d.superseded_by, %(modified_at)s, %(indexed_at)s, %(passages)s, %(metadata)s
FROM decided d
ON CONFLICT (tenant, rid) DO UPDATE SET
    uri = excluded.uri, path = excluded.path, suffix = excluded.suffix, title = excluded.title, doc_type = excluded.doc_type,
    revision = excluded.revision, fingerprint = excluded.fingerprint, classification = excluded.classification, tier = excluded.tier,
    modified_at = excluded.modified_at, indexed_at = excluded.indexed_at, passages = excluded.passages, metadata = excluded.metadata,
    status = CASE
        WHEN excluded.status = 'quarantined' THEN 'quarantined'
        WHEN document.status IN ('hidden', 'superseded') THEN document.status
        WHEN document.status = 'quarantined' AND excluded.status = 'hidden' THEN 'hidden'
        WHEN document.superseded_by IS NOT NULL THEN 'superseded'
        ELSE 'active'
    END
RETURNING status

-- name: delete_document
DELETE FROM document
WHERE tenant = %(tenant)s AND rid = %(rid)s
RETURNING passages

-- name: active_documents
SELECT rid, title, uri, revision
FROM document
WHERE tenant = %(tenant)s AND status = 'active'
ORDER BY rid

-- name: document_texts
SELECT d.rid, d.title, d.uri, d.revision, d.suffix, d.path, d.namespace, d.classification, d.tier,
       coalesce((SELECT string_agg(p.text, '' ORDER BY p.ordinal) FROM passage p WHERE p.tenant = d.tenant AND p.document = d.rid), ''),
       (SELECT coalesce(array_agg(ARRAY[p.line_start, p.line_end, p.level] ORDER BY p.ordinal), '{}')
        FROM passage p WHERE p.tenant = d.tenant AND p.document = d.rid AND p.segment IS NOT NULL
          AND p.level > array_position(ARRAY['PUBLIC', 'INTERNAL', 'RESTRICTED'], d.classification) - 1)
FROM document d
WHERE d.tenant = %(tenant)s AND d.rid = ANY (%(rids)s) AND d.status = 'active'
ORDER BY d.rid

-- name: list_documents
WITH visible AS NOT MATERIALIZED (
    SELECT * FROM document
    WHERE tenant = %(tenant)s
      AND array_position(ARRAY['PUBLIC', 'INTERNAL', 'RESTRICTED'], classification) - 1 <= %(level)s
      AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
)
SELECT rid, namespace, uri, path, suffix, title, doc_type, revision, fingerprint, classification, tier, status,
       (SELECT o.rid FROM visible o WHERE o.rid = d.superseded_by) AS superseded_by, modified_at, indexed_at,
       -- Of a document that the reader may see there may be passages that it may not.
       (SELECT coalesce(sum(s.passages), 0)::integer FROM segment s WHERE s.tenant = d.tenant AND s.document = d.rid AND s.level <= %(level)s) AS passages,
       metadata
FROM visible d
WHERE (%(status)s = '' OR status = %(status)s)
  AND (%(text)s = '' OR strpos(lower(title), lower(%(text)s)) > 0 OR strpos(lower(path), lower(%(text)s)) > 0)
  AND rid > %(after)s
ORDER BY rid
LIMIT %(limit)s

-- name: count_documents
WITH visible AS (
    SELECT rid, status FROM document
    WHERE tenant = %(tenant)s
      AND array_position(ARRAY['PUBLIC', 'INTERNAL', 'RESTRICTED'], classification) - 1 <= %(level)s
      AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
), held AS (
    SELECT document, sum(passages) AS passages FROM segment
    WHERE tenant = %(tenant)s AND level <= %(level)s
    GROUP BY document
)
SELECT v.status, count(*), coalesce(sum(h.passages), 0)
FROM visible v LEFT JOIN held h ON h.document = v.rid
GROUP BY v.status
ORDER BY status

-- name: set_status
UPDATE document SET status = %(status)s, superseded_by = %(superseded_by)s
WHERE tenant = %(tenant)s AND rid = %(rid)s

-- name: serve_segments
UPDATE segment SET served = %(served)s
WHERE tenant = %(tenant)s AND document = %(rid)s

-- name: superseded_chain
WITH RECURSIVE chain (rid, superseded_by) AS (
    SELECT rid, superseded_by FROM document WHERE tenant = %(tenant)s AND rid = %(rid)s
    UNION
    SELECT d.rid, d.superseded_by FROM document d JOIN chain c ON d.rid = c.superseded_by WHERE d.tenant = %(tenant)s
)
SELECT rid FROM chain

-- name: supersedes
SELECT rid FROM document
WHERE tenant = %(tenant)s AND superseded_by = %(rid)s
ORDER BY rid

-- name: add_decision
INSERT INTO document_decision (tenant, document, action, other, who, why, decided_at)
VALUES (%(tenant)s, %(document)s, %(action)s, %(other)s, %(who)s, %(why)s, %(decided_at)s)

-- name: decisions
SELECT action, other, who, why, decided_at
FROM document_decision
WHERE tenant = %(tenant)s AND document = %(document)s
ORDER BY id

-- name: clear_quarantine
DELETE FROM quarantine WHERE tenant = %(tenant)s AND document = %(document)s

-- name: forget_claims
DELETE FROM designed_claim WHERE tenant = %(tenant)s AND document_rid = %(document)s

-- name: add_quarantine
INSERT INTO quarantine (tenant, document, namespace, path, kind, place, line, level, found_at)
VALUES (%(tenant)s, %(document)s, %(namespace)s, %(path)s, %(kind)s, %(place)s, %(line)s, %(level)s, %(found_at)s)

-- name: list_quarantine
SELECT document, namespace, path, kind, place, line, found_at
FROM quarantine
WHERE tenant = %(tenant)s AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
ORDER BY namespace, path, line, kind, place
LIMIT %(limit)s
