"""The read side of a run's results: tables and `measure` views in memory. They are read-only and isolated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from benchbrief.compiler.planning.budgets import LEVEL
from benchbrief.compiler.planning.plan import Query
from benchbrief.results.messages.result_messages import say
from benchbrief.results.statistics.repeat_spread import Confidence, t_interval
from benchbrief.results.store import sql_functions
from benchbrief.results.store.metric_views import asks_for_metrics, create_views, planned_metrics
from benchbrief.results.store.missing_values import MissingValues
from benchbrief.results.store.user_query import Table, ask, ask_in_batches, ask_in_rows, require_reading
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Key = str | int | float | None
_MEANS = "measure.mean"
_KEEP_MEANS = """
BEGIN TRANSACTION;
CREATE TABLE measure.kept AS FROM measure.mean;
DROP VIEW measure.mean;
ALTER TABLE measure.kept RENAME TO mean;
COMMIT;
"""
"""Reading all samples takes longer than the rest of a query, and a brief asks for dozens of means."""


class Row(tuple[Key, ...]):
    """A value of a query: the keys of the query's `dims` in order, then the value. A missing value has a `reason`."""

    reason: str | None

    def __new__(cls, keys: Sequence[Key], value: float | None, reason: str | None = None) -> Self:
        row = super().__new__(cls, (*keys, value))
        row.reason = reason
        return row

    @property
    def keys(self) -> tuple[Key, ...]:
        return self[:-1]

    @property
    def value(self) -> float | None:
        return self[-1]  # type: ignore[return-value]  # a number or None by construction


class Store:
    """The tables of one run. `results/building/open_store.py` opens it. Not safe for several threads at once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run_dir: Path) -> None:
        self._connection = connection
        self._has_functions = self._has_means = self._has_metrics = False
        self.run_dir = run_dir
        self.mended = ""
        """What was wrong with the tables, so that they were rebuilt when opened; "" when nothing was."""
        self._ranks = self._order_of_names()
        self.level: float = next((level for (level,) in self._rows("SELECT interval_level FROM meta")), LEVEL)
        """The level of each interval over repeats."""
        self.simulated = any(simulated for (simulated,) in self._rows("SELECT simulated FROM runs"))
        """Whether the numbers come from a model, so that nothing was measured."""
        self.cautions: list[str] = []
        """What limits the answers: nothing, of one run."""
        self.imported = any(origin == "imported" for (origin,) in self._rows("SELECT origin FROM runs"))
        """Whether the numbers were measured elsewhere."""
        self._missing = MissingValues(self.sql, self.imported)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def query(self, query: Query) -> list[Row]:
        """Return the values of a plan's query in the order of the plan, then of the numbers. Raises ResultsError."""
        found = self.sql(query.sql)
        width = len(query.dims)
        if len(found.columns) != width + 1:
            raise ResultsError(
                f"`{query.text}` gives {len(found.columns)} columns, not {width + 1}",
                "the plan was made by another benchbrief: run the spec again",
            )
        rows = []
        for *keys, value in found.rows:
            if value is None:
                rows.append(Row(keys, None, self._missing.reason(query, keys)))
            elif not math.isfinite(value):
                rows.append(Row(keys, None, say.divided_by_zero()))
            else:
                rows.append(Row(keys, float(value)))
        return sorted(rows, key=lambda row: tuple(self._rank(d, k) for d, k in zip(query.dims, row.keys, strict=True)))

    def sql(self, text: str) -> Table:
        """Return the answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN). Raises ResultsError for anything
        else."""
        self._prepare(text)
        return ask(self._connection, text)

    def _prepare(self, text: str) -> None:
        """Make what only some statements need. Raises ResultsError."""
        metrics = []
        if asks_for_metrics(text) and not self._has_metrics:
            self._has_metrics = True
            metrics = planned_metrics(self._connection)
        if sql_functions.PREFIX in f"{text}{metrics}" and not self._has_functions:
            sql_functions.register(self._connection, self.level)
            self._has_functions = True
        if metrics:
            create_views(self._connection, metrics)
        if _MEANS in text and not self._has_means:
            require_reading(self._connection, text)
            self._keep_means()

    def _keep_means(self) -> None:
        """Keep all means or none. If it fails (too little memory), the statement itself reports that."""
        import duckdb

        self._has_means = True
        try:
            self._connection.execute(_KEEP_MEANS)
        except duckdb.Error:
            self._connection.execute("ROLLBACK")

    def each(self, text: str) -> AbstractContextManager[Iterator[tuple[Any, ...]]]:
        """Return the same answer row by row, for one too large for memory. Raises ResultsError."""
        self._prepare(text)
        return ask_in_rows(self._connection, text)

    def batches(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]:
        """Return the same answer as Arrow batches, of any size. Raises ResultsError."""
        self._prepare(text)
        return ask_in_batches(self._connection, text)

    def confidence(self, operation: str = "all") -> list[Confidence]:
        """Return throughput over the repeats of each point, for the whole measured window, with its interval."""
        spread = self._rows(
            "SELECT experiment, hardware, workload, threads, target, repeats, mean, sd, cv FROM measure.spread "
            "WHERE phase IS NULL AND operation = ? AND repeats > 0 ORDER BY ALL",
            [operation],
        )
        return [Confidence(*row, *t_interval(row[-4], row[-3], row[-2], self.level)) for row in spread]

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _order_of_names(self) -> dict[str, dict[Key, int]]:
        """Return the place of each name in the plan, which is the order of the cells."""
        ranks: dict[str, dict[Key, int]] = {"experiment": {}, "hardware": {}, "workload": {}}
        for row in self._rows("SELECT experiment, hardware, workload FROM cells"):
            for names, name in zip(ranks.values(), row, strict=True):
                names.setdefault(name, len(names))
        return ranks

    def _rank(self, dim: str, key: Key) -> tuple[int, float, str]:
        if key is None:
            return (0, 0.0, "")
        if isinstance(key, str):
            return (1, self._ranks.get(dim, {}).get(key, math.inf), key)
        return (1, float(key), "")
