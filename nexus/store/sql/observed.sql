-- name: lock_writer
SELECT pg_advisory_xact_lock(5281876 + %(shard)s)

-- name: position
SELECT position, seq, rules, holder FROM observed_position WHERE name = %(name)s FOR UPDATE

-- name: move_position
INSERT INTO observed_position (name, position, seq, rules, moved_at, holder) VALUES (%(name)s, %(position)s::jsonb, %(seq)s, %(rules)s, %(at)s, %(holder)s)
ON CONFLICT (name) DO UPDATE
SET position = excluded.position, seq = excluded.seq, rules = excluded.rules, moved_at = excluded.moved_at, holder = excluded.holder

-- name: marks
SELECT marks FROM observed_position WHERE name = %(name)s

-- name: set_marks
UPDATE observed_position SET marks = %(marks)s::jsonb WHERE name = %(name)s

-- name: add_edges
INSERT INTO observed_edge (tenant, rid, relation, source, source_env, target, target_kind, target_env, infrastructure)
SELECT new.tenant, new.rid, new.relation, new.source, new.source_env, new.target, new.target_kind, new.target_env, new.infrastructure
FROM unnest(%(tenants)s::text[], %(rids)s::text[], %(relations)s::text[], %(sources)s::text[], %(source_envs)s::text[], %(targets)s::text[], %(target_kinds)s::text[], %(target_envs)s::text[], %(infrastructures)s::boolean[])
    AS new (tenant, rid, relation, source, source_env, target, target_kind, target_env, infrastructure)
ON CONFLICT DO NOTHING

-- name: edge_ids
SELECT e.tenant, e.rid, e.id
FROM unnest(%(tenants)s::text[], %(rids)s::text[]) AS wanted (tenant, rid)
JOIN observed_edge e USING (tenant, rid)

-- name: stage_touched
CREATE TEMPORARY TABLE IF NOT EXISTS observed_touched (LIKE observed_touched INCLUDING DEFAULTS) ON COMMIT DELETE ROWS

-- name: stage_revised
CREATE TEMPORARY TABLE IF NOT EXISTS observed_revised (LIKE observed_revised INCLUDING DEFAULTS INCLUDING STORAGE) WITH (toast_tuple_target = 8160) ON COMMIT DELETE ROWS

-- name: clear_staging
TRUNCATE observed_touched, observed_revised

-- name: copy_touched
COPY observed_touched (tenant, grain, edge, start, shard) FROM STDIN (FORMAT binary)

-- name: existing
SELECT r.tenant, r.grain, r.edge, r.start, r.facts, r.calls, r.handled, r.messages, r.retries, r.client_errors, r.server_errors, r.errors, r.cancelled, r.observed,
       r.clock_suspect, r.queue_unmeasured, r.client_sum, r.server_sum, r.queue_sum, r.first_ns, r.last_ns, r.client_min, r.client_max, r.server_min, r.server_max,
       r.queue_min, r.queue_max, r.bags, r.sketches, r.shown, r.examples, r.shard
FROM observed_row r JOIN observed_touched t USING (tenant, grain, edge, start, shard)
WHERE r.grain >= 0

-- name: copy_revised
COPY observed_revised (
    tenant, grain, edge, start, facts, calls, handled, messages, retries, client_errors, server_errors, errors, cancelled, observed, clock_suspect, queue_unmeasured,
    client_sum, server_sum, queue_sum, first_ns, last_ns, client_min, client_max, server_min, server_max, queue_min, queue_max, bags, sketches, shown, examples, shard
) FROM STDIN (FORMAT binary)

-- name: copy_rows
COPY observed_row (
    tenant, grain, edge, start, facts, calls, handled, messages, retries, client_errors, server_errors, errors, cancelled, observed, clock_suspect, queue_unmeasured,
    client_sum, server_sum, queue_sum, first_ns, last_ns, client_min, client_max, server_min, server_max, queue_min, queue_max, bags, sketches, shown, examples, shard
) FROM STDIN (FORMAT binary)

