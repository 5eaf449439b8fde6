"""Draws the marks of a chart on a slide: its bars, lines and markers, ranges, levels and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from pptx.enum.chart import XL_LABEL_POSITION, XL_MARKER_STYLE
from pptx.enum.dml import MSO_LINE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import mixed
from benchbrief.reports.charts.chart import PALE, SOFT
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.slide_axes import Plot
from benchbrief.reports.office.slide_chart_data import finite, label_format, ranges_of
from benchbrief.reports.office.slide_labels import LABEL, put_on_paper, write
from benchbrief.reports.office.slide_masters import LEAST_PT, rgb

_LINES = '<c:lineChart {}><c:grouping val="standard"/><c:varyColors val="0"/><c:marker val="1"/></c:lineChart>'
_MARKERS = (XL_MARKER_STYLE.CIRCLE, XL_MARKER_STYLE.SQUARE, XL_MARKER_STYLE.TRIANGLE, XL_MARKER_STYLE.DIAMOND)


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
    """Fill the bars of a series. Bars with a broken outline are pale."""
    if series.is_pale:
        _pale(drawn, series.colour)
        drawn.format.line.dash_style = MSO_LINE.DASH
        return
    drawn.format.fill.solid()
    drawn.format.fill.fore_color.rgb = rgb(series.colour)


def _pale(bars: Any, colour: str) -> None:
    """Draw the bars of a series or a point pale."""
    bars.format.fill.solid()
    bars.format.fill.fore_color.rgb = rgb(mixed(colour, PALE))
    bars.format.line.color.rgb, bars.format.line.width = rgb(colour), Pt(1.25)


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
            put_on_paper(labels)
    for place in range(len(chart.categories)):
        for at, series in enumerate(ranges):
            value, leaf = finite(series.values[place]), place * (len(ranges) + 2) + at + 1
            if value is None or plot.area.bottom - plot.y(value) >= points * LABEL:
                continue
            label = high.points[leaf].data_label
            write(label, series.labels[place], points)
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
