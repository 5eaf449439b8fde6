"""Characters that a terminal can show, and texts cut, padded and folded to its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import click

from benchbrief.dsl.diagnostics.source_line import display_width

_OPENING = "\u3008\u300a\u300c\u300e\u3010\u3014\uff08"
_CLOSING = "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u3015\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
_WIDE = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
_PIECE = re.compile(rf" *(?:[{_OPENING}]*[{_WIDE}]|[^ {_WIDE}]+)[{_CLOSING}]*| +")
"""A line may end before each: at blanks, and between characters of scripts that have none."""


@dataclass(frozen=True)
class Marks:
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


def shorten(name: str, width: int, marks: Marks = UNICODE) -> str:
    """A name cut in its middle: names of cells differ at their end, and say what they are at their beginning."""
    if display_width(name) <= width:
        return name
    keep = max(0, width - display_width(marks.cut))
    return (
        _beginning(name, keep // 2) + marks.cut + _ending(name, keep - keep // 2) if keep else _beginning(name, width)
    )


def _beginning(text: str, width: int) -> str:
    while display_width(text) > width:
        text = text[:-1]
    return text


def _ending(text: str, width: int) -> str:
    while display_width(text) > width:
        text = text[1:]
    return text


def pad(text: str, width: int) -> str:
    """The text with blanks behind it, so that it takes as many columns."""
    return text + " " * (width - display_width(text))


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells in columns as wide as need be: the first row is the head, with a rule below it."""
    widths = [max(map(display_width, texts)) for texts in zip(*rows, strict=True)]
    head, *others = (
        "  ".join(pad(text, width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return [head, "  ".join("─" * width for width in widths), *others]


def fold(line: str, width: int | None, indent: int) -> list[str]:
    """The lines that a line with colours takes on a terminal of so many columns; all but the first one are indented.

    Words that are longer than a line stay whole, so that a path can be copied. None: as wide as need be.
    """
    if width is None or display_width(click.unstyle(line)) <= width:
        return [line]
    lines, used = [""], 0
    for piece in _PIECE.findall(line):
        needed = display_width(click.unstyle(piece))
        if used + needed > width and lines[-1].strip():
            lines.append(" " * indent + piece.lstrip(" "))
            used = display_width(click.unstyle(lines[-1]))
        else:
            lines[-1] += piece
            used += needed
    return lines