-- name: drop_touched
DELETE FROM observed_row r USING observed_touched t
WHERE r.tenant = t.tenant AND r.grain = t.grain AND r.edge = t.edge AND r.start = t.start AND r.shard = t.shard

-- name: put_revised
INSERT INTO observed_row (
    tenant, grain, edge, start, facts, calls, handled, messages, retries, client_errors, server_errors, errors, cancelled, observed, clock_suspect, queue_unmeasured,
    client_sum, server_sum, queue_sum, first_ns, last_ns, client_min, client_max, server_min, server_max, queue_min, queue_max, bags, sketches, shown, examples, shard
)
SELECT tenant, grain, edge, start, facts, calls, handled, messages, retries, client_errors, server_errors, errors, cancelled, observed, clock_suspect, queue_unmeasured,
       client_sum, server_sum, queue_sum, first_ns, last_ns, client_min, client_max, server_min, server_max, queue_min, queue_max, bags, sketches, shown, examples, shard
FROM observed_revised
ON CONFLICT (tenant, grain, edge, start, shard) DO UPDATE
SET facts = excluded.facts, calls = excluded.calls, handled = excluded.handled, messages = excluded.messages, retries = excluded.retries,
    client_errors = excluded.client_errors, server_errors = excluded.server_errors, errors = excluded.errors, cancelled = excluded.cancelled,
    observed = excluded.observed, clock_suspect = excluded.clock_suspect, queue_unmeasured = excluded.queue_unmeasured,
    client_sum = excluded.client_sum, server_sum = excluded.server_sum, queue_sum = excluded.queue_sum, first_ns = excluded.first_ns,
    last_ns = excluded.last_ns, client_min = excluded.client_min, client_max = excluded.client_max, server_min = excluded.server_min,
    server_max = excluded.server_max, queue_min = excluded.queue_min, queue_max = excluded.queue_max, bags = excluded.bags,
    sketches = excluded.sketches, shown = excluded.shown, examples = excluded.examples

-- name: pending
SELECT r.tenant, r.grain, r.edge, r.start, r.facts, r.calls, r.handled, r.messages, r.retries, r.client_errors, r.server_errors, r.errors, r.cancelled, r.observed,
       r.clock_suspect, r.queue_unmeasured, r.client_sum, r.server_sum, r.queue_sum, r.first_ns, r.last_ns, r.client_min, r.client_max, r.server_min, r.server_max,
       r.queue_min, r.queue_max, r.bags, r.sketches, r.shown, r.examples, r.shard
FROM observed_row r
WHERE r.grain = -1 AND r.shard = %(shard)s

-- name: windows_held
SELECT DISTINCT r.start FROM unnest(%(tenants)s::text[]) AS of_ (tenant) JOIN observed_row r USING (tenant)
WHERE r.grain = 0 AND r.start = ANY(%(starts)s) AND r.shard = %(shard)s

-- name: touch_windows
INSERT INTO observed_window (tenant, start, touched_at, opened_at)
SELECT touched.tenant, touched.start, %(at)s, %(at)s FROM unnest(%(tenants)s::text[], %(starts)s::bigint[]) AS touched (tenant, start)
ON CONFLICT (tenant, start) DO UPDATE SET touched_at = excluded.touched_at

-- name: settled_windows
SELECT w.tenant, w.start
FROM unnest(%(tenants)s::text[], %(starts)s::bigint[]) AS wanted (tenant, start)
JOIN observed_window w USING (tenant, start)
WHERE w.settled

-- name: count_deliveries
INSERT INTO observed_delivery (tenant, service, environment, minute, late, duplicates, rejected)
SELECT new.tenant, new.service, new.environment, new.minute, new.late, new.duplicates, new.rejected
FROM unnest(%(tenants)s::text[], %(services)s::text[], %(environments)s::text[], %(minutes)s::timestamptz[], %(late)s::bigint[], %(duplicates)s::bigint[], %(rejected)s::bigint[])
    AS new (tenant, service, environment, minute, late, duplicates, rejected)
ON CONFLICT (tenant, service, environment, minute) DO UPDATE
SET late = observed_delivery.late + excluded.late, duplicates = observed_delivery.duplicates + excluded.duplicates, rejected = observed_delivery.rejected + excluded.rejected

