-- name: wait_shortly
SELECT set_config('lock_timeout', %(milliseconds)s::text, true)

-- name: wanted
SELECT w.of_grain, w.low FROM observed_row_wanted(%(now)s) AS w WHERE NOT EXISTS (SELECT 1 FROM observed_row_ended(w.of_grain, 1::bigint << 60) AS e WHERE e.low = w.low)

-- name: add
SELECT observed_row_add(%(grain)s, %(start)s)

-- name: drop
SELECT observed_row_drop(%(grain)s, %(before)s)

-- name: expire_default
DELETE FROM observed_row_default r
WHERE r.grain = %(grain)s AND r.start < %(before)s
  AND NOT EXISTS (
      SELECT 1 FROM observed_window w WHERE w.tenant = r.tenant AND NOT w.settled AND w.start >= r.start AND w.start < r.start + %(size)s
  )

-- name: expire_eras
DELETE FROM observed_row_eras r
WHERE r.grain = %(grain)s AND r.start < %(before)s
  AND NOT EXISTS (
      SELECT 1 FROM observed_window w WHERE w.tenant = r.tenant AND NOT w.settled AND w.start >= r.start AND w.start < r.start + %(size)s
  )

-- name: expire_ahead
DELETE FROM observed_row r
WHERE r.grain >= 0 AND r.start >= %(ahead)s
  AND NOT EXISTS (
      SELECT 1 FROM observed_window w
      WHERE w.tenant = r.tenant AND (NOT w.settled OR w.touched_at >= %(before)s) AND w.start >= r.start AND w.start < r.start + (ARRAY[60, 3600, 86400, 64 * 86400])[r.grain + 1]
  )

-- name: expire_windows_ahead
DELETE FROM observed_window WHERE settled AND start >= %(ahead)s AND touched_at < %(before)s

-- name: note_expired
INSERT INTO observed_expired (grain, before) VALUES (%(grain)s, %(before)s) ON CONFLICT (grain) DO UPDATE SET before = greatest(observed_expired.before, excluded.before)

-- name: expired
SELECT grain, before FROM observed_expired

-- name: expire_windows
DELETE FROM observed_window WHERE settled AND start < %(before)s AND touched_at < to_timestamp(%(before)s)

-- name: expire_deliveries
DELETE FROM observed_delivery WHERE minute < %(before)s

-- name: coarsen_deliveries
WITH finer AS (
    DELETE FROM observed_delivery WHERE minute < %(before)s AND minute <> date_trunc(%(unit)s, minute, 'UTC') RETURNING *
)
INSERT INTO observed_delivery (tenant, service, environment, minute, late, duplicates, rejected)
SELECT tenant, service, environment, date_trunc(%(unit)s, minute, 'UTC') AS begin, sum(late), sum(duplicates), sum(rejected) FROM finer
GROUP BY tenant, service, environment, begin
ORDER BY tenant, service, environment, begin
ON CONFLICT (tenant, service, environment, minute) DO UPDATE
SET late = observed_delivery.late + excluded.late, duplicates = observed_delivery.duplicates + excluded.duplicates, rejected = observed_delivery.rejected + excluded.rejected
