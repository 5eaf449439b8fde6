"""Draws the marks of a chart on a slide: its bars, lines and markers with their numbers, ranges, levels, intervals and
brackets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from pptx.enum.chart import XL_LABEL_POSITION, XL_MARKER_STYLE
from pptx.enum.dml import MSO_LINE
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import PP_ALIGN
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, PAPER, SOFT, Box, Label, Place, covers_line, place_labels, text_width
from benchbrief.reports.charts.chart_layout import darken_for_text
from benchbrief.reports.charts.chart_texts import apart
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_axes import Plot
from benchbrief.reports.office.slide_chart_data import are_written_alike, end_format, finite, label_format, ranges_of
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_text
from benchbrief.reports.office.text_fit import BOLDER
from benchbrief.reports.text.html_markup import writable

APART, BRACKET, _BRACKET_PT = 5, 22.0, 14.0
"""The space between bars in hundredths of a bar, the height of a bracket with its number, and the type size of the
number."""
_KEY_BRACKET, _FEET = 22.0, 5.0
"""The width of a bracket in a key, and the height of a bracket's feet."""
_OVER_NUMBER, _OVER_BAR = 1.7, 3.0
"""The space between a bar and a bracket's feet: with a number at the bar, a multiple of the number's type size, or else
in points."""
_WIDEST, _MOST_GAP = 96.0, 500
"""The largest width of a bar, because wide bars look like slabs, and the largest gap that programs draw."""
_MOST_ENDS, _BESIDE, _APART_BY = 3, 9.0, 1.15
"""The most lines that have values written beside their ends, the space between a point and its value, and the distance
between two values in multiples of their type size."""
_MOST_NAMED, _NAME_SHARE = 3, 0.2
"""The most levels that have their names at their ends, and the largest share of a chart's width that a name takes."""
_RING, _RING_INSET = 7.0, 8.0
"""The size of the ring of a repeat, and its distance from the right edge of a bar."""
_LABEL, _READABLE = 1.5, 3.0
"""The height of a number at a bar as a multiple of its type size, and the least contrast of a number within a bar."""
_ASIDE, _TOGETHER = 3.0, 40.0
"""The distance by which values that are moved up or down are moved away from the line, and the distance between points
of several curves below which they share one label."""
_RIGHT, _LEFT = Place(9, 0, "left"), Place(-9, 0, "right")
_OVER_AND_UNDER = (Place(0, -11, "center"), Place(0, 12, "center"))
_SIDES = {
    _OVER_AND_UNDER[0]: XL_LABEL_POSITION.ABOVE,
    _RIGHT: XL_LABEL_POSITION.RIGHT,
    _LEFT: XL_LABEL_POSITION.LEFT,
    _OVER_AND_UNDER[1]: XL_LABEL_POSITION.BELOW,
}
"""The places of a label beside its point that office programs know."""
_LINES = '<c:lineChart {}><c:grouping val="standard"/><c:varyColors val="0"/><c:marker val="1"/></c:lineChart>'
_PAPER = '<c:spPr {}><a:solidFill><a:srgbClr val="{}"/></a:solidFill></c:spPr>'
_MARKERS = (XL_MARKER_STYLE.CIRCLE, XL_MARKER_STYLE.SQUARE, XL_MARKER_STYLE.TRIANGLE, XL_MARKER_STYLE.DIAMOND)


@dataclass(frozen=True)
class Bars:
    """The places of a chart's bars. Each slot has one bar for each series, side by side."""

    chart: NativeChart
    plot: Plot
    gap: int
    """The space between two groups of bars, in hundredths of a bar."""

    @property
    def series(self) -> list[NativeSeries]:
        return [each for each in self.chart.series if each.mark == "bar" and not each.is_level]

    @property
    def slot(self) -> float:
        return self.plot.area.width / len(self.chart.categories)

    @property
    def wide(self) -> float:
        return self.slot / (len(self.series) + (len(self.series) - 1) * APART / 100 + self.gap / 100)

    def ends_in(self, place: int) -> list[tuple[float, float]]:
        """Return the middle and the end of each bar in a slot."""
        values = [(at, finite(series.values[place])) for at, series in enumerate(self.series)]
        return [(self.middle(place, at), self.plot.y(value)) for at, value in values if value is not None]

    def middle(self, place: int, series: int) -> float:
        """Return the middle of a series' bar in a slot."""
        first = self.plot.area.left + place * self.slot + self.wide * self.gap / 200
        return first + self.wide * (series * (1 + APART / 100) + 0.5)


