"""Arranges a table's head and columns: shared names appear once above their columns, and tables that are too wide are
split."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from markupsafe import Markup, escape

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import MOST_COLUMNS
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.numbers_file import PrintedBy
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Card, HeadCell, TableCell, TableHead, TablePart, TableRow, TableView
from benchbrief.reports.disclosure.number_ledger import Ledger
from benchbrief.reports.text.html_markup import lift_marks, marks_beside_number, note_marks
from benchbrief.reports.words.brief_words import Words

_GAP = 0.9
"""The smallest gap between two columns, in multiples of the type size."""
_FIRST, _NAMES = 0.34, 0.45
"""Two limits on the width of the column of row names, as shares of the table's width. The first is for its longest
word, which may take room from the numbers. The second is for whole names, which get their room before heads and texts
are put on one line.
"""
_HEAD = 14.0
"""The greatest width, in multiples of the type size, of a head that stays on one line if there is room."""
_SMALLEST, _LEGIBLE = 0.7, 7.0
"""The smallest type size of a full table, as a share of the usual size and in points."""
_BOLD = 1.1
"""The largest factor by which a bold text may be wider than estimated."""

_MOST_CARDS = 6


@dataclass(frozen=True)
class TableRoom:
    """The room for a table: its width in pixels, its usual type size in points, and the most columns. The type may grow
    by the factor `grown`."""

    width: float
    points: float
    columns: int
    grown: float = 1.0

    @property
    def smallest(self) -> float:
        return max(_SMALLEST, min(1.0, _LEGIBLE / self.points))


def room_of(slides: bool, *, boxed: bool) -> TableRoom:
    """Return the room within the margins of a page or slide, or within a callout if `boxed`."""
    most = MOST_COLUMNS - 2 if boxed else MOST_COLUMNS
    if slides:
        return TableRoom(1020 if boxed else 1136, 15, most, grown=1.34)
    return TableRoom(627 if boxed else 657, 8.8, most)


def parts_of(
    corner: str, columns: Sequence[TableHead], rows: Sequence[TableRow], room: TableRoom
) -> tuple[TablePart, ...]:
    """Split the table into pieces that fit the room. Words in heads are not broken if they fit on a page.

    A group of columns stays together if it fits.
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
    pieces = [piece for piece in pieces if piece]
    scale = min((table.scale(piece) for piece in pieces), default=1.0)
    return tuple(table.part(piece, scale) for piece in pieces)


