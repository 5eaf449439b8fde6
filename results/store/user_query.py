"""Answers users' SQL if it is a single statement that changes nothing. Otherwise, explains in one clear line why
not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.results.store.store_schema import TABLES
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_AT_ONCE = 4096
"""How many rows to hold in memory when an answer is read row by row."""
_VIEWS = ("throughput", "latency", "errors", "sample", "mean", "cells", "spread")
_TABLES_HINT = (
    f"tables: {', '.join(TABLES)}; views: {', '.join(f'measure.{view}' for view in _VIEWS)}, metric.NAME; "
    "`DESCRIBE <table>` lists its columns"
)
_DUCKDB = "the SQL is DuckDB's: https://duckdb.org/docs/stable/sql/introduction"
_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "USING", "WITH", "AS", "BY", "ON", "AND",
    "DISTINCT", "UNION", "DESCRIBE", "SHOW", "SUMMARIZE", "BETWEEN",
)  # fmt: skip
_NO_TABLE = re.compile(r'Table with name "?(?P<name>[^"!]+?)"? does not exist')
_NO_COLUMN = re.compile(r'(?:Referenced column|column named) "(?P<name>[^"]+)"')
_NO_FUNCTION = re.compile(r"Function with name (?P<name>\w+) does not exist")
_WRONG_TYPES = re.compile(r"argument types '(?P<name>\w+)\((?P<types>.*)\)'")
_ALL = (
    "SELECT schema_name, table_name FROM duckdb_tables() UNION ALL "
    "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal"
)
_COLUMNS = "SELECT schema_name, table_name, column_name FROM duckdb_columns() WHERE NOT internal"
_READ_ONLY_HINT = "results are read-only: ask with SELECT; write files with --csv, --json or --parquet"


@dataclass(frozen=True)
class QueryAnswer(Sequence[tuple[Any, ...]]):
    """The answer to a user's SQL: a sequence of rows. `types` are DuckDB's names for the columns' types."""

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


