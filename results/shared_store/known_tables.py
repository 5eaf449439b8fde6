"""The tables and views that a run in a shared store may have, with the columns that this benchbrief knows of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from benchbrief.compiler.metrics.sql.sql_text import sql_name
from benchbrief.results.building.build_store import arrow_schema
from benchbrief.results.history import series_rows
from benchbrief.results.store.measure_views import VIEWS
from benchbrief.results.store.store_schema import TABLES

_METRIC = re.compile(r"metric\.\w+")
_MOST_AT_ONCE = 2 << 30
"""Bytes of a row group, before compression: pyarrow holds one in memory."""


def is_known(name: str) -> bool:
    """Return whether this is a table, a `measure` view, or may be a metric."""
    return _METRIC.fullmatch(name) is not None or known_columns(name) is not None


def known_columns(name: str) -> pa.Schema | None:
    """Return the columns of a table or a `measure` view; None for a metric, which has those of its spec."""
    if name in TABLES:
        return arrow_schema(TABLES[name])
    return series_rows.schema().remove_metadata() if name == "series" else _views().get(name)


@cache
def _views() -> Mapping[str, pa.Schema]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for table, row in TABLES.items():
            connection.register("rows_of", arrow_schema(row).empty_table())
            connection.execute(f"CREATE TABLE {sql_name(table)} AS FROM rows_of")
        connection.execute(VIEWS)
        names = connection.execute("SELECT view_name FROM duckdb_views() WHERE schema_name = 'measure'").fetchall()
        return {
            f"measure.{view}": connection.sql(f"FROM {sql_name('measure', view)}").to_arrow_table().schema
            for (view,) in names
        }


def why_unlike(name: str, fragment: ds.ParquetFileFragment) -> str:
    """Return why a file can't be the table of this name: a column is of another kind, or so much is to be read at once
    that no benchbrief has written it; "" when it can. Reads its end alone. Raises pa.ArrowException, OSError."""
    fragment.ensure_complete_metadata()
    known = known_columns(name)
    for field in fragment.physical_schema:
        kind = _type_of(field.name, known)
        if kind is not None and _kind(field.type) != _kind(kind):
            return f"its column {field.name[:80]!r} is {str(field.type)[:80]}, and not {kind}"
    largest = max((group.total_byte_size for group in fragment.row_groups), default=0)
    return f"{largest:,} bytes of it are to be read at once" if largest > _MOST_AT_ONCE else ""


def _type_of(column: str, known: pa.Schema | None) -> pa.DataType | None:
    """Return the type of a column; that of a metric has the type that it has in the views. None for an unknown one."""
    for schema in [known] if known is not None else _views().values():
        if column in schema.names:
            return schema.field(column).type
    return None


def _kind(of: pa.DataType) -> str:
    """Return what values of other types can be cast to."""
    if pa.types.is_dictionary(of):
        return _kind(of.value_type)
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "number"
    return "text" if pa.types.is_string(of) or pa.types.is_large_string(of) else of.__class__.__name__
