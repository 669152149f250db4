-- name: server
SELECT current_setting('server_version'), current_setting('server_version_num')::int, extract(epoch FROM clock_timestamp())::float8,
    EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'), to_regclass('schema_migration') IS NOT NULL, current_setting('max_connections')::int

-- name: ran
SELECT name, checksum FROM schema_migration
