-- name: held
SELECT count(*)::bigint, coalesce(sum(octet_length(payload)), 0)::bigint FROM observed_aside WHERE tenant = %(tenant)s AND payload IS NOT NULL

-- name: put
INSERT INTO observed_aside (tenant, shard, spans, reason, payload, set_aside_at) VALUES (%(tenant)s, %(shard)s, %(spans)s, %(reason)s, %(payload)s, %(at)s)

-- name: count_more
UPDATE observed_aside SET spans = spans + %(spans)s, reason = %(reason)s, set_aside_at = %(at)s WHERE tenant = %(tenant)s AND shard = %(shard)s AND payload IS NULL

-- name: asked
SELECT id, spans, payload, reason FROM observed_aside WHERE shard = %(shard)s AND retry ORDER BY id LIMIT %(count)s

-- name: take
DELETE FROM observed_aside WHERE shard = %(shard)s AND id = ANY(%(ids)s)

-- name: listed
SELECT id, spans, reason, payload IS NOT NULL, retry, set_aside_at FROM observed_aside WHERE tenant = %(tenant)s ORDER BY id

-- name: retry
UPDATE observed_aside SET retry = true WHERE tenant = %(tenant)s AND payload IS NOT NULL

-- name: drop
DELETE FROM observed_aside WHERE tenant = %(tenant)s
