-- name: named_nodes
WITH kept AS (
    SELECT e.relation, e.source, e.source_env, e.target, e.target_kind, e.target_env
    FROM observed_edge e
    WHERE e.tenant = %(tenant)s AND EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)
)
SELECT source AS name, 'service' AS kind, source_env AS environment FROM kept
UNION SELECT target, target_kind, target_env FROM kept WHERE relation <> 'SERVICE'
ORDER BY 1, 2, 3
