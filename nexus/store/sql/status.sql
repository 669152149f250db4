-- name: deliveries
SELECT coalesce(sum(late), 0)::bigint, coalesce(sum(duplicates), 0)::bigint, coalesce(sum(rejected), 0)::bigint
FROM observed_delivery
WHERE tenant = %(tenant)s

-- name: known
SELECT count(*) FILTER (WHERE relation <> 'SERVICE')::bigint, count(*) FILTER (WHERE relation = 'SERVICE')::bigint
FROM observed_edge e
WHERE e.tenant = %(tenant)s AND EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)

-- name: windows
SELECT count(DISTINCT start) FILTER (WHERE NOT settled)::bigint, count(DISTINCT start) FILTER (WHERE settled)::bigint
FROM observed_window
WHERE tenant = %(tenant)s

-- name: server
SELECT current_setting('server_version'), count(*)::bigint, max(name) FILTER (WHERE name NOT LIKE 'repeatable/%%')
FROM schema_migration
