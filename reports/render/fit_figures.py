"""Fits figures to their pages: where a page ends in a blank because the next figure is a little too high, the document
is laid out again with a lower figure. A slide's only figure grows into the blank below it.

It uses the boxes of WeasyPrint's layout (`Document.pages`), in CSS pixels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_BLANK = 0.25
"""The share of a page's height that may stay blank at its foot."""
LOWEST = 0.7
"""The least share of its height that a figure keeps."""
HIGHEST = 1.6
"""The largest share of its height that a slide's figure grows to."""
_LAYOUTS = 2
"""The most layouts of a document: each takes as long as the first."""
_SPARE = 4.0
_FIGURE = re.compile(r"figure-\d+")
_FORCED = ("page", "left", "right", "recto", "verso", "always")


def fit_figures(document: Any, again: Callable[[Mapping[str, float]], Any]) -> Any:
    """Return the first layout with the fewest pages that end in a blank.

    `again` lays the document out with figures drawn at these shares of their heights, by the figures' ids.
    """
    tried, shares = [document], _grown(document)
    if shares:
        tried = [again(shares)]
    while len(tried) <= _LAYOUTS and (lower := _too_high(tried[-1], shares)):
        shares |= lower
        tried.append(again(shares))
    return min(tried, key=lambda each: sum(blank > _BLANK for blank in blank_shares(each)))


def _grown(document: Any) -> dict[str, float]:
    """Return the figures that are alone on their slides, with the shares of their heights that fill the slides."""
    shares = {}
    for sheet, following in zip(document.pages, [*document.pages[1:], None], strict=True):
        flow = sheet._page_box.children[0]
        if len([box for box in flow.descendants() if _is_slide(box)]) == 1 and len(found := list(_figures(flow))) == 1:
            for name, height in _drawings(found[0]):
                share = 1 + (_blank(sheet, following) - _SPARE) / height
                shares[name] = round(min(max(1.0, share), HIGHEST), 3)
    return shares


def blank_shares(document: Any) -> list[float]:
    """Return, for each page but the last, the blank share of its height."""
    return [
        _blank(sheet, following) / sheet._page_box.height
        for sheet, following in zip(document.pages, document.pages[1:], strict=False)
    ]


def _too_high(document: Any, lowered: Mapping[str, float]) -> dict[str, float]:
    """Return the first figure, or row of figures, that would fit the page before its own if it were lower, with the
    shares of their heights for that."""
    for sheet, following, blank in zip(document.pages, document.pages[1:], blank_shares(document), strict=False):
        if blank <= _BLANK:
            continue
        head = _first(following._page_box.children[0])
        last = _last(sheet._page_box.children[0])
        if any(box.style["break_before"] in _FORCED for box in head):
            continue
        if any(box.style["break_after"] in _FORCED for box in last):
            continue
        between = max(_margin(box, "margin_top") for box in head) + max(_margin(box, "margin_bottom") for box in last)
        room = _blank(sheet, following) - between - _SPARE
        block = next(_figures(following._page_box.children[0]), None)
        if block is None:
            continue
        over = _bottom(block) - following._page_box.content_box_y() - room
        drawings = dict(_drawings(block))
        shares = {name: 1 - over / height for name, height in drawings.items()}
        if shares and over > 0 and min(shares.values()) >= LOWEST and not shares.keys() & lowered.keys():
            return {name: round(share, 3) for name, share in shares.items()}
    return {}


def _blank(sheet: Any, following: Any) -> float:
    """Return the pixels between a page's contents and its foot or footnotes."""
    page, flow = sheet._page_box, sheet._page_box.children[0]
    after = following._page_box.children[0].descendants() if following else ()
    go_on = {box.element for box in after if box.element is not None}
    notes = sum(box.margin_height() for box in page.children[1:] if type(box).__name__ == "FootnoteAreaBox")
    return float(page.content_box_y() + page.height - notes - _end(flow, go_on))


def _end(box: Any, go_on: set[Any]) -> float:
    """Return the lower edge of a box. A box that continues on the next page ends with its contents."""
    if box.element in go_on and not _is_line(box) and (inside := _flow(box)):
        return max(_end(child, go_on) for child in inside)
    return _bottom(box)


def _bottom(box: Any) -> float:
    if _is_line(box):
        return float(box.position_y + box.height)
    return float(box.border_box_y() + box.border_height())


def _is_line(box: Any) -> bool:
    return type(box).__name__ == "LineBox"


def _flow(box: Any) -> list[Any]:
    return [child for child in getattr(box, "children", ()) if child.is_in_normal_flow()]


def _first(box: Any) -> list[Any]:
    """Return a box and its first descendants, without lines."""
    found = [box]
    while (inside := _flow(found[-1])) and not _is_line(inside[0]):
        found.append(inside[0])
    return found


def _last(box: Any) -> list[Any]:
    found = [box]
    while (inside := _flow(found[-1])) and not _is_line(inside[-1]):
        found.append(inside[-1])
    return found


def _margin(box: Any, side: str) -> float:
    """Return the margin in the style sheet: a page's end removes it from the box."""
    length = box.style[side]
    return float(length.value) if getattr(length, "unit", None) == "px" else 0.0


def _figures(box: Any) -> Iterator[Any]:
    """Return rows of figures and single figures, in order."""
    for child in _flow(box):
        if child.element is not None and (_name(child) or "figures" in child.element.get("class", "").split()):
            yield child
        else:
            yield from _figures(child)


def _drawings(box: Any) -> Iterator[tuple[str, float]]:
    """Return the figures in a box, each with the height of its drawing."""
    for figure in (box, *box.descendants()):
        if _name(figure):
            for inner in figure.descendants():
                if type(inner).__name__ == "BlockReplacedBox":
                    yield _name(figure), inner.height


def _is_slide(box: Any) -> bool:
    return box.element is not None and box.element.tag == "section" and "slide" in box.element.get("class", "").split()


def _name(box: Any) -> str:
    name = "" if box.element is None else box.element.get("id", "")
    return name if _FIGURE.fullmatch(name) else ""
