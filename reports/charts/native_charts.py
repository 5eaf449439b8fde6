"""Makes charts for office programs from a figure's charts, as far as such programs can draw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from benchbrief.reports.charts.chart import Chart, ChartPoint, Trace
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries

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
    """Return a figure's panels as charts for office programs."""
    return tuple(map(_native, charts))


def _native(chart: Chart) -> NativeChart:
    categories = chart.x.categories if chart.x.kind == "category" else ()
    measured = (point.y for trace in chart.traces if not trace.ideal for point in trace.points)
    highest = max((value for value in measured if value is not None), default=0.0)
    shown = [trace for trace in chart.traces if _is_near(trace, highest)]
    made = [(trace, _series(trace, chart, len(categories))) for trace in shown]
    brackets = any(trace.mark == "bracket" for trace in shown)
    is_plain = not chart.notes and all(s and _is_plain(t) for t, s in made if t.mark != "bracket")
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
        whole=is_plain and not brackets,
        lacks_brackets=is_plain and brackets,
    )


def _is_near(trace: Trace, highest: float) -> bool:
    """Return whether a trace lies near the measured values. A rule always counts as near; an ideal may be far above
    them."""
    return not trace.ideal or trace.mark == "rule" or any(point.y and point.y <= highest for point in trace.points)


def _is_plain(trace: Trace) -> bool:
    """Return whether a trace has only values and their intervals, which an office program can draw."""
    if trace.mark == "range":
        return False
    special = (p.hollow or p.late or p.upright or p.end is not None or p.worse for p in trace.points)
    return not trace.refused and not any(special)


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
    )


def _labels(trace: Trace, points: Iterable[ChartPoint]) -> tuple[str, ...]:
    if trace.mark == "bracket" and trace.over_all:
        return tuple(point.label for point in trace.points if point.label)[:1]
    return tuple(point.label if trace.mark == "bracket" else point.text for point in points)


def _level(trace: Trace, chart: Chart, categories: int) -> Iterator[ChartPoint]:
    """Yield the points of a rule across a chart. A rule that rises from the x axis has none."""
    if any(point.upright or point.y is None for point in trace.points):
        return
    others = [point.x for each in chart.traces if each.mark != "rule" for point in each.points]
    ends = range(categories) if categories else dict.fromkeys((min(others), max(others))) if others else ()
    for point in trace.points[:1]:
        yield from (ChartPoint(float(x), point.y) for x in ends)
