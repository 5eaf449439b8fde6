"""A chart for an office program, with its series and their values in the units of its axes."""

from __future__ import annotations

from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class NativeSeries:
    """A series of a chart. `values` belong to the chart's categories or, without categories, to `xs`. A value of None
    is a gap. A range goes from `values` to `ends`, and a bracket shows the ratio of two bars; office programs draw
    neither by themselves. `low` and `high` are the ends of intervals, or None if a value has no interval. `colour` is
    written as #0072b2. If `right`, the values are in the unit of the right axis. An ideal may extend beyond the chart.
    """

    name: str
    mark: Literal["bar", "line", "points", "range", "bracket"]
    colour: str
    values: tuple[float | None, ...]
    xs: tuple[float, ...] = ()
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    ends: tuple[float | None, ...] = ()
    right: bool = False
    dashed: bool = False
    is_ideal: bool = False
    labels: tuple[str, ...] = ()
    """The labels of the series: its values as the brief writes them, both ends of each range, or the numbers of
    brackets. A single bracket compares all bars."""
    keys: tuple[str, ...] = ()
    """The labels beside the points of a curve, such as numbers of threads. Empty if there are none."""
    repeats: tuple[tuple[float, ...], ...] = ()
    """The values of each point's repeats. Empty if there are none."""
    open: tuple[bool, ...] = ()
    """The bars whose true values may lie beyond their ends. Empty if there are none."""
    worse: tuple[bool, ...] = ()
    """The bars that are drawn pale because they are changes for the worse. Empty if there are none."""

    @property
    def is_pale(self) -> bool:
        """Whether all bars are pale and have a broken outline."""
        return self.mark in ("bar", "range") and self.dashed

    @property
    def is_level(self) -> bool:
        """Whether the series is a line at one height across all categories, such as a limit."""
        is_flat = len({*self.values}) == 1 and self.values[0] is not None
        return self.mark == "line" and self.dashed and not self.xs and is_flat

    @property
    def has_intervals(self) -> bool:
        return any(end is not None for end in (*self.low, *self.high))


@dataclass(frozen=True)
class NativeChart:
    """A chart, or one of several panels with its `heading`. Without `categories`, the x axis is a scale.

    `whole` means that the chart shows everything that the figure's own drawing shows. If it does not, use the drawing
    as a picture: the figure has ranges, brackets, pale bars, marks on the x axis, notes at points, or refused rates.
    `on_slides` means that only ranges, brackets, pale or open bars, repeats or labels of a curve's points are missing,
    which slides can add. `ticks` and `x_ticks` are the ticks of the drawing's left axis and of its x axis, from one end
    to the other. Bars of a `flat` chart are horizontal.
    """

    heading: str
    x_title: str
    left: str
    right: str
    series: tuple[NativeSeries, ...]
    categories: tuple[str, ...] = ()
    log_x: bool = False
    log_left: bool = False
    log_right: bool = False
    whole: bool = True
    on_slides: bool = True
    ticks: tuple[float, ...] = ()
    x_ticks: tuple[float, ...] = ()
    flat: bool = False
    x_name: str = ""
