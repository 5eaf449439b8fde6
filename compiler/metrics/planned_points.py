"""The planned points of a measure: runs, and parts of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from math import prod
from operator import attrgetter
from typing import Literal

from benchbrief.compiler.frontend.scope import Scope
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, Levels
from benchbrief.model.points import CURVE


@dataclass(frozen=True)
class PlannedRun:
    """A workload on a hardware group at one combination of levels in an experiment, with its ramp.

    `axis` is None if there is no ramp of known points. `unknown` maps each dimension whose point is not known yet to
    the search for it.
    """

    experiment: str
    hardware: str
    workload: str
    axis: Literal["threads", "target"] | None
    points: tuple[float, ...]
    phases: int
    phase_s: float
    repeats: int
    probes: tuple[str, ...]
    operations: tuple[str, ...]
    tool: str
    unknown: tuple[tuple[str, str], ...] = ()
    events: bool = False
    promise: bool = False
    levels: Levels = Levels()

    def keys(self, dimension: Dimension) -> tuple[DimKey, ...]:
        """Return the planned keys of a dimension. None are planned for node and time, since only samples have these
        dimensions."""
        match dimension:
            case "experiment" | "hardware" | "workload":
                return (getattr(self, dimension),)
            case "threads" | "target":
                return self.points if self.axis == dimension else ()
            case "phase":
                return tuple(range(1, self.phases + 1)) if self.phases > 1 else ()
            case "repeat":
                return tuple(range(1, self.repeats + 1))
            case "operation":
                return self.operations
            case "node" | "time":
                return ()
            case factor:
                level = self.level_of.get(factor)
                return () if level is None else (level,)

    @cached_property
    def level_of(self) -> Mapping[str, DimKey]:
        """The level of each factor that the run's experiment varies."""
        return self.levels.keys


