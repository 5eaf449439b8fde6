"""Writes the numbers and names of a chart on a slide: values at bars and at the ends of lines, names of levels, and
labels of points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pptx.enum.chart import XL_LABEL_POSITION
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.reports.charts.chart import INK, PAPER, Box, Label, Place, covers_line, place_labels, text_width
from benchbrief.reports.charts.chart_layout import darken_for_text
from benchbrief.reports.charts.chart_texts import apart
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.slide_axes import Plot
from benchbrief.reports.office.slide_bars import Bars
from benchbrief.reports.office.slide_chart_data import are_written_alike, end_format, finite, label_format
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.text_fit import BOLDER
from benchbrief.reports.text.html_markup import writable

LABEL, _READABLE = 1.5, 3.0
"""The height of a number at a bar as a multiple of its type size, and the least contrast of a number within a bar."""
_MOST_ENDS, _BESIDE, _APART_BY = 3, 9.0, 1.15
"""The most lines that have values written beside their ends, the space between a point and its value, and the distance
between two values in multiples of their type size."""
_MOST_NAMED, _NAME_SHARE = 3, 0.2
"""The largest number of levels that are named at their ends, and the largest share of a chart's width for a name."""
_CORE = 0.7
"""The share of a number's size, around its middle, that must not cover a line."""
_ASIDE, _TOGETHER = 3.0, 40.0
"""The distance from the line for values that are moved up or down, and the distance below which neighbouring points of
several curves share one label."""
_RIGHT, _LEFT = Place(9, 0, "left"), Place(-9, 0, "right")
_OVER_AND_UNDER = (Place(0, -11, "center"), Place(0, 12, "center"))
_SIDES = {
    _OVER_AND_UNDER[0]: XL_LABEL_POSITION.ABOVE,
    _RIGHT: XL_LABEL_POSITION.RIGHT,
    _LEFT: XL_LABEL_POSITION.LEFT,
    _OVER_AND_UNDER[1]: XL_LABEL_POSITION.BELOW,
}
"""The positions beside a point at which office programs can put its label."""
_PAPER = '<c:spPr {}><a:solidFill><a:srgbClr val="{}"/></a:solidFill></c:spPr>'


def label_bars(made: Any, bars: Bars, area: Area, points: float, ink: str) -> None:
    """Write the values at the ends of the bars, or within the bars if a line would otherwise go through the numbers, or
    at their feet if the bars have rings of repeats, because a number above these would be read at its height. On our
    own slides, no line of the chart goes through a number that is no wider than its bar."""
    chart, plot = bars.chart, made.plots[0]
    levels = [level for series in chart.series if series.is_level for level in known_values(series.values)[:1]]
    high = (bars.plot.scales.y.high - bars.plot.scales.y.low) * points * LABEL / bars.plot.area.height
    values = [value for series in bars.series for value in known_values(series.values)]
    crossed = any(value - high / 4 < level < value + high for value in values for level in levels)
    inside = crossed and all(value > high for value in values)
    usual = XL_LABEL_POSITION.INSIDE_END if inside else XL_LABEL_POSITION.OUTSIDE_END
    texts = [text for series in bars.series for text in series.labels]
    are_narrow = all(text_width(text, points) * BOLDER < bars.wide for text in texts)
    for at, (series, of) in enumerate(zip(bars.series, plot.series, strict=False)):
        own = replace(chart, series=(series,))
        labels, form, is_alike = of.data_labels, label_format(own), are_written_alike(own)
        labels.show_value = True
        labels.font.size, labels.font.bold = Pt(points), points > LEAST_PT
        labels.number_format, labels.number_format_is_linked = form, False
        labels.position = usual
        if inside:
            labels.font.color.rgb = _ink_within(series)
        elif ink and are_narrow and not any(series.repeats):
            put_on_paper(labels)
        for place, text in enumerate(series.labels):
            if not text:
                continue
            repeats = series.repeats[place] if series.repeats else ()
            lowest = min(known_values((*repeats, series.values[place])), default=0.0)
            at_foot = bool(repeats) and are_narrow and lowest > high
            rise = 0.0 if inside or at_foot else bars.rise(at, place)
            if is_alike and not rise and not at_foot:
                continue
            label = of.points[place].data_label
            if is_alike:
                label.font.size, label.font.bold = Pt(points), points > LEAST_PT
                _set_format(label, form)
            else:
                write(label, text, points)
            label.position = XL_LABEL_POSITION.INSIDE_BASE if at_foot else usual
            if inside or at_foot:
                label.font.color.rgb = _ink_within(series)
            _shift(label._dLbl, 0.0, -rise / area.height)


