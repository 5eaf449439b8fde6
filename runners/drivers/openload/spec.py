"""openload: YCSB's workloads, offered at a schedule that is fixed before the first operation."""

from benchbrief.compiler.extensions import ProbeMeasure, ToolSpec

SPEC = ToolSpec(
    api=1,
    name="openload",
    label="openload",
    doc="openload: YCSB's workloads at a fixed schedule, with latencies from when an operation was due.",
    implementation="benchbrief.runners.drivers.openload.openload:Openload",
    runs="ycsb",
    open_loop=True,
    arrivals=("poisson", "constant", "steps", "burst", "trace"),
    bounded_queue=True,
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
        ),
        "openload.lag": ProbeMeasure(
            "s",
            "The 99th percentile of how late the generator itself started operations for which a worker was free.",
            {"en": "Schedule lag of openload (p99)", "ja": "スケジュールからの遅れ（openload、p99）"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=5e-5,
            offered_only=True,
        ),
        "openload.queue": ProbeMeasure(
            "",
            "The most operations that waited for a worker at once, in the whole run with its warm-up.",
            {"en": "Longest queue of openload", "ja": "キューの最大長（openload）"},
            of_whole_measurement=True,
            simulated=0.0,
            offered_only=True,
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
    start_s=1.0,
    # Batches of 1,000 records. Eight workers on two cores put 22,700 records of 1 kB a second into a MongoDB stand-in,
    # and 21,400 into RocksDB, beside much other work.
    load_records_per_s=20_000.0,
    where_settings_go=(
        "what it is to do as attributes of the `workload`, how it connects as `options` of the `database`, and how the "
        "load is spaced as `arrivals` of the `experiment`"
    ),
)
