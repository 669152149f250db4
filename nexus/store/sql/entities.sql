-- name: list_entities
-- A detail that only documents beyond the reader say is not there for that reader. Who may know all is spared looking at each.
SELECT rid, name, kind, shown.aliases,
    CASE WHEN owner = ANY(beyond.details) THEN '' ELSE owner END,
    CASE WHEN namespace = ANY(beyond.details) THEN '' ELSE namespace END,
    ARRAY(SELECT one FROM unnest(environments) one WHERE one <> ALL(beyond.details)),
    state,
    ARRAY(SELECT one FROM unnest(evidence) one WHERE one <> ALL(beyond.details)),
    ARRAY(SELECT one FROM unnest(members) one WHERE one <> ALL(beyond.details)),
    attributes,
    CASE WHEN everything.known THEN told ELSE '[]' END
FROM entity
CROSS JOIN LATERAL (SELECT told_rank <= %(class_rank)s AND cardinality(%(namespaces)s::text[]) = 0 AS known) everything
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(what), '{}') AS details
    FROM (
        SELECT one->>0 AS what
        FROM jsonb_array_elements(CASE WHEN everything.known THEN '[]' ELSE told END) one
        GROUP BY one->>0
        HAVING NOT bool_or(
            (one->>1)::int <= %(class_rank)s
            AND (cardinality(%(namespaces)s::text[]) = 0 OR one->>2 = ANY(array_append(%(namespaces)s::text[], '')))
        )
    ) hidden
) beyond
CROSS JOIN LATERAL (SELECT ARRAY(SELECT one FROM unnest(aliases) one WHERE one <> ALL(beyond.details)) AS aliases) shown
WHERE tenant = %(tenant)s AND class_rank <= %(class_rank)s
    AND (cardinality(%(namespaces)s::text[]) = 0 OR cardinality(scopes) = 0 OR scopes && %(namespaces)s::text[])
    AND (%(state)s::text = '' OR state = %(state)s)
    AND (%(kind)s::text = '' OR kind = %(kind)s)
    AND (%(text)s::text = '' OR position(lower(%(text)s) IN lower(name || ' ' || array_to_string(shown.aliases, ' '))) > 0)
ORDER BY name, kind, rid

-- name: delete_entities
DELETE FROM entity WHERE tenant = %(tenant)s AND rid = ANY(%(rids)s)

-- name: add_entity
INSERT INTO entity (tenant, rid, name, kind, aliases, owner, namespace, environments, state, evidence, members, attributes, scopes, class_rank, told, told_rank)
VALUES (%(tenant)s, %(rid)s, %(name)s, %(kind)s, %(aliases)s, %(owner)s, %(namespace)s, %(environments)s, %(state)s, %(evidence)s, %(members)s, %(attributes)s,
    %(scopes)s, %(class_rank)s, %(told)s, %(told_rank)s)

-- name: list_decisions
SELECT action, name, who, why, kind, other, id, at
FROM entity_decision
WHERE tenant = %(tenant)s AND (%(name)s::text = '' OR lower(name) = lower(%(name)s) OR lower(other) = lower(%(name)s))
ORDER BY id

-- name: add_decision
INSERT INTO entity_decision (tenant, action, name, kind, other, who, why, at)
VALUES (%(tenant)s, %(action)s, %(name)s, %(kind)s, %(other)s, %(who)s, %(why)s, %(at)s)
RETURNING id

-- name: delete_ambiguous
DELETE FROM entity_ambiguous WHERE tenant = %(tenant)s

-- name: add_ambiguous
INSERT INTO entity_ambiguous (tenant, name, candidates, class_rank, scopes)
VALUES (%(tenant)s, %(name)s, %(candidates)s, %(class_rank)s, %(scopes)s)

-- name: list_ambiguous
SELECT name, candidates
FROM entity_ambiguous
WHERE tenant = %(tenant)s AND class_rank <= %(class_rank)s
    AND (cardinality(%(namespaces)s::text[]) = 0 OR cardinality(scopes) = 0 OR scopes && %(namespaces)s::text[])
ORDER BY name
