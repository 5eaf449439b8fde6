"""Student's confidence interval of a mean."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchbrief.compiler.planning.budgets import LEVEL


def t_interval(n: int, mean: float, sd: float | None, level: float = LEVEL) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of a mean: mean -+ t(n - 1, (1 + level) / 2) * sd / sqrt(n). None with one value."""
    if n < 2 or sd is None:
        return None, None
    from scipy.special import stdtrit  # the t quantile, without the second that importing scipy.stats takes

    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / math.sqrt(n)
    return mean - half, mean + half


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Return half the width of the mean's interval as a share of the mean; None with one value, or a mean of 0."""
    mean = statistics.fmean(values) if values else 0.0
    low, high = t_interval(len(values), mean, statistics.stdev(values) if len(values) > 1 else None, level)
    return (high - low) / 2 / mean if low is not None and high is not None and mean > 0 else None
