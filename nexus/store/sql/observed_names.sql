-- name: named_nodes
WITH kept AS (
    SELECT e.relation, e.source, e.source_env, e.target, e.target_kind, e.target_env
    FROM observed_edge e
    WHERE e.tenant = %(tenant)s AND EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)
)
SELECT source AS name, 'service' AS kind, source_env AS environment FROM kept
UNION SELECT target, target_kind, target_env FROM kept WHERE relation <> 'SERVICE'
ORDER BY 1, 2, 3

-- name: named_in_bags
SELECT DISTINCT e.target, e.target_kind, substring(r.bags from '"k":"' || %(kind)s || '","i":(\["(?:[^"\\]|\\.)*"(?:,"(?:[^"\\]|\\.)*")*\])') AS items
FROM observed_edge e JOIN observed_row r ON r.tenant = e.tenant AND r.edge = e.id AND r.grain IN (3, -1)
WHERE e.tenant = %(tenant)s AND strpos(r.bags, '"k":"' || %(kind)s || '"') > 0

-- name: named_speakers
SELECT DISTINCT source FROM observed_edge WHERE tenant = %(tenant)s AND relation = 'SERVICE'