def require_reading(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return the only statement in the text. Raises ResultsError if it may change anything, or if there are several."""
    import duckdb

    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise _explained(connection, text, error) from error
    if not statements:
        raise ResultsError("the query is empty", _TABLES_HINT)
    if len(statements) > 1:
        raise ResultsError(f"these are {len(statements)} SQL statements", "ask one at a time")
    kind = statements[0].type
    if kind == duckdb.StatementType.MULTI:
        raise ResultsError("this PIVOT needs its columns named: PIVOT ... ON column IN (...)", _TABLES_HINT)
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise ResultsError(f"{kind.name.replace('_', ' ')} is not allowed", _READ_ONLY_HINT)
    return statements[0].query


def ask(connection: duckdb.DuckDBPyConnection, text: str) -> QueryAnswer:
    """Return the answer to a statement. Raises ResultsError with a hint at the next step."""
    with _reading(connection, text) as statement:
        found = connection.execute(statement)
        columns = tuple(column[0] for column in found.description or ())
        types = tuple(str(column[1]) for column in found.description or ())
        return QueryAnswer(columns, types, tuple(found.fetchall()))


@contextmanager
def ask_in_rows(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the answer to a statement row by row, with few rows in memory. Raises ResultsError.

    Until all rows are read, the connection can't answer anything else.
    """
    with _reading(connection, text) as statement:
        found = connection.execute(statement)
        yield chain.from_iterable(iter(lambda: found.fetchmany(_AT_ONCE), []))


@contextmanager
def ask_in_batches(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[pa.RecordBatchReader]:
    """Yield the answer to a statement as Arrow batches, of any size. Raises ResultsError."""
    with _reading(connection, text) as statement, connection.sql(statement).to_arrow_reader() as batches:
        yield batches


@contextmanager
def _reading(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[str]:
    """Open a read-only transaction, and yield the text's only statement. Raises ResultsError."""
    import duckdb

    statement = require_reading(connection, text)
    # EXPLAIN ANALYZE runs what it explains. The transaction keeps it from writing.
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield statement
    except duckdb.Error as error:
        connection.execute("ROLLBACK")
        connection.execute("BEGIN TRANSACTION READ ONLY")
        raise _explained(connection, text, error) from error
    finally:
        connection.execute("ROLLBACK")


def _explained(connection: duckdb.DuckDBPyConnection, asked: str, error: duckdb.Error) -> ResultsError:
    """Return DuckDB's message as one line without its excerpt of the query, together with a hint."""
    import duckdb

    text = str(error)
    first = text.split("\n", maxsplit=1)[0]
    message = first.split("Error: ", 1)[-1].rstrip("!")
    if isinstance(error, duckdb.PermissionException):
        return ResultsError(f"a query can't reach files: {message}", _READ_ONLY_HINT)
    if isinstance(error, duckdb.TransactionException):
        return ResultsError("a query can't change the results", _READ_ONLY_HINT)
    if "'pytz'" in first:  # DuckDB needs it only for a type of value that none of our columns has
        return ResultsError(
            "a time with a time zone can't be shown", "cast it, such as now()::TIMESTAMP; times here are UTC"
        )
    if isinstance(error, duckdb.ParserException):
        return ResultsError(*_not_understood(message, asked))
    if found := _NO_TABLE.search(first):
        return ResultsError(*_no_table(connection, found["name"], asked))
    if found := _NO_COLUMN.search(first):
        return ResultsError(*_no_column(connection, found["name"], asked))
    if found := _NO_FUNCTION.search(first):
        like = re.search(r'Did you mean "(\w+)"', text)
        return ResultsError(
            f"there is no function `{found['name']}`", f"did you mean `{like[1]}`?" if like else _DUCKDB
        )
    if found := _WRONG_TYPES.search(first):
        types = re.sub(r"STRUCT\(.*\)", "a whole row", found["types"])
        hint = "a table's own name means its rows: name a column" if types != found["types"] else _DUCKDB
        return ResultsError(f"`{found['name']}` does not take {types}", hint)
    more = text.split("\n\n", 1)[0].partition("\n")[2].strip()
    return ResultsError(message, " ".join(more.split()) or _DUCKDB)


def _not_understood(message: str, asked: str) -> tuple[str, str]:
    """Explain where a text stops being SQL, with a hint."""
    at = re.search(r'at or near "(.*)"$', message)
    if at is None:
        return f"this is not SQL: {message}", _DUCKDB
    where = f"`{at[1]}`"
    before = re.findall(r"\w+", asked[: asked.find(at[1])] if asked.count(at[1]) == 1 else "")
    words = (at[1], *before[-1:])
    for word in words:
        if word.upper() not in _KEYWORDS and (meant := did_you_mean(word.upper(), _KEYWORDS)):
            return f"this is not SQL at {where}", f"did you mean `{meant}` for `{word}`?"
    if asked.strip().endswith(at[1]):
        return f"this SQL ends too early, after {where}", _DUCKDB
    return f"this is not SQL at {where}", f"look at what stands just before it; {_DUCKDB}"


def _no_table(connection: duckdb.DuckDBPyConnection, name: str, asked: str) -> tuple[str, str]:
    """Explain that a table or view is missing, and suggest the most similar name in any schema."""
    known = [
        f"{schema}.{table}" if schema != "main" else table for schema, table in connection.execute(_ALL).fetchall()
    ]
    known += [f"metric.{metric}" for (metric,) in connection.execute("SELECT name FROM main.metrics").fetchall()]
    last = name.rpartition(".")[2]
    said = re.search(rf"(\w+)\s*\.\s*{re.escape(last)}\b", asked)
    schema = said[1] if said else ""
    full = f"{schema}.{last}" if schema else last
    what = f"there is no table or view `{full}`"
    theirs = [each for each in known if each.rpartition(".")[0] == schema]
    elsewhere = [each for each in known if each.rpartition(".")[2] == last]
    meant = next(iter(elsewhere), None) or did_you_mean(full, theirs) or did_you_mean(full, known)
    if meant:
        return what, f"did you mean `{meant}`?"
    if schema == "metric":
        names = dict.fromkeys(each for each in known if each.startswith("metric."))
        return what, f"metrics of the spec: {', '.join(names)}" if names else "the spec has no metric"
    return what, _TABLES_HINT


def _no_column(connection: duckdb.DuckDBPyConnection, name: str, asked: str) -> tuple[str, str]:
    """Explain that a column is missing in the tables of the statement, and list their columns."""
    columns: dict[str, list[str]] = {}
    for schema, table, column in connection.execute(_COLUMNS).fetchall():
        columns.setdefault(table if schema == "main" else f"{schema}.{table}", []).append(column)
    said = set(re.findall(r"(?:\bfrom|\bjoin|,)\s+(\w+(?:\.\w+)?)", asked, re.IGNORECASE))
    named = [table for table in columns if table in said]
    theirs = list(dict.fromkeys(column for table in named for column in columns[table]))
    what = f"there is no column `{name}`" + (f" in {' or '.join(f'`{each}`' for each in named)}" if named else "")
    if meant := did_you_mean(name, theirs):
        return what, f"did you mean `{meant}`?"
    elsewhere = [table for table, its in columns.items() if name in its and table not in named]
    also = f"; {' and '.join(f'`{each}`' for each in elsewhere[:3])} have it" if elsewhere else ""
    return what, f"its columns are {', '.join(theirs)}{also}" if theirs else _TABLES_HINT
