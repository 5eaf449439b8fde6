"""Writes numbers in large type on a slide, each on a card above its description."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR
from pptx.oxml.ns import qn
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.office.line_breaks import broken
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, rgb
from benchbrief.reports.office.slide_parts import add_text, fill, height_of_all

_IN_A_ROW, _HIGH = 4, 220.0
"""The most cards side by side. If there are exactly that many and the area is at least `_HIGH` points high, they are in
two rows of two."""
_GAP, _PAD, _BAR = 16.0, 16.0, 5.0
"""The space between cards and within them, and the width of the bar at a card's left."""
_TALLER = 1.3
"""How many times as tall as its texts a card may be."""
_LEAST, _ENOUGH = 24.0, 30.0
"""The smallest type size for the numbers of a row, and the smallest size that allows larger texts below them."""
_SMALL, _NUMBER_SHARE, _MOSTLY = 40.0, 0.5, 0.85
"""How numbers are sized. If side by side they would have less than `_SMALL` points, they are placed one below the
other, each with at most the share `_NUMBER_SHARE` of the width. A number with its sentence below it is large enough at
the share `_MOSTLY` of the largest size.
"""
_OVER_LABEL, _UNDER_NUMBER = 2.2, 4.0
"""A number over its sentence is large enough at this many times the sentence's type size. Then the space below it."""
_LABEL_PT = (18.0, 16.0, 14.0, LEAST_PT)
_BESIDE_PT, _BESIDE_SHARE = 26.0, 0.55
"""The type size of a sentence beside a number, and the largest share of the width that this number takes."""


@dataclass(frozen=True)
class Card:
    value: tuple[Run, ...]
    text: tuple[Run, ...]

    @property
    def ems(self) -> float:
        return text_width("".join(run.text for run in self.value), 1.0)


@dataclass(frozen=True)
class CardLook:
    """The colours of numbers, of texts, of the bar and of the background. "" means the theme's colour for numbers and
    texts, and no bar or background. `wider` is the factor by which a number may be wider than estimated."""

    number: str
    ink: str
    bar: str
    ground: str
    wider: float


def _rows_of(count: int, height: float) -> list[int]:
    """Return how many cards each row has, for this number of cards and this height."""
    rows = math.ceil(count / (2 if count == _IN_A_ROW and height >= _HIGH else _IN_A_ROW))
    across = math.ceil(count / rows)
    return [min(across, count - across * row) for row in range(rows)]


