"""Draws a figure on a slide as charts that can be edited, with their data in embedded workbooks."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import (
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_MARKER_STYLE,
    XL_TICK_LABEL_POSITION,
    XL_TICK_MARK,
)
from pptx.enum.dml import MSO_LINE
from pptx.enum.text import PP_ALIGN
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.model.precision import formatted, magnitude
from benchbrief.reports.charts.chart import GRID, INK, SOFT, text_width
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_text, height_of_all
from benchbrief.reports.office.text_fit import LINE_HEIGHT, lines_of
from benchbrief.reports.text.html_markup import writable

_MOST_PANELS, _MOST_SERIES, _MOST_POINTS = 6, 12, 2_000
_ALONE_PT = 14.0
"""The type size of a chart that is alone on its slide."""
_MOST_LABELS = 16
"""The largest number of bars whose values are written at them."""
_CATEGORIES: Any = CategoryChartData
_POINTS: Any = XyChartData
"""The library's conversion to points, whose types are incomplete."""
_UNITS, _MOST_TICKS, _SPARE = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0), 5, 1.04
"""The steps of axes as multiples of a power of ten, how many an axis has at the most, and what is free at its end."""
_MOST_STEPS = 10
"""The most steps of an x axis that has ticks only at the values."""
_KEY_PT, _APART, _BRACKET = 14.0, 5, 22.0
"""The type of a chart's key, the room between bars in hundredths of one, and the height of a bracket and its number."""
_MINUS = "\N{MINUS SIGN}"
_MOST_ENDS, _LOW = 3, 0.12
"""The most lines whose last values are written at them, and the share of the axis below which none is under it."""
_WRITTEN = re.compile(r"[-+\u2212]?[\d,]+(?:\.(?P<decimals>\d+))?(?P<unit>\D{0,8})")
"""Matches a number as a brief writes it at a bar."""
_KINDS = {
    ("bar", True): XL_CHART_TYPE.COLUMN_CLUSTERED,
    ("line", True): XL_CHART_TYPE.LINE_MARKERS,
    ("points", True): XL_CHART_TYPE.LINE_MARKERS,
    ("line", False): XL_CHART_TYPE.XY_SCATTER_LINES,
    ("points", False): XL_CHART_TYPE.XY_SCATTER,
}
"""The kinds of charts, by the mark of their series and by whether it is drawn at categories."""
_MARKERS = (XL_MARKER_STYLE.CIRCLE, XL_MARKER_STYLE.SQUARE, XL_MARKER_STYLE.TRIANGLE, XL_MARKER_STYLE.DIAMOND)
_SIGNS = ("\N{BLACK CIRCLE}", "\N{BLACK SQUARE}", "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DIAMOND}")
"""The markers of lines, with the signs for them in a key."""


def can_draw(charts: Sequence[NativeChart]) -> bool:
    """Return whether native charts can show everything in the figure's own drawing of these panels."""
    return all(chart.whole or chart.lacks_brackets for chart in charts) and bool(simplified(charts))


def simplified(charts: Sequence[NativeChart]) -> tuple[NativeChart, ...]:
    """Return these panels as charts without the parts that no native chart can draw, or nothing if a panel's values
    would become unreadable."""
    return tuple(charts) if 0 < len(charts) <= _MOST_PANELS and all(map(_can_draw, charts)) else ()


def _can_draw(chart: NativeChart) -> bool:
    series = _valued(chart)
    if not series or any(each.mark == "range" for each in series):
        return False
    marks = {"bar" if each.mark == "bar" else "line" for each in series if not each.is_level}
    bars_on_scale = "bar" in marks and not chart.categories
    axes = any(each.right for each in series) or chart.right
    many = len(series) > _MOST_SERIES or sum(len(each.values) for each in series) > _MOST_POINTS
    return len(marks) == 1 and not (bars_on_scale or axes or many)


def _valued(chart: NativeChart) -> tuple[NativeSeries, ...]:
    """Return the series that a chart draws itself. Brackets are drawn on top of it."""
    return tuple(each for each in chart.series if each.mark != "bracket")


