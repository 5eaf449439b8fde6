"""Decides whether a run that ends by itself is steady. MSER-5 finds the first batches to cut off, and Student's
interval of the mean of the remaining batches has to be narrow.

The load generator decides this while it runs, and writes down the batches on which it based its decision. This module
applies the same rule, to check that the decision follows from these batches. If it does not, the run is not evidence.
Sums are whole numbers, so both programs find the same cut (`loadgen/internal/steady`). Batches after the cut are
assumed to be independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import fmean

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.measurement import Interval
from benchbrief.model.message import figure, share_figure
from benchbrief.model.plan import Event
from benchbrief.model.run_messages import say

MOST_RANGE = 0.20
MOST_TREND = 0.10

FEWEST_PHASES = 3
"""The fewest phases of a steady state. A line fits two phases exactly and adds nothing to their range, but three phases
can show whether the values drift or jump. SNIA requires five, which would leave hardly any choice in a run of six
phases.
"""

ROUNDING = 1e-9
"""The share by which values may exceed the limits, because of binary arithmetic."""

BATCH_S = 5.0
"""The length in seconds of a batch in a run that ends by itself. MSER-5 uses means of five values, here one per second.
"""

FEWEST_BATCHES = 10
"""The fewest batches that are searched for a transient. With fewer, most findings would be due to chance."""

SOONEST_S = BATCH_S * FEWEST_BATCHES

MOST_WITHIN = 0.5
"""The largest allowed `within`. A half-width of half the mean shows nothing, and a larger number probably lacks its
`%`."""


def usual_length(soonest_s: float, most_s: float) -> float:
    """Return how many seconds a measurement that ends by itself is estimated to take: the geometric mean of its
    shortest and longest time."""
    return math.sqrt(soonest_s * most_s)


BATCH = 5
"""The number of values in a batch, by K. P. White's MSER-5."""
_FEWEST_LEFT = 5
"""The fewest batches that must remain after a cut. With fewer, the error of their mean can be small by chance."""
NOTED_SHARE = 0.10
"""The share of the window above which a transient is noted, if its bias is also large."""
NOTED_BIAS = 0.02
"""The bias, as a share of the mean throughput, above which a transient is noted."""


@dataclass(frozen=True)
class Transient:
    """An unsteady beginning that takes `seconds` out of `window_s`. Without it, the mean throughput is higher by the
    share `bias`."""

    seconds: float
    window_s: float
    bias: float

    @property
    def noted(self) -> bool:
        return self.seconds > NOTED_SHARE * self.window_s and abs(self.bias) > NOTED_BIAS

    def warning(self, remedy: str) -> str:
        """Return a warning on one line. `remedy` is its next step."""
        seconds, window = figure(self.seconds, ".0f"), figure(self.window_s, ".0f")
        unsteady = say.unsteady_higher if self.bias > 0 else say.unsteady_lower
        return unsteady(seconds=seconds, window=window, share=share_figure(abs(self.bias)), what=remedy)


def find_transient(intervals: Sequence[Interval]) -> Transient | None:
    """Return the transient at the beginning, or None if there are fewer than ten batches or it reaches into the second
    half."""
    lasting = [each for each in intervals if each.seconds > 0]
    batches = [lasting[i : i + BATCH] for i in range(0, len(lasting) - BATCH + 1, BATCH)]
    if len(batches) < FEWEST_BATCHES:
        return None
    rates = [_rate(batch) for batch in batches]
    errors = _marginal_errors(rates)[: len(rates) - _FEWEST_LEFT + 1]
    cut = errors.index(min(errors))
    rest = _rate([each for batch in batches[cut:] for each in batch])
    whole = _rate(lasting)
    if cut > len(rates) / 2 or whole <= 0:
        return None
    window_s = sum(each.seconds for each in lasting)
    return Transient(sum(each.seconds for batch in batches[:cut] for each in batch), window_s, rest / whole - 1)


def _marginal_errors(rates: Sequence[float]) -> list[float]:
    """Return White's statistic for each possible cut. It is the sum of the squared deviations of the values after the
    cut from their mean, divided by the square of the number of these values.

    The sums run from the end, which takes only linear time; a day has thousands of batches. Values are taken relative
    to the mean of all values, so that no digits are lost.
    """
    middle = fmean(rates)
    errors, total, squares = [], 0.0, 0.0
    for count, rate in enumerate(reversed(rates), start=1):
        total += rate - middle
        squares += (rate - middle) ** 2
        errors.append(max(0.0, squares - total * total / count) / count**2)
    return errors[::-1]


def _rate(intervals: Sequence[Interval]) -> float:
    return sum(each.count for each in intervals) / sum(each.seconds for each in intervals)


ROUNDS = 5


@dataclass(frozen=True)
class Steadiness:
    """The steadiness of a window, which is divided into rounds of equal length. `range` is the range of the rounds'
    throughputs, and `trend` is the rise or fall of a line fitted to them, both as shares of the mean."""

    range: float
    trend: float

    @property
    def steady(self) -> bool:
        slack = 1 + ROUNDING
        return self.range <= MOST_RANGE * slack and self.trend <= MOST_TREND * slack

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self.steady else (say.unsteady_snia(),)

    @property
    def properties(self) -> dict[str, str]:
        said = say.steady_numbers(
            spread=share_figure(self.range, 1),
            trend=share_figure(self.trend, 1),
            n=ROUNDS,
            most_range=share_figure(MOST_RANGE),
            most_trend=share_figure(MOST_TREND),
        )
        return {"steady state": said}


