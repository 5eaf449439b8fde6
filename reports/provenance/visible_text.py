"""The text that a reader of laid-out pages can see, without hidden, cut off or background-coloured text.

It uses the boxes of WeasyPrint's layout (`Document.pages`). Text under another box counts as visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import degrees
from typing import Any

from benchbrief.reports.text.compared_letters import letters

_LEAST_SIZE = 4.0
"""CSS pixels. Nobody can read smaller letters."""
_MOST_MOVED = 10.0
"""CSS pixels, or degrees."""
_LEAST_CONTRAST = 1.8
"""By WCAG 2.2. It is far below the recommended contrast, and above anything but a mistake."""


@dataclass(frozen=True)
class _Around:
    """What the boxes around a box let show of it: an area (left, top, right, bottom) over a colour of these shares."""

    area: tuple[float, float, float, float]
    ground: tuple[float, float, float] = (1.0, 1.0, 1.0)


def find_unseen(pages: Iterable[Any], wanted: Iterable[str]) -> list[str]:
    """Return the texts that no reader of the pages sees, however they are broken into lines, hyphenated or cased."""
    shown = letters("".join(text for page in pages for text in _of_page(page._page_box)))
    return [text for text in wanted if letters(text) not in shown]


def _of_page(page: Any) -> Iterator[str]:
    """Yield the page's flow: its margins and footnotes would stand between the parts of what a page's end breaks."""
    around = _Around((0.0, 0.0, page.margin_width(), page.margin_height()))
    for box in page.children[:1]:
        yield from _of_box(box, around)


def _of_box(box: Any, around: _Around) -> Iterator[str]:
    style = box.style
    if style["opacity"] < 0.5 or _is_moved(style["transform"]) or style["clip"]:
        return
    alpha = style["background_color"].alpha
    mixed = zip(_rgb(style["background_color"]), around.ground, strict=True)
    red, green, blue = (alpha * own + (1 - alpha) * under for own, under in mixed)
    around = replace(around, ground=(red, green, blue))
    text = getattr(box, "text", None)
    if text is not None:
        if _seen(box, around):
            yield text
        return
    if style["overflow"] != "visible":
        left, top, right, bottom = around.area
        x, y = box.border_box_x(), box.border_box_y()
        area = (max(left, x), max(top, y), min(right, x + box.border_width()), min(bottom, y + box.border_height()))
        around = replace(around, area=area)
    for child in getattr(box, "children", ()):
        yield from _of_box(child, around)


def _is_moved(transform: Iterable[tuple[str, Any]]) -> bool:
    """Return whether it is moved or turned by more than a style sheet may
    (`compiler/briefs/style/confined_styles.py`)."""
    for name, by in transform:
        if name == "translate":
            if any(length.unit != "px" or abs(length.value) > _MOST_MOVED for length in by):
                return True
        elif name != "rotate" or abs(degrees(by)) > _MOST_MOVED:
            return True
    return False


def _seen(box: Any, around: _Around) -> bool:
    style = box.style
    left, top, right, bottom = around.area
    x, y = box.position_x + box.width / 2, box.position_y + box.height / 2
    return (
        style["visibility"] == "visible"
        and style["font_size"] >= _LEAST_SIZE
        and style["color"].alpha >= 0.5
        and left <= x <= right
        and top <= y <= bottom
        and _contrast(_rgb(style["color"]), around.ground) >= _LEAST_CONTRAST
    )


def _rgb(color: Any) -> tuple[float, float, float]:
    red, green, blue = color.to("srgb").coordinates
    return red, green, blue


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """WCAG 2.2, contrast ratio and relative luminance."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: tuple[float, ...]) -> float:
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in color)
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
