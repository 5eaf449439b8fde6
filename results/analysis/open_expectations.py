"""Expectations that the repeats so far can't decide, while a run with a budget goes on.

They are those whose verdict, if the run ended now, would say that the repeats do not decide it: the same rule judges
both (`repeated_comparisons.judge`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchbrief.compiler.planning.budgets import Point, budgeted_cells, keys_of, looks_at, point_of
from benchbrief.compiler.planning.plan import Dimension, Expect, Plan
from benchbrief.results.analysis.repeated_comparisons import judge, reading
from benchbrief.results.store.growing_tables import GrowingTables
from benchbrief.results.store.store import Key
from benchbrief.runners.journal.run_record import RunRecord


class OpenExpectations:
    """What a run's expectations need, look after look: only what changed since the last one is read."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._plan = plan
        self._judged = [(expect, looks_at(plan, expect)) for expect in plan.expects if expect.repeats]
        reads = (read for expect, _ in self._judged for query in expect.repeats for read in query.reads or ())
        self._tables = GrowingTables(run_dir, plan, samples=any(read.view == "sample" for read in reads))

    def points(self, record: RunRecord) -> dict[Point, float]:
        """Return the points that undecided expectations read, by the run's journal, with how far each is from
        a decision (`Interval.distance`).

        Raises RunnerError, OSError.
        """
        found: dict[Point, float] = {}
        if not self._judged:
            return found
        with self._tables.store(record) as store:
            for expect, looks in self._judged:
                for each in judge(expect, reading(store), looks).vague:
                    for point in _read(expect, each.place, self._plan):
                        found[point] = min(each.distance, found.get(point, math.inf))
        return found


def _read(expect: Expect, place: Mapping[Dimension, Key], plan: Plan) -> Iterator[Point]:
    """Yield the points of budgeted experiments that the expectation reads at a place."""
    for cell in budgeted_cells(plan, expect):
        keys = keys_of(cell)
        if all(keys[dim] == key for dim, key in place.items() if keys.get(dim) is not None):
            yield point_of(cell)