def steadiness(intervals: Sequence[Interval]) -> Steadiness | None:
    """Compute the steadiness, or return None if fewer than five intervals have a length, or if no operations
    were done."""
    intervals = [each for each in intervals if each.seconds > 0]
    if len(intervals) < ROUNDS:
        return None
    cuts = [round(i * len(intervals) / ROUNDS) for i in range(ROUNDS + 1)]
    rates = [_rate(intervals[a:b]) for a, b in pairwise(cuts)]
    mean = sum(rates) / ROUNDS
    if mean <= 0:
        return None
    middle = (ROUNDS - 1) / 2
    slope = sum((i - middle) * rate for i, rate in enumerate(rates)) / sum((i - middle) ** 2 for i in range(ROUNDS))
    return Steadiness((max(rates) - min(rates)) / mean, abs(slope) * (ROUNDS - 1) / mean)


def before_first(events: Sequence[Event], intervals: Sequence[Interval]) -> Sequence[Interval]:
    """Return the intervals that end before a measurement's first event, since its effect does not count as
    unsteadiness."""
    until_s = min((event.at_s for event in events), default=math.inf)
    return [each for each in intervals if each.start_s + each.seconds <= until_s]


def judge_window(
    intervals: Sequence[Interval], remedy: str, events: Sequence[Event] = ()
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Judge a measured window, up to its first event, by the rule for steady rounds and the rule for transients. Return
    the warnings, and the numbers behind them as properties.

    `remedy` is the advice against a transient at the beginning.
    """
    intervals = before_first(events, intervals)
    warnings: tuple[str, ...] = ()
    properties: dict[str, str] = {}
    if steady := steadiness(intervals):
        warnings, properties = steady.warnings, steady.properties
    if beginning := find_transient(intervals):
        warnings += (beginning.warning(remedy),) if beginning.noted else ()
        seconds, window = figure(beginning.seconds, ".0f"), figure(beginning.window_s, ".0f")
        noted = beginning.noted
        properties |= {
            "transient": say.transient_seconds(seconds=seconds, window=window) if noted else say.transient_none()
        }
    return warnings, properties


_Z = 1.959963984540054


@dataclass(frozen=True)
class SteadyMean:
    """The mean of batches, and half the width of its 95 % interval, as a share of the mean."""

    mean: float
    half_width: float
    autocorrelation: float


def cut_of(values: Sequence[int]) -> int:
    """Return how many values at the beginning are a transient, by MSER. On a tie, the smallest number is returned."""
    least, cut = (0, 0), -1
    count = total = squares = 0
    for at in range(len(values) - 1, -1, -1):
        count, total, squares = count + 1, total + values[at], squares + values[at] ** 2
        error = count * squares - total**2, count**3
        if count >= _FEWEST_LEFT and (cut < 0 or error[0] * least[1] <= least[0] * error[1]):
            least, cut = error, at
    return max(0, cut)


def estimate(values: Sequence[int]) -> SteadyMean | None:
    """Return the mean of batches and its interval, or None if the mean is not positive."""
    count, total = len(values), sum(values)
    if total <= 0:
        return None
    spread = count * sum(value**2 for value in values) - total**2
    half = _student(count - 1) * sqrt(spread / (count - 1)) / total
    products = sum((count * a - total) * (count * b - total) for a, b in pairwise(values))
    return SteadyMean(total / count, half, products / (count * spread) if spread else 0.0)


@dataclass(frozen=True)
class SteadyVerdict:
    """The result of a look at the batches. `cut` is None if the transient reaches into the second half. `estimates` has
    the mean of each series after the cut.

    `idle` means that nothing succeeded in one of the batches.
    """

    cut: int | None
    estimates: tuple[SteadyMean | None, ...] = ()
    idle: bool = False

    def steady(self, within: float) -> bool:
        """Return whether half the width of each mean's interval is at most this share of the mean."""
        known = all(each and each.half_width <= within for each in self.estimates)
        return self.cut is not None and not self.idle and known


def judge_batches(completed: Sequence[int], latency: Sequence[int] | None) -> SteadyVerdict:
    """Judge the batches so far. `latency` is None if only the throughput has to be steady."""
    series = [completed] if latency is None else [completed, latency]
    if len(completed) < FEWEST_BATCHES:
        return SteadyVerdict(None)
    cut = max(cut_of(values) for values in series)
    if 2 * cut > len(completed):
        return SteadyVerdict(None)
    return SteadyVerdict(cut, tuple(estimate(values[cut:]) for values in series), idle=not all(completed[cut:]))


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t by Fisher's expansion, as the load generator does. With 4 degrees of
    freedom, it is 0.03 % too low."""
    z2 = _Z * _Z
    series = (
        _Z,
        _Z * (z2 + 1) / 4,
        _Z * ((5 * z2 + 16) * z2 + 3) / 96,
        _Z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
        _Z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
    )
    t = 0.0
    for part in reversed(series):
        t = t / freedom + part
    return t
