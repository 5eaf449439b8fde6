"""Outputs a query's answer as text for people, as JSON, as CSV, or as a Parquet file.

Names and notes come from specs and hosts, so control characters are escaped for a terminal. JSON and CSV keep full
precision. Neither uses NaN, which becomes a missing value.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.dsl.source import display_width, json_escaped
from benchbrief.results.store.searched_doubts import Answering
from benchbrief.results.store.user_query import QueryAnswer
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import pyarrow as pa


_VIEWS: Mapping[str, Mapping[str, str]] = {
    "throughput": {"value": "ops/s"},
    "latency": {"value": "s"},
    "errors": {"value": "share"},
    "spread": {"mean": "ops/s", "sd": "ops/s", "cv": "share"},
}
"""The units of those columns of `measure.` views (`measure_views.py`) that have the same unit in all rows, by view."""
_KEEPING = frozenset(
    {"avg", "mean", "min", "max", "median", "sum", "any_value", "first", "last", "stddev", "stddev_samp"}
)
"""Functions whose result has the unit of their argument."""


def units_of(answer: QueryAnswer, sql: str, store: Answering) -> tuple[str, ...]:
    """Return the unit of each column of an answer to `sql`, or "" if the column has no unit or an unknown one."""
    unknown = ("",) * len(answer.columns)
    try:
        ((text,),) = store.sql(f"SELECT json_serialize_sql({sql_text(sql)})").rows  # it is read, and not run
    except (ResultsError, ValueError):
        return unknown
    parsed = json.loads(text)
    nodes = [each["node"] for each in parsed.get("statements", ())]
    if len(nodes) != 1 or nodes[0].get("type") != "SELECT_NODE" or nodes[0].get("cte_map", {}).get("map"):
        return unknown
    source = nodes[0]["from_table"]
    if source.get("type") != "BASE_TABLE":
        return unknown
    units = _columns(source.get("schema_name"), source["table_name"], store)
    asked = nodes[0]["select_list"]
    if any(each["class"] == "STAR" for each in asked):
        if len(asked) > 1 or asked[0].get("replace_list") or asked[0].get("rename_list"):
            return unknown
        return tuple(units.get(name, "") for name in answer.columns)
    if len(asked) > len(answer.columns):
        return unknown
    found = [_unit(each, units) for each in asked]
    return (*found, *unknown[len(found) :])  # the mark of a simulated run stands behind


def _columns(schema: str, name: str, store: Answering) -> Mapping[str, str]:
    if schema not in ("measure", "metric"):
        return {}
    factors: dict[str, str] = {}
    with suppress(ResultsError):  # a shared store may have none of them
        rows = store.sql("SELECT factor, unit FROM factors WHERE unit IS NOT NULL").rows
        factors = {str(factor): str(unit) for factor, unit in rows}
    if schema == "measure":
        return {**factors, **_VIEWS.get(name, {})}
    rows = store.sql("SELECT name, unit FROM metrics").rows
    return {**factors, "value": next((str(unit) for metric, unit in rows if metric == name), "")}


def _unit(asked: Mapping[str, Any], units: Mapping[str, str]) -> str:
    if asked.get("class") == "COLUMN_REF":
        return units.get(asked["column_names"][-1], "")
    if asked.get("class") == "FUNCTION" and asked.get("function_name") in _KEEPING:
        given = asked.get("arguments") or asked.get("children") or [{}]  # later and earlier versions of DuckDB
        return _unit(given[0].get("expression", given[0]), units)
    return ""


class Answers(Protocol):
    """The store of one run or of many runs, which answers SQL."""

    @property
    def simulated(self) -> bool: ...
    @property
    def imported(self) -> bool: ...
    def batches(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]: ...


MISSING = "–"
SIMULATED = "simulated"
"""The column that marks an export of a simulated run. It is true in every row, since a file has no other place for a
mark."""
IMPORTED = "imported"
"""The column that marks exports of an imported run."""
_GAP = "  "
_TIMES = ((1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns"))


def mark_of(store: Answers) -> str:
    """Return the column that marks a simulated or imported run, or "" for a run measured here."""
    return SIMULATED if store.simulated else IMPORTED if store.imported else ""


def with_mark(table: QueryAnswer, mark: str = SIMULATED) -> QueryAnswer:
    """Return the answer with a further column, which has the mark as its name and is true in each row. If `mark` is "",
    return the answer unchanged."""
    known = zip(table.columns, table.types, strict=True)
    if not mark or any(name == mark and kind == "BOOLEAN" for name, kind in known):
        return table
    rows = tuple((*row, True) for row in table.rows)
    return QueryAnswer((*table.columns, mark), (*table.types, "BOOLEAN"), rows)


def to_text(table: QueryAnswer, units: Sequence[str] = ()) -> str:
    """Format the answer as a table. Columns are aligned by their width on a terminal, with numbers to the right.

    Measured numbers have four digits, or all digits before the decimal point if these are more, with thousands
    separators. Numbers that are integers in DuckDB are shown unchanged, since they may be ports, seeds or years. A
    column whose unit is in `units` shows the unit in its head: times have the unit that fits the largest value, and
    shares are percentages. The last line has no line end.
    """
    scales = [_scale(unit, [row[i] for row in table.rows]) for i, unit in enumerate(units or [""] * len(table.columns))]
    heads = zip(table.columns, scales, strict=True)
    columns = [_shown(f"{name} ({unit})" if unit else name) for name, (_, unit) in heads]
    rows = [
        [
            shown_cell(value * factor if isinstance(value, float) else value)
            for value, (factor, _) in zip(row, scales, strict=True)
        ]
        for row in table.rows
    ]
    widths = [max(map(display_width, texts)) for texts in zip(columns, *rows, strict=True)]
    numeric = [_all_numbers(values) for values in zip(*table.rows, strict=True)] or [False] * len(columns)
    lines = [_line(columns, widths, numeric), _GAP.join("─" * width for width in widths)]
    lines += [_line(row, widths, numeric) for row in rows]
    return "\n".join(lines if rows else [*lines, "(no rows)"])


def _scale(unit: str, values: Sequence[object]) -> tuple[float, str]:
    """Return the factor for a column's values, and the unit of the multiplied values."""
    if unit == "share":
        return 100.0, "%"
    if unit != "s":
        return 1.0, unit if unit != "1" else ""
    largest = max((abs(value) for value in values if isinstance(value, float) and math.isfinite(value)), default=0.0)
    return next((step for step in _TIMES if largest * step[0] >= 1), (1.0, "s"))


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for text, width, to_right in zip(texts, widths, right, strict=True):
        padding = " " * (width - display_width(text))
        padded.append(padding + text if to_right else text + padding)
    return _GAP.join(padded).rstrip()


