"""Interim results of a run in progress: its tables in memory, the expectations that repeats can still decide, and the
samples that reports need.

Each look reads only the raw outputs of points whose cells have changed since the last look. Nothing is written to disk.
Only the tables behind the `measure` views are filled; the others are empty.

A metric over samples, such as `throughput / power`, has a value for each repeat, and these values are used. If a report
reads a measure of samples outside any metric, the mean over each cell is used.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.compiler.measure_catalogue import KINDS, SAMPLED
from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.model.budgets import budgeted_cells, cells_read, looks_at, strictest_level
from benchbrief.model.plan import DIMENSIONS, Cell, Dimension, DimKey, Expect, Plan, Query
from benchbrief.model.points import Point
from benchbrief.model.run_record import RunRecord
from benchbrief.model.units import DIMENSIONLESS, parse_unit
from benchbrief.model.version import benchbrief_version
from benchbrief.results.analysis.expectation_verdicts import judge, reading
from benchbrief.results.build_store import arrow_schema
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import (
    SCHEMA_VERSION,
    TABLES,
    CellRow,
    EventRow,
    FactorRow,
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
from benchbrief.runners.scheduling.budgeted_repeats import RepeatValues, UndecidedPoints
from benchbrief.runners.scheduling.reported_statistics import asked_queries

if TYPE_CHECKING:
    import pyarrow as pa

    from benchbrief.results.ingest.run_evidence import Evidence

_READ: tuple[type[tuple[object, ...]], ...] = (CellRow, ThroughputRow, LatencyRow, SizeRow, EventRow)
_Kind = type[tuple[object, ...]]


class GrowingTables:
    """The tables of a run in progress. `samples` says whether to include the samples of probes, which take by far the
    most memory."""

    def __init__(self, run_dir: Path, plan: Plan, *, samples: bool) -> None:
        self._run_dir, self._plan = run_dir, plan
        self._kinds: Collection[_Kind] = (*_READ, SampleRow) if samples else _READ
        self._seen: dict[tuple[object, ...], object] = {}
        """The state of each point's cells when the point was last read."""
        self._rows: dict[tuple[object, ...], dict[_Kind, pa.Table]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def store(self, record: RunRecord) -> Iterator[Store]:
        """Yield a store with the run's results so far, according to its journal. Raises RunnerError, OSError.

        Several threads may call this at once: each waits until the one before it is done.
        """
        import duckdb

        from benchbrief.results.ingest.run_evidence import evidence_so_far

        with self._lock:
            evidence = evidence_so_far(self._run_dir, self._plan, record)
            self._read_changed(evidence)
            try:
                # Only one thread, because the lanes on other hosts, or on this one, continue to measure.
                with duckdb.connect(":memory:", config={"threads": 1}) as connection:
                    for name, kind in TABLES.items():
                        rows = self._table(kind, evidence)
                        connection.register("rows_of", rows)
                        connection.execute(f"CREATE TABLE {name} AS FROM rows_of")
                        connection.unregister("rows_of")
                    create_measures(connection)
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

        from benchbrief.results.ingest.ingest_run import factor_rows, run_row

        if kind is MetaRow:
            level = strictest_level(self._plan)
            size = evidence.journal_bytes
            return _as_table(kind, [MetaRow(SCHEMA_VERSION, "", benchbrief_version(), size, "", level)])
        if kind is RunRow:
            return _as_table(kind, [run_row(evidence)])
        if kind is FactorRow and self._plan.factors:
            return _as_table(kind, list(factor_rows(evidence)))
        theirs = [tables[kind] for tables in self._rows.values() if kind in tables]
        return pa.concat_tables(theirs) if theirs else arrow_schema(kind).empty_table()


def _so_far(rows: Iterable[Row]) -> list[Row]:
    """Return a point's rows. As soon as one repeat is done, the repeats that are not done yet are marked as not needed.

    Then the point has a mean, which is computed from the repeats that are done.
    """
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


class OpenExpectations:
    """A plan's expectations, as far as repeats can decide them. If repeats can't decide an expectation, all points that
    it reads count as undecided."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._judged = [(expect, looks_at(plan, expect)) for expect in plan.expects if expect.repeats]
        self._never = {
            point for expect in plan.expects if not expect.repeats for point in _expected_points(plan, expect)
        }

    def __bool__(self) -> bool:
        return bool(self._judged)

    @property
    def read_samples(self) -> bool:
        reads = (read for expect, _ in self._judged for query in expect.repeats for read in query.reads or ())
        return any(read.view == "sample" for read in reads)

    def read(self, store: Store, record: RunRecord) -> UndecidedPoints:
        """Return the points read by undecided expectations, and the points at which all expectations are decided.

        Each undecided point comes with its distance from a decision (`ExpectInterval.distance`), and with the points
        that it is compared with. An expectation is undecided as long as other hosts have not yet measured all of its
        cells.
        """
        still: dict[Point, float] = {}
        compared: dict[Point, set[Point]] = {}
        decided: set[Point] = set()
        unknown = set(self._never)
        for expect, looks in self._judged:
            theirs = set(_expected_points(self._plan, expect))
            judged = judge(expect, reading(store), looks)
            if judged.holds is None and self._is_awaited(expect, record):
                still |= {point: still.get(point, math.inf) for point in theirs}
            for each in judged.vague:
                together = set(_expected_points(self._plan, expect, each.place))
                for point in together:
                    still[point] = min(each.distance, still.get(point, math.inf))
                    compared.setdefault(point, set()).update(together)
            (unknown if judged.decided is None else decided).update(theirs)
        return UndecidedPoints(still, decided - unknown - still.keys(), compared=compared)

    def _is_awaited(self, expect: Expect, record: RunRecord) -> bool:
        """Return whether the expectation reads a point that has no measurement yet but will get one."""
        ended: dict[Point, bool] = {}
        for cell in cells_read(self._plan, expect.query):
            history = record.cells.get(cell.id)
            over = history is not None and (history.ended is not None or history.skipped is not None)
            ended[Point.of(cell)] = over or ended.get(Point.of(cell), False)
        return not all(ended.values())


def _expected_points(
    plan: Plan, expect: Expect, place: Mapping[Dimension, DimKey | None] | None = None
) -> Iterator[Point]:
    """Yield the points of budgeted experiments that the expectation reads, either at `place` or everywhere."""
    for cell in budgeted_cells(plan, expect.query):
        keys = Point.of(cell).keys
        if _fits(keys, place or {}):
            yield Point.of(cell)


def _fits(keys: _Place, place: _Place) -> bool:
    """Return whether a point has the keys of `place`. If a search has not found the point's threads or target yet, they
    are not compared."""
    known = ((dim, key) for dim, key in place.items() if keys.get(dim) is not None or dim not in DIMENSIONS)
    return all(keys.get(dim) == key for dim, key in known)


_LEAST_SHARE = 0.01
"""A mean smaller than this share of the largest mean is treated as if it had this share, because its interval is
invisible beside the others."""
_Place = Mapping[Dimension, DimKey | None]
_MEANS = """
SELECT {dims}, avg(value) FROM measure.mean
WHERE measure = '{measure}' AND value IS NOT NULL GROUP BY ALL ORDER BY repeat
"""


class AskedSamples:
    """The metrics and measures of samples that a plan asks for, at points with a budget."""

    def __init__(self, plan: Plan) -> None:
        own = {each.name: each.repeats for each in plan.metrics if each.repeats and _is_sampled(each.repeats)}
        self._dims = (*plan.point_dims, "repeat")
        self._metrics: dict[str, Query] = {}
        self._measures: dict[str, list[Query]] = {}
        every = not plan.reports and not plan.expects
        for query in () if every else asked_queries(plan):
            if not _is_sampled(query):
                continue
            if named := own.keys() & set(query.names):
                self._metrics |= {name: own[name] for name in sorted(named)}
                continue
            for measure in {read.measure for read in query.reads or () if read.view == "sample"}:
                self._measures.setdefault(measure, []).append(query)
        self._metrics |= own if every else {}
        self._points_of = {
            of: _asked_points(plan, queries)
            for of, queries in [*((name, [query]) for name, query in self._metrics.items()), *self._measures.items()]
        }

    def __bool__(self) -> bool:
        return any(self._points_of.values())

    def of(self, cell: Cell) -> set[str]:
        """Return what the plan needs at a cell's point: the names of measures, and the SQL of metrics."""
        found = {of for of, points in self._points_of.items() if Point.of(cell) in points}
        return {self._metrics[of].sql if of in self._metrics else of for of in found}

    def read(self, store: Store) -> dict[Point, list[RepeatValues]]:
        """Return the values over the repeats so far, at each point. Raises ResultsError."""
        found: dict[Point, list[RepeatValues]] = {}
        for name, query in self._metrics.items():
            unit = parse_unit(query.unit)
            whole = 1 / unit.factor if unit.dimension == DIMENSIONLESS else 0.0
            _add(name, _by_place(query.dims, store.query(query)), whole, self._points_of[name], found)
        for name in self._measures:
            rows = store.sql(_MEANS.format(measure=name, dims=", ".join(map(sql_name, self._dims)))).rows
            whole = 1.0 if KINDS[name].unit == DIMENSIONLESS else 0.0
            _add(name, _by_place(self._dims, rows), whole, self._points_of[name], found)
        return found


def _add(
    of: str,
    known: Sequence[tuple[_Place, Sequence[float]]],
    whole: float,
    points: Mapping[Point, Mapping[Dimension, DimKey | None]],
    found: dict[Point, list[RepeatValues]],
) -> None:
    """Add the values at each place to the points there. `whole` is 1 in the unit of the values if they are shares, and
    0 for values with a unit."""
    means = [abs(sum(values) / len(values)) for _, values in known]
    least = whole or _LEAST_SHARE * max(means, default=0.0)
    for place, values in known:
        for point, keys in points.items():
            if _fits(keys, place):
                found.setdefault(point, []).append(RepeatValues(of, values, least))


def _by_place(dims: Sequence[Dimension], rows: Iterable[Sequence[DimKey | None]]) -> list[tuple[_Place, list[float]]]:
    """Return the values over the repeats, by place. Each row has the keys of `dims`, followed by a value."""
    found: dict[tuple[tuple[Dimension, DimKey | None], ...], list[float]] = {}
    for *row, value in rows:
        keys = dict(zip(dims, row, strict=True))
        del keys["repeat"]
        if isinstance(value, float):
            found.setdefault(tuple(keys.items()), []).append(value)
    return [
        ({dim: key for dim, key in place if key is not None or dim not in DIMENSIONS}, values)
        for place, values in found.items()
    ]


def _asked_points(plan: Plan, queries: Iterable[Query]) -> dict[Point, Mapping[Dimension, DimKey | None]]:
    cells = (cell for query in queries for cell in budgeted_cells(plan, query))
    return {Point.of(cell): Point.of(cell).keys for cell in cells}


def _is_sampled(query: Query) -> bool:
    """Return whether the query needs only one number per cell from the samples."""
    return any(read.view == "sample" for read in query.reads or ()) and SAMPLED.isdisjoint(query.dims)


class AskedSoFar:
    """The undecided points of a run in progress. Each look reads only data that have changed since the last one."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._expectations, self._samples = OpenExpectations(plan), AskedSamples(plan)
        samples = bool(self._samples) or self._expectations.read_samples
        self._tables = GrowingTables(run_dir, plan, samples=samples)

    def read(self, record: RunRecord) -> UndecidedPoints:
        """Return the undecided points, according to the run's journal and raw outputs so far. Raises RunnerError,
        OSError."""
        if not self._expectations and not self._samples:
            return UndecidedPoints()
        with self._tables.store(record) as store:
            return replace(self._expectations.read(store, record), sampled=self._samples.read(store))
