"""Arranges a table as cells that may span several rows and columns, in the form that office programs need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import FactsView, HeadCell, LevelTable, TableHead, TableRow, TableView
from benchbrief.reports.office.rich_text import Run, runs_of
from benchbrief.reports.words.brief_words import Words

_SHORT_LINE = 60
"""The most letters of a line with a fact of several sides."""


@dataclass(frozen=True)
class GridCell:
    """A cell at a row and a column, which spans `rows` and `columns`. `value` is the computed number in `unit`, and
    `heat` is its shade from 1 to 5, or 0 for none."""

    row: int
    column: int
    runs: tuple[Run, ...]
    rows: int = 1
    columns: int = 1
    numeric: bool = False
    bold: bool = False
    heat: int = 0
    value: float | None = None
    unit: str = ""

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)

    @property
    def plain(self) -> str:
        """The cell's text without the marks of footnotes."""
        return "".join(run.text for run in self.runs if not run.raised).strip()


@dataclass(frozen=True)
class Grid:
    """A table of `rows` and `columns`. Its first `heads` rows are the head."""

    rows: int
    columns: int
    heads: int
    cells: tuple[GridCell, ...]

    @property
    def lines(self) -> list[list[str]]:
        """The texts of each row."""
        return [[cell.text for cell in self.cells if cell.row == row] for row in range(self.rows)]

    def within(self, first: int, end: int) -> Grid:
        """Return the table's head and the rows from `first` up to `end`, which are counted below the head."""
        kept = tuple(
            replace(cell, row=cell.row if cell.row < self.heads else cell.row - first)
            for cell in self.cells
            if cell.row < self.heads or first <= cell.row - self.heads < end
        )
        return replace(self, rows=self.heads + end - first, cells=kept)

    def across(self, first: int, end: int) -> Grid:
        """Return the table's first column and the columns from `first` up to `end`."""
        kept = []
        for cell in self.cells:
            begin, stop = max(cell.column, first), min(cell.column + cell.columns, end)
            if cell.column == 0:  # the first column, or a line over all
                kept.append(replace(cell, columns=1 if cell.columns == 1 else 1 + end - first))
            elif begin < stop:
                kept.append(replace(cell, column=begin - first + 1, columns=stop - begin))
        return replace(self, columns=1 + end - first, cells=tuple(kept))


def grid_of(table: TableView) -> Grid:
    """Return a table as a grid. The name of a group of rows gets a row of its own, which it spans."""
    heads, columns = len(table.head), 1 + len(table.columns)
    cells = [GridCell(0, 0, runs_of(table.corner), rows=heads, bold=True), *_head(table.head)]
    row = heads
    for each in table.rows:
        if each.group:
            cells.append(GridCell(row, 0, runs_of(each.group), columns=columns, bold=True))
            row += 1
        cells += _row(each, row, with_unit=not table.unit)
        row += 1
    return Grid(row, columns, heads, tuple(cells))


def _head(rows: Sequence[Sequence[HeadCell]]) -> Iterator[GridCell]:
    taken: set[tuple[int, int]] = set()
    for row, cells in enumerate(rows):
        column = 1
        for cell in cells:
            while (row, column) in taken:
                column += 1
            taken |= {(row + down, column + right) for down in range(cell.rows) for right in range(cell.columns)}
            numeric = cell.head.numeric and cell.columns == 1
            yield GridCell(row, column, _named(cell.head), cell.rows, cell.columns, numeric, bold=True)


def _named(head: TableHead, *, with_unit: bool = True) -> tuple[Run, ...]:
    unit = (Run(f" ({head.unit})"),) if with_unit and head.unit else ()
    return (*runs_of(head.label, head.notes), *unit)


def _row(row: TableRow, place: int, *, with_unit: bool) -> Iterator[GridCell]:
    yield GridCell(place, 0, _named(row.head, with_unit=with_unit), bold=False)
    for column, cell in enumerate(row.cells, start=1):
        yield GridCell(
            place,
            column,
            runs_of(cell.html),
            numeric=cell.numeric,
            bold=cell.best,
            heat=cell.heat,
            value=cell.value,
            unit=cell.unit,
        )


