"""The text of a table as spreadsheets save it: its encoding, its separator, and its decimal mark.

A comma is the decimal mark only when another character separates the columns: `7120,1` in a table with semicolons.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchbrief.results.imports.import_problems import Unreadable, why_packed

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SEP = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?[0-9]+,([0-9]+)(?:[eE][+-]?[0-9]+)?")
_POINT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
_NEVER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


class UnclearNumber(Exception):
    """A number that can be read in two ways."""


@dataclass(frozen=True)
class Sheet:
    """A table's text. `comments` are the lines before the head, `rows` the head and the lines below that are not
    empty.

    Each has its number in the file.
    """

    comments: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, str], ...]
    separator: str

    def fields(self, line: str, *, strict: bool = False) -> list[str]:
        """Split a line into fields. Raises csv.Error."""
        return next(csv.reader([line], delimiter=self.separator, skipinitialspace=True, strict=strict))

    @cached_property
    def _decimal_comma(self) -> bool:
        """Return whether some number has a decimal comma."""
        return self.separator != "," and any(_COMMA.fullmatch(field) for field in self._below)

    @cached_property
    def _decimal_point(self) -> bool:
        """Return whether some number has a point that can't separate thousands."""
        return self.separator == "," or any(
            "." in field and _POINT.fullmatch(field) and not _THOUSANDS.fullmatch(field) for field in self._below
        )

    @property
    def _below(self) -> Iterator[str]:
        return (field.strip() for _, line in self.rows[1:] for field in line.split(self.separator))

    def number(self, text: str) -> float:
        """Parse a number. Raises ValueError for anything else, UnclearNumber when it has two readings."""
        match = _COMMA.fullmatch(text) if self.separator != "," else None
        if match is None:
            if not _POINT.fullmatch(text) and not _NEVER.fullmatch(text):
                raise ValueError(text)
            if "." in text and self._decimal_comma:
                raise UnclearNumber(f"what the point in {text} is, is not clear: other numbers have a comma")
            if _THOUSANDS.fullmatch(text) and not self._decimal_point:
                whole = text.replace(".", "")
                raise UnclearNumber(f"whether {text} is {whole} or {text}0 is not clear: write one of them")
            return float(text)
        if len(match[1]) == 3:
            point, whole = text.replace(",", "."), text.replace(",", "")
            raise UnclearNumber(f"whether {text} is {whole} or {point} is not clear: write one of them")
        return float(text.replace(",", "."))


def read_sheet(path: Path) -> Sheet:
    """Read a table's text. Raises Unreadable, OSError."""
    if (problem := why_packed(path)) is not None:
        raise problem
    content = path.read_bytes()
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not a text in UTF-8 (byte {error.start})", "save it as UTF-8") from error
    lines = list(enumerate(text.splitlines(), start=1))
    separator = ""
    if lines and (match := _SEP.fullmatch(lines[0][1])) and match[1] in SEPARATORS:
        separator, lines = match[1], lines[1:]
    comments = tuple((number, line) for number, line in lines if line.startswith("#"))
    rows = [(number, line) for number, line in lines if not line.startswith("#") and line.strip(" \t,;")]
    if rows and not separator:
        # Names and units contain none of these, so the most frequent one is the separator.
        separator = max(SEPARATORS, key=rows[0][1].count)
    return Sheet(comments, tuple(rows), separator or ",")
