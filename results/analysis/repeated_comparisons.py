"""What the repeats say of an expectation: whether they decide its verdict, and at which places they do not yet.

An expectation is judged by its value, which is over all repeats. The repeats decide it by intervals of the mean
difference of its two sides, one at each place, which lie wholly on the side of the verdict or do not. `judge` is the
one rule: the verdict asks it after a run, and a budget while the run goes on (`open_expectations.py`).

An expectation over several places holds where every place holds. That is decided when each place's interval decides
it. No correction is due, as the false claim needs an error at each place that fails: R. L. Berger, "Multiparameter
Hypothesis Testing and Acceptance Sampling", Technometrics 24 (1982). It fails where any place fails. One place among
many fails by chance more easily, so each interval then has a part of the chance to be wrong, by the number of places:
O. J. Dunn, "Multiple Comparisons Among Means", Journal of the American Statistical Association 56 (1961). S. Holm's
procedure (1979) begins with the same part, and one place is enough.

A budget looks at an interval after each repeat, and each look has its share of the chance to be wrong
(`budgets.Looks`). The interval is what the looks so far leave together: the repeated confidence intervals of
C. Jennison and B. W. Turnbull, "Interim Analyses: The Repeated Confidence Interval Approach", Journal of the Royal
Statistical Society B 51 (1989). So what one look decides stays decided. Where they leave nothing, the last one counts.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.compiler.planning.budgets import LEVEL, Looks
from benchbrief.compiler.planning.plan import Dimension, Expect, Query
from benchbrief.results.store.store import Key, Store
from benchbrief.runners.measurement.confidence_interval import mean_interval

_Place = tuple[tuple[Dimension, Key], ...]
Read = Callable[[Query], Iterable[tuple[Sequence[Key], float | None]]]
"""Gives the keys of a query's dims and the value there."""


def reading(store: Store) -> Read:
    return lambda query: [(row.keys, row.value) for row in store.query(query)]


@dataclass(frozen=True)
class Differences:
    """Left side minus right side at a place, for each repeat that has both."""

    place: Mapping[Dimension, Key]
    values: Sequence[float]


def differences(expect: Expect, read: Read) -> Iterator[Differences]:
    """Yield the differences at each place where a side has values."""
    left, right = (_by_place(query, read) for query in expect.repeats)
    every = dict.fromkeys(place for side in (left, right) for place in side)
    # A side with fewer dimensions, such as a plain number, stands at each place of the other.
    for place in [place for place in every if not any(set(place) < set(other) for other in every)]:
        found = [_values(side, place) for side in (left, right)]
        repeats = sorted({repeat for values in found for repeat in values if repeat is not None})
        pairs = [[values.get(repeat, values.get(None)) for values in found] for repeat in repeats]
        yield Differences(dict(place), [a - b for a, b in pairs if a is not None and b is not None])