def grid_of_facts(facts: FactsView, words: Words) -> Grid | None:
    """Return the cells of a table of facts, or None if the table has no rows."""
    if facts.beside:
        texts = [(facts.corner, *facts.heads), *((row.name, *row.cells) for row in facts.beside)]
        return plain_grid(texts, 1 + len(facts.heads))
    if not facts.groups:
        return None
    observed = (words["observed"],) if facts.observed else ()
    lines: list[tuple[str, ...]] = [(words["fact"], words["declared"], *observed)]
    for group in facts.groups:
        if len(facts.groups) > 1:
            lines.append((group.label,))
        for line in group.lines:
            differs = f" ≠ {words['differs']}" if line.differs else ""
            lines.append((line.name, line.declared, *((line.observed + differs,) if facts.observed else ())))
    return plain_grid(lines, 2 + len(observed))


def told_facts(facts: FactsView, words: Words) -> list[tuple[str, Markup]]:
    """Return the facts that are not in the table, each with its value. The values of several sides are on one line if
    it is short."""
    told = []
    for row in facts.rows:
        line = words["semicolon"].join(row.told)
        told.append((row.name, Markup.escape(line) if len(line) <= _SHORT_LINE else Markup("<br>").join(row.told)))
    return told


def run_on(told: Sequence[tuple[str, Markup]], words: Words) -> Markup:
    """Return facts as one text, each with its name before it."""
    bold, line_break = Markup("<b>{}</b>{}"), Markup("<br>")
    values = ((name, value.replace(line_break, Markup.escape(words["semicolon"]))) for name, value in told)
    return Markup(" \N{MIDDLE DOT} ").join(bold.format(f"{name}{words['colon']}", value) for name, value in values)


def aligned(grid: Grid, blank: str) -> Grid:
    """Return a table whose numbers end at one place although some have marks of footnotes: the others of their column
    have a `blank`, as wide as a mark, instead."""
    bodies = [cell for cell in grid.cells if cell.numeric and cell.row >= grid.heads and cell.columns == 1]
    marks = {id(cell): sum(len(run.text) for run in cell.runs if run.raised) for cell in bodies}
    widest = {
        column: max(marks[id(cell)] for cell in bodies if cell.column == column)
        for column in range(grid.columns)
        if any(cell.column == column for cell in bodies)
    }

    def padded(cell: GridCell) -> GridCell:
        missing = widest[cell.column] - marks[id(cell)] if id(cell) in marks else 0
        return replace(cell, runs=(*cell.runs, Run(blank * missing))) if missing else cell

    return replace(grid, cells=tuple(map(padded, grid.cells)))


def grid_of_levels(table: LevelTable) -> Grid:
    """Return the cells of a table of a factor's levels."""
    return plain_grid((table.head, *table.rows), len(table.head))


def by_series(head: Sequence[str], rows: Sequence[Sequence[str]], *, across: bool = False) -> Grid:
    """Return the data of a figure with a row for each place and a column for each series or, with `across`, a row for
    each series and a column for each place. Data with more columns than two keys and a value are returned unchanged.
    """
    series, places = (list(dict.fromkeys(row[column] for row in rows)) for column in (0, 1))
    values = {(row[0], row[1]): row[2] for row in rows if len(row) == 3}
    if len(head) != 3 or len(values) < len(rows) or "" in (*series, *places):
        return plain_grid((head, *rows), len(head), numbers=True)
    unit = found[1] if (found := re.search(r"\(([^()]+)\)$", head[2])) else ""
    short = {place: text.removesuffix(unit).rstrip() if unit else text for place, text in values.items()}
    if across:
        lines = [(head[2], *places), *((name, *(short.get((name, place), "") for place in places)) for name in series)]
    else:
        lines = [(head[1], *series), *((place, *(short.get((name, place), "") for name in series)) for place in places)]
    return plain_grid(lines, len(lines[0]), numbers=True)


_NUMBER = re.compile(r"[^\w]?\d.*")


def plain_grid(texts: Sequence[Sequence[str]], columns: int, *, numbers: bool = False) -> Grid:
    """Return a table of texts whose first row is the head. The last text of a short row spans the remaining columns.
    With `numbers`, a column after the first that contains only numbers is aligned to the right."""
    cells = []
    numeric = {
        column
        for column in range(1, columns)
        if numbers and all(_NUMBER.fullmatch(line[column]) for line in texts[1:] if line[column])
    }
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            spans = columns - column if column == len(line) - 1 else 1
            bold = row == 0 or len(line) == 1
            is_number = column in numeric
            cells.append(GridCell(row, column, runs_of(Markup.escape(text)), 1, spans, is_number, bold))
    return Grid(len(texts), columns, 1, tuple(cells))
