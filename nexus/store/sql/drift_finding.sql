-- name: copy_findings
COPY drift_finding (tenant, run_id, fingerprint, needs, hidden, environment, flag, status, severity, undecided, main, carried, rank, calls, names, namespaces, body) FROM STDIN

-- name: page
SELECT f.fingerprint, f.rank, f.carried, f.body, s.state, s.first_detected, s.reason, s.owner, s.expires_at
FROM drift_finding f
LEFT JOIN drift_state s ON s.tenant = f.tenant AND s.scope = %(scope)s AND s.fingerprint = f.fingerprint
WHERE f.tenant = %(tenant)s AND f.run_id = %(run_id)s AND f.needs <@ %(visible)s AND NOT f.hidden && %(visible)s
    AND (%(environment)s = '' OR f.environment IN ('', %(environment)s))
    AND (%(flag)s = '' OR f.flag = %(flag)s)
    AND (%(status)s = '' OR f.status = %(status)s)
    AND (%(entity)s = '' OR f.names @> ARRAY[lower(%(entity)s)])
    AND (%(namespace)s = '' OR f.namespaces @> ARRAY[%(namespace)s::text])
    AND f.severity >= %(min_severity)s
    AND (%(state)s = '' OR coalesce(s.state, CASE f.flag WHEN 'confirmed' THEN 'resolved' ELSE 'new' END) = %(state)s)
    AND (NOT f.carried OR %(state)s = 'resolved' OR s.state IS DISTINCT FROM 'resolved')
    AND (NOT %(after)s::boolean OR (-f.rank, f.fingerprint) > (-%(after_rank)s::double precision, %(after_fingerprint)s))
ORDER BY -f.rank, f.fingerprint
LIMIT %(limit)s

-- name: counts
SELECT flag, status, undecided, main, count(*) AS findings, sum(calls)::bigint AS calls
FROM drift_finding
WHERE tenant = %(tenant)s AND run_id = %(run_id)s AND NOT carried AND (%(environment)s = '' OR environment IN ('', %(environment)s)) AND needs <@ %(visible)s AND NOT hidden && %(visible)s
GROUP BY flag, status, undecided, main
ORDER BY flag, status, undecided, main

-- name: state_counts
SELECT coalesce(s.state, 'new') AS state, count(DISTINCT f.fingerprint)
FROM drift_finding f
LEFT JOIN drift_state s ON s.tenant = f.tenant AND s.scope = %(scope)s AND s.fingerprint = f.fingerprint
WHERE f.tenant = %(tenant)s AND f.run_id = %(run_id)s AND f.flag <> 'confirmed' AND f.needs <@ %(visible)s AND NOT f.hidden && %(visible)s
GROUP BY 1
ORDER BY 1

-- name: one
SELECT f.fingerprint, f.rank, f.carried, f.body, s.state, s.first_detected, s.reason, s.owner, s.expires_at, f.run_id, s.scope, f.needs, f.hidden
FROM drift_finding f
JOIN drift_run r ON r.tenant = f.tenant AND r.id = f.run_id
LEFT JOIN drift_state s ON s.tenant = f.tenant AND s.scope = r.environment AND s.fingerprint = f.fingerprint
WHERE f.tenant = %(tenant)s AND f.fingerprint = %(fingerprint)s AND r.seq IN (
    SELECT max(seq) FROM drift_run WHERE tenant = %(tenant)s AND state = 'done' AND standard GROUP BY environment
    UNION SELECT max(seq) FROM drift_run WHERE tenant = %(tenant)s AND state = 'done' GROUP BY environment
)
ORDER BY r.standard DESC, r.seq DESC

-- name: carried
SELECT f.fingerprint, f.rank, f.carried, f.body, s.state, s.first_detected, s.reason, s.owner, s.expires_at
FROM drift_finding f
LEFT JOIN drift_state s ON s.tenant = f.tenant AND s.scope = %(scope)s AND s.fingerprint = f.fingerprint
WHERE f.tenant = %(tenant)s AND f.run_id = %(run_id)s AND f.carried AND f.needs <@ %(visible)s AND NOT f.hidden && %(visible)s
ORDER BY f.fingerprint

-- name: carry
INSERT INTO drift_finding (tenant, run_id, fingerprint, needs, hidden, environment, flag, status, severity, undecided, main, carried, rank, calls, names, namespaces, body)
SELECT tenant, %(run_id)s, fingerprint, needs, hidden, environment, flag, status, severity, undecided, main, true, rank, calls, names, namespaces, body
FROM drift_finding
WHERE tenant = %(tenant)s AND run_id = %(from_run)s AND fingerprint = ANY(%(fingerprints)s)

-- name: withdrawn
-- Places in the lists of claims whose document this reader may not read any more, or whose words now stand where it may not.
WITH cited AS (
    SELECT * FROM unnest(%(documents)s::text[], %(quotes)s::text[]) WITH ORDINALITY AS c (document, quote, place)
), readable AS (
    SELECT d.rid, EXISTS (SELECT FROM quarantine q WHERE q.tenant = d.tenant AND q.document = d.rid)
        OR EXISTS (SELECT FROM segment s WHERE s.tenant = d.tenant AND s.document = d.rid AND s.level > %(level)s) AS partly
    FROM document d
    WHERE d.tenant = %(tenant)s AND d.rid IN (SELECT document FROM cited) AND d.status IN ('active', 'superseded')
        AND array_position(ARRAY['PUBLIC', 'INTERNAL', 'RESTRICTED'], d.classification) - 1 <= %(level)s
        AND (cardinality(%(namespaces)s::text[]) = 0 OR d.namespace = ANY (%(namespaces)s))
)
SELECT c.place - 1
FROM cited c LEFT JOIN readable r ON r.rid = c.document
WHERE r.rid IS NULL OR (r.partly AND NOT EXISTS (
    SELECT FROM passage p WHERE p.tenant = %(tenant)s AND p.document = c.document AND p.level <= %(level)s AND strpos(p.text, c.quote) > 0
))
ORDER BY c.place

-- name: forget_quarantined
DELETE FROM drift_finding f
WHERE f.tenant = %(tenant)s AND f.run_id = %(run_id)s AND EXISTS (
    SELECT FROM jsonb_array_elements(f.body #> '{designed,claims}') c
    JOIN quarantine q ON q.tenant = f.tenant AND q.document = c #>> '{document,rid}'
)

-- name: quarantined_since
SELECT EXISTS (SELECT FROM quarantine WHERE tenant = %(tenant)s AND found_at >= %(since)s)