def gap_of(chart: NativeChart, width: float, *, narrow: bool) -> int:
    """Return the gap between two groups of bars in a plot of this width, in hundredths of a bar."""
    least = 30 if narrow else {1: 150, 2: 100}.get(len(chart.categories), 70)
    bars = sum(series.mark == "bar" for series in chart.series)
    return max(least, min(_MOST_GAP, round(100 * (width / len(chart.categories) / _WIDEST - bars))))


def room_over_bars(points: float, brackets: int, *, labelled: bool) -> float:
    """Return the space that the numbers at bars and the brackets over them need above the highest bar."""
    if not brackets:
        return points * _LABEL * labelled
    return (points * _OVER_NUMBER if labelled else _OVER_BAR) + _FEET + BRACKET * brackets


def set_look(drawn: Any, series: NativeSeries, place: int) -> None:
    colour = rgb(series.colour)
    if series.mark == "bar":
        _fill(drawn, series)
        drawn.invert_if_negative = False
        if series.is_pale:
            return
        for place_of, is_worse in enumerate(series.worse):
            if is_worse:
                _pale(drawn.points[place_of], series.colour)
        return
    drawn.smooth = False
    line = drawn.format.line
    if series.mark == "points":
        line.fill.background()
    else:
        line.color.rgb, line.width = colour, Pt(1.5 if series.dashed else 2.25)
    if series.dashed:
        line.dash_style = MSO_LINE.DASH
        drawn.marker.style = XL_MARKER_STYLE.NONE
        return
    drawn.marker.style, drawn.marker.size = _MARKERS[place % len(_MARKERS)], 7
    drawn.marker.format.fill.solid()
    drawn.marker.format.fill.fore_color.rgb = colour
    drawn.marker.format.line.color.rgb = colour


def _fill(drawn: Any, series: NativeSeries) -> None:
    """Fill the bars of a series. Those in a broken line are pale."""
    if series.is_pale:
        _pale(drawn, series.colour)
        drawn.format.line.dash_style = MSO_LINE.DASH
        return
    drawn.format.fill.solid()
    drawn.format.fill.fore_color.rgb = rgb(series.colour)


def _pale(bars: Any, colour: str) -> None:
    """Draw the bars of a series or a point pale."""
    bars.format.fill.solid()
    bars.format.fill.fore_color.rgb = rgb(mixed(colour, 0.8))
    bars.format.line.color.rgb, bars.format.line.width = rgb(colour), Pt(1.25)


