"""What a short command prints, kept up to a limit."""

from __future__ import annotations

OUTPUT_LIMIT = 1 << 20
"""Bytes of each stream of a short command that are kept. Jobs write to files, which are fetched whole."""


class LimitedText:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._dropped = 0

    def add(self, piece: bytes) -> None:
        room = self._limit - len(self._kept)
        self._kept += piece[:room]
        self._dropped += len(piece[room:])

    def text(self) -> str:
        kept = self._kept.decode("utf-8", "replace")
        return f"{kept}\n[{self._dropped} more bytes were not kept]\n" if self._dropped else kept
