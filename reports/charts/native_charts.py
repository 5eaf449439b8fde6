"""Turns a figure's charts into charts for office programs, as far as such programs can draw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from benchbrief.reports.charts.chart import Chart, ChartPoint, Trace
from benchbrief.reports.charts.chart_layout import Plot, arrange
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries

_WIDTH, _HEIGHT = 657.0, 300.0
"""The size in pixels of the drawing for which ticks are chosen."""
_MARKS: Mapping[str, Literal["bar", "line", "range", "bracket"]] = {
    "bar": "bar",
    "line": "line",
    "curve": "line",
    "slope": "line",
    "rule": "line",
    "range": "range",
    "bracket": "bracket",
}


def native_charts(charts: Iterable[Chart]) -> tuple[NativeChart, ...]:
    """Return each panel of a figure as a chart for office programs. Its `whole` says whether it shows everything that
    the figure's own drawing shows."""
    made = tuple(charts)
    panels = arrange(made, _WIDTH, _HEIGHT) if made else ()
    return tuple(_native(chart, panel.plot) for chart, panel in zip(made, panels, strict=True))


def _native(chart: Chart, plot: Plot) -> NativeChart:
    categories = chart.x.categories if chart.x.kind == "category" else ()
    measured = (point.y for trace in chart.traces if not trace.ideal for point in trace.points)
    highest = max((value for value in measured if value is not None), default=0.0)
    shown = [trace for trace in chart.traces if _is_near(trace, highest)]
    made = [(trace, _series(trace, chart, len(categories))) for trace in shown]
    on_slides = not chart.notes and all(
        series and _is_plain(trace, categories) for trace, series in made if trace.mark != "bracket"
    )
    has_more = any(
        series
        and (series.mark in ("bracket", "range") or series.is_pale or series.worse or series.open or series.repeats)
        for _, series in made
    )
    return NativeChart(
        heading=chart.heading,
        x_title=chart.x.written_title,
        left=chart.left_title,
        right=chart.right_title,
        series=tuple(series for _, series in made if series is not None),
        categories=categories,
        log_x=chart.x.kind == "log",
        log_left=chart.log_y,
        log_right=chart.log_y_right,
        x_name=chart.x.title,
        whole=on_slides and not has_more,
        on_slides=on_slides,
        ticks=tuple(plot.y.values),
        flat=plot.flat,
        x_ticks=() if categories or chart.x.ticks else tuple(plot.x_ticks),
    )


def _is_near(trace: Trace, highest: float) -> bool:
    """Return whether a trace lies near the measured values. A rule always counts as near. An ideal may be far above
    them."""
    return not trace.ideal or trace.mark == "rule" or any(point.y and point.y <= highest for point in trace.points)


def _is_plain(trace: Trace, categories: Sequence[str]) -> bool:
    """Return whether a slide's native chart can show all of a trace. It can't show refused rates, rates at which the
    promise was broken or the load generator was late, rules on the x axis, or ranges that are not at categories."""
    if trace.mark == "range" and not categories:
        return False
    return not trace.refused and not any(p.hollow or p.late or p.upright for p in trace.points)


def _series(trace: Trace, chart: Chart, categories: int) -> NativeSeries | None:
    """Return a trace as a series, or None for a mark on the x axis."""
    points = list(_level(trace, chart, categories)) if trace.mark == "rule" else list(trace.points)
    if not points:
        return None
    if categories:
        at = {round(point.x): point for point in points}
        points = [at.get(place, ChartPoint(float(place), None)) for place in range(categories)]
    return NativeSeries(
        name=trace.name,
        mark="points" if trace.loose else _MARKS[trace.mark],
        colour=trace.paint,
        values=tuple(point.y for point in points),
        xs=() if categories else tuple(point.x for point in points),
        low=tuple(point.low for point in points),
        high=tuple(point.high for point in points),
        ends=tuple(point.end for point in points) if trace.mark == "range" else (),
        right=trace.right,
        dashed=trace.dashed or trace.mark == "rule",
        is_ideal=trace.ideal,
        labels=_labels(trace, points),
        keys=tuple(point.label for point in points) if trace.mark == "curve" else (),
        repeats=tuple(point.repeats for point in points) if any(point.repeats for point in points) else (),
        open=tuple(point.is_open for point in points) if any(point.is_open for point in points) else (),
        worse=tuple(point.worse for point in points) if any(point.worse for point in points) else (),
    )


def _labels(trace: Trace, points: Iterable[ChartPoint]) -> tuple[str, ...]:
    if trace.mark == "bracket" and trace.over_all:
        return tuple(point.label for point in trace.points if point.label)[:1]
    return tuple(point.label if trace.mark in ("bracket", "range") else point.text for point in points)


def _level(trace: Trace, chart: Chart, categories: int) -> Iterator[ChartPoint]:
    """Yield the points of a rule across a chart. A rule that rises from the x axis yields no points."""
    if any(point.upright or point.y is None for point in trace.points):
        return
    others = [point.x for each in chart.traces if each.mark != "rule" for point in each.points]
    ends = range(categories) if categories else dict.fromkeys((min(others), max(others))) if others else ()
    for point in trace.points[:1]:
        yield from (ChartPoint(float(x), point.y) for x in ends)