def mixed(colour: str, white: float) -> str:
    """Return a colour mixed with a share of white."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(each + (255 - each) * white):02x}" for each in channels)


def label_bars(made: Any, bars: Bars, points: float, ink: str) -> None:
    """Write the values at the ends of the bars, or within the bars if a line would otherwise go through the numbers. On
    our own slides, no line of the chart goes through a number that is no wider than its bar."""
    chart, plot = bars.chart, made.plots[0]
    levels = [level for series in chart.series if series.is_level for level in _known(series.values)[:1]]
    high = (bars.plot.scales.y.high - bars.plot.scales.y.low) * points * _LABEL / bars.plot.area.height
    values = [value for series in bars.series for value in _known(series.values)]
    crossed = any(value - high / 4 < level < value + high for value in values for level in levels)
    inside = crossed and all(value > high for value in values)
    texts = [text for series in bars.series for text in series.labels]
    plot.has_data_labels = not inside
    labelled: Iterable[tuple[NativeSeries | None, Any]] = [(None, plot)]
    for series, of in zip(bars.series, plot.series, strict=False) if inside else labelled:
        labels = of.data_labels
        labels.show_value = True
        labels.font.size = Pt(points)
        labels.font.bold = points > LEAST_PT
        labels.number_format, labels.number_format_is_linked = label_format(chart), False
        labels.position = XL_LABEL_POSITION.INSIDE_END if series else XL_LABEL_POSITION.OUTSIDE_END
        if ink and not series and all(text_width(text, points) * BOLDER < bars.wide for text in texts):
            _put_on_paper(labels)
        if series:
            light = series.is_pale or contrast_on_white(series.colour) < _READABLE
            labels.font.color.rgb = rgb(INK if light else PAPER)
    if not are_written_alike(chart):
        for series, of in zip(bars.series, plot.series, strict=False):
            for place in (place for place, text in enumerate(series.labels) if text):
                _write(of.points[place].data_label, series.labels[place], points)


def _write(label: Any, text: str, points: float) -> None:
    """Give a point a text in place of its value."""
    label.text_frame.text = writable(text)
    font = label.text_frame.paragraphs[0].runs[0].font
    font.size, font.bold = Pt(points), points > LEAST_PT


def _put_on_paper(labels: Any) -> None:
    """Give numbers, whose format is set, a white ground that is hardly wider than they are."""
    labels._element.find(qn("c:numFmt")).addnext(parse_xml(_PAPER.format(nsdecls("c", "a"), PAPER.lstrip("#"))))
    for side in ("lIns", "rIns", "tIns", "bIns"):
        labels._element.find(qn("c:txPr")).bodyPr.set(side, "12700")


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in map(finite, values) if value is not None]


def draw_ranges(made: Any, chart: NativeChart, plot: Plot, points: float, ink: str) -> None:
    """Draw ranges as bars that are stacked on bars without a fill. Invisible lines at the ends of the ranges carry the
    numbers above and below. If there is no room below, both numbers are above. On our own slides, no line of the chart
    goes through a number.
    """
    bars, lines = made.plots[0], parse_xml(_LINES.format(nsdecls("c")))
    base, *rest = bars.series
    base.format.fill.background()
    ranges = ranges_of(chart)
    for series, drawn in zip(ranges, rest, strict=False):
        drawn.format.line.color.rgb, drawn.format.line.width = rgb(series.colour), Pt(1.5)  # the least height
        _fill(drawn, series)
    low, high = list(bars.series)[1 + len(ranges) : 3 + len(ranges)]
    for drawn, side in ((low, XL_LABEL_POSITION.BELOW), (high, XL_LABEL_POSITION.ABOVE)):
        labels = drawn.data_labels
        labels.show_value, labels.position = True, side
        labels.font.size, labels.font.bold = Pt(points), points > LEAST_PT
        labels.number_format, labels.number_format_is_linked = label_format(chart), False
        if ink:
            _put_on_paper(labels)
    for place in range(len(chart.categories)):
        for at, series in enumerate(ranges):
            value, leaf = finite(series.values[place]), place * (len(ranges) + 2) + at + 1
            if value is None or plot.area.bottom - plot.y(value) >= points * _LABEL:
                continue
            label = high.points[leaf].data_label
            _write(label, series.labels[place], points)
            label.position = XL_LABEL_POSITION.ABOVE
            _hide_label(low, leaf)
    first = made._chartSpace.find(f".//{qn('c:barChart')}")
    for drawn in (low, high):
        _as_line(drawn._element, "<a:noFill/>")
        lines.insert(len(lines) - 1, drawn._element)
    for axis in first.findall(qn("c:axId")):
        lines.append(deepcopy(axis))
    first.addnext(lines)
    made.category_axis.format.line.fill.background()  # or else lines box the names of categories


def _hide_label(drawn: Any, place: int) -> None:
    hidden = f'<c:dLbl {nsdecls("c")}><c:idx val="{place}"/><c:delete val="1"/></c:dLbl>'
    labels = drawn.data_labels._element
    labels.insert(len(labels.findall(qn("c:dLbl"))), parse_xml(hidden))


def _as_line(series: Any, paint: str) -> None:
    """Turn a series of bars into a line without markers."""
    for tag in ("c:invertIfNegative", "c:spPr"):
        for old in series.findall(qn(tag)):
            series.remove(old)
    line = f'<c:spPr {nsdecls("c", "a")}><a:ln w="22225">{paint}</a:ln></c:spPr>'
    text = series.find(qn("c:tx"))
    text.addnext(parse_xml(f'<c:marker {nsdecls("c")}><c:symbol val="none"/></c:marker>'))
    text.addnext(parse_xml(line))
    series.append(parse_xml(f'<c:smooth {nsdecls("c")} val="0"/>'))


def _labelled_lines(chart: NativeChart) -> list[int]:
    """Return the indexes of the lines that have values at their ends, or nothing if there are too many lines."""
    lines = {at: series for at, series in enumerate(chart.series) if not series.dashed}
    known = all(series.mark == "line" and finite(series.values[-1]) is not None for series in lines.values())
    return [*lines] if known and len(lines) <= _MOST_ENDS and not any(any(s.keys) for s in lines.values()) else []


def room_beside(chart: NativeChart, width: float, points: float, *, ends: bool) -> tuple[float, float]:
    """Return the widths of the names to the right of a chart, and of the values to the right of its last points."""
    names = (text_width(each.name, points) + _BESIDE for each in named_levels(chart, width, points))
    lines = [chart.series[at] for at in _labelled_lines(chart)] if ends else []
    values = (_widest_end(each, points) for each in lines)
    return max(names, default=0.0), max(values, default=0.0)


def _widest_end(series: NativeSeries, points: float) -> float:
    """Return the room that the value at the end of a line needs, beside its point."""
    return max(text_width(series.labels[at], points) for at in (0, -1)) * BOLDER + 2 * _BESIDE


def label_ends(made: Any, chart: NativeChart, plot: Plot, area: Area, points: float) -> None:
    """Write the last value of each line to the right of its point, and the first value to the left. If there is too
    little room at the left, the first value is above or below its point, where it covers no line. Values that are too
    close to each other are moved apart."""
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
            found = place_labels(labels, points, _box(plot.area), [*drawn.values()], _OVER_AND_UNDER)
            sides = [
                None if own and covers_line(label, own, points, drawn.values()) else own
                for label, own in zip(labels, found, strict=True)
            ]
            shifts = [0.0] * len(labels)
        for at, own, shift in zip(known, sides, shifts, strict=True):
            if own is None:
                continue
            series, points_of = chart.series[at], made.plots[0].series[at].points
            label = points_of[len(points_of) - 1 if place else 0].data_label
            label.font.size, label.font.bold = Pt(points), True
            label.font.color.rgb = rgb(darken_for_text(series.colour))
            label.position = _SIDES[own]
            form = parse_xml(f'<c:numFmt {nsdecls("c")} sourceLinked="0"/>')
            form.set("formatCode", end_format(chart, series, place))
            label._dLbl.find(qn("c:idx")).addnext(form)
            if any(shifts):
                _shift(label._dLbl, math.copysign(_ASIDE, own.dx) / area.width, shift / area.height)


def _points(plot: Plot, series: NativeSeries) -> list[tuple[float, float]]:
    """Return where the points of a line lie, without gaps."""
    xs = series.xs or tuple(map(float, range(len(series.values))))
    return [(plot.x(x), plot.y(y)) for x, y in zip(xs, map(finite, series.values), strict=True) if y is not None]


def _box(area: Area) -> Box:
    return Box(area.left, area.top, area.left + area.width, area.bottom)


def _shift(label: Any, right: float, down: float) -> None:
    """Move a label from its usual place by shares of its chart's width and height."""
    if right or down:
        layout = f'<c:manualLayout><c:x val="{right:.6f}"/><c:y val="{down:.6f}"/></c:manualLayout>'
        label.find(qn("c:idx")).addnext(parse_xml(f"<c:layout {nsdecls('c')}>{layout}</c:layout>"))
        for lines in label.getparent().findall(qn("c:showLeaderLines")):  # which LibreOffice would draw
            lines.set("val", "0")


