"""Draws a figure on a slide as charts that can be edited, with their data in embedded workbooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pptx.enum.chart import XL_CHART_TYPE, XL_TICK_LABEL_POSITION
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import SOFT, text_width
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_axes import (
    HEADING_PT,
    MOST_STEPS,
    Margins,
    Scales,
    heading_lines,
    largest,
    margins_of,
    place_plot,
    reach,
    set_axes,
)
from benchbrief.reports.office.slide_bars import APART, Bars, gap_of
from benchbrief.reports.office.slide_chart_data import data_of
from benchbrief.reports.office.slide_flat_ranges import add_flat_ranges, is_flat_range
from benchbrief.reports.office.slide_labels import (
    LABEL,
    label_bars,
    label_ends,
    label_keys,
    name_levels,
    named_levels,
    room_beside,
)
from benchbrief.reports.office.slide_marks import add_intervals, draw_levels, draw_ranges, set_look
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_chart, add_text, height_of_all
from benchbrief.reports.office.slide_shapes import (
    add_bracket_key,
    draw_arrows,
    draw_bracket,
    draw_repeats,
    room_over_bars,
)
from benchbrief.reports.text.html_markup import writable

_MOST_PANELS, _MOST_SERIES, _MOST_POINTS = 6, 12, 2_000
_ALONE_PT, KEY_PT = 14.0, 14.0
"""The type size of a chart that is alone on its slide, and of a chart's key."""
_KEY_GAP, _KEY_SHARE = "      ", 0.94
"""The separator between two parts of a chart's key, and the largest share of a line that the key takes."""
_MOST_LABELS = 16
"""The most bars whose values are written beside them."""
_RANGE_GAP = 60
_COLUMNS = (3, 2)
_NARROWEST, _LONGEST_NAME, _TICKS = 250.0, 90.0, 30.0
"""The least width of a panel with lines, the largest width of an unbroken name at an axis, and the width of a panel's
tick labels."""
_KINDS = {
    ("bar", True): XL_CHART_TYPE.COLUMN_CLUSTERED,
    ("range", True): XL_CHART_TYPE.COLUMN_STACKED,
    ("line", True): XL_CHART_TYPE.LINE_MARKERS,
    ("points", True): XL_CHART_TYPE.LINE_MARKERS,
    ("line", False): XL_CHART_TYPE.XY_SCATTER_LINES,
    ("points", False): XL_CHART_TYPE.XY_SCATTER,
}
"""The kind of chart for each mark of a series. It also depends on whether the series is drawn at categories."""
_SIGNS = ("\N{BLACK CIRCLE}", "\N{BLACK SQUARE}", "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DIAMOND}")
"""The markers of lines, as signs in a key."""


def can_draw(charts: Sequence[NativeChart]) -> bool:
    """Return whether native charts can show everything in the figure's own drawing of these panels."""
    return all(chart.on_slides for chart in charts) and bool(simplified(charts))


def simplified(charts: Sequence[NativeChart]) -> tuple[NativeChart, ...]:
    """Return these panels as charts without the parts that no native chart can draw. Return nothing if the values of a
    panel would become unreadable."""
    return tuple(charts) if 0 < len(charts) <= _MOST_PANELS and all(map(_can_draw, charts)) else ()


def _can_draw(chart: NativeChart) -> bool:
    series = _valued(chart)
    if not series:
        return False
    marks = {each.mark if each.mark in ("bar", "range") else "line" for each in series if not each.is_level}
    bars_on_scale = marks & {"bar", "range"} and not chart.categories
    # Office programs stack what is below 0 apart, and can't stack on a logarithmic axis.
    ends = (value for each in series for value in (*each.values, *each.ends) if value is not None)
    unstackable = "range" in marks and (chart.log_left or any(value < 0 for value in ends))
    axes = any(each.right for each in series) or chart.right
    many = len(series) > _MOST_SERIES or sum(len(each.values) for each in series) > _MOST_POINTS
    return len(marks) == 1 and not (bars_on_scale or unstackable or axes or many)


