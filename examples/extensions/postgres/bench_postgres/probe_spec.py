"""Describes the probe of a PostgreSQL server."""

from benchbrief.extend.spec import COUNTERS_AND_GAUGES, ProbeMeasure, ProbeSpec

PROBE = ProbeSpec(
    api=3,
    name="postgresql",
    doc=(
        "What PostgreSQL counts itself: WAL, checkpoints, its buffer cache, locks, and how far standbys are behind. "
        "The role needs `pg_monitor`. Each reading is one connection and one query."
    ),
    implementation="bench_postgres.postgres_probe:PostgresProbe",
    measures={
        "postgresql.wal": ProbeMeasure(
            "B/s",
            "Bytes of WAL per second, by the position in it (`pg_current_wal_lsn`).",
            {"en": "WAL written", "ja": "WAL 書き込み量"},
            simulated=4e6,
        ),
        "postgresql.checkpoints_timed": ProbeMeasure(
            "",
            "Checkpoints in the measured time that were due by `checkpoint_timeout`.",
            {"en": "Timed checkpoints", "ja": "定期チェックポイント"},
            of_whole_measurement=True,
            simulated=0,
        ),
        "postgresql.checkpoints_requested": ProbeMeasure(
            "",
            "Checkpoints in the measured time that `max_wal_size` or a command asked for.",
            {"en": "Requested checkpoints", "ja": "要求チェックポイント"},
            of_whole_measurement=True,
            simulated=0,
        ),
        "postgresql.checkpoint_written": ProbeMeasure(
            "B/s",
            "Bytes per second that checkpoints wrote from the buffer cache.",
            {"en": "Written by checkpoints", "ja": "チェックポイント書き込み量"},
            simulated=1e6,
        ),
        "postgresql.buffer_hits": ProbeMeasure(
            "",
            "Of all blocks of the database that were asked for in the measured time, the share that was found in the "
            "buffer cache. The others may have been in the kernel's page cache.",
            {"en": "Buffer hit ratio", "ja": "バッファーヒット率"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=0.99,
        ),
        "postgresql.blocks_read": ProbeMeasure(
            "B/s",
            "Bytes per second that were not in the buffer cache, of the database.",
            {"en": "Read into buffers", "ja": "バッファーへの読み込み量"},
            simulated=1e6,
        ),
        "postgresql.temporary": ProbeMeasure(
            "B/s",
            "Bytes per second that queries wrote to temporary files, of the database.",
            {"en": "Temporary files", "ja": "一時ファイル書き込み量"},
        ),
        "postgresql.commits": ProbeMeasure(
            "1/s", "Transactions committed per second, of the database.", {"en": "Commits", "ja": "コミット"}
        ),
        "postgresql.rollbacks": ProbeMeasure(
            "1/s", "Transactions rolled back per second, of the database.", {"en": "Rollbacks", "ja": "ロールバック"}
        ),
        "postgresql.deadlocks": ProbeMeasure(
            "1/s", "Deadlocks per second, of the database.", {"en": "Deadlocks", "ja": "デッドロック"}
        ),
        "postgresql.active": ProbeMeasure(
            "",
            "Clients whose query runs, as sampled; the probe's own is left out.",
            {"en": "Active clients", "ja": "アクティブクライアント数"},
            simulated=4,
        ),
        "postgresql.lock_waits": ProbeMeasure(
            "", "Processes that wait for a lock, as sampled.", {"en": "Waiting for locks", "ja": "ロック待ち"}
        ),
        "postgresql.lag": ProbeMeasure(
            "s",
            "How long the slowest streaming standby took to replay what was flushed here, as sampled (`replay_lag`).",
            {"en": "Replication lag", "ja": "レプリケーション遅延"},
        ),
        "postgresql.lag_bytes": ProbeMeasure(
            "B",
            "How many bytes of WAL the slowest streaming standby has yet to replay, as sampled.",
            {"en": "WAL to be replayed", "ja": "未再生の WAL"},
        ),
    },
    asks="database",
    single_reading=COUNTERS_AND_GAUGES,
)
