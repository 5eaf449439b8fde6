"""Draws horizontal bars, one below the other, for categories with names too long to fit below upright bars."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.bar_marks import ink_within, stands_at_foot
from benchbrief.reports.charts.chart import INK, SOFT, TEXT, ChartPoint, Trace, text_width
from benchbrief.reports.charts.chart_layout import ARROW, LINE, ChartText, Plot, darken_for_text, shorten

Rectangle = tuple[float, float, float, float]
"""The left, top, right and bottom edges, in pixels."""
_FLOATING, _FROM_LEVEL = 28.0, 8.0
"""The largest height of a floating bar, and the space between a level and its name."""


def rectangles(plot: Plot, trace: Trace) -> Iterator[tuple[ChartPoint, Rectangle]]:
    """Yield the bar of each measured point. The bar of a range with equal ends is a line."""
    value = plot.y_pixel(trace)
    for point in (p for p in trace.points if p.y is not None):
        top, bottom = plot.bar(trace, point.x)
        left, right = sorted((value(point.y or 0.0), value(0.0 if point.end is None else point.end)))
        if trace.mark == "range":
            middle, half = (top + bottom) / 2, min(_FLOATING, bottom - top) / 2
            top, bottom = middle - half, middle + half
            if right - left < 3:
                left, right = (left + right) / 2 - 1.5, (left + right) / 2 + 1.5
        yield point, (left, top, right, bottom)


@dataclass(frozen=True)
class FlatBracket:
    """A bracket to the right of bars, from the middle of the first bar to the middle of the last."""

    trace: Trace
    point: ChartPoint
    x: float
    top: float
    bottom: float


def flat_brackets(plot: Plot) -> Iterator[FlatBracket]:
    x = plot.width + plot.right - 12 - sum(16 + plot.widest_label(t) for t in plot.chart.traces if t.mark == "bracket")
    for trace in (t for t in plot.chart.traces if t.mark == "bracket"):
        x += 8
        for point in (p for p in trace.points if p.label):
            bars = [
                plot.bar(one, p.x)
                for one in plot.in_slots
                for p in one.points
                if p.y is not None and (trace.over_all or p.x == point.x)
            ]
            middles = [(first + last) / 2 for first, last in bars]
            if middles:
                yield FlatBracket(trace, point, x, min(middles), max(middles))
        x += 8 + plot.widest_label(trace)


def _level_name(plot: Plot, trace: Trace, series: int, at: float) -> ChartText:
    """Return the name at the top of a level. It is to the right of the level if there is room, or else on the side with
    more room."""
    right, left = plot.width + plot.right - at - _FROM_LEVEL, plot.left + at - _FROM_LEVEL
    is_right = right >= min(left, text_width(trace.name, TEXT))
    name, ink = shorten(trace.name, right if is_right else left), darken_for_text(trace.paint)
    return ChartText(
        name,
        at + (_FROM_LEVEL if is_right else -_FROM_LEVEL),
        -LINE / 2,
        "left" if is_right else "right",
        ink,
        series=series,
    )


def flat_texts(plot: Plot) -> Iterator[ChartText]:
    """Yield the names of the categories, the numbers of the axis, and the numbers at bars and brackets."""
    for index, lines in enumerate(plot.flat_names()):
        middle = plot.height / len(plot.chart.x.categories) * (index + 0.5)
        for row, line in enumerate(lines):
            yield ChartText(line, -8, middle + 13 * (row - (len(lines) - 1) / 2), "right", SOFT)
    value, size = plot.y_pixel(plot.in_slots[0]), plot.flat_size
    for tick, label in zip(plot.y.values, plot.y.labels(), strict=True):
        yield ChartText(label, value(tick), plot.height + 12, "center", SOFT)
    for series, trace in enumerate(plot.chart.traces):
        if trace.mark == "rule" and trace.points[0].y is not None:
            yield _level_name(plot, trace, series, value(trace.points[0].y))
        if trace.stands_in_slot and plot.flat_numbers:
            known = [text for text, p in zip(plot.flat_texts_of(trace), trace.points, strict=True) if p.y is not None]
            for text, (point, (left, top, right, bottom)) in zip(known, rectangles(plot, trace), strict=True):
                below_zero = point.y is not None and point.y < 0 and point.end is None
                gap = 4 + ARROW * point.is_open
                x, align = (left - gap, "right") if below_zero else (right + gap, "left")
                if below_zero and left - 4 < text_width(text, size):
                    x, align = right + 4, "left"
                ink, room = INK, text_width(text, size) + 8
                if point.spread and stands_at_foot(
                    right - left, [abs(value(v) - value(0.0)) for v in point.spread], room
                ):
                    ink, x, align = (
                        ink_within(trace, point),
                        value(0.0) + (-4 if below_zero else 4),
                        "right" if below_zero else "left",
                    )
                elif point.spread:
                    end = value(min(point.extent) if below_zero else max(point.extent))
                    x = end - 7 if align == "right" else max(x, end + 7)
                yield ChartText(text, x, (top + bottom) / 2, align, ink, size, series=series, inside=ink == INK)
    for each in flat_brackets(plot):
        middle = (each.top + each.bottom) / 2
        yield ChartText(each.point.label, each.x + 5, middle, "left", INK, TEXT, bold=True)