def _set_format(label: Any, form: str) -> None:
    own = parse_xml(f'<c:numFmt {nsdecls("c")} sourceLinked="0"/>')
    own.set("formatCode", form)
    label._dLbl.find(qn("c:idx")).addnext(own)


def _ink_within(series: NativeSeries) -> Any:
    """Return the colour of numbers within a series' bars."""
    return rgb(INK if series.is_pale or contrast_on_white(series.colour) < _READABLE else PAPER)


def put_on_paper(labels: Any) -> None:
    """Give numbers a white ground that is hardly wider than they are. Set the format of the numbers first."""
    labels._element.find(qn("c:numFmt")).addnext(parse_xml(_PAPER.format(nsdecls("c", "a"), PAPER.lstrip("#"))))
    for side in ("lIns", "rIns", "tIns", "bIns"):
        labels._element.find(qn("c:txPr")).bodyPr.set(side, "12700")


def write(label: Any, text: str, points: float) -> None:
    """Give a point a text in place of its value."""
    label.text_frame.text = writable(text)
    font = label.text_frame.paragraphs[0].runs[0].font
    font.size, font.bold = Pt(points), points > LEAST_PT


def known_values(values: Iterable[float | None]) -> list[float]:
    return [value for value in map(finite, values) if value is not None]


def room_beside(chart: NativeChart, width: float, points: float, *, ends: bool) -> tuple[float, float]:
    """Return two widths to keep free at the right of a chart: one for the names of levels, and one for the values
    beside the last points."""
    names = (text_width(each.name, points) + _BESIDE for each in named_levels(chart, width, points))
    lines = [chart.series[at] for at in _labelled_lines(chart)] if ends else []
    values = (_widest_end(each, points) for each in lines)
    return max(names, default=0.0), max(values, default=0.0)


def _labelled_lines(chart: NativeChart) -> list[int]:
    """Return the indexes of the lines that have values at their ends, or nothing if there are too many lines."""
    lines = {at: series for at, series in enumerate(chart.series) if not series.dashed}
    known = all(series.mark == "line" and finite(series.values[-1]) is not None for series in lines.values())
    return [*lines] if known and len(lines) <= _MOST_ENDS and not any(any(s.keys) for s in lines.values()) else []


def _widest_end(series: NativeSeries, points: float) -> float:
    """Return the room that the value at the end of a line needs, beside its point."""
    return max(text_width(series.labels[at], points) for at in (0, -1)) * BOLDER + 2 * _BESIDE


def label_ends(made: Any, chart: NativeChart, plot: Plot, area: Area, points: float) -> None:
    """Write the last value of each line to the right of its point, and the first value to the left. If there is too
    little room at the left, the first values are above or below their points, or left out if one of them would cover a
    line. Values that are too close to each other are moved apart."""
    lines = _labelled_lines(chart)
    if not plot.scales.x or not lines:
        return
    drawn = {at: _points(plot, chart.series[at]) for at in lines}
    for place, side in ((-1, _RIGHT), (0, _LEFT)):
        known = [at for at in lines if finite(chart.series[at].values[place]) is not None]
        labels = [Label(chart.series[at].labels[place], *drawn[at][place]) for at in known]
        ys = [label.y - plot.area.top for label in labels]
        tops = apart(ys, points * _APART_BY, plot.area.height)
        shifts = [0.0 if top is None else top - y for top, y in zip(tops, ys, strict=True)]
        sides: Sequence[Place | None] = [side] * len(labels)
        widest = max((_widest_end(chart.series[at], points) for at in lines), default=0.0)
        if place == 0 and any(label.x - plot.area.left < widest for label in labels):
            higher = replace(plot.area, top=plot.area.top - points, height=plot.area.height + points)
            found = place_labels(labels, points, _box(higher), [*drawn.values()], _OVER_AND_UNDER)
            readable = all(
                own
                and label.y + own.dy + points / 2 < plot.area.bottom
                and not covers_line(label, own, points * _CORE, drawn.values())
                for label, own in zip(labels, found, strict=True)
            )
            sides = found if readable else [None] * len(labels)
            shifts = [0.0] * len(labels)
        for at, own, shift in zip(known, sides, shifts, strict=True):
            if own is None:
                continue
            series, points_of = chart.series[at], made.plots[0].series[at].points
            label = points_of[len(points_of) - 1 if place else 0].data_label
            label.font.size, label.font.bold = Pt(points), True
            label.font.color.rgb = rgb(darken_for_text(series.colour))
            label.position = _SIDES[own]
            _set_format(label, end_format(chart, series, place))
            if any(shifts):
                _shift(label._dLbl, math.copysign(_ASIDE, own.dx) / area.width, shift / area.height)


