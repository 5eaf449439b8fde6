"""The series of a figure, with the details of each point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchbrief.compiler.planning import plan
from benchbrief.reports.charts.chart import Trace
from benchbrief.reports.text.number_format import Scale, automatic, decimals_for, in_column

_AS_IT_IS = Scale(1.0, "")


@dataclass(frozen=True)
class Detail:
    """A measured point in base units. `key` is its place along the dimension of the series.

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
    """A series: its label in words, its trace (in base units at first, in axis units in a Drawing), and its points."""

    series: plan.Series
    label: str
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
        """The unit of its values on its axis; values on the x axis are not scaled."""
        return self.series.query.unit if self.upright else self.y.unit


def written(drawn: Sequence[Drawn]) -> list[Callable[[float], str]]:
    """Return how to write the values of each series: equal decimals on one axis; a mark, or whole counts, by itself."""
    axes = {
        right: column([p.y for d in drawn if d.trace.right == right and d.trace.mark != "rule" for p in d.trace.points])
        for right in (False, True)
    }
    alone = [d.trace.mark == "rule" or d.trace.whole for d in drawn]
    return [automatic if one else axes[d.trace.right] for one, d in zip(alone, drawn, strict=True)]


def column(values: Iterable[float | None]) -> Callable[[float], str]:
    """Return how to write compared numbers: with the same decimals."""
    decimals = decimals_for(values)
    return lambda value: in_column(value, decimals)
