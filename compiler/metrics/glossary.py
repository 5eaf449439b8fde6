"""What the words of the language mean, in a sentence each: for editors and for the reference."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.ramps import GAIN, LATENCY, RISE
from benchbrief.compiler.blocks.repeats import FEWEST
from benchbrief.compiler.metrics.curves import FEWEST_LOADS, FEWEST_POINTS
from benchbrief.compiler.metrics.measures import KINDS
from benchbrief.compiler.offered import KEEPS_UP
from benchbrief.compiler.plan import Boundary, Dimension
from benchbrief.compiler.steady import FEWEST_PHASES, MOST_RANGE, MOST_TREND

DIMENSIONS: Mapping[Dimension, str] = {
    "hardware": "The hardware groups and variants that are compared.",
    "workload": "What the load does.",
    "threads": "The client threads, where they are the ramp.",
    "target": "The offered load in ops/s, where it is the ramp.",
    "experiment": "Where two experiments measure the same workload on the same hardware.",
    "operation": "What was done: `read`, `update`, `insert`, ...; a measure has it where it is asked for.",
    "phase": "The measured intervals of one run, from 1.",
    "repeat": "The repeated measurements of one point, from 1.",
    "node": "The hosts of a hardware group; only the samples of probes have it.",
    "time": "Seconds since the measurement began; only the samples of probes have it.",
}

_MEASURES: Mapping[str, str] = {
    "throughput": "Operations per second; `throughput[insert]` for one kind of operation.",
    "errors": "The share of operations that failed.",
    "power": "The power that the hosts draw, as sampled; the sum over nodes.",
    "energy": (
        "The energy that the hosts used during the measurement: their power integrated by the trapezoid rule, the ends "
        "of the window held. Missing where less than 95 % of it was sampled."
    ),
    "cpu": "Busy cores of the whole host, as sampled; the sum over nodes.",
    "cpu.utilisation": "The busy share of all cores, as sampled.",
    "cpu.iowait": "The share of time in which cores were idle while a request to a device was under way, as sampled.",
    "cpu.steal": "The share of time that the hypervisor gave to others, as sampled.",
    "cpu.pressure": "The share of time in which some task waited for a core, as sampled.",
    "disk.read": "Bytes read from the device per second, as sampled; the sum over nodes.",
    "disk.write": "Bytes written to the device per second, as sampled; the sum over nodes.",
    "disk.reads": "Read requests to the device per second, as sampled; the sum over nodes.",
    "disk.writes": "Write requests to the device per second, as sampled; the sum over nodes.",
    "disk.utilisation": "The share of time in which the device was busy, as sampled.",
    "disk.read_await": (
        "How long read requests took, queueing included: the mean of all requests on a node, then of all nodes "
        "alike; nothing without requests."
    ),
    "disk.write_await": (
        "How long write requests took, queueing included: the mean of all requests on a node, then of all nodes "
        "alike; nothing without requests."
    ),
    "disk.queue": "Requests in the device's queue or being served, as sampled; the sum over nodes.",
    "disk.pressure": "The share of time in which some task of the host waited for any device, as sampled.",
    "memory.used": "All memory but what is available without swapping, as sampled; the sum over nodes.",
    "memory.available": "Memory that can be had without swapping, caches included, as sampled; the sum over nodes.",
    "memory.cached": "The page cache and the buffers of devices, as sampled; the sum over nodes.",
    "memory.dirty": "Memory that waits to be written to a device, as sampled; the sum over nodes.",
    "memory.swap_used": "Swap space in use, as sampled; the sum over nodes.",
    "memory.swap_in": "Bytes swapped in per second, as sampled; the sum over nodes.",
    "memory.swap_out": "Bytes swapped out per second, as sampled; the sum over nodes.",
    "memory.major_faults": "Page faults per second that had to read from a device, as sampled; the sum over nodes.",
    "memory.pressure": "The share of time in which some task waited for memory, as sampled.",
    "network.received": "Bytes received by the interfaces per second, as sampled; the sum over nodes.",
    "network.sent": "Bytes sent by the interfaces per second, as sampled; the sum over nodes.",
    "network.packets_received": "Packets received per second, as sampled; the sum over nodes.",
    "network.packets_sent": "Packets sent per second, as sampled; the sum over nodes.",
    "network.errors": "Packets per second that could not be received or sent for an error; the sum over nodes.",
    "network.drops": "Packets per second that were dropped, for want of room or of use; the sum over nodes.",
    "database.connections": "Connections that are open, as sampled.",
    "database.active": "Clients with an operation under way, as sampled.",
    "database.queued": "Operations that wait for a lock, as sampled.",
    "database.memory": "The server's resident memory, as sampled.",
    "database.cache_used": "Bytes in WiredTiger's cache, as sampled.",
    "database.cache_dirty": "Bytes in WiredTiger's cache that have yet to be written, as sampled.",
    "database.replication_lag": "How far the slowest secondary is behind the primary, as sampled.",
    "database.inserts": "Documents inserted per second, by the server's counter.",
    "database.queries": "Queries per second, by the server's counter.",
    "database.updates": "Updates per second, by the server's counter.",
    "database.deletes": "Deletes per second, by the server's counter.",
    "database.getmores": "Further batches of cursors asked for per second, by the server's counter.",
    "database.commands": "Other commands per second, by the server's counter.",
    "database.received": "Bytes that the server received per second.",
    "database.sent": "Bytes that the server sent per second.",
    "database.cache_read": "Bytes read into WiredTiger's cache per second.",
    "database.cache_written": "Bytes written from WiredTiger's cache per second.",
    "database.evictions": "Pages evicted from WiredTiger's cache per second.",
    "database.evictions_by_operations": "Pages per second that operations had to evict themselves, waiting meanwhile.",
    "database.user_read": (
        "Bytes per second that RocksDB gave to its user, uncompressed: by gets, multi-gets and iterators."
    ),
    "database.user_written": "Bytes per second that the user wrote to RocksDB, uncompressed.",
    "database.wal_written": "Bytes per second written to RocksDB's write-ahead log.",
    "database.flushed": "Bytes per second that RocksDB's flushes wrote.",
    "database.compaction_read": "Bytes per second that RocksDB's compactions read.",
    "database.compaction_written": "Bytes per second that RocksDB's compactions wrote.",
    "database.cache_hits": "Blocks per second that were found in RocksDB's block cache.",
    "database.cache_misses": "Blocks per second that were looked for in RocksDB's block cache and not found.",
    "database.bloom_useful": "Reads of a file per second that RocksDB's Bloom filters made needless.",
    "database.cache_hit_ratio": (
        "Of all blocks looked for in RocksDB's block cache, the share that was found, over the whole measurement; the "
        "cache starts cold, and compactions look there too. Missing where none was looked for."
    ),
    "database.stalled": (
        "The share of the measurement in which RocksDB held writes back until a flush or a compaction was done "
        "(`rocksdb.stall.micros`)."
    ),
    "database.write_amplification": (
        "Bytes written to storage for each byte that the user wrote, as RocksDB's Tuning Guide defines it: those of "
        "the write-ahead log, of flushes and of compactions, which are compressed, by the user's, which are not, over "
        "the whole measurement. What compaction owes at its end is not in it. Missing where nothing was written."
    ),
    "latency.mean": "The mean latency of an operation: `latency.mean[read]`.",
    "latency.min": "The lowest latency of an operation: `latency.min[read]`.",
    "latency.max": "The highest latency of an operation: `latency.max[read]`.",
}

FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "max": ("max(${1:throughput} over ${2:threads})", "The highest value along the dimensions."),
    "min": ("min(${1:throughput} over ${2:threads})", "The lowest value along the dimensions."),
    "mean": ("mean(${1:throughput} over ${2:threads})", "The mean along the dimensions; not of percentiles."),
    "sum": ("sum(${1:throughput} over ${2:workload})", "The sum along the dimensions."),
    "median": ("median(${1:throughput} over ${2:threads})", "The median along the dimensions."),
    "first": ("first(${1:throughput} over ${2:threads})", "The value at the first key of an ordered dimension."),
    "last": ("last(${1:throughput} over ${2:threads})", "The value at the last key of an ordered dimension."),
    "count": ("count(${1:throughput} over ${2:threads})", "How many values there are along the dimensions."),
    "range": (
        "range(${1:throughput} over ${2:threads})",
        'The lowest and the highest value, "28 to 37"; by itself in a hole of a text.',
    ),
    "cv": (
        "cv(${1:throughput} over ${2:repeat})",
        "The coefficient of variation: the sample's standard deviation as a share of the mean.",
    ),
    "ci": (
        "ci(${1:throughput} over repeat)",
        "Half the width of the 95 % confidence interval of the mean over repeats (Student's t).",
    ),
    "p_value": (
        "p_value(${1:throughput[one]}, ${2:throughput[other]})",
        "How likely so large a difference between their repeats is if the two are the same.",
    ),
    "knee": (
        "knee(${1:throughput} over ${2:threads})",
        "The point of the ramp at which more load starts to bring less.",
    ),
    "saturation": (
        "saturation(${1:throughput} over ${2:target})",
        "The throughput beyond which the system keeps up with the offered load no longer; `.target`: that load.",
    ),
    "usl": (
        "usl(${1:throughput} over ${2:threads}).${3:peak}",
        "What the Universal Scalability Law says of the ramp: `.peak`, `.sigma`, `.kappa` and more.",
    ),
    "time_to_steady": (
        "time_to_steady(${1:throughput} over ${2:phase})",
        "The time from the start of the measurement to the steady state.",
    ),
}
"""A snippet and what it gives."""

ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "range": {
        "step": "What is between two points.",
        "factor": "By how much each point is multiplied to make the next.",
        "steps": "How many points there are, at equal distances.",
    },
    "knee": {
        "from": "The first point that is tried.",
        "to": "The last point that may be tried.",
        "factor": "By how much each point is multiplied to make the next.",
        "step": "What is between two points, in place of `factor:`.",
        "latency": f"The statistic that the search goes by; `{LATENCY}` when left out.",
        "rise": f"The rise of latency at the next point that ends the search; {100 * RISE:g} % when left out.",
        "gain": f"The gain of throughput below which it ends; {100 * GAIN:g} % when left out.",
    },
    "confident": {
        "within": (
            "How far the 95 % confidence interval of the mean throughput may reach to either side, as a share of the "
            "mean, when the repeats end."
        ),
        "from": f"How often each point is measured at least; {FEWEST} when left out, which is the fewest.",
        "to": "How often each point is measured at most.",
    },
    "random": {"seed": "Any whole number; the same one gives the same order."},
    "saturation": {"at": f"The share of the offered load that counts as kept up with; {KEEPS_UP:.0%} when left out."},
}
"""The named arguments of calls: ramps and searches, when repeats end and in which order, functions of curves."""

LINKS: Mapping[str, str] = {
    "over": "the dimensions that a reduction goes along",
    "when": "only where a condition holds, as in `when phase > 1`",
    "by": "the dimension along an axis",
    "along": "the ramp that a curve follows",
    "every": "how often a probe samples",
    "from": "what a block starts from",
}
"""Words that link others."""


def measure_doc(name: str) -> str:
    """A sentence on a measure; "" for one that is not described."""
    if name in _MEASURES:
        return _MEASURES[name]
    kind = KINDS.get(name)
    if kind is not None and kind.is_percentile:
        return f"The {kind.statistic} latency of an operation, from merged histograms: `{name}[read]`."
    return ""


RULES: Mapping[str, str] = {
    "steady": (
        "SNIA's rule for solid-state storage (*Solid State Storage Performance Test Specification*, PTS "
        "2.0.x): a phase is steady when, from it or from one before it up to the last phase, the throughput "
        f"of all operations has a range of at most {MOST_RANGE:.0%} of its mean, and the fitted line rises or "
        f"falls by at most {MOST_TREND:.0%} of it. It takes {FEWEST_PHASES} phases at least, since a line goes"
        " through any two. A missing phase leaves those before it unknown, unless the steady state has begun "
        "by then."
    ),
    "time_to_steady": (
        "Seconds from the start of the measurement (`warm_up` is before it) to the first phase that is steady"
        " by the rule of `steady`. Missing when no phase is."
    ),
    "saturation": (
        "The highest throughput of a ramp of offered loads that ends beyond what the system keeps up with: "
        "the nominal capacity of R. Jain, *The Art of Computer Systems Performance Analysis* (1991). A system"
        f" keeps up when the throughput of all operations at the highest target is at least {KEEPS_UP:.0%} of "
        "what is offered; `at:` gives another share. A dip in the middle of the ramp is no saturation. "
        "Missing when the system keeps up to the end. `saturation(...).target` is the highest offered load that it "
        "kept up with: what it can be given."
    ),
    "usl": (
        "The Universal Scalability Law, X(N) = λN / (1 + σ(N - 1) + κN(N - 1)), by N. J. Gunther, *Guerrilla Capacity "
        "Planning* (2007), fitted by least squares to the points of a ramp. `.lambda` is the throughput of one thread, "
        "`.sigma` the contention, `.kappa` the cost of coherency, each with its standard error (`.lambda_se`, "
        "`.sigma_se`, `.kappa_se`); `.peak` the highest throughput that it predicts, `.peak_load` the threads of it, "
        f"`.r2` the share of the variance that it explains. It takes {FEWEST_LOADS} points; Gunther asks for six. "
        "Missing where it explains less than 90 %, as it then means nothing, and `.peak` where there is none."
    ),
    "cv": (
        "The standard deviation of the sample as a share of its mean. Of percentiles, it is that of the repeats' own: "
        "`cv(latency.p99[read] over repeat)` says how far the p99 of one repeat tells that of the next."
    ),
    "ci": (
        "Student's t: the mean lies within ± this of the measured one with a confidence of 95 %. It takes two repeats, "
        "as whatever lies within one measurement depends on each other."
    ),
    "p_value": (
        "Of Welch's t test on the repeats of both sides, whose variances may differ; of percentiles with eight repeats "
        "or more on each side, of the rank test of Mann and Whitney, as percentiles are skewed, and have outliers; "
        "with fewer, of Welch's test on their logarithms. "
        "Below 5 %, it is usual to speak of a difference; above, of noise. Of twenty comparisons without a "
        "difference, one falls below 5 %: `bench compare` corrects for that, this does not. Missing with fewer than "
        "two repeats."
    ),
    "knee": (
        'Kneedle (V. Satopaa and others, *Finding a "Kneedle" in a Haystack*, 2011) on the measured points: '
        "with both axes scaled from 0 to 1, the point highest above the straight line from corner to corner; "
        f"of points as high, the first. It takes {FEWEST_POINTS} points. The first point is never a knee: it "
        "lies before the ramp. Missing when there is no such point. This reads a shape off points that are all "
        "measured. A search, `threads = knee(from: 1, factor: 2, to: 512)`, has another rule, which can be "
        "judged while it goes: it stops before the first point at which latency rises while throughput hardly "
        "gains. The two may name different points."
    ),
}
"""By what rule a curve is read, with its source."""

ORDERS: Mapping[str, str] = {
    "grouped": "one hardware after the other",
    "interleaved": "every hardware at each point in turn, so that drift does not fall on one side",
    "random": "shuffled, with a seed",
}
"""The orders of `repeats`."""

RESETS: Mapping[str, str] = {
    "drop_and_load": "the data are loaded again before each cell",
    "after_writes": "they are loaded again before a cell that follows one that wrote",
    "snapshot": "they are copied back, as they were after the load, before each cell",
    "reuse": "they stay as the cells before have left them",
}
"""How each cell comes by its data."""

ENGINES: Mapping[str, str] = {
    "mongodb": "A MongoDB server, or what speaks its wire protocol; it is reached over the network.",
    "rocksdb": "RocksDB, inside db_bench on the hardware's own hosts.",
}

TOOLS: Mapping[str, str] = {
    "ycsb": "YCSB: reads and writes records of a document store.",
    "go_ycsb": "go-ycsb: YCSB's workloads without a Java machine.",
    "db_bench": "RocksDB's own benchmark.",
}

PROBES: Mapping[str, str] = {
    "disk": "The requests and bytes of block devices, from the kernel's counters in `/proc/diskstats`.",
    "cpu": "The busy time of all processors of the host, from the kernel's counters in `/proc/stat`.",
    "memory": "The use of memory, swapping and page faults, from `/proc/meminfo` and `/proc/vmstat`.",
    "network": "The bytes and packets of network interfaces, from the kernel's counters in `/proc/net/dev`.",
    "power": "The power that each host draws, from its meter.",
    "database": (
        "What the database counts itself: MongoDB's `serverStatus`, asked over the network, or RocksDB's statistics, "
        "which are kept in db_bench for each interval, in whole seconds, and printed when it has measured. They are of "
        "the measuring process alone, without load and warm-up; its first and last interval may be missing. Counters "
        "alone are kept, unless the option `statistics` asks for more. RocksDB's wiki puts the cost of all its "
        "statistics at 5 to 10 %: compare what was measured with the probe with what was, too."
    ),
}

BOUNDARIES: Mapping[Boundary, str] = {
    "wall": "all that is behind the outlet",
    "node": "the whole host",
    "cpu": "the processors alone",
    "unknown": "not known",
}
"""What the watts of a meter are the power of."""

TEMPLATES: Mapping[str, str] = {
    "technical_brief": "A title band, the lead box beside the first text, and the elements; for a few dense pages.",
    "white_paper": "A cover, the contents, and numbered sections.",
    "blog": "A post: the title stands on the paper. Also in Markdown, its figures as files beside it.",
    "slide": "Slides in 16:9: a figure or a table each, under what it claims.",
}

PROVENANCE: Mapping[str, str] = {
    "full": "A row for each expression and the measurements behind it, with the digests of their raw outputs.",
    "compact": "A row for each figure, table, box and section of text; the digests are in the side file.",
    "none": "No appendix. The side file has all of it, and `bench verify` goes by that.",
}

LANGUAGES: Mapping[str, str] = {"en": "English", "ja": "Japanese"}
