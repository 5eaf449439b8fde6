"""Draws charts as vector SVG, and gives the page's script their points and legends.

`chart_layers.py` describes the drawing, and the converter draws it. Text stays text, in the page's own font. The script
(`templates/base/figure.js`) draws nothing: without it, the page shows the same figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import ceil

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.reports.charts.bar_marks import brackets, floating_bars
from benchbrief.reports.charts.build_figure import fits_half
from benchbrief.reports.charts.chart import PAPER, TEXT, Chart, Trace, text_width
from benchbrief.reports.charts.chart_layers import panel_spec
from benchbrief.reports.charts.chart_layout import (
    NO_MARGINS,
    LegendItem,
    Margins,
    Panel,
    Plot,
    arrange,
    common_margins,
    rows_for,
    wrap,
)
from benchbrief.reports.charts.chart_texts import texts
from benchbrief.reports.charts.drawn_series import Detail, DrawnSeries, bounded
from benchbrief.reports.charts.flat_bars import flat_brackets, rectangles
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.view_model import Card, FigureView
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.number_format import decimals_for, fixed, locale, with_unit, written_as
from benchbrief.reports.words.brief_words import Words, counted

_NAMED_CELLS = 3


Script = Mapping[str, object]


def script_data(
    figure: DrawnFigure, drawn: Sequence[DrawnSeries], number: int, words: Words, *, with_cells: bool
) -> Script:
    """Return the data for the page's script. `series` has the name and the box of each toggle, and `points` has the
    series, the box and the tooltip lines of each point. With `with_cells`, the lines name the point's cells.

    A box is left, top, width and height in pixels of the drawing.
    """
    series: dict[int, dict[str, object]] = {}
    points: list[dict[str, object]] = []
    of_panel = iter(drawn)
    for panel in figure.panels:
        plot = panel.plot
        left, top = panel.x + plot.left, panel.y + plot.top
        for index, name, box in (*_legend((*plot.legend, *panel.legend)), *_direct(plot)):
            series[index] = {"series": index, "name": name, "box": _moved(box, left, top)}
        for index, trace in enumerate(plot.chart.traces):
            one = next(of_panel)
            for point, detail, place in zip(trace.points, one.details, _boxes(plot, trace), strict=True):
                if point.y is not None and place is not None:
                    tip = list(_tip(one, detail, words, with_cells=with_cells))
                    points.append({"series": index, "box": _moved(place, left, top), "tip": tip})
    label = words["figure_points"].format(number=number)
    return {"size": [figure.width, figure.height], "label": label, "series": list(series.values()), "points": points}


_Box = tuple[float, float, float, float]


def _moved(box: _Box, x: float, y: float) -> list[float]:
    return [round(v, 1) for v in (box[0] + x, box[1] + y, box[2], box[3])]


def _legend(items: Sequence[LegendItem]) -> Iterable[tuple[int, str, _Box]]:
    for item in items:
        yield item.series, item.trace.name, (item.x, item.y - 9, 28 + text_width(item.name, TEXT), 18)


def _direct(plot: Plot) -> Iterable[tuple[int, str, _Box]]:
    if plot.direct:
        for text in texts(plot):
            if text.series is not None:
                yield text.series, text.text, (text.x - 3, text.y - 8, text_width(text.text, TEXT) + 8, 16)


def _boxes(plot: Plot, trace: Trace) -> list[_Box | None]:
    if plot.flat:
        return _flat_boxes(plot, trace)
    x, y = plot.x_pixel(), plot.y_pixel(trace)
    found: list[_Box | None] = []
    floating = {id(bar.point): bar for bar in (floating_bars(plot, trace) if trace.mark == "range" else ())}
    over = {id(each.point): each for each in (brackets(plot) if trace.mark == "bracket" else ())}
    for point in trace.points:
        if point.y is None or (trace.ideal and point.y > plot.y.high):
            found.append(None)
        elif trace.mark == "bracket":
            one = over.get(id(point))
            found.append((one.left, one.y - 14, one.right - one.left, 18.0) if one else None)
        elif trace.mark == "range":
            bar = floating[id(point)]
            found.append((bar.left, bar.top, bar.right - bar.left, bar.bottom - bar.top))
        elif trace.mark == "bar":
            first, last = plot.bar(trace, point.x)
            ends = sorted((y(point.y), y(0.0)))
            found.append((first, ends[0], last - first, ends[1] - ends[0]))
        elif point.upright:
            found.append((x(point.x), 0.0, 0.0, plot.height))
        elif trace.mark == "rule":
            found.append((0.0, y(point.y), plot.width, 0.0))
        else:
            found.append((x(point.x), y(point.y), 0.0, 0.0))
    return found


def _flat_boxes(plot: Plot, trace: Trace) -> list[_Box | None]:
    if trace.mark == "bracket":
        boxes = {id(b.point): (b.x - 5, b.top, 12.0, b.bottom - b.top) for b in flat_brackets(plot) if b.trace is trace}
    elif trace.mark == "rule":
        value = plot.y_pixel(trace)
        boxes = {id(p): (value(p.y), 0.0, 0.0, plot.height) for p in trace.points if p.y is not None}
    else:
        of_bars = rectangles(plot, trace)
        boxes = {id(point): (left, top, right - left, bottom - top) for point, (left, top, right, bottom) in of_bars}
    return [boxes.get(id(point)) for point in trace.points]


def _tip(drawn: DrawnSeries, detail: Detail, words: Words, *, with_cells: bool) -> Iterable[str]:
    yield words["semicolon"].join(part for part in (drawn.panel, drawn.trace.name) if part)
    if detail.value is None:
        return
    scale = drawn.x if drawn.upright else drawn.y
    value, low, high = ("" if v is None else drawn.written(scale(v)) for v in (detail.value, detail.low, detail.high))
    value = bounded(detail.mark + value, detail, words)
    if detail.x is not None:
        x = drawn.x(detail.x)
        value = f"{value}{words['semicolon']}{with_unit(fixed(x, decimals_for([x])), drawn.x.unit)}"
    dim = words.dimension(drawn.series.x_dim or "")
    key = f"{dim} {detail.key}" if dim and _is_number(detail.in_files or detail.key) else detail.key
    yield f"{key}{words['colon']}{value}" if detail.key else value
    if low and high:
        yield words["tip_interval"].format(low=low, high=high)
    if detail.repeats:
        yield counted(words, "tip_repeats", detail.repeats)
    if detail.cells and with_cells:
        more = "…" if len(detail.cells) > _NAMED_CELLS else ""
        cells = words.locale.listed(detail.cells[:_NAMED_CELLS]) + more
        yield words.form("tip_cells", len(detail.cells)).format(cells=cells)


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").isdigit()


def draw(
    charts: Sequence[Chart], width: int, height: int, font: str, converter: Converter, least: Margins = NO_MARGINS
) -> DrawnFigure:
    """Return the charts as an SVG document of `width` x `height` pixels: one chart, or panels with shared axes and one
    legend. A single chart has margins of at least `least`.

    At least one point must have a value. The attribute `data-series` of a group names its trace in the chart. Raises
    NotDrawn.
    """
    arranged = arrange(charts, width, height, least)
    drawn = [_svg(panel, font, converter) for panel in arranged]
    if len(arranged) == 1:
        return DrawnFigure(drawn[0], arranged, width, height)
    inner = (
        f'<g transform="translate({panel.x},{panel.y})">{_prefixed(_content(svg), f"p{index}")}</g>'
        for index, (panel, svg) in enumerate(zip(arranged, drawn, strict=True))
    )
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" {size} viewBox="0 0 {width} {height}">'
    return DrawnFigure(f'{head}<rect {size} fill="{PAPER}"/>{"".join(inner)}</svg>', arranged, width, height)


def lower_drawing(
    charts: Sequence[Chart],
    drawn: DrawnFigure,
    font: str,
    converter: Converter,
    gaps: Gaps,
    least: Margins = NO_MARGINS,
) -> Callable[[float], str]:
    """Return a function that redraws the charts at a share of their height, with texts of unchanged size. It draws each
    height only once. If that fails, or if a rigid drawing would become lower, the function returns the drawing as it
    is.
    """
    written = locale()

    @cache
    def at_height(height: int) -> str:
        if height == drawn.height:
            return drawn.svg
        with written_as(written):
            return gaps.tried(lambda: draw(charts, drawn.width, height, font, converter, least).svg, drawn.svg)

    def lower(share: float) -> str:
        return at_height(int(drawn.height * (max(1.0, share) if drawn.is_rigid else share)))

    return lower


def draw_for_phone(
    charts: Sequence[Chart], font: str, converter: Converter, gaps: Gaps, data: Callable[[DrawnFigure], Script]
) -> Callable[[], tuple[str, Script] | None]:
    """Return a function that draws the charts for a phone, once only. It returns the drawing and the page script's
    `data` for the drawing, or None if the charts can't be drawn."""
    written = locale()

    @cache
    def drawn() -> tuple[str, Script] | None:
        def made() -> tuple[str, Script]:
            found = draw(charts, PHONE, height_for(charts, PHONE), font, converter)
            return found.svg, data(found)

        with written_as(written):
            return gaps.tried(made, None)

    return drawn


