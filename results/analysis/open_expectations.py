"""Expectations that the repeats so far can't decide, and those that they decide, while a run with a budget goes on.

The same rule judges them as after the run (`repeated_comparisons.judge`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from benchbrief.compiler.planning.budgets import Point, budgeted_cells, cells_read, keys_of, looks_at, point_of
from benchbrief.compiler.planning.plan import Dimension, Expect, Plan
from benchbrief.results.analysis.repeated_comparisons import judge, reading
from benchbrief.results.store.store import Key, Store
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.scheduling.table_readings import Readings


class OpenExpectations:
    """The expectations of a plan that repeats can decide. Any other leaves its points undecided."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._judged = [(expect, looks_at(plan, expect)) for expect in plan.expects if expect.repeats]
        self._never = {point for expect in plan.expects if not expect.repeats for point in _points(plan, expect)}

    def __bool__(self) -> bool:
        return bool(self._judged)

    @property
    def read_samples(self) -> bool:
        reads = (read for expect, _ in self._judged for query in expect.repeats for read in query.reads or ())
        return any(read.view == "sample" for read in reads)

    def read(self, store: Store, record: RunRecord) -> Readings:
        """Return the points that undecided expectations read, with how far each is from a decision
        (`Interval.distance`) and what it is compared with, and the points at which every expectation is decided.

        An expectation over cells that other hosts have not measured yet is open.
        """
        still: dict[Point, float] = {}
        compared: dict[Point, set[Point]] = {}
        decided: set[Point] = set()
        unknown = set(self._never)
        for expect, looks in self._judged:
            theirs = set(_points(self._plan, expect))
            judged = judge(expect, reading(store), looks)
            if judged.holds is None and self._is_awaited(expect, record):
                still |= {point: still.get(point, math.inf) for point in theirs}
            for each in judged.vague:
                together = set(_points(self._plan, expect, each.place))
                for point in together:
                    still[point] = min(each.distance, still.get(point, math.inf))
                    compared.setdefault(point, set()).update(together)
            (unknown if judged.decided is None else decided).update(theirs)
        return Readings(still, decided - unknown - still.keys(), compared=compared)

    def _is_awaited(self, expect: Expect, record: RunRecord) -> bool:
        """Return whether a point that the expectation reads has no measurement yet, and will have one."""
        ended: dict[Point, bool] = {}
        for cell in cells_read(self._plan, expect.query):
            history = record.cells.get(cell.id)
            over = history is not None and (history.ended is not None or history.skipped is not None)
            ended[point_of(cell)] = over or ended.get(point_of(cell), False)
        return not all(ended.values())


def _points(plan: Plan, expect: Expect, place: Mapping[Dimension, Key] | None = None) -> Iterator[Point]:
    """Yield the points of budgeted experiments that the expectation reads, at a place or at all."""
    for cell in budgeted_cells(plan, expect.query):
        keys = keys_of(cell)
        if all(keys[dim] == key for dim, key in (place or {}).items() if keys.get(dim) is not None):
            yield point_of(cell)
