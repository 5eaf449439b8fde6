"""Writes plain text for terminals: aligned tables, wrapped words, durations and sizes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from benchbrief.dsl.source import display_width, printable

_INDENT = "  "
_MOST_ROWS = 12
_LINE_END = re.compile(r"\s*\n\s*")
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_SIGNS = {"+": "\x1b[32m", "~": "\x1b[33m", "-": "\x1b[31m", "=": _DIM}


class Page:
    """Lines of at most `width` columns. Control characters are escaped."""

    def __init__(self, width: int, color: bool) -> None:
        self._width = width
        self._color = color
        self._lines: list[str] = []

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines)

    def strong(self, text: str) -> None:
        self._lines.append(self._styled(_BOLD, _shown(text)))

    def heading(self, text: str, remark: str = "") -> None:
        self._lines.append("")
        self._lines.append(self._styled(_BOLD, _shown(text)) + (f'  "{_shown(remark)}"' if remark else ""))

    def gap(self) -> None:
        self._lines.append("")

    def paragraph(self, text: str) -> None:
        self._lines.extend(_INDENT + line for line in wrapped(_shown(text), self._width - len(_INDENT)))

    def change(self, sign: str, text: str, details: Iterable[str] = ()) -> None:
        """Add a line of a difference (`+` new, `~` changed, `-` gone, `=` the same), with details below it."""
        indent = _INDENT + "  "
        lines = [(indent, line) for line in wrapped(_shown(text), self._width - len(indent))]
        deeper = indent + _INDENT
        for detail in details:
            first, *more = wrapped(_shown(detail), self._width - len(deeper + _INDENT))
            lines += [(deeper, first), *((deeper + _INDENT, line) for line in more)]
        (_, head), *rest = lines
        self._lines.append(_INDENT + self._styled(_SIGNS[sign], f"{sign} {head}"))
        self._lines.extend(before + self._styled(_SIGNS[sign], line) for before, line in rest)

    def first_rows(self, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> None:
        """Add a table of the first rows, and the number of the remaining ones."""
        every = list(rows)
        self.table(every[:_MOST_ROWS], head)
        if len(every) > _MOST_ROWS:
            self.paragraph(f"  and {len(every) - _MOST_ROWS} more, which `bench plan --json` has")

    def table(self, rows: Iterable[Sequence[str]], head: Sequence[str] = (), right: Collection[int] = ()) -> None:
        """Add columns side by side, leaving out empty ones. The last column is wrapped, and the columns in `right` are
        flush right."""
        body = [[_shown(cell) for cell in row] for row in rows]
        if not body:
            return
        kept = [i for i in range(len(body[0])) if any(row[i] for row in body)]
        lines = [[row[i] for i in kept] for row in body]
        for column in (at for at, i in enumerate(kept) if i in right):
            widest = max(display_width(row[column]) for row in lines)
            for row in lines:
                row[column] = " " * (widest - display_width(row[column])) + row[column]
        heads = [head[i] for i in kept] if head else []
        sizes = [max(display_width(row[i]) for row in ([heads] if heads else []) + lines) for i in range(len(kept))]
        left = sum(sizes[:-1]) + 2 * (len(kept) - 1) + len(_INDENT)
        if heads:
            self._lines.append(self._styled(_DIM, self._row(heads, sizes)))
        for row in lines:
            # Wide first columns leave some room for the last one.
            first, *more = wrapped(row[-1], max(24, self._width - left))
            self._lines.append(self._row([*row[:-1], first], sizes))
            self._lines.extend(" " * left + line for line in more)

    def _row(self, cells: Sequence[str], sizes: Sequence[int]) -> str:
        padded = [cell + " " * (size - display_width(cell)) for cell, size in zip(cells, sizes, strict=True)]
        return _INDENT + "  ".join(padded).rstrip()

    def _styled(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self._color else text


def _shown(text: str) -> str:
    return printable(_LINE_END.sub(" ", text))


_BREAK = re.compile(r"[^,/?&@]*[,/?&@]+|[^,/?&@]+")


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most `width` columns, broken between words, or within longer words such as addresses."""
    lines = [""]
    for word in text.split(" "):
        pieces = [word] if display_width(word) <= width else _BREAK.findall(word)
        for index, piece in enumerate(pieces):
            space = " " if lines[-1] and index == 0 else ""
            if lines[-1] and display_width(lines[-1] + space + piece) > width:
                lines.append(piece)
            else:
                lines[-1] += space + piece
    return lines


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
