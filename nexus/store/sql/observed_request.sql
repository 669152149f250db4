-- name: ask
INSERT INTO observed_request (tenant, asked_at) VALUES (%(tenant)s, %(at)s) RETURNING id

-- name: forget
DELETE FROM observed_request WHERE asked_at < %(before)s

-- name: newest
SELECT coalesce(max(id), 0) FROM observed_request

-- name: answer
INSERT INTO observed_position (name, position, seq, rules, moved_at, caught_up, behind)
VALUES (%(name)s, '{}', 0, '', %(at)s, %(caught_up)s, %(behind)s)
ON CONFLICT (name) DO UPDATE SET caught_up = greatest(observed_position.caught_up, excluded.caught_up), behind = excluded.behind

-- name: caught_up
SELECT count(*) FROM observed_position WHERE name = ANY(%(names)s) AND caught_up >= %(id)s

-- name: stands
SELECT name, position, behind FROM observed_position WHERE name = ANY(%(names)s) ORDER BY name

-- name: touched_since
SELECT count(*) FROM observed_window WHERE touched_at >= %(at)s
