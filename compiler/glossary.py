"""What the words of expressions mean, in a sentence each: for editors."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.measures import KINDS
from benchbrief.compiler.plan import Dimension

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
    "energy": "The energy that the hosts used during the measurement.",
    "cpu": "Busy cores of the whole host, as sampled; the sum over nodes.",
    "cpu.utilisation": "The busy share of all cores, as sampled.",
    "disk.read": "Bytes read from the device per second, as sampled; the sum over nodes.",
    "disk.write": "Bytes written to the device per second, as sampled; the sum over nodes.",
    "disk.reads": "Read requests to the device per second, as sampled; the sum over nodes.",
    "disk.writes": "Write requests to the device per second, as sampled; the sum over nodes.",
    "disk.utilisation": "The share of time in which the device was busy, as sampled.",
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
    "knee": (
        "knee(${1:throughput} over ${2:threads})",
        "The point of the ramp at which more load starts to bring less.",
    ),
    "saturation": (
        "saturation(${1:throughput} over ${2:target})",
        "The throughput beyond which the system keeps up with the offered load no longer.",
    ),
    "time_to_steady": (
        "time_to_steady(${1:throughput} over ${2:phase})",
        "The time from the start of the measurement to the steady state.",
    ),
}
"""A snippet and what it gives."""

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
