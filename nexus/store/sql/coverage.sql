-- name: lock_source
SELECT pg_advisory_xact_lock(hashtextextended('source ' || %(tenant)s || ' ' || %(source)s, 0))

-- name: touching_ranges
SELECT source, start_at, end_at, state, reason, probability
FROM coverage_range
WHERE tenant = %(tenant)s AND source = %(source)s AND start_at <= %(end_at)s AND end_at >= %(start_at)s
ORDER BY start_at

-- name: delete_touching_ranges
DELETE FROM coverage_range
WHERE tenant = %(tenant)s AND source = %(source)s AND start_at <= %(end_at)s AND end_at >= %(start_at)s

-- name: add_range
INSERT INTO coverage_range (tenant, source, start_at, end_at, state, reason, probability)
VALUES (%(tenant)s, %(source)s, %(start_at)s, %(end_at)s, %(state)s, %(reason)s, %(probability)s)

-- name: ranges
SELECT source, start_at, end_at, state, reason, probability
FROM coverage_range
WHERE tenant = %(tenant)s
  AND (%(source)s::text IS NULL OR source = %(source)s)
  AND (%(start_at)s::timestamptz IS NULL OR end_at > %(start_at)s)
  AND (%(end_at)s::timestamptz IS NULL OR start_at < %(end_at)s)
  AND (NOT %(gaps)s::boolean OR state <> 'complete')
ORDER BY start_at DESC, source
LIMIT %(count)s

-- name: range_totals
SELECT source, state, count(*) AS ranges, sum(extract(epoch FROM end_at - start_at))::double precision AS seconds
FROM coverage_range
WHERE tenant = %(tenant)s
GROUP BY source, state
ORDER BY source, state

-- name: cursors
SELECT source, read_from, read_to, settled_to, attempted_at, succeeded_at, error, traces, spans, requests
FROM source_cursor
WHERE tenant = %(tenant)s
ORDER BY source

-- name: begin_cursor
INSERT INTO source_cursor (tenant, source, read_from, read_to, settled_to)
VALUES (%(tenant)s, %(source)s, %(read_from)s, %(read_from)s, %(read_from)s)
ON CONFLICT DO NOTHING

-- name: move_cursor
UPDATE source_cursor
SET read_to = greatest(read_to, %(read_to)s), settled_to = greatest(settled_to, %(settled_to)s), attempted_at = %(at)s, succeeded_at = %(at)s, error = ''
WHERE tenant = %(tenant)s AND source = %(source)s

-- name: cursor_attempt
UPDATE source_cursor
SET attempted_at = %(at)s, error = %(error)s, succeeded_at = CASE WHEN %(error)s = '' THEN %(at)s ELSE succeeded_at END, requests = requests + %(requests)s
WHERE tenant = %(tenant)s AND source = %(source)s

-- name: count_taken
UPDATE source_cursor
SET traces = traces + %(traces)s, spans = spans + %(spans)s
WHERE tenant = %(tenant)s AND source = %(source)s

-- name: seen_traces
SELECT trace_id, fingerprint, row_hashes, probability
FROM source_trace
WHERE tenant = %(tenant)s AND source = %(source)s AND trace_id = ANY(%(trace_ids)s)

-- name: remember_traces
INSERT INTO source_trace (tenant, source, trace_id, fingerprint, row_hashes, probability, seen_at)
SELECT %(tenant)s, %(source)s, taken.trace_id, taken.fingerprint, taken.row_hashes, taken.probability, %(at)s
FROM unnest(%(trace_ids)s::bytea[], %(fingerprints)s::bigint[], %(row_hashes)s::bytea[], %(probabilities)s::double precision[])
    AS taken (trace_id, fingerprint, row_hashes, probability)
ON CONFLICT (tenant, source, trace_id) DO UPDATE
SET fingerprint = excluded.fingerprint, row_hashes = excluded.row_hashes, probability = excluded.probability, seen_at = excluded.seen_at

-- name: touch_traces
UPDATE source_trace SET seen_at = %(at)s
WHERE tenant = %(tenant)s AND source = %(source)s AND trace_id = ANY(%(trace_ids)s)

-- name: forget_traces
DELETE FROM source_trace
WHERE tenant = %(tenant)s AND source = %(source)s AND seen_at < %(before)s
