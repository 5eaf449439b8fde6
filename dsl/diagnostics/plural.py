"""Counts in messages: `1 cell`, `12,000 cells`."""

from __future__ import annotations


def plural(count: int, noun: str, several: str = "") -> str:
    """The count with its noun, which takes an `s`, or is `several`, for any count but one."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"
