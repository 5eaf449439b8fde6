"""The sizes of figures and cards, and which figures stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.charts.build_figure import fits_half
from benchbrief.reports.charts.chart_axes import text_width
from benchbrief.reports.charts.small_multiples import rows_for
from benchbrief.reports.data.view_model import Card

FULL, HALF = (657, 240), (317, 212)  # pixels of 1/96 inch: the page's text width, and half of it less the gap
SLIDE = (720, 208)
"""Drawn 1.6 times as large, on a slide of 1,136, to be read from afar."""


def height_for(panels: int) -> int:
    """Return the pixels of a figure as wide as the page, with so many panels."""
    return FULL[1] if panels < 2 else 70 + 180 * rows_for(panels)


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
