"""A view for each metric of the spec: `FROM metric.cost` has its dimensions, then `value` in its unit.

One that rests on rates of searches for a promise has `bound` (at_least, at_most, open, or NULL) and `decided` beside
it, as `bench compare --json` has, and `mark`, the sign before it in briefs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.compiler.metrics.sql.sql_text import sql_name, sql_text
from benchbrief.results.store.searched_doubts import SUSTAINED, Key, doubts
from benchbrief.results.store.user_query import Table, ask, require_reading
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import duckdb

_ASKED = re.compile(r"\bmetric\b|\bshow\b|\bdescribe\b|information_schema|duckdb_views", re.IGNORECASE)
_NAMED = re.compile(r"\bmetric\.")
_BOUNDED = (
    "SELECT DISTINCT name FROM metrics WHERE contains(sql, 'measure.sustained') "
    "AND EXISTS (SELECT 1 FROM measure.sustained WHERE mark IS NOT NULL) ORDER BY ALL"
)
_METRICS = "SELECT name, sql FROM main.metrics"


def asks_for_metrics(text: str) -> bool:
    """Return whether a statement may use the views."""
    return _ASKED.search(text) is not None


def bounded_metrics(text: str, ask: Callable[[str], Iterable[Sequence[object]]]) -> list[str]:
    """Return the metrics that a statement names as `metric.NAME` and that rest on rates of which a search knows a bound
    alone, or which it did not decide. `ask` answers SQL over one run."""
    if not _NAMED.search(text):
        return []
    bounded = [str(name) for (name,) in ask(_BOUNDED)]
    return [name for name in bounded if re.search(rf'\bmetric\."?{re.escape(name)}\b', text)]


def planned_metrics(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the name and the SQL of each metric, of the store's own table."""
    return connection.execute(_METRICS).fetchall()


def create_views(connection: duckdb.DuckDBPyConnection, metrics: Iterable[tuple[str, str]]) -> None:
    """Create the views. Skips one that fails: the connection lacks a function, another version made its plan, or its
    SQL is not one statement that only reads."""
    import duckdb

    connection.execute("CREATE SCHEMA metric")
    for name, sql in metrics:
        with suppress(duckdb.Error, ResultsError):
            view = require_reading(connection, sql)
            if SUSTAINED in sql:
                view = _with_doubts(_Answers(connection), view)
            connection.execute(f"CREATE VIEW {sql_name('metric', name)} AS {view}")


class _Answers(NamedTuple):
    connection: duckdb.DuckDBPyConnection

    def sql(self, text: str) -> Table:
        return ask(self.connection, text)


def _with_doubts(store: _Answers, sql: str) -> str:
    """Return SQL that gives the values with `bound`, `decided` and `mark` beside them."""
    *dims, _ = store.sql(f"FROM ({sql}) LIMIT 0").columns
    names = [sql_name(dim) for dim in dims]
    found = doubts(store, sql).items()
    told = (
        [*map(_literal, keys), _literal(doubt.bound or None), str(doubt.decided), _literal(doubt.mark.strip())]
        for keys, doubt in found
    )
    rows = [f"({', '.join(each)})" for each in told]
    if not rows:
        return f"SELECT *, NULL::VARCHAR AS bound, true AS decided, NULL::VARCHAR AS mark FROM ({sql})"  # noqa: S608  # the plan's own
    same = " AND ".join(f"v.{name} IS NOT DISTINCT FROM d.{name}" for name in names) or "true"
    columns = ", ".join([*names, "bound", "decided", "mark"])
    beside = "d.bound::VARCHAR AS bound, coalesce(d.decided, true) AS decided, d.mark::VARCHAR AS mark"
    return (
        f"SELECT v.*, {beside} FROM ({sql}) AS v "  # noqa: S608  # the plan's own
        f"LEFT JOIN (VALUES {', '.join(rows)}) AS d({columns}) ON {same}"
    )


def _literal(key: Key) -> str:
    return "NULL" if key is None else sql_text(key) if isinstance(key, str) else repr(key)
