"""Source text and the spans that point into it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import field

from benchbrief.dsl.lazy_dataclass import cached_property, dataclass


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one file. `name` is the path as the user typed it (or `<stdin>`), never an absolute path that
    benchbrief made."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset of the first character of each line."""
        return (0, *(end.end() for end in re.finditer("\n", self.text)))

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column, both from 1, of a character offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a line (from 1), without its line end."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


@dataclass(frozen=True)
class Span:
    """A half-open range of characters [start, end) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def encloses(self, other: Span) -> bool:
        return self.source is other.source and self.start <= other.start and other.end <= self.end

    def to(self, other: Span) -> Span:
        """Return the span from this span's start to the other's end."""
        return Span(self.source, self.start, max(self.end, other.end))


_TAB = 4
_WIDTH = 120  # columns of a line; a longer line is cut around the marked part
_LEAD = 40  # columns kept before the mark when a line is cut
_REACH = 4 * _WIDTH  # characters looked at on each side of the mark: a line may be megabytes long
_CUT = "..."


@dataclass(frozen=True)
class Shown:
    """A line's text, and the columns (from 0) where its marked part starts and ends. The part is at least one column
    wide."""

    text: str
    start: int
    end: int


def show(source: Source, line: int, start: int, end: int) -> Shown:
    """Return the line with this number, with its part within [start, end) of the source marked."""
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
    """Return the text with escapes for characters that a terminal would obey, hide or reorder."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if harmless(char) else _escaped(char) for char in text)


def harmless(char: str) -> bool:
    """Return whether a terminal shows the character unchanged. A line end counts as harmful."""
    return char.isprintable() or unicodedata.category(char) == "Zs"


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_escaped(char: str) -> str:
    r"""Return the character as JSON writes it in ASCII, with a `\u` escape for each of its UTF-16 units."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def display_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
