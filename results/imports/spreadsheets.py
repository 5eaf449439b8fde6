"""The text of a table as spreadsheets save it: its encoding, what separates its columns, and its decimal mark.

A comma is the decimal mark only where columns are separated by something else: `7120,1` in a table with semicolons.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_PACKED = {
    b"\x1f\x8b": ("packed by gzip", "unpack it: gunzip {name}"),
    b"BZh": ("packed by bzip2", "unpack it: bunzip2 {name}"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it: unzstd {name}"),
    b"\xfd7zXZ": ("packed by xz", "unpack it: unxz {name}"),
    b"PK\x03\x04": ("a workbook or another archive", "save the sheet as CSV (UTF-8), or unpack the archive"),
}
_SEP = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?[0-9]+,([0-9]+)(?:[eE][+-]?[0-9]+)?")
_POINT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
_NEVER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


class Unreadable(Exception):
    """What is wrong with a file as a whole, and what to do about it."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


class UnclearNumber(Exception):
    """A number that can be read in two ways."""


@dataclass(frozen=True)
class Sheet:
    """`comments` are the lines before the head, `rows` those of the head and below it that have something in them; each
    with its number in the file."""

    comments: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, str], ...]
    separator: str

    def fields(self, line: str, *, strict: bool = False) -> list[str]:
        """Raises csv.Error."""
        return next(csv.reader([line], delimiter=self.separator, skipinitialspace=True, strict=strict))

    @cached_property
    def _decimal_comma(self) -> bool:
        """Whether some number has one."""
        return self.separator != "," and any(_COMMA.fullmatch(field) for field in self._below)

    @cached_property
    def _decimal_point(self) -> bool:
        """Whether some number has one that can't stand between thousands."""
        return self.separator == "," or any(
            "." in field and _POINT.fullmatch(field) and not _THOUSANDS.fullmatch(field) for field in self._below
        )

    @property
    def _below(self) -> Iterator[str]:
        return (field.strip() for _, line in self.rows[1:] for field in line.split(self.separator))

    def number(self, text: str) -> float:
        """Raises ValueError for what is no number, UnclearNumber for what may be two."""
        match = _COMMA.fullmatch(text) if self.separator != "," else None
        if match is None:
            if not _POINT.fullmatch(text) and not _NEVER.fullmatch(text):
                raise ValueError(text)
            if "." in text and self._decimal_comma:
                raise UnclearNumber(f"what the point in {text} is can't be told: other numbers have a comma")
            if _THOUSANDS.fullmatch(text) and not self._decimal_point:
                whole = text.replace(".", "")
                raise UnclearNumber(f"whether {text} is {whole} or {text}0 can't be told: write one of them")
            return float(text)
        if len(match[1]) == 3:
            point, whole = text.replace(",", "."), text.replace(",", "")
            raise UnclearNumber(f"whether {text} is {whole} or {point} can't be told: write one of them")
        return float(text.replace(",", "."))


def packed(path: Path) -> Unreadable | None:
    """Why a file can't be read before it is unpacked. Raises OSError."""
    with path.open("rb") as file:
        begin = file.read(8)
    for magic, (what, hint) in _PACKED.items():
        if begin.startswith(magic):
            return Unreadable(what, hint.format(name=path.name))
    return None


def read_sheet(path: Path) -> Sheet:
    """Raises Unreadable, OSError."""
    if (problem := packed(path)) is not None:
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
        # Names and units have none of them: what there is most of is what stands between.
        separator = max(SEPARATORS, key=rows[0][1].count)
    return Sheet(comments, tuple(rows), separator or ",")
