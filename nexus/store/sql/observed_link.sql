-- name: send
INSERT INTO observed_link (tenant, shard, sender, spans, payload, sent_at)
VALUES (%(tenant)s, %(shard)s, %(sender)s, %(spans)s, %(payload)s, %(at)s)

-- name: waiting
SELECT id, payload FROM observed_link WHERE shard = %(shard)s AND taken_at IS NULL ORDER BY id LIMIT %(count)s

-- name: take
UPDATE observed_link SET taken_at = %(at)s WHERE shard = %(shard)s AND id = ANY(%(ids)s)

-- name: taken
SELECT id, payload FROM observed_link WHERE shard = %(shard)s AND taken_at IS NOT NULL AND id > %(after)s ORDER BY id LIMIT %(count)s

-- name: expire
DELETE FROM observed_link WHERE shard = %(shard)s AND taken_at < %(before)s

-- name: unread
SELECT EXISTS (SELECT 1 FROM observed_link WHERE taken_at IS NULL)
