"""Read access to a run's results: tables and `measure` views in memory, read-only and isolated from files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL
from benchbrief.model.message import Message, joined, word
from benchbrief.model.plan import DimKey, Levels, Query, Read
from benchbrief.results.result_messages import say, shorten_reason
from benchbrief.results.statistics.scalability import NoFit, fit_usl
from benchbrief.results.statistics.significance import correct_p_value, p_value
from benchbrief.results.store.measure_views import asks_for_metrics, create_views, planned_metrics
from benchbrief.results.store.store_schema import read_sentences
from benchbrief.results.store.user_query import QueryAnswer, ask, ask_in_batches, ask_in_rows, require_reading
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.scheduling.confidence_interval import mean_interval, t_interval

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_PointKey = str | float | None
"""A key of a dimension: a name or a number, or None if a point has none."""


@dataclass(frozen=True)
class Confidence:
    """The throughput over the repeats of one point of a ramp. `low` to `high` is the mean's confidence interval, at the
    store's level.

    `sd`, `cv`, `low` and `high` are None if there are fewer than two repeats.
    """

    experiment: str
    hardware: str
    workload: str
    threads: int
    target: float | None
    repeats: int
    mean: float
    sd: float | None
    cv: float | None
    low: float | None
    high: float | None


_OF_CELL = "experiment, hardware, workload, levels, threads, target, repeat"
_RECORDS = {
    "good_cells": "SELECT $cell FROM cells WHERE status = 'ok'",
    # Skipped cells come last, as they explain least.
    "bad_cells": "SELECT cell_id, status, reason, $cell FROM cells WHERE status <> 'ok' ORDER BY status = 'skipped'",
    "searches": "SELECT experiment, hardware, workload, levels, reason FROM promises "
    "WHERE sustained IS NULL AND reason IS NOT NULL",
    "latencies": "SELECT statistic, reason, $cell, phase, operation FROM latency "
    "WHERE value_s IS NULL AND source IS NULL AND reason IS NOT NULL",
    "sizes": "SELECT measure, sizes.reason, $cell FROM sizes JOIN cells USING (run_id, cell_id) "
    "WHERE value IS NULL AND sizes.reason IS NOT NULL",
    "events": "SELECT measure, why AS reason, $cell FROM ("
    " SELECT run_id, cell_id, unnest(["
    "  {'measure': 'recovery', 'value': recovery_s, 'why': events.reason},"
    "  {'measure': 'recovery.outage', 'value': outage_s, 'why': events.reason},"
    "  {'measure': 'recovery.dip', 'value': dip, 'why': events.reason},"
    "  {'measure': 'recovery.lowest', 'value': lowest, 'why': events.reason},"
    "  {'measure': 'recovery.before', 'value': before, 'why': events.reason},"
    "  {'measure': 'recovery.latency', 'value': latency_s, 'why': latency_reason}"
    " ], recursive := true) FROM events"
    ") JOIN cells USING (run_id, cell_id) WHERE value IS NULL AND why IS NOT NULL",
    # By the probe's name, or by the name of what is computed from it: `energy`.
    "samples": "SELECT split_part(notes.origin, ':', 2) AS probe, text AS reason, $cell "
    "FROM notes JOIN cells USING (run_id, cell_id) WHERE notes.origin LIKE 'probe:%'",
}
"""SQL for the cells of a run, and for the numbers that are missing in them. `$cell` stands for `_OF_CELL`."""
_FACTORS = "SELECT DISTINCT factor FROM main.factors"


class MissingValues:
    """Finds out why values are missing in one store. `sql` queries the store. `imported` means that the store's numbers
    were measured elsewhere."""

    def __init__(self, sql: Callable[[str], QueryAnswer], imported: bool) -> None:
        self._sql = sql
        self._imported = imported
        self._known: dict[str, list[dict[str, Any]]] = {}

    def reason(self, query: Query, keys: Sequence[_PointKey]) -> str:
        """Return why there is no value for these keys: a cell that the value needs is not ok, or lacks the number."""
        known: dict[str, _PointKey] = dict(zip(query.dims, keys, strict=True))
        reads = query.reads or ()
        for search in self._records("searches") if any(read.view == "sustained" for read in reads) else ():
            if _concerns(search, known, [read for read in reads if read.view == "sustained"]):
                return self._said(search["reason"])
        by_reads = query.reads is not None  # by keys alone, as an older plan has no `reads`
        bad = [cell for cell in self._records("bad_cells") if _concerns(cell, known, reads if by_reads else None)]
        needed = [cell for cell in bad if cell["status"] != "skipped" or self._is_unpublished(cell)]
        if needed or any(_concerns(cell, known, reads if by_reads else None) for cell in self._records("good_cells")):
            bad = needed  # a cell that was not needed explains nothing if other cells were needed
        if bad:
            first = bad[0]
            status, what = word(first["status"]), shorten_reason(self._said(first["reason"]))
            said = say.cell_bad(cell=first["cell_id"], status=status, what=what)
            return say.and_more(said=said, n=len(bad) - 1) if len(bad) > 1 else said
        for gap, readers in self._gaps_of(reads):
            if _concerns(gap, known, readers):
                return self._said(gap["reason"])
        if not by_reads and not query.absent:
            return say.no_value_of_plan()
        if query.absent:
            # An earlier version kept the sentence itself.
            return query.absent if isinstance(query.absent, str) else joined(map(word, query.absent), say.both)
        if self._imported:
            return say.not_imported()
        if reads and not any(_concerns(cell, known, reads) for cell in self._records("good_cells")):
            return say.not_measured()
        if query.divides is not False:  # True, or unknown in an earlier version's plan
            return say.divided()
        return say.no_such_value()

    def _is_unpublished(self, cell: Mapping[str, Any]) -> bool:
        reason = self._said(cell["reason"])
        return isinstance(reason, Message) and reason.code == "not_published"

    def _gaps_of(self, reads: Sequence[Read]) -> Iterator[tuple[Mapping[str, Any], list[Read]]]:
        """Yield each missing number, with the reads that would have used the number."""
        for gap in self._records("latencies"):
            yield gap, [read for read in reads if read.statistic == gap["statistic"]]
        for gap in (*self._records("sizes"), *self._records("events")):
            yield gap, [read for read in reads if read.measure == gap["measure"]]
        # The reason why energy is unknown says more than the gaps of its probe.
        measures = {read.measure for read in reads}
        for gap in sorted(self._records("samples"), key=lambda gap: gap["probe"] not in measures):
            yield gap, [read for read in reads if gap["probe"] in (read.measure, read.probe)]

    def _records(self, of: str) -> list[dict[str, Any]]:
        """Return the rows of one of `_RECORDS`. Each query is sent to the store only once."""
        if of not in self._known:
            table = self._sql(_RECORDS[of].replace("$cell", _OF_CELL))
            rows = (dict(zip(table.columns, row, strict=True)) for row in table)
            self._known[of] = [{**row, **self._unvaried, **Levels(row["levels"]).keys} for row in rows]
        return self._known[of]

    def _said(self, text: object) -> str:
        """Return the message from which a text in the store was made, or the text itself if it has no code."""
        return self._sentences.get(str(text), str(text))

    @cached_property
    def _unvaried(self) -> Mapping[str, None]:
        """Return the level of each factor for a cell that varies none of them: None."""
        return dict.fromkeys(factor for (factor,) in self._sql(_FACTORS).rows)

    @cached_property
    def _sentences(self) -> Mapping[str, Message]:
        return read_sentences(self._sql("SELECT text, message FROM sentences").rows)


def _concerns(record: Mapping[str, Any], known: Mapping[str, _PointKey], reads: Iterable[Read] | None) -> bool:
    """Return whether a query's row with these keys uses a record, which is a cell or a latency of a cell.

    At least one of `reads` must read the record, and the record's keys must equal those of the row, except for
    dimensions that the read fixes to one key, as `throughput[eco]` does. Without `reads`, equal keys are enough.
    """

    def agrees(fixed: Mapping[str, tuple[DimKey, ...]]) -> bool:
        return all(record[dim] == key for dim, key in known.items() if dim in record and len(fixed.get(dim, ())) != 1)

    return agrees({}) if reads is None else any(read.covers(record) and agrees(read.keys) for read in reads)


PREFIX = "bench_"
_List: TypeAlias = list[float | None] | None


def _half_width(level: float, values: _List) -> float | None:
    low, high = mean_interval(_known(values) or (), level)
    return None if low is None or high is None else (high - low) / 2


def _p_value(level: float, a: _List, b: _List, percentile: bool) -> float | None:
    return _corrected(level, a, b, percentile=percentile)


def _p_of_ratios(level: float, a: _List, b: _List) -> float | None:
    return _corrected(level, a, b, by_ratio=True)


def _corrected(level: float, a: _List, b: _List, **how: bool) -> float | None:
    left, right = _known(a), _known(b)
    found = None if left is None or right is None else p_value(left, right, **how)
    return None if found is None else correct_p_value(found, level)


def _usl(loads: _List, rates: _List, field: str) -> float | None:
    x, y = _known(loads), _known(rates)
    fitted = NoFit("") if x is None or y is None else fit_usl(x, y)
    found = None if isinstance(fitted, NoFit) else getattr(fitted, field)
    return found if found is not None and math.isfinite(found) else None


def _known(values: _List) -> list[float] | None:
    """Return the list if it has all values, otherwise None."""
    if values is None:
        return None
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


_FUNCTIONS: dict[str, tuple[Callable[..., float | None], list[Any]]] = {
    "bench_half_width": (_half_width, ["DOUBLE[]"]),
    "bench_p_value": (_p_value, ["DOUBLE[]", "DOUBLE[]", "BOOLEAN"]),
    "bench_p_of_ratios": (_p_of_ratios, ["DOUBLE[]", "DOUBLE[]"]),
    "bench_usl": (_usl, ["DOUBLE[]", "DOUBLE[]", "VARCHAR"]),
}


def register(connection: duckdb.DuckDBPyConnection, level: float) -> None:
    """Register benchbrief's SQL functions with a connection. `level` is the confidence level of intervals
    over repeats."""
    from duckdb.func import FunctionNullHandling

    by_level: dict[str, Callable[..., float | None]] = {
        "bench_half_width": partial(_half_width, level),
        "bench_p_value": partial(_p_value, level),
        "bench_p_of_ratios": partial(_p_of_ratios, level),
    }
    for name, (function, parameters) in _FUNCTIONS.items():
        called = by_level.get(name, function)
        connection.create_function(name, called, parameters, "DOUBLE", null_handling=FunctionNullHandling.SPECIAL)


_MEANS = "measure.mean"
_KEEP_MEANS = """
BEGIN TRANSACTION;
CREATE TABLE measure.kept AS FROM measure.mean;
DROP VIEW measure.mean;
ALTER TABLE measure.kept RENAME TO mean;
COMMIT;
"""
"""SQL that keeps the means in memory. Reading all samples takes longer than the rest of a query, and a brief needs
dozens of means."""


class KeyedValue(tuple[DimKey | None, ...]):
    """A value of a query: the keys of the query's `dims` in order, followed by the value. A missing value has a
    `reason`."""

    reason: str | None

    def __new__(cls, keys: Sequence[DimKey | None], value: float | None, reason: str | None = None) -> Self:
        row = super().__new__(cls, (*keys, value))
        row.reason = reason
        return row

    @property
    def keys(self) -> tuple[DimKey | None, ...]:
        return self[:-1]

    @property
    def value(self) -> float | None:
        return self[-1]  # type: ignore[return-value]  # a number or None by construction


class Store:
    """The results of one run. `results/open_store.py` opens them. Only one thread may use a store."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run_dir: Path) -> None:
        self._connection = connection
        self._has_functions = self._has_means = self._has_metrics = False
        self.run_dir = run_dir
        self.mended = ""
        """The damage to tables that were rebuilt when the store was opened, or "" if there was none."""
        self.is_rebuilt = False
        """Whether the tables were built for this reader alone, from the journal and the raw outputs."""
        self._ranks = self._order_of_names()
        self.level: float = next((level for (level,) in self._rows("SELECT interval_level FROM meta")), LEVEL)
        """The confidence level of each interval over repeats."""
        self.simulated = any(simulated for (simulated,) in self._rows("SELECT simulated FROM runs"))
        """Whether the numbers come from a model and nothing was measured."""
        self.cautions: list[str] = []
        """Warnings that answers may be incomplete. A single run has none."""
        self.imported = any(origin == "imported" for (origin,) in self._rows("SELECT origin FROM runs"))
        """Whether the numbers were measured elsewhere."""
        self._missing = MissingValues(self.sql, self.imported)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def query(self, query: Query) -> list[KeyedValue]:
        """Return the values of a plan's query. They are ordered by the plan's names, then by numbers. Raises
        ResultsError."""
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
                rows.append(KeyedValue(keys, None, self._missing.reason(query, keys)))
            elif not math.isfinite(value):
                rows.append(KeyedValue(keys, None, say.divided_by_zero()))
            else:
                rows.append(KeyedValue(keys, float(value)))
        return sorted(rows, key=lambda row: tuple(self._rank(d, k) for d, k in zip(query.dims, row.keys, strict=True)))

    def sql(self, text: str) -> QueryAnswer:
        """Return the answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN). Raises ResultsError for
        anything else."""
        self._prepare(text)
        return ask(self._connection, text)

    def _prepare(self, text: str) -> None:
        """Create the views and functions that the statement needs. Raises ResultsError."""
        metrics = []
        if asks_for_metrics(text) and not self._has_metrics:
            self._has_metrics = True
            metrics = planned_metrics(self._connection)
        if PREFIX in f"{text}{metrics}" and not self._has_functions:
            register(self._connection, self.level)
            self._has_functions = True
        if metrics:
            create_views(self._connection, metrics)
        if _MEANS in text and not self._has_means:
            require_reading(self._connection, text)
            self._keep_means()

    def _keep_means(self) -> None:
        """Keep all means in memory, or none of them. If memory is too small, the statement that needs them reports
        it."""
        import duckdb

        self._has_means = True
        try:
            self._connection.execute(_KEEP_MEANS)
        except duckdb.Error:
            self._connection.execute("ROLLBACK")

    def each(self, text: str) -> AbstractContextManager[Iterator[tuple[Any, ...]]]:
        """Return the answer to `sql` row by row, for answers that are too large for memory. Raises ResultsError."""
        self._prepare(text)
        return ask_in_rows(self._connection, text)

    def batches(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]:
        """Return the answer to `sql` as Arrow batches, of any size. Raises ResultsError."""
        self._prepare(text)
        return ask_in_batches(self._connection, text)

    def confidence(self, operation: str = "all") -> list[Confidence]:
        """Return the throughput over the repeats of each point, for the whole measured window, with its confidence
        interval."""
        spread = self._rows(
            "SELECT experiment, hardware, workload, threads, target, repeats, mean, sd, cv FROM measure.spread "
            "WHERE phase IS NULL AND operation = ? AND repeats > 0 ORDER BY ALL",
            [operation],
        )
        return [Confidence(*row, *t_interval(row[-4], row[-3], row[-2], self.level)) for row in spread]

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _order_of_names(self) -> dict[str, dict[DimKey | None, int]]:
        """Return the rank of each level and of each name. The rank of a name is that of the first cell that has it, in
        the plan's order."""
        ranks: dict[str, dict[DimKey | None, int]] = {"experiment": {}, "hardware": {}, "workload": {}}
        for row in self._rows("SELECT experiment, hardware, workload FROM cells"):
            for names, name in zip(ranks.values(), row, strict=True):
                names.setdefault(name, len(names))
        for factor, level in self._rows("SELECT factor, level FROM factors"):
            levels = ranks.setdefault(factor, {})
            levels[level] = len(levels)
        return ranks

    def _rank(self, dim: str, key: DimKey | None) -> tuple[int, float, str]:
        if key is None:
            return (0, 0.0, "")
        if isinstance(key, str):
            return (1, self._ranks.get(dim, {}).get(key, math.inf), key)
        return (1, float(key), "")
