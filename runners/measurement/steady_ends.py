"""When a run that ends by itself is steady: MSER-5 over its batches, and Student's interval of the mean of the rest.

The load generator decides while it runs, and writes down the batches that it decided from. This is the same rule: a
decision that doesn't follow from its own batches is no evidence. Sums are whole numbers, so both find the same cut
(`loadgen/internal/steady`). Batches after the cut are taken as independent of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from benchbrief.compiler.planning.steady_rule import FEWEST_BATCHES

_FEWEST_LEFT = 5
_Z = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """The mean of batches, and half the width of its 95 % interval as a share of it."""

    mean: float
    half_width: float
    autocorrelation: float


def cut_of(values: Sequence[int]) -> int:
    """Return how many values are a transient by MSER: of beginnings that are as good, the shortest."""
    least, cut = (0, 0), -1
    count = total = squares = 0
    for at in range(len(values) - 1, -1, -1):
        count, total, squares = count + 1, total + values[at], squares + values[at] ** 2
        error = count * squares - total**2, count**3
        if count >= _FEWEST_LEFT and (cut < 0 or error[0] * least[1] <= least[0] * error[1]):
            least, cut = error, at
    return max(0, cut)


def estimate(values: Sequence[int]) -> Estimate | None:
    """Return None where there is no mean to compare with."""
    count, total = len(values), sum(values)
    if total <= 0:
        return None
    spread = count * sum(value**2 for value in values) - total**2
    half = _student(count - 1) * sqrt(spread / (count - 1)) / total
    products = sum((count * a - total) * (count * b - total) for a, b in pairwise(values))
    return Estimate(total / count, half, products / (count * spread) if spread else 0.0)


@dataclass(frozen=True)
class Verdict:
    """`cut` is None where the transient reaches into the second half. `estimates` are of each series, after the cut.

    `idle`: nothing succeeded in one of the batches.
    """

    cut: int | None
    estimates: tuple[Estimate | None, ...] = ()
    idle: bool = False

    def steady(self, within: float) -> bool:
        """Return whether each mean is known within a share of it."""
        known = all(each and each.half_width <= within for each in self.estimates)
        return self.cut is not None and not self.idle and known


def judge_batches(completed: Sequence[int], latency: Sequence[int] | None) -> Verdict:
    """Return what a look at these batches finds; `latency` only where it has to be steady, too."""
    series = [completed] if latency is None else [completed, latency]
    if len(completed) < FEWEST_BATCHES:
        return Verdict(None)
    cut = max(cut_of(values) for values in series)
    if 2 * cut > len(completed):
        return Verdict(None)
    return Verdict(cut, tuple(estimate(values[cut:]) for values in series), idle=not all(completed[cut:]))


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t by Fisher's expansion, as the load generator does: 0.03 % low at 4."""
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