-- name: deliveries
SELECT service, environment, sum(late)::bigint AS late, sum(duplicates)::bigint AS duplicates, sum(rejected)::bigint AS rejected
FROM observed_delivery
WHERE tenant = %(tenant)s AND (%(from)s::timestamptz IS NULL OR minute >= date_trunc('minute', %(from)s::timestamptz)) AND (%(to)s::timestamptz IS NULL OR minute < %(to)s)
GROUP BY service, environment

-- name: delivery_totals
SELECT coalesce(sum(late), 0)::bigint, coalesce(sum(duplicates), 0)::bigint, coalesce(sum(rejected), 0)::bigint FROM observed_delivery

-- name: edge_counts
SELECT count(*) FILTER (WHERE e.relation <> 'SERVICE')::bigint, count(*) FILTER (WHERE e.relation = 'SERVICE')::bigint
FROM observed_edge e
WHERE EXISTS (SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain IN (3, -1) AND r.edge = e.id)

-- name: find_edges
SELECT e.id, e.rid, e.relation, e.source, e.source_env, e.target, e.target_kind, e.target_env, e.infrastructure
FROM (
    SELECT *
    FROM observed_edge e
    WHERE e.tenant = %(tenant)s
      AND (%(service)s::boolean = (e.relation = 'SERVICE'))
      AND (cardinality(%(rids)s::text[]) = 0 OR e.rid = ANY(%(rids)s::text[]))
      AND (%(among)s::bigint[] IS NULL OR e.id = ANY(%(among)s::bigint[]))
      AND (%(environment)s::text IS NULL OR e.source_env = %(environment)s)
      AND (%(namespace)s::text IS NULL OR split_part(e.source, '/', 1) = %(namespace)s AND e.source LIKE '%%/%%'
           OR e.target_kind = 'service' AND split_part(e.target, '/', 1) = %(namespace)s AND e.target LIKE '%%/%%')
      AND (%(source)s::text = '' OR e.source = %(source)s)
      AND (%(target)s::text = '' OR e.target = %(target)s)
      AND (%(entity)s::text = '' OR e.source = %(entity)s OR e.target = %(entity)s)
      AND (%(relation)s::text = '' OR e.relation = %(relation)s)
      AND (%(infrastructure)s::text = 'include' OR e.infrastructure = (%(infrastructure)s = 'only'))
      AND e.rid > %(after)s
    ORDER BY e.rid
    LIMIT %(first)s
) AS e
WHERE
    -- Who has a row in some minute or hour has one on its day: one look tells of most edges that they have none in all the windows of a range.
    -- OFFSET keeps it a look for each edge of a page: a set of all edges that have any would be read whole.
    (%(day_from)s::bigint IS NULL OR EXISTS (
        SELECT 1 FROM observed_row r
        WHERE r.tenant = e.tenant AND r.grain = 2 AND r.edge = e.id AND r.start >= %(day_from)s::bigint AND r.start < %(day_to)s::bigint OFFSET 0
    )) AND EXISTS (
        SELECT 1 FROM unnest(%(grains)s::smallint[], %(froms)s::bigint[], %(tos)s::bigint[]) AS span (grain, from_, to_)
        JOIN observed_row r ON r.tenant = e.tenant AND r.grain = span.grain AND r.edge = e.id AND r.start >= span.from_ AND r.start < span.to_
    ) OR EXISTS (
        SELECT 1 FROM observed_row r WHERE r.tenant = e.tenant AND r.grain = -1 AND r.edge = e.id AND r.start >= %(from)s AND r.start < %(to)s OFFSET 0
    )
ORDER BY e.rid
LIMIT %(count)s

-- name: by_index
SET LOCAL enable_seqscan = off

-- name: as_planned
SET LOCAL enable_seqscan = on

-- name: edges_by_time
SELECT r.edge FROM observed_row r
WHERE r.tenant = %(tenant)s AND r.grain = %(grain)s
  -- By the one or the other: what a partition has an index of.
  AND r.start >= %(from)s AND r.start < %(to)s AND r.start / 60 >= %(from)s / 60 AND r.start / 60 < (%(to)s + 59) / 60