@dataclass(frozen=True)
class Interval:
    """The interval of the mean over `repeats` at a place: of a side that is compared with a plain number, else of the
    difference `left - right`, whose limit is 0. `decides`: whether it lies wholly on the side of the verdict.

    `distance` is how far the last look is from that: half the width of its interval as a share of what lies between the
    mean and the limit. Infinite where the mean is on the other side. With too few repeats, the interval has no ends."""

    place: Mapping[Dimension, Key]
    of: str
    is_difference: bool
    unit: str
    low: float
    high: float
    repeats: int
    decides: bool
    distance: float

    @property
    def has_ends(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Judgement:
    """What an expectation is found to be by its values: `holds` is None where one is missing and none fails.

    `intervals` are those of the places that this rests on: all of one that holds, and of one that does not those where
    it fails. Each has the level `level` over all `looks` together, which is corrected where one of `places` is
    enough. `first_look` is how many repeats a budget needs for an interval; None without a budget."""

    holds: bool | None
    intervals: Sequence[Interval]
    level: float
    places: int
    looks: int = 1
    first_look: int | None = None

    @property
    def is_corrected(self) -> bool:
        return self.holds is False and self.places > 1

    @property
    def decided(self) -> bool | None:
        """Return whether the repeats decide the verdict; None where nothing is to be repeated that could. Repeats
        that a budget has no time for are missing: without them, the verdict is not decided."""
        repeated = self.first_look is not None or any(each.repeats > 1 for each in self.intervals)
        if not self.intervals or not repeated:
            return None
        return self._is_decided

    @property
    def vague(self) -> list[Interval]:
        """Return the intervals that more repeats could make decide the verdict; none once it is decided."""
        return [] if self._is_decided else [each for each in self.intervals if not each.decides]

    @property
    def _is_decided(self) -> bool:
        return (any if self.holds is False else all)(each.decides for each in self.intervals)


def judge(expect: Expect, read: Read, looks: Looks) -> Judgement:
    """Return the judgement by intervals that all looks together miss in 5 % of cases (`budgets.looks_at`)."""
    verdicts = [(dict(zip(expect.query.dims, keys, strict=True)), value) for keys, value in read(expect.query)]
    values = [value for _, value in verdicts]
    holds = False if 0.0 in values else None if not values or None in values else True
    several = holds is False and len(verdicts) > 1
    chance = (1 - LEVEL) / len(verdicts) if several else looks.chance
    level = 1 - (chance if several else 1 - LEVEL)
    if holds is None or not expect.repeats or expect.better is None:
        return Judgement(holds, (), level, len(verdicts), looks.count)
    resting = {frozenset(place.items()) for place, value in verdicts if value == holds}
    found = [each for each in differences(expect, read) if frozenset(each.place.items()) in resting]
    intervals = [_interval(expect, each, holds, looks, chance, read) for each in found]
    first_look = None if looks.last is None else looks.first
    return Judgement(holds, intervals, level, len(verdicts), looks.count, first_look)


def _interval(expect: Expect, found: Differences, holds: bool, looks: Looks, chance: float, read: Read) -> Interval:
    n, low, high, distance = len(found.values), -math.inf, math.inf, math.inf
    above = holds == (expect.better == "higher")
    seen = [_ends(found.values[:repeats], 1 - chance * share) for repeats, share in looks.until(n)]
    if seen:
        mean, (low, high) = statistics.fmean(found.values), seen[-1]
        distance = (high - low) / 2 / abs(mean) if mean and (mean > 0) == above else math.inf
        lowest, highest = max(each[0] for each in seen), min(each[1] for each in seen)
        if lowest <= highest:
            low, high = lowest, highest
        least, most = _range(expect, read)
        # To exclude the impossible does not lower the confidence. A gauge of another package may be below 0.
        if all(least <= value <= most for value in found.values):
            low, high = max(low, least), min(high, most)
    left, right = expect.repeats
    decides = low >= 0 if above else high <= 0
    of, limit, is_difference = f"{left.text} - {right.text}", 0.0, True
    if is_number(right):
        of, limit, is_difference = left.text, _only(right, read), False
    elif is_number(left):
        of, limit, is_difference, (low, high) = right.text, _only(left, read), False, (-high, -low)
    return Interval(found.place, of, is_difference, left.unit, limit + low, limit + high, n, decides, distance)


def _range(expect: Expect, read: Read) -> tuple[float, float]:
    """Return from where to where the difference of both sides can lie at all; infinite where that is not known."""
    if not expect.ranges:
        return -math.inf, math.inf
    (low, high), (other_low, other_high) = (
        (number := _only(side, read), number)
        if is_number(side)
        else (-math.inf if least is None else least, math.inf if most is None else most)
        for side, (least, most) in zip(expect.repeats, expect.ranges, strict=True)
    )
    return low - other_high, high - other_low


def _ends(values: Sequence[float], level: float) -> tuple[float, float]:
    low, high = mean_interval(values, level)
    return (-math.inf, math.inf) if low is None or high is None else (low, high)


def is_number(query: Query) -> bool:
    """Return whether the query is a plain number of the spec, with or without sign and unit: `10k ops/s`, `-20 %`."""
    return re.fullmatch(r"[-+]?\s*\d[\d._]*[kMGT]?\s*[^\s\d()*+-]*", query.text) is not None


def _only(number: Query, read: Read) -> float:
    return next(value for _, value in read(number) if value is not None)


def _by_place(query: Query, read: Read) -> dict[_Place, dict[Key, float | None]]:
    """Return the values by place, and there by repeat (None: of all)."""
    found: dict[_Place, dict[Key, float | None]] = {}
    for row, value in read(query):
        keys = dict(zip(query.dims, row, strict=True))
        repeat = keys.pop("repeat", None)
        found.setdefault(tuple(keys.items()), {})[repeat] = value
    return found


def _values(side: Mapping[_Place, Mapping[Key, float | None]], place: _Place) -> Mapping[Key, float | None]:
    return next((values for other, values in side.items() if set(other) <= set(place)), {})