def named_levels(chart: NativeChart, width: float, points: float) -> list[NativeSeries]:
    """Return the levels that have their names at their ends. The key has the names of all others."""
    levels = [each for each in chart.series if each.is_level]
    short = all(text_width(each.name, points) < width * _NAME_SHARE for each in levels)
    return levels if short and len(levels) <= _MOST_NAMED and not chart.heading else []


def name_levels(made: Any, chart: NativeChart, plot: Plot, area: Area, points: float) -> None:
    """Write the names of levels to the right of the chart, at their ends."""
    named = named_levels(chart, area.width, points)
    drawn = {series.name: series for each in made.plots for series in each.series}
    known = [level for level in named if level.name in drawn]
    places = [plot.y(_known(level.values)[-1]) for level in known]
    tops = apart([y - plot.area.top for y in places], points * _APART_BY, plot.area.height)
    for level, y, top in zip(known, places, tops, strict=True):
        last = len(level.values) - 1
        label = drawn[level.name].points[last].data_label
        label.font.size, label.position = Pt(points), XL_LABEL_POSITION.RIGHT
        label.font.color.rgb = rgb(darken_for_text(level.colour))
        own = label._dLbl
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


def draw_repeats(slide: Any, bars: Bars) -> None:
    """Draw the values of a bar's repeats as small rings on the chart."""
    rings = []
    for at, series in enumerate(bars.series):
        for place, repeats in enumerate(series.repeats):
            x = bars.middle(place, at) + bars.wide / 2 - min(_RING_INSET, bars.wide / 4)
            for value in repeats:
                box = (Pt(x - _RING / 2), Pt(bars.plot.y(value) - _RING / 2), Pt(_RING), Pt(_RING))
                ring = slide.shapes.add_shape(MSO_SHAPE.OVAL, *box)
                ring.name = writable(f"{series.name} {value:,.6g}")
                ring.fill.solid()
                ring.fill.fore_color.rgb = rgb(PAPER)
                ring.line.color.rgb, ring.line.width = rgb(INK), Pt(1.25)
                ring._element.remove(ring._element.find(qn("p:style")))
                rings.append(ring)
    if rings:
        slide.shapes.add_group_shape(rings)


