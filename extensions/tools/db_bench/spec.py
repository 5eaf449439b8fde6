from benchbrief.extend.spec import Attribute, Flags, Key, MeasuredAnew, Number, ToolSpec, WorkloadSpec
from benchbrief.extensions.tools.db_bench.db_bench_flags import KNOWN, OURS, RESERVED, TYPES

_BYTES = Number("B", "400 B", integer=True, minimum=1.0, maximum=2.0**31 - 1)

SPEC = ToolSpec(
    api=3,
    name="db_bench",
    label="db_bench",
    doc="RocksDB's own benchmark.",
    implementation="benchbrief.extensions.tools.db_bench.db_bench:DbBench",
    install="sudo apt-get install rocksdb-tools",
    workloads={
        "readrandom": WorkloadSpec(
            {
                "en": "All threads read keys at random.",
                "ja": "すべてのスレッドがキーを無作為に選んで読み取ります。",
            },
            operations=("read",),
        ),
        "readwhilewriting": WorkloadSpec(
            {
                "en": "All threads read keys at random while one more thread writes.",
                "ja": "すべてのスレッドが無作為に読み取る間、もう一つのスレッドが書き込みを続けます。",
            },
            operations=(
                "read",
                "write",
            ),
            writes=True,
            changes="updates",
        ),
        "readrandomwriterandom": WorkloadSpec(
            {
                "en": "Every thread both reads and writes keys at random.",
                "ja": "各スレッドが無作為な読み取りと書き込みの両方を行います。",
            },
            operations=(
                "read",
                "write",
            ),
            writes=True,
            changes="updates",
            settings={"read": 0.9},  # db_bench's --readwritepercent
        ),
        "readmissing": WorkloadSpec(
            {
                "en": "All threads ask for keys that are not there.",
                "ja": "すべてのスレッドが存在しないキーを読み取ります。",
            },
            operations=("read",),
        ),
        "multireadrandom": WorkloadSpec(
            {
                "en": "All threads read several random keys in each call.",
                "ja": "すべてのスレッドが一度に複数のキーを無作為に読み取ります。",
            },
            operations=("read",),
        ),
        "seekrandom": WorkloadSpec(
            {
                "en": "All threads place an iterator on random keys.",
                "ja": "すべてのスレッドがイテレータを無作為なキーに移動します。",
            },
            operations=("seek",),
        ),
        "seekrandomwhilewriting": WorkloadSpec(
            {
                "en": "All threads place an iterator on random keys while one more thread writes.",
                "ja": "すべてのスレッドがイテレータを無作為なキーに移動する間、もう一つのスレッドが書き込みます。",
            },
            operations=(
                "seek",
                "write",
            ),
            writes=True,
            changes="updates",
        ),
        "overwrite": WorkloadSpec(
            {
                "en": "All threads write over keys at random.",
                "ja": "すべてのスレッドが既存のキーを無作為に上書きします。",
            },
            operations=("write",),
            writes=True,
            changes="updates",
        ),
        "updaterandom": WorkloadSpec(
            {
                "en": "All threads read a random key, change its value and write it back.",
                "ja": "すべてのスレッドが無作為なキーを読み、値を変更して書き戻します。",
            },
            operations=("update",),
            writes=True,
            changes="updates",
        ),
        "fillrandom": WorkloadSpec(
            {
                "en": "All threads write keys at random into an empty database.",
                "ja": "すべてのスレッドが空のデータベースに無作為なキーを書き込みます。",
            },
            operations=("write",),
            writes=True,
            existing=False,
        ),
        "fillsync": WorkloadSpec(
            {
                "en": "All threads write keys at random into an empty database, each write waiting for the device.",
                "ja": (
                    "すべてのスレッドが空のデータベースに、装置への書き込み完了を待ちながら無作為なキーを書き込みます。"
                ),
            },
            operations=("write",),
            writes=True,
            existing=False,
        ),
        "fillseq": WorkloadSpec(
            {
                "en": "Writes keys in order into an empty database.",
                "ja": "空のデータベースにキーを順に書き込みます。",
            },
            operations=("write",),
            writes=True,
            existing=False,
            timed=False,
        ),
        "filluniquerandom": WorkloadSpec(
            {
                "en": "Writes each key once, in random order, into an empty database.",
                "ja": "空のデータベースに各キーを一度ずつ無作為な順で書き込みます。",
            },
            operations=("write",),
            writes=True,
            existing=False,
            timed=False,
        ),
        "readseq": WorkloadSpec(
            {
                "en": "Reads keys in order.",
                "ja": "キーを順に読み取ります。",
            },
            operations=("read",),
            timed=False,
        ),
        "readreverse": WorkloadSpec(
            {
                "en": "Reads keys in reverse order.",
                "ja": "キーを逆順に読み取ります。",
            },
            operations=("read",),
            timed=False,
        ),
    },
    attributes={
        "records": Attribute(
            Key(
                Number("records", "75M records", plain=True, integer=True, minimum=1.0, maximum=2.0**53),
                "How many records the data set has.",
                default="1M",
            ),
            default=1e6,
            shapes_data=True,
        ),
        "key_size": Attribute(
            Key(_BYTES, "The size of a key.", default="16 B", example="key_size = 16 B"),
            default=16.0,
            shapes_data=True,
            briefly="keys of {value}",
        ),
        "value_size": Attribute(
            Key(_BYTES, "The size of a value.", default="100 B"),
            default=100.0,
            shapes_data=True,
            briefly="values of {value}",
        ),
        "read": Attribute(
            Key(
                Number("", "95 %", plain=True, maximum=1.0),
                "The share of reads.",
                default="90 % of readrandomwriterandom",
                example="read = 90 %",
            ),
            chosen=True,
            briefly="read {value}",
        ),
        "write_rate": Attribute(
            Key(Number("B/s", "20 MB/s", integer=True, minimum=1.0), "A limit for all writing threads together."),
            needs=("write", "update"),
            briefly="writes limited to {value}",
        ),
        "scan_length": Attribute(
            Key(
                Number("records", "100", plain=True, integer=True, minimum=1.0, maximum=1e9),
                "How many records each seek reads on.",
            ),
            needs=("seek",),
        ),
    },
    flags=Flags("db_bench", "RocksDB 6.11 to 10.4", known=KNOWN, reserved=RESERVED, renamed=OURS, types=TYPES),
    record=("key_size", "value_size"),
    # db_bench has one histogram for the whole run, and only counts for each interval, so it has no phases.
    mergeable=True,
    time_series=True,
    whole_seconds=True,
    measured_anew=(
        MeasuredAnew(4),  # it writes 100 keys at once when it loads
        MeasuredAnew(5),  # keys that are not found are errors
        MeasuredAnew(7, benchmarks=("readwhilewriting", "seekrandomwhilewriting")),  # RocksDB counts the writer's keys
    ),
    load_start_s=5.2,  # `waitforcompaction` sleeps for 5 s before it looks (tools/db_bench_tool.cc)
    load_start_is="to start and for the 5 s that its `waitforcompaction` sleeps",
    load_bytes_per_s=100e6,
    where_settings_go="its flags as options of the database, such as `options { compression_ratio = 0.5 }`",
    data={
        "en": (
            "{records} records, loaded by db_bench with fillseq: each key once and in order, by one thread, without "
            "the log; then flushed and compacted"
        ),
        "ja": (
            "{records} レコード。db_bench の fillseq により、1 スレッドで各キーを一度ずつ順にログなしで書き込み、"
            "その後フラッシュしてコンパクション"
        ),
    },
    always={
        "en": (
            "db_bench's values compress to half of their size (its compression_ratio of 0.5), unless an option sets "
            "another ratio."
        ),
        "ja": (
            "db_bench の値は、オプションで別の比率を指定しない限り、半分の大きさに圧縮されます"
            "（compression_ratio の既定値 0.5）。"
        ),
    },
    always_unless="compression_ratio",
)
