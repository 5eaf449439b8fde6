"""Compares two contenders point by point: the values of both, their ratio, and whether the difference exceeds noise.

The repeats of two contenders (`compared_quantities.py`) are compared at the same points. The statistics are in
`results/statistics/significance.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL
from benchbrief.model.message import Message
from benchbrief.model.points import PointKeys, word_of_key
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.significance import (
    IntervalEstimate,
    correct_p_value,
    difference,
    difference_of,
    do_not_vary,
    holm,
    holm_steps,
    p_value,
    ratio_of,
)
from benchbrief.results.store.searched_doubts import KNOWN, Doubt
from benchbrief.runners.scheduling.confidence_interval import mean_interval

SIGNIFICANT = 0.05
Better = Literal["higher", "lower"] | None
PairVerdict = Literal["better", "worse", "differs", "within noise", "within threshold", "same measurement", "unknown"]


@dataclass(frozen=True)
class PointValues:
    """The values at a point, in the quantity's unit: `value` over all repeats, and the value of each repeat.

    A percentile's `value` comes from the merged histograms of all repeats. If it is missing, `reason` says why.
    `measurements` identify the measurements behind the values. Two runs have measurements in common if one run reused
    the other's results. `seconds` is the measurements' total time.
    """

    value: float | None
    repeats: tuple[float, ...]
    percentile: bool
    reason: str = ""
    measurements: frozenset[str] = frozenset()
    seconds: float = 0.0
    level: float = LEVEL
    """The confidence level of each interval, which is above 0.95 if the repeats were looked at several times."""
    bounds: tuple[float, float] | None = None
    """The bounds of a value that has no repeats of its own, such as a searched rate. The upper bound may
    be infinite."""
    doubt: Doubt = KNOWN

    @property
    def is_known(self) -> bool:
        return self.value is not None or self.bounds is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the confidence interval of the mean at `level`, or None if there are fewer than two repeats.

        For a percentile, the interval is the range from the lowest to the highest repeat. If a value has bounds, the
        interval is the range between them.
        """
        if self.bounds is not None:
            return self.bounds
        if len(self.repeats) < 2:
            return None
        if self.percentile:
            return min(self.repeats), max(self.repeats)
        low, high = mean_interval(self.repeats, self.level)
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class ComparedQuantity:
    """A compared measure or metric. `points` has the values of the first contender and then of the second.

    For each point that can't be judged, `unlike` says how the two contenders' measurements differ in kind. `signed` is
    whether the true value could be below 0. `by_ratio` is whether the logarithms of the repeats are tested. `exact` is
    whether the quantity is computed only from sizes, counts and declared values: if these do not vary, any difference
    is real. `names` are the contenders' names in reasons.
    """

    name: str
    unit: str
    better: Better
    points: Mapping[PointKeys, tuple[PointValues | None, PointValues | None]]
    unlike: Mapping[PointKeys, str] = field(default_factory=dict)
    signed: bool = True
    by_ratio: bool = False
    exact: bool = False
    names: tuple[str, str] = ("A", "B")


_PERCEPTIBLE = 0.02


