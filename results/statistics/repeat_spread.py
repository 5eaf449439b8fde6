"""Spread over repeats."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.runners.measurement.confidence_interval import t_interval

__all__ = ["Confidence", "t_interval"]


@dataclass(frozen=True)
class Confidence:
    """Throughput at one point of a ramp over its repeats: `low` to `high` is the mean's confidence interval, of
    the store's level.

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
