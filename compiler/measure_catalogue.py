"""The dimensions and base measures that expressions can use, both benchbrief's own and those of probes and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from benchbrief.compiler.registry import PROBE_SPECS, TOOL_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import Across, ProbeMeasure, ProbeSpec
from benchbrief.model.plan import Dimension
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.units import Dimension as UnitDimension
from benchbrief.model.units import parse_unit

ORDERED: frozenset[Dimension] = frozenset({"threads", "target", "phase", "repeat", "time"})
SAMPLED: frozenset[Dimension] = frozenset({"node", "time"})
"""Dimensions whose keys are known only from samples. None of their keys is planned, so a reduction over them skips gaps
instead of having no result."""

NAMED: tuple[Dimension, ...] = ("hardware", "workload", "operation", "experiment")
"""Dimensions whose keys are words, in the order of look-up for a bare word."""

AXIS_UNITS: Mapping[Dimension, str] = {"threads": "", "target": "ops/s", "phase": "", "repeat": "", "time": "s"}
"""The unit of each dimension whose keys are numbers. Threads have no unit, as in `threads = [8, 16]`."""


@dataclass(frozen=True)
class MeasureKind:
    """A base measure. It has the name of the view that holds its values, and the dimensions that it has only on
    request.

    `across_nodes` is the function that combines several nodes' values into one, unless an expression asks for nodes.
    The measure is sampled by `probe`, or reported by the load generator `tool`. The spec of the probe or tool describes
    it in `said`.
    """

    name: str
    view: Literal["throughput", "latency", "errors", "sample", "sustained"]
    unit: UnitDimension
    on_demand: frozenset[Dimension]
    statistic: str = ""
    probe: str = ""
    tool: str = ""
    said: ProbeMeasure | None = field(default=None, compare=False)
    sampled_as: str = ""
    across_nodes: Literal["sum", "avg", "max"] = "sum"
    of_events: bool = False
    """Whether only experiments with events have this measure."""

    @property
    def is_percentile(self) -> bool:
        return self.view == "latency" and self.statistic.startswith("p")

    @property
    def is_size(self) -> bool:
        return self.name in _SIZES

    @property
    def needs_operation(self) -> bool:
        return self.view == "latency"


STATISTICS: Mapping[str, str] = {
    **{name: name for name in ("mean", "min", "max", "p50", "p75", "p90", "p95", "p99")},
    "p999": "p99.9",
    "p9999": "p99.99",
}
"""Maps each word that may follow `latency.` to the name of this statistic in the store."""


_SIZES: Mapping[str, str] = {"database.size": "B", "database.size_loaded": "B", "database.space_amplification": ""}
"""The sizes of a cell's database with their units. They need no probe, since each cell has them."""


_OF_EVENTS: Mapping[str, str] = {
    "recovery": "s",
    "recovery.latency": "s",
    "recovery.outage": "s",
    "recovery.dip": "",
    "recovery.lowest": "ops/s",
    "recovery.before": "ops/s",
}
"""Measures of how events affect the throughput and the latency of their cell (see `results/statistics/recovery.py`)."""

_FUNCTIONS: Mapping[Across, Literal["sum", "avg", "max"]] = {"sum": "sum", "average": "avg", "largest": "max"}
"""The SQL functions that combine several nodes' values into one."""
_SERIES: Mapping[str, tuple[str, str, Literal["sum", "max"]]] = {
    "timeline.throughput": ("throughput", "ops/s", "sum"),
    "timeline.p99": ("timeline.p99", "s", "max"),
}
"""Values that load generators report for each second: the name in the store, the unit, and the function that combines
several generators' values into one."""


