"""A sentence on each word of the language, for editors and the reference."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.experiments.ramps import GAIN, LATENCY, RISE
from benchbrief.compiler.blocks.experiments.repeats import FEWEST
from benchbrief.compiler.blocks.promises.highest_rates import HELD_OUT
from benchbrief.compiler.extensions.own_tools import own_tools
from benchbrief.compiler.extensions.registry import ENGINE_SPECS, PROBE_SPECS, TEMPLATE_SPECS, TOOL_SPECS
from benchbrief.compiler.measure_catalogue import find_measure
from benchbrief.compiler.metrics.typing.curves import FEWEST_LOADS, FEWEST_POINTS
from benchbrief.compiler.planning.achieved_load import KEEPS_UP
from benchbrief.compiler.planning.plan import Boundary, Dimension
from benchbrief.compiler.planning.steady_rule import FEWEST_PHASES, MOST_RANGE, MOST_TREND, SOONEST_S

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
    "sustained": "The highest rate at which a promise was kept, as a search with `highest(...)` found it.",
    "database.size": (
        "The size of the cell's database on disk after its measurement; lower is better. Of RocksDB, the blocks that "
        "its directory takes, without its own log; of MongoDB, `storageSize` and `indexSize` of `dbStats`, of one "
        "copy, as the last checkpoint left them. Missing where the server does not tell."
    ),
    "database.size_loaded": (
        "As `database.size`, when the cell's data set is there, before the warm-up; missing where a workload makes its "
        "own data."
    ),
    "database.space_amplification": (
        "Bytes on disk for each byte of records after the measurement, as RocksDB's Tuning Guide defines it; lower is "
        "better, and below 1 where data are compressed. The records are those of the data set, with their keys, or "
        "`dataSize` of MongoDB's `dbStats`. Missing where it is not known how many records a workload leaves."
    ),
    "recovery": (
        "The time from an event until the throughput is back, within the share `within` of that before or what chance "
        "explains, and stays so for the time `steady`; of several events the longest. Missing where it did not come "
        "back."
    ),
    "recovery.latency": (
        "As `recovery`, of the 99th percentile of latency by second; missing also where the load generator does not "
        "tell it by second."
    ),
    "recovery.outage": (
        "How long the throughput was below the share `outage` of that before the event; of several events the longest. "
        "The samples in which it begins and ends count by the share of operations that they lack."
    ),
    "recovery.dip": "How much the lowest throughput until it is back is below that of before; of several the deepest.",
    "recovery.lowest": "The lowest throughput of a sample after the event, until it is back.",
    "recovery.before": "The mean throughput in the time `window` before the event.",
    "timeline.throughput": "The throughput by second, as the load generators tell it.",
    "timeline.p99": (
        "The 99th percentile of all latencies by second, the highest of the load generators'; YCSB and openload tell "
        "it, in experiments with events."
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
"""The functions: a snippet and a sentence."""

SETTINGS: Mapping[str, tuple[str, str]] = {
    "until_steady": (
        "until_steady(within: ${1:2 %}, from: ${2:2 min}, to: ${3:30 min})",
        "Until the mean is known well enough, after the transient; for load generators that can end by themselves.",
    ),
}
"""Calls that are settings: a snippet and a sentence."""

ARRIVALS: Mapping[str, tuple[str, str]] = {
    "constant": ("constant", "Evenly spaced, at the `target`."),
    "poisson": ("poisson", "With independent, exponential gaps, at the `target`, as many users come."),
    "steps": (
        "steps(${1:1k ops/s}, ${2:2k ops/s}, lasting: ${3:30 s})",
        "A staircase in one run, a phase for each step.",
    ),
    "burst": (
        "burst(${1:5k ops/s}, every: ${2:30 s}, lasting: ${3:2 s})",
        "Another rate than the `target` now and then.",
    ),
    "trace": ('trace("${1:arrivals.txt}")', "At recorded times: a due time in each line, in seconds."),
    "closed": ("closed", "When a thread's last operation has ended. It is for the bounds of such a load."),
}
"""When operations are due: a snippet and a sentence."""

_TIMES = {
    "timeout": "An operation that takes longer from being sent has failed; the load generator's own when left out.",
    "give_up": "A cell without a success for so long is cut; the load generator's own when left out.",
}
_QUEUED = {
    "queue": "How many operations wait for a thread at most; one that finds the queue full is dropped.",
    "drops": "The accepted share of dropped operations; none when left out.",
    "lag": "The accepted share of a latency that is the load generator's own lateness; 10 % when left out.",
    **_TIMES,
}
_SPACED = {"lasting": "How long it lasts.", "spacing": "`poisson` or `constant`.", **_QUEUED}

ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "constant": _QUEUED,
    "poisson": _QUEUED,
    "steps": _SPACED,
    "burst": {"every": "The time from the start of a burst to that of the next.", **_SPACED},
    "trace": _QUEUED,
    "closed": {"stalls": "The accepted share of the time in which the load generator stands still.", **_TIMES},
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
        "else": "The point that other experiments take when there is no knee up to `to:`; left out, their cells fail.",
    },
    "adaptive": {
        "points": "How many points are measured; the run chooses them, the ends first.",
    },
    "highest": {
        "where": "What is promised: limits of latencies and errors, joined by `and`.",
        "within": "How far apart the rates are that may be tried. Chance in the runs at the edge adds to that.",
        "held_out": f"How many runs more confirm the rate that was found; {HELD_OUT} when left out.",
    },
    "until_steady": {
        "within": (
            "How far the 95 % confidence interval of the mean may reach to either side, as a share of the mean, when a "
            "cell ends: of throughput, and of an offered load's latency too."
        ),
        "from": f"The first look, and so the shortest time; {SOONEST_S:g} s at least.",
        "to": "The longest time. A cell that is not steady by then counts, and is marked.",
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
"""The named arguments of calls."""

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
    """Return a sentence on a measure; "" for one without a description."""
    if name in _MEASURES:
        return _MEASURES[name]
    kind = find_measure(name)
    if kind is not None and kind.said:
        return kind.said.doc
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
"""The rule of each function of a curve, with its source."""

ORDERS: Mapping[str, str] = {
    "grouped": "one hardware after the other",
    "interleaved": "every hardware at each point in turn, so that drift does not fall on one side",
    "random": "shuffled, with a seed",
}
"""The orders of `repeats`."""

_RESETS: Mapping[str, str] = {
    "as_needed": "the data are loaded again before a cell that would notice what the cells before it changed",
    "after_writes": "they are loaded again before a cell that follows one that wrote",
    "drop_and_load": "they are loaded again before each cell",
    "undo": "what cells have inserted is deleted by key before the next cell",
    "snapshot": "they are copied back, as they were after the load, before a cell that follows one that wrote",
    "links": "the same files are linked back before a cell that follows one that wrote, without room",
    "btrfs": "a btrfs snapshot is put back before each cell, in no time and without room",
    "zfs": "a ZFS dataset is rolled back before each cell, in no time and without room",
    "lvm_thin": "a thin volume of LVM is put back before each cell, in no time and without room",
    "reuse": "they stay as the cells before have left them",
}


def _with_engines(reset: str, meaning: str) -> str:
    """Return the meaning with the engines that alone know this reset, if only some do."""
    engines = [spec.label for spec in ENGINE_SPECS.own.values() if reset in spec.resets]
    return f"{meaning}; {' and '.join(engines)} only" if engines else meaning


RESETS: Mapping[str, str] = {reset: _with_engines(reset, meaning) for reset, meaning in _RESETS.items()}
"""How each cell gets its data."""

ENGINES: Mapping[str, str] = {name: spec.doc for name, spec in ENGINE_SPECS.own.items()}
TOOLS: Mapping[str, str] = {name: TOOL_SPECS.own[name].doc for name in own_tools()}
PROBES: Mapping[str, str] = {name: spec.doc for name, spec in PROBE_SPECS.own.items()}

BOUNDARIES: Mapping[Boundary, str] = {
    "wall": "all that is behind the outlet",
    "node": "the whole host",
    "cpu": "the processors alone",
    "unknown": "not known",
}
"""The boundaries of meters."""

TEMPLATES: Mapping[str, str] = {name: spec.doc for name, spec in TEMPLATE_SPECS.own.items()}

PROVENANCE: Mapping[str, str] = {
    "full": "A row for each expression and the measurements behind it, with the digests of their raw outputs.",
    "compact": "A row for each figure, table, box and section of text; the digests are in the side file.",
    "none": "No appendix. The side file has all of it, and `bench verify` goes by that.",
}

LANGUAGES: Mapping[str, str] = {"en": "English", "ja": "Japanese"}
