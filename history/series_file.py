"""Reading a run's `series.parquet`, which a stranger may have pushed: a table, or the reason why it is none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from benchbrief.history.series_rows import READABLE, SERIES_VERSION, VERSION_KEY, SeriesRow, schema
from benchbrief.results.store.searched_doubts import Bound

if TYPE_CHECKING:
    import pyarrow as pa

MOST_OF_A_SERIES = 256 << 20
"""Bytes of the file."""
_MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30
"""Of its columns in memory."""
_MOST_LETTERS = 1 << 16
_LARGEST = 1e60
"""Of a value, in whatever unit: the squares of many stay finite."""
_OPTIONAL = {"better", "repeat", "value"}
_YEAR_9999_US = 253_402_300_800_000_000
_ALLOWED = {
    "better": (None, "higher", "lower"),
    "bound": get_args(Bound),
    "origin": ("measured", "simulated", "imported"),
}


def series_in(path: Path, run_id: str) -> tuple[pa.Table | None, str]:
    """Return what a series file holds, or why it is not one of this run and version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > _MOST_ROWS or sum(group.total_byte_size for group in groups) > _MOST_BYTES:
                return None, "its series file has more than any run has"
            table = file.read()
    except (pa.ArrowException, OSError):
        return None, "its series file can't be read"
    version = (table.schema.metadata or {}).get(VERSION_KEY)
    if version in [str(each).encode() for each in READABLE]:
        table = _with_defaults(table)
    elif version != str(SERIES_VERSION).encode():
        return None, "its series file has another version: push the run again"
    if not table.schema.equals(schema()):
        return None, "its series file has other columns"
    try:
        table.validate(full=True)
        problem = _problem(table, run_id)
    except (pa.ArrowException, ValueError, RecursionError):
        problem = "has texts that can't be read"
    return (None, f"its series file {problem}") if problem else (table, "")


def _with_defaults(table: pa.Table) -> pa.Table:
    """Return the table of a run that was pushed by an earlier version, with the columns that it lacks."""
    import pyarrow as pa

    defaults = SeriesRow._field_defaults
    for name in defaults.keys() - set(table.column_names):
        column = pa.array([defaults[name]] * table.num_rows, schema().field(name).type)
        table = table.append_column(name, column)
    return table.select(SeriesRow._fields) if set(SeriesRow._fields) <= set(table.column_names) else table


def _problem(table: pa.Table, run_id: str) -> str:
    """Return what is wrong with the values; "" when nothing is. Raises ValueError, RecursionError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in SeriesRow._fields:
        column = table.column(name)
        if column.null_count and name not in _OPTIONAL:
            return f"lacks values of {name}"
        if pa.types.is_dictionary(column.type):
            found = column.unique().to_pylist()
            if any(text is not None and len(text) > _MOST_LETTERS for text in found):
                return f"has a text of {name} that is too long"
            if name == "run_id" and set(found) - {run_id}:
                return "is of another run"
            if name in _ALLOWED and set(found) - set(_ALLOWED[name]):
                return f"has another {name} than there is"
            if name in ("point", "facts") and not all(_is_plain(json.loads(text), name == "facts") for text in found):
                return f"has {name} of another form"
    sizes = pc.abs(table.column("value").drop_null())
    if not pc.all(
        pc.or_(pc.equal(sizes, 0.0), pc.and_(pc.greater(sizes, 1 / _LARGEST), pc.less(sizes, _LARGEST))),
        min_count=0,
    ).as_py():
        return "has values that nothing measures: NaN, infinite, or of another size than any unit has"
    times = pc.min_max(table.column("measured_at").cast(pa.int64())).as_py()
    if times["min"] is not None and not 0 <= times["min"] <= times["max"] < _YEAR_9999_US:
        return "has times that no clock shows"
    return ""


def _is_plain(found: Any, texts_only: bool) -> bool:
    """Return whether this is an object of texts, or also of numbers."""
    return isinstance(found, Mapping) and all(
        isinstance(value, str) or (not texts_only and type(value) in (int, float) and math.isfinite(value))
        for value in found.values()
    )
