"""The names that expressions may refer to: everything that a spec declares, after names and values have been checked.

`resolve.py` makes the scope from the syntax tree; `expressions.py` and `lower_report.py` read it. Keys that differ only
in their spans are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from benchbrief.compiler.frontend.declarations import Entry, text_of
from benchbrief.compiler.measure_catalogue import AXIS_UNITS, NAMED
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import units
from benchbrief.model.achieved_load import Schedule
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, Levels, Quantity


@dataclass(frozen=True)
class HardwareKey:
    """A hardware group or variant. `aliases` are its other names (`server.micron_7450`).

    `units` are the units of the declared facts as written in the spec (`price = 4 USD/h`).
    """

    key: str
    aliases: tuple[str, ...]
    label: str
    nodes: int
    facts: dict[str, Quantity]
    units: dict[str, str]
    texts: dict[str, str]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class WorkloadKey:
    """A workload, as expressions see it. `operations` are the operations that it performs (read, update, ...), named as
    in `model/measurement.py`."""

    key: str
    label: str
    description: str
    operations: tuple[str, ...]
    span: Span = field(compare=False)
    shares: tuple[tuple[str, float], ...] = ()
    """The share of each operation, but only for operations with the same share at all levels."""
    writes: bool = False


@dataclass(frozen=True)
class LevelKey:
    """A level of a factor. `key` is its name, or its number in the base unit. `facts` are the attributes of a bundle,
    and `units` are the units of their numbers as written in the spec."""

    key: DimKey
    label: str
    facts: dict[str, Quantity | str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FactorKey:
    """A factor, as expressions see it.

    If all levels are plain numbers, `unit` is their unit as written, or "" if they have none; otherwise, it is None.
    `of_load` is true if a workload uses the factor, since its levels are then different loads.
    """

    key: str
    label: str
    unit: str | None
    levels: tuple[LevelKey, ...]
    of_load: bool
    span: Span = field(compare=False)


@dataclass(frozen=True)
class ExperimentKey:
    """An experiment, as expressions see it.

    `levels` are the combinations of levels that it measures, or () if it varies no factor. If a search in another
    experiment has to find the experiment's only point, there are no `points`, and `axis` is None. `unknown` maps each
    dimension that waits for a search to that search, such as `find_threads.knee`.

    `phase_s` is the length of a phase in seconds, or of the whole measurement if there are no phases. `length` is the
    warm-up, the shortest and the longest measured time, in seconds.

    `service_only` and `unmerged` are for warnings about the tool, and None if there is nothing to warn of.
    `service_only` is set if the tool's latencies leave out how long operations wait: it has the place of the load, the
    tool, and the engine's tools that include the wait. `unmerged` is set if the tool prints percentiles that can't be
    merged over repeats: it has the place of the repeats, the tool, and advice on what to do instead.
    """

    key: str
    label: str
    hardware: tuple[str, ...]
    workloads: tuple[str, ...]
    axis: Literal["threads", "target"] | None
    points: tuple[float, ...]
    phases: int
    phase_s: float
    length: tuple[float, float, float]
    repeats: int
    probes: tuple[str, ...]
    tool: str
    schedule: Schedule
    span: Span = field(compare=False)
    unknown: tuple[tuple[str, str], ...] = ()
    chosen: int | None = None
    """The number of points that an adaptive ramp chooses to measure, or None for any other experiment."""
    events: bool = False
    promise: bool = False
    """Whether the experiment searches for the highest rate that keeps a promise."""
    service_only: tuple[Span, str, tuple[str, ...]] | None = None
    unmerged: tuple[Span, str, str] | None = None
    levels: tuple[Levels, ...] = ()
    measured_at: Span | None = field(default=None, compare=False)
    """The place in the spec that sets how long the experiment is measured."""


@dataclass(frozen=True)
class Scope:
    """Everything that expressions may refer to. `profile` is the applied profile, which may drop points of a ramp or
    levels of a factor that an expression names."""

    hardware: tuple[HardwareKey, ...]
    workloads: tuple[WorkloadKey, ...]
    experiments: tuple[ExperimentKey, ...]
    metrics: tuple[ast.Metric, ...]
    expects: tuple[ast.Expect, ...]
    reports: tuple[ast.Block, ...]
    params: dict[str, ast.Expr]
    claims: tuple[ast.Block, ...] = ()
    factors: tuple[FactorKey, ...] = ()
    """The factors, in the order of the spec."""
    profile: str | None = None
    blocks: tuple[Entry, ...] = field(default=(), compare=False)
    """All blocks except claims and reports, with inherited attributes. They are used for `settings`, but not by
    expressions."""

    @cached_property
    def settings(self) -> frozenset[units.Amount]:
        """The amounts that the spec sets or expects, in base units: targets, durations, sizes, promises."""
        found = {amount for block in self.blocks for amount in _amounts_of_block(block)}
        return frozenset(found.union(*(_amounts(expect.condition, "") for expect in self.expects)))

    @cached_property
    def metrics_by_name(self) -> Mapping[str, ast.Metric]:
        return {each.name.text: each for each in self.metrics}

    @cached_property
    def claims_by_name(self) -> Mapping[str, ast.Block]:
        return {each.name.text: each for each in self.claims if each.name}

    @cached_property
    def claimed_numbers(self) -> int:
        """How many different numbers the claims state. A number that is stated in two languages counts once."""
        said = {
            tuple(text_of(value) for value in item.values)
            for claim in self.claims
            for item in claim.body
            if isinstance(item, ast.Attribute) and item.key.text == "value"
        }
        return len(said)

    @cached_property
    def factors_by_name(self) -> Mapping[str, FactorKey]:
        return {each.key: each for each in self.factors}

    @cached_property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Every dimension, in the order of results, with factors behind `workload`."""
        behind = DIMENSIONS.index("workload") + 1
        return (*DIMENSIONS[:behind], *self.factors_by_name, *DIMENSIONS[behind:])

    @cached_property
    def named(self) -> tuple[Dimension, ...]:
        """The dimensions whose keys are words, in the order of look-up for a bare word."""
        return (*NAMED, *(each.key for each in self.factors if each.unit is None))

    @cached_property
    def axis_units(self) -> Mapping[Dimension, str]:
        """The unit of each dimension whose keys are numbers. The numbers are in the base unit."""
        return {**AXIS_UNITS, **{each.key: each.unit for each in self.factors if each.unit is not None}}

    @cached_property
    def numeric_factors(self) -> tuple[Dimension, ...]:
        return tuple(each.key for each in self.factors if each.unit is not None)

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, str]]:
        """For each dimension whose keys are words, the keys by all of their names. If two keys share a name, the first
        one counts."""
        hardware: dict[str, str] = {}
        for each in self.hardware:
            for name in (each.key, *each.aliases):
                hardware.setdefault(name, each.key)
        return {
            "hardware": hardware,
            "workload": {each.key: each.key for each in self.workloads},
            "experiment": {each.key: each.key for each in self.experiments},
            "operation": {operation: operation for each in self.workloads for operation in each.operations},
            **{f.key: {str(level.key): str(level.key) for level in f.levels} for f in self.factors if f.unit is None},
        }

    @cached_property
    def experiments_by_name(self) -> Mapping[str, ExperimentKey]:
        return {each.key: each for each in self.experiments}

    @cached_property
    def shares(self) -> Mapping[str, Mapping[str, float]]:
        """Each operation's share, by workload."""
        return {each.key: dict(each.shares) for each in self.workloads}

    @cached_property
    def labels(self) -> Mapping[Dimension, Mapping[DimKey, str]]:
        """The label of each key, by dimension."""
        return {
            **{each.key: {level.key: level.label for level in each.levels} for each in self.factors},
            "hardware": {each.key: each.label for each in self.hardware},
            "workload": {each.key: each.label for each in self.workloads},
            "experiment": {each.key: each.label for each in self.experiments},
        }


def _amounts_of_block(block: Entry) -> Iterator[units.Amount]:
    for attribute in block.attributes.values():
        unit = AXIS_UNITS.get(attribute.key.text, "")
        for value in attribute.values:
            yield from _amounts(value, unit)
    for inner in block.blocks:
        yield from _amounts_of_block(inner)


def _amounts(expr: ast.Expr, usual: str) -> Iterator[units.Amount]:
    """Yield the amounts in an expression, in base units. A number without a unit is assumed to be in the `usual`
    unit."""
    left: list[object] = [expr]
    while left:
        node = left.pop()
        if isinstance(node, ast.Quantity):
            if amount := units.amount(node.value, node.unit or usual):
                yield amount
        else:
            left += ast.children(node)
