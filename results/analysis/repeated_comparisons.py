"""What the repeats say of an expectation: the interval of the mean difference of its two sides, at each place.

An expectation is judged by its value, which is over all repeats. The repeats decide it where the interval of the mean
difference lies on one side of 0. A place with one repeat has no interval, and is not decided. Runs with a budget ask
the same while they go on (`open_expectations.py`).
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Dimension, Expect, Query
from benchbrief.results.store.store import Key, Store
from benchbrief.runners.measurement.confidence_interval import t_interval

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
    difference `left - right`, whose limit is 0. `holds` is the verdict there. `decides`: whether the interval lies
    wholly on its side. With one repeat, the interval has no ends."""

    place: Mapping[Dimension, Key]
    of: str
    is_difference: bool
    unit: str
    low: float
    high: float
    repeats: int
    holds: bool
    decides: bool

    @property
    def has_ends(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def intervals(expect: Expect, read: Read, level: float) -> list[Interval]:
    """Return the interval at each place that has a verdict. None where sides are not compared by order, and where no
    place is repeated."""
    if not expect.repeats or expect.better is None:
        return []
    verdicts = [(dict(zip(expect.query.dims, keys, strict=True)), value) for keys, value in read(expect.query)]
    holds = [
        (each, bool(value))
        for each in differences(expect, read)
        for place, value in verdicts
        if value is not None and place == each.place
    ]
    if all(len(each.values) < 2 for each, _ in holds):
        return []
    return [_interval(expect, each, here, level, read) for each, here in holds]


def _interval(expect: Expect, found: Differences, holds: bool, level: float, read: Read) -> Interval:
    n, low, high = len(found.values), -math.inf, math.inf
    if n >= 2:
        ends = t_interval(n, statistics.fmean(found.values), statistics.stdev(found.values), level)
        low, high = (-math.inf, math.inf) if ends[0] is None else ends
    decides = low >= 0 if holds == (expect.better == "higher") else high <= 0
    left, right = expect.repeats
    of, limit, is_difference = f"{left.text} - {right.text}", 0.0, True
    if is_number(right):
        of, limit, is_difference = left.text, _only(right, read), False
    elif is_number(left):
        of, limit, is_difference, (low, high) = right.text, _only(left, read), False, (-high, -low)
    return Interval(found.place, of, is_difference, left.unit, limit + low, limit + high, n, holds, decides)


def resting_on(found: Sequence[Interval], holds: bool | None) -> list[Interval]:
    """Return the intervals of the places that a verdict rests on: all of one that holds, and of one that does not the
    places where it fails."""
    return [each for each in found if each.holds is holds]


def decided(found: Sequence[Interval], holds: bool | None) -> bool | None:
    """Return whether the repeats decide a verdict, by the intervals that it rests on; None without any. One place
    where an expectation certainly fails is enough for one that does not hold."""
    if not found or holds is None:
        return None
    return all(each.decides for each in found) if holds else any(each.decides for each in found)


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
