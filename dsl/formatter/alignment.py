"""Neighbouring lines of a kind, aligned in columns: the `=` of attributes, the parts of metrics and of short blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from benchbrief.dsl.diagnostics.source_line import display_width
from benchbrief.dsl.formatter.pretty_printer import WIDTH

ATTRIBUTE = "="
_R = TypeVar("_R", "Row", "_Text")


@dataclass(frozen=True)
class Row:
    """An item of a file or a block, or a comment on a line of its own (`kind` is "").

    `cells` are its parts when it can stand on one line, "" for one that it lacks; `broken` gives its text over more
    lines, with its first part padded to so many columns. `beside` is the comment behind it; `blank` says whether a
    blank line comes before.
    """

    kind: str
    cells: tuple[str, ...] | None
    broken: Callable[[int], str]
    blank: bool
    beside: str = ""

    @property
    def line(self) -> str | None:
        return " ".join(filter(None, self.cells)) if self.cells is not None else None


@dataclass(frozen=True)
class _Text:
    """What a row has become."""

    text: str
    blank: bool
    beside: str


def lay_out(rows: Sequence[Row], indent: int) -> list[str]:
    """The lines of the rows, each row beginning at column `indent`."""
    lines: list[str] = []
    for row in _beside(_aligned(rows, indent), indent):
        if row.blank and lines:
            lines.append("")
        first, *rest = row.text.split("\n")
        lines += [" " * indent + first, *rest]
    return lines


def _aligned(rows: Sequence[Row], indent: int) -> Iterator[_Text]:
    """The rows as text. Neighbours of a kind are aligned, if they still fit then."""

    def kind(row: Row) -> str:
        """Of attributes only the key is aligned: one too long for a line is among its neighbours all the same."""
        if row.line is None or (row.kind != ATTRIBUTE and indent + display_width(row.line) > WIDTH):
            return ""
        return row.kind

    for run in _runs(rows, kind):
        columns = [
            max(map(display_width, column)) for column in zip_longest(*(row.cells or () for row in run), fillvalue="")
        ]
        lines = [_padded(row.cells or (), columns) for row in run]
        fitting = [indent + display_width(line) <= WIDTH for line in lines]
        for row, line, fits in zip(run, lines, fitting, strict=True):
            if not kind(row) or (row.kind == ATTRIBUTE and not fits):
                text = row.broken(columns[0] if columns else 0)
            elif row.kind == ATTRIBUTE or all(fitting):
                text = line
            else:
                text = row.line or ""
            yield _Text(text, row.blank, row.beside)


def _padded(cells: Sequence[str], columns: Sequence[int]) -> str:
    padded = (cell + " " * (wide - display_width(cell)) for cell, wide in zip(cells, columns, strict=False) if wide)
    return " ".join(padded).rstrip(" ")


def _beside(rows: Iterator[_Text], indent: int) -> Iterator[_Text]:
    """The rows with the comments beside them, which stand in one column where neighbouring lines have one."""
    for run in _runs(list(rows), lambda row: "#" if row.beside and "\n" not in row.text else ""):
        columns = max(display_width(row.text) for row in run)
        together = all(indent + columns + 2 + display_width(row.beside) <= WIDTH for row in run)
        for row in run:
            blanks = 2 + (columns - display_width(row.text) if together and len(run) > 1 else 0)
            yield replace(row, text=f"{row.text}{' ' * blanks}{row.beside}" if row.beside else row.text)


def _runs(rows: Sequence[_R], kind: Callable[[_R], str]) -> Iterator[list[_R]]:
    """Neighbours of the same kind, with no blank line between; a row whose kind is "" is alone."""
    run: list[_R] = []
    for row in rows:
        if run and (row.blank or not kind(row) or kind(row) != kind(run[-1])):
            yield run
            run = []
        run.append(row)
    if run:
        yield run