def add_cards(
    slide: Any, cards: Sequence[Card], area: Area, most: float, look: CardLook, *, fills: bool = False
) -> float:
    """Place cards in rows of equal width and return their height. The numbers have at most `most` points. With `fills`,
    the cards are as high as the area."""
    widest = max(card.ems for card in cards) * look.wider
    rows = _rows_of(len(cards), area.height)
    if len(rows) == 1 and len(cards) > 2 and (_width(area, len(cards)) - 2 * _PAD) / widest < _LEAST:
        rows = [math.ceil(len(cards) / 2), len(cards) // 2]
    width, pitch = _width(area, rows[0]), (area.height - _GAP * (len(rows) - 1)) / len(rows)
    room = width - 2 * _PAD
    labels = {of: max(height_of_all([Paragraph(card.text)], room, of) for card in cards) for of in _LABEL_PT}
    for of in _LABEL_PT:
        points = max(LEAST_PT, min(most, room / widest, (pitch - labels[of] - 2 * _PAD) / 1.25))
        if points >= min(most, room / widest, _ENOUGH):
            break
    if len(rows) == 1 and points < _SMALL and (larger := _points_in_lines(cards, area, most, look)) > points:
        return _add_lines(slide, cards, area, larger, look)
    own = points * 1.25 + labels[of]
    height = pitch if fills else min(pitch, (own + 2 * _PAD) * _TALLER)
    at = 0
    for row, across in enumerate(rows):
        wide = _width(area, across)
        for column in range(across):
            left, top = area.left + column * (wide + _GAP), area.top + row * (height + _GAP)
            _add_card(slide, cards[at], Area(left, top, wide, height), points, of, own, look)
            at += 1
    return height * len(rows) + _GAP * (len(rows) - 1)


def _points_in_lines(cards: Sequence[Card], area: Area, most: float, look: CardLook) -> float:
    """Return the type size at which the cards' numbers fit in a column, each with its text to the right, or 0 if they
    do not fit."""
    high = (area.height - _GAP * (len(cards) - 1)) / len(cards)
    widest = max(card.ems for card in cards) * look.wider
    points = min(most, (high - _GAP / 2) / 1.25, area.width * _NUMBER_SHARE / widest)
    room = area.width * (1 - _NUMBER_SHARE) - 2 * _PAD
    return points if all(height_of_all([Paragraph(card.text)], room, LEAST_PT) <= high for card in cards) else 0.0


def _add_lines(slide: Any, cards: Sequence[Card], area: Area, points: float, look: CardLook) -> float:
    gap = _GAP * 0.75
    high = (area.height - gap * (len(cards) - 1)) / len(cards)
    left = max(card.ems for card in cards) * look.wider * points + 2 * _PAD
    room = area.width - left - 2 * _PAD
    texts = [[Paragraph(card.text)] for card in cards]
    fitting = (of for of in (20.0, *_LABEL_PT) if all(height_of_all(said, room, of) <= high for said in texts))
    of = next(fitting, LEAST_PT)
    for place, card in enumerate(cards):
        own = Area(area.left, area.top + place * (high + gap), area.width, high)
        _add_ground(slide, own, look)
        number = Area(own.left + _PAD, own.top, left - _PAD, high)
        add_text(slide, number, [Paragraph(card.value)], points, look.number, bold=True, anchor=MSO_ANCHOR.MIDDLE)
        beside = Area(own.left + left + _PAD, own.top, room, high)
        add_text(slide, beside, texts[place], of, look.ink, anchor=MSO_ANCHOR.MIDDLE)
    return area.height


def _width(area: Area, across: int) -> float:
    return (area.width - _GAP * (across - 1)) / across


def _add_card(slide: Any, card: Card, area: Area, points: float, of: float, high: float, look: CardLook) -> None:
    """Add a card. `high` is the height that the number and text of the highest card take. Because of it, the numbers of
    all cards are on one line."""
    _add_ground(slide, area, look)
    said = [Paragraph(broken(card.text, area.width - 2 * _PAD, of, bold=False))]
    top = area.top + max(_PAD, (area.height - high) / 2)
    number = Area(area.left + _PAD, top, area.width - _PAD, points * 1.25)
    add_text(slide, number, [Paragraph(card.value)], points, look.number, bold=True)
    below = Area(number.left, number.bottom, area.width - 2 * _PAD, area.bottom - number.bottom)
    add_text(slide, below, said, of, look.ink)


def _add_ground(slide: Any, area: Area, look: CardLook) -> None:
    if look.ground:
        add_box(slide, area, look.ground)
    if look.bar:
        add_box(slide, Area(area.left, area.top, _BAR, area.height), look.bar)


def add_number(slide: Any, card: Card, area: Area, most: float, look: CardLook) -> None:
    """Write one number in at most `most` points. Its sentence is to the right or, if the number is long, below."""
    wide = card.ems * look.wider
    points = min(most, area.height / 1.25, area.width / wide)
    if wide * points > area.width * _BESIDE_SHARE:
        _add_stacked(slide, card, area, most, look)
        return
    number = Area(area.left, area.top, wide * points, area.height)
    add_text(slide, number, [Paragraph(card.value)], points, look.number, bold=True, anchor=MSO_ANCHOR.MIDDLE)
    beside = Area(area.left + number.width + 28, area.top, area.width - number.width - 28, area.height)
    sizes = (_BESIDE_PT, 22.0, *_LABEL_PT)
    said = [Paragraph(broken(card.text, beside.width, _BESIDE_PT, bold=False))]
    of = next((size for size in sizes if height_of_all(said, beside.width, size) <= area.height), LEAST_PT)
    add_text(slide, beside, said, of, look.ink, anchor=MSO_ANCHOR.MIDDLE)


def _add_stacked(slide: Any, card: Card, area: Area, most: float, look: CardLook) -> None:
    """Write a number as large as its place allows, and its sentence below it."""
    said = [Paragraph(card.text)]
    wide = card.ems * look.wider
    most = min(most, area.width / wide)
    for of in (_BESIDE_PT, 22.0, 20.0, *_LABEL_PT):
        below = height_of_all(said, area.width, of)
        points = min(most, (area.height - below) / 1.25)
        if points >= min(most * _MOSTLY, of * _OVER_LABEL):
            break
    points = max(points, LEAST_PT)
    number = [Paragraph(card.value)]
    box = add_text(slide, area, number, points, look.number, bold=True, anchor=MSO_ANCHOR.MIDDLE)
    box.text_frame.paragraphs[0].space_after = Pt(_UNDER_NUMBER)
    text = broken(card.text, area.width, of, bold=False)
    fill(box.text_frame.add_paragraph(), text, of, look.ink)


def add_box(slide: Any, area: Area, colour: str, *, is_round: bool = False) -> Any:
    """Add a box of one colour, without a line or a shadow."""
    kind = MSO_SHAPE.ROUNDED_RECTANGLE if is_round else MSO_SHAPE.RECTANGLE
    box = slide.shapes.add_shape(kind, Pt(area.left), Pt(area.top), Pt(area.width), Pt(area.height))
    box.fill.solid()
    box.fill.fore_color.rgb = rgb(colour)
    box.line.fill.background()
    style = box._element.find(qn("p:style"))
    box._element.remove(style)
    return box
