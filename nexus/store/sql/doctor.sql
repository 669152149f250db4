-- name: server
SELECT current_setting('server_version'), current_setting('server_version_num')::int, extract(epoch FROM clock_timestamp())::float8,
    EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'), to_regclass('schema_migration') IS NOT NULL, current_setting('max_connections')::int,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())::int,
    coalesce(inet_client_addr() <> inet_server_addr() AND NOT (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)

-- name: replica
SELECT pg_is_in_recovery(), extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8

-- name: ran
SELECT name, checksum FROM schema_migration
