"""A view for each metric of the spec: `FROM metric.cost` has its dimensions, then `value` in its unit."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_ASKED = re.compile(r"\bmetric\b|\bshow\b|\bdescribe\b|information_schema|duckdb_views", re.IGNORECASE)
_METRICS = "SELECT name, sql FROM main.metrics"


def asks_for_metrics(text: str) -> bool:
    """Return whether a statement may use the views."""
    return _ASKED.search(text) is not None


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
