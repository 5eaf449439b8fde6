"""A table's head and columns: shared names stand once above them, and a table that is too wide is split."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from markupsafe import Markup, escape

from benchbrief.model.plan import MOST_COLUMNS
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.numbers_file import PrintedBy
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Card, HeadCell, TableCell, TableHead, TablePart, TableRow, TableView
from benchbrief.reports.disclosure.number_ledger import Ledger
from benchbrief.reports.text.html_markup import note_marks
from benchbrief.reports.words.brief_words import Words

_GAP, _FIRST = 0.9, 0.34
"""The gap between two columns in heights of the type, and the first column's share of the width, as
in base/style.css."""
_SMALLEST = 0.7
"""The smallest type of a full table, as a share of the usual size."""
_BOLD = 1.1
"""The most by which a bold text exceeds the estimated width, as a factor."""

_MOST_CARDS = 6


@dataclass(frozen=True)
class TableRoom:
    """The room of a table: its width in pixels, its usual size of type in points, the most columns."""

    width: float
    points: float
    columns: int


def room_of(slides: bool, *, boxed: bool) -> TableRoom:
    """Return the room within the margins of a page or a slide; `boxed`: within a callout there."""
    most = MOST_COLUMNS - 2 if boxed else MOST_COLUMNS
    if slides:
        return TableRoom(1020 if boxed else 1136, 15, most)
    return TableRoom(627 if boxed else 657, 8.8, most)


def parts_of(
    corner: str, columns: Sequence[TableHead], rows: Sequence[TableRow], room: TableRoom
) -> tuple[TablePart, ...]:
    """Split the table into pieces that fit the room and keep the words of heads whole, where these fit a page.

    A group of columns stays whole where it fits.
    """
    table = _Table(corner, columns, rows, room)
    pieces: list[list[int]] = [[]]
    for _, group in groupby(range(len(columns)), key=lambda at: columns[at].heads[:1] or at):
        places = list(group)
        if pieces[-1] and not table.fits([*pieces[-1], *places]):
            pieces.append([])
        while not table.fits([*pieces[-1], *places]) and len(places) > 1:
            most = next(count for count in range(len(places) - 1, 0, -1) if count == 1 or table.fits(places[:count]))
            pieces[-1] += places[:most]
            places = places[most:]
            pieces.append([])
        pieces[-1] += places
    return tuple(table.part(piece) for piece in pieces if piece)


class _Table:
    """A table, and the room that its pieces need."""

    def __init__(self, corner: str, columns: Sequence[TableHead], rows: Sequence[TableRow], room: TableRoom) -> None:
        self._columns, self._room = columns, room
        self._names = [corner, *(row.head.label for row in rows), *(row.group for row in rows)]
        self._texts = [[row.cells[at].html.striptags() for row in rows] for at in range(len(columns))]
        size = room.points * 4 / 3
        # A longer word of a row's name is broken: the numbers have the rest of the width.
        self._first = min(max(map(_longest_word, self._names)) * _BOLD * size + _GAP * size, _FIRST * room.width)

    def fits(self, piece: Sequence[int]) -> bool:
        """Return whether the columns fit side by side with whole words in their heads, in the smallest type."""
        if len(piece) > self._room.columns:
            return False
        _, wanted = self._widths(piece)
        return (self._first + sum(wanted)) * _SMALLEST <= self._room.width + 1

    def part(self, piece: Sequence[int]) -> TablePart:
        points, widths = self._sizes(piece)
        return TablePart(head_rows([self._columns[at] for at in piece]), piece[0], piece[-1] + 1, points, widths)

    def _widths(self, piece: Sequence[int]) -> tuple[list[float], list[float]]:
        """Return two widths of each column, at the usual size of type: for its numbers, and for the words of its
        heads too."""
        size = self._room.points * 4 / 3
        heads = [head for head, _ in _units_raised([self._columns[at] for at in piece])]
        least = [
            max(
                text_width(text, size) if head.numeric else _longest_word(text) * size
                for text in (*self._texts[at], head.unit)
            )
            + _GAP * size
            for head, at in zip(heads, piece, strict=True)
        ]
        spanned = Counter(head.heads[:level] for head in heads for level in range(1, len(head.heads) + 1))
        wanted = [
            max(
                low,
                _longest_word(head.label) * _BOLD * size + _GAP * size,
                *(
                    (_longest_word(name) * _BOLD * size + _GAP * size) / spanned[head.heads[:level]]
                    for level, name in enumerate(head.heads, start=1)
                ),
            )
            for low, head in zip(least, heads, strict=True)
        ]
        return least, wanted

    def _sizes(self, piece: Sequence[int]) -> tuple[float, tuple[float, ...]]:
        """Return the points of type, and the percentage of the width of each column; 0 and none where
        everything fits."""
        room, first = self._room, self._first
        size = room.points * 4 / 3
        least, wanted = self._widths(piece)
        even = room.width * (1 - _FIRST) / len(piece)
        if max(wanted) <= even:
            return 0.0, ()
        scale = 1.0
        for needed in (wanted, least):  # words of the heads are broken last
            scale = max(_SMALLEST, min(1.0, room.width / (first + sum(needed))))
            if (first + sum(needed)) * scale <= room.width + 1:
                wanted = needed
                break
        whole = max(text_width(name, size) for name in self._names) + _GAP * size
        spare = max(0.0, room.width - (first + sum(wanted)) * scale)
        own = min(spare, max(0.0, min(whole, _FIRST * room.width) - first * scale))
        columns = [first * scale + own, *(width * scale + (spare - own) / len(piece) for width in wanted)]
        return (room.points * scale if scale < 1 else 0.0), tuple(round(100 * w / sum(columns), 2) for w in columns)


def head_rows(columns: Sequence[TableHead]) -> tuple[tuple[HeadCell, ...], ...]:
    """Return the head's rows. A name that neighbours share spans them, and so does a unit that all below it have."""
    depth = max((len(column.heads) for column in columns), default=0) + 1
    lowered = _units_raised(columns)
    found: list[tuple[HeadCell, ...]] = []
    for level in range(depth):
        cells: list[HeadCell] = []
        left = [pair for pair in lowered if len(pair[0].heads) >= level]
        for path, pairs in groupby(
            left, key=lambda pair: pair[0].heads[: level + 1] if len(pair[0].heads) > level else ()
        ):
            below = list(pairs)
            if path:
                cells.append(HeadCell(TableHead(path[-1], below[0][1] if level == 0 else ""), len(below), 1))
            else:
                cells += [HeadCell(column, 1, depth - level) for column, _ in below]
        found.append(tuple(cells))
    return tuple(found)


