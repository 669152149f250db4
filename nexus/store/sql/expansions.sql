-- name: section_mates
SELECT p.rid, p.document, p.section, p.ordinal
FROM passage p JOIN segment s ON s.id = p.segment
WHERE p.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND (p.document, p.section) IN (
      SELECT f.document, f.section FROM passage f WHERE f.tenant = %(tenant)s AND f.rid = ANY (%(rids)s)
  )
ORDER BY p.document, p.ordinal

-- name: corrections
SELECT d.rid, d.title, d.path, d.superseded_by, d.metadata, o.rid
FROM document o
JOIN document d ON d.tenant = o.tenant AND d.namespace = o.namespace AND d.rid <> o.rid AND d.status = 'active'
WHERE o.tenant = %(tenant)s AND o.rid = ANY (%(documents)s)
  AND (o.superseded_by = d.rid OR d.metadata -> 'front' ?| ARRAY['supersedes', 'amends', 'updates', 'changes', 'replaces', 'corrects', 'obsoletes'])

-- name: document_names
SELECT rid, path, title, suffix FROM document
WHERE tenant = %(tenant)s AND status = 'active' AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
  AND regexp_replace(lower(path), '^.*/', '') = ANY (%(names)s)
ORDER BY path

-- name: document_passages
SELECT p.rid, p.document, p.id, p.text
FROM passage p JOIN segment s ON s.id = p.segment
WHERE p.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND p.document = ANY (%(documents)s)
ORDER BY p.document, p.ordinal
