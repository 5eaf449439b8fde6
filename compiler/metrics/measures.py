"""What can be measured, and along which dimensions: the base measures that expressions are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from benchbrief.compiler.plan import Dimension
from benchbrief.compiler.units import Dimension as UnitDimension
from benchbrief.compiler.units import parse_unit

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""All dimensions, in the order in which results show them."""

ORDERED: frozenset[Dimension] = frozenset({"threads", "target", "phase", "repeat", "time"})
SAMPLED: frozenset[Dimension] = frozenset({"node", "time"})
"""Dimensions whose values only the samples know: a gap in them is no missing result."""

NAMED: tuple[Dimension, ...] = ("hardware", "workload", "operation", "experiment")
"""Dimensions whose keys are words, in the order in which a bare word in an index is looked up."""

AXIS_UNITS: Mapping[Dimension, str] = {
    "threads": "",
    "target": "ops/s",
    "phase": "",
    "repeat": "",
    "time": "s",
}
"""The unit of a dimension whose keys are numbers. Threads are written without one, in `threads = [8, 16]` as here."""

Key = str | float


@dataclass(frozen=True)
class MeasureKind:
    """A base measure: where its values are kept and which dimensions it has when they are asked for.

    `across_nodes` says how one value is made of the nodes' when nobody asks for nodes.
    """

    name: str
    view: Literal["throughput", "latency", "errors", "sample"]
    unit: UnitDimension
    on_demand: frozenset[Dimension]
    statistic: str = ""
    probe: str = ""
    sampled_as: str = ""
    across_nodes: Literal["sum", "avg"] = "sum"

    @property
    def is_percentile(self) -> bool:
        return self.view == "latency" and self.statistic.startswith("p")

    @property
    def needs_operation(self) -> bool:
        return self.view == "latency"


STATISTICS: Mapping[str, str] = {
    **{name: name for name in ("mean", "min", "max", "p50", "p75", "p90", "p95", "p99")},
    "p999": "p99.9",
    "p9999": "p99.99",
}
"""What `latency.` may be followed by, and the store's word for it."""


_SAMPLED: Mapping[str, str] = {
    "cpu.utilisation": "",
    "cpu.iowait": "",
    "cpu.steal": "",
    "cpu.pressure": "",
    "disk.read": "B/s",
    "disk.write": "B/s",
    "disk.reads": "1/s",
    "disk.writes": "1/s",
    "disk.read_await": "s",
    "disk.write_await": "s",
    "disk.queue": "",
    "disk.utilisation": "",
    "disk.pressure": "",
    "memory.used": "B",
    "memory.available": "B",
    "memory.cached": "B",
    "memory.dirty": "B",
    "memory.swap_used": "B",
    "memory.swap_in": "B/s",
    "memory.swap_out": "B/s",
    "memory.major_faults": "1/s",
    "memory.pressure": "",
    "network.received": "B/s",
    "network.sent": "B/s",
    "network.packets_received": "1/s",
    "network.packets_sent": "1/s",
    "network.errors": "1/s",
    "network.drops": "1/s",
    "database.connections": "",
    "database.active": "",
    "database.queued": "",
    "database.memory": "B",
    "database.cache_used": "B",
    "database.cache_dirty": "B",
    "database.replication_lag": "s",
    "database.inserts": "1/s",
    "database.queries": "1/s",
    "database.updates": "1/s",
    "database.deletes": "1/s",
    "database.getmores": "1/s",
    "database.commands": "1/s",
    "database.received": "B/s",
    "database.sent": "B/s",
    "database.cache_read": "B/s",
    "database.cache_written": "B/s",
    "database.evictions": "1/s",
    "database.evictions_by_operations": "1/s",
    "database.user_read": "B/s",
    "database.user_written": "B/s",
    "database.wal_written": "B/s",
    "database.flushed": "B/s",
    "database.compaction_read": "B/s",
    "database.compaction_written": "B/s",
    "database.cache_hits": "1/s",
    "database.cache_misses": "1/s",
    "database.bloom_useful": "1/s",
    "database.cache_hit_ratio": "",
    "database.stalled": "",
    "database.write_amplification": "",
}
"""The measures of probes and their units. Before the dot stands the probe."""

_AVERAGED = (
    *("utilisation", "iowait", "steal", "pressure", "read_await", "write_await"),
    *("cache_hit_ratio", "stalled", "write_amplification"),
)
"""What makes no sum over hosts: shares, ratios, and times that a request took."""

_WHOLE = ("database.cache_hit_ratio", "database.stalled", "database.write_amplification")
"""What is one number for a whole measurement: of totals, as a mean of the ratios of single seconds would be another."""


def _kinds() -> dict[str, MeasureKind]:
    def dims(*names: Dimension) -> frozenset[Dimension]:
        return frozenset(names)

    def unit(text: str) -> UnitDimension:
        return parse_unit(text).dimension

    by_operation = dims("operation", "phase", "repeat")
    sampled = dims("repeat", "node", "time")
    kinds = [
        MeasureKind("throughput", "throughput", unit("ops/s"), by_operation),
        MeasureKind("errors", "errors", unit(""), dims("phase", "repeat")),
        MeasureKind("power", "sample", unit("W"), sampled, probe="power", sampled_as="power"),
        MeasureKind("energy", "sample", unit("J"), dims("repeat", "node"), probe="power", sampled_as="energy"),
        MeasureKind("cpu", "sample", unit("cores"), sampled, probe="cpu", sampled_as="cpu"),
    ]
    kinds += [
        MeasureKind(f"latency.{name}", "latency", unit("s"), by_operation, statistic=statistic)
        for name, statistic in STATISTICS.items()
    ]
    for name, in_unit in _SAMPLED.items():
        across: Literal["sum", "avg"] = "avg" if name.partition(".")[2] in _AVERAGED else "sum"
        over = sampled - {"time"} if name in _WHOLE else sampled
        kinds.append(MeasureKind(name, "sample", unit(in_unit), over, "", name.partition(".")[0], name, across))
    return {kind.name: kind for kind in kinds}


KINDS: Mapping[str, MeasureKind] = _kinds()
"""Every base measure by its name."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "latency": tuple(f"latency.{name}" for name in STATISTICS),
    **{
        probe: tuple(name for name in KINDS if name.startswith(f"{probe}."))
        for probe in ("disk", "memory", "network", "database")
    },
}
"""Words that are not a measure by themselves, and the measures that begin with them."""

FAMILIAR_FACTS = frozenset({"memory", "network", "database"})
"""Families whose word is what hardware is declared with, as in `memory = 512 GiB`: it stays free for that."""
