"""Finds faults in the look of laid-out pages: text that is too small to read, or that extends beyond its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SMALLEST = 6.5
"""The smallest type size in points that a house style may use without a warning."""
_MOST = 3
_SHOWN = 40
_EDGE = 2.0
"""How many pixels a text may extend beyond the edge without a warning. This may be only the space after its last
letter."""


def find_faults(document: Any, house: str) -> Iterator[str]:
    """Yield the faults that a house style (with its files) causes: the page, the first unreadable text on it, and a
    remedy."""
    small: dict[int, tuple[float, str]] = {}
    beyond: dict[int, str] = {}
    for number, page in enumerate(document.pages, 1):
        sheet = page._page_box
        right, foot = sheet.margin_width(), sheet.content_box_y() + sheet.height
        for box in sheet.children[0].descendants():
            text = getattr(box, "text", "").strip()
            if not text:
                continue
            points = box.style["font_size"] * 0.75
            if points < SMALLEST:
                small.setdefault(number, (points, text))
            across = box.position_x < -_EDGE or box.position_x + box.width > right + _EDGE
            if across or box.position_y > foot + _EDGE:
                beyond.setdefault(number, text)
    for number, (points, text) in list(small.items())[:_MOST]:
        yield (
            f"{house} sets text in {points:.1f} pt on page {number} (“{text[:_SHOWN]}”), "
            f"which is hard to read: give it a `font-size` of {SMALLEST} pt or more"
        )
    for number, text in list(beyond.items())[:_MOST]:
        yield (
            f"{house} sets text beyond the edge of page {number} (“{text[:_SHOWN]}”), where it is cut off: "
            "let it be narrower or break into lines (`white-space: normal`, `overflow-wrap: anywhere`)"
        )


def pages_too_many(document: Any) -> str:
    """If a brief meant for one page has more pages, return a message with a remedy, or else ""."""
    count = len(document.pages)
    if count < 2:
        return ""
    return (
        f"`layout = one_page`, but it has {count} pages, with its figures as low as can be read: "
        "take out a figure, a table or texts, or write `columns = 2`"
    )
