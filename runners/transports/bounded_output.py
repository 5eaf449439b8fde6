"""The output of a short command, kept up to a limit."""

from __future__ import annotations

import re

OUTPUT_LIMIT = 1 << 20
"""The most bytes of each stream of a short command that are kept. Jobs write to files, which are fetched whole."""
_MARK_SIZE = 200


class LimitedText:
    """The first bytes of a stream, and how many came after them."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._size = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        self._kept += piece[: self._limit - len(self._kept)]
        self._size += len(piece)
        self._tail = (self._tail + piece)[-_MARK_SIZE:]

    def ends_with(self, pattern: str) -> str | None:
        """Return the pattern's group when the stream now ends with the pattern (of at most 200 bytes)."""
        found = re.search(rf"{pattern}\Z".encode(), self._tail)
        return found[1].decode() if found else None

    def drop_end(self, pattern: str) -> None:
        """Remove the pattern from the end of the stream."""
        found = re.search(rf"{pattern}\Z".encode(), self._tail)
        if found:
            self._size -= len(found[0])
            del self._kept[self._size :]

    def text(self) -> str:
        kept = self._kept.decode("utf-8", "replace")
        dropped = self._size - len(self._kept)
        return f"{kept}\n[{dropped} more bytes were not kept]\n" if dropped else kept


class MarkedEnd:
    """A stream that ends with a pattern (of at most 200 bytes) whose group is an exit code."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(rf"{pattern}\Z".encode())
        self._held = b""

    def settled(self, piece: bytes) -> bytes:
        """Return those of the held-back bytes and the piece that can't be part of the end."""
        held = self._held + piece
        self._held = held[-_MARK_SIZE:]
        return held[:-_MARK_SIZE]

    def code(self) -> int | None:
        found = self._pattern.search(self._held)
        return int(found[1]) if found else None

    def rest(self) -> bytes:
        """Return the bytes that were held back, without the end."""
        return self._pattern.sub(b"", self._held)
