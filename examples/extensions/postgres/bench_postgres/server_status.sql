WITH standbys AS (
    SELECT coalesce(
        extract(epoch FROM replay_lag), CASE WHEN replay_lsn >= pg_current_wal_lsn() THEN 0 END) AS lag
    FROM pg_stat_replication
    WHERE replay_lsn IS NOT NULL
)
SELECT json_build_object(
    'wal_bytes', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'),
    'checkpoints_timed', checkpoints.timed,
    'checkpoints_requested', checkpoints.requested,
    'checkpoint_bytes', checkpoints.buffers * current_setting('block_size')::int,
    'blocks_hit', d.blks_hit,
    'blocks_read', d.blks_read,
    'bytes_read', d.blks_read * current_setting('block_size')::int,
    'commits', d.xact_commit,
    'rollbacks', d.xact_rollback,
    'deadlocks', d.deadlocks,
    'temp_bytes', d.temp_bytes,
    'active', (SELECT count(*) FROM pg_stat_activity
        WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()),
    'lock_waits', (SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'),
    'lag_bytes', (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) FROM pg_stat_replication),
    'lag_s', (SELECT max(lag) FROM standbys HAVING count(*) = count(lag))
)
FROM pg_stat_database d, (CHECKPOINTS) AS checkpoints
WHERE d.datname = current_database()
