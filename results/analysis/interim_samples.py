"""What reports and expectations ask for of probes and power meters: for each repeat, while a budget goes on.

A metric over samples, such as `throughput / power`, counts as itself, by its values of each repeat. Where a report
reads a measure without such a metric, its mean over a cell counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.measure_catalogue import KINDS, SAMPLED
from benchbrief.compiler.planning.budgets import Point, budgeted_cells, keys_of, point_of
from benchbrief.compiler.planning.plan import Cell, Dimension, Plan, Query
from benchbrief.compiler.units import DIMENSIONLESS, parse_unit
from benchbrief.results.analysis.open_expectations import OpenExpectations
from benchbrief.results.building.growing_tables import GrowingTables
from benchbrief.results.store.store import Key, Store
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.scheduling.reported_statistics import asked_queries
from benchbrief.runners.scheduling.table_readings import Readings, Sampled

_LEAST_SHARE = 0.01
"""A mean below this share of the largest one counts as that share: nobody sees its interval beside the others."""
_Place = Mapping[Dimension, Key]
_MEANS = """
SELECT experiment, hardware, workload, threads, target, repeat, avg(value) FROM measure.mean
WHERE measure = '{measure}' AND value IS NOT NULL GROUP BY ALL ORDER BY repeat
"""
_DIMS: tuple[Dimension, ...] = ("experiment", "hardware", "workload", "threads", "target", "repeat")


class AskedSamples:
    """The metrics and measures of samples that a plan asks for at points with a budget."""

    def __init__(self, plan: Plan) -> None:
        own = {each.name: each.repeats for each in plan.metrics if each.repeats and _is_sampled(each.repeats)}
        self._metrics: dict[str, Query] = {}
        self._measures: dict[str, list[Query]] = {}
        every = not plan.reports and not plan.expects
        for query in () if every else asked_queries(plan):
            if not _is_sampled(query):
                continue
            if named := own.keys() & set(re.findall(r"[^\W\d]\w*", query.text)):
                self._metrics |= {name: own[name] for name in sorted(named)}
                continue
            for measure in {read.measure for read in query.reads or () if read.view == "sample"}:
                self._measures.setdefault(measure, []).append(query)
        self._metrics |= own if every else {}
        self._points_of = {
            of: _points(plan, queries)
            for of, queries in [*((name, [query]) for name, query in self._metrics.items()), *self._measures.items()]
        }

    def __bool__(self) -> bool:
        return any(self._points_of.values())

    def of(self, cell: Cell) -> set[str]:
        """Return what is asked for at the point of a cell: names of measures, and how metrics are computed."""
        found = {of for of, points in self._points_of.items() if point_of(cell) in points}
        return {self._metrics[of].sql if of in self._metrics else of for of in found}

    def read(self, store: Store) -> dict[Point, list[Sampled]]:
        """Return what is known at each point by now. Raises ResultsError."""
        found: dict[Point, list[Sampled]] = {}
        for name, query in self._metrics.items():
            unit = parse_unit(query.unit)
            whole = 1 / unit.factor if unit.dimension == DIMENSIONLESS else 0.0
            _add(name, _by_place(query.dims, store.query(query)), whole, self._points_of[name], found)
        for name in self._measures:
            rows = store.sql(_MEANS.format(measure=name)).rows
            whole = 1.0 if KINDS[name].unit == DIMENSIONLESS else 0.0
            _add(name, _by_place(_DIMS, rows), whole, self._points_of[name], found)
        return found


def _add(
    of: str,
    known: Sequence[tuple[_Place, Sequence[float]]],
    whole: float,
    points: Mapping[Point, Mapping[Dimension, Key | None]],
    found: dict[Point, list[Sampled]],
) -> None:
    """Add the values at each place to its points. Those of a number without a unit are shares of `whole`."""
    means = [abs(sum(values) / len(values)) for _, values in known]
    least = whole or _LEAST_SHARE * max(means, default=0.0)
    for place, values in known:
        for point, keys in points.items():
            if all(keys[dim] == key for dim, key in place.items() if keys.get(dim) is not None):
                found.setdefault(point, []).append(Sampled(of, values, least))


def _by_place(dims: Sequence[Dimension], rows: Iterable[Sequence[Key | None]]) -> list[tuple[_Place, list[float]]]:
    """Return the values over the repeats at each place of the rows, which have a value behind their `dims`."""
    found: dict[tuple[tuple[Dimension, Key | None], ...], list[float]] = {}
    for *row, value in rows:
        keys = dict(zip(dims, row, strict=True))
        del keys["repeat"]
        if isinstance(value, float):
            found.setdefault(tuple(keys.items()), []).append(value)
    return [({dim: key for dim, key in place if key is not None}, values) for place, values in found.items()]


def _points(plan: Plan, queries: Iterable[Query]) -> dict[Point, Mapping[Dimension, Key | None]]:
    cells = (cell for query in queries for cell in budgeted_cells(plan, query))
    return {point_of(cell): keys_of(cell) for cell in cells}


def _is_sampled(query: Query) -> bool:
    """Return whether the query reads samples, as numbers of whole cells."""
    return any(read.view == "sample" for read in query.reads or ()) and SAMPLED.isdisjoint(query.dims)


class AskedSoFar:
    """Reads the tables look after look: only what changed since the last one is read again."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._expectations, self._samples = OpenExpectations(plan), AskedSamples(plan)
        samples = bool(self._samples) or self._expectations.read_samples
        self._tables = GrowingTables(run_dir, plan, samples=samples)

    def read(self, record: RunRecord) -> Readings:
        """Return what the run's journal and raw outputs say now. Raises RunnerError, OSError."""
        if not self._expectations and not self._samples:
            return Readings()
        with self._tables.store(record) as store:
            return replace(self._expectations.read(store, record), sampled=self._samples.read(store))
