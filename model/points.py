"""The place of a value: its keys by dimension, a cell's point, and the curve that the point is on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, Protocol, TypeAlias

from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, Experiment, Levels, Plan, key_text

CURVE: tuple[Dimension, ...] = ("experiment", "hardware", "workload")
"""The dimensions of a `Curve` that every spec has, in order."""

POINT: tuple[Dimension, ...] = (*CURVE, "threads", "target")
"""The dimensions of a `Point` that every spec has, in order."""

PointKeys: TypeAlias = tuple[tuple[str, DimKey | None], ...]
"""The point of a value, as pairs of a dimension and its key."""


def word_of_key(dim: Dimension, key: DimKey) -> str:
    """Return a point's key in the form that cell ids use: `nvme`, `threads=4`, `codec=lz4`."""
    if dim not in DIMENSIONS:
        return f"{dim}={key_text(key)}"
    return key if isinstance(key, str) else f"{dim}={key:g}"


def labels_of_levels(plan: Plan) -> dict[str, str]:
    """Return the labels of a plan's levels and factors. The keys are `word_of_key` for levels, and `codec=` for
    factors."""
    found: dict[str, str] = {}
    for factor in plan.factors.values():
        found[f"{factor.name}="] = factor.label
        found |= {word_of_key(factor.name, level.key): level.label for level in factor.levels}
    return found


def place_of(dim: Dimension) -> tuple[int, str]:
    """Return a sort key for dimensions: the order of results, with factors after `workload` and all others at
    the end."""
    order: tuple[Dimension, ...] = (*CURVE, "", *POINT[len(CURVE) :])
    return (order.index(dim), "") if dim in order else (len(order) if dim in DIMENSIONS else len(CURVE), dim)


class _OnCurve(Protocol):
    @property
    def experiment(self) -> str: ...
    @property
    def hardware(self) -> str: ...
    @property
    def workload(self) -> str: ...
    @property
    def levels(self) -> str: ...


class AtPoint(_OnCurve, Protocol):
    """Anything that has a point, such as a planned cell or a row of a table."""

    @property
    def threads(self) -> float | None: ...
    @property
    def target(self) -> float | None: ...


class Curve(NamedTuple):
    """The line of points along which a ramp or a search moves: an experiment on one hardware group, with one workload
    and one level of each factor."""

    experiment: str
    hardware: str
    workload: str
    levels: Levels = Levels()

    @classmethod
    def of(cls, each: _OnCurve) -> Curve:
        return cls(each.experiment, each.hardware, each.workload, Levels(each.levels))

    @property
    def keys(self) -> dict[Dimension, DimKey]:
        """Return the key of each dimension, with the factors' keys at the end."""
        return {**dict(zip(CURVE, self[:-1], strict=True)), **self.levels.keys}

    @classmethod
    def all_of(cls, experiment: Experiment) -> Iterator[Curve]:
        """Yield all curves of an experiment, in the order of the spec."""
        levels = experiment.levels or (Levels(),)
        yield from (cls(experiment.name, *each) for each in product(experiment.hardware, experiment.workloads, levels))


class Point(NamedTuple):
    """The point that all repeats of a cell measure. `threads` and `target` are None if the cell has no such setting, or
    if a search has not found it yet."""

    experiment: str
    hardware: str
    workload: str
    threads: float | None
    target: float | None
    levels: Levels = Levels()

    @classmethod
    def of(cls, each: AtPoint) -> Point:
        return cls(each.experiment, each.hardware, each.workload, each.threads, each.target, Levels(each.levels))

    @property
    def keys(self) -> dict[Dimension, DimKey | None]:
        """Return the key of each dimension, with the factors' keys at the end."""
        return {**dict(zip(POINT, self[:-1], strict=True)), **self.levels.keys}

    @property
    def known_keys(self) -> dict[Dimension, DimKey]:
        return {dim: key for dim, key in self.keys.items() if key is not None}
