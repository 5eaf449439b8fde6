from benchbrief.extend.spec import Attribute, Flag, Key, Limit, Number, ProbeMeasure, ToolSpec, Word, WorkloadSpec

SPEC = ToolSpec(
    api=3,
    name="fio",
    label="fio",
    doc="fio: reads and writes a file or a block device by a pattern.",
    implementation="benchbrief.extensions.tools.fio.fio:Fio",
    install="sudo apt-get install fio",
    workloads={
        "randread": WorkloadSpec(
            {
                "en": "Every job reads blocks at random.",
                "ja": "各ジョブがブロックを無作為に読み取ります。",
            },
            operations=("read",),
        ),
        "randwrite": WorkloadSpec(
            {
                "en": "Every job writes blocks at random.",
                "ja": "各ジョブがブロックを無作為に書き込みます。",
            },
            operations=("write",),
            writes=True,
            changes="updates",
        ),
        "randrw": WorkloadSpec(
            {
                "en": "Every job both reads and writes blocks at random.",
                "ja": "各ジョブがブロックの無作為な読み取りと書き込みの両方を行います。",
            },
            operations=("read", "write"),
            writes=True,
            changes="updates",
            settings={"read": 0.5},
        ),
        "read": WorkloadSpec(
            {
                "en": "Every job reads its part of the storage in order, again and again.",
                "ja": "各ジョブが自分の受け持つ領域を先頭から順に繰り返し読み取ります。",
            },
            parted=True,
            operations=("read",),
        ),
        "write": WorkloadSpec(
            {
                "en": "Every job writes its part of the storage in order, again and again.",
                "ja": "各ジョブが自分の受け持つ領域を先頭から順に繰り返し書き込みます。",
            },
            parted=True,
            operations=("write",),
            writes=True,
            changes="updates",
        ),
        "readwrite": WorkloadSpec(
            {
                "en": "Every job reads and writes its part of the storage in order, again and again.",
                "ja": "各ジョブが自分の受け持つ領域を先頭から順に読み書きすることを繰り返します。",
            },
            parted=True,
            operations=("read", "write"),
            writes=True,
            changes="updates",
            settings={"read": 0.5},
        ),
    },
    attributes={
        "block_size": Attribute(
            Key(
                Number("B", "4 KiB", integer=True, minimum=512.0, maximum=float(1 << 30)),
                "The size of each I/O.",
                default="4 KiB",
                example="block_size = 128 KiB",
            ),
            default=4096.0,
            briefly="blocks of {value}",
        ),
        "io_depth": Attribute(
            Key(
                Number("", "32", plain=True, integer=True, minimum=1.0, maximum=65536.0),
                "How many I/Os each job keeps in flight (`iodepth`).",
                default="1",
                example="io_depth = 32",
            ),
            default=1.0,
            briefly="{value} in flight a job",
        ),
        "direct": Attribute(
            Key(Flag(), "Whether I/O goes around the page cache.", default="true", example="direct = false"),
            default=True,
        ),
        "io_engine": Attribute(
            Key(
                Word(("libaio", "io_uring", "psync")),
                "How fio submits I/O (`ioengine`). `psync` does one I/O of a job after another.",
                default="libaio",
                example="io_engine = io_uring",
            ),
            default="libaio",
            briefly="{value}",
        ),
        "read": Attribute(
            Key(
                Number("", "70 %", plain=True, maximum=1.0),
                "The share of reads.",
                default="50 % of randrw and readwrite",
                example="read = 70 %",
            ),
            chosen=True,
            briefly="read {value}",
        ),
        "steady_slope": Attribute(
            Key(
                Number("", "0.3 %", plain=True, above=True, maximum=1.0),
                "Ends the measurement early, when the slope of fio's IOPS is at most this share of their mean "
                "(`steadystate=iops_slope`).",
                example="steady_slope = 0.3 %  steady_window = 30 s",
            ),
        ),
        "steady_window": Attribute(
            Key(
                Number("s", "30 s", integer=True, minimum=2.0),
                "Over how long `steady_slope` is taken (`ss_dur`).",
                default="5 s",
                example="steady_slope = 0.3 %  steady_window = 30 s",
            ),
        ),
        "latency_target": Attribute(
            Key(
                Number("s", "2 ms", above=True),
                "Has fio look for the largest queue depth, up to `io_depth`, at which `latency_share` of the I/Os "
                "are within this latency.",
                example="latency_target = 2 ms  latency_share = 99 %",
            ),
        ),
        "latency_share": Attribute(
            Key(
                Number("", "99 %", plain=True, above=True, maximum=1.0),
                "The share of I/Os that `latency_target` is for (`latency_percentile`).",
                default="100 %",
                example="latency_target = 2 ms  latency_share = 99 %",
            ),
        ),
        "latency_window": Attribute(
            Key(
                Number("s", "5 s", above=True),
                "How long fio tries each queue depth for `latency_target`.",
                default="1 s",
                example="latency_target = 2 ms  latency_window = 5 s",
            ),
        ),
    },
    limits=(
        Limit("block_size", "a multiple of 512 B with `direct = true`", ("direct", True), multiple_of=512.0),
        Limit("io_depth", "1 with `io_engine = psync`, which does one I/O after another", ("io_engine", "psync"), 1.0),
        Limit("read", "a whole per cent", multiple_of=0.01),
    ),
    block="block_size",
    measures={
        "fio.bandwidth": ProbeMeasure(
            "B/s",
            "The bytes that fio read and wrote per second, by its own count.",
            {"en": "Bandwidth of fio", "ja": "帯域幅（fio）"},
            of_whole_measurement=True,
            simulated=100e6,
        ),
        "fio.submission": ProbeMeasure(
            "s",
            "The mean time that fio took to submit an I/O (`slat`). `psync` has none.",
            {"en": "Submission latency of fio", "ja": "発行レイテンシー（fio）"},
            across_nodes="average",
            of_whole_measurement=True,
            simulated=2e-6,
        ),
        "fio.cpu": ProbeMeasure(
            "cores",
            "The processor cores that fio's jobs used themselves, in user and system time.",
            {"en": "Cores used by fio", "ja": "使用コア数（fio）"},
            of_whole_measurement=True,
            simulated=0.2,
        ),
    },
    # fio's latencies begin with the submission, even with an offered load: fio does not know intended latencies.
    open_loop=True,
    arrivals=("poisson",),
    mergeable=True,
    time_series=True,
    start_s=1.0,
    load_bytes_per_s=200e6,
    where_settings_go="what it is to do as attributes of the `workload`",
    data={
        "en": "written once in order by fio, in blocks of 1 MiB of data that do not compress",
        "ja": "fio により、圧縮されないデータを 1 MiB 単位で先頭から順に一度書き込み",
    },
)
