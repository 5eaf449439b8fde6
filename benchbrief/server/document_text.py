"""A document's text at one version, and its places in the units that the client counts in.

Lines end at LF, CRLF or CR, as the protocol says, and nowhere else: `str.splitlines` would also cut at U+2028.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from lsprotocol import types

_LINE_END = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")
Encoding = types.PositionEncodingKind


class Text:
    """Never changes; `changed` gives the next one. Offsets are in characters."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        # Half of a surrogate pair, which JSON can carry and UTF-8 can't, takes the place of a replacement character
        # in all three encodings; so does a byte-order mark, as a blank.
        text = _SURROGATE.sub("\ufffd", text)
        self.text = "\u2003" + text[1:] if text.startswith("\ufeff") else text
        self.encoding = encoding

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        return (0, *(end.end() for end in _LINE_END.finditer(self.text)))

    @property
    def lines(self) -> list[str]:
        """With their line ends; the last is "" when the text ends with one."""
        starts = self.line_starts
        return [self.text[start:end] for start, end in zip(starts, [*starts[1:], len(self.text)], strict=True)]

    def changed(self, change: types.TextDocumentContentChangeEvent) -> Text:
        """The text after one change of the client's."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self.offset(change.range.start), self.offset(change.range.end)
            if end < start:
                start, end = end, start
            return Text(self.text[:start] + change.text + self.text[end:], self.encoding)
        return Text(change.text, self.encoding)

    def position(self, offset: int) -> types.Position:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.line_starts, offset) - 1
        return types.Position(line, self._units(self.text[self.line_starts[line] : offset]))

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond its line is at the line's end, one within a character at its start."""
        if position.line >= len(self.line_starts):
            return len(self.text)
        start = self.line_starts[position.line]
        line = self._line(position.line)
        if line.isascii() or self.encoding == Encoding.Utf32:
            return start + min(position.character, len(line))
        units = 0
        for index, char in enumerate(line):
            units += self._units(char)
            if units > position.character:
                return start + index
        return start + len(line)

    def _line(self, number: int) -> str:
        """Without its line end."""
        last = number + 1 == len(self.line_starts)
        end = len(self.text) if last else self.line_starts[number + 1]
        return self.text[self.line_starts[number] : end].rstrip("\r\n")

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == Encoding.Utf32:
            return len(text)
        if self.encoding == Encoding.Utf8:
            return len(text.encode())
        return len(text) + sum(char > "\uffff" for char in text)
