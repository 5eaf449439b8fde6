"""One line of a source as a terminal shows it: tabs, wide characters, escapes, and what is too long."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from benchbrief.dsl.source import Source

_TAB = 4
_WIDTH = 120  # columns of a line; more is cut around what is marked
_LEAD = 40  # columns kept before the mark when a line is cut
_REACH = 4 * _WIDTH  # characters looked at on each side of the mark: a line may be megabytes long
_CUT = "..."


@dataclass(frozen=True)
class Shown:
    """A line's text, and the columns (from 0) at which the marked part starts and ends, at least one apart."""

    text: str
    start: int
    end: int


def show(source: Source, line: int, start: int, end: int) -> Shown:
    """The line with this number, with the part of it in [start, end) of the source marked."""
    first = source.line_starts[line - 1]
    whole = source.line(line)
    start, end = (min(max(offset - first, 0), len(whole)) for offset in (start, end))
    left, right = max(0, start - _REACH), min(len(whole), end + _REACH, start + 2 * _REACH)
    cells = [printable(char) if char != "\t" else " " * _TAB for char in whole[left:right]]
    edges = [0]
    for cell in cells:
        edges.append(edges[-1] + display_width(cell))
    before, after = edges[start - left], edges[min(end, right) - left]
    low, high = 0, len(cells)
    head = tail = ""
    if left > 0 or before > _WIDTH - _LEAD:
        low = next(i for i, edge in enumerate(edges) if edge >= before - _LEAD)
        head = _CUT if low or left else ""
    if right < len(whole) or edges[-1] - edges[low] > _WIDTH:
        high = next((i for i in range(len(cells), low, -1) if edges[i] - edges[low] <= _WIDTH), low)
        tail = _CUT if high < len(cells) or right < len(whole) else ""
    shift = len(head) - edges[low]
    mark = before + shift
    text = head + "".join(cells[low:high]) + tail
    return Shown(text.rstrip(), mark, max(mark + 1, min(after, edges[high]) + shift))


def printable(text: str) -> str:
    """Return the text with escapes for what a terminal would obey, hide or reorder."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if harmless(char) else _escaped(char) for char in text)


def harmless(char: str) -> bool:
    """Whether a terminal shows the character as it is; false for a line end."""
    return char.isprintable() or unicodedata.category(char) == "Zs"


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_escaped(char: str) -> str:
    """The character as JSON writes it in ASCII: a `\\u` escape for each of its UTF-16 units."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
