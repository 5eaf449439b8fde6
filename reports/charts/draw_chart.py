"""Draws charts as vector SVG: lines, grouped bars, two axes, latency-throughput curves, rules, confidence intervals.

`chart_layers.py` says what is drawn, and the converter draws it. Text stays text, in the page's own font.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import fits_half
from benchbrief.reports.charts.chart import PAPER, Chart, text_width
from benchbrief.reports.charts.chart_layers import panel_spec
from benchbrief.reports.charts.chart_layout import Panel, arrange, rows_for
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.view_model import Card
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.words.locale_formats import locale, written_as


def draw(charts: Sequence[Chart], width: int, height: int, font: str, converter: Converter) -> Drawn:
    """Return the charts as an SVG document of `width` x `height` pixels: one, or panels with shared axes and one
    legend.

    At least one point has a value. `data-series` on a group names its trace in the chart. Raises NotDrawn.
    """
    arranged = arrange(charts, width, height)
    drawn = [_svg(panel, font, converter) for panel in arranged]
    if len(arranged) == 1:
        return Drawn(drawn[0], arranged, width, height)
    inner = (
        f'<g transform="translate({panel.x},{panel.y})">{_prefixed(_content(svg), f"p{index}")}</g>'
        for index, (panel, svg) in enumerate(zip(arranged, drawn, strict=True))
    )
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" {size} viewBox="0 0 {width} {height}">'
    return Drawn(f'{head}<rect {size} fill="{PAPER}"/>{"".join(inner)}</svg>', arranged, width, height)


def lower_drawing(
    charts: Sequence[Chart], drawn: Drawn, font: str, converter: Converter, gaps: Gaps
) -> Callable[[float], str]:
    """Return a function that redraws the charts at a share of their height, with texts of the same size, and numbers
    written as now. It keeps the charts where that fails, and panels as high as they are at least."""
    written = locale()

    def lower(share: float) -> str:
        with written_as(written):
            height = int(drawn.height * (share if len(charts) == 1 else max(1.0, share)))
            return gaps.tried(lambda: draw(charts, drawn.width, height, font, converter).svg, drawn.svg)

    return lower


@dataclass(frozen=True)
class Drawn:
    """The document, its size in pixels, and the place of each panel."""

    svg: str
    panels: tuple[Panel, ...]
    width: int
    height: int


def _svg(panel: Panel, font: str, converter: Converter) -> str:
    """Return a panel as a document."""
    svg = converter.svg(writable(panel_spec(panel, font)))
    svg = re.sub(r' class="mark-[^"]* s(\d+)[a-z][^"]*"', r' data-series="\1"', svg)
    return re.sub(r"\s+(?:class|role|aria-[a-z]+|pointer-events)=\"[^\"]*\"", "", svg)


def _content(svg: str) -> str:
    """Return the contents of a document, without its background."""
    return re.sub(r"^<svg[^>]*>(<rect[^>]*/>)?|</svg>$", "", svg)


def _prefixed(svg: str, prefix: str) -> str:
    """Prefix the identifiers, so that no other panel has them."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)


FULL, HALF = (657, 240), (317, 212)  # pixels of 1/96 inch: the page's text width, and half of it less the gap
SLIDE = (720, 208)
"""Drawn 1.6 times as large, on a slide of 1,136, to be read from afar."""


LEAST_PANEL = 133
"""Pixels of a panel's plot area: 35 mm."""


def height_for(charts: Sequence[Chart]) -> int:
    """Return the pixels of a figure as wide as the page. Its panels are readable, however long their texts are."""
    if len(charts) < 2:
        return FULL[1]
    rows = rows_for(len(charts))
    height = 70 + 180 * rows
    lowest = min(panel.plot.height for panel in arrange(charts, FULL[0], height))
    return height + rows * max(0, ceil(LEAST_PANEL - lowest))


def slide_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the width of a slide, and the height that its head and texts leave."""
    return SLIDE[0], round(SLIDE[1] * max(1.0, size[1] / FULL[1]))


def card_size(cards: Sequence[Card]) -> float:
    """Return the points of type at which the longest number fits its card, with the cards side by side on a page."""
    longest = max((text_width(card.html.striptags(), 1.0) for card in cards), default=1.0)
    return round(min(19.0, (460 / max(1, len(cards)) - 20) / longest), 1)


def run_of_figures(elements: Sequence[p.Element]) -> list[p.FigureElement]:
    """Return the first figures of the elements that may stand side by side."""
    found: list[p.FigureElement] = []
    for element in elements:
        if not isinstance(element, p.FigureElement) or not fits_half(element):
            break
        found.append(element)
    return found
