"""The read side of a run's results: tables and `measure` views in memory, which nothing can change or get out of.

No file is held or locked: the small tables are copied, the large ones are read from their Parquet files as needed.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from benchbrief.compiler.plan import Query, Read
from benchbrief.results import functions
from benchbrief.results.ask import Table, ask, ask_in_batches, checked
from benchbrief.results.build import BUILD, STORE, build_tables, parquet_scan, rebuild, sql_text
from benchbrief.results.errors import ResultsError
from benchbrief.results.schema import SCHEMA_VERSION, TABLES, VIEWS
from benchbrief.results.statistics import Confidence, t_interval
from benchbrief.runners.journal_io import JOURNAL

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Row", "Store", "Table", "fresh_store", "open_store", "rebuild", "rebuilt_store"]

Key = str | int | float | None
_LARGE = 1 << 20
"""Tables whose files have more bytes are read from them as needed: in memory they take some 20 times as much."""
_MEANS = "measure.mean"
_KEEP_MEANS = """
BEGIN TRANSACTION;
CREATE TABLE measure.kept AS FROM measure.mean;
DROP VIEW measure.mean;
ALTER TABLE measure.kept RENAME TO mean;
COMMIT;
"""
"""Going through all samples takes longer than the rest of a query, and a brief asks for dozens of means."""
_SETTLE_S = 5.0
"""How long a reader waits for a builder to have renamed all its files."""


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
    """Use `open_store`. Not for use by several threads at once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run_dir: Path) -> None:
        self._connection = connection
        self._has_functions = self._has_means = False
        self.run_dir = run_dir
        self._ranks = self._order_of_names()
        self.simulated = any(simulated for (simulated,) in self._rows("SELECT simulated FROM runs"))
        """Whether the numbers are a model's: nothing was measured."""
        self.imported = any(origin == "imported" for (origin,) in self._rows("SELECT origin FROM runs"))
        """Whether the numbers were measured elsewhere."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def query(self, query: Query) -> list[Row]:
        """The values of a plan's query in the order of the plan, then of the numbers. Raises ResultsError."""
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
                rows.append(Row(keys, None, self._reason(query, keys)))
            elif not math.isfinite(value):
                rows.append(Row(keys, None, "divided by zero"))
            else:
                rows.append(Row(keys, float(value)))
        return sorted(rows, key=lambda row: tuple(self._rank(d, k) for d, k in zip(query.dims, row.keys, strict=True)))

    def sql(self, text: str) -> Table:
        """The answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN). Raises ResultsError for anything else."""
        if functions.PREFIX in text and not self._has_functions:
            functions.register(self._connection)
            self._has_functions = True
        if _MEANS in text and not self._has_means:
            checked(self._connection, text)
            self._keep_means()
        return ask(self._connection, text)

    def _keep_means(self) -> None:
        """All or nothing. What keeps them from being kept (too little memory) is told of the question itself."""
        import duckdb

        self._has_means = True
        try:
            self._connection.execute(_KEEP_MEANS)
        except duckdb.Error:
            self._connection.execute("ROLLBACK")

    def batches(self, text: str) -> AbstractContextManager[pa.RecordBatchReader]:
        """The same answer as Arrow batches, however large it is. Raises ResultsError."""
        return ask_in_batches(self._connection, text)

    def confidence(self, operation: str = "all") -> list[Confidence]:
        """Throughput over the repeats of each point, for the whole measured window, with its 95 % interval."""
        spread = self._rows(
            "SELECT experiment, hardware, workload, threads, target, repeats, mean, sd, cv FROM measure.spread "
            "WHERE phase IS NULL AND operation = ? AND repeats > 0 ORDER BY ALL",
            [operation],
        )
        return [Confidence(*row, *t_interval(*row[-4:-1])) for row in spread]

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _order_of_names(self) -> dict[str, dict[Key, int]]:
        """The place of each name in the plan, which is the order of the cells."""
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

    def _reason(self, query: Query, keys: Sequence[Key]) -> str:
        """Why there is no value for these keys: a cell behind them that is not ok, or that has no such number."""
        known: dict[str, Key] = dict(zip(query.dims, keys, strict=True))
        reads = query.reads or ()
        told = query.reads is not None  # by keys alone, where a plan from before there were `reads` tells none
        bad = [cell for cell in self._bad_cells if _concerns(cell, known, reads if told else None)]
        if bad:
            more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
            return f"{bad[0]['cell_id']} {bad[0]['status']}: {bad[0]['reason']}{more}"
        for gap in self._gaps:
            if _concerns(gap, known, [read for read in reads if read.statistic == gap["statistic"]]):
                return str(gap["reason"])
        for gap in self._unsampled:
            if _concerns(gap, known, [read for read in reads if read.probe == gap["probe"]]):
                return str(gap["text"])
        if not told and not query.absent:
            return "no value; the plan is an earlier benchbrief's, and does not say what this was made of"
        return query.absent or ("not in what was imported" if self.imported else "not measured")

    @cached_property
    def _bad_cells(self) -> list[dict[str, Any]]:
        return self._records(
            "SELECT cell_id, status, reason, experiment, hardware, workload, threads, target, repeat "
            "FROM cells WHERE status <> 'ok' ORDER BY status = 'skipped'"  # the others are why something is missing
        )

    @cached_property
    def _gaps(self) -> list[dict[str, Any]]:
        """The latencies that are missing."""
        return self._records(
            "SELECT statistic, reason, experiment, hardware, workload, threads, target, phase, repeat, operation "
            "FROM latency WHERE value_s IS NULL AND source IS NULL"
        )

    @cached_property
    def _unsampled(self) -> list[dict[str, Any]]:
        """The probes that gave no samples in a cell."""
        return self._records(
            "SELECT split_part(notes.origin, ':', 2) AS probe, text, experiment, hardware, workload, threads, target, "
            "repeat FROM notes JOIN cells USING (run_id, cell_id) WHERE notes.origin LIKE 'probe:%'"
        )

    def _records(self, sql: str) -> list[dict[str, Any]]:
        table = self.sql(sql)
        return [dict(zip(table.columns, row, strict=True)) for row in table]


