-- name: lock_tenant
SELECT pg_try_advisory_xact_lock(hashtextextended('designed:' || %(tenant)s, 0))

-- name: lock_decisions
SELECT pg_advisory_xact_lock(hashtextextended('decisions:' || %(tenant)s, 0))

-- name: find_state
SELECT document_revision, input_key, counts, spellings, problems
FROM designed_state
WHERE tenant = %(tenant)s

-- name: put_state
INSERT INTO designed_state (tenant, document_revision, input_key, counts, spellings, problems, refreshed_at)
VALUES (%(tenant)s, %(document_revision)s, %(input_key)s, %(counts)s, %(spellings)s, %(problems)s, %(at)s)
ON CONFLICT (tenant) DO UPDATE SET document_revision = excluded.document_revision, input_key = excluded.input_key, counts = excluded.counts,
    spellings = excluded.spellings, problems = excluded.problems, refreshed_at = excluded.refreshed_at

-- name: list_heads
SELECT rid, revision, namespace, path, reader, version, joined, files
FROM designed_document
WHERE tenant = %(tenant)s
ORDER BY rid

-- name: list_readings
SELECT rid, namespace, path, uri, title, revision, classification, reading, prose
FROM designed_document
WHERE tenant = %(tenant)s AND rid = ANY(%(rids)s)
ORDER BY namespace, path, rid

-- name: put_document
INSERT INTO designed_document (tenant, rid, namespace, path, uri, title, revision, classification, reader, reading, prose, version, introduced, files, joined, signature,
    read_at)
VALUES (%(tenant)s, %(rid)s, %(namespace)s, %(path)s, %(uri)s, %(title)s, %(revision)s, %(classification)s, %(reader)s, %(reading)s, %(prose)s, %(version)s,
    %(introduced)s, %(files)s, %(joined)s, %(signature)s, %(at)s)
ON CONFLICT (tenant, rid) DO UPDATE SET namespace = excluded.namespace, path = excluded.path, uri = excluded.uri, title = excluded.title,
    revision = excluded.revision, classification = excluded.classification, reader = excluded.reader, reading = excluded.reading, prose = excluded.prose,
    version = excluded.version, introduced = excluded.introduced, files = excluded.files, joined = excluded.joined, signature = excluded.signature,
    read_at = excluded.read_at

-- name: put_prose
UPDATE designed_document SET prose = %(prose)s, joined = %(joined)s
WHERE tenant = %(tenant)s AND rid = %(rid)s

-- name: put_ends
UPDATE designed_document SET ends = %(ends)s
WHERE tenant = %(tenant)s AND rid = %(rid)s AND ends <> %(ends)s::text[]

-- name: list_introduced
SELECT namespace, unnest(introduced), rid
FROM designed_document
WHERE tenant = %(tenant)s

-- name: list_ends
SELECT DISTINCT namespace, unnest(ends)
FROM designed_document
WHERE tenant = %(tenant)s

-- name: list_with_ends
SELECT rid
FROM designed_document
WHERE tenant = %(tenant)s AND namespace = %(namespace)s AND ends && %(ends)s::text[]
ORDER BY rid

-- name: list_signatures
SELECT rid, signature
FROM designed_document
WHERE tenant = %(tenant)s AND namespace = %(namespace)s AND reader = ANY(%(readers)s)
ORDER BY rid

-- name: list_problems
SELECT reading -> 'problems'
FROM designed_document
WHERE tenant = %(tenant)s AND reading ? 'problems'
ORDER BY path, rid

-- name: delete_documents
DELETE FROM designed_document
WHERE tenant = %(tenant)s AND rid = ANY(%(rids)s)

-- name: live_claims
SELECT rid, digest
FROM designed_claim
WHERE tenant = %(tenant)s AND valid_to IS NULL AND document_rid = ANY(%(documents)s)

-- name: count_claims
SELECT count(*) FILTER (WHERE NOT weak), count(DISTINCT edge_rid) FILTER (WHERE NOT weak)
FROM designed_claim
WHERE tenant = %(tenant)s AND valid_to IS NULL

-- name: add_claim
INSERT INTO designed_claim (tenant, rid, edge_rid, document_rid, namespace, relation, source, target, environment, modality, weak, class_rank, first_line, digest, body,
    valid_from)
VALUES (%(tenant)s, %(rid)s, %(edge_rid)s, %(document_rid)s, %(namespace)s, %(relation)s, %(source)s, %(target)s, %(environment)s, %(modality)s, %(weak)s,
    %(class_rank)s, %(first_line)s, %(digest)s, %(body)s, %(at)s)
ON CONFLICT (tenant, rid) WHERE valid_to IS NULL DO UPDATE SET edge_rid = excluded.edge_rid, namespace = excluded.namespace, source = excluded.source,
    target = excluded.target, environment = excluded.environment, weak = excluded.weak, class_rank = excluded.class_rank, first_line = excluded.first_line,
    digest = excluded.digest, body = excluded.body
WHERE designed_claim.tenant = excluded.tenant

-- name: retract_claims
UPDATE designed_claim SET valid_to = %(at)s
WHERE tenant = %(tenant)s AND valid_to IS NULL AND rid = ANY(%(rids)s)

-- name: list_claims
SELECT edge_rid, body, weak, valid_from
FROM designed_claim
WHERE tenant = %(tenant)s AND valid_to IS NULL AND class_rank <= %(class_rank)s
    AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY(%(namespaces)s::text[]))
    AND (%(source)s::text = '' OR source = %(source)s)
    AND (%(target)s::text = '' OR target = %(target)s)
    AND (%(entity)s::text = '' OR source = %(entity)s OR target = %(entity)s)
    AND (%(relation)s::text = '' OR relation = %(relation)s)
    AND (%(environment)s::text IS NULL OR environment IN ('', %(environment)s))
    AND (%(rid)s::text = '' OR edge_rid = %(rid)s)
ORDER BY edge_rid, document_rid, first_line, rid

-- name: claim_history
SELECT rid, body, valid_from, valid_to
FROM designed_claim
WHERE tenant = %(tenant)s AND edge_rid = %(edge_rid)s AND class_rank <= %(class_rank)s
    AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY(%(namespaces)s::text[]))
ORDER BY valid_from, rid

-- name: list_kept
SELECT key, body
FROM designed_kept
WHERE tenant = %(tenant)s AND key = ANY(%(keys)s)

-- name: put_kept
INSERT INTO designed_kept (tenant, key, body)
VALUES (%(tenant)s, %(key)s, %(body)s)
ON CONFLICT (tenant, key) DO NOTHING

-- name: delete_kept
DELETE FROM designed_kept
WHERE tenant = %(tenant)s
