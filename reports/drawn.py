"""What a figure draws: series of points, with what is known about each point."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler import plan
from benchbrief.reports.chart import Trace
from benchbrief.reports.values import Scale

_AS_IT_IS = Scale(1.0, "")


@dataclass(frozen=True)
class Detail:
    """A point in base units, as it was measured: `key` is its place along the dimension that the series goes along.

    `repeats` and `cells` are those behind it, as far as they have a result. `x` is a curve's other value.
    """

    key: str
    x: float | None
    value: float | None
    low: float | None
    high: float | None
    repeats: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """A series: its trace (in base units at first, in those of the axes in a Drawing), and all about its points."""

    series: plan.Series
    trace: Trace
    details: tuple[Detail, ...]
    panel: str = ""
    y: Scale = _AS_IT_IS
    x: Scale = _AS_IT_IS

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(detail.key for detail in self.details)

    @property
    def upright(self) -> bool:
        return any(p.upright for p in self.trace.points)

    @property
    def unit(self) -> str:
        """Of its values, as its axis shows them; what stands on the x axis is not scaled."""
        return self.series.query.unit if self.upright else self.y.unit