def _concerns(record: Mapping[str, Any], known: Mapping[str, Key], reads: Iterable[Read] | None) -> bool:
    """Whether a cell, or a latency, lies behind a query's row: it has the row's keys, and a measure is read of it.

    Without `reads`, that is not known.
    """
    has_keys = all(record[dim] == key for dim, key in known.items() if dim in record)
    return has_keys and (reads is None or any(read.covers(record) for read in reads))


class _Unusable(Exception):
    """The store's files are missing, damaged, or of another version."""


def open_store(run_dir: Path) -> Store:
    """The stored results of a run, built first when they are missing or of another version. Raises RunnerError."""
    import duckdb

    store = run_dir / STORE
    built = False
    deadline = time.monotonic() + _SETTLE_S
    while True:
        connection = duckdb.connect(":memory:")
        try:
            if _load(connection, store):
                return Store(connection, run_dir)
            if time.monotonic() > deadline:
                raise _Unusable("its files belong to different builds")
            connection.close()
            time.sleep(0.005)  # a builder is renaming its files: look again
        except (_Unusable, duckdb.Error, OSError) as error:
            connection.close()
            if built:
                problem = str(error).splitlines()[0]
                raise ResultsError(f"{store} can't be read, although it was just built: {problem}") from error
            rebuild(run_dir)
            built = True


@contextmanager
def rebuilt_store(run_dir: Path) -> Iterator[Store]:
    """A store of tables that are built anew, elsewhere, of the run's journal and raw outputs. Raises RunnerError."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        build_tables(run_dir, Path(folder))
        connection = duckdb.connect(":memory:")
        _load(connection, Path(folder))
        with Store(connection, run_dir) as store:
            yield store


def fresh_store(run_dir: Path) -> Store:
    """Like `open_store`, but built again when the journal has grown since: for looking into a run that goes on."""
    store = open_store(run_dir)
    ((journal_bytes,),) = store.sql("SELECT journal_bytes FROM meta").rows
    journal = run_dir / JOURNAL
    if not journal.exists() or journal.stat().st_size == journal_bytes:
        return store
    store.close()
    rebuild(run_dir)
    return open_store(run_dir)


def _load(connection: duckdb.DuckDBPyConnection, store: Path) -> bool:
    """Fill and lock an in-memory database. False when the files were not all of one build."""
    paths = {table: store / f"{table}.parquet" for table in TABLES}
    build = _build_of(connection, paths.values())
    if build is None:
        return False
    large = [path for path in paths.values() if path.stat().st_size > _LARGE]
    for table, path in paths.items():
        kind = "VIEW" if path in large else "TABLE"
        connection.execute(f"CREATE {kind} {table} AS FROM {parquet_scan(path)}")
    if _build_of(connection, paths.values()) != build:
        return False
    ((version,),) = connection.execute("SELECT schema_version FROM meta").fetchall()
    if version != SCHEMA_VERSION:
        raise _Unusable(f"it has version {version} of the tables, not {SCHEMA_VERSION}")
    connection.execute(VIEWS)
    connection.execute(f"SET allowed_paths = [{', '.join(sql_text(path.absolute()) for path in large)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    return True


def _build_of(connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]) -> bytes | None:
    """The build that all the files belong to; None when they are of several."""
    files = ", ".join(sql_text(path.absolute()) for path in paths)
    builds = connection.execute(
        f"SELECT DISTINCT value FROM parquet_kv_metadata([{files}]) WHERE key = '{BUILD.decode()}'"  # noqa: S608 - our own file names, quoted
    ).fetchall()
    return builds[0][0] if len(builds) == 1 else None