LIMIT %(most)s

-- name: edges_in
SELECT DISTINCT r.edge FROM observed_row r
WHERE r.tenant = %(tenant)s AND r.grain = %(grain)s AND r.start >= %(from)s AND r.start < %(to)s
LIMIT %(most)s

-- name: rows_between
SELECT r.edge, r.start, r.grain, r.facts, r.calls, r.handled, r.messages, r.retries, r.client_errors, r.server_errors, r.errors, r.cancelled, r.observed, r.clock_suspect,
       r.queue_unmeasured, r.client_sum, r.server_sum, r.queue_sum,
       r.first_ns, r.last_ns, r.client_min, r.client_max, r.server_min, r.server_max, r.queue_min, r.queue_max, r.bags, r.sketches, r.shown, r.examples
FROM observed_row r
WHERE r.tenant = %(tenant)s AND r.grain = ANY(%(grains)s) AND r.edge = ANY(%(edges)s) AND r.start >= %(from)s AND r.start < %(to)s

-- name: overfull
SELECT e.source, e.source_env, r.bags
FROM observed_crowded c
JOIN observed_edge e ON e.tenant = c.tenant AND e.id = c.edge
JOIN observed_row r ON r.tenant = e.tenant AND r.edge = e.id AND r.grain IN (3, -1)
WHERE c.tenant = %(tenant)s AND strpos(r.bags, '"(other)') > 0
ORDER BY e.source, e.source_env, e.rid
LIMIT %(count)s

-- name: rows_inside
SELECT r.tenant, r.grain, r.edge, r.start, r.facts, r.calls, r.handled, r.messages, r.retries, r.client_errors, r.server_errors, r.errors, r.cancelled, r.observed,
       r.clock_suspect, r.queue_unmeasured, r.client_sum, r.server_sum, r.queue_sum, r.first_ns, r.last_ns, r.client_min, r.client_max, r.server_min, r.server_max,
       r.queue_min, r.queue_max, r.bags, r.sketches, r.shown, r.examples, r.shard
FROM unnest(%(tenants)s::text[], %(edges)s::bigint[], %(starts)s::bigint[]) AS over_ (tenant, edge, start)
JOIN observed_row r ON r.tenant = over_.tenant AND r.grain = %(grain)s AND r.edge = over_.edge AND r.start >= over_.start AND r.start < over_.start + %(size)s
    AND r.shard = %(shard)s

-- name: edges_held
SELECT tenant, count(*)::bigint FROM observed_edge WHERE tenant = ANY(%(tenants)s) GROUP BY tenant

-- name: overflow_held
SELECT tenant, count(*)::bigint FROM observed_edge WHERE tenant = ANY(%(tenants)s) AND target = '(other)' AND source <> '(other)' GROUP BY tenant

-- name: known_services
SELECT tenant, source, source_env FROM observed_edge WHERE tenant = ANY(%(tenants)s) AND relation = 'SERVICE'

-- name: count_overflow
INSERT INTO observed_overflow (tenant, offender, folded)
SELECT tenant, named, sum(folded) FROM (
    SELECT new.tenant, new.folded, CASE
        WHEN EXISTS (SELECT 1 FROM observed_overflow o WHERE o.tenant = new.tenant AND o.offender = new.offender)
            OR (SELECT count(*) FROM observed_overflow o WHERE o.tenant = new.tenant) < %(most)s THEN new.offender ELSE '(other)' END AS named
    FROM unnest(%(tenants)s::text[], %(offenders)s::text[], %(counts)s::bigint[]) AS new (tenant, offender, folded)
) AS found
GROUP BY tenant, named ORDER BY tenant, named
ON CONFLICT (tenant, offender) DO UPDATE SET folded = observed_overflow.folded + excluded.folded

-- name: overflow
SELECT DISTINCT ON (tenant) tenant, offender, sum(folded) OVER (PARTITION BY tenant)::bigint FROM observed_overflow ORDER BY tenant, offender = '(other)', folded DESC, offender
