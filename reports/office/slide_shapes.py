"""Draws what no chart on a slide can, as shapes on the chart: brackets, rings of repeats, and arrows."""

from __future__ import annotations

from typing import Any

from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.enum.text import PP_ALIGN
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.reports.charts.chart import INK, PAPER, text_width
from benchbrief.reports.data.native_chart import NativeSeries
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_bars import ARROW, RING, Bars
from benchbrief.reports.office.slide_chart_data import finite
from benchbrief.reports.office.slide_labels import LABEL
from benchbrief.reports.office.slide_masters import Area, rgb
from benchbrief.reports.office.slide_parts import add_text
from benchbrief.reports.office.text_fit import BOLDER
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import formatted

_BRACKET, _BRACKET_PT = 22.0, 14.0
"""The height of a bracket with its number, and the type size of the number."""
_KEY_BRACKET, _FEET = 22.0, 5.0
"""The width of a bracket in a key, and the height of a bracket's feet."""
_OVER_NUMBER, _OVER_BAR = 1.7, 3.0
"""The space between a bar and the feet of a bracket over it: as a multiple of the number's type size if the bar has a
number, and in points otherwise."""


def room_over_bars(points: float, brackets: int, *, labelled: bool, arrows: bool) -> float:
    """Return the space needed above the highest bar for the bars' arrows and numbers, and for brackets over them."""
    if not brackets:
        return points * LABEL * labelled + ARROW * arrows
    return ARROW * arrows + (points * _OVER_NUMBER if labelled else _OVER_BAR) + _FEET + _BRACKET * brackets


def draw_bracket(slide: Any, bracket: NativeSeries, bars: Bars, above: float, ink: str) -> None:
    """Draw a bracket with its number over the bars of each category, or over all bars. It consists of shapes on the
    chart. The number's upper end is `above` points over the highest bar."""
    tops = [bars.ends_in(place) for place in range(len(bars.chart.categories))]
    groups = [[each for top in tops for each in top]] if len(bracket.labels) == 1 else tops
    for text, group in zip(bracket.labels, groups, strict=False):
        if not text or not group:
            continue
        left, right = min(x for x, _ in group), max(x for x, _ in group)
        y = min(y for _, y in group) - above + _BRACKET
        shapes = [_add_bracket(slide, left, right, y, ink)] if right > left else []
        wide = text_width(text, _BRACKET_PT) * BOLDER + 4
        own = Area((left + right) / 2 - wide / 2, y - _BRACKET + 3, wide, _BRACKET - 4)
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


def draw_repeats(slide: Any, bars: Bars) -> None:
    """Draw the values of a bar's repeats as small rings on a line."""
    for at, series in enumerate(bars.series):
        for place, repeats in enumerate(series.repeats):
            x, ys = bars.middle(place, at), [bars.plot.y(value) for value in repeats]
            if not ys:
                continue
            shapes = [_add_line(slide, (x, min(ys)), (x, max(ys)))]
            for value, y in zip(repeats, ys, strict=True):
                box = (Pt(x - RING / 2), Pt(y - RING / 2), Pt(RING), Pt(RING))
                ring = slide.shapes.add_shape(MSO_SHAPE.OVAL, *box)
                ring.name = writable(f"{series.name} {formatted(value, ',.6g', '')}")
                ring.fill.solid()
                ring.fill.fore_color.rgb = rgb(PAPER)
                ring.line.color.rgb, ring.line.width = rgb(INK), Pt(1.25)
                ring._element.remove(ring._element.find(qn("p:style")))
                shapes.append(ring)
            slide.shapes.add_group_shape(shapes).name = writable(f"{series.name} {bars.chart.categories[place]}")


def draw_arrows(slide: Any, bars: Bars) -> None:
    """Draw an arrow at the end of each bar whose true value may lie beyond it."""
    for at, series in enumerate(bars.series):
        for place, is_open in enumerate(series.open):
            value = finite(series.values[place])
            if is_open and value is not None:
                x, y = bars.middle(place, at), bars.plot.y(value)
                line = _add_line(slide, (x, y), (x, y + ARROW if value < 0 else y - ARROW))
                line.line._get_or_add_ln().append(parse_xml(f'<a:tailEnd {nsdecls("a")} type="arrow"/>'))
                line.name = writable(f"{series.name} {bars.chart.categories[place]}")


def _add_line(slide: Any, start: tuple[float, float], end: tuple[float, float]) -> Any:
    line = slide.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, *map(Pt, (*start, *end)))
    line.line.color.rgb, line.line.width = rgb(INK), Pt(1.25)
    return line
