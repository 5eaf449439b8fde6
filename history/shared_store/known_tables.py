"""The tables and views that a run in a shared store may have, with the columns that this benchbrief knows of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.history.object_stores.object_store import StoreDamaged
from benchbrief.results.building.build_store import arrow_schema
from benchbrief.results.store.measure_views import VIEWS
from benchbrief.results.store.store_schema import TABLES

_SERIES = "series"
_METRIC = re.compile(r"metric\.\w+")
_MOST_AT_ONCE = 2 << 30
"""Bytes of a row group, before compression: pyarrow holds one in memory."""


def is_known(name: str) -> bool:
    """Return whether this is a table, a `measure` view, a run's series, or may be a metric."""
    return name == _SERIES or _METRIC.fullmatch(name) is not None or known_columns(name) is not None


def known_columns(name: str) -> pa.Schema | None:
    """Return the columns of a table or a `measure` view; None for a metric, which has those of its spec, and for
    series."""
    return arrow_schema(TABLES[name]) if name in TABLES else _views().get(name)


def usual_columns(found: Iterable[pa.Schema]) -> pa.Schema:
    """Return all columns of some tables of one name, each with the type that most of them have: what one stranger's
    has changes nothing for the others."""
    kinds: dict[str, Counter[pa.DataType]] = {}
    for schema in found:
        for field in schema:
            kinds.setdefault(field.name, Counter())[field.type] += 1
    return pa.schema([pa.field(name, types.most_common(1)[0][0]) for name, types in kinds.items()])


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
    for each in [known] if known is not None else _views().values():
        if why := why_of_another_kind(fragment.physical_schema, each):
            return why
    largest = max((group.total_byte_size for group in fragment.row_groups), default=0)
    return f"{largest:,} bytes of it are to be read at once" if largest > _MOST_AT_ONCE else ""


def why_of_another_kind(found: pa.Schema, known: pa.Schema) -> str:
    """Return why the columns of a file are none of those that are known by their names; "" when they are."""
    types = {field.name: field.type for field in known}
    for field in found:
        kind = types.get(field.name)
        if kind is not None and _kind(field.type) != _kind(kind):
            return f"its column {field.name[:80]!r} is {str(field.type)[:80]}, and not {kind}"
    return ""


def _kind(of: pa.DataType) -> str:
    """Return what values of other types can be cast to."""
    if pa.types.is_dictionary(of):
        return _kind(of.value_type)
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return "number"
    return "text" if pa.types.is_string(of) or pa.types.is_large_string(of) else of.__class__.__name__


@dataclass
class TableFile:
    """A table of a run, as a file whose columns were looked at."""

    run: str
    table: str
    fragment: ds.ParquetFileFragment
    is_whole: bool = False
    """Whether it was read to its end."""

    def why_unreadable(self) -> str:
        if not self.is_whole:
            try:
                for _ in self.fragment.to_batches(schema=known_columns(self.table)):
                    continue
            except (pa.ArrowException, OSError) as error:
                return first_line(error)
            self.is_whole = True
        return ""


def unreadable(run: str, table: str, why: str) -> StoreDamaged:
    return StoreDamaged(f"run {run} is left out of {table}: its file can't be read: {why}", "push the run again")


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
