-- name: find_run
SELECT id, environment, window_from, window_to, document_revision, config_hash, input_digest, state, error, error_code, trigger, standard, labels, body, started_at, generated_at, seq
FROM drift_run
WHERE tenant = %(tenant)s AND id = %(id)s

-- name: newest_run
SELECT id, environment, window_from, window_to, document_revision, config_hash, input_digest, state, error, error_code, trigger, standard, labels, body, started_at, generated_at, seq
FROM drift_run
WHERE tenant = %(tenant)s AND state = 'done' AND environment = %(environment)s
    AND (%(start)s::timestamptz IS NULL OR window_from >= %(start)s::timestamptz)
    AND (%(end)s::timestamptz IS NULL OR window_to <= %(end)s::timestamptz)
ORDER BY (standard OR %(start)s::timestamptz IS NOT NULL OR %(end)s::timestamptz IS NOT NULL) DESC, seq DESC
LIMIT 1

-- name: newest_standard_run
SELECT id, environment, window_from, window_to, document_revision, config_hash, input_digest, state, error, error_code, trigger, standard, labels, body, started_at, generated_at, seq
FROM drift_run
WHERE tenant = %(tenant)s AND state = 'done' AND environment = %(environment)s AND standard
ORDER BY seq DESC
LIMIT 1

-- name: list_runs
SELECT id, environment, window_from, window_to, document_revision, config_hash, input_digest, state, error, error_code, trigger, standard, labels, body, started_at, generated_at, seq
FROM drift_run
WHERE tenant = %(tenant)s AND (%(environment)s::text IS NULL OR environment = %(environment)s::text) AND (%(before)s::bigint = 0 OR seq < %(before)s::bigint)
ORDER BY seq DESC
LIMIT %(limit)s

-- name: delete_run
DELETE FROM drift_run WHERE tenant = %(tenant)s AND id = %(id)s

-- name: add_run
INSERT INTO drift_run (tenant, id, environment, window_from, window_to, document_revision, config_hash, input_digest, state, error, error_code, trigger, standard, labels, body,
    started_at, generated_at)
VALUES (%(tenant)s, %(id)s, %(environment)s, %(window_from)s, %(window_to)s, %(document_revision)s, %(config_hash)s, %(input_digest)s, %(state)s, %(error)s, %(error_code)s,
    %(trigger)s, %(standard)s, %(labels)s, %(body)s, %(started_at)s, %(generated_at)s)

-- name: prune_runs
DELETE FROM drift_run r
WHERE r.tenant = %(tenant)s AND r.environment = %(environment)s AND r.seq NOT IN (
    SELECT seq FROM (
        SELECT seq, row_number() OVER (ORDER BY seq DESC) AS newest,
            -- Of each day keep the last one, so that a day with many changes does not push out the others.
            row_number() OVER (PARTITION BY window_to::date, standard, state ORDER BY seq DESC) AS of_day
        FROM drift_run
        WHERE tenant = %(tenant)s AND environment = %(environment)s
    ) kept
    WHERE newest <= %(keep_all)s OR (of_day = 1 AND newest <= %(keep)s)
)

-- name: lock_scope
SELECT pg_advisory_xact_lock(hashtextextended('drift:' || %(tenant)s || ':' || %(environment)s, 0))

-- name: tenants
SELECT DISTINCT tenant FROM principal WHERE revoked_at IS NULL
UNION SELECT 'default'
ORDER BY 1
