-- name: say
INSERT INTO observed_wait (tenant, shard, reason, since) VALUES (%(tenant)s, %(shard)s, %(reason)s, %(at)s)
ON CONFLICT (tenant, shard) DO UPDATE SET reason = excluded.reason, since = excluded.since

-- name: go_on
DELETE FROM observed_wait WHERE tenant = %(tenant)s AND shard = %(shard)s

-- name: first
SELECT reason, since FROM observed_wait WHERE tenant = %(tenant)s ORDER BY since, shard LIMIT 1
