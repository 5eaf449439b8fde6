"""Characters that a terminal can show, and names cut to a width."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Marks:
    """Characters that the terminal can show."""

    full: str
    empty: str
    cut: str


UNICODE = Marks("━", "─", "…")
ASCII = Marks("#", "-", "..")


def marks(encoding: str | None) -> Marks:
    """The marks that text of this encoding can have."""
    try:
        "".join((UNICODE.full, UNICODE.empty, UNICODE.cut)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def shortened(name: str, width: int, marks: Marks = UNICODE) -> str:
    """A name cut in its middle: names of cells differ at their end, and say what they are at their beginning."""
    if len(name) <= width:
        return name
    keep = max(0, width - len(marks.cut))
    return name[: keep // 2] + marks.cut + name[len(name) - (keep - keep // 2) :] if keep else name[:width]
