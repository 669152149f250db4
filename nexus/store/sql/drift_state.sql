-- name: list_states
SELECT fingerprint, state, before, flag, status, relation, source, target, decided, first_detected, changed_at, present, missing, counted_on, reason, owner, expires_at
FROM drift_state
WHERE tenant = %(tenant)s AND scope = %(scope)s

-- name: list_states_of
SELECT scope, fingerprint, state, before, flag, status, relation, source, target, decided, first_detected, changed_at, present, missing, counted_on, reason, owner, expires_at
FROM drift_state
WHERE tenant = %(tenant)s AND fingerprint = %(fingerprint)s
ORDER BY scope
FOR UPDATE

-- name: delete_states
DELETE FROM drift_state WHERE tenant = %(tenant)s AND scope = %(scope)s AND fingerprint = ANY(%(fingerprints)s)

-- name: copy_states
COPY drift_state (tenant, scope, fingerprint, state, before, flag, status, relation, source, target, decided, first_detected, changed_at, present, missing, counted_on, reason,
    owner, expires_at) FROM STDIN

-- name: drop_old_states
DELETE FROM drift_state WHERE tenant = %(tenant)s AND scope = %(scope)s AND state = 'resolved' AND changed_at < %(before)s

-- name: copy_transitions
COPY drift_transition (tenant, scope, fingerprint, from_state, to_state, at, run_id, actor, note) FROM STDIN

-- name: list_transitions
SELECT scope, from_state, to_state, at, run_id, actor, note
FROM drift_transition
WHERE tenant = %(tenant)s AND fingerprint = %(fingerprint)s
ORDER BY id
