-- name: lock_packs
SELECT pg_try_advisory_xact_lock(hashtextextended(%(tenant)s || E'\x1fpacks', 0))

-- name: unpacked_segments
SELECT s.id, s.namespace, s.level, s.passages
FROM segment s JOIN segment_terms t ON t.tenant = s.tenant AND t.segment = s.id
WHERE s.tenant = %(tenant)s AND s.pack IS NULL
ORDER BY s.namespace, s.level, s.id

-- name: count_unpacked
SELECT coalesce(sum(passages), 0) FROM segment WHERE tenant = %(tenant)s AND pack IS NULL

-- name: tenants_unpacked
SELECT tenant FROM segment WHERE pack IS NULL GROUP BY tenant HAVING sum(passages) >= %(least)s

-- name: packs
SELECT k.id, k.namespace, k.level, k.size, coalesce(sum(s.passages), 0)::integer
FROM pack k LEFT JOIN segment s ON s.pack = k.id AND s.tenant = k.tenant
WHERE k.tenant = %(tenant)s
GROUP BY k.tenant, k.id

-- name: segments_of
SELECT id FROM segment WHERE tenant = %(tenant)s AND pack = ANY (%(packs)s) ORDER BY id

-- name: terms_of
SELECT segment, passages, lengths, terms, places, frequencies FROM segment_terms WHERE tenant = %(tenant)s AND segment = ANY (%(segments)s) ORDER BY segment

-- name: add_pack
INSERT INTO pack (tenant, namespace, level, size, passages, lengths)
VALUES (%(tenant)s, %(namespace)s, %(level)s, %(size)s, %(passages)s, %(lengths)s)
RETURNING id

-- name: copy_rows
COPY pack_terms (tenant, pack, last_term, terms, counts, places, frequencies) FROM STDIN (FORMAT BINARY)

-- name: put_segments
UPDATE segment SET pack = %(pack)s, place = p.place
FROM unnest(%(segments)s::bigint[], %(places)s::integer[]) AS p (id, place)
WHERE segment.id = p.id AND segment.tenant = %(tenant)s

-- name: drop_packs
DELETE FROM pack WHERE tenant = %(tenant)s AND id = ANY (%(packs)s)

-- name: wait_for_packs
SELECT pg_advisory_xact_lock(hashtextextended(%(tenant)s || E'\x1fpacks', 0))

-- name: packs_of
SELECT DISTINCT pack FROM segment WHERE tenant = %(tenant)s AND document = %(document)s AND pack IS NOT NULL

-- name: leave_packs
UPDATE segment SET pack = NULL, place = NULL WHERE tenant = %(tenant)s AND pack = ANY (%(packs)s)