class _Table:
    """A table and the room that its pieces need."""

    def __init__(self, corner: str, columns: Sequence[TableHead], rows: Sequence[TableRow], room: TableRoom) -> None:
        self._columns, self._room = columns, room
        self._em = room.points * 4 / 3
        self._cells = [[row.cells[at] for row in rows] for at in range(len(columns))]
        names = [corner, *(row.head.label for row in rows), *(row.group for row in rows)]
        units = [text_width(f" {row.head.unit}", self._em) for row in rows if row.head.unit]
        gap = _GAP * self._em
        # A longer word of a row's name is broken: the numbers have the rest of the width.
        self._first = min(max(map(_longest_word, names)) * _BOLD * self._em + gap, _FIRST * room.width)
        whole = max(text_width(name, self._em) for name in names) * _BOLD + max(units, default=0.0) + gap
        self._names = max(self._first, min(whole * room.grown, _NAMES * room.width))
        self._whole_names = max(self._names, whole)

    def fits(self, piece: Sequence[int]) -> bool:
        """Return whether the columns fit side by side in the smallest type, without breaking words in their heads."""
        if len(piece) > self._room.columns:
            return False
        _, wanted, _ = self._widths(piece)
        return (self._first + sum(wanted)) * self._room.smallest <= self._room.width + 1

    def scale(self, piece: Sequence[int]) -> float:
        """Return the type size at which the columns fit side by side, as a share of the usual size. It is never below
        the smallest size allowed."""
        least, wanted, _ = self._widths(piece)
        for needed in (wanted, least):  # words of the heads are broken last
            scale = min(1.0, (self._room.width + 1) / (self._first + sum(needed)))
            if scale >= self._room.smallest:
                return scale
        return self._room.smallest

    def part(self, piece: Sequence[int], scale: float) -> TablePart:
        """Return a piece of the table with the widths of its columns. A column gets the width of its content, then the
        width of whole names and heads, and then a share of the remaining width."""
        room = self._room
        least, wanted, liked = self._widths(piece)
        if (self._first + sum(wanted)) * scale > room.width + 1:
            wanted = least
        spare = max(0.0, room.width - (self._first + sum(wanted)) * scale)
        own = min(spare, (self._names - self._first) * scale)
        spare -= own
        kept = min(spare, _GAP * self._em * scale * len(piece))  # heads are wider than estimated, at times
        spare -= kept
        heads = [0.0] * len(piece)
        texts = [place for place, at in enumerate(piece) if any(not cell.numeric for cell in self._cells[at])]
        others = [place for place in range(len(piece)) if place not in texts]
        for some in (texts, others):  # a text on two lines makes its row higher, and a head only the head
            for rank, at in enumerate(sorted(some, key=lambda at: liked[at] - wanted[at])):
                heads[at] = min((liked[at] - wanted[at]) * scale, spare / (len(some) - rank))
                spare -= heads[at]
        spare += kept
        for at in (*texts, *others):  # what almost fits on one line takes of that, too
            lacking = (liked[at] - wanted[at]) * scale - heads[at]
            if lacking <= spare - 0.4 * kept:
                heads[at] += lacking
                spare -= lacking
        longer = min(spare, (self._whole_names - self._first) * scale - own)
        own, spare = own + longer, spare - longer
        columns = [width * scale + more + spare / len(piece) for width, more in zip(wanted, heads, strict=True)]
        widths = [self._first * scale + own, *columns]
        return TablePart(
            head_rows([self._columns[at] for at in piece]),
            piece[0],
            piece[-1] + 1,
            room.points * scale if scale < 1 else 0.0,
            tuple(round(100 * width / sum(widths), 2) for width in widths),
            min(100.0, round(100 * sum(widths) / room.width, 1)),
        )

    def _widths(self, piece: Sequence[int]) -> tuple[list[float], list[float], list[float]]:
        """Return three widths for each column at the usual type size. The first fits the column's numbers, the second
        also fits the words of its heads, and the third fits texts on one line and short heads."""
        em, gap = self._em, _GAP * self._em
        heads = [head for head, _ in _units_raised([self._columns[at] for at in piece])]
        least = [max((_cell_width(cell, em) for cell in self._cells[at]), default=0.0) + gap for at in piece]
        spanned = Counter(head.heads[:level] for head in heads for level in range(1, len(head.heads) + 1))
        wanted = [
            max(
                low,
                text_width(head.unit, em) + gap,
                _longest_word(head.label) * _BOLD * em + gap,
                *(
                    (_longest_word(name) * _BOLD * em + gap) / spanned[head.heads[:level]]
                    for level, name in enumerate(head.heads, start=1)
                ),
            )
            for low, head in zip(least, heads, strict=True)
        ]
        texts = [
            [text_width(cell.html.striptags(), em) for cell in self._cells[at] if not cell.numeric] for at in piece
        ]
        liked = [
            max(want, _in_even_lines(text_width(head.label, _BOLD * em), _HEAD * em) + gap, max(own, default=0.0) + gap)
            * self._room.grown
            for want, head, own in zip(wanted, heads, texts, strict=True)
        ]
        return least, wanted, liked


def _in_even_lines(width: float, most: float) -> float:
    """Return the width at which a text's lines are about equally long and no wider than `most`."""
    lines = math.ceil(width / most)
    return min(most, 1.15 * width / lines) if lines > 1 else width


