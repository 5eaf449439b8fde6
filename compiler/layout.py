"""Plain text for terminals: aligned tables, wrapped words, durations and sizes as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from benchbrief.dsl.cells import printable

_INDENT = "  "
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_SIGNS = {"+": "\x1b[32m", "~": "\x1b[33m", "-": "\x1b[31m", "=": _DIM}


class Page:
    """Collects lines of at most `width` columns."""

    def __init__(self, width: int, color: bool) -> None:
        self._width = width
        self._color = color
        self._lines: list[str] = []

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines)

    def strong(self, text: str) -> None:
        self._lines.append(self._styled(_BOLD, text))

    def heading(self, text: str, remark: str = "") -> None:
        self._lines.append("")
        self._lines.append(self._styled(_BOLD, text) + (f'  "{remark}"' if remark else ""))

    def gap(self) -> None:
        self._lines.append("")

    def paragraph(self, text: str) -> None:
        self._lines.extend(_INDENT + line for line in wrapped(text, self._width - len(_INDENT)))

    def change(self, sign: str, text: str, details: Iterable[str] = ()) -> None:
        """A line of a difference: `+` new, `~` changed, `-` gone, `=` the same; details below it."""
        indent = _INDENT + "  "
        lines = [(indent, line) for line in wrapped(printable(text), self._width - len(indent))]
        deeper = indent + _INDENT
        for detail in details:
            first, *more = wrapped(printable(detail), self._width - len(deeper + _INDENT))
            lines += [(deeper, first), *((deeper + _INDENT, line) for line in more)]
        (_, head), *rest = lines
        self._lines.append(_INDENT + self._styled(_SIGNS[sign], f"{sign} {head}"))
        self._lines.extend(before + self._styled(_SIGNS[sign], line) for before, line in rest)

    def table(self, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> None:
        """Columns side by side, the last one wrapped. Columns that nothing stands in are left out."""
        body = [[printable(cell) for cell in row] for row in rows]
        if not body:
            return
        kept = [i for i in range(len(body[0])) if any(row[i] for row in body)]
        lines = [[row[i] for i in kept] for row in body]
        heads = [head[i] for i in kept] if head else []
        sizes = [max(columns(row[i]) for row in ([heads] if heads else []) + lines) for i in range(len(kept))]
        left = sum(sizes[:-1]) + 2 * (len(kept) - 1) + len(_INDENT)
        if heads:
            self._lines.append(self._styled(_DIM, self._row(heads, sizes)))
        for row in lines:
            # A table whose first columns fill the width keeps some room for the last all the same.
            first, *more = wrapped(row[-1], max(24, self._width - left))
            self._lines.append(self._row([*row[:-1], first], sizes))
            self._lines.extend(" " * left + line for line in more)

    def _row(self, cells: Sequence[str], sizes: Sequence[int]) -> str:
        padded = [cell + " " * (size - columns(cell)) for cell, size in zip(cells, sizes, strict=True)]
        return _INDENT + "  ".join(padded).rstrip()

    def _styled(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self._color else text


def columns(text: str) -> int:
    """How many columns of a terminal the text takes: two for wide characters, none for combining ones."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


_BREAK = re.compile(r"[^,/?&@]*[,/?&@]+|[^,/?&@]+")


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken between words; longer words, such as addresses, within them."""
    lines = [""]
    for word in text.split(" "):
        pieces = [word] if columns(word) <= width else _BREAK.findall(word)
        for index, piece in enumerate(pieces):
            space = " " if lines[-1] and index == 0 else ""
            if lines[-1] and columns(lines[-1] + space + piece) > width:
                lines.append(piece)
            else:
                lines[-1] += space + piece
    return lines


def duration(seconds: float) -> str:
    """The two largest parts: `250 ms`, `4 s`, `4 min 16 s`, `2 h 5 min`, `3 d 4 h`."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    parts: list[str] = []
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, whole = divmod(whole, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"


_SIZES = (
    *((1e12, "TB"), (2.0**40, "TiB"), (1e9, "GB"), (2.0**30, "GiB")),
    *((1e6, "MB"), (2.0**20, "MiB"), (1e3, "kB"), (2.0**10, "KiB")),
)


def quantity_of_bytes(count: float) -> str:
    """`400 B`, `1 kB`, `8 MiB`: in the unit, decimal or binary, that says it shortest with at most three decimals."""
    fitting = [f"{count / size:g} {unit}" for size, unit in _SIZES if _fits(count, size)]
    return min(fitting, key=len) if fitting else f"{count:,.0f} B"


def _fits(count: float, size: float) -> bool:
    return count >= size and count / size == round(count / size, 3)
