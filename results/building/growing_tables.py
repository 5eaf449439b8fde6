"""Tables in memory that grow with a run in progress, for queries between its cells.

Only points whose cells have changed since the last look are read from the raw outputs again. Nothing is written to a
disk. The tables are those that the `measure` views read; the others are empty.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.model.budgets import strictest_level
from benchbrief.model.plan import Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.model.version import benchbrief_version
from benchbrief.results.building.build_store import arrow_schema
from benchbrief.results.store.measure_views import VIEWS
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import (
    SCHEMA_VERSION,
    TABLES,
    CellRow,
    EventRow,
    LatencyRow,
    MetaRow,
    Row,
    RunRow,
    SampleBlock,
    SampleRow,
    SizeRow,
    ThroughputRow,
)
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbrief.results.ingest.run_evidence import Evidence

_READ: tuple[type[tuple[object, ...]], ...] = (CellRow, ThroughputRow, LatencyRow, SizeRow, EventRow)
_Kind = type[tuple[object, ...]]


class GrowingTables:
    """The tables of a run. `samples`: those of probes too, which take by far the most memory."""

    def __init__(self, run_dir: Path, plan: Plan, *, samples: bool) -> None:
        self._run_dir, self._plan = run_dir, plan
        self._kinds: Collection[_Kind] = (*_READ, SampleRow) if samples else _READ
        self._seen: dict[tuple[object, ...], object] = {}
        """What was known of the cells of each point when it was last read."""
        self._rows: dict[tuple[object, ...], dict[_Kind, pa.Table]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def store(self, record: RunRecord) -> Iterator[Store]:
        """Yield the run's results by what its journal says now. Raises RunnerError, OSError.

        Safe for several threads at once: each waits for the one before.
        """
        import duckdb

        from benchbrief.results.ingest.run_evidence import evidence_so_far

        with self._lock:
            evidence = evidence_so_far(self._run_dir, self._plan, record)
            self._read_changed(evidence)
            try:
                # One thread, as the lanes on other hosts, or on this one, go on measuring.
                with duckdb.connect(":memory:", config={"threads": 1}) as connection:
                    for name, kind in TABLES.items():
                        rows = self._table(kind, evidence)
                        connection.register("rows_of", rows)
                        connection.execute(f"CREATE TABLE {name} AS FROM rows_of")
                        connection.unregister("rows_of")
                    connection.execute(VIEWS)
                    connection.execute("SET enable_external_access = false")
                    connection.execute("SET python_enable_replacements = false")
                    with Store(connection, self._run_dir) as store:
                        yield store
            except duckdb.Error as error:
                raise ResultsError(str(error).split("\n", maxsplit=1)[0]) from error

    def _read_changed(self, evidence: Evidence) -> None:
        from benchbrief.results.ingest.ingest_run import by_point, point_rows

        points = by_point(evidence.verdicts)
        for left in self._seen.keys() - points.keys():  # its cells have moved to the point that a search has found
            del self._seen[left], self._rows[left]
        for point, verdicts in points.items():
            known = [(each.cell.hash, each.status, each.attempt, each.reason) for each in verdicts]
            if self._seen.get(point) != known:
                self._rows[point] = self._tables(_so_far(point_rows(evidence, verdicts)))
                self._seen[point] = known

    def _tables(self, rows: Iterable[Row]) -> dict[_Kind, pa.Table]:
        found: dict[_Kind, list[tuple[object, ...]]] = {}
        for row in rows:
            if isinstance(row, SampleBlock):
                if SampleRow in self._kinds:
                    found.setdefault(SampleRow, []).extend(zip(*row.columns, strict=True))
            elif type(row) in self._kinds:
                found.setdefault(type(row), []).append(row)
        return {kind: _as_table(kind, theirs) for kind, theirs in found.items()}

    def _table(self, kind: _Kind, evidence: Evidence) -> pa.Table:
        import pyarrow as pa

        from benchbrief.results.ingest.ingest_run import run_row

        if kind is MetaRow:
            level = strictest_level(self._plan)
            size = evidence.journal_bytes
            return _as_table(kind, [MetaRow(SCHEMA_VERSION, "", benchbrief_version(), size, "", level)])
        if kind is RunRow:
            return _as_table(kind, [run_row(evidence)])
        theirs = [tables[kind] for tables in self._rows.values() if kind in tables]
        return pa.concat_tables(theirs) if theirs else arrow_schema(kind).empty_table()


def _so_far(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of a point with the repeats that are yet to come as those that are not needed, once it has one:
    a mean is that of the repeats so far, and not missing for those."""
    found = list(rows)
    if not any(isinstance(row, CellRow) and row.status in ("ok", "failed") for row in found):
        return found
    return [
        row._replace(status="skipped") if isinstance(row, CellRow) and row.status == "missing" else row for row in found
    ]


def _as_table(kind: _Kind, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    import pyarrow as pa

    schema = arrow_schema(kind)
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
