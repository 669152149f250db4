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

-- name: set_aside
SELECT coalesce(sum(spans), 0)::bigint, coalesce((array_agg(reason ORDER BY id DESC))[1], '') FROM observed_aside WHERE tenant = %(tenant)s

-- name: folded
SELECT coalesce(sum(folded), 0)::bigint, coalesce((array_agg(offender ORDER BY offender = '(other)', folded DESC, offender))[1], '')
FROM observed_overflow
WHERE tenant = %(tenant)s

-- name: server
SELECT current_setting('server_version'), count(*)::bigint, max(name) FILTER (WHERE name NOT LIKE 'repeatable/%%')
FROM schema_migration
