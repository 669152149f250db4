-- name: section_mates
SELECT p.rid, p.document, p.section, p.ordinal
FROM passage p JOIN segment s ON s.id = p.segment
WHERE p.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND (p.document, p.section) IN (SELECT f.document, f.section FROM passage f WHERE f.tenant = %(tenant)s AND f.rid = ANY (%(rids)s))
ORDER BY p.document, p.ordinal

-- name: changes
SELECT c.rid, c.title, c.path, c.front, c.supersedes, c.old_rid, c.old_title, c.old_path, c.old_uri
FROM (
    SELECT d.tenant, d.rid, d.title, d.path, coalesce(d.metadata -> 'front', '{}') AS front, true AS supersedes,
           o.rid AS old_rid, o.title AS old_title, o.path AS old_path, o.uri AS old_uri
    FROM document o
    JOIN document d ON d.tenant = o.tenant AND d.rid = o.superseded_by AND d.namespace = o.namespace AND d.status = 'active'
    WHERE o.tenant = %(tenant)s AND o.rid = ANY (%(documents)s)
    UNION ALL
    -- Documents that declare a change are few: an index holds them alone.
    SELECT d.tenant, d.rid, d.title, d.path, d.metadata -> 'front', false, o.rid, o.title, o.path, o.uri
    FROM document o
    JOIN document d ON d.tenant = o.tenant AND d.namespace = o.namespace AND d.rid <> o.rid AND d.rid IS DISTINCT FROM o.superseded_by AND d.status = 'active'
     AND d.metadata -> 'front' ?| ARRAY['supersedes', 'amends', 'updates', 'changes', 'replaces', 'corrects', 'obsoletes', '대체', '개정', '정정', '변경']
    WHERE o.tenant = %(tenant)s AND o.rid = ANY (%(documents)s)
) c
WHERE EXISTS (
    SELECT FROM segment s
    WHERE s.tenant = c.tenant AND s.document = c.rid AND s.served AND s.level <= %(level)s
      AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
)
ORDER BY c.rid, c.old_rid

-- name: named_documents
SELECT d.rid, d.path
FROM document d
WHERE d.tenant = %(tenant)s AND d.status = 'active' AND lower(regexp_replace(d.path, '^.*/', '')) = ANY (%(names)s)
  AND EXISTS (
      SELECT FROM segment s
      WHERE s.tenant = d.tenant AND s.document = d.rid AND s.served AND s.level <= %(level)s
        AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  )
ORDER BY d.path, d.rid

-- name: document_passages
SELECT n.rid, n.document, n.text
FROM (
    SELECT p.rid, p.document, p.text, p.ordinal, row_number() OVER (PARTITION BY p.document ORDER BY p.ordinal) AS place
    FROM passage p JOIN segment s ON s.id = p.segment
    WHERE p.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
      AND p.document = ANY (%(documents)s)
) n
WHERE n.place <= %(limit)s
ORDER BY n.document, n.ordinal