def add_charts(slide: Any, charts: Sequence[NativeChart], area: Area, alt: str, name: str, ink: str) -> None:
    """Draw the panels in an area, as one chart or as several with the same axes and one legend, below a line that
    explains the values."""
    series = {each.name: each for chart in charts for each in chart.series}
    charts, alone = tuple(map(_with_even_steps, charts)), len(charts) == 1
    signs = {each.name: _sign(each, at) for chart in charts for at, each in enumerate(_in_order(chart))}
    marks = [(Run(signs[each.name], colour=each.colour), Run(f"{each.name}     ")) for each in series.values()]
    named = [run for mark in marks if len(series) > 1 for run in mark]
    if charts[0].left or named:
        said = [Paragraph((Run(f"{charts[0].left}      ", colour=SOFT if ink else ""), *named))]
        add_text(slide, area, said, _KEY_PT, ink)
        area = area.below(height_of_all(said, area.width, _KEY_PT))
    columns = 1 if alone else 2 if len(charts) in (2, 4) else 3
    rows = math.ceil(len(charts) / columns)
    gap = 10.0
    width, height = (area.width - gap * (columns - 1)) / columns, (area.height - gap * (rows - 1)) / rows
    values = [value for chart in charts for each in _valued(chart) if _bounds(each) for value in _reach(each)]
    for place, chart in enumerate(charts):
        left, top = area.left + (place % columns) * (width + gap), area.top + (place // columns) * (height + gap)
        own = Area(left, top, width, height)
        points = _ALONE_PT if alone else LEAST_PT
        _add(slide, chart, own, values, f"{name} {chart.heading}".strip(), alt, points, ink)


def _sign(series: NativeSeries, place: int) -> str:
    if series.mark in ("bar", "bracket"):
        return "\N{BLACK SQUARE} " if series.mark == "bar" else "\N{EM DASH} "
    return "\N{EN DASH} \N{EN DASH} " if series.dashed else _SIGNS[place % len(_SIGNS)] + " "


def _in_order(chart: NativeChart) -> list[NativeSeries]:
    """Return a chart's series with the level lines last."""
    return sorted(chart.series, key=lambda each: each.is_level)


def _with_even_steps(chart: NativeChart) -> NativeChart:
    """If a chart has few, evenly spaced places on its x axis, return it with categories instead, so that the first one
    is clear of the value axis."""
    places = next((each.xs for each in chart.series if each.xs), ())
    on_scale = [math.log(x) if chart.log_x else x for x in places if x > 0 or not chart.log_x]
    steps = [after - before for before, after in pairwise(on_scale)]
    even = steps and min(steps) > 0 and max(steps) - min(steps) < 1e-6 * max(steps)
    if chart.categories or not even or len(places) > _MOST_STEPS or any(each.xs != places for each in chart.series):
        return chart
    series = tuple(replace(each, xs=()) for each in chart.series)
    return replace(chart, categories=tuple(f"{x:,.12g}" for x in places), series=series)


def _bounds(series: NativeSeries) -> bool:
    """Return whether an axis must have room for the whole series. An ideal need not fit."""
    return not series.is_ideal or series.is_level


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
    brackets = [each for each in chart.series if each.mark == "bracket" and any(each.labels)]
    chart = replace(chart, series=tuple(each for each in _in_order(chart) if each.mark != "bracket"))
    is_bars = chart.series[0].mark == "bar"
    kind = _KINDS[chart.series[0].mark, bool(chart.categories)]
    box = (Pt(area.left), Pt(area.top), Pt(area.width), Pt(area.height))
    frame = slide.shapes.add_chart(kind, *box, _data(chart))
    frame.name = writable(name)
    frame._element.nvGraphicFramePr.cNvPr.set("descr", writable(alt))
    made = frame.chart
    made.font.size = Pt(points)
    if ink:  # or else the colour of the house's theme
        made.font.color.rgb = rgb(ink)
    made.has_title = bool(chart.heading)
    if chart.heading:
        text = made.chart_title.text_frame
        text.text = writable(chart.heading)
        text.paragraphs[0].font.size, text.paragraphs[0].font.bold = Pt(13), True
    made.has_legend = False  # its key is above the chart
    most = _axes(made, chart, shared, points, ink)
    bars = sum(len(series.values) for series in chart.series)
    for place, (series, drawn) in enumerate(zip(chart.series, made.plots[0].series, strict=True)):
        if not (is_bars and series.is_level):
            _look(drawn, series, place)
        if series.has_intervals:
            _intervals(drawn, series, across=not chart.categories)
    if not is_bars and not any(series.has_intervals for series in chart.series):
        _label_ends(made, chart, most, points)
    if is_bars:
        plot = made.plots[0]
        plot.gap_width, plot.overlap = _gap(chart), -_APART
        labelled = bars <= _MOST_LABELS and not any(series.has_intervals for series in chart.series)
        if labelled:
            plot.has_data_labels = True
            labels = plot.data_labels
            labels.font.size, labels.position = Pt(points), XL_LABEL_POSITION.OUTSIDE_END
            labels.font.bold = points > LEAST_PT
            labels.number_format, labels.number_format_is_linked = _label_format(chart), False
        _draw_levels(made, chart)
        if brackets and most:
            above = labelled * points * 1.3 + _BRACKET * (len(brackets) + 0.3)
            plot_area = _placed(made, chart, area, most, points, above)
            for level, bracket in enumerate(brackets):
                _draw_bracket(slide, bracket, chart, plot_area, most, level, labelled * points * 1.3, ink)


def _label_ends(made: Any, chart: NativeChart, most: float, points: float) -> None:
    """Write the last value of each line beside it: above the highest line, and below the lowest."""
    lines = list(zip(chart.series, made.plots[0].series, strict=True))
    ends = [(series, drawn, _finite(series.values[-1])) for series, drawn in lines if not series.dashed]
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
        form.set("formatCode", _label_format(chart))
        own = label._dLbl
        own.find(qn("c:idx")).addnext(form)


def _gap(chart: NativeChart) -> int:
    """Return the gap between two groups of bars, in hundredths of a bar."""
    return {1: 260, 2: 140}.get(len(chart.categories), 70)


def _draw_levels(made: Any, chart: NativeChart) -> None:
    """Draw the levels among the bars as lines from one end of the chart to the other, in a line chart on the
    same axes."""
    levels = [each for each in chart.series if each.is_level]
    if not levels:
        return
    bars = made._chartSpace.find(f".//{qn('c:barChart')}")
    lines = parse_xml(f'<c:lineChart {nsdecls("c")}><c:grouping val="standard"/><c:varyColors val="0"/></c:lineChart>')
    for series, own in zip(levels, bars.findall(qn("c:ser"))[-len(levels) :], strict=True):
        for tag in ("c:invertIfNegative", "c:spPr"):
            for old in own.findall(qn(tag)):
                own.remove(old)
        colour = series.colour.lstrip("#").upper()
        line = (
            f'<c:spPr {nsdecls("c", "a")}><a:ln w="22225"><a:solidFill><a:srgbClr val="{colour}"/></a:solidFill>'
            '<a:prstDash val="dash"/></a:ln></c:spPr>'
        )
        to_the_ends = (
            f'<c:trendline {nsdecls("c")}>{line}<c:trendlineType val="linear"/><c:forward val="0.5"/>'
            '<c:backward val="0.5"/><c:dispRSqr val="0"/><c:dispEq val="0"/></c:trendline>'
        )
        marker = f'<c:marker {nsdecls("c")}><c:symbol val="none"/></c:marker>'
        before = own.find(qn("c:cat"))
        for each in (line, marker, *([to_the_ends] if len(series.values) > 1 else [])):
            before.addprevious(parse_xml(each))
        own.append(parse_xml(f'<c:smooth {nsdecls("c")} val="0"/>'))
        lines.append(own)
    lines.append(parse_xml(f'<c:marker {nsdecls("c")} val="1"/>'))
    for axis in bars.findall(qn("c:axId")):
        lines.append(deepcopy(axis))
    bars.addnext(lines)


def _placed(made: Any, chart: NativeChart, area: Area, most: float, points: float, above: float) -> Area:
    """Set and return the area of a chart's axes, with `above` points free over its highest bar."""
    ticks = text_width(formatted(most, ",.6g"), points) + 16
    slot = (area.width - ticks - 8) / len(chart.categories)
    lines = max(lines_of(name, slot, points) for name in chart.categories)
    below = (lines + bool(chart.x_title)) * points * LINE_HEIGHT + 14
    head = 24.0 if chart.heading else 4.0
    share = max(value for series in chart.series for value in _reach(series)) / most
    whole = area.height - head - below
    head += max(0.0, (above - whole * (1 - share)) / share)
    inner = Area(area.left + ticks, area.top + head, area.width - ticks - 8, area.height - head - below)
    shares = {
        "x": (inner.left - area.left) / area.width,
        "y": (inner.top - area.top) / area.height,
        "w": inner.width / area.width,
        "h": inner.height / area.height,
    }
    said = "".join(f'<c:{name} val="{share:.10g}"/>' for name, share in shares.items())
    plot = made._chartSpace.find(f".//{qn('c:plotArea')}")
    for old in plot.findall(qn("c:layout")):
        plot.remove(old)
    modes = '<c:layoutTarget val="inner"/><c:xMode val="edge"/><c:yMode val="edge"/>'
    layout = f"<c:layout {nsdecls('c')}><c:manualLayout>{modes}{said}</c:manualLayout></c:layout>"
    plot.insert(0, parse_xml(layout))
    return inner


def _draw_bracket(
    slide: Any, bracket: NativeSeries, chart: NativeChart, plot: Area, most: float, level: int, above: float, ink: str
) -> None:
    """Draw a bracket with its number over the bars of each category, or over all bars, as shapes on the chart."""
    bars = [each for each in chart.series if each.mark == "bar"]
    slot = plot.width / len(chart.categories)
    wide = slot / (len(bars) + (len(bars) - 1) * _APART / 100 + _gap(chart) / 100)

    def top_of(place: int) -> list[tuple[float, float]]:
        """Return the middle and the end of each bar in a category."""
        first = plot.left + place * slot + wide * _gap(chart) / 200
        values = [(at, series.values[place]) for at, series in enumerate(bars)]
        return [
            (first + wide * (at * (1 + _APART / 100) + 0.5), plot.bottom - plot.height * value / most)
            for at, value in values
            if value is not None and math.isfinite(value)
        ]

    tops = [top_of(place) for place in range(len(chart.categories))]
    groups = [[each for top in tops for each in top]] if len(bracket.labels) == 1 else tops
    for text, group in zip(bracket.labels, groups, strict=False):
        if not text or not group:
            continue
        left, right = min(x for x, _ in group), max(x for x, _ in group)
        y = min(y for _, y in group) - above - 8 - level * _BRACKET
        shapes = []
        if right > left:
            line = slide.shapes.build_freeform(Pt(left), Pt(y + 5))
            ends = ((left, y), (right, y), (right, y + 5))
            line.add_line_segments([(Pt(x), Pt(at)) for x, at in ends], close=False)
            shape = line.convert_to_shape()
            shape.name = writable(f"{bracket.name} {text}")
            shape.fill.background()
            shape.line.color.rgb, shape.line.width = rgb(ink or INK), Pt(1.25)
            shape._element.remove(shape._element.find(qn("p:style")))
            shapes.append(shape)
        own = Area((left + right) / 2 - 60, y - _BRACKET + 3, 120, _BRACKET - 4)
        said = [Paragraph((Run(text),))]
        shapes.append(add_text(slide, own, said, _ALONE_PT, ink, bold=True, align=PP_ALIGN.CENTER))
        slide.shapes.add_group_shape(shapes).name = writable(f"{bracket.name} {text}")


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
    """Return a format with about three digits, used for all values of a chart."""
    values = [value for each in series for value in each.values if value is not None and math.isfinite(value)]
    most = max(map(abs, values), default=0.0)
    if all(value.is_integer() for value in map(float, values)) and most < 1e12:
        return "#,##0"
    if most >= 1e12 or 0 < most < 1e-3:
        return "0.00E+00"
    decimals = 0 if most >= 100 else 1 if most >= 10 else 2 if most >= 1 else 3
    return "#,##0" + ("." + "0" * decimals if decimals else "")


def _label_format(chart: NativeChart) -> str:
    """Return the number format for bars, with the decimals and unit of the brief."""
    texts = [text for series in chart.series if not series.is_level for text in series.labels if text]
    found = [match for text in texts if (match := _WRITTEN.fullmatch(text))]
    if not found or len(found) < len(texts):
        return _number_format(chart.series)
    decimals = max(len(match["decimals"] or "") for match in found)
    units = {match["unit"] for match in found}
    unit = units.pop().replace('"', "") if len(units) == 1 else ""
    form = "#,##0" + ("." + "0" * decimals if decimals else "") + (f'"{unit}"' if unit else "")
    plus = "+" if any(text.startswith("+") for text in texts) else ""
    return _signed(form, plus) if plus or any(text.startswith(_MINUS) for text in texts) else form


def _signed(form: str, plus: str) -> str:
    """Return a format with a true minus before negative numbers, and `plus` before positive ones."""
    return f'{plus}{form};"{_MINUS}"{form};{form}'


def _axes(made: Any, chart: NativeChart, shared: Sequence[float], points: float, ink: str) -> float:
    """Set the axes. Returns the end of the value axis, or 0 if the program chooses it."""
    values, categories = made.value_axis, made.category_axis
    values.has_major_gridlines = True
    values.major_gridlines.format.line.color.rgb = rgb(GRID)
    values.format.line.fill.background()
    values.major_tick_mark = categories.major_tick_mark = XL_TICK_MARK.NONE
    categories.format.line.color.rgb = rgb(SOFT)
    categories.has_major_gridlines = False
    if chart.categories and min(shared, default=0.0) < 0:
        categories.tick_label_position = XL_TICK_LABEL_POSITION.LOW  # below the bars, and not on them
    for axis, title in ((values, ""), (categories, chart.x_title)):
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
    if min(shared, default=0.0) < 0:
        values.tick_labels.number_format = _signed(values.tick_labels.number_format, "")
    values.tick_labels.number_format_is_linked = False
    if not chart.categories:
        _scale_x(categories, chart)
    if chart.log_left and min(shared, default=0.0) > 0:
        _log(values, 10)
        values.minimum_scale, values.maximum_scale = _decades(min(shared), max(shared), 10)
        return 0.0
    if not shared or not most:
        return 0.0
    low, high = min(0.0, *shared), max(0.0, *shared)
    wanted = (high - low) * _SPARE
    power = 10.0 ** magnitude(wanted / _MOST_TICKS)
    unit = next(step * power for step in _UNITS if step * power * _MOST_TICKS >= wanted)
    values.major_unit = unit
    values.minimum_scale = -unit * math.ceil(-low * _SPARE / unit - 1e-9) if low < 0 else 0
    values.maximum_scale = unit * math.ceil(high * _SPARE / unit - 1e-9)
    return float(values.maximum_scale) if low == 0 else 0.0


def _scale_x(axis: Any, chart: NativeChart) -> None:
    xs = [x for series in chart.series for x in series.xs]
    axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = "#,##0.######", False
    if chart.log_x and xs and min(xs) > 0:
        base = 2 if all(math.log2(x).is_integer() for x in xs) else 10
        _log(axis, base)
        axis.minimum_scale, axis.maximum_scale = _decades(min(xs), max(xs), base)
    elif xs and (unit := _common_step(xs)):
        axis.major_unit, axis.minimum_scale, axis.maximum_scale = unit, min(xs), max(xs)
    elif xs and min(xs) >= 0 and max(xs) > 0:
        axis.minimum_scale = 0


def _decades(low: float, high: float, base: int) -> tuple[float, float]:
    """Return two powers of a base, at least one apart, that enclose the values."""
    first = math.floor(math.log(low, base) + 1e-9)
    return float(base) ** first, float(base) ** max(first + 1, math.ceil(math.log(high, base) - 1e-9))


def _common_step(xs: Sequence[float]) -> int:
    """Return a step that reaches all of a few whole numbers from the first one, or 0 if there is none."""
    if not all(x == int(x) and 0 <= x < 1e9 for x in xs):
        return 0
    step = math.gcd(*(int(x - min(xs)) for x in xs))
    return step if step and (max(xs) - min(xs)) / step <= _MOST_STEPS else 0


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
