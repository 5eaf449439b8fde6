"""Draws ranges on a slide as horizontal bars, one below the other, with both ends of each range beside its bar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_TICK_LABEL_POSITION, XL_TICK_MARK
from pptx.enum.dml import MSO_LINE
from pptx.enum.shapes import MSO_CONNECTOR
from pptx.util import Pt

from benchbrief.reports.charts.chart import GRID, SOFT, text_width
from benchbrief.reports.charts.chart_layout import darken_for_text
from benchbrief.reports.data.native_chart import NativeChart
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_axes import Scale, lay_out, tick_format
from benchbrief.reports.office.slide_chart_data import finite, ranges_of
from benchbrief.reports.office.slide_masters import Area, rgb
from benchbrief.reports.office.slide_parts import add_chart, add_text
from benchbrief.reports.office.text_fit import BOLDER, LINE_HEIGHT
from benchbrief.reports.text.html_markup import writable

_DATA: Any = CategoryChartData
_BLANK = "\N{NO-BREAK SPACE}"
_GAP, _BESIDE, _NAMES_SHARE = 90, 10.0, 0.35
"""The gap between bars in hundredths of a bar, the space beside texts, and the largest share of the width that names
take."""


def is_flat_range(chart: NativeChart) -> bool:
    """Return whether a chart is a single series of ranges that the brief draws as horizontal bars."""
    levels = [each for each in chart.series if each.is_level]
    is_alone = len(ranges_of(chart)) == 1 == len(chart.series) - len(levels) and len(levels) <= 1
    return chart.flat and is_alone and len(chart.ticks) > 1 and chart.ticks[0] >= 0


def add_flat_ranges(slide: Any, chart: NativeChart, area: Area, alt: str, name: str, points: float, ink: str) -> None:
    """Draw ranges as bars that are stacked on bars without a fill. Other bars without a fill carry their texts."""
    (ranges,), levels = ranges_of(chart), [each for each in chart.series if each.is_level]
    low, high = map(list, ([finite(value) for value in side] for side in (ranges.values, ranges.ends)))
    axis = Scale(chart.ticks[0], chart.ticks[-1])
    pairs = [(a, b) if a is not None and b is not None else None for a, b in zip(low, high, strict=True)]
    data = _DATA(number_format="General")
    data.categories = [writable(each) for each in chart.categories]
    data.add_series("\N{RIGHTWARDS ARROW}", [pair and pair[0] for pair in pairs])
    data.add_series(writable(ranges.name), [pair and pair[1] - pair[0] for pair in pairs])
    data.add_series("\N{RIGHTWARDS ARROW} ", [pair and axis.high - pair[1] for pair in pairs])
    made = add_chart(slide, XL_CHART_TYPE.BAR_STACKED, data, area, name, alt)
    made.has_title = False
    made.font.size = Pt(points)
    if ink:
        made.font.color.rgb = rgb(ink)
    _set_axes(made, chart, points)
    plot = _place(made, chart, area, points, over=points * LINE_HEIGHT * bool(levels))
    made.plots[0].gap_width, made.plots[0].overlap = _GAP, 100
    before, bars, after = made.plots[0].series
    for hidden in (before, after):
        hidden.format.fill.background()
    bars.format.fill.solid()
    bars.format.fill.fore_color.rgb = rgb(ranges.colour)
    bars.format.line.color.rgb, bars.format.line.width = rgb(ranges.colour), Pt(1.5)  # the least width
    for place, pair in enumerate(pairs):
        if pair:
            label = after.points[place].data_label
            label.text_frame.text = writable(f"{_BLANK}{ranges.labels[place]}")
            font = label.text_frame.paragraphs[0].runs[0].font
            font.size, font.bold = Pt(points), True
            label.position = XL_LABEL_POSITION.INSIDE_BASE
    for level in levels:
        value = next((each for each in map(finite, level.values) if each is not None), None)
        if value is not None:
            _draw_level(slide, level.name, level.colour, plot.left + plot.width * axis.share(value), plot, points)


def _set_axes(made: Any, chart: NativeChart, points: float) -> None:
    values, categories = made.value_axis, made.category_axis
    values.minimum_scale, values.maximum_scale = chart.ticks[0], chart.ticks[-1]
    values.major_unit = chart.ticks[1] - chart.ticks[0]
    values.has_major_gridlines = True
    values.major_gridlines.format.line.color.rgb = rgb(GRID)
    values.format.line.fill.background()
    categories.format.line.color.rgb = rgb(SOFT)
    categories.reverse_order, values.tick_label_position = True, XL_TICK_LABEL_POSITION.HIGH  # which is the foot
    for axis in (values, categories):
        axis.major_tick_mark = XL_TICK_MARK.NONE
        axis.tick_labels.font.size = Pt(points)
    values.tick_labels.number_format, values.tick_labels.number_format_is_linked = tick_format(chart.ticks), False


def _place(made: Any, chart: NativeChart, area: Area, points: float, over: float) -> Area:
    """Place the axes within the chart's area, with the names of categories to the left and texts to the right."""
    names = max(text_width(each, points) for each in chart.categories) * BOLDER + 2 * _BESIDE
    texts = max(text_width(each, points) for each in ranges_of(chart)[0].labels) * BOLDER + _BESIDE
    left = min(names, area.width * _NAMES_SHARE)
    plot = Area(
        area.left + left,
        area.top + over,
        area.width - left - texts,
        area.height - over - points * LINE_HEIGHT - _BESIDE,
    )
    lay_out(made._chartSpace.chart.plotArea, plot, area)
    return plot


def _draw_level(slide: Any, name: str, colour: str, x: float, plot: Area, points: float) -> None:
    """Draw a level as a line from the top of the plot to its foot, with its name at its top. A bar chart has no lines
    in this direction."""
    ends = (Pt(x), Pt(plot.top - points * LINE_HEIGHT / 2), Pt(x), Pt(plot.bottom))
    line = slide.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, *ends)
    line.line.color.rgb, line.line.width, line.line.dash_style = rgb(colour), Pt(1.75), MSO_LINE.DASH
    ink = darken_for_text(colour)
    place = replace(plot, left=x + _BESIDE / 2, top=plot.top - points * LINE_HEIGHT, height=points * LINE_HEIGHT)
    text = add_text(slide, place, [Paragraph((Run(name),))], points, ink)
    text.text_frame.word_wrap = False
    text.width = Pt(text_width(name, points) * BOLDER)
    slide.shapes.add_group_shape([line, text]).name = writable(name)
