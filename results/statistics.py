"""Spread over repeats."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Confidence:
    """Throughput at one point of a ramp over its repeats: `low` to `high` is the mean's 95 % confidence interval.

    `sd` (of the sample), `cv`, `low` and `high` are None with fewer than two repeats.
    """

    experiment: str
    hardware: str
    workload: str
    threads: int
    target: float | None
    repeats: int
    mean: float
    sd: float | None
    cv: float | None
    low: float | None
    high: float | None


def t_interval(n: int, mean: float, sd: float | None, level: float = 0.95) -> tuple[float, float] | tuple[None, None]:
    """Student's interval of a mean: mean -+ t(n - 1, (1 + level) / 2) * sd / sqrt(n). None with one value."""
    if n < 2 or sd is None:
        return None, None
    from scipy.special import stdtrit  # the t quantile, without the second that scipy.stats takes to import

    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / math.sqrt(n)
    return mean - half, mean + half
