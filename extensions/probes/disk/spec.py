from benchbrief.extend.spec import COUNTERS, Key, ProbeMeasure, ProbeSpec, Text

SPEC = ProbeSpec(
    api=3,
    name="disk",
    doc="The requests and bytes of block devices, from the kernel's counters in `/proc/diskstats`.",
    implementation="benchbrief.extensions.probes.disk.disk_probe:Disk",
    measures={
        "disk.read": ProbeMeasure(
            "B/s",
            "Bytes read from the device per second, as sampled; the sum over nodes.",
            {"en": "Device reads", "ja": "デバイス読み取り"},
        ),
        "disk.write": ProbeMeasure(
            "B/s",
            "Bytes written to the device per second, as sampled; the sum over nodes.",
            {"en": "Device writes", "ja": "デバイス書き込み"},
        ),
        "disk.reads": ProbeMeasure(
            "1/s",
            "Read requests to the device per second, as sampled; the sum over nodes.",
            {"en": "Device read requests", "ja": "デバイス読み取り要求"},
        ),
        "disk.writes": ProbeMeasure(
            "1/s",
            "Write requests to the device per second, as sampled; the sum over nodes.",
            {"en": "Device write requests", "ja": "デバイス書き込み要求"},
        ),
        "disk.read_await": ProbeMeasure(
            "s",
            (
                "How long read requests took, queueing included: the mean of all requests on a node, then of all "
                "nodes alike; nothing without requests."
            ),
            {"en": "Device read time", "ja": "デバイス読み取り時間"},
            across_nodes="average",
        ),
        "disk.write_await": ProbeMeasure(
            "s",
            (
                "How long write requests took, queueing included: the mean of all requests on a node, then of all "
                "nodes alike; nothing without requests."
            ),
            {"en": "Device write time", "ja": "デバイス書き込み時間"},
            across_nodes="average",
        ),
        "disk.queue": ProbeMeasure(
            "",
            "Requests in the device's queue or being served, as sampled; the sum over nodes.",
            {"en": "Device queue", "ja": "デバイスキュー長"},
        ),
        "disk.utilisation": ProbeMeasure(
            "",
            "The share of time in which the device was busy, as sampled.",
            {"en": "Device utilisation", "ja": "デバイス使用率"},
            across_nodes="average",
        ),
        "disk.pressure": ProbeMeasure(
            "",
            "The share of time in which some task of the host waited for any device, as sampled.",
            {"en": "I/O pressure", "ja": "I/O プレッシャー"},
            across_nodes="average",
        ),
    },
    single_reading=COUNTERS,
    attributes={"device": Key(Text(), "The block device; left out, all of them.", example='device = "/dev/nvme0n1"')},
    on="device",
)