def _cell_width(cell: TableCell, em: float) -> float:
    text = cell.html.striptags()
    if not cell.numeric:
        return _longest_word(text) * em
    return text_width(text.replace("1", "0"), em) * (_BOLD if cell.best else 1.0) + cell.pad * em


_NUMBER = re.compile(r"\D*\d[\d,.\s\N{RIGHT SINGLE QUOTATION MARK}]*")
_MARKS = re.compile(r"<sup\b.*?</sup>", re.DOTALL)


def aligned(rows: Sequence[TableRow], decimal: str) -> list[TableRow]:
    """Return the rows with space added after numbers, so that the decimal signs of a column line up even if more digits
    or a unit follow some of them. The marks of notes are in the margin and need no space. A column with a range, which
    has two decimal signs, is aligned to the right.
    """
    tails = [[_tail(cell, decimal) for cell in row.cells] for row in rows]
    ragged = [any(map(_is_range, column)) for column in zip(*(row.cells for row in rows), strict=True)]
    tails = [[None if apart else tail for tail, apart in zip(row, ragged, strict=True)] for row in tails]
    widest = [max((tail for tail in column if tail is not None), default=0.0) for column in zip(*tails, strict=True)]
    return [
        replace(
            row,
            cells=tuple(
                cell if tail is None or tail >= most else replace(cell, pad=round(most - tail, 2))
                for cell, tail, most in zip(row.cells, row_tails, widest, strict=True)
            ),
        )
        for row, row_tails in zip(rows, tails, strict=True)
    ]


def _is_range(cell: TableCell) -> bool:
    return cell.numeric and len(re.findall(r"\d[\d.,]*", _bare(cell))) > 1


def _bare(cell: TableCell) -> str:
    return Markup(_MARKS.sub("", cell.html.partition(_LETTERS)[0])).striptags()  # noqa: S704  # was HTML before


def _tail(cell: TableCell, decimal: str) -> float | None:
    """Return the width of everything after a number's whole part, in multiples of the type size, or None for a text or
    a range."""
    if not cell.numeric:
        return None
    text = _bare(cell)
    whole = _NUMBER.match(text)
    if whole is None:
        return None
    number, behind = whole[0].rstrip(), text[len(whole[0].rstrip()) :]
    if any(map(str.isdigit, behind)):
        return None
    fraction = number.rpartition(decimal)[2] if decimal in number else ""
    tail = (decimal + fraction if decimal in number else "") + behind
    return text_width(tail.replace("1", "0"), 1.0)


def shared_unit(heads: Sequence[TableHead]) -> str:
    """Return the unit that several heads have in common, to be shown only once above the table, or ""."""
    units = {head.unit for head in heads}
    return next(iter(units)) if len(heads) > 1 and len(units) == 1 else ""


def head_rows(columns: Sequence[TableHead]) -> tuple[tuple[HeadCell, ...], ...]:
    """Return the rows of a table's head. If neighbouring columns share a name, one cell with that name spans them. The
    topmost of these cells also has the columns' unit, if they all share one."""
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
    """Return each column with the unit that its whole group shares, or with "" if there is none. A shared unit is
    removed from the column itself."""
    lowered: list[tuple[TableHead, str]] = []
    for path, group in groupby(columns, key=lambda column: column.heads[:1]):
        below = list(group)
        shared = below[0].unit if path and len(below) > 1 and len({column.unit for column in below}) == 1 else ""
        lowered += [(replace(column, unit="" if shared else column.unit), shared) for column in below]
    return lowered


def notes_at_heads(
    lines: Sequence[tuple[TableHead, tuple[TableCell, ...]]], keys: Sequence[TableHead]
) -> tuple[list[tuple[TableHead, tuple[TableCell, ...]]], list[TableHead]]:
    """Return the lines and keys of a table. If all values of a line or key share a note, the note's mark moves to the
    head."""
    own = [_of_all(cells) for _, cells in lines]
    lines = [
        (replace(head, notes=_joined(head.notes, notes)), tuple(_without(cell, notes) for cell in cells))
        for (head, cells), notes in zip(lines, own, strict=True)
    ]
    across = [_of_all([cells[at] for _, cells in lines]) for at in range(len(keys))]
    lines = [(head, tuple(map(_without, cells, across))) for head, cells in lines]
    return lines, [replace(key, notes=_joined(key.notes, notes)) for key, notes in zip(keys, across, strict=True)]


