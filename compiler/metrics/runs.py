"""The planned points that a measure has values at: runs, and the parts of them that expressions speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from benchbrief.compiler.metrics.measures import Key
from benchbrief.compiler.plan import Dimension
from benchbrief.compiler.scope import Scope


@dataclass(frozen=True)
class Run:
    """One workload on one hardware in one experiment: the planned points of a measure are its runs by their ramps.

    `axis` is None without a ramp whose points are known; `unknown` are dimensions that a search has yet to find a
    point of, with that search.
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
    unknown: tuple[tuple[str, str], ...] = ()

    def keys(self, dimension: Dimension) -> tuple[Key, ...]:
        """The planned keys of a dimension; none for node and time, which only the samples know."""
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


class Runs(tuple[Run, ...]):
    """Planned runs in their order, as one value that is hashed once.

    Its keys and its parts are found once and kept: every expression of a spec asks the same of the same runs.
    """

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def keys(self, dim: Dimension) -> tuple[Key, ...]:
        """The planned keys of a dimension, each once; none for node and time, which only the samples know."""
        if dim not in self._keys:
            self._keys[dim] = unique(key for run in self for key in run.keys(dim))
        return self._keys[dim]

    def at(self, dim: Dimension, key: Key) -> Runs:
        """Those that `key` is planned in; all of them for a node or a time."""
        if dim in ("node", "time"):
            return self
        if dim not in self._parts:
            parts: dict[Key, list[Run]] = {}
            for run in self:
                for planned in dict.fromkeys(run.keys(dim)):
                    parts.setdefault(planned, []).append(run)
            self._parts[dim] = {planned: Runs(part) for planned, part in parts.items()}
        return self._parts[dim].get(key, NO_RUNS)

    def along(self, dims: Iterable[Dimension]) -> Runs:
        """Those on a ramp of any of `dims`, in their order."""
        axes = self.axes.intersection(dims)
        if axes not in self._along:
            self._along[axes] = Runs(run for run in self if run.axis in axes)
        return self._along[axes]

    def probed(self, probe: str) -> Runs:
        """Those that `probe` samples beside."""
        if probe not in self._probed:
            self._probed[probe] = Runs(run for run in self if probe in run.probes)
        return self._probed[probe]

    @cached_property
    def in_phases(self) -> Runs:
        """Those whose measurements are cut into phases."""
        return Runs(run for run in self if run.phases > 1)

    @cached_property
    def axes(self) -> frozenset[Dimension]:
        return frozenset(run.axis for run in self if run.axis)

    # --- what was found already ---

    @cached_property
    def _keys(self) -> dict[Dimension, tuple[Key, ...]]:
        return {}

    @cached_property
    def _parts(self) -> dict[Dimension, Mapping[Key, Runs]]:
        return {}

    @cached_property
    def _along(self) -> dict[frozenset[Dimension], Runs]:
        return {}

    @cached_property
    def _probed(self) -> dict[str, Runs]:
        return {}


NO_RUNS = Runs()


def planned_runs(scope: Scope) -> Runs:
    operations = {workload.key: workload.operations for workload in scope.workloads}
    return Runs(
        Run(
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
            experiment.unknown,
        )
        for experiment in scope.experiments
        for hardware in experiment.hardware
        for workload in experiment.workloads
    )


def unique(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Each key once, numbers in rising order, words in the order of their first appearance."""
    found = tuple(dict.fromkeys(keys))
    return tuple(sorted(found)) if all(not isinstance(key, str) for key in found) else found
