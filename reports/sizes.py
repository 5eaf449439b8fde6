"""How large figures and cards are, and which figures stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler import plan as p
from benchbrief.reports.axes import text_width
from benchbrief.reports.figures import fits_half
from benchbrief.reports.multiples import rows_for
from benchbrief.reports.view import Card

FULL, HALF = (657, 240), (317, 212)  # pixels of 1/96 inch: the page's text width, and half of it less the gap


def height_for(panels: int) -> int:
    """Pixels of a figure as wide as the page, with so many panels."""
    return FULL[1] if panels < 2 else 70 + 180 * rows_for(panels)


def slide_size(size: tuple[int, int]) -> tuple[int, int]:
    """As wide as a slide is, and as high as its head and texts leave it."""
    _, height = size
    return 900, round(285 * height / FULL[1]) if height > FULL[1] else 285


def card_size(cards: Sequence[Card]) -> float:
    """Points at which the longest number fits its card on one line, the cards side by side on a page."""
    longest = max((text_width(card.html.striptags(), 1.0) for card in cards), default=1.0)
    return round(min(19.0, (460 / max(1, len(cards)) - 20) / longest), 1)


def run_of_figures(elements: Sequence[p.Element]) -> list[p.FigureElement]:
    """The figures at the head of the elements that may stand side by side."""
    found: list[p.FigureElement] = []
    for element in elements:
        if not isinstance(element, p.FigureElement) or not fits_half(element):
            break
        found.append(element)
    return found