def draw_levels(made: Any, chart: NativeChart) -> None:
    """Draw the levels among the bars as lines from one end of the chart to the other. They are in a line chart on the
    same axes."""
    levels = [each for each in chart.series if each.is_level]
    if not levels:
        return
    bars = made._chartSpace.find(f".//{qn('c:barChart')}")
    lines = parse_xml(_LINES.format(nsdecls("c")))
    for series, own in zip(levels, bars.findall(qn("c:ser"))[-len(levels) :], strict=True):
        colour = series.colour.lstrip("#").upper()
        paint = f'<a:solidFill><a:srgbClr val="{colour}"/></a:solidFill><a:prstDash val="dash"/>'
        reaches = len(series.values) > 1
        _as_line(own, "<a:noFill/>" if reaches else paint)
        if reaches:
            trend = (
                f'<c:trendline {nsdecls("c", "a")}><c:spPr><a:ln w="22225">{paint}</a:ln></c:spPr>'
                '<c:trendlineType val="linear"/><c:forward val="0.5"/><c:backward val="0.5"/><c:dispRSqr val="0"/>'
                '<c:dispEq val="0"/></c:trendline>'
            )
            own.find(qn("c:cat")).addprevious(parse_xml(trend))
        lines.insert(len(lines) - 1, own)
    for axis in bars.findall(qn("c:axId")):
        lines.append(deepcopy(axis))
    bars.addnext(lines)


