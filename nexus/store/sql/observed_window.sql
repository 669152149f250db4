-- name: settle_windows
UPDATE observed_window w SET settled = true, settled_at = %(at)s
FROM (SELECT tenant, start FROM observed_window WHERE NOT settled AND touched_at < %(before)s ORDER BY tenant, start FOR UPDATE SKIP LOCKED) AS quiet
WHERE w.tenant = quiet.tenant AND w.start = quiet.start

-- name: open_windows
SELECT tenant, array_agg(start) FROM observed_window WHERE NOT settled GROUP BY tenant

-- name: settled_before
SELECT w.tenant, w.start
FROM unnest(%(tenants)s::text[], %(starts)s::bigint[]) AS wanted (tenant, start)
JOIN observed_window w USING (tenant, start)
WHERE w.settled AND w.settled_at <= %(at)s

-- name: known_windows
SELECT w.tenant, w.start
FROM unnest(%(tenants)s::text[], %(starts)s::bigint[]) AS wanted (tenant, start)
JOIN observed_window w USING (tenant, start)

-- name: outlying_counts
SELECT tenant, count(*)::bigint FROM observed_window WHERE tenant = ANY(%(tenants)s) AND (start < %(low)s OR start >= %(high)s) GROUP BY tenant

-- name: settled_since
SELECT EXISTS (SELECT 1 FROM observed_window WHERE settled_at > %(since)s)

-- name: needed_since
SELECT min(opened_at) FROM observed_window WHERE NOT settled OR touched_at >= %(since)s

-- name: recent_windows
SELECT tenant, array_agg(start) FROM observed_window WHERE touched_at >= %(since)s GROUP BY tenant

-- name: hold_edges
SELECT pg_advisory_xact_lock_shared(5281875)

-- name: lock_edges
SELECT pg_advisory_xact_lock(5281875)

-- name: forget_edges
WITH gone AS (
    DELETE FROM observed_edge e WHERE NOT EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)
    RETURNING e.tenant, e.id
), unmarked AS (
    DELETE FROM observed_crowded c USING gone WHERE c.tenant = gone.tenant AND c.edge = gone.id
)
SELECT count(*)::bigint FROM gone

-- name: window_counts
SELECT count(*) FILTER (WHERE NOT settled)::bigint, count(*) FILTER (WHERE settled)::bigint FROM observed_window
