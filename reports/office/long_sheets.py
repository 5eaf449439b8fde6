"""Fills the long sheets of a finished workbook. XlsxWriter is not used for them, because it takes ten times as long for
100,000 rows, and because their XML does not fit in memory."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from decimal import Decimal
from itertools import islice

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.office.file_texts import column_letters
from benchbrief.reports.office.points_table import PointsTable
from benchbrief.reports.office.sheet_values import cell_text

_AT_ONCE = 500
_MOST_KNOWN = 10_000
"""How many texts of a column are kept for reuse. Most texts occur in many rows."""
_BYTES_OF_A_CELL = 100
_NUMBERS = (int, float, Decimal)
_CODE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_MOST_WITHOUT_ZIP64 = (1 << 31) - 1
QUICKLY = 3
"""The level of compression. A higher level takes several times as long and saves only a tenth."""


@dataclass(frozen=True)
class LongRows:
    """The rows of a table for the sheet with the number `sheet`, beginning at the row `first`, counted from 1. `said`
    has an entry for each column: the function that turns its keys into words, or None if it has no keys."""

    sheet: int
    first: int
    table: PointsTable
    most: int
    said: Sequence[Callable[[str], str] | None]

    @property
    def part(self) -> str:
        return f"xl/worksheets/sheet{self.sheet}.xml"

    @property
    def is_huge(self) -> bool:
        rows = min(self.most, self.table.count)
        return rows * len(self.table.columns) * _BYTES_OF_A_CELL > _MOST_WITHOUT_ZIP64


def with_long_rows(content: bytes, sheets: Iterable[LongRows]) -> bytes:
    """Return a workbook with these rows added below the existing rows of its sheets."""
    by_part = {each.part: each for each in sheets}
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=QUICKLY) as new,
    ):
        for info in old.infolist():
            found = old.read(info)
            if info.filename not in by_part:
                new.writestr(info, found)
                continue
            rows = by_part[info.filename]
            before, end, after = found.partition(b"</sheetData>")
            with new.open(copy(info), "w", force_zip64=rows.is_huge) as file:
                file.write(re.sub(rb"<dimension [^>]*/>", b"", before))
                for chunk in _chunks(rows):
                    file.write(chunk.encode())
                file.write(end + after)
    return out.getvalue()


def _chunks(rows: LongRows) -> Iterator[str]:
    with rows.table.rows() as found:
        numbered = enumerate(islice(found, rows.most), rows.first)
        written = _Rows(rows)
        while some := [written.row(number, values) for number, values in islice(numbered, _AT_ONCE)]:
            yield "".join(some)


class _Rows:
    """Writes rows in the form of SpreadsheetML (ECMA-376, part 1, 18.3.1)."""

    def __init__(self, rows: LongRows) -> None:
        self._columns: list[tuple[str, Callable[[str], str] | None, dict[str, str]]] = [
            (f'<c r="{column_letters(number)}', said, {}) for number, said in enumerate(rows.said, 1)
        ]
        """For each column: how the XML of its cells begins, the function that turns its keys into words, and how the
        XML of a cell with a known text ends, by that text."""

    def row(self, number: int, values: Sequence[object]) -> str:
        cells = [f'<row r="{number}">']
        for (begin, said, known), value in zip(self._columns, values, strict=True):
            if value is None or value == "":
                continue
            if isinstance(value, _NUMBERS) and value is not True and value is not False:
                if math.isfinite(value):
                    cells.append(f'{begin}{number}"><v>{value}</v></c>')
                continue
            text = str(value)
            if (end := known.get(text)) is None:
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                end = known[text] = _text(said(text) if said else text)
            cells.append(f"{begin}{number}{end}")
        cells.append("</row>")
        return "".join(cells)


def _text(text: str) -> str:
    """Return the rest of the XML element of a cell with a text."""
    plain = cell_text(text)
    if "_x" in plain:  # which a program could take for a character
        plain = _CODE.sub("_x005F_", plain)
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    space = ' xml:space="preserve"' if plain != plain.strip() else ""
    return f'" t="inlineStr"><is><t{space}>{plain}</t></is></c>'
