-- name: find_principal
SELECT name, tenant, clearance, capabilities, namespaces
FROM principal
WHERE token_hash = %(token_hash)s AND revoked_at IS NULL

-- name: add_principal
INSERT INTO principal (name, tenant, token_hash, clearance, capabilities, namespaces)
VALUES (%(name)s, %(tenant)s, %(token_hash)s, %(clearance)s, %(capabilities)s, %(namespaces)s)

-- name: list_principals
SELECT name, tenant, clearance, capabilities, namespaces, created_at, revoked_at
FROM principal
ORDER BY tenant, name, created_at

-- name: revoke_principal
UPDATE principal SET revoked_at = now()
WHERE name = %(name)s AND tenant = %(tenant)s AND revoked_at IS NULL
