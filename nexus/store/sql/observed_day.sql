-- name: more_memory
SET LOCAL work_mem = '64MB'

-- name: page_by_page
SET LOCAL enable_indexscan = off

-- name: as_planned
SET LOCAL enable_indexscan = on

-- name: histories
SELECT edge, bit_or(CASE WHEN day - %(from)s::integer < %(word)s::integer THEN 1::bigint << (day - %(from)s::integer) ELSE 0 END) AS low,
       bit_or(CASE WHEN day - %(from)s::integer < %(word)s::integer THEN 0 ELSE 1::bigint << (day - %(from)s::integer - %(word)s::integer) END) AS high,
       sum(calls)::bigint AS calls, sum(messages)::bigint AS messages, sum(traces)::bigint AS traces, min(day::bigint * 86400 + first_second) AS first_second
FROM observed_day
WHERE tenant = %(tenant)s AND day >= %(from)s::integer AND day < %(to)s::integer
GROUP BY edge
UNION ALL
-- What is not folded into its day yet.
SELECT edge, bit_or(CASE WHEN start / 86400 - %(from)s::integer < %(word)s::integer THEN 1::bigint << (start / 86400 - %(from)s::integer)::integer ELSE 0 END),
       bit_or(CASE WHEN start / 86400 - %(from)s::integer < %(word)s::integer THEN 0 ELSE 1::bigint << (start / 86400 - %(from)s::integer - %(word)s::integer)::integer END),
       sum(calls)::bigint, sum(messages)::bigint, sum((octet_length(shown) / 33 + 2) / 3)::bigint, min(coalesce(first_ns / 1000000000, start))
FROM observed_row
WHERE tenant = %(tenant)s AND grain = -1 AND start >= %(from)s::bigint * 86400 AND start < %(to)s::bigint * 86400 AND (calls > 0 OR messages > 0 OR shown <> '')
GROUP BY edge

-- name: counts_by_day
WITH days AS (
    SELECT edge, day, calls, messages
    FROM observed_day
    WHERE tenant = %(tenant)s AND day >= %(from)s::integer AND day < %(to)s::integer AND edge = ANY(%(edges)s)
    UNION ALL
    SELECT edge, (start / 86400)::integer, calls, messages
    FROM observed_row
    WHERE tenant = %(tenant)s AND grain = -1 AND start >= %(from)s::bigint * 86400 AND start < %(to)s::bigint * 86400 AND edge = ANY(%(edges)s)
)
SELECT edge, day - %(from)s::integer, (CASE WHEN sum(messages) > 0 THEN sum(messages) ELSE sum(calls) END)::bigint
FROM days
GROUP BY edge, day
ORDER BY edge, day

-- name: names
SELECT id, rid FROM observed_edge WHERE tenant = %(tenant)s AND relation <> 'SERVICE' AND (%(environment)s::text IS NULL OR source_env = %(environment)s)

-- name: drop_days
DELETE FROM observed_day WHERE day < %(before)s::date - DATE '1970-01-01'