def _units_raised(columns: Sequence[TableHead]) -> list[tuple[TableHead, str]]:
    """Return each column with the unit that its whole group shares, which the column itself then lacks; "" if they
    share none."""
    lowered: list[tuple[TableHead, str]] = []
    for path, group in groupby(columns, key=lambda column: column.heads[:1]):
        below = list(group)
        shared = below[0].unit if path and len(below) > 1 and len({column.unit for column in below}) == 1 else ""
        lowered += [(replace(column, unit="" if shared else column.unit), shared) for column in below]
    return lowered


def grouped_rows(lines: Sequence[tuple[TableHead, tuple[TableCell, ...]]], words: Words) -> list[TableRow]:
    """Return the rows of a table with lines across. A shared name stands on a line of its own above its rows."""
    if not all(head.heads for head, _ in lines):
        path = [words.locale.listed((*head.heads, head.label)) for head, _ in lines]
        return [TableRow(replace(head, label=label), cells) for label, (head, cells) in zip(path, lines, strict=True)]
    rows: list[TableRow] = []
    for heads, group in groupby(lines, key=lambda line: line[0].heads):
        name = words.locale.listed(heads)
        rows += [TableRow(head, cells, "" if at else name) for at, (head, cells) in enumerate(group)]
    return rows


def _longest_word(text: str) -> float:
    """Return the width of the widest piece of a text that stays on one line, in heights of the type.

    Japanese may be broken between any two characters, but a column of single ones is hard to read: words in katakana
    stay whole, and so do some characters of the others.
    """
    return max((text_width(piece, 1.0) for piece in _PIECE.findall(text)), default=0.0)


_PIECE = re.compile(
    r"[\u30a0-\u30ff]{1,8}|[\u4e00-\u9fff\u3005]{1,4}|[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+"
)
"""Katakana, Chinese characters, others that may be broken anywhere, and words between blanks."""


def cards_of(table: TableView) -> tuple[str, tuple[Card, ...]]:
    """Return the one column's head and a card for each row; no cards for a table of several columns or many rows."""
    if len(table.columns) != 1 or len(table.rows) > _MOST_CARDS:
        return "", ()
    head = table.columns[0]
    column = Markup.escape(f"{head.label} ({head.unit})" if head.unit else head.label) + note_marks(head.notes)
    return column, tuple(
        Card(row.head.label, row.cells[0].html, row.cells[0].value, row.cells[0].unit) for row in table.rows
    )


def published_table(
    results: Results, ledger: Ledger, number: int, room: TableRoom, title: str = ""
) -> TableView | None:
    """Return the metrics of the source beside those computed from the imported figures; None without any.

    Computed numbers are entered as all others; the published ones have only their source.
    """
    words, metrics = results.words, list(imported_briefs.published(results))
    if not metrics:
        return None
    computed = any(each.query for each in metrics)
    ledger.at(f"{words['table']} {number}")
    columns = [TableHead(words["published"]), *([TableHead(words["published_computed"])] if computed else [])]
    rows = [
        TableRow(
            TableHead(each.label, numeric=False),
            (_cell(each.text), *([_computed(each, ledger, words)] if computed else [])),
        )
        for each in metrics
    ]
    title, corner = title or words["published_values"], words["published_metric"]
    parts = parts_of(corner, columns, rows, room)
    return TableView(number, title, corner, tuple(columns), tuple(rows), (), None, (), head_rows(columns), parts)


def _computed(of: imported_briefs.Published, ledger: Ledger, words: Words) -> TableCell:
    if of.query is None:
        return _cell("")
    printed = PrintedBy(by="amount", significant=4, to=words["to"])
    shown = ledger.number(of.query, printed, high=of.high, at=of.at)
    return TableCell(shown.html(), True, shown.cells)


def _cell(text: str) -> TableCell:
    return TableCell(Markup(escape(text or "–")), numeric=True)  # noqa: S704  # escaped just there
