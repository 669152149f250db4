-- name: deliveries
SELECT coalesce(sum(late), 0)::bigint, coalesce(sum(duplicates), 0)::bigint, coalesce(sum(rejected), 0)::bigint
FROM observed_delivery
WHERE tenant = %(tenant)s

-- name: known
SELECT count(*) FILTER (WHERE relation <> 'SERVICE')::bigint, count(*) FILTER (WHERE relation = 'SERVICE')::bigint
FROM observed_edge
WHERE tenant = %(tenant)s

-- name: windows
SELECT count(*) FILTER (WHERE NOT settled)::bigint, count(*) FILTER (WHERE settled)::bigint
FROM observed_window
WHERE tenant = %(tenant)s

-- name: server
SELECT current_setting('server_version'), count(*)::bigint, max(name) FILTER (WHERE name NOT LIKE 'repeatable/%%')
FROM schema_migration
