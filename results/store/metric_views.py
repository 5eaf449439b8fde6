"""A view for each metric of the spec: `FROM metric.cost` has its dimensions, then `value` in its unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_ASKED = re.compile(r"\bmetric\b|\bshow\b|\bdescribe\b|information_schema|duckdb_views", re.IGNORECASE)
_NAMED = re.compile(r"\bmetric\.")
_BOUNDED = (
    "SELECT DISTINCT name FROM metrics WHERE contains(sql, 'measure.sustained') "
    "AND EXISTS (SELECT 1 FROM measure.sustained WHERE bound IS NOT NULL) ORDER BY ALL"
)
_METRICS = "SELECT name, sql FROM main.metrics"


def asks_for_metrics(text: str) -> bool:
    """Return whether a statement may use the views."""
    return _ASKED.search(text) is not None


def bounded_metrics(text: str, ask: Callable[[str], Iterable[Sequence[object]]]) -> list[str]:
    """Return the metrics that a statement names as `metric.NAME` and that rest on rates of which a search tells a bound
    alone. `ask` answers SQL over one run."""
    if not _NAMED.search(text):
        return []
    bounded = [str(name) for (name,) in ask(_BOUNDED)]
    return [name for name in bounded if re.search(rf'\bmetric\."?{re.escape(name)}\b', text)]


def statements_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the SQL that makes the metrics' views over the store's own table."""
    rows = connection.execute(_METRICS).fetchall()
    return [f'CREATE VIEW metric."{name.replace(chr(34), chr(34) * 2)}" AS {sql}' for name, sql in rows]


def create_views(connection: duckdb.DuckDBPyConnection, statements: list[str]) -> None:
    """Create the views. Skips one that fails: the connection lacks a function, or another version made its plan."""
    import duckdb

    connection.execute("CREATE SCHEMA metric")
    for statement in statements:
        with suppress(duckdb.Error):
            connection.execute(statement)
