-- name: take_lease
INSERT INTO lease (name, holder, expires_at)
VALUES (%(name)s, %(holder)s, now() + %(seconds)s * interval '1 second')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE lease.holder = excluded.holder OR lease.expires_at < now()
RETURNING holder

-- name: give_up_lease
DELETE FROM lease WHERE name = %(name)s AND holder = %(holder)s

-- name: last_fired
SELECT fired_at FROM drift_schedule WHERE tenant = %(tenant)s AND name = %(name)s

-- name: put_fired
INSERT INTO drift_schedule (tenant, name, fired_at)
VALUES (%(tenant)s, %(name)s, %(at)s)
ON CONFLICT (tenant, name) DO UPDATE SET fired_at = excluded.fired_at

-- name: add_event
INSERT INTO drift_outbox (tenant, url, event, next_at, created_at)
VALUES (%(tenant)s, %(url)s, %(event)s, %(at)s, %(at)s)

-- name: due_events
SELECT id, tenant, url, event, attempts, created_at
FROM drift_outbox
WHERE next_at <= %(at)s
ORDER BY id
LIMIT %(limit)s

-- name: hold_events
UPDATE drift_outbox SET next_at = %(next_at)s WHERE url = %(url)s AND next_at < %(next_at)s

-- name: delete_event
DELETE FROM drift_outbox WHERE id = %(id)s

-- name: postpone_event
UPDATE drift_outbox SET attempts = attempts + 1, next_at = %(next_at)s, last_error = %(error)s
WHERE id = %(id)s