def _all_numbers(values: Sequence[object]) -> bool:
    some = [value for value in values if value is not None]
    return bool(some) and all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in some)


def shown_cell(value: object) -> str:
    value = plain(value)
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    return _shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _shown(text: str) -> str:
    r"""Return the text on one line, with control and direction-changing characters escaped (\x1b)."""
    return "".join(char if _harmless(char) else f"\\x{ord(char):02x}" for char in text)


def _harmless(char: str) -> bool:
    return char == " " or (char.isprintable() and unicodedata.category(char) != "Cf")


def plain(value: Any) -> Any:
    """Convert a DuckDB value for JSON: times to ISO 8601, durations to seconds, bytes to hex, NaN and infinity
    to null."""
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


def to_json(table: QueryAnswer) -> str:
    """Return a JSON array with one object per row. Columns of the same name are numbered."""
    names = _distinct(table.columns)
    rows = [dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
    text = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)
    return "".join(char if char == "\n" or _harmless(char) else json_escaped(char) for char in text)


def to_csv(table: QueryAnswer) -> str:
    """Return CSV with a header (RFC 4180, but with plain line feeds). A missing value is an empty field.

    An apostrophe is put before any text that a spreadsheet would take for a formula (`defuse_formula`).
    """
    return rows_to_csv(table.columns, table.rows)


def rows_to_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV in the same form as `to_csv`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(defuse_formula(_shown(name)) for name in columns)
    for row in rows:
        writer.writerow(map(_field, row))
    return out.getvalue()


def _field(value: object) -> object:
    value = plain(value)
    if isinstance(value, str):
        return defuse_formula("\n".join(map(_shown, value.split("\n"))))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value


_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20].")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


def defuse_formula(text: str) -> str:
    """Put an apostrophe in front of text that a spreadsheet would take for a formula. Numbers are left unchanged.

    See https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _distinct(names: Sequence[str]) -> list[str]:
    """Make names distinct: x, x, y become x, x_1, y."""
    found: list[str] = []
    for name in names:
        number, chosen = 0, name
        while chosen in found:
            number += 1
            chosen = f"{name}_{number}"
        found.append(chosen)
    return found


def to_parquet(store: Answers, sql: str, path: Path) -> int:
    """Write a query's answer to a Parquet file, completely or not at all. Returns the number of rows.
    Raises ResultsError."""
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
        with suppress(OSError):  # a name that is too long can't be looked up either, and was reported
            temporary.unlink(missing_ok=True)
    return rows
