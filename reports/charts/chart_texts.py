"""Places the texts in and around a chart's plot area: names along the axes, and numbers and labels at the marks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from benchbrief.reports.charts import chart as chart_axes
from benchbrief.reports.charts.arrow_labels import ArrowLabel, arrow_labels
from benchbrief.reports.charts.bar_marks import brackets, numbers_at_bars
from benchbrief.reports.charts.chart import INK, SMALL, SOFT, Box, Trace
from benchbrief.reports.charts.chart_layout import (
    LINE,
    ChartText,
    Plot,
    axis_titles,
    darken_for_text,
    heading_lines,
    legend_texts,
)
from benchbrief.reports.charts.flat_bars import flat_texts

_TOGETHER = 18.0
"""The distance in pixels below which points of several curves share one label."""


def texts(plot: Plot) -> list[ChartText]:
    """Return all texts of a chart, including labels with arrows."""
    return texts_and_labels(plot)[0]


def texts_and_labels(plot: Plot) -> tuple[list[ChartText], list[ArrowLabel]]:
    chart = plot.chart
    found = [] if plot.frame else axis_titles(chart, plot.outer_width, -plot.left, -15 - plot.headroom - plot.above)
    if plot.flat:
        return [*found, *legend_texts(plot.legend), *flat_texts(plot)], []
    if chart.heading:
        lines = heading_lines(chart.heading, plot.width)
        for above, line in enumerate(reversed(lines)):
            found.append(ChartText(line, 0, -13 - plot.headroom - LINE * above, "left", INK, bold=True))
    if chart.x.written_title and not plot.frame:
        found.append(ChartText(chart.x.written_title, plot.width / 2, plot.height + plot.bottom - 7, "center", SOFT))
    x = plot.x_pixel()
    if names := plot.names_of_bars:
        below = [(sum(plot.bar(trace, 0)) / 2, lines) for trace, lines in zip(plot.in_slots, names, strict=True)]
    else:
        below = [(x(index), lines) for index, lines in enumerate(plot.wrapped_categories())]
    for middle, lines_of_label in below:
        for row, line in enumerate(lines_of_label):
            found.append(ChartText(line, middle, plot.height + plot.foot + 13 + 13 * row, "center", SOFT))
    found += legend_texts(plot.legend)
    for series, trace in enumerate(chart.traces) if plot.direct else ():
        end = trace.points[-1]
        if end.y is not None:
            at = plot.width if trace.mark == "rule" else x(end.x) + 3
            y = plot.y_pixel(trace)(end.y)
            found.append(
                ChartText(trace.name, at + 5, y, "left", darken_for_text(trace.paint), bold=True, series=series)
            )
    if level := plot.named_at_end:
        y, series = plot.y_pixel(level)(level.points[0].y or 0.0), chart.traces.index(level)
        ink = darken_for_text(level.paint)
        found.append(ChartText(level.name, plot.width + 5, y, "left", ink, SMALL, series=series))
    among = [
        *_point_labels(plot),
        *_ends_of_slopes(plot),
        *numbers_at_bars(plot),
        *(each.text for each in brackets(plot)),
    ]
    found += [replace(text, inside=not text.within) for text in among]
    labels = arrow_labels(plot, found)
    return [*found, *(line for label in labels for line in label.lines)], labels


def _ends_of_slopes(plot: Plot) -> Iterator[ChartText]:
    """Yield the values at both ends of slopes, moved apart if they are too close."""
    slopes = [(series, t) for series, t in enumerate(plot.chart.traces) if t.mark == "slope"]
    x = plot.x_pixel()
    for end, align, beside in ((0, "right", -9.0), (-1, "left", 9.0)):
        known = [
            (series, t, points[end]) for series, t in slopes if (points := [p for p in t.points if p.y is not None])
        ]
        if end:
            known = [(series, t, p) for series, t, p in known if p.x != 0]
        places = apart([plot.y_pixel(t)(p.y or 0.0) for _, t, p in known], 12.0, plot.height)
        for (series, trace, point), y in zip(known, places, strict=True):
            if y is not None:
                color = darken_for_text(trace.paint)
                yield ChartText(point.text, x(point.x) + beside, y, align, color, SMALL, series=series)


def apart(places: Sequence[float], gap: float, height: float) -> list[float | None]:
    """Return positions at least `gap` apart, near the given ones and between 0 and `height`. A position is None if
    there is no room for it."""
    order = sorted(range(len(places)), key=places.__getitem__)
    order = order[: int(height / gap) + 1]
    found: list[float | None] = [None] * len(places)
    low = 0.0
    for rank, i in enumerate(order):
        left = len(order) - 1 - rank
        found[i] = low = min(max(places[i], low), height - gap * left)
        low += gap
    return found


def _point_labels(plot: Plot) -> list[ChartText]:
    """Return the labels of curves' points: those of both ends of each curve, and those between them that cover no
    curve. If all curves have the same points, only one of them has labels at its ends."""
    curves = [(series, t) for series, t in enumerate(plot.chart.traces) if t.mark == "curve"]
    x = plot.x_pixel()
    lines, ends, between = [], [], []
    for series, trace in curves:
        y = plot.y_pixel(trace)
        shown = [(p, x(p.x), y(p.y)) for p in trace.points if p.y is not None]
        lines.append([(px, py) for _, px, py in shown])
        named = [(series, trace, p.label, px, py) for p, px, py in shown if p.label]
        ends += named if len(named) < 2 else [named[0], named[-1]]
        between += named[1:-1]
    area = Box(-4, -4, plot.width + plot.right, plot.height)
    if chart_axes.share_their_points(plot.chart.sharing):
        return _ends_of_one(ends, lines, area)
    labels = [*_shared(ends), *_shared(between, needed=len(lines) == 1)]
    places = chart_axes.place_labels([label for label, _, _ in labels], SMALL, area, lines)
    return [
        ChartText(label.text, label.x + place.dx, label.y + place.dy, place.align, color, SMALL, series=series)
        for (label, color, series), place in zip(labels, places, strict=True)
        if place is not None
    ]


def _ends_of_one(
    ends: Sequence[tuple[int, Trace, str, float, float]], lines: Sequence[Sequence[tuple[float, float]]], area: Box
) -> list[ChartText]:
    """Return the labels at both ends of the curve at which they cover the fewest lines, or none if there is no room for
    both at any curve."""
    found: list[tuple[int, list[ChartText]]] = []
    for series in dict.fromkeys(one[0] for one in ends):
        labels = [chart_axes.Label(text, x, y) for of, _, text, x, y in ends if of == series]
        places = chart_axes.place_labels(labels, SMALL, area, lines)
        placed = [(label, place) for label, place in zip(labels, places, strict=True) if place is not None]
        if len(placed) == len(labels):
            covered = sum(chart_axes.covers_line(label, place, SMALL, lines) for label, place in placed)
            texts_of = [
                ChartText(label.text, label.x + place.dx, label.y + place.dy, place.align, SOFT, SMALL)
                for label, place in placed
            ]
            found.append((covered, texts_of))
    return min(found, key=lambda each: each[0], default=(0, []))[1]


def _shared(
    named: Iterable[tuple[int, Trace, str, float, float]], *, needed: bool = True
) -> Iterator[tuple[chart_axes.Label, str, int | None]]:
    """Yield the label of each point, with its colour and series. Neighbouring points of several curves share
    a label."""
    groups: list[list[tuple[int, Trace, str, float, float]]] = []
    for one in named:
        near = (
            g for g in groups if g[0][2] == one[2] and all(math.dist(one[3:], other[3:]) < _TOGETHER for other in g)
        )
        if group := next(near, None):
            group.append(one)
        else:
            groups.append([one])
    for group in groups:
        series, trace, text, x, y = group[0]
        if len(group) > 1:
            x, y = statistics.fmean(one[3] for one in group), statistics.fmean(one[4] for one in group)
            yield chart_axes.Label(text, x, y, needed), INK, None
        else:
            yield chart_axes.Label(text, x, y, needed), darken_for_text(trace.paint), series