@dataclass(frozen=True)
class DrawnFigure:
    """The SVG document, its size in pixels, and the area of each panel."""

    svg: str
    panels: tuple[Panel, ...]
    width: int
    height: int

    @property
    def is_rigid(self) -> bool:
        """Return whether the figure cannot be made lower, because it has several panels or horizontal bars."""
        return len(self.panels) > 1 or self.panels[0].plot.flat


def _svg(panel: Panel, font: str, converter: Converter) -> str:
    """Return a panel as an SVG document."""
    svg = converter.svg(writable(panel_spec(panel, font)))
    svg = re.sub(r' class="mark-[^"]* s(\d+)[a-z][^"]*"', r' data-series="\1"', svg)
    return re.sub(r"\s+(?:class|role|aria-[a-z]+|pointer-events)=\"[^\"]*\"", "", svg)


def _content(svg: str) -> str:
    """Return the contents of a document, without its background."""
    return re.sub(r"^<svg[^>]*>(<rect[^>]*/>)?|</svg>$", "", svg)


def _prefixed(svg: str, prefix: str) -> str:
    """Prefix the identifiers of a panel, so that they differ from those of other panels."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)


FULL, HALF = (657, 240), (317, 212)  # pixels of 1/96 inch: the page's text width, and half of it less the gap
PHONE = 340
"""The width of the second drawing, which is for a phone's screen."""
SLIDE = (720, 208)
"""The size of a figure for a slide, in pixels. To be readable from afar, it is shown 1.6 times as large, on a slide
1,136 pixels wide."""
HIGHEST_ON_SLIDE = 280
"""The largest height of a figure that still fits below a two-line heading."""


