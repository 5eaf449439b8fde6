WITH wal AS (
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS at
), standbys AS (
    SELECT pg_wal_lsn_diff((SELECT at FROM wal), replay_lsn) AS behind, extract(epoch FROM replay_lag) AS lag
    FROM pg_stat_replication
    WHERE replay_lsn IS NOT NULL
)
SELECT json_build_object(
    'version', current_setting('server_version'),
    'version_num', current_setting('server_version_num')::int,
    'standby', pg_is_in_recovery(),
    'up_s', extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()),
    'started', extract(epoch FROM pg_postmaster_start_time()),
    'block_size', current_setting('block_size'),
    'data_checksums', current_setting('data_checksums'),
    'free_connections', current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int
        - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()),
    'standbys', (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'),
    'synchronous_standbys', (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
    'wal_bytes', pg_wal_lsn_diff((SELECT at FROM wal), '0/0'),
    'behind_bytes', (SELECT max(behind) FROM standbys),
    'lag_s', (SELECT max(lag) FROM standbys WHERE behind > 0 HAVING count(*) = count(lag)),
    'not_durable', (
        SELECT string_agg(name || ' = ' || setting, ', ' ORDER BY name)
        FROM pg_settings
        WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
    ),
    'settings', (
        SELECT coalesce(json_object_agg(name, current_setting(name) ORDER BY name), '{}')
        FROM pg_settings
        WHERE source NOT IN ('default', 'override', 'client', 'session', 'interactive')
        AND category NOT LIKE 'Client Connection Defaults / Locale%'
        AND name !~ 'conninfo|command|director|_file$|^ssl_|^log_|^port$|^listen_addresses$|^cluster_name$'
        AND name NOT IN ('DateStyle', 'TimeZone', 'default_text_search_config', 'primary_slot_name')
    )
)
