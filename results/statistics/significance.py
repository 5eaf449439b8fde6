"""Tests whether two sets of repeats differ, computes intervals of ratios, and corrects for multiple tests.

A repeat is one observation. Operations and seconds within a measurement depend on each other, so only repeats show how
much another measurement may differ.

Values that are not finite, or too large to compute with, count as unknown.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import LEVEL
from benchbrief.results.statistics.sorted_pairs import SortedPairs
from benchbrief.runners.scheduling.confidence_interval import LARGEST

FEWEST_RANKED = 8
"""The fewest repeats of each side for a test of ranks. With fewer repeats, ranks decide little: with five on each side,
the p-value can't be below 0.8 %, however far apart the sides are, and a correction for seven comparisons raises it
above 5 %. With eight on each side, three hundred comparisons are possible.
"""

WIDEST = 1e6
"""The limits of a useful interval of a ratio, as a factor above and below the ratio. Wider intervals are left out. For
example, an interval based on two different repeats and corrected for fifty comparisons may have ends with three hundred
digits.
"""

LARGEST_EXPONENT = math.log(LARGEST)

MOST_EXACT = 10_000
"""The most pairs of values for which the exact distribution of ranks is computed. With more pairs, the normal
distribution is close enough."""


@dataclass(frozen=True)
class IntervalEstimate:
    """A ratio or a difference with its confidence interval.

    A side of a ratio's interval is None if it has no bound, because the divisor does not differ from 0.
    """

    value: float
    low: float | None
    high: float | None


def degrees_of_freedom(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the degrees of freedom of a difference of means with separate variances. The result is infinite if nothing
    varies.

    From B. L. Welch, "The generalization of Student's problem when several different population variances are
    involved", Biometrika 34 (1947).
    """
    if not _vary(a, b):
        return math.inf
    return _freedom([(statistics.variance(each) / len(each), len(each)) for each in (a, b)])


def _freedom(parts: Sequence[tuple[float, int]]) -> float:
    """Return Welch's degrees of freedom for two variances of means, each given with its number of values."""
    spread = sum(part for part, _ in parts)
    return 1 / sum((part / spread) ** 2 / (n - 1) for part, n in parts) if spread > 0 else math.inf


def _vary(*sides: Sequence[float]) -> bool:
    """Return whether the values on both sides can vary. This takes at least two known values on each side."""
    return min(map(len, sides)) > 1 and _are_known(*sides)


def _are_known(*sides: Sequence[float]) -> bool:
    """Return whether each side has values, all of them usable in computations."""
    return all(sides) and all(abs(value) <= LARGEST for side in sides for value in side)


def _estimate(value: float, low: float, high: float) -> IntervalEstimate | None:
    """Return an estimate, without an interval if an end is not finite, or None if the value itself is not finite."""
    if not math.isfinite(value):
        return None
    known = math.isfinite(low) and math.isfinite(high)
    return IntervalEstimate(value, low, high) if known else IntervalEstimate(value, None, None)