@dataclass(frozen=True)
class Comparison:
    """One quantity at one point. `ratio` is the second contender's value divided by the first's, as tested.

    With repeats, `ratio` is computed from the repeats, not from the shown values. It is None for values below 0, or if
    the first value is 0. `difference` is the second value minus the first, in the quantity's unit. Of `ratio` and
    `difference`, the tested one has a confidence interval at `level`; if the means are tested, both have one. If the
    two sides are tested, `level` is the level of the corrected test, so that an interval excludes "no change" exactly
    if the test finds a change. Otherwise, it is the higher level of the two sides.

    `p` is the probability of a difference this large if there is no true difference. `p_holm` is `p` corrected for all
    comparisons of the same family. Both are None if one side has fewer than two repeats, or if no repeat differs.
    """

    quantity: str
    unit: str
    better: Better
    point: PointKeys
    first: PointValues | None
    second: PointValues | None
    ratio: float | None
    interval: tuple[float, float] | None
    difference: float | None
    difference_interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    verdict: PairVerdict
    reason: str = ""
    names: tuple[str, str] = ("A", "B")
    level: float = LEVEL
    signed: bool = True
    """Whether the true value could be below 0."""
    by_ratio: bool = False
    """Whether the logarithms of the repeats are tested."""
    exact: bool = False
    """Whether the values on both sides are exact, so that any difference is real."""

    @property
    def fewest(self) -> int:
        """Return the smaller number of repeats of the two sides."""
        return min(len(side.repeats) if side else 0 for side in (self.first, self.second))

    @property
    def lacks_repeats(self) -> bool:
        """Return whether there is no verdict because a side has too few repeats."""
        return isinstance(self.reason, Message) and self.reason.code == "too_few_repeats"

    @property
    def shares_some(self) -> bool:
        """Return whether the two sides share some of their measurements, but not all."""
        sides = [side.measurements if side else frozenset[str]() for side in (self.first, self.second)]
        return sides[0] != sides[1] and bool(sides[0] & sides[1])

    @property
    def is_apart(self) -> bool:
        """Return whether the change between the two shown values looks different from the change computed from the
        repeats."""
        if self.first is None or self.second is None or self.first.value is None or self.second.value is None:
            return False
        if self.ratio is not None and self.unit not in ("share", "%"):
            return abs(self.ratio - self.second.value / self.first.value) > _PERCEPTIBLE
        shown, size = self.second.value - self.first.value, max(abs(self.first.value), abs(self.second.value))
        return self.difference is not None and abs(self.difference - shown) > _PERCEPTIBLE * size

    @property
    def family(self) -> str:
        """Return the name of the group of tests that are corrected together: a quantity at all points and for all
        operations."""
        return self.quantity.partition("[")[0]

    @property
    def key(self) -> str:
        """Return the point as text, like a cell's id: `experiment/hardware/workload/threads=4`."""
        return "/".join(word_of_key(dim, key) for dim, key in self.point if key is not None)