def _of_all(cells: Sequence[TableCell]) -> tuple[int, ...]:
    """Return the notes that all cells with a text share."""
    noted = [cell.notes for cell in cells if cell.html]
    return tuple(note for note in noted[0] if all(note in each for each in noted)) if noted else ()


def _without(cell: TableCell, notes: Sequence[int]) -> TableCell:
    return replace(cell, notes=tuple(note for note in cell.notes if note not in notes))


def _joined(notes: Sequence[int], more: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({*notes, *more}))


def marked(cell: TableCell) -> TableCell:
    """Return a cell with the marks of its own notes after its number."""
    number, letters, after = str(cell.html).partition(_LETTERS)
    html = Markup(number) + marks_beside_number(cell.notes) + Markup(letters + after)  # noqa: S704  # was HTML before
    return replace(cell, html=html)


_LETTERS = '<span class="letters">'
"""The start tag of the letters that show a test's result after a number."""


def grouped_rows(lines: Sequence[tuple[TableHead, tuple[TableCell, ...]]], words: Words) -> list[TableRow]:
    """Return the rows of a table with horizontal lines. A name that several rows share is on its own line above
    them."""
    if not all(head.heads for head, _ in lines):
        path = [words.locale.listed((*head.heads, head.label)) for head, _ in lines]
        return [TableRow(replace(head, label=label), cells) for label, (head, cells) in zip(path, lines, strict=True)]
    rows: list[TableRow] = []
    for heads, its in groupby(lines, key=lambda line: line[0].heads):
        group = list(its)
        name, unit = words.locale.listed(heads), shared_unit([head for head, _ in group])
        name += f" ({unit})" if unit else ""
        found = [(replace(head, unit="") if unit else head, cells) for head, cells in group]
        rows += [TableRow(head, cells, "" if at else name) for at, (head, cells) in enumerate(found)]
    return rows


def _longest_word(text: str) -> float:
    """Return the width of the widest piece of a text that is not broken, in multiples of the type size.

    Japanese may be broken between any two characters, but a column of single characters is hard to read. So words in
    katakana stay whole, and in other text a few characters stay together.
    """
    return max((text_width(piece, 1.0) for piece in _PIECE.findall(text)), default=0.0)


_PIECE = re.compile(
    r"[\u30a0-\u30ff]{1,8}|[\u4e00-\u9fff\u3005]{1,4}|[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+"
)
"""Matches katakana, Chinese characters, other characters that may be broken anywhere, and words between blanks."""


def cards_of(table: TableView) -> tuple[str, tuple[Card, ...]]:
    """Return the head of the only column, and a card for each row. Return no cards for a table with several columns or
    many rows."""
    if len(table.columns) != 1 or len(table.rows) > _MOST_CARDS:
        return "", ()
    head = table.columns[0]
    column = Markup.escape(f"{head.label} ({head.unit})" if head.unit else head.label) + note_marks(head.notes)
    cards = []
    for row in table.rows:
        (cell,) = row.cells
        html, marks = lift_marks(cell.html)
        cards.append(Card(row.head.label, html, cell.value, cell.unit, _joined(row.head.notes, marks)))
    return column, tuple(cards)


def published_table(
    results: Results, ledger: Ledger, number: int, room: TableRoom, title: str = ""
) -> TableView | None:
    """Return a table of the source's metrics beside those computed from the imported figures, or None if there are
    none.

    Computed numbers are recorded like all others, but published ones only name their source.
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
    rows = aligned(rows, words.locale.decimal)
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
