"""A query's answer as text for people, as JSON, CSV, or a Parquet file.

Names and notes come from specs and hosts: what a terminal would obey is shown, not obeyed. JSON and CSV keep full
precision, and have no NaN: what is not a number is missing.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchbrief.results.ask import Table
from benchbrief.results.errors import ResultsError
from benchbrief.results.store import Store

MISSING = "–"
SIMULATED = "simulated"
"""The column, true in every row, that marks what is exported of a simulated run: a file has no other place for it."""
IMPORTED = "imported"
"""The same of an imported run."""
_GAP = "  "


def mark_of(store: Store) -> str:
    """The column that marks the rows of a run whose numbers were not measured here; "" for one that was."""
    return SIMULATED if store.simulated else IMPORTED if store.imported else ""


def marked(table: Table, mark: str = SIMULATED) -> Table:
    """The answer of a simulated or imported run, with that in each row; itself where there is no mark."""
    known = zip(table.columns, table.types, strict=True)
    if not mark or any(name == mark and kind == "BOOLEAN" for name, kind in known):
        return table
    rows = tuple((*row, True) for row in table.rows)
    return Table((*table.columns, mark), (*table.types, "BOOLEAN"), rows)


def to_text(table: Table) -> str:
    """Columns aligned by their width on a terminal, numbers to the right. No line end after the last line."""
    columns = [_shown(name) for name in table.columns]
    rows = [[_cell(value) for value in row] for row in table.rows]
    widths = [max(map(display_width, texts)) for texts in zip(columns, *rows, strict=True)]
    numeric = [_all_numbers(values) for values in zip(*table.rows, strict=True)] or [False] * len(columns)
    lines = [_line(columns, widths, numeric), _GAP.join("─" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in rows]
    return "\n".join(lines if rows else [*lines, "(no rows)"])


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for text, width, to_right in zip(texts, widths, right, strict=True):
        padding = " " * (width - display_width(text))
        padded.append(padding + text if to_right else text + padding)
    return _GAP.join(padded).rstrip()


def _all_numbers(values: Sequence[object]) -> bool:
    some = [value for value in values if value is not None]
    return bool(some) and all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in some)


def _cell(value: object) -> str:
    value = plain(value)
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
    return _shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _shown(text: str) -> str:
    r"""Text on one line, with control and direction-changing characters as \x1b and the like."""
    return "".join(char if _harmless(char) else f"\\x{ord(char):02x}" for char in text)


def _harmless(char: str) -> bool:
    return char == " " or (char.isprintable() and unicodedata.category(char) != "Cf")


def display_width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def plain(value: Any) -> Any:
    """A DuckDB value as JSON has them: times in ISO 8601, durations in seconds, bytes in hex, no NaN or infinity."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return plain(float(value))
        case datetime() | date() | time_of_day():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case _:
            return str(value)


def to_json(table: Table) -> str:
    """A JSON array with one object a row. Columns of the same name are told apart by a number."""
    names = _distinct(table.columns)
    rows = [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
    text = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)
    return "".join(char if char == "\n" or _harmless(char) else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def to_csv(table: Table) -> str:
    """A header and one record a row (RFC 4180, but with plain line feeds); a missing value is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_shown, table.columns))
    for row in table.rows:
        writer.writerow(map(_field, row))
    return out.getvalue()


def _field(value: object) -> object:
    value = plain(value)
    if isinstance(value, str):
        return "\n".join(map(_shown, value.split("\n")))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value


def _distinct(names: Sequence[str]) -> list[str]:
    """x, x, y -> x, x_1, y"""
    found: list[str] = []
    for name in names:
        number, chosen = 0, name
        while chosen in found:
            number += 1
            chosen = f"{name}_{number}"
        found.append(chosen)
    return found


def to_parquet(store: Store, sql: str, path: Path) -> int:
    """Write the answer of a query to a Parquet file, whole or not at all; the number of rows. Raises ResultsError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    rows = 0
    try:
        with store.batches(sql) as batches:
            fields = [*batches.schema, *([pa.field(mark_of(store), pa.bool_())] if mark_of(store) else ())]
            names = _distinct([field.name for field in fields])
            schema = pa.schema([field.with_name(name) for name, field in zip(names, fields, strict=True)])
            with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
                for batch in batches:
                    mark = [pa.array([True] * batch.num_rows)] if mark_of(store) else []
                    writer.write_batch(pa.RecordBatch.from_arrays([*batch.columns, *mark], schema=schema))
                    rows += batch.num_rows
        temporary.replace(path)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)  # Arrow's own text is a paragraph
        raise ResultsError(f"{path} can't be written: {why}", "choose another place for the file") from error
    finally:
        temporary.unlink(missing_ok=True)
    return rows