@dataclass(frozen=True)
class PairOutcome:
    """The result of a comparison: the comparisons of all points, and the points that only one contender has."""

    comparisons: tuple[Comparison, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    @property
    def worse(self) -> tuple[Comparison, ...]:
        return tuple(each for each in self.comparisons if each.verdict == "worse")

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the points of the first contender where it is unknown whether anything got worse."""
        return (*(each.key for each in self.comparisons if each.verdict == "unknown"), *self.only_first)


def compare(found: Iterable[ComparedQuantity], threshold: float = 0.0) -> PairOutcome:
    """Judge all points of each quantity together. Changes below `threshold`, a share, do not count."""
    return compare_all([found], threshold)[0]


def compare_all(pairs: Iterable[Iterable[ComparedQuantity]], threshold: float = 0.0) -> list[PairOutcome]:
    """Judge several pairs of contenders as one set of comparisons, each pair by its own quantities.

    A family is a group of tests that answer one question, such as "has throughput changed at some point?" It includes
    all pairs of contenders. Only tests of one family are corrected together, so the many points of other metrics do not
    make its question harder to answer. See R. Bender and S. Lange, "Adjusting for multiple testing - when and how?",
    Journal of Clinical Epidemiology 54 (2001).
    """
    rows_of = [
        [_compared(quantity, point, *sides) for quantity in found for point, sides in quantity.points.items()]
        for found in pairs
    ]
    families: dict[str, list[tuple[int, int]]] = {}
    for pair, rows in enumerate(rows_of):
        for place, row in enumerate(rows):
            if row.p is not None:
                families.setdefault(row.family, []).append((pair, place))
    for places in families.values():
        tested = [rows_of[pair][place] for pair, place in places]
        p_values = [row.p for row in tested if row.p is not None]
        parts = zip(places, tested, holm(p_values), holm_steps(p_values, SIGNIFICANT), strict=True)
        for (pair, place), row, p_holm, step in parts:
            rows_of[pair][place] = _with_intervals(replace(row, p_holm=p_holm), 1 - (1 - row.level) / step)
    return [_outcome(rows, threshold) for rows in rows_of]


def _outcome(rows: Sequence[Comparison], threshold: float) -> PairOutcome:
    both = [row for row in rows if row.first is not None and row.second is not None]
    keys: dict[bool, dict[str, None]] = {True: {}, False: {}}
    # A metric's points may have fewer dimensions than those of the measures that it is made of.
    for row in [row for row in rows if row.point and row.point[0][0] == "experiment"] or rows:
        if (row.first is None) != (row.second is None):
            keys[row.second is None].setdefault(row.key)
    judged = [_judged(row, threshold) for row in both]
    seen = {row.key for row in both}
    only = {side: tuple(key for key in named if key not in seen) for side, named in keys.items()}
    return PairOutcome(tuple(judged), only[True], only[False])


def _compared(
    quantity: ComparedQuantity, point: PointKeys, first: PointValues | None, second: PointValues | None
) -> Comparison:
    row = Comparison(
        quantity.name,
        quantity.unit,
        quantity.better,
        point,
        first,
        second,
        ratio=None,
        interval=None,
        difference=None,
        difference_interval=None,
        p=None,
        p_holm=None,
        verdict="unknown",
        reason=quantity.unlike.get(point, ""),
        names=quantity.names,
        signed=quantity.signed,
        by_ratio=quantity.by_ratio,
    )
    if first is None or second is None:
        return row
    if first.bounds and second.bounds:
        ratio, interval = _bounded_ratio(first, second)
        apart = _bounded_difference(first, second)
        difference = None if apart is None else apart.value
        return replace(row, ratio=ratio, interval=interval, difference=difference, difference_interval=_ends(apart))
    if first.value is None or second.value is None:
        return row
    level = max(first.level, second.level)
    row = _with_intervals(row, level)
    if quantity.exact and do_not_vary(first.repeats or (first.value,), second.repeats or (second.value,)):
        return replace(row, exact=True)
    alike = point not in quantity.unlike and not _same_measurement(first, second)
    if len({*first.repeats, *second.repeats}) > 1 and alike:
        p = p_value(first.repeats, second.repeats, percentile=first.percentile, by_ratio=row.by_ratio)
        return replace(row, p=None if p is None else correct_p_value(p, level))
    return row


def _with_intervals(row: Comparison, level: float) -> Comparison:
    """Return the comparison with its ratio, its difference and their intervals at a level. Both values must be
    known."""
    first, second = row.first, row.second
    if first is None or second is None or first.value is None or second.value is None:
        return row
    apart = None
    if min(len(first.repeats), len(second.repeats)) > 1:
        apart = difference_of(
            first.repeats, second.repeats, percentile=first.percentile, by_ratio=row.by_ratio, level=level
        )
    apart = apart or IntervalEstimate(second.value - first.value, None, None)
    ratio = interval = None
    if first.value > 0 and min((second.value, *first.repeats, *second.repeats)) >= 0:
        ratio, interval = _ratio(first, second, by_ratio=row.by_ratio, level=level)
        if interval and not row.signed:  # excluding the impossible does not lower the confidence in the rest
            interval = (max(interval[0], 0.0), interval[1])
    return replace(
        row,
        ratio=ratio,
        interval=interval,
        difference=apart.value,
        difference_interval=_ends(apart),
        level=level,
    )


def _ratio(
    first: PointValues, second: PointValues, *, by_ratio: bool, level: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the ratio of two values, with its interval. The first value must be above 0, and the second at least 0."""
    ratio = second.value / first.value if first.value and second.value is not None else None
    between: IntervalEstimate | None = None
    if first.repeats and second.repeats:
        between = ratio_of(first.repeats, second.repeats, percentile=first.percentile, by_ratio=by_ratio, level=level)
    if between is not None and min(len(first.repeats), len(second.repeats)) > 1:
        ratio = between.value
    return ratio, _ends(between)


def _bounded_ratio(first: PointValues, second: PointValues) -> tuple[float | None, tuple[float, float] | None]:
    """Return the ratio of two values with known bounds, or None if one of the values is unknown or negative."""
    if first.bounds is None or second.bounds is None or not first.value or second.value is None:
        return None, None
    (low, high), (other_low, other_high) = first.bounds, second.bounds
    if min(low, other_low, first.value) < 0:
        return None, None
    return second.value / first.value, (other_low / high, other_high / low if low else math.inf)


def _bounded_difference(first: PointValues, second: PointValues) -> IntervalEstimate | None:
    if first.bounds is None or second.bounds is None or first.value is None or second.value is None:
        return None
    apart = second.bounds[0] - first.bounds[1], second.bounds[1] - first.bounds[0]
    return IntervalEstimate(second.value - first.value, *apart)


def _ends(of: IntervalEstimate | None) -> tuple[float, float] | None:
    return None if of is None or of.low is None or of.high is None else (of.low, of.high)


def _judged(row: Comparison, threshold: float) -> Comparison:
    first, second = row.first, row.second
    if first is not None and second is not None and first.bounds and second.bounds:
        return _not_judged(row, first, second) or _judged_by_bounds(row, first.bounds, second.bounds, threshold)
    if first is None or second is None or first.value is None or second.value is None:
        return replace(row, reason=_why_missing(row))
    if row.exact and first.value != second.value and not row.reason:
        return _of_direction(row, second.value > first.value, threshold)
    if found := _not_judged(row, first, second):
        return found
    if row.exact:
        return replace(row, verdict="within noise", reason=say.same_value())
    fewest = min(len(first.repeats), len(second.repeats))
    if row.p_holm is None and fewest > 1:
        return replace(row, verdict="within noise", reason=say.one_value())
    if first.value == second.value == 0:
        return replace(row, verdict="within noise", reason=say.both_zero())
    if row.p_holm is None:
        return replace(row, reason=say.too_few_repeats(n=max(fewest, 1)))
    if row.p_holm >= SIGNIFICANT and do_not_vary(first.repeats, second.repeats):
        return replace(row, reason=say.no_spread())
    if row.p_holm >= SIGNIFICANT:
        return replace(row, verdict="within noise")
    rises = difference(first.repeats, second.repeats, percentile=first.percentile, by_ratio=row.by_ratio) > 0
    found = _of_direction(row, rises, threshold)
    against = (second.value <= first.value) if rises else (second.value >= first.value)
    if against and found.verdict in ("better", "worse"):
        return replace(row, reason=say.repeats_rise() if rises else say.repeats_fall())
    return found


def _why_missing(row: Comparison) -> str:
    """Return why values are missing: a single reason if it is the same on both sides, or else a reason for each
    side."""
    lacking: dict[str, list[str]] = {}
    for name, side in zip(row.names, (row.first, row.second), strict=True):
        if side is None or side.value is None:
            lacking.setdefault(side.reason if side else say.not_measured(), []).append(name)
    why = [
        say.missing_in(names=say.sides(one=names[0], other=names[1]) if names[1:] else names[0], said=reason)
        for reason, names in lacking.items()
    ]
    return say.two_reasons(one=why[0], other=why[1]) if why[1:] else why[0]


def _not_judged(row: Comparison, first: PointValues, second: PointValues) -> Comparison | None:
    """Return the comparison with its verdict if no test is needed, because the sides can't be compared or are the same
    measurement. Otherwise, return None."""
    if row.reason:
        return row
    if _same_measurement(first, second):
        return replace(row, verdict="same measurement", reason=say.one_measurement())
    return None


def _judged_by_bounds(
    row: Comparison, first: tuple[float, float], second: tuple[float, float], threshold: float
) -> Comparison:
    """Judge values that are known only by their bounds. They differ if their bounds do not overlap.

    If the bounds overlap and one of them is infinite, the verdict is unknown.
    """
    rises = first[1] <= second[0]
    if first == second or (not rises and first[0] < second[1]):
        if min(first[0], second[0]) == 0 or math.isinf(max(first[1], second[1])):
            return replace(row, reason=say.bounds_open())
        return replace(row, verdict="within noise", reason=say.bounds_overlap())
    return _of_direction(row, rises, threshold)


def _of_direction(row: Comparison, rises: bool, threshold: float) -> Comparison:
    """Return the verdict on values that differ. `rises` is whether the second value is higher."""
    if _change(row) < threshold:
        return replace(row, verdict="within threshold")
    if row.better is None:
        return replace(row, verdict="differs")
    return replace(row, verdict="better" if rises == (row.better == "higher") else "worse")


def _change(row: Comparison) -> float:
    """Return the size of the change as a share of the first value's size. If the first value is 0, the result is
    infinite."""
    if row.ratio is not None:
        return abs(row.ratio - 1)
    size = abs(statistics.fmean(row.first.repeats)) if row.first and row.first.repeats else 0.0
    return math.inf if row.difference is None or not size else abs(row.difference) / size


def _same_measurement(first: PointValues, second: PointValues) -> bool:
    return bool(first.measurements) and first.measurements == second.measurements
