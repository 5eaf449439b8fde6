"""How much of a measured window is a transient: MSER-5 over the tool's own intervals.

The rule is that of K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output"
(Simulation 69, 1997), with batches of five. Among all beginnings that could be cut off, it takes the one after
which the marginal standard error of the rest's mean is least. A beginning that reaches into the second half is not
accepted: the series is then too short.

It is a dozen lines of arithmetic. Change-point libraries answer other questions (how many levels, at a penalty that
has to be chosen), and cost a second to import.

There is always a least error, even when nothing changes. In simulated steady series of one to two minutes it lay
more than a tenth into the window in a sixth to a third of the cases. So a transient is reported only when it also
matters: when the mean differs without it. Both limits are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.runners.measurement.measurement import Interval
from benchbrief.runners.messages.run_messages import say

BATCH = 5
FEWEST_BATCHES = 10
"""With fewer batches, the rule mostly finds beginnings by chance."""
_FEWEST_LEFT = 5
"""With fewer batches, the error of a mean is small by chance."""
NOTED_SHARE = 0.10
"""As a share of the window."""
NOTED_BIAS = 0.02
"""As a share of the mean throughput."""


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
        """Return a warning on one line; `remedy` is its next step."""
        seconds, window = figure(self.seconds, ".0f"), figure(self.window_s, ".0f")
        unsteady = say.unsteady_higher if self.bias > 0 else say.unsteady_lower
        return unsteady(seconds=seconds, window=window, share=share_figure(abs(self.bias)), what=remedy)


def find_transient(intervals: Sequence[Interval]) -> Transient | None:
    """Return the transient; None for fewer than ten batches, and for a beginning that reaches into the second half."""
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
    """Return White's statistic for each beginning: the rest's sum of squares about its mean, over its length
    squared.

    Summed from the end, as a day has thousands of batches. About the mean of all, so that no digits are lost.
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
