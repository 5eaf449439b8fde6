"""A user's SQL: one statement that changes nothing, and one clear line when it can't be answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from benchbrief.results.store.store_schema import TABLES
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_VIEWS = ("throughput", "latency", "errors", "sample", "mean", "cells", "spread")
_TABLES_HINT = (
    f"tables: {', '.join(TABLES)}; views: {', '.join(f'measure.{view}' for view in _VIEWS)}, metric.NAME; "
    "`DESCRIBE <table>` lists its columns"
)
_READ_ONLY_HINT = "results are read-only: ask with SELECT; write files with --csv, --json or --parquet"


@dataclass(frozen=True)
class Table(Sequence[tuple[Any, ...]]):
    """The answer to a user's SQL: a sequence of rows. `types` are DuckDB's names of the columns' types."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Any, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.rows[index]


def checked(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return the one statement that only reads. Raises ResultsError for several, for none, and for any other kind."""
    import duckdb

    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise _explained(error) from error
    if len(statements) != 1:
        raise ResultsError(f"expected one SQL statement, found {len(statements)}", _TABLES_HINT)
    kind = statements[0].type
    if kind == duckdb.StatementType.MULTI:
        raise ResultsError("this PIVOT needs its columns named: PIVOT ... ON column IN (...)", _TABLES_HINT)
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise ResultsError(f"{kind.name.replace('_', ' ')} is not allowed", _READ_ONLY_HINT)
    return statements[0].query


def ask(connection: duckdb.DuckDBPyConnection, text: str) -> Table:
    """Return the answer. Raises ResultsError, with the next step."""
    with _reading(connection, text) as statement:
        found = connection.execute(statement)
        columns = tuple(column[0] for column in found.description or ())
        types = tuple(str(column[1]) for column in found.description or ())
        return Table(columns, types, tuple(found.fetchall()))


@contextmanager
def ask_in_batches(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[pa.RecordBatchReader]:
    """Yield the same answer as Arrow batches, of any size. Raises ResultsError."""
    with _reading(connection, text) as statement, connection.sql(statement).to_arrow_reader() as batches:
        yield batches


@contextmanager
def _reading(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[str]:
    """Open a read-only transaction, and yield the one statement in the text. Raises ResultsError."""
    import duckdb

    statement = checked(connection, text)
    # EXPLAIN ANALYZE runs what it explains. The transaction keeps it from writing.
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield statement
    except duckdb.Error as error:
        raise _explained(error) from error
    finally:
        connection.execute("ROLLBACK")


def _explained(error: duckdb.Error) -> ResultsError:
    """Return DuckDB's message as one line, without its excerpt of the query."""
    import duckdb

    text = str(error).split("\n\n")[0]
    first, *rest = text.split("\n")
    message = first.split("Error: ", 1)[-1].rstrip("!")
    if isinstance(error, duckdb.PermissionException):
        return ResultsError(f"a query can't reach files: {message}", _READ_ONLY_HINT)
    if isinstance(error, duckdb.TransactionException):
        return ResultsError("a query can't change the results", _READ_ONLY_HINT)
    if "'pytz'" in first:  # DuckDB needs it only for a type of value that none of our columns has
        return ResultsError(
            "a time with a time zone can't be shown", "cast it, such as now()::TIMESTAMP; times here are UTC"
        )
    candidates = next((line for line in rest if line.startswith("Candidate")), "")
    if candidates:
        return ResultsError(message, candidates.replace("Candidate bindings", "columns like it"))
    return ResultsError(message, _TABLES_HINT)
