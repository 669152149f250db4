-- name: bm25
WITH visible AS MATERIALIZED (
    SELECT id, passages, length
    FROM segment
    WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
),
corpus AS MATERIALIZED (
    SELECT coalesce(sum(passages), 0)::float8 AS count, coalesce(sum(length), 0)::float8 / greatest(coalesce(sum(passages), 0), 1) AS mean
    FROM visible
),
question AS (
    SELECT term, weight, written FROM unnest(%(terms)s::bigint[], %(weights)s::float8[], %(written)s::boolean[]) AS q (term, weight, written)
),
found AS MATERIALIZED (
    SELECT p.term, p.passages, p.frequencies, p.lengths
    FROM posting p JOIN visible v ON v.id = p.segment
    WHERE p.tenant = %(tenant)s AND p.term = ANY (%(terms)s::bigint[])
),
-- The reader's own statistics: what it may not see has no part in its scores.
known AS (
    SELECT term, sum(cardinality(passages))::float8 AS documents FROM found GROUP BY term
),
weighted AS MATERIALIZED (
    SELECT q.term, q.written, q.weight * ln(1 + (c.count - coalesce(k.documents, 0) + 0.5) / (coalesce(k.documents, 0) + 0.5)) AS weight
    FROM question q CROSS JOIN corpus c LEFT JOIN known k ON k.term = q.term
),
scored AS (
    SELECT x.passage,
           sum(w.weight * x.frequency * (%(k1)s::float8 + 1)
               / (x.frequency + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * x.length / c.mean))) AS score
    FROM found f
    JOIN weighted w ON w.term = f.term
    CROSS JOIN corpus c
    CROSS JOIN LATERAL unnest(f.passages, f.frequencies, f.lengths) AS x (passage, frequency, length)
    GROUP BY x.passage
),
best AS (
    -- Sums of floats differ in the last digit by their order; what is equal but for that is a tie.
    SELECT passage, score FROM scored ORDER BY round(score * 1e8) DESC FETCH FIRST %(limit)s ROWS WITH TIES
)
SELECT b.passage, p.rid, p.document, b.score, (SELECT coalesce(sum(weight), 0) * (%(k1)s::float8 + 1) FROM weighted WHERE written) AS ideal
FROM best b JOIN passage p ON p.id = b.passage
ORDER BY round(b.score * 1e8) DESC, p.rid
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