def welch(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return the two-sided p-value of Welch's t test for equal means, or None if a side has fewer than two known
    values.

    If all repeats of each side are equal, their variation is unknown, and a t test would be certain of any difference.
    Instead, a test of permutations is used. Of all ways to split the repeats in two, its p-value is the share that set
    the sides at least as far apart. See R. A. Fisher, "The Design of Experiments" (1935), section 21.
    """
    if not _vary(a, b):
        return None
    from scipy.special import stdtr  # Student's t, without the second that importing scipy.stats takes

    difference = statistics.fmean(b) - statistics.fmean(a)
    error = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    if error == 0:
        return 1.0 if difference == 0 else min(1.0, 2 / math.comb(len(a) + len(b), len(a)))
    return float(2 * stdtr(degrees_of_freedom(a, b), -abs(difference) / error))


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return the two-sided p-value of Mann and Whitney's rank test, exact if there are no ties.

    Returns None if a side is empty or a value is unknown. From H. B. Mann and D. R. Whitney, "On a Test of Whether one
    of Two Random Variables is Stochastically Larger than the Other" (1947).
    """
    if not _are_known(a, b):
        return None
    if len({*a, *b}) == 1:  # all orders are the same
        return 1.0
    from scipy.stats import mannwhitneyu

    exact = len({*a, *b}) == len(a) + len(b) and len(a) * len(b) <= MOST_EXACT
    return float(mannwhitneyu(a, b, alternative="two-sided", method="exact" if exact else "asymptotic").pvalue)


def p_value(
    a: Sequence[float], b: Sequence[float], *, percentile: bool = False, by_ratio: bool = False
) -> float | None:
    """Return the probability of a difference this large if both sides are truly equal, or None if a side has fewer than
    two values.

    Uses Welch's test. The spread of a quantity that can't be below 0, such as a rate or a time, grows with the
    quantity. So with `by_ratio`, the logarithms are tested, because their spread is the same for a fast system as for a
    slow one. The repeats of percentiles are also skewed and have outliers, so their ranks are tested if there are
    enough repeats. If a value is 0 or less, it has no logarithm, and all values are tested as they are.
    """
    if not _vary(a, b):
        return None
    if _are_ranked(a, b, percentile):
        return mann_whitney(a, b)
    return welch(_logs(a), _logs(b)) if _have_logs(a, b, percentile, by_ratio) else welch(a, b)


def _are_ranked(a: Sequence[float], b: Sequence[float], percentile: bool) -> bool:
    return percentile and min(len(a), len(b)) >= FEWEST_RANKED


def _have_logs(a: Sequence[float], b: Sequence[float], percentile: bool, by_ratio: bool) -> bool:
    return (percentile or by_ratio) and min(*a, *b) > 0


def difference(a: Sequence[float], b: Sequence[float], *, percentile: bool = False, by_ratio: bool = False) -> float:
    """Return how far b is above a on the scale that `p_value` tests: means, logarithms or ranks.

    The sign is the direction of a significant difference. The result is NaN if a side is empty or a value is unknown.
    """
    if not _are_known(a, b):
        return math.nan
    if _are_ranked(a, b, percentile):
        return SortedPairs(a, b, by_ratio=False).median
    if _have_logs(a, b, percentile, by_ratio):
        a, b = _logs(a), _logs(b)
    return statistics.fmean(b) - statistics.fmean(a)


def difference_of(
    a: Sequence[float],
    b: Sequence[float],
    *,
    percentile: bool = False,
    by_ratio: bool = False,
    level: float = LEVEL,
) -> IntervalEstimate | None:
    """Return how far b is above a, in their unit, with an interval. Returns None if a side is empty or a value is
    unknown.

    Compares the means by Welch's test or, with at least `FEWEST_RANKED` repeats of percentiles, all pairs by ranks.
    There is no interval if there are fewer than two values, or if logarithms are tested, because `ratio_of` has the
    interval that matches their test.
    """
    if not _are_known(a, b):
        return None
    if _are_ranked(a, b, percentile):
        return _of_pairs(SortedPairs(a, b, by_ratio=False), len(a), len(b), level)
    middle = statistics.fmean(b) - statistics.fmean(a)
    if min(len(a), len(b)) < 2 or _have_logs(a, b, percentile, by_ratio):
        return IntervalEstimate(middle, None, None)
    half = _half_width(a, b, level)
    return IntervalEstimate(middle, None, None) if half is None else _estimate(middle, middle - half, middle + half)


def do_not_vary(*sides: Sequence[float]) -> bool:
    """Return whether all values of each side are equal, so that nothing is known about the variation of further
    repeats."""
    return all(len({*side}) == 1 for side in sides)


def _half_width(a: Sequence[float], b: Sequence[float], level: float) -> float | None:
    """Return half the width of Welch's interval for a difference of means, or None if nothing varies."""
    from scipy.special import stdtrit

    freedom = degrees_of_freedom(a, b)
    error = math.sqrt(statistics.variance(a) / len(a) + statistics.variance(b) / len(b))
    return None if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2)) * error


def correct_p_value(p: float, level: float) -> float:
    """Correct a p-value so that comparing it with 5 % is as strict as an interval at `level`. If a budget looks at the
    repeats several times, the level is above `LEVEL`, because each look gets only a part of the 5 %
    (`model/budgets.py`).
    """
    return min(1.0, p * (1 - LEVEL) / (1 - level)) if level < 1 else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests. A false alarm in any of the tests is then no more likely than in a
    single test.

    From S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def holm_steps(p_values: Sequence[float], significant: float) -> list[int]:
    """For each comparison, return the divisor for the chance of a false alarm according to Holm's procedure.

    The procedure starts at the lowest p-value and goes up. From the first p-value that is not significant, all
    comparisons get the same divisor. An interval at the resulting level excludes "no change" exactly if the procedure
    finds a change. From O. Guilbaud, "Simultaneous Confidence Regions Corresponding to Holm's Step-Down Procedure",
    Biometrical Journal 50 (2008).
    """
    steps = [1] * len(p_values)
    failed_at = 0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        steps[index] = failed_at or len(p_values) - place
        if not failed_at and steps[index] * p_values[index] >= significant:
            failed_at = steps[index]
    return steps


def ratio_of_means(a: Sequence[float], b: Sequence[float], level: float = LEVEL) -> IntervalEstimate | None:
    """Return b's mean over a's, with Fieller's interval: E. C. Fieller, "Some Problems in Interval Estimation" (1954).

    The means are independent, with separate variances and Welch's degrees of freedom, so the interval excludes 1
    exactly if Welch's test is significant. Returns None if a's mean is 0, a side is empty, or a value is unknown. There
    is no interval if there are fewer than two values.
    """
    if not _are_known(a, b):
        return None
    below, above = statistics.fmean(a), statistics.fmean(b)
    if below == 0:
        return None
    value = above / below
    freedom = degrees_of_freedom(a, b)
    if math.isinf(freedom):
        return _estimate(value, math.nan, math.nan)
    from scipy.special import stdtrit

    t2 = float(stdtrit(freedom, (1 + level) / 2)) ** 2
    # The ratios r for which above - r * below is within t standard errors of 0: a quadratic in r.
    square = below * below - t2 * statistics.variance(a) / len(a)
    constant = above * above - t2 * statistics.variance(b) / len(b)
    root = below * above * below * above - square * constant
    if not square > 0 or not 0 <= root < math.inf:
        return _estimate(value, math.nan, math.nan)
    return _estimate(value, (below * above - math.sqrt(root)) / square, (below * above + math.sqrt(root)) / square)


