-- name: postings
-- All that a question needs, in one statement and so of one state: {part, pack, term, numbers, four stretches of bytes}.
WITH visible AS MATERIALIZED (
    SELECT id, passages, length, pack, place
    FROM segment
    WHERE tenant = %(tenant)s AND served AND level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR namespace = ANY (%(namespaces)s))
),
live AS MATERIALIZED (
    SELECT pack, sum(passages)::integer AS passages, array_agg(place) AS places, array_agg(passages) AS sizes FROM visible WHERE pack IS NOT NULL GROUP BY pack
)
SELECT 'corpus' AS part, NULL::bigint AS pack, NULL::bigint AS term, ARRAY[coalesce(sum(passages), 0), coalesce(sum(length), 0)]::bigint[] AS numbers,
       NULL::integer[] AS places, NULL::integer[] AS sizes, NULL::bytea AS a, NULL::bytea AS b, NULL::bytea AS c, NULL::bytea AS d, NULL::bytea AS e
FROM visible
UNION ALL
-- Where segments of a pack are gone, hidden or not for this reader, the stretches that are left.
SELECT 'pack', k.id, NULL, NULL, CASE WHEN l.passages < k.size THEN l.places END, CASE WHEN l.passages < k.size THEN l.sizes END, k.passages, k.lengths, NULL, NULL, NULL
FROM live l JOIN pack k ON k.tenant = %(tenant)s AND k.id = l.pack
UNION ALL
SELECT 'terms', l.pack, q.term, NULL, NULL, NULL, r.terms, r.counts, r.places, r.frequencies, NULL
FROM live l CROSS JOIN unnest(%(terms)s::bigint[]) AS q (term)
CROSS JOIN LATERAL (
    SELECT p.terms, p.counts, p.places, p.frequencies
    FROM pack_terms p WHERE p.tenant = %(tenant)s AND p.pack = l.pack AND p.last_term >= q.term
    ORDER BY p.last_term LIMIT 1
) r
UNION ALL
SELECT 'segment', NULL, NULL, NULL, NULL, NULL, t.passages, t.lengths, t.terms, t.places, t.frequencies
FROM visible v JOIN segment_terms t ON t.tenant = %(tenant)s AND t.segment = v.id
WHERE v.pack IS NULL

-- name: named
SELECT id, rid, document FROM passage WHERE tenant = %(tenant)s AND id = ANY (%(ids)s)