class Runs(tuple[PlannedRun, ...]):
    """Planned runs in their order, as one value whose hash is computed once.

    Keys and parts are cached, since every expression of a spec asks for the same ones.
    """

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def keys(self, dim: Dimension) -> tuple[DimKey, ...]:
        """Return the planned keys of a dimension, each once. None are planned for node and time, since only samples
        have these dimensions."""
        if dim not in self._keys:
            self._keys[dim] = unique(self._each(dim))
        return self._keys[dim]

    def _each(self, dim: Dimension) -> Iterable[DimKey]:
        """Return the keys of every run in turn. This has to be fast, since there may be 100,000 runs, so dimensions
        with one key for each run take a short cut."""
        if dim in CURVE:
            return map(attrgetter(dim), self)
        if dim not in DIMENSIONS:
            return (level for run in self if (level := run.level_of.get(dim)) is not None)
        return (key for run in self for key in run.keys(dim))

    def at(self, dim: Dimension, key: DimKey) -> Runs:
        """Return the runs with a planned `key`. For a node or a time, which are not planned, return all runs."""
        if dim in ("node", "time"):
            return self
        if dim not in self._parts:
            parts: dict[DimKey, list[PlannedRun]] = {}
            for run in self:
                for planned in dict.fromkeys(run.keys(dim)):
                    parts.setdefault(planned, []).append(run)
            self._parts[dim] = {planned: Runs(part) for planned, part in parts.items()}
        found = self._parts[dim].get(key)
        return Runs() if found is None else found

    def along(self, dims: Iterable[Dimension]) -> Runs:
        """Return the runs with a ramp along one of `dims` and a level of each factor in `dims`. Dimensions that no run
        has are ignored."""
        axes, factors = self.axes.intersection(dims), self._all_factors.intersection(dims)
        return self._part(
            (axes, factors), lambda run: (not axes or run.axis in axes) and factors <= run.level_of.keys()
        )

    def probed(self, probe: str) -> Runs:
        """Return the runs that `probe` samples."""
        return self._part(probe, lambda run: probe in run.probes)

    def driven_by(self, tool: str) -> Runs:
        """Return the runs whose load generator is `tool`."""
        return self._part(("tool", tool), lambda run: run.tool == tool)

    @cached_property
    def with_events(self) -> Runs:
        """Return the runs with an event during their measurement."""
        return Runs(run for run in self if run.events)

    @cached_property
    def with_promise(self) -> Runs:
        """Return the runs that search for the highest rate of a promise. They are returned without their rates, since
        the search has one result for all rates."""
        return Runs(replace(run, axis=None, points=()) for run in self if run.promise)

    @cached_property
    def in_phases(self) -> Runs:
        """Return the runs whose measurement is divided into phases."""
        return Runs(run for run in self if run.phases > 1)

    @cached_property
    def axes(self) -> frozenset[Dimension]:
        return frozenset(run.axis for run in self if run.axis)

    @cached_property
    def factors(self) -> Mapping[Dimension, int]:
        """The number of levels of each factor that any of the runs varies, in the order of the spec."""
        one_of_each = {run.experiment: run for run in self}
        names = dict.fromkeys(name for run in one_of_each.values() for name in run.level_of)
        return {name: len(self.keys(name)) for name in names}

    @cached_property
    def told_apart_by(self) -> tuple[Dimension, ...]:
        """The dimensions that differ between the runs, and the dimensions that every run has."""
        factors = [name for name, levels in self.factors.items() if levels > 1]
        experiment = ["experiment"] if self.repeat_between_experiments else []
        return ("hardware", "workload", *factors, *self.axes, *experiment)

    @cached_property
    def is_whole(self) -> bool:
        """Whether one experiment measures every combination of hardware, workload and levels."""
        keys = prod(len(self.keys(dim)) for dim in (*CURVE, *self.factors))
        return len(self.keys("experiment")) == 1 and len(self) == keys

    @cached_property
    def lone_hardware(self) -> DimKey | None:
        """The hardware of all runs if they share one and compare factors, or else None."""
        keys = self.keys("hardware")
        return keys[0] if self.factors and len(keys) == 1 else None

    @cached_property
    def repeat_between_experiments(self) -> bool:
        """Whether two experiments have runs with the same hardware and workload and the same level of every factor."""
        if len(self.keys("experiment")) < 2:
            return False
        factors = [name for name, levels in self.factors.items() if levels > 1]
        first: dict[object, str] = {}
        return any(
            first.setdefault((run.hardware, run.workload, *map(run.level_of.get, factors)), run.experiment)
            != run.experiment
            for run in self
        )

    # --- what was found already ---

    def _part(self, key: Hashable, kept: Callable[[PlannedRun], bool]) -> Runs:
        """Return the runs that satisfy `kept`. If these are all runs, return this object, which has cached results."""
        if key not in self._some:
            part = Runs(filter(kept, self))
            self._some[key] = part if len(part) < len(self) else None  # avoids a cycle of references
        found = self._some[key]
        return self if found is None else found

    @cached_property
    def _keys(self) -> dict[Dimension, tuple[DimKey, ...]]:
        return {}

    @cached_property
    def _parts(self) -> dict[Dimension, Mapping[DimKey, Runs]]:
        return {}

    @cached_property
    def _all_factors(self) -> frozenset[Dimension]:
        return frozenset(self.factors)

    @cached_property
    def _some(self) -> dict[Hashable, Runs | None]:
        return {}


def planned_runs(scope: Scope) -> Runs:
    operations = {workload.key: workload.operations for workload in scope.workloads}
    return Runs(
        PlannedRun(
            experiment.key,
            hardware,
            workload,
            experiment.axis,
            experiment.points,
            experiment.phases,
            experiment.phase_s,
            experiment.repeats,
            experiment.probes,
            operations.get(workload, ()),
            experiment.tool,
            experiment.unknown,
            experiment.events,
            experiment.promise,
            levels,
        )
        for experiment in scope.experiments
        for hardware in experiment.hardware
        for workload in experiment.workloads
        for levels in experiment.levels or (Levels(),)
    )


def unique(keys: Iterable[DimKey]) -> tuple[DimKey, ...]:
    """Return each key once, numbers in rising order and words in the order of appearance."""
    found = tuple(dict.fromkeys(keys))
    return found if len(found) < 2 or isinstance(found[0], str) else tuple(sorted(found))
