-- name: snapshot
SELECT pg_export_snapshot(), current_setting('server_version')

-- name: migrations
SELECT name FROM schema_migration ORDER BY name

-- name: unlogged
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'u'
ORDER BY 1
