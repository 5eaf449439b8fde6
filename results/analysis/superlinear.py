"""Finds points of closed loops that contradict the rest of their curve, because more threads did more than their share.

In a closed loop, a thread begins its next operation when the last one has ended. So throughput is the number of threads
divided by the mean latency (J. D. C. Little, "A Proof for the Queuing Formula: L = λW", 1961). While an operation takes
as long or longer beside others, n threads do at most n / m times what m threads do. That also holds if threads share
the sync of a log: each of them still waits for a whole sync. If they do more, operations took longer at the point with
fewer threads, for instance because a processor or a device had gone idle between them, or they took less time at the
other point, because it found its data in a cache.

Many pairs of points are tested, so the tests share the 5 % chance of an error by C. E. Bonferroni's inequality. If the
repeats decide that there is a gain, another run would show it too, so it is a property of the system and refutes
nothing. Single measurements have no test that could be corrected: `SINGLE_GAIN` is more than their usual noise, but
among hundreds of pairs, chance may exceed it. So such a gain leaves claims open, and is grave only above `GRAVE_GAIN`,
which noise hardly reaches. Repeats that do not decide show that the points vary, so they count only above `GRAVE_GAIN`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from benchbrief.model.budgets import LEVEL
from benchbrief.model.held_out import Place, reads_at
from benchbrief.model.plan import Levels, Plan, Read
from benchbrief.model.points import Point
from benchbrief.results.statistics.significance import do_not_vary, ratio_of
from benchbrief.results.store.searched_doubts import Answering

GRAVE_GAIN, SINGLE_GAIN, REPEATED_GAIN = 2.0, 1.25, 1.10
"""How much more throughput for each thread a point may have than one with fewer threads, without a remark: if repeats
do not decide that there is a gain, if a point has no repeats, and if they decide it."""


class Superlinear(NamedTuple):
    """A `point` whose operations took longer than with `more` threads. `rate` and `more_rate` are the throughputs of
    the two points in ops/s. `is_decided` means that their repeats decide that there is a gain."""

    point: Point
    rate: float
    more: float
    more_rate: float
    is_decided: bool

    @property
    def excess(self) -> float:
        """Return the throughput for each thread with more threads, divided by that at the point."""
        return self.more_rate / self.more / (self.rate / (self.point.threads or 1.0))

    @property
    def is_grave(self) -> bool:
        return not self.is_decided and self.excess > GRAVE_GAIN


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
    pairs = sum(math.comb(len(rates), 2) for rates in curves.values())
    found: dict[Point, Superlinear] = {}
    for (experiment, hardware, workload, levels), rates in curves.items():
        for (fewer, few), (more, many) in combinations(rates.items(), 2):
            point = Point(experiment, hardware, workload, fewer, None, Levels(levels))
            gains, least = _decide([rate / fewer for rate in few], [rate / more for rate in many], pairs)
            each = Superlinear(point, statistics.fmean(few), more, statistics.fmean(many), gains)
            if each.excess > least:
                found[point] = max(found.get(point, each), each, key=lambda one: one.excess)
    return sorted(found.values(), key=lambda one: -one.excess)


def _decide(few: Sequence[float], many: Sequence[float], pairs: int) -> tuple[bool, float]:
    """Return whether the repeats decide that many threads have more throughput for each thread than few, if as many
    `pairs` are tested, and how high a gain needs no remark."""
    if min(len(few), len(many)) < 2 or do_not_vary(few, many):
        return False, SINGLE_GAIN
    found = ratio_of(few, many, by_ratio=True, level=1 - (1 - LEVEL) / pairs)
    gains = found is not None and found.low is not None and found.low > 1.0
    return gains, REPEATED_GAIN if gains else GRAVE_GAIN


def rest_on(found: Iterable[Superlinear], reads: Iterable[Read], plan: Plan, at: Place = MappingProxyType({})) -> bool:
    """Return whether a throughput or latency is read at one of these points, if an extreme was found at `at`. Points
    whose repeats decide that there is a gain are left out. So are other measures, such as sizes and watts, because
    Little's law says nothing about them."""
    unvaried = dict.fromkeys(plan.factors)
    places = [{**unvaried, **each.point.keys} for each in found if not each.is_decided]
    timed = [read for read in reads if read.view in ("throughput", "latency")]
    return any(reads_at(read, at, place) for read in timed for place in places)
