from benchbrief.extend.spec import Attribute, Key, MeasuredAnew, Number, ToolSpec, Word, WorkloadSpec

_SHARE = Number("", "95 %", plain=True, maximum=1.0)
_BYTES = Number("B", "400 B", integer=True, minimum=1.0)

SPEC = ToolSpec(
    api=3,
    name="ycsb",
    label="YCSB",
    doc="YCSB: reads and writes records of a document store.",
    implementation="benchbrief.extensions.tools.ycsb.ycsb:Ycsb",
    install="tools/setup.sh ycsb",
    workloads={
        "a": WorkloadSpec(
            {
                "en": "Half of the operations read a record and half update one, as in a store of session state.",
                "ja": "読み取りと更新が半分ずつの負荷です。セッション情報の記録に相当します。",
            },
            settings={"read": 0.5, "update": 0.5, "distribution": "zipfian"},
            label="YCSB A",
        ),
        "b": WorkloadSpec(
            {
                "en": "Almost all operations read; one in twenty updates, as when pictures are tagged now and then.",
                "ja": "大半が読み取りで、20回に1回だけ更新する負荷です。写真へのタグ付けに相当します。",
            },
            settings={"read": 0.95, "update": 0.05, "distribution": "zipfian"},
            label="YCSB B",
        ),
        "c": WorkloadSpec(
            {
                "en": "Every operation reads, as in a cache of profiles that are kept up to date elsewhere.",
                "ja": "読み取りだけの負荷です。別の場所で更新されるプロファイルのキャッシュに相当します。",
            },
            settings={"read": 1.0, "distribution": "zipfian"},
            label="YCSB C",
        ),
        "d": WorkloadSpec(
            {
                "en": "New records come in, and the newest are read the most, as with status messages.",
                "ja": "新しいレコードが追加され、最新のものほどよく読まれる負荷です。近況の投稿に相当します。",
            },
            settings={"read": 0.95, "insert": 0.05, "distribution": "latest"},
            label="YCSB D",
        ),
        "e": WorkloadSpec(
            {
                "en": "Short ranges of records are read in order, as when the messages of one thread are shown.",
                "ja": "短い範囲を順に読み取る負荷です。会話の一続きを表示する場合に相当します。",
            },
            settings={"scan": 0.95, "insert": 0.05, "distribution": "zipfian"},
            label="YCSB E",
        ),
        "f": WorkloadSpec(
            {
                "en": "Half of the operations read a record, change it and write it back; the other half only read.",
                "ja": "半分は読み取りだけ、残りの半分はレコードを読み、変更して書き戻す負荷です。",
            },
            settings={"read": 0.5, "read_modify_write": 0.5, "distribution": "zipfian"},
            label="YCSB F",
        ),
    },
    attributes={
        "records": Attribute(
            Key(
                Number("records", "75M records", plain=True, integer=True, minimum=1.0, maximum=2.0**53),
                "How many records the data set has.",
                default="1000",
            ),
            default=1000.0,
            shapes_data=True,
        ),
        "fields": Attribute(
            Key(
                Number("", "10", plain=True, integer=True, minimum=1.0, maximum=1e6),
                "Fields of a record.",
                default="10",
            ),
            default=10.0,
            shapes_data=True,
        ),
        "field_length": Attribute(
            Key(_BYTES, "The size of a field.", default="100 B", example="field_length = 100 B"),
            default=100.0,
            shapes_data=True,
        ),
        "record_size": Attribute(
            Key(_BYTES, "The size of a record, in place of `field_length`.", example="record_size = 1 kB"),
            product_of=("fields", "field_length"),
            shapes_data=True,
        ),
        "distribution": Attribute(
            Key(
                Word(("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")),
                "Which records are asked for.",
                default="the core workload's",
            ),
            briefly="{value}",
        ),
        "read": Attribute(
            Key(_SHARE, "The share of reads.", default="the core workload's", example="read = 90 %  update = 10 %"),
            default=0.0,
            briefly="read {value}",
        ),
        "update": Attribute(
            Key(_SHARE, "The share of updates.", default="the core workload's", example="read = 80 %  update = 20 %"),
            default=0.0,
            briefly="update {value}",
        ),
        "insert": Attribute(
            Key(
                _SHARE,
                "The share of inserts.",
                default="the core workload's",
                example="read = 50 %  update = 40 %  insert = 10 %",
            ),
            default=0.0,
            briefly="insert {value}",
        ),
        "scan": Attribute(
            Key(_SHARE, "The share of scans.", default="the core workload's", example="read = 0 %  scan = 50 %"),
            default=0.0,
            briefly="scan {value}",
        ),
        "read_modify_write": Attribute(
            Key(
                _SHARE,
                "The share of read-modify-writes.",
                default="the core workload's",
                example="update = 0 %  read_modify_write = 50 %",
            ),
            default=0.0,
            briefly="read-modify-write {value}",
        ),
        "scan_length": Attribute(
            Key(
                Number("records", "100", plain=True, integer=True, minimum=1.0, maximum=1e9),
                "The longest scan.",
                default="100",
            ),
            default=100.0,
            needs=("scan",),
        ),
        "load_threads": Attribute(
            Key(
                Number("", "64", plain=True, integer=True, minimum=1.0, maximum=10_000.0),
                "Threads that load the data set, over all load generators.",
                default="8 on each load generator",
            ),
        ),
        "operations": Attribute(
            Key(
                Number("ops", "1M ops", plain=True, integer=True, minimum=1.0, maximum=2.0**31 - 1),
                "Ends the measurement when so many operations are done, if the time is not over before.",
            )
        ),
    },
    threads_only_wait=True,
    shares=("read", "update", "insert", "scan", "read_modify_write"),
    writing=("update", "insert", "read_modify_write"),
    in_place=("update", "read_modify_write"),  # replaces one field by a value of the same length
    inserting=("insert",),
    counted_twice={"read_modify_write": ("read", "update")},  # also counted as a read and an update
    record=("record_size",),
    # Every process numbers its new keys from the record count (CoreWorkload.init), so two processes would insert the
    # same keys. With different first numbers there would be gaps, which `latest` would read. A load has key ranges
    # (insertstart).
    from_one_host=("insert",),
    open_loop=True,
    arrivals=("constant",),
    intended_latency=True,
    phases=True,  # from YCSB's HDR logs, which have a line for each second
    mergeable=True,
    time_series=True,
    loads=True,
    loads_in_parts=True,
    load_threads=("load_threads", 8),
    measured_anew=(MeasuredAnew(4),),  # it loads in batches, and from all hosts
    start_s=3.0,  # a JVM starts before the first operation, which is where a measurement begins
    load_records_per_s=5_000.0,
    where_settings_go=(
        "what it is to do as attributes of the `workload`, and how it connects as `options` of the `database`"
    ),
    data={
        "en": "{records} records, inserted by the load phase of the tool",
        "ja": "{records} レコード。ツールのロードフェーズで挿入",
    },
)