def _valued(chart: NativeChart) -> tuple[NativeSeries, ...]:
    """Return the series that a chart draws itself. Brackets are drawn on top of it."""
    return tuple(each for each in chart.series if each.mark != "bracket")


def add_charts(
    slide: Any,
    charts: Sequence[NativeChart],
    area: Area,
    alt: str,
    name: str,
    ink: str,
    *,
    names_axis: bool = True,
    said: str = "",
) -> None:
    """Draw the panels in an area: one chart, or several with the same axes and one legend. With `names_axis`, a line
    above them says what the values are. A single category is not named if the figure's texts (`said`) name it."""
    charts, alone = tuple(map(_with_even_steps, charts)), len(charts) == 1
    area = area.below(_add_key(slide, charts, area, ink, names_axis=names_axis))
    if alone and is_flat_range(charts[0]):
        add_flat_ranges(slide, charts[0], area, alt, name, _ALONE_PT, ink)
        return
    values = [value for chart in charts for each in _valued(chart) if _bounds(each) for value in reach(each)]
    xs = [x for chart in charts for each in chart.series for x in each.xs]
    fitting = (n for n in (len(charts), *_COLUMNS) if all(_fits(chart, area.width / n) for chart in charts))
    columns = 1 if alone else min(len(charts), next(fitting, _COLUMNS[-1]))
    rows = math.ceil(len(charts) / columns)
    gap = 10.0
    width, height = (area.width - gap * (columns - 1)) / columns, (area.height - gap * (rows - 1)) / rows
    panels = []
    for place, chart in enumerate(charts):
        left, top = area.left + (place % columns) * (width + gap), area.top + (place // columns) * (height + gap)
        own = Area(left, top, width, height)
        points = _ALONE_PT if alone else LEAST_PT
        panels.append(_add(slide, chart, own, values, xs, f"{name} {chart.heading}".strip(), alt, points, ink))
    for panel in panels if alone else ():
        if len(panel.chart.categories) == 1 and panel.chart.categories[0].casefold() in said.casefold():
            panel.made.category_axis.tick_label_position = XL_TICK_LABEL_POSITION.NONE
    needed = [panel.margins for panel in panels if panel.margins]
    for panel in panels:
        _finish(slide, panel, largest(needed) if needed else None, ink)


def _add_key(slide: Any, charts: Sequence[NativeChart], area: Area, ink: str, *, names_axis: bool) -> float:
    """Add the line above charts and return its height. It says what the values are, has the sign and the name of each
    series, and ends with the brackets."""
    series = {each.name: each for chart in charts for each in chart.series}
    signs = {each.name: _sign(each, at) for chart in charts for at, each in enumerate(_in_order(chart))}
    named = [each.name for chart in charts if is_flat_range(chart) for each in chart.series]
    named += [level.name for chart in charts for level in named_levels(chart, area.width, _ALONE_PT)]
    shown = [each for each in series.values() if each.mark != "bracket" and each.name not in named]
    shown = shown if len(shown) > 1 else []
    keys = [(Run(signs[each.name], colour=each.colour), Run(f"{each.name}{_KEY_GAP}")) for each in shown]
    axis = [Run(f"{charts[0].left}{_KEY_GAP}", colour=SOFT if ink else "")] if names_axis else []
    brackets = [each for each in series.values() if each.mark == "bracket"]
    said = [Paragraph((*axis, *(run for key in keys for run in key)))]
    at, above, height = area.left, 0.0, 0.0
    whole = text_width("".join((said[0].text, *(f"{_KEY_GAP}{each.name}" for each in brackets))), KEY_PT)
    if axis and (keys or brackets) and whole > area.width * _KEY_SHARE:
        add_text(slide, area, [Paragraph(tuple(axis))], KEY_PT, ink)
        above = height_of_all([Paragraph(tuple(axis))], area.width, KEY_PT)
        area, said = area.below(above), [Paragraph(tuple(run for key in keys for run in key))]
    if said[0].text.strip():
        add_text(slide, area, said, KEY_PT, ink)
        at += text_width(said[0].text, KEY_PT)
        height = height_of_all(said, area.width, KEY_PT)
    for bracket in brackets:
        if at + text_width(bracket.name, KEY_PT) > area.left + area.width * _KEY_SHARE:
            at, area, above = area.left, area.below(height), above + height
        at += add_bracket_key(slide, bracket.name, replace(area, left=at), KEY_PT, ink) + text_width(_KEY_GAP, KEY_PT)
        height = max(height, height_of_all([Paragraph((Run(bracket.name),))], area.width, KEY_PT))
    return above + height


def fits_beside(charts: Sequence[NativeChart], width: float) -> bool:
    """Return whether a figure is one upright chart that is readable at this width."""
    return len(charts) == 1 and not is_flat_range(charts[0]) and _fits(_with_even_steps(charts[0]), width)


def _fits(chart: NativeChart, width: float) -> bool:
    """Return whether a panel of this width is readable: its bars and their numbers, or the places on its axis."""
    if not chart.categories:
        return width >= _NARROWEST
    bars = [each for each in chart.series if each.mark in ("bar", "range")]
    names = max(text_width(name, LEAST_PT) for name in chart.categories)
    numbers = max((text_width(text, LEAST_PT) for each in bars for text in each.labels), default=0.0)
    slot = max(min(names, _LONGEST_NAME), (numbers + 2) * (len(bars) + 0.5))
    return width >= max(_NARROWEST if not bars else 0.0, _TICKS + slot * len(chart.categories))


def _sign(series: NativeSeries, place: int) -> str:
    if series.mark in ("bar", "range"):
        return "\N{WHITE SQUARE} " if series.is_pale else "\N{BLACK SQUARE} "
    return "\N{EN DASH} \N{EN DASH} " if series.dashed else _SIGNS[place % len(_SIGNS)] + " "


def _in_order(chart: NativeChart) -> list[NativeSeries]:
    """Return a chart's series with the level lines last."""
    return sorted(chart.series, key=lambda each: each.is_level)


def _with_even_steps(chart: NativeChart) -> NativeChart:
    """If a chart has a few evenly spaced numbers on its x axis, return it with categories in place of these numbers, so
    that the first one does not lie on the value axis. Other charts are returned unchanged."""
    places = next((each.xs for each in chart.series if each.xs), ())
    on_scale = [math.log(x) if chart.log_x else x for x in places if x > 0 or not chart.log_x]
    steps = [after - before for before, after in pairwise(on_scale)]
    even = steps and min(steps) > 0 and max(steps) - min(steps) < 1e-6 * max(steps)
    if chart.categories or not even or len(places) > MOST_STEPS or any(each.xs != places for each in chart.series):
        return chart
    series = tuple(replace(each, xs=()) for each in chart.series)
    return replace(chart, categories=tuple(f"{x:,.12g}" for x in places), series=series)


def _bounds(series: NativeSeries) -> bool:
    """Return whether an axis must have room for the whole series. For an ideal, it need not."""
    return not series.is_ideal or series.is_level


@dataclass(frozen=True)
class _Panel:
    """A chart on a slide whose marks are not drawn yet. `scales` are its axes, or None if the program chooses them."""

    made: Any
    chart: NativeChart
    brackets: tuple[NativeSeries, ...]
    area: Area
    points: float
    scales: Scales | None
    is_labelled: bool

    def room_over_bars(self, brackets: int) -> float:
        arrows = any(any(each.open) for each in self.chart.series)
        return room_over_bars(self.points, brackets, labelled=self.is_labelled, arrows=arrows)

    @property
    def margins(self) -> Margins | None:
        above = self.room_over_bars(len(self.brackets)) + self.points * LABEL * self.has_ends
        if not self.scales:
            return None
        beside = room_beside(self.chart, self.area.width, self.points, ends=self.has_ends)
        return margins_of(self.chart, self.area, self.scales.y, self.points, above, beside)

    @property
    def has_ends(self) -> bool:
        """Whether the ends of lines have their values beside them."""
        is_free = not any(series.has_intervals for series in self.chart.series)
        return is_free and bool(self.chart.categories or self.points > LEAST_PT)


def _add(
    slide: Any,
    chart: NativeChart,
    area: Area,
    shared: Sequence[float],
    xs: Sequence[float],
    name: str,
    alt: str,
    points: float,
    ink: str,
) -> _Panel:
    brackets = tuple(each for each in chart.series if each.mark == "bracket" and any(each.labels))
    chart = replace(chart, series=tuple(each for each in _in_order(chart) if each.mark != "bracket"))
    kind = _KINDS[chart.series[0].mark, bool(chart.categories)]
    made = add_chart(slide, kind, data_of(chart), area, name, alt)
    made.font.size = Pt(points)
    if ink:  # or else the colour of the house's theme
        made.font.color.rgb = rgb(ink)
    made.has_title = bool(chart.heading)
    if chart.heading:
        text = made.chart_title.text_frame
        text.text = "\v".join(map(writable, heading_lines(chart, area)))
        text.paragraphs[0].font.size, text.paragraphs[0].font.bold = Pt(HEADING_PT), True
    scales = set_axes(made, chart, shared, xs, points, ink, area.width)
    numbers = sum(len(each.values) for each in chart.series if not each.is_level)
    has_intervals = any(series.has_intervals for series in chart.series)
    is_labelled = chart.series[0].mark in ("bar", "range") and not has_intervals and numbers <= _MOST_LABELS
    return _Panel(made, chart, brackets, area, points, scales, is_labelled)


def _finish(slide: Any, panel: _Panel, margins: Margins | None, ink: str) -> None:
    """Place the plot of a panel, and draw its marks."""
    made, chart, points, scales = panel.made, panel.chart, panel.points, panel.scales
    is_bars = chart.series[0].mark in ("bar", "range")
    plot = place_plot(made, chart, panel.area, scales, margins, points) if scales and margins else None
    if chart.series[0].mark == "range":
        made.plots[0].gap_width, made.plots[0].overlap = _RANGE_GAP, 100
        if plot:
            draw_ranges(made, chart, plot, points, ink)
    elif is_bars:
        gap = gap_of(chart, plot.area.width if plot else panel.area.width, narrow=points == LEAST_PT)
        made.plots[0].gap_width, made.plots[0].overlap = gap, -APART
        _set_looks(made, chart)
        for bars in [Bars(chart, plot, gap)] if plot else ():
            if panel.is_labelled:
                label_bars(made, bars, panel.area, points, ink)
            for place, bracket in enumerate(panel.brackets, 1):
                draw_bracket(slide, bracket, bars, panel.room_over_bars(place), ink)
            draw_repeats(slide, bars)
            draw_arrows(slide, bars)
    else:
        _set_looks(made, chart)
        if plot and panel.has_ends:
            label_ends(made, chart, plot, panel.area, points)
        if plot:
            label_keys(made, chart, plot, LEAST_PT)
    if is_bars:
        draw_levels(made, chart)
    if plot:
        name_levels(made, chart, plot, panel.area, points)


def _set_looks(made: Any, chart: NativeChart) -> None:
    is_bars = chart.series[0].mark == "bar"
    for place, (series, drawn) in enumerate(zip(chart.series, made.plots[0].series, strict=True)):
        if not (is_bars and series.is_level):
            set_look(drawn, series, place)
        if series.has_intervals:
            add_intervals(drawn, series, across=not chart.categories)
