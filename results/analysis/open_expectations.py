"""Expectations that the repeats so far can't decide, while a run with a budget goes on.

An expectation compares two sides. Their difference has a value for each repeat. It is decided, either way, once the
interval of the mean difference excludes 0; the interval has the level of `compiler/planning/budgets.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchbrief.compiler.planning.budgets import Point, is_budgeted, point_of
from benchbrief.compiler.planning.plan import Dimension, Expect, Plan
from benchbrief.results.analysis.repeated_comparisons import differences, reading
from benchbrief.results.store.growing_tables import GrowingTables
from benchbrief.results.store.store import Key, Store
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.measurement.confidence_interval import t_interval

_FEWEST = 3
"""Differences that lie close together by chance are common among two."""


class OpenExpectations:
    """What a run's expectations need, look after look: only what changed since the last one is read."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._plan = plan
        self._judged = [expect for expect in plan.expects if expect.repeats]
        reads = (read for expect in self._judged for query in expect.repeats for read in query.reads or ())
        self._tables = GrowingTables(run_dir, plan, samples=any(read.view == "sample" for read in reads))

    def points(self, record: RunRecord) -> dict[Point, float]:
        """Return the points that undecided expectations read, by the run's journal, with how far each is from a
        decision: half the width of the interval of the mean difference, as a share of that difference.

        Raises RunnerError, OSError.
        """
        found: dict[Point, float] = {}
        if not self._judged:
            return found
        with self._tables.store(record) as store:
            for expect in self._judged:
                for place, far in _undecided(expect, store):
                    for point in _read(expect, place, self._plan):
                        found[point] = min(far, found.get(point, math.inf))
        return found


def _undecided(expect: Expect, store: Store) -> Iterator[tuple[Mapping[Dimension, Key], float]]:
    """Yield the places at which the condition is open, each with its distance from a decision."""
    for each in differences(expect, reading(store)):
        far = distance(each.values, store.level)
        if far >= 1:
            yield each.place, far


def distance(differences: Sequence[float], level: float) -> float:
    """Return half the width of the interval as a share of the mean difference: below 1, it excludes 0."""
    if len(differences) < _FEWEST:
        return math.inf
    mean = statistics.fmean(differences)
    low, high = t_interval(len(differences), mean, statistics.stdev(differences), level)
    return (high - low) / 2 / abs(mean) if low is not None and high is not None and mean else math.inf


def _read(expect: Expect, place: Mapping[Dimension, Key], plan: Plan) -> Iterator[Point]:
    """Yield the points of budgeted experiments that the expectation reads at a place."""
    for cell in plan.cells:
        if not is_budgeted(plan, plan.experiments[cell.experiment]):
            continue
        keys: dict[Dimension, Key] = {
            "experiment": cell.experiment,
            "hardware": cell.hardware,
            "workload": cell.workload,
            "threads": cell.threads,
            "target": cell.target,
        }
        there = all(keys[dim] == key for dim, key in place.items() if keys.get(dim) is not None)
        known: dict[str, object] = {dim: key for dim, key in keys.items() if key is not None}
        if there and any(read.covers(known) for read in expect.query.reads or ()):
            yield point_of(cell)
