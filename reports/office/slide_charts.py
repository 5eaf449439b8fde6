"""Draws a figure on a slide as charts that can be edited, with their data in embedded workbooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import (
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_LEGEND_POSITION,
    XL_MARKER_STYLE,
    XL_TICK_LABEL_POSITION,
)
from pptx.enum.dml import MSO_LINE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.model.precision import magnitude
from benchbrief.reports.charts.chart import GRID, SOFT
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_text, height_of_all
from benchbrief.reports.text.html_markup import writable

_MOST_PANELS, _MOST_SERIES, _MOST_POINTS = 6, 12, 2_000
_ALONE_PT = 14.0
"""The type of a chart that has its slide alone."""
_MOST_LABELS = 16
"""The most bars whose values are written at them."""
_CATEGORIES: Any = CategoryChartData
_POINTS: Any = XyChartData
"""Their types are not whole."""
_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
"""The ends of axes, as multiples of a power of ten."""
_KINDS = {
    ("bar", True): XL_CHART_TYPE.COLUMN_CLUSTERED,
    ("line", True): XL_CHART_TYPE.LINE_MARKERS,
    ("points", True): XL_CHART_TYPE.LINE_MARKERS,
    ("line", False): XL_CHART_TYPE.XY_SCATTER_LINES,
    ("points", False): XL_CHART_TYPE.XY_SCATTER,
}
"""The charts by the marks of their series, and by whether these stand at categories."""
_MARKERS = (
    XL_MARKER_STYLE.CIRCLE, XL_MARKER_STYLE.SQUARE, XL_MARKER_STYLE.TRIANGLE, XL_MARKER_STYLE.DIAMOND,
    XL_MARKER_STYLE.X, XL_MARKER_STYLE.PLUS,
)  # fmt: skip


def can_draw(charts: Sequence[NativeChart]) -> bool:
    """Return whether these panels can be charts that show all that the figure's own drawing shows."""
    return all(chart.whole for chart in charts) and bool(simplified(charts))


def simplified(charts: Sequence[NativeChart]) -> tuple[NativeChart, ...]:
    """Return these panels as charts without what none can draw beside values, such as brackets; none where these could
    not be told."""
    made = [replace(chart, series=tuple(each for each in chart.series if each.mark != "bracket")) for chart in charts]
    return tuple(made) if 0 < len(made) <= _MOST_PANELS and all(map(_can_draw, made)) else ()


def _can_draw(chart: NativeChart) -> bool:
    if any(series.mark == "range" for series in chart.series):
        return False
    marks = {"bar" if series.mark == "bar" else "line" for series in chart.series}
    bars_on_scale = "bar" in marks and not chart.categories
    axes = any(series.right for series in chart.series) or chart.right
    many = len(chart.series) > _MOST_SERIES or sum(len(series.values) for series in chart.series) > _MOST_POINTS
    return len(marks) == 1 and not (bars_on_scale or axes or many)


