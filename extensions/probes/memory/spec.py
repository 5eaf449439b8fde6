from benchbrief.extend.spec import COUNTERS_AND_GAUGES, ProbeMeasure, ProbeSpec

SPEC = ProbeSpec(
    api=3,
    name="memory",
    doc="The use of memory, swapping and page faults, from `/proc/meminfo` and `/proc/vmstat`.",
    implementation="benchbrief.extensions.probes.memory.memory_probe:Memory",
    measures={
        "memory.used": ProbeMeasure(
            "B",
            "All memory but what is available without swapping, as sampled; the sum over nodes.",
            {"en": "Used memory", "ja": "使用メモリー"},
        ),
        "memory.available": ProbeMeasure(
            "B",
            "Memory that can be had without swapping, caches included, as sampled; the sum over nodes.",
            {"en": "Available memory", "ja": "利用可能メモリー"},
        ),
        "memory.cached": ProbeMeasure(
            "B",
            "The page cache and the buffers of devices, as sampled; the sum over nodes.",
            {"en": "Page cache", "ja": "ページキャッシュ"},
        ),
        "memory.dirty": ProbeMeasure(
            "B",
            "Memory that waits to be written to a device, as sampled; the sum over nodes.",
            {"en": "Dirty memory", "ja": "ダーティーメモリー"},
        ),
        "memory.swap_used": ProbeMeasure(
            "B", "Swap space in use, as sampled; the sum over nodes.", {"en": "Used swap", "ja": "使用スワップ"}
        ),
        "memory.swap_in": ProbeMeasure(
            "B/s",
            "Bytes swapped in per second, as sampled; the sum over nodes.",
            {"en": "Swapped in", "ja": "スワップイン"},
        ),
        "memory.swap_out": ProbeMeasure(
            "B/s",
            "Bytes swapped out per second, as sampled; the sum over nodes.",
            {"en": "Swapped out", "ja": "スワップアウト"},
        ),
        "memory.major_faults": ProbeMeasure(
            "1/s",
            "Page faults per second that had to read from a device, as sampled; the sum over nodes.",
            {"en": "Major page faults", "ja": "メジャーページフォールト"},
        ),
        "memory.pressure": ProbeMeasure(
            "",
            "The share of time in which some task waited for memory, as sampled.",
            {"en": "Memory pressure", "ja": "メモリープレッシャー"},
            across_nodes="average",
        ),
    },
    single_reading=COUNTERS_AND_GAUGES,
    word_is_free=True,
)
