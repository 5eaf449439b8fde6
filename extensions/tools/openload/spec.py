from benchbrief.extend.spec import MeasuredAnew, ProbeMeasure, ToolSpec

SPEC = ToolSpec(
    api=3,
    name="openload",
    label="openload",
    doc="openload: YCSB's workloads at a fixed schedule, with latencies from when an operation was due.",
    implementation="benchbrief.extensions.tools.openload.openload:Openload",
    install="tools/setup.sh openload",
    runs="ycsb",
    open_loop=True,
    arrivals=("poisson", "constant", "steps", "burst", "trace"),
    bounds=("queue", "drops", "lag", "timeout", "give_up", "stalls"),
    ends_when_steady=True,
    intended_latency=True,
    phases=True,
    mergeable=True,
    time_series=True,
    loads_in_parts=True,
    lacks={"distribution": ("exponential", "sequential")},
    measures={
        "openload.drops": ProbeMeasure(
            "",
            "The share of operations that were due and found the queue full, so that they were never sent.",
            {"en": "Dropped operations", "ja": "破棄された操作の割合"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=0.0,
            offered_only=True,
            disclosed="share",
        ),
        "openload.lag_share": ProbeMeasure(
            "",
            "The largest share of a latency that is asked for by which the generator itself was late, with its "
            "operations or in waking its threads: what `lag` in `arrivals` limits.",
            {"en": "Own lateness in latencies", "ja": "レイテンシーに占める自身の遅れ"},
            across_nodes="largest",
            of_whole_measurement=True,
            simulated=0.0,
            offered_only=True,
            disclosed="share",
        ),
        "openload.lag": ProbeMeasure(
            "s",
            "The 99th percentile of how late the generator itself started operations for which a worker was free.",
            {"en": "Schedule lag of openload (p99)", "ja": "スケジュールからの遅れ（openload、p99）"},
            across_nodes="largest",
            of_whole_measurement=True,
            simulated=5e-5,
            offered_only=True,
            disclosed="value",
        ),
        "openload.queue": ProbeMeasure(
            "",
            "The most operations that waited for a worker at once, in the whole run with its warm-up.",
            {"en": "Longest queue of openload", "ja": "キューの最大長（openload）"},
            of_whole_measurement=True,
            simulated=0.0,
            offered_only=True,
            disclosed="value",
        ),
        "openload.hiccup": ProbeMeasure(
            "s",
            "The longest time by which a thread of the generator that sleeps for a millisecond woke late.",
            {"en": "Longest hiccup of openload", "ja": "最長の起床遅れ（openload）"},
            across_nodes="largest",
            of_whole_measurement=True,
            simulated=1e-3,
            disclosed="value",
        ),
        "openload.stalls": ProbeMeasure(
            "",
            "The share of the measured time in which no thread of the generator ran.",
            {"en": "Stalls of openload", "ja": "停止していた時間の割合（openload）"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=0.0,
            disclosed="share",
        ),
        "openload.cpu_per_operation": ProbeMeasure(
            "s",
            "The processor time that openload used for each operation; with a library engine, the engine's work too.",
            {"en": "Processor time of openload per operation", "ja": "操作あたりの CPU 時間（openload）"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=2e-5,
        ),
        "openload.pauses": ProbeMeasure(
            "",
            "The share of the measured time that openload stood still to collect garbage.",
            {"en": "Garbage collection pauses of openload", "ja": "ガベージコレクションによる停止（openload）"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=0.0,
        ),
    },
    most_threads=20_000,  # as its flags `--workers` and `--rate`
    most_rate=1e7,
    measured_anew=(
        MeasuredAnew(5),  # operations that find no record are errors
        MeasuredAnew(6, arrivals=("constant",), several_hosts=True),  # hosts take turns; before, all sent at once
    ),
    start_s=1.0,
    # Batches of 1,000 records. Eight workers on two cores put 22,700 records of 1 kB a second into a MongoDB stand-in,
    # and 21,400 into RocksDB, beside much other work.
    load_records_per_s=20_000.0,
    where_settings_go=(
        "what it is to do as attributes of the `workload`, how it connects as `options` of the `database`, and how the "
        "load is spaced as `arrivals` of the `experiment`"
    ),
)
