"""Where a value is: the keys of the dimensions, the point of a cell, and the curve that the point lies on."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

from benchbrief.model.plan import Dimension

CURVE: tuple[Dimension, ...] = ("experiment", "hardware", "workload")
"""The dimensions of a `Curve`, in order."""

POINT: tuple[Dimension, ...] = (*CURVE, "threads", "target")
"""The dimensions of a `Point`, in order."""

DimKey: TypeAlias = str | float
"""A value of a dimension: `eco` of the hardware, 64 threads."""

PointKeys: TypeAlias = tuple[tuple[str, DimKey | None], ...]
"""The point of a value: each of its dimensions with the key."""


class _OnCurve(Protocol):
    @property
    def experiment(self) -> str: ...
    @property
    def hardware(self) -> str: ...
    @property
    def workload(self) -> str: ...


class AtPoint(_OnCurve, Protocol):
    """Whatever is at a point: a planned cell, say, or a row of a table."""

    @property
    def threads(self) -> float | None: ...
    @property
    def target(self) -> float | None: ...


class Curve(NamedTuple):
    """An experiment on one hardware with one workload: what a ramp or a search moves along."""

    experiment: str
    hardware: str
    workload: str

    @classmethod
    def of(cls, each: _OnCurve) -> Curve:
        return cls(each.experiment, each.hardware, each.workload)


class Point(NamedTuple):
    """What the repeats of a cell share. `threads` and `target` are None where it has none, or a search has not found
    them yet."""

    experiment: str
    hardware: str
    workload: str
    threads: float | None
    target: float | None

    @classmethod
    def of(cls, each: AtPoint) -> Point:
        return cls(each.experiment, each.hardware, each.workload, each.threads, each.target)

    @property
    def keys(self) -> dict[Dimension, DimKey | None]:
        return dict(zip(POINT, self, strict=True))

    @property
    def known_keys(self) -> dict[Dimension, DimKey]:
        return {dim: key for dim, key in self.keys.items() if key is not None}
