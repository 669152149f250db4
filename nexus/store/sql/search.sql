-- name: languages
WITH visible AS MATERIALIZED (
    SELECT languages, language_passages, passages, generations @> ARRAY[%(generation)s::text] AS done
    FROM segment
    WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
),
-- Nearly every segment is of one language; to take arrays apart takes longer.
counted AS (
    SELECT languages[1] AS language, done, sum(passages) AS passages FROM visible WHERE cardinality(languages) = 1 GROUP BY 1, 2
    UNION ALL
    SELECT x.language, done, sum(x.passages)
    FROM visible CROSS JOIN LATERAL unnest(languages, language_passages) AS x (language, passages)
    WHERE cardinality(languages) > 1 GROUP BY 1, 2
)
SELECT language, sum(passages)::bigint, coalesce(sum(passages) FILTER (WHERE NOT done), 0)::bigint FROM counted GROUP BY language ORDER BY language

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

-- name: cosines
SELECT passage, 1 - (vector <=> %(vector)s::halfvec)
FROM embedding
WHERE tenant = %(tenant)s AND generation = %(generation)s AND passage = ANY (%(ids)s)