def draw_bracket(slide: Any, bracket: NativeSeries, bars: Bars, above: float, ink: str) -> None:
    """Draw a bracket with its number over the bars of each category, or over all bars. It consists of shapes on the
    chart, which end `above` the highest bar."""
    tops = [bars.ends_in(place) for place in range(len(bars.chart.categories))]
    groups = [[each for top in tops for each in top]] if len(bracket.labels) == 1 else tops
    for text, group in zip(bracket.labels, groups, strict=False):
        if not text or not group:
            continue
        left, right = min(x for x, _ in group), max(x for x, _ in group)
        y = min(y for _, y in group) - above + BRACKET
        shapes = [_add_bracket(slide, left, right, y, ink)] if right > left else []
        wide = text_width(text, _BRACKET_PT) * BOLDER + 4
        own = Area((left + right) / 2 - wide / 2, y - BRACKET + 3, wide, BRACKET - 4)
        shapes.append(_add_number(slide, text, own, ink))
        for shape in (*shapes, slide.shapes.add_group_shape(shapes)):
            shape.name = writable(f"{bracket.name} {text}")


def _add_bracket(slide: Any, left: float, right: float, top: float, ink: str) -> Any:
    line = slide.shapes.build_freeform(Pt(left), Pt(top + _FEET))
    ends = ((left, top), (right, top), (right, top + _FEET))
    line.add_line_segments([(Pt(x), Pt(at)) for x, at in ends], close=False)
    shape = line.convert_to_shape()
    shape.fill.background()
    shape.line.color.rgb, shape.line.width = rgb(ink or INK), Pt(1.25)
    shape._element.remove(shape._element.find(qn("p:style")))
    return shape


def _add_number(slide: Any, text: str, area: Area, ink: str) -> Any:
    """Add the number of a bracket. On our own slides, no line of the chart goes through it."""
    box = add_text(slide, area, [Paragraph((Run(text),))], _BRACKET_PT, ink, bold=True, align=PP_ALIGN.CENTER)
    box.text_frame.word_wrap = False
    if ink:
        box.fill.solid()
        box.fill.fore_color.rgb = rgb(PAPER)
    return box


def add_bracket_key(slide: Any, name: str, area: Area, points: float, ink: str) -> float:
    """Add a bracket and its meaning to the key of a chart, at the top left of an area, and return their width."""
    bracket = _add_bracket(slide, area.left, area.left + _KEY_BRACKET, area.top + points / 2, ink)
    wide = text_width(name, points) * BOLDER
    text = add_text(
        slide, Area(area.left + _KEY_BRACKET + 6, area.top, wide, area.height), [Paragraph((Run(name),))], points, ink
    )
    text.text_frame.word_wrap = False
    slide.shapes.add_group_shape([bracket, text]).name = writable(name)
    return _KEY_BRACKET + 6 + wide


def add_intervals(drawn: Any, series: NativeSeries, *, across: bool) -> None:
    """Draw the intervals of a series as error bars (ECMA-376, part 1, 21.2.2.55)."""
    kept = [
        (value, low, high)
        for value, low, high in zip(series.values, series.low, series.high, strict=True)
        if not across or (finite(value) is not None)
    ]
    above = [(high - value) if value is not None and high is not None else 0.0 for value, _, high in kept]
    below = [(value - low) if value is not None and low is not None else 0.0 for value, low, _ in kept]
    both = "".join(f"<c:{side}>{_literal(values)}</c:{side}>" for side, values in (("plus", above), ("minus", below)))
    direction = '<c:errDir val="y"/>' if across else ""
    bars = parse_xml(
        f'<c:errBars {nsdecls("c", "a")}>{direction}<c:errBarType val="both"/>'
        '<c:errValType val="cust"/><c:noEndCap val="0"/>'
        f'{both}<c:spPr><a:ln w="12700"><a:solidFill><a:srgbClr val="{SOFT.lstrip("#").upper()}"/></a:solidFill></a:ln>'
        "</c:spPr></c:errBars>"
    )
    element = drawn._element
    after = next(each for tag in ("c:cat", "c:xVal", "c:val", "c:yVal") for each in element.findall(qn(tag)))
    after.addprevious(bars)


def _literal(values: Sequence[float]) -> str:
    points = "".join(f'<c:pt idx="{i}"><c:v>{max(0.0, value)!r}</c:v></c:pt>' for i, value in enumerate(values))
    return f'<c:numLit><c:formatCode>General</c:formatCode><c:ptCount val="{len(values)}"/>{points}</c:numLit>'
