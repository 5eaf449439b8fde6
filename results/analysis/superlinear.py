"""Finds points of closed loops that contradict the rest of their curve, because more threads did more than their share.

In a closed loop, a thread begins its next operation when the last one has ended. So throughput is the number of threads
divided by the mean latency (J. D. C. Little, "A Proof for the Queuing Formula: L = λW", 1961). While an operation takes
as long or longer beside others, n threads do at most n / m times what m threads do. That also holds if threads share
the sync of a log: each of them still waits for a whole sync. If they do more, operations took longer at the point with
fewer threads, for instance because of other work, or of data that were not in memory yet.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from benchbrief.model.budgets import LEVEL
from benchbrief.model.plan import Levels, Plan
from benchbrief.model.points import Point
from benchbrief.results.statistics.significance import do_not_vary, ratio_of
from benchbrief.results.store.searched_doubts import Answering

SINGLE_GAIN, REPEATED_GAIN = 1.25, 1.10
"""How much more throughput for each thread a point may have than one with fewer threads, without a remark. Repeats also
have to show that there is a difference, by a test that is corrected for the number of compared pairs (Bonferroni)."""


class Superlinear(NamedTuple):
    """A `point` whose operations took longer than with `more` threads. `rate` and `more_rate` are the throughputs of
    the two points in ops/s."""

    point: Point
    rate: float
    more: float
    more_rate: float

    @property
    def excess(self) -> float:
        """Return the throughput for each thread with more threads, divided by that at the point."""
        return self.more_rate / self.more / (self.rate / (self.point.threads or 1.0))


def superlinear_points(plan: Plan, store: Answering) -> list[Superlinear]:
    """Return the points with fewer threads that their curves contradict, the clearest first. Each comes with the point
    that contradicts it most.

    Ramps with several phases are left out, since their phases may differ in how warm the data are. So are searches,
    which end by their own rule, and offered loads, where throughput doesn't follow from latency.
    """
    rows = store.sql(
        "SELECT experiment, hardware, workload, levels, threads, measure.number(ops_per_s) AS rate "
        "FROM throughput JOIN cells USING (run_id, cell_id) WHERE status = 'ok' AND phase IS NULL "
        "AND operation = 'all' AND target IS NULL AND threads > 0 AND rate > 0 ORDER BY ALL"
    ).rows
    curves: dict[tuple[str, str, str, str], dict[float, list[float]]] = {}
    for *curve, threads, rate in rows:
        ramp = plan.experiments[curve[0]]
        if ramp.axis == "threads" and ramp.search is None and ramp.phases == 1:
            curves.setdefault((*curve,), {}).setdefault(threads, []).append(rate)
    found: dict[Point, Superlinear] = {}
    pairs = sum(math.comb(len(rates), 2) for rates in curves.values())
    for (experiment, hardware, workload, levels), rates in curves.items():
        for (fewer, few), (more, many) in combinations(rates.items(), 2):
            point = Point(experiment, hardware, workload, fewer, None, Levels(levels))
            each = Superlinear(point, statistics.fmean(few), more, statistics.fmean(many))
            if _contradicts([rate / fewer for rate in few], [rate / more for rate in many], pairs):
                found[point] = max(found.get(point, each), each, key=lambda one: one.excess)
    return sorted(found.values(), key=lambda one: -one.excess)


def _contradicts(few: Sequence[float], many: Sequence[float], pairs: int) -> bool:
    """Return whether the throughput for each thread is clearly higher with many threads than with few. `pairs` is how
    many such pairs are judged."""
    gain = statistics.fmean(many) / statistics.fmean(few)
    if min(len(few), len(many)) < 2 or do_not_vary(few, many):
        return gain > SINGLE_GAIN
    found = ratio_of(few, many, by_ratio=True, level=1 - (1 - LEVEL) / pairs)
    return gain > REPEATED_GAIN and found is not None and found.low is not None and found.low > 1.0
