"""Where a value is: the keys of the dimensions, the point of a cell, and the curve that the point lies on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, Protocol, TypeAlias

from benchbrief.model.plan import Dimension, DimKey, Experiment, Levels

CURVE: tuple[Dimension, ...] = ("experiment", "hardware", "workload")
"""The dimensions of a `Curve` that every spec has, in order."""

POINT: tuple[Dimension, ...] = (*CURVE, "threads", "target")
"""The dimensions of a `Point` that every spec has, in order."""

PointKeys: TypeAlias = tuple[tuple[str, DimKey | None], ...]
"""The point of a value: each of its dimensions with the key."""


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
    """Whatever is at a point: a planned cell, say, or a row of a table."""

    @property
    def threads(self) -> float | None: ...
    @property
    def target(self) -> float | None: ...


class Curve(NamedTuple):
    """An experiment on one hardware with one workload at one level of each factor: what a ramp or a search moves
    along."""

    experiment: str
    hardware: str
    workload: str
    levels: Levels = Levels()

    @classmethod
    def of(cls, each: _OnCurve) -> Curve:
        return cls(each.experiment, each.hardware, each.workload, Levels(each.levels))

    @property
    def keys(self) -> dict[Dimension, DimKey]:
        """Return the key of each dimension, with those of the factors at the end."""
        return {**dict(zip(CURVE, self[:-1], strict=True)), **self.levels.keys}

    @classmethod
    def all_of(cls, experiment: Experiment) -> Iterator[Curve]:
        """Yield every curve of an experiment, in the order of the spec."""
        levels = experiment.levels or (Levels(),)
        yield from (cls(experiment.name, *each) for each in product(experiment.hardware, experiment.workloads, levels))


class Point(NamedTuple):
    """What the repeats of a cell share. `threads` and `target` are None where it has none, or a search has not found
    them yet."""

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
        """Return the key of each dimension, with those of the factors at the end."""
        return {**dict(zip(POINT, self[:-1], strict=True)), **self.levels.keys}

    @property
    def known_keys(self) -> dict[Dimension, DimKey]:
        return {dim: key for dim, key in self.keys.items() if key is not None}
