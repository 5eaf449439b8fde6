"""Finds the tables in a brief's texts, so that editable files have them as tables of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from markupsafe import Markup

from benchbrief.reports.data.view_model import (
    Block,
    HeadCell,
    SectionView,
    TableCell,
    TableHead,
    TableRow,
    TableView,
    TextView,
)

_TABLE = re.compile(r"(<table\b.*?</table>)", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t[hd]\b([^>]*)>(.*?)</t[hd]>", re.DOTALL)


def with_tables(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the blocks of a brief. Each text that contains tables is replaced by its parts: texts, and tables without
    a number and a title."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, SectionView):
            found.append(replace(block, blocks=with_tables(block.blocks)))
        elif isinstance(block, TextView):
            found += _parts(block)
        else:
            found.append(block)
    return tuple(found)


def _parts(text: TextView) -> Iterator[Block]:
    before, *others = _TABLE.split(text.html)
    if not others:
        yield text
        return
    if before.strip():
        yield replace(text, html=Markup(before), leads=True)  # noqa: S704  # was HTML before
    for table, after in zip(others[::2], others[1::2], strict=True):
        yield _table(table, text)
        if after.strip():
            yield replace(text, html=Markup(after))  # noqa: S704  # was HTML before


def _table(html: str, text: TextView) -> TableView:
    """Return a table of a text, with the notes that have marks in it."""
    (corner, *heads), *rows = [
        [TableCell(Markup(cell), "right" in look) for look, cell in _CELL.findall(row)]  # noqa: S704  # was HTML before
        for row in _ROW.findall(html)
    ]
    columns = tuple(TableHead(cell.html, numeric=cell.numeric) for cell in heads)
    return TableView(
        number=0,
        title="",
        corner=corner.html,
        columns=columns,
        rows=tuple(TableRow(TableHead(first.html, numeric=False), tuple(cells)) for first, *cells in rows),
        notes=tuple(note for note in text.notes if f'"#note-{note.number}"' in html),
        note=None,
        sources=(),
        head=(tuple(HeadCell(column, 1, 1) for column in columns),),
        parts=(),
    )