def _kinds() -> dict[str, MeasureKind]:
    def dims(*names: Dimension) -> frozenset[Dimension]:
        return frozenset(names)

    def unit(text: str) -> UnitDimension:
        return parse_unit(text).dimension

    by_operation = dims("operation", "phase", "repeat")
    kinds = [
        MeasureKind("throughput", "throughput", unit("ops/s"), by_operation),
        MeasureKind("errors", "errors", unit(""), dims("phase", "repeat")),
        MeasureKind("sustained", "sustained", unit("ops/s"), frozenset()),
    ]
    kinds += [
        MeasureKind(f"latency.{name}", "latency", unit("s"), by_operation, statistic=statistic)
        for name, statistic in STATISTICS.items()
    ]
    kinds += [
        MeasureKind(name, "sample", unit(in_unit), dims("repeat", "node"), sampled_as=name)
        for name, in_unit in _SIZES.items()
    ]
    kinds += [
        MeasureKind(name, "sample", unit(in_unit), dims("repeat"), sampled_as=name, of_events=True)
        for name, in_unit in _OF_EVENTS.items()
    ]
    kinds += [
        MeasureKind(
            name, "sample", unit(in_unit), dims("repeat", "node", "time"), sampled_as=stored, across_nodes=across
        )
        for name, (stored, in_unit, across) in _SERIES.items()
    ]
    kinds += [kind for spec in PROBE_SPECS.own.values() for kind in measures_of(spec)]
    return {kind.name: kind for kind in kinds}


def measures_of(spec: ProbeSpec | ToolSpec) -> tuple[MeasureKind, ...]:
    """Return the measures of a probe, or those that a load generator reports about itself."""
    probe, tool = (spec.name, "") if isinstance(spec, ProbeSpec) else ("", spec.word)
    of_all: frozenset[Dimension] = frozenset({"repeat", "node", "time"})
    return tuple(
        MeasureKind(
            name,
            "sample",
            parse_unit(measure.unit).dimension,
            of_all - {"time"} if measure.of_whole_measurement else of_all,
            probe=probe,
            tool=tool,
            said=measure,
            sampled_as=name,
            across_nodes=_FUNCTIONS[measure.across_nodes],
        )
        for name, measure in spec.measures.items()
    )


KINDS: Mapping[str, MeasureKind] = _kinds()
"""The base measures of the language and of benchbrief's own probes, by name."""


def find_measure(name: str) -> MeasureKind | None:
    """Return the measure with this name. It is in `KINDS`, or it belongs to another package's probe or tool, whose name
    precedes the dot."""
    if name in KINDS:
        return KINDS[name]
    word, dot, _ = name.partition(".")
    specs = _telling(word) if dot and word not in FAMILIES else ()
    return next((kind for spec in specs for kind in measures_of(spec) if kind.name == name), None)


def _telling(word: str) -> tuple[ProbeSpec | ToolSpec, ...]:
    found: tuple[ProbeSpec | ToolSpec | None, ...] = (PROBE_SPECS.usable(word), TOOL_SPECS.usable(word))
    return tuple(spec for spec in found if spec)


def family_of(word: str) -> tuple[str, ...]:
    """Return the measures whose names begin with this word and a dot."""
    if word in FAMILIES:
        return FAMILIES[word]
    return tuple(measure for spec in _telling(word) for measure in spec.measures)


_SAMPLED = [name for name in PROBE_SPECS.own if name not in KINDS]
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "latency": tuple(f"latency.{name}" for name in STATISTICS),
    "timeline": tuple(_SERIES),
    **{name: tuple(each for each in KINDS if each.startswith(f"{name}.")) for name in _SAMPLED},
}
"""Words that begin the names of measures but are not measures themselves, each with its measures."""

FAMILIAR_FACTS = frozenset(name for name, spec in PROBE_SPECS.own.items() if spec.word_is_free)
"""Families of measures whose names may also be facts of hardware: `memory = 512 GiB`."""

VIEW_COLUMNS = frozenset(
    (
        *("measure", "levels", "experiment", "hardware", "workload", "threads", "target", "phase", "repeat"),
        *("operation", "node", "time", "kind", "statistic", "value", "reported", "repeats", "mean", "sd", "cv"),
        *("bound", "decided", "mark", "run", "simulated", "imported", "metric", "unit", "better", "first", "second"),
        *("ratio", "difference", "level", "p", "p_holm", "verdict", "reason"),
    )
)
"""The columns of results, other than those of factors, in the views `measure.*` and `metric.*`, exports and
comparisons."""
