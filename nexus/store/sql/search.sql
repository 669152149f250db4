-- name: bm25
WITH visible AS MATERIALIZED (
    SELECT id, passages, length
    FROM segment
    WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
),
corpus AS MATERIALIZED (
    -- The length's part of the formula: k1 * (1 - b + b * length / mean) = base + slope * length.
    SELECT count, %(k1)s::float8 * (1 - %(b)s::float8) AS base, %(k1)s::float8 * %(b)s::float8 / greatest(length / greatest(count, 1), 1e-9) AS slope
    FROM (SELECT coalesce(sum(passages), 0)::float8 AS count, coalesce(sum(length), 0)::float8 AS length FROM visible) v
),
question AS (
    SELECT term, weight, written FROM unnest(%(terms)s::bigint[], %(weights)s::float8[], %(written)s::boolean[]) AS q (term, weight, written)
),
found AS MATERIALIZED (
    SELECT p.term, p.passages, p.frequencies, p.lengths
    FROM posting p
    WHERE p.tenant = %(tenant)s AND p.term = ANY (%(terms)s::bigint[]) AND p.segment IN (SELECT id FROM visible)
),
-- The reader's own statistics: what it may not see has no part in its scores.
known AS (
    SELECT term, sum(cardinality(passages))::float8 AS documents FROM found GROUP BY term
),
weighted AS MATERIALIZED (
    SELECT q.term, q.written, q.weight * (%(k1)s::float8 + 1) * ln(1 + (c.count - coalesce(k.documents, 0) + 0.5) / (coalesce(k.documents, 0) + 0.5)) AS weight
    FROM question q CROSS JOIN corpus c LEFT JOIN known k ON k.term = q.term
),
scored AS MATERIALIZED (
    SELECT x.passage, sum(x.weight * x.frequency / (x.frequency + c.base + c.slope * x.length)) AS score
    FROM (
        -- Unnested where they are selected: as a function in FROM each row's arrays would be stored once more.
        SELECT w.weight, unnest(f.passages) AS passage, unnest(f.frequencies) AS frequency, unnest(f.lengths) AS length
        FROM found f JOIN weighted w ON w.term = f.term
    ) x
    CROSS JOIN corpus c
    GROUP BY x.passage
),
-- Sums of floats differ in the last digit by their order; what is equal but for that is a tie.
lowest AS (
    SELECT coalesce(min(score), 0) AS score FROM (SELECT round(score * 1e8) AS score FROM scored ORDER BY round(score * 1e8) DESC LIMIT %(limit)s) s
)
SELECT s.passage, p.rid, p.document, s.score, (SELECT coalesce(sum(weight), 0) FROM weighted WHERE written) AS ideal
FROM scored s JOIN passage p ON p.id = s.passage
WHERE round(s.score * 1e8) >= (SELECT score FROM lowest)
ORDER BY round(s.score * 1e8) DESC, p.rid
LIMIT %(limit)s

-- name: languages
SELECT x.language, sum(x.passages)
FROM segment CROSS JOIN LATERAL unnest(languages, language_passages) AS x (language, passages)
WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
GROUP BY x.language
ORDER BY x.language

-- name: pending
SELECT coalesce(sum(passages), 0), coalesce(sum(passages) FILTER (WHERE NOT generations @> ARRAY[%(generation)s]), 0)
FROM segment
WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))

-- name: nearest_exact
SELECT n.passage, p.rid, p.document, n.cosine
FROM (
    SELECT e.passage, 1 - (e.vector <=> %(vector)s::halfvec) AS cosine
    FROM embedding e JOIN segment s ON s.id = e.segment
    WHERE e.tenant = %(tenant)s AND e.generation = %(generation)s AND e.language = %(language)s
      AND s.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
    ORDER BY e.vector <=> %(vector)s::halfvec
    LIMIT %(limit)s
) n
JOIN passage p ON p.id = n.passage
ORDER BY n.cosine DESC, p.rid
