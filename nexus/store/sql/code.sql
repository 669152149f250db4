-- name: code_fingerprints
SELECT uri, fingerprint
FROM code_file
WHERE tenant = %(tenant)s AND (uri = %(uri)s OR starts_with(uri, %(uri)s || '/'))

-- name: add_code_file
INSERT INTO code_file (tenant, uri, path, language, fingerprint, level, indexed_at)
VALUES (%(tenant)s, %(uri)s, %(path)s, %(language)s, %(fingerprint)s, %(level)s, %(indexed_at)s)

-- name: delete_code_files
DELETE FROM code_file
WHERE tenant = %(tenant)s AND uri = ANY (%(uris)s)

-- name: copy_code_symbols
COPY code_symbol (tenant, uri, name, qualified, kind, line_start, line_end, signature, hash) FROM STDIN

-- name: copy_code_values
COPY code_value (tenant, uri, name, key, value, rule, line) FROM STDIN

-- name: copy_code_grades
COPY code_grade (tenant, uri, enum, member, level) FROM STDIN

-- name: copy_code_gates
COPY code_gate (tenant, uri, enum, member, action, demand, line, certain) FROM STDIN

-- name: count_code
SELECT (SELECT count(*) FROM code_file WHERE tenant = %(tenant)s AND level <= %(level)s),
       (SELECT count(*) FROM code_symbol s JOIN code_file f USING (tenant, uri) WHERE s.tenant = %(tenant)s AND f.level <= %(level)s)

-- name: symbols_called
SELECT s.name, s.uri, f.path, s.qualified, s.line_start, s.hash, s.kind
FROM code_symbol s JOIN code_file f USING (tenant, uri)
WHERE s.tenant = %(tenant)s AND f.level <= %(level)s AND s.name = ANY (%(names)s)
ORDER BY f.path, s.line_start, s.qualified

-- name: values_named
SELECT v.name, v.value, v.rule, f.path, v.line, f.language
FROM code_value v JOIN code_file f USING (tenant, uri)
WHERE v.tenant = %(tenant)s AND f.level <= %(level)s AND v.key = ANY (%(keys)s)
ORDER BY f.path, v.line, v.name, v.value
LIMIT %(limit)s

-- name: values_about
WITH found AS (
    SELECT v.name, v.value, v.rule, f.path, v.line, f.language,
           (SELECT bool_and(strpos(v.key, word) > 0) FROM unnest(%(words)s::text[]) word) AS named
    FROM code_value v JOIN code_file f USING (tenant, uri)
    WHERE v.tenant = %(tenant)s AND f.level <= %(level)s
      AND (SELECT bool_and(strpos(v.key || regexp_replace(lower(f.path), '[\s_./:-]+', '', 'g'), word) > 0) FROM unnest(%(words)s::text[]) word)
)
SELECT name, value, rule, path, line, language
FROM found
WHERE named OR NOT EXISTS (SELECT FROM found WHERE named)
ORDER BY path, line, name, value
LIMIT %(limit)s

-- name: grades_of
SELECT f.path, g.member, g.level
FROM code_grade g JOIN code_file f USING (tenant, uri)
WHERE g.tenant = %(tenant)s AND f.level <= %(level)s AND g.enum = %(enum)s AND (%(inside)s = '' OR strpos(f.path, %(inside)s) > 0)
ORDER BY f.path, g.level, g.member

-- name: gates_of
SELECT g.action, g.member, g.demand, f.path, g.line, g.certain
FROM code_gate g JOIN code_file f USING (tenant, uri)
WHERE g.tenant = %(tenant)s AND f.level <= %(level)s AND g.enum IN ('', %(enum)s) AND g.member = ANY (%(members)s)
  AND (%(inside)s = '' OR strpos(f.path, %(inside)s) > 0)
ORDER BY f.path, g.line, g.action

-- name: bound_anchors
SELECT content_hash, name, bound_uri, bound_to, bound_hash, bound_at
FROM code_anchor
WHERE tenant = %(tenant)s AND document = %(document)s AND bound_hash IS NOT NULL

-- name: clear_anchors
DELETE FROM code_anchor
WHERE tenant = %(tenant)s AND document = %(document)s

-- name: copy_anchors
COPY code_anchor (tenant, document, passage, content_hash, name, symbol, bound_uri, bound_to, bound_hash, bound_at) FROM STDIN

-- name: unbound_anchors
SELECT DISTINCT a.name, a.symbol
FROM code_anchor a
WHERE a.tenant = %(tenant)s AND a.bound_hash IS NULL AND EXISTS (SELECT FROM code_symbol s WHERE s.tenant = a.tenant AND s.name = a.symbol)
ORDER BY a.name

-- name: bind_anchor
UPDATE code_anchor SET bound_uri = %(uri)s, bound_to = %(qualified)s, bound_hash = %(hash)s, bound_at = %(now)s
WHERE tenant = %(tenant)s AND name = %(name)s AND bound_hash IS NULL

-- name: anchors_of
SELECT a.passage, a.name, a.symbol, a.bound_uri, a.bound_to, a.bound_hash, a.bound_at, d.rid, d.title, d.uri
FROM code_anchor a
JOIN document d ON d.tenant = a.tenant AND d.rid = a.document
JOIN passage p ON p.tenant = a.tenant AND p.document = a.document AND p.rid = a.passage
JOIN segment s ON s.id = p.segment
WHERE a.tenant = %(tenant)s AND s.served AND s.level <= %(level)s AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))
  AND (%(passages)s::text[] IS NULL OR a.passage = ANY (%(passages)s))
ORDER BY d.title, d.rid, p.ordinal, a.name
LIMIT %(limit)s
