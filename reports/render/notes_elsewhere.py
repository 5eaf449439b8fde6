"""Finds the footnotes that a figure or a table cites while they stand on another page, where no reader would look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_BLOCK, _NOTE = re.compile(r"(?:figure|table)-\d+"), re.compile(r"note-\d+")


def notes_elsewhere(document: Any) -> dict[str, tuple[int, ...]]:
    """Return the numbers of such footnotes, by the ids of the figures and tables."""
    cited: dict[str, set[tuple[int, int]]] = {}
    stands: dict[int, int] = {}
    for page, sheet in enumerate(document.pages):
        for block, element in _elements(sheet._page_box, ""):
            name, target = element.get("id", ""), element.get("href", "")
            if _NOTE.fullmatch(name):
                stands.setdefault(int(name.removeprefix("note-")), page)
            elif block and _NOTE.fullmatch(target.removeprefix("#")):
                cited.setdefault(block, set()).add((int(target.removeprefix("#note-")), page))
    far = {
        block: tuple(sorted({note for note, page in of if stands.get(note, page) != page}))
        for block, of in cited.items()
    }
    return {block: notes for block, notes in far.items() if notes}


def _elements(box: Any, block: str) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a box and all in it, each with the id of the figure or the table that it is in, if any."""
    if box.element is not None:
        name = box.element.get("id", "")
        block = name if _BLOCK.fullmatch(name) else block
        yield block, box.element
    for inner in getattr(box, "children", ()):
        yield from _elements(inner, block)
