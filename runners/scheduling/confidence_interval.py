"""Computes Student's confidence interval of a mean."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchbrief.model.budgets import LEVEL

LARGEST = 1e150
"""The largest value that can be used, since the square of a larger one is not a finite float. Comparing with it also
excludes NaN."""


def t_interval(n: int, mean: float, sd: float | None, level: float = LEVEL) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of a mean: mean -+ t(n - 1, (1 + level) / 2) * sd / sqrt(n).

    Both ends are None if there are fewer than two values, or if an end is not finite.
    """
    if n < 2 or sd is None:
        return None, None
    from scipy.special import stdtrit  # the t quantile, without the second that importing scipy.stats takes

    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / math.sqrt(n)
    low, high = mean - half, mean + half
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (None, None)


def mean_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of the mean of these values: see `t_interval`. Both ends are also None if a value is too
    large or is NaN."""
    if len(values) < 2 or not all(abs(value) <= LARGEST for value in values):
        return None, None
    return t_interval(len(values), statistics.fmean(values), statistics.stdev(values), level)


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Return half the width of the mean's interval as a share of the mean, or None if there is no interval or the mean
    is not above 0."""
    low, high = mean_interval(values, level)
    mean = statistics.fmean(values) if low is not None else 0.0
    return (high - low) / 2 / mean if low is not None and high is not None and mean > 0 else None