_CLAIM_TYPE, _TITLE_TYPE = (10.86, 14.3), (8.48, 12.04)
"""The type of a claim and of a title above a figure, both in points. The first number is the type size that
`text_width` assumes for our typeface. The second is the height of a line."""
_MOST_FLAT = 700
LEAST_PLOT = 152
"""The least height of a plot area in pixels (40 mm)."""


def height_for(charts: Sequence[Chart], width: int = FULL[0], usual: int = FULL[1], least: Margins = NO_MARGINS) -> int:
    """Return the height in pixels of a figure of this width. For a single chart, it is `usual`, unless horizontal bars
    need more. It grows if long texts would leave too little room for the plot areas."""
    if not charts:
        return usual
    rows = rows_for(len(charts), width)
    height = 70 + 180 * rows if len(charts) > 1 else max(usual, _flat_height(charts[0], width))
    lowest = min(panel.plot.height for panel in arrange(charts, width, height, least))
    return height + rows * max(0, ceil(LEAST_PLOT - lowest))


def _flat_height(chart: Chart, width: int) -> int:
    """Return the pixels needed by bars that are horizontal because of their long names, or 0 for other charts."""
    plot = Plot(chart, width, _MOST_FLAT)
    return ceil(plot.flat_height()) if plot.flat else 0


def margins_beside(charts: Iterable[Sequence[Chart]]) -> Margins:
    """Return the margins of charts that are placed side by side, each half as wide as the page."""
    return common_margins(Plot(of_one[0], *HALF, least=Margins(beside=True)) for of_one in charts if len(of_one) == 1)


def with_even_heads(
    figures: Sequence[FigureView], words: Words, own: Sequence[FigureView] = ()
) -> tuple[FigureView, ...]:
    """Return figures for placing side by side. Each gets as much room for its claim and its head as the tallest of them
    needs, so that titles and plots are level.

    If not all of them have a claim, only claims that an author wrote are kept. `own` has the figures with such claims.
    """
    if not all(figure.claim for figure in figures):
        figures = [figure if figure in own else replace(figure, claim=None) for figure in figures]
    titles = (f"{words['figure']} {figure.number}{words['colon']}{figure.title}" for figure in figures)
    of_titles = [_lines_height(title, *_TITLE_TYPE) for title in titles]
    of_claims = [_lines_height(str(each.claim.striptags()), *_CLAIM_TYPE) if each.claim else 0.0 for each in figures]
    claim, head = max(of_claims), max(of_claims) + max(of_titles)
    uneven = len({*of_titles}) > 1 or len({*of_claims}) > 1
    return tuple(
        replace(figure, head_pt=round(head, 1) if uneven else 0.0, claim_pt=round(claim, 1) if own < claim else 0.0)
        for figure, own in zip(figures, of_claims, strict=True)
    )


def _lines_height(text: str, size: float, line: float) -> float:
    """Return the height in points of a text above a figure of half the page's width."""
    return line * len(wrap(text, HALF[0] * 0.75 * TEXT / size, 9))


def slide_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the width and height of a figure on a slide. Several panels get most of the height below a heading."""
    return SLIDE[0], min(HIGHEST_ON_SLIDE, round(SLIDE[1] * max(1.0, size[1] / FULL[1])))


def card_size(cards: Sequence[Card], *, slides: bool) -> float:
    """Return the type size in points that lets the longest number fit its card if the cards are side by side."""
    longest = max((text_width(card.html.striptags(), 1.0) for card in cards), default=1.0)
    most, width = (54.0, 740) if slides else (19.0, 460)
    return round(min(most, (width / max(1, len(cards)) - 20) / longest), 1)


def run_of_figures(elements: Sequence[p.Element]) -> list[p.FigureElement]:
    """Return the figures at the start of the elements that may be placed side by side."""
    found: list[p.FigureElement] = []
    for element in elements:
        if not isinstance(element, p.FigureElement) or not fits_half(element):
            break
        found.append(element)
    return found