def add_charts(slide: Any, charts: Sequence[NativeChart], area: Area, alt: str, name: str, ink: str) -> None:
    """Draw the panels in an area: one chart, or several with the same axes and one legend."""
    series = {each.name: each for chart in charts for each in chart.series}
    if len(charts) > 1:
        marks = [(Run("\N{BLACK SQUARE} ", colour=each.colour), Run(f"{each.name}    ")) for each in series.values()]
        named = [run for mark in marks if len(series) > 1 for run in mark]
        said = [Paragraph((Run(f"{charts[0].left}    ", bold=True), *named))]
        add_text(slide, area, said, LEAST_PT, ink)
        area = area.below(height_of_all(said, area.width, LEAST_PT))
    columns = 1 if len(charts) == 1 else 2 if len(charts) in (2, 4) else 3
    rows = math.ceil(len(charts) / columns)
    gap = 10.0
    width, height = (area.width - gap * (columns - 1)) / columns, (area.height - gap * (rows - 1)) / rows
    every = [each for chart in charts for each in chart.series]
    values = [value for each in every if not each.is_ideal for value in _reach(each)]
    for place, chart in enumerate(charts):
        left, top = area.left + (place % columns) * (width + gap), area.top + (place // columns) * (height + gap)
        own = Area(left, top, width, height)
        points = LEAST_PT if len(charts) > 1 else _ALONE_PT
        shown = replace(chart, left="") if len(charts) > 1 else chart  # which the legend has
        _add(slide, shown, own, values, f"{name} {chart.heading}".strip(), alt, points, ink)


def _reach(series: NativeSeries) -> list[float]:
    return [value for value in (*series.values, *series.high) if value is not None and math.isfinite(value)]


def _add(
    slide: Any,
    chart: NativeChart,
    area: Area,
    shared: Sequence[float],
    name: str,
    alt: str,
    points: float,
    ink: str,
) -> None:
    kind = _KINDS[chart.series[0].mark, bool(chart.categories)]
    box = (Pt(area.left), Pt(area.top), Pt(area.width), Pt(area.height))
    frame = slide.shapes.add_chart(kind, *box, _data(chart))
    frame.name = writable(name)
    frame._element.nvGraphicFramePr.cNvPr.set("descr", writable(alt))
    made = frame.chart
    made.font.size = Pt(points)
    if ink:  # or that of the house's theme
        made.font.color.rgb = rgb(ink)
    made.has_title = bool(chart.heading)
    if chart.heading:
        text = made.chart_title.text_frame
        text.text = writable(chart.heading)
        text.paragraphs[0].font.size, text.paragraphs[0].font.bold = Pt(13), True
    made.has_legend = len(chart.series) > 1 and points > LEAST_PT
    if made.has_legend:
        made.legend.position, made.legend.include_in_layout = XL_LEGEND_POSITION.TOP, False
        made.legend.font.size = Pt(points)
    _axes(made, chart, shared, points, ink)
    bars = sum(len(series.values) for series in chart.series)
    for place, (series, drawn) in enumerate(zip(chart.series, made.plots[0].series, strict=True)):
        _look(drawn, series, place)
        if series.has_intervals:
            _intervals(drawn, series, across=not chart.categories)
    if chart.series[0].mark == "bar":
        plot = made.plots[0]
        plot.gap_width, plot.overlap = (70 if len(chart.categories) > 2 else 140), -5
        if bars <= _MOST_LABELS and not any(series.has_intervals for series in chart.series):
            plot.has_data_labels = True
            labels = plot.data_labels
            labels.font.size, labels.position = Pt(points), XL_LABEL_POSITION.OUTSIDE_END
            labels.font.bold = points > LEAST_PT
            labels.number_format, labels.number_format_is_linked = _number_format(chart.series), False


def _data(chart: NativeChart) -> Any:
    form = _number_format(chart.series)
    if chart.categories:
        data: Any = _CATEGORIES(number_format=form)
        data.categories = [writable(name) for name in chart.categories]
        for series in chart.series:
            data.add_series(writable(series.name), [_finite(value) for value in series.values])
        return data
    points: Any = _POINTS(number_format=form)
    for series in chart.series:
        own = points.add_series(writable(series.name))
        for x, y in zip(series.xs, series.values, strict=True):
            if y is not None and math.isfinite(y):
                own.add_data_point(x, y)
    return points


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _number_format(series: Sequence[NativeSeries]) -> str:
    """Return a format with about three digits, the same for all values of a chart."""
    values = [value for each in series for value in each.values if value is not None and math.isfinite(value)]
    most = max(map(abs, values), default=0.0)
    if all(value.is_integer() for value in map(float, values)) and most < 1e12:
        return "#,##0"
    if most >= 1e12 or 0 < most < 1e-3:
        return "0.00E+00"
    decimals = 0 if most >= 100 else 1 if most >= 10 else 2 if most >= 1 else 3
    return "#,##0" + ("." + "0" * decimals if decimals else "")


def _axes(made: Any, chart: NativeChart, shared: Sequence[float], points: float, ink: str) -> None:
    values, categories = made.value_axis, made.category_axis
    values.has_major_gridlines = True
    values.major_gridlines.format.line.color.rgb = rgb(GRID)
    values.format.line.fill.background()
    categories.format.line.color.rgb = rgb(SOFT)
    categories.has_major_gridlines = False
    if chart.categories and min(shared, default=0.0) < 0:
        categories.tick_label_position = XL_TICK_LABEL_POSITION.LOW  # below the bars, and not on them
    for axis, title in ((values, chart.left), (categories, chart.x_title)):
        axis.tick_labels.font.size = Pt(points)
        axis.has_title = bool(title)
        if title:
            text = axis.axis_title.text_frame
            text.text = writable(title)
            text.paragraphs[0].font.size, text.paragraphs[0].font.bold = Pt(points), False
            if ink:
                text.paragraphs[0].font.color.rgb = rgb(SOFT)
    most = max((abs(value) for value in shared), default=0.0)
    values.tick_labels.number_format = "0.0E+00" if most >= 1e12 or 0 < most < 1e-4 else "#,##0.######"
    if most >= 10:
        values.tick_labels.number_format = "#,##0" if most < 1e12 else "0.0E+00"
    values.tick_labels.number_format_is_linked = False
    if chart.log_left and min(shared, default=0.0) > 0:
        _log(values, 10)
        values.minimum_scale, values.maximum_scale = _decades(min(shared), max(shared), 10)
    elif shared and min(shared) >= 0 and max(shared) > 0:
        values.minimum_scale = 0
        values.maximum_scale = _round_above(max(shared))
    if not chart.categories:
        _scale_x(categories, chart)


def _scale_x(axis: Any, chart: NativeChart) -> None:
    xs = [x for series in chart.series for x in series.xs]
    axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = "#,##0.######", False
    if chart.log_x and xs and min(xs) > 0:
        base = 2 if all(math.log2(x).is_integer() for x in xs) else 10
        _log(axis, base)
        axis.minimum_scale, axis.maximum_scale = _decades(min(xs), max(xs), base)
    elif xs and min(xs) >= 0 and max(xs) > 0:
        axis.minimum_scale = 0


def _decades(low: float, high: float, base: int) -> tuple[float, float]:
    """Return the powers of a base between which values lie, at least one apart."""
    first = math.floor(math.log(low, base) + 1e-9)
    return float(base) ** first, float(base) ** max(first + 1, math.ceil(math.log(high, base) - 1e-9))


def _round_above(value: float) -> float:
    power = 10.0 ** magnitude(value)
    return next(step * power for step in _STEPS if step * power >= value * 1.04)


def _log(axis: Any, base: int) -> None:
    axis.major_unit = base
    scaling = axis._element.find(qn("c:scaling"))
    for old in scaling.findall(qn("c:logBase")):
        scaling.remove(old)
    scaling.insert(0, parse_xml(f'<c:logBase {nsdecls("c")} val="{base}"/>'))


def _look(drawn: Any, series: NativeSeries, place: int) -> None:
    colour = rgb(series.colour)
    if series.mark == "bar":
        drawn.format.fill.solid()
        drawn.format.fill.fore_color.rgb = colour
        drawn.invert_if_negative = False
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


def _intervals(drawn: Any, series: NativeSeries, *, across: bool) -> None:
    """Draw the intervals of a series as error bars (ECMA-376, part 1, 21.2.2.55)."""
    kept = [
        (value, low, high)
        for value, low, high in zip(series.values, series.low, series.high, strict=True)
        if not across or (value is not None and math.isfinite(value))
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
