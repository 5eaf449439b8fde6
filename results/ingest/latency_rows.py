"""Computes latency statistics of one or more distributions. Distributions are merged by their buckets, never
averaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.histogram import merge, percentile
from benchbrief.model.measurement import Histogram, Operation
from benchbrief.results.result_messages import say

PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)


@dataclass(frozen=True)
class Statistic:
    """A latency statistic. `origin` is histogram, printed (a percentile that the tool printed), or tool (the tool's own
    mean, min or max)."""

    name: str
    value_s: float | None
    origin: Literal["histogram", "printed", "tool"]
    reason: str | None = None


def percentile_name(percent: float) -> str:
    """Convert 99.9 to p99.9."""
    return f"p{percent:g}"


def statistics(distributions: Sequence[Operation]) -> list[Statistic]:
    """Return the joint statistics of several distributions from different sources or repeats, all of one operation and
    kind of latency.

    The mean is weighted by count. Percentiles come from merged histograms. For a single distribution without a
    histogram, they are the percentiles that the tool printed.
    """
    some = [d for d in distributions if d.count > 0]
    if not some:
        return [Statistic(name, None, "tool", say.no_successful()) for name in ("mean", "min", "max")]
    return [*_moments(some), *_percentiles(some)]


def _moments(some: Sequence[Operation]) -> list[Statistic]:
    means = [(d.mean_s, d.count) for d in some if d.mean_s is not None]
    lows = [d.min_s for d in some if d.min_s is not None]
    highs = [d.max_s for d in some if d.max_s is not None]
    count = sum(d.count for d in some)

    def known(name: str, values: Sequence[object], value: float | None) -> Statistic:
        if len(values) == len(some):
            return Statistic(name, value, "tool")
        return Statistic(name, None, "tool", say.gave_no(statistic=name))

    return [
        known("mean", means, sum(mean * n for mean, n in means) / count),
        known("min", lows, min(lows, default=None)),
        known("max", highs, max(highs, default=None)),
    ]


def _percentiles(some: Sequence[Operation]) -> list[Statistic]:
    histograms = [d.histogram for d in some if d.histogram is not None and d.histogram.count > 0]
    if len(histograms) == len(some):
        return _of_histogram(histograms, some)
    printed = [dict(d.printed) for d in some]
    missing = say.not_printed() if any(printed) else say.gave_no_histogram()
    if len(some) == 1:
        return [
            Statistic(percentile_name(p), printed[0].get(p), "printed", None if p in printed[0] else missing)
            for p in sorted({*PERCENTILES, *printed[0]})
        ]
    reported = {p for each in printed for p in each}
    reasons = {p: say.unmergeable() if p in reported or len(histograms) > 0 else missing for p in PERCENTILES}
    return [Statistic(percentile_name(p), None, "printed", reasons[p]) for p in PERCENTILES]


def _of_histogram(histograms: Sequence[Histogram], some: Sequence[Operation]) -> list[Statistic]:
    """Return the merged percentiles. If the tool prints the smallest and the largest latency, no percentile is outside
    of these."""
    try:
        merged = histograms[0] if len(histograms) == 1 else merge(histograms)
    except ValueError as error:
        return [Statistic(percentile_name(p), None, "histogram", say.not_merged(said=error)) for p in PERCENTILES]
    lows = [d.min_s for d in some if d.min_s is not None]
    highs = [d.max_s for d in some if d.max_s is not None]
    low = min(lows) if len(lows) == len(some) else 0.0
    high = max(highs) if len(highs) == len(some) else math.inf
    return [Statistic(percentile_name(p), min(max(percentile(merged, p), low), high), "histogram") for p in PERCENTILES]
