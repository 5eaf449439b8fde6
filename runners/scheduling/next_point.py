"""Which point of an adaptive ramp is measured next: the rule itself, a function of what was measured.

The lowest candidate is the first, the highest the second, and the one in the middle the third. From then on, the
candidate in the middle of the interval with the highest score is next. The distances between points are on a
logarithmic axis, so the middle of 1 and 16 is 4.

The score of an interval is its length times the sum of `EVEN` and the larger bend at its ends. The bend at a point is
how much the curve's scaling exponent changes there: the slope of log(throughput) over log(load), which is 1 where twice
the load gives twice the throughput, and 0 where it gives no more. So a straight piece of the curve gets few points, and
its knee many. Length times change of slope follows h² |f''| / 8, the error of a line between two points: C. de Boor, "A
Practical Guide to Splines" (1978), chapter III. `EVEN` keeps noise from drawing all points to one place. Of equal
scores, the lower interval counts; of equally near candidates, the lower one.

A point without a good result has been tried: it is not tried again, no slope goes through it, and the intervals at its
sides have no bend there. Of several curves that share their points, the highest score counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

EVEN = 0.25
"""The change of the scaling exponent that weighs as much as the length of an interval by itself."""
_SAME = 1e-9
"""Scores and distances that differ by no more than this share are equal: their last digits are rounding."""

Why = Literal["first", "last", "middle", "bend"]
Curve = Mapping[float, float | None]
"""The throughput at each point that was tried, in ops/s; None where no result is good."""


@dataclass(frozen=True)
class Choice:
    """The next point. One that halves an interval has its ends, and the larger bend at them."""

    point: float
    why: Why
    low: float | None = None
    high: float | None = None
    bend: float = 0.0


def next_point(candidates: Sequence[float], curves: Sequence[Curve]) -> Choice | None:
    """Return the next point of curves that were tried at the same points; None when no candidate is left.

    `candidates` are in rising order.
    """
    tried = sorted({point for curve in curves for point in curve})
    first, last = candidates[0], candidates[-1]
    if first not in tried:
        return Choice(first, "first")
    if last not in tried:
        return Choice(last, "last")
    best: Choice | None = None
    highest = 0.0
    for low, high in pairwise(tried):
        point = _middle(low, high, candidates)
        if point is None:
            continue
        bend = max((bend_at(end, curve) for end in (low, high) for curve in curves), default=0.0)
        score = math.log(high / low) * (EVEN + bend)
        if best is None or score > highest * (1 + _SAME):
            best, highest = Choice(point, "middle" if len(tried) == 2 else "bend", low, high, bend), score
    return best


def bend_at(point: float, curve: Curve) -> float:
    """Return how much the scaling exponent changes at a point: 0 at an end of the curve, and without a result."""
    known = sorted(each for each, rate in curve.items() if rate)
    if point not in known:
        return 0.0
    place = known.index(point)
    if place in (0, len(known) - 1):
        return 0.0
    before, after = known[place - 1], known[place + 1]
    return abs(_exponent(before, point, curve) - _exponent(point, after, curve))


def _exponent(low: float, high: float, curve: Curve) -> float:
    return math.log((curve[high] or 1.0) / (curve[low] or 1.0)) / math.log(high / low)


def _middle(low: float, high: float, candidates: Sequence[float]) -> float | None:
    """Return the candidate nearest to the middle of an interval; None when there is none inside."""
    middle = math.log(low * high) / 2
    inside = [each for each in candidates if low < each < high]
    if not inside:
        return None
    return min(inside, key=lambda each: (round(abs(math.log(each) - middle), 9), each))
