"""Merges sentences of a run that differ only in their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from benchbrief.compiler.messages.text import Text, spanning


def merged(rows: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Merge remarks (severity, text, cells) that differ only in their numbers, with the range of each number.

    A text without a code, such as the words of a tool, stays unchanged.
    """
    groups: dict[Hashable, list[tuple[str, str, int]]] = {}
    for row in rows:
        groups.setdefault((row[0], shape_of(row[1])), []).append(row)
    return [
        (same[0][0], _one(text for _, text, _ in same), sum(cells for *_, cells in same)) for same in groups.values()
    ]


def shape_of(text: str) -> Hashable:
    """Return what a sentence shares with those that differ only in their numbers."""
    return text.shape if isinstance(text, Text) else text


def _one(texts: Iterable[str]) -> str:
    every = list(texts)
    known = [text for text in every if isinstance(text, Text)]
    return spanning(known) if known else every[0]