def _points(plot: Plot, series: NativeSeries) -> list[tuple[float, float]]:
    """Return where the points of a line lie, without gaps."""
    xs = series.xs or tuple(map(float, range(len(series.values))))
    return [(plot.x(x), plot.y(y)) for x, y in zip(xs, map(finite, series.values), strict=True) if y is not None]


def _box(area: Area) -> Box:
    return Box(area.left, area.top, area.left + area.width, area.bottom)


def _shift(label: Any, right: float, down: float) -> None:
    """Move a label from its usual position by shares of its chart's width and height."""
    if right or down:
        layout = f'<c:manualLayout><c:x val="{round(right, 6)}"/><c:y val="{round(down, 6)}"/></c:manualLayout>'
        label.find(qn("c:idx")).addnext(parse_xml(f"<c:layout {nsdecls('c')}>{layout}</c:layout>"))
        for lines in label.getparent().findall(qn("c:showLeaderLines")):  # which LibreOffice would draw
            lines.set("val", "0")


def named_levels(chart: NativeChart, width: float, points: float) -> list[NativeSeries]:
    """Return the levels that have their names at their ends. The key has the names of all others."""
    levels = [each for each in chart.series if each.is_level and known_values(each.values)]
    short = all(text_width(each.name, points) < width * _NAME_SHARE for each in levels)
    return levels if short and len(levels) <= _MOST_NAMED and not chart.heading else []


def name_levels(made: Any, chart: NativeChart, plot: Plot, area: Area, points: float) -> None:
    """Write the names of levels to the right of the chart, at their ends."""
    named = named_levels(chart, area.width, points)
    drawn = {series.name: series for each in made.plots for series in each.series}
    known = [level for level in named if level.name in drawn]
    places = [plot.y(known_values(level.values)[-1]) for level in known]
    tops = apart([y - plot.area.top for y in places], points * _APART_BY, plot.area.height)
    for level, y, top in zip(known, places, tops, strict=True):
        last = len(level.values) - 1
        label = drawn[level.name].points[last].data_label
        label.font.size, label.position = Pt(points), XL_LABEL_POSITION.RIGHT
        label.font.color.rgb = rgb(darken_for_text(level.colour))
        own = label._dLbl
        own.find(qn("c:txPr")).bodyPr.set("wrap", "none")
        own.find(qn("c:showVal")).set("val", "0")
        own.find(qn("c:showSerName")).set("val", "1")
        at = level.xs[last] if level.xs else float(last)
        edge = plot.area.left + plot.area.width - plot.x(at)
        _shift(own, edge / area.width, ((top or 0.0) + plot.area.top - y) / area.height)


def label_keys(made: Any, chart: NativeChart, plot: Plot, points: float) -> None:
    """Write the labels of curves' points beside them. If all curves have the same labels, only the first and last
    points have theirs, and points that are near each other share one. A label without room is left out."""
    curves = [(at, series) for at, series in enumerate(chart.series) if any(series.keys)]
    if not plot.scales.x or not curves:
        return
    known = {
        at: [key for key, y in zip(each.keys, map(finite, each.values), strict=True) if y is not None]
        for at, each in curves
    }
    lines = {at: _points(plot, series) for at, series in curves}
    alike = len(curves) > 1 and len({series.keys for _, series in curves}) == 1
    shown: list[tuple[int, int]] = []
    for at, line in lines.items():
        for place, point in enumerate(line):
            near = (
                known[other][index] == known[at][place] and math.dist(lines[other][index], point) < _TOGETHER
                for other, index in shown
            )
            if not alike or (place in (0, len(line) - 1) and not any(near)):
                shown.append((at, place))
    labels = [Label(known[at][place], *lines[at][place]) for at, place in shown]
    found = place_labels(labels, points, _box(plot.area), [*lines.values()], tuple(_SIDES))
    for (at, place), text, side in zip(shown, labels, found, strict=True):
        if not side or not text.text:
            continue
        label = made.plots[0].series[at].points[place].data_label
        label.text_frame.text = writable(text.text)
        font = label.text_frame.paragraphs[0].runs[0].font
        font.size, font.color.rgb = Pt(points), rgb(darken_for_text(chart.series[at].colour))
        label.position = _SIDES[side]
