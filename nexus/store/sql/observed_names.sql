-- name: named_nodes
WITH kept AS (
    SELECT e.relation, e.source, e.source_env, e.target, e.target_kind, e.target_env
    FROM observed_edge e
    WHERE e.tenant = %(tenant)s AND EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)
)
SELECT source AS name, 'service' AS kind, source_env AS environment FROM kept
UNION SELECT target, target_kind, target_env FROM kept WHERE relation <> 'SERVICE'
ORDER BY 1, 2, 3

-- name: named_aliases
WITH told AS (
    SELECT e.target, e.target_kind, substring(r.bags from '"k":"alias","i":\[([^\]]*)\]') AS items
    FROM observed_edge e JOIN observed_row r ON r.tenant = e.tenant AND r.edge = e.id AND r.grain IN (3, -1)
    WHERE e.tenant = %(tenant)s
)
SELECT DISTINCT target, target_kind, alias
FROM told CROSS JOIN LATERAL jsonb_array_elements_text(('[' || items || ']')::jsonb) AS alias
WHERE items IS NOT NULL
ORDER BY 1, 2, 3
