"""The blocks of a brief one by one, each with the footnotes that its marks refer to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchbrief.reports.data.view_model import Block, CalloutView, FigureRow, ReportView, SectionView, notes_of


def flat(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        match block:
            case FigureRow():
                yield from block.figures
            case SectionView():
                yield from flat(block.blocks)
            case _:
                yield block


def marked_notes(view: ReportView, block: object) -> list[str]:
    """Return the texts of a block's footnotes: its own, and those of an earlier block that its marks refer to."""
    said = {note.number: note.text for note in notes_of(view.blocks)}
    return [said[number] for number in sorted(set(_marks(block)))]


def _marks(block: object) -> Iterator[int]:
    yield from getattr(block, "marks", ())
    rows = getattr(block, "rows", ())
    for head in (*getattr(block, "columns", ()), *(row.head for row in rows)):
        yield from head.notes
    shown = (block, *getattr(block, "cards", ()), *(cell for row in rows for cell in row.cells))
    for each in shown[1:]:  # a card, or a table's cell with notes of its own
        yield from getattr(each, "marks", getattr(each, "notes", ()))
    for html in (getattr(block, "column", ""), *(getattr(each, "html", "") for each in shown)):
        yield from map(int, re.findall(r"#note-(\d+)", str(html)))
    if isinstance(block, CalloutView) and block.table:
        yield from _marks(block.table)
