"""Draws the marks of a chart on a slide: its bars, lines and markers with their numbers, ranges, levels, intervals and
brackets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from pptx.enum.chart import XL_LABEL_POSITION, XL_MARKER_STYLE
from pptx.enum.dml import MSO_LINE
from pptx.enum.text import PP_ALIGN
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import contrast_on_white
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, PAPER, SOFT, text_width
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_axes import Plot
from benchbrief.reports.office.slide_chart_data import finite, label_format, ranges_of
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_text
from benchbrief.reports.text.html_markup import writable

APART, BRACKET, _BRACKET_PT = 5, 22.0, 14.0
"""The space between bars in hundredths of a bar, the height of a bracket with its number, and the type size of the
number."""
_KEY_BRACKET, _BOLDER = 22.0, 1.06
"""The width of a bracket in a key, and how many times as wide as estimated bold letters are."""
_MOST_ENDS, _LOW = 3, 0.12
"""The most lines that have their last values written beside them. Below the second number, a share of the axis, there
is no room for a value under a line."""
_LABEL, _READABLE = 1.5, 3.0
"""The height of a number at a bar as a multiple of its type size, and the least contrast of a number within a bar."""
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
        first = self.plot.area.left + place * self.slot + self.wide * self.gap / 200
        values = [(at, finite(series.values[place])) for at, series in enumerate(self.series)]
        return [
            (first + self.wide * (at * (1 + APART / 100) + 0.5), self.plot.y(value))
            for at, value in values
            if value is not None
        ]


def gap_of(chart: NativeChart, *, narrow: bool) -> int:
    """Return the gap between two groups of bars, in hundredths of a bar."""
    return 30 if narrow else {1: 120, 2: 100}.get(len(chart.categories), 70)


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


def label_bars(made: Any, bars: Bars, points: float) -> None:
    """Write the values at the ends of the bars, or within the bars if a line would otherwise go through the numbers."""
    chart, plot = bars.chart, made.plots[0]
    levels = [level for series in chart.series if series.is_level for level in _known(series.values)[:1]]
    high = (bars.plot.high - bars.plot.low) * points * _LABEL / bars.plot.area.height
    values = [value for series in bars.series for value in _known(series.values)]
    crossed = any(value - high / 4 < level < value + high for value in values for level in levels)
    inside = crossed and all(value > high for value in values)
    plot.has_data_labels = not inside
    labelled: Iterable[tuple[NativeSeries | None, Any]] = [(None, plot)]
    for series, of in zip(bars.series, plot.series, strict=False) if inside else labelled:
        labels = of.data_labels
        labels.show_value = True
        labels.font.size = Pt(points)
        labels.font.bold = points > LEAST_PT
        labels.number_format, labels.number_format_is_linked = label_format(chart), False
        labels.position = XL_LABEL_POSITION.INSIDE_END if series else XL_LABEL_POSITION.OUTSIDE_END
        if series:
            light = series.is_pale or contrast_on_white(series.colour) < _READABLE
            labels.font.color.rgb = rgb(INK if light else PAPER)


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
            labels._element.find(qn("c:numFmt")).addnext(parse_xml(_PAPER.format(nsdecls("c", "a"), PAPER.lstrip("#"))))
    for place in range(len(chart.categories)):
        for at, series in enumerate(ranges):
            value, leaf = finite(series.values[place]), place * (len(ranges) + 2) + at + 1
            if value is None or plot.area.bottom - plot.y(value) >= points * _LABEL:
                continue
            label = high.points[leaf].data_label
            label.text_frame.text = writable(series.labels[place])
            font = label.text_frame.paragraphs[0].runs[0].font
            font.size, font.bold = Pt(points), points > LEAST_PT
            label.position = XL_LABEL_POSITION.ABOVE
            _hide_label(low, leaf)
    first = made._chartSpace.find(f".//{qn('c:barChart')}")
    for drawn in (low, high):
        _as_line(drawn._element, "<a:noFill/>")
        lines.insert(len(lines) - 1, drawn._element)
    for axis in first.findall(qn("c:axId")):
        lines.append(deepcopy(axis))
    first.addnext(lines)


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


def label_ends(made: Any, chart: NativeChart, most: float, points: float) -> None:
    """Write the last value of each line beside it: above the highest line, and below the lowest."""
    lines = list(zip(chart.series, made.plots[0].series, strict=True))
    ends = [(series, drawn, finite(series.values[-1])) for series, drawn in lines if not series.dashed]
    values = [value for _, _, value in ends if value is not None]
    if len(values) < len(ends) or not 0 < len(ends) <= _MOST_ENDS:
        return
    for series, drawn, value in ends:
        label = drawn.points[len(drawn.points) - 1].data_label
        label.font.size, label.font.bold, label.font.color.rgb = Pt(points), True, rgb(series.colour)
        is_lowest = len(ends) > 1 and value == min(values) < max(values) and value > most * _LOW
        label.position = (
            XL_LABEL_POSITION.ABOVE
            if value == max(values)
            else XL_LABEL_POSITION.BELOW
            if is_lowest
            else XL_LABEL_POSITION.RIGHT
        )
        form = parse_xml(f'<c:numFmt {nsdecls("c")} sourceLinked="0"/>')
        form.set("formatCode", label_format(chart))
        own = label._dLbl
        own.find(qn("c:idx")).addnext(form)


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


def draw_bracket(slide: Any, bracket: NativeSeries, bars: Bars, level: int, above: float, ink: str) -> None:
    """Draw a bracket with its number over the bars of each category, or over all bars. It consists of shapes on the
    chart."""
    tops = [bars.ends_in(place) for place in range(len(bars.chart.categories))]
    groups = [[each for top in tops for each in top]] if len(bracket.labels) == 1 else tops
    for text, group in zip(bracket.labels, groups, strict=False):
        if not text or not group:
            continue
        left, right = min(x for x, _ in group), max(x for x, _ in group)
        y = min(y for _, y in group) - above - 8 - level * BRACKET
        shapes = [_add_bracket(slide, left, right, y, ink)] if right > left else []
        wide = text_width(text, _BRACKET_PT) * _BOLDER + 4
        own = Area((left + right) / 2 - wide / 2, y - BRACKET + 3, wide, BRACKET - 4)
        shapes.append(_add_number(slide, text, own, ink))
        for shape in (*shapes, slide.shapes.add_group_shape(shapes)):
            shape.name = writable(f"{bracket.name} {text}")


def _add_bracket(slide: Any, left: float, right: float, top: float, ink: str) -> Any:
    line = slide.shapes.build_freeform(Pt(left), Pt(top + 5))
    ends = ((left, top), (right, top), (right, top + 5))
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
    wide = text_width(name, points) * _BOLDER
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
