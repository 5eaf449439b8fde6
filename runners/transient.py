"""How much of a measured window is a transient: MSER-5 over the tool's own intervals.

The rule is that of K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output"
(Simulation 69, 1997), with batches of five: among all beginnings that could be left out, the one is taken without which
the marginal standard error of the mean of the rest is least. One in the second half is not accepted: the series is then
too short to tell.

It is a dozen lines of arithmetic: change-point libraries find other things (how many levels, at a penalty that has to
be chosen), and cost a second to import.

A least there is always, also where nothing changes. In simulated steady series of one to two minutes it lay more than a
tenth into the window in a sixth to a third of the cases. So a transient is told only where it also matters: where the
mean is another one without it. Both limits are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchbrief.runners.measurement import Interval

BATCH = 5
FEWEST_BATCHES = 10
"""Of fewer, the rule finds beginnings by chance more often than not."""
_FEWEST_LEFT = 5
"""The error of a mean of fewer batches is small by chance."""
NOTED_SHARE = 0.10
"""Of the window."""
NOTED_BIAS = 0.02
"""Of the mean throughput."""


@dataclass(frozen=True)
class Transient:
    """The first `seconds` of `window_s` are not steady; without them the mean throughput is `bias` higher (a share)."""

    seconds: float
    window_s: float
    bias: float

    @property
    def noted(self) -> bool:
        return self.seconds > NOTED_SHARE * self.window_s and abs(self.bias) > NOTED_BIAS

    def warning(self, remedy: str) -> str:
        """One line; `remedy` is what to do about it."""
        than = "higher" if self.bias > 0 else "lower"
        return (
            f"the first {self.seconds:.0f} s of {self.window_s:.0f} s are not steady by MSER-5, and without them the "
            f"throughput would be {abs(self.bias):.0%} {than}: {remedy}"
        )


def transient(intervals: Sequence[Interval]) -> Transient | None:
    """None where the rule does not tell: of fewer than ten batches, and with a beginning in the second half."""
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
    """White's statistic for each beginning left out: the rest's sum of squares about its mean, by its length twice.

    Summed from the end, as a day has thousands of batches; about the mean of all, so that no digits are lost.
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
