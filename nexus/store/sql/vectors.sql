-- name: find_generation
SELECT name, model, dimension, form FROM generation WHERE tenant = %(tenant)s AND name = %(name)s

-- name: list_generations
SELECT g.name, g.model, g.dimension, g.form, g.declared_at, s.name IS NOT NULL AS serving,
       (SELECT count(*) FROM segment x WHERE x.tenant = g.tenant AND x.generations @> ARRAY[g.name]) AS segments_done,
       (SELECT count(*) FROM segment x WHERE x.tenant = g.tenant) AS segments
FROM generation g
LEFT JOIN generation_serving s ON s.tenant = g.tenant AND s.name = g.name
WHERE g.tenant = %(tenant)s
ORDER BY g.declared_at, g.name

-- name: serving_generation
SELECT g.name, g.model, g.dimension, g.form
FROM generation_serving s JOIN generation g ON g.tenant = s.tenant AND g.name = s.name
WHERE s.tenant = %(tenant)s

-- name: declare_generation
INSERT INTO generation (tenant, name, model, dimension, form, declared_at)
VALUES (%(tenant)s, %(name)s, %(model)s, %(dimension)s, %(form)s, %(declared_at)s)
ON CONFLICT (tenant, name) DO NOTHING

-- name: serve_generation
INSERT INTO generation_serving (tenant, name, since)
VALUES (%(tenant)s, %(name)s, %(since)s)
ON CONFLICT (tenant) DO UPDATE SET name = excluded.name, since = excluded.since

-- name: serve_first_generation
INSERT INTO generation_serving (tenant, name, since)
VALUES (%(tenant)s, %(name)s, %(since)s)
ON CONFLICT (tenant) DO NOTHING

-- name: drop_vectors
DELETE FROM embedding WHERE tenant = %(tenant)s AND generation = %(generation)s

-- name: forget_generation
UPDATE segment SET generations = array_remove(generations, %(generation)s)
WHERE tenant = %(tenant)s AND generations @> ARRAY[%(generation)s]

-- name: cached
SELECT content_hash, vector
FROM embedding_cache
WHERE tenant = %(tenant)s AND model = %(model)s AND dimension = %(dimension)s AND content_hash = ANY (%(hashes)s)

-- name: touch_cached
-- Whoever holds a row uses it, too: nobody waits for another, in whatever order.
WITH free AS MATERIALIZED (
    SELECT content_hash FROM embedding_cache
    WHERE tenant = %(tenant)s AND model = %(model)s AND dimension = %(dimension)s AND content_hash = ANY (%(hashes)s) AND used_at < %(before)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE embedding_cache c SET used_at = %(now)s
FROM free
WHERE c.tenant = %(tenant)s AND c.model = %(model)s AND c.dimension = %(dimension)s AND c.content_hash = free.content_hash

-- name: put_cached
INSERT INTO embedding_cache (tenant, content_hash, model, dimension, vector, used_at)
VALUES (%(tenant)s, %(content_hash)s, %(model)s, %(dimension)s, %(vector)s, %(now)s)
ON CONFLICT (tenant, content_hash, model, dimension) DO NOTHING

-- name: forget_cached
-- In one order everywhere, so that two never wait for each other in a circle.
WITH held AS MATERIALIZED (
    SELECT content_hash, model, dimension FROM embedding_cache
    WHERE tenant = %(tenant)s AND content_hash IN (SELECT p.content_hash FROM passage p WHERE p.tenant = %(tenant)s AND p.document = %(document)s)
      AND content_hash <> ALL (%(kept)s)
    ORDER BY content_hash, model, dimension
    FOR UPDATE
)
DELETE FROM embedding_cache c
USING held
WHERE c.tenant = %(tenant)s AND c.content_hash = held.content_hash AND c.model = held.model AND c.dimension = held.dimension

-- name: bound_cache
WITH oldest AS MATERIALIZED (
    SELECT content_hash, model, dimension FROM embedding_cache WHERE tenant = %(tenant)s ORDER BY used_at DESC OFFSET %(keep)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM embedding_cache c
USING oldest
WHERE c.tenant = %(tenant)s AND c.content_hash = oldest.content_hash AND c.model = oldest.model AND c.dimension = oldest.dimension

-- name: copy_vectors
COPY embedding (tenant, generation, passage, segment, language, vector) FROM STDIN (FORMAT BINARY)

-- name: finish_segment
UPDATE segment SET generations = array_append(generations, %(generation)s)
WHERE id = %(segment)s AND tenant = %(tenant)s AND NOT generations @> ARRAY[%(generation)s]

-- name: unfinished_segments
SELECT s.id, s.passages
FROM segment s
WHERE s.tenant = %(tenant)s AND NOT s.generations @> ARRAY[%(generation)s]
ORDER BY s.id
LIMIT %(limit)s

-- name: count_unfinished
SELECT coalesce(sum(passages), 0) FROM segment WHERE tenant = %(tenant)s AND NOT generations @> ARRAY[%(generation)s]

-- name: tenants_unfinished
SELECT DISTINCT s.tenant
FROM segment s LEFT JOIN generation_serving g ON g.tenant = s.tenant
WHERE g.name IS NULL OR NOT s.generations @> ARRAY[g.name]

-- name: segment_texts
SELECT p.id, p.segment, p.language, p.content_hash, d.title, p.section, p.lead, p.text
FROM passage p JOIN document d ON d.tenant = p.tenant AND d.rid = p.document
WHERE p.tenant = %(tenant)s AND p.segment = ANY (%(segments)s)
ORDER BY p.segment, p.ordinal

-- name: lock_segment
SELECT id FROM segment WHERE id = %(segment)s AND tenant = %(tenant)s FOR NO KEY UPDATE

-- name: generation_size
SELECT language, count(*) FROM embedding WHERE tenant = %(tenant)s AND generation = %(generation)s GROUP BY language