def ratio_of(
    a: Sequence[float],
    b: Sequence[float],
    *,
    percentile: bool = False,
    by_ratio: bool = False,
    level: float = LEVEL,
) -> IntervalEstimate | None:
    """Return the ratio of b's repeats to a's, with the interval that matches the test of `p_value`.

    If logarithms are tested, it is the ratio of the geometric means. If ranks are tested, it is the median of the
    ratios of every repeat of b to every repeat of a. Otherwise, it is the ratio of the means. Returns None if a value
    is unknown, or if a divisor is not above 0. An interval wider than `WIDEST` is left out.
    """
    if not _vary(a, b) or not _have_logs(a, b, percentile, by_ratio):
        return None if _are_ranked(a, b, percentile) else ratio_of_means(a, b, level)
    if _are_ranked(a, b, percentile):
        return _of_pairs(SortedPairs(a, b, by_ratio=True), len(a), len(b), level)
    below, above = _logs(a), _logs(b)
    middle = statistics.fmean(above) - statistics.fmean(below)
    half = _half_width(below, above, level)
    if half is None or not half <= math.log(WIDEST):
        half = math.nan
    return _of_logarithms(middle, half)


def ratio_to_one(
    one: float, others: Sequence[float], level: float = LEVEL, *, of_one: bool = False
) -> IntervalEstimate | None:
    """Return the ratio of the geometric mean of several repeats to a single measurement or, with `of_one`, the inverse
    ratio.

    The single measurement is assumed to vary as the repeats do, so one more measurement would lie within the interval.
    Returns None if there are fewer than two repeats, or if a value is not above 0. There is no interval if the repeats
    do not vary.
    """
    if len(others) < 2 or not _are_known([one], others) or min(one, *others) <= 0:
        return None
    from scipy.special import stdtrit

    logs = _logs(others)
    middle = statistics.fmean(logs) - math.log(one)
    middle = -middle if of_one else middle
    spread = statistics.stdev(logs) * math.sqrt(1 + 1 / len(logs))
    half = float(stdtrit(len(logs) - 1, (1 + level) / 2)) * spread if spread else math.nan
    if not half <= math.log(WIDEST):
        half = math.nan
    return _of_logarithms(middle, half)


def _of_logarithms(middle: float, half: float) -> IntervalEstimate | None:
    """Return the ratio whose logarithm is `middle`, with an interval that extends by `half` on the logarithmic scale in
    both directions."""
    return _estimate(*(math.exp(min(end, LARGEST_EXPONENT)) for end in (middle, middle - half, middle + half)))


def repeats_until(a: Sequence[float], b: Sequence[float], half: float, level: float, most: int) -> int | None:
    """Return how many repeats b needs for a narrow interval, if b varies as before. Narrow means that the interval of
    the logarithm of b's ratio to a extends by at most `half` in both directions. Returns None if more than `most` would
    be needed, for example because a has too few repeats.
    """
    if not _vary(a, b) or min(*a, *b) <= 0 or half <= 0:
        return None
    from scipy.special import stdtrit

    fixed, own = statistics.variance(_logs(a)) / len(a), statistics.variance(_logs(b))
    for n in range(2, most + 1):
        spread = fixed + own / n
        freedom = _freedom([(fixed, len(a)), (own / n, n)])
        if spread == 0 or float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(spread) <= half:
            return n
    return None


def _of_pairs(found: SortedPairs, n: int, m: int, level: float) -> IntervalEstimate | None:
    """Return the median of the differences or ratios of all pairs, with its interval.

    From J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests" (1963). The interval contains the
    values that Mann and Whitney's test does not reject.
    """
    outside = _rejected_orders(n, m, (1 - level) / 2)
    if outside == 0:  # so few repeats reject nothing at this level
        return _estimate(found.median, math.nan, math.nan)
    return _estimate(found.median, found[outside - 1], found[-outside])


def _rejected_orders(n: int, m: int, tail: float) -> int:
    """Return how many of the lowest values of Mann and Whitney's statistic together have a probability below `tail`."""
    if tail <= 0:
        return 0
    if n * m > MOST_EXACT:
        spread = math.sqrt(n * m * (n + m + 1) / 12)
        return max(0, math.floor(n * m / 2 + statistics.NormalDist().inv_cdf(tail) * spread + 0.5))
    # The orders by their statistic are the coefficients of the Gaussian binomial of n + m over n.
    orders = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for place in range(n * m, m + i - 1, -1):
            orders[place] -= orders[place - m - i]
        for place in range(i, n * m + 1):
            orders[place] += orders[place - i]
    most, below = tail * math.comb(n + m, n), 0
    for statistic, count in enumerate(orders):
        below += count
        if below >= most:
            return statistic
    return n * m


def _logs(values: Sequence[float]) -> list[float]:
    return [math.log(value) for value in values]
