from benchbrief.extend.spec import COUNTERS_AND_GAUGES, ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="database",
    doc=(
        "What the database counts itself: MongoDB's `serverStatus`, asked over the network, or RocksDB's "
        "statistics, which its load generator keeps for each interval, in whole seconds. They are of the measuring "
        "process alone, without load and warm-up; its first and last interval may be missing. db_bench keeps counters "
        "alone, unless the option `statistics` asks for more; with openload, RocksDB keeps its timers too. RocksDB's "
        "wiki puts the cost of all its statistics at 5 to 10 %: compare what was measured with the probe with what "
        "was, too."
    ),
    implementation="benchbrief.extensions.probes.database.server_probe:Database",
    measures={
        "database.connections": ProbeMeasure(
            "", "Connections that are open, as sampled.", {"en": "Open connections", "ja": "接続数"}
        ),
        "database.active": ProbeMeasure(
            "",
            "Clients with an operation under way, as sampled.",
            {"en": "Active clients", "ja": "アクティブクライアント数"},
        ),
        "database.queued": ProbeMeasure(
            "", "Operations that wait for a lock, as sampled.", {"en": "Queued operations", "ja": "待機中の操作"}
        ),
        "database.memory": ProbeMeasure(
            "B", "The server's resident memory, as sampled.", {"en": "Server memory", "ja": "サーバーメモリー"}
        ),
        "database.cache_used": ProbeMeasure(
            "B", "Bytes in WiredTiger's cache, as sampled.", {"en": "Server cache", "ja": "サーバーキャッシュ"}
        ),
        "database.cache_dirty": ProbeMeasure(
            "B",
            "Bytes in WiredTiger's cache that have yet to be written, as sampled.",
            {"en": "Dirty server cache", "ja": "ダーティーキャッシュ"},
        ),
        "database.replication_lag": ProbeMeasure(
            "s",
            "How far the slowest secondary is behind the primary, as sampled.",
            {"en": "Replication lag", "ja": "レプリケーション遅延"},
        ),
        "database.inserts": ProbeMeasure(
            "1/s", "Documents inserted per second, by the server's counter.", {"en": "Inserts", "ja": "挿入"}
        ),
        "database.queries": ProbeMeasure(
            "1/s", "Queries per second, by the server's counter.", {"en": "Queries", "ja": "クエリー"}
        ),
        "database.updates": ProbeMeasure(
            "1/s", "Updates per second, by the server's counter.", {"en": "Updates", "ja": "更新"}
        ),
        "database.deletes": ProbeMeasure(
            "1/s", "Deletes per second, by the server's counter.", {"en": "Deletes", "ja": "削除"}
        ),
        "database.getmores": ProbeMeasure(
            "1/s",
            "Further batches of cursors asked for per second, by the server's counter.",
            {"en": "Getmores", "ja": "getmore"},
        ),
        "database.commands": ProbeMeasure(
            "1/s", "Other commands per second, by the server's counter.", {"en": "Commands", "ja": "コマンド"}
        ),
        "database.received": ProbeMeasure(
            "B/s", "Bytes that the server received per second.", {"en": "Server received", "ja": "サーバー受信"}
        ),
        "database.sent": ProbeMeasure(
            "B/s", "Bytes that the server sent per second.", {"en": "Server sent", "ja": "サーバー送信"}
        ),
        "database.cache_read": ProbeMeasure(
            "B/s",
            "Bytes read into WiredTiger's cache per second.",
            {"en": "Read into cache", "ja": "キャッシュ読み込み"},
        ),
        "database.cache_written": ProbeMeasure(
            "B/s",
            "Bytes written from WiredTiger's cache per second.",
            {"en": "Written from cache", "ja": "キャッシュ書き出し"},
        ),
        "database.evictions": ProbeMeasure(
            "1/s", "Pages evicted from WiredTiger's cache per second.", {"en": "Evictions", "ja": "エビクション"}
        ),
        "database.evictions_by_operations": ProbeMeasure(
            "1/s",
            "Pages per second that operations had to evict themselves, waiting meanwhile.",
            {"en": "Evictions by operations", "ja": "操作によるエビクション"},
        ),
        "database.user_read": ProbeMeasure(
            "B/s",
            "Bytes per second that RocksDB gave to its user, uncompressed: by gets, multi-gets and iterators.",
            {"en": "Read by the user", "ja": "ユーザー読み取り量"},
        ),
        "database.user_written": ProbeMeasure(
            "B/s",
            "Bytes per second that the user wrote to RocksDB, uncompressed.",
            {"en": "Written by the user", "ja": "ユーザー書き込み量"},
        ),
        "database.wal_written": ProbeMeasure(
            "B/s",
            "Bytes per second written to RocksDB's write-ahead log.",
            {"en": "Written to the log", "ja": "ログ書き込み量"},
        ),
        "database.flushed": ProbeMeasure(
            "B/s", "Bytes per second that RocksDB's flushes wrote.", {"en": "Flushed", "ja": "フラッシュ量"}
        ),
        "database.compaction_read": ProbeMeasure(
            "B/s",
            "Bytes per second that RocksDB's compactions read.",
            {"en": "Read by compaction", "ja": "コンパクション読み取り量"},
        ),
        "database.compaction_written": ProbeMeasure(
            "B/s",
            "Bytes per second that RocksDB's compactions wrote.",
            {"en": "Written by compaction", "ja": "コンパクション書き込み量"},
        ),
        "database.cache_hits": ProbeMeasure(
            "1/s",
            "Blocks per second that were found in RocksDB's block cache.",
            {"en": "Block cache hits", "ja": "ブロックキャッシュヒット"},
        ),
        "database.cache_misses": ProbeMeasure(
            "1/s",
            "Blocks per second that were looked for in RocksDB's block cache and not found.",
            {"en": "Block cache misses", "ja": "ブロックキャッシュミス"},
        ),
        "database.bloom_useful": ProbeMeasure(
            "1/s",
            "Reads of a file per second that RocksDB's Bloom filters made needless.",
            {"en": "Reads saved by Bloom filters", "ja": "ブルームフィルターで省いた読み取り"},
        ),
        "database.cache_hit_ratio": ProbeMeasure(
            "",
            (
                "Of all blocks looked for in RocksDB's block cache, the share that was found, over the whole "
                "measurement; the cache starts cold, and compactions look there too. Missing where none was looked "
                "for."
            ),
            {"en": "Block cache hit ratio", "ja": "ブロックキャッシュヒット率"},
            across_nodes="average",
            of_whole_measurement=True,
        ),
        "database.stalled": ProbeMeasure(
            "",
            (
                "The share of the measurement in which RocksDB held writes back until a flush or a compaction was "
                "done (`rocksdb.stall.micros`)."
            ),
            {"en": "Write stalls", "ja": "書き込みストール"},
            across_nodes="average",
            of_whole_measurement=True,
        ),
        "database.write_amplification": ProbeMeasure(
            "",
            (
                "Bytes written to storage for each byte that the user wrote, as RocksDB's Tuning Guide defines it: "
                "those of the write-ahead log, of flushes and of compactions, which are compressed, by the user's, "
                "which are not, over the whole measurement. What compaction owes at its end is not in it. Missing "
                "where nothing was written."
            ),
            {"en": "Write amplification", "ja": "書き込み増幅率"},
            across_nodes="average",
            of_whole_measurement=True,
        ),
    },
    single_reading=COUNTERS_AND_GAUGES,
    asks="database",
    word_is_free=True,
)
