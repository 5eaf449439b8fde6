"""Latency histograms, which are merged by adding counts and read by interpolating inside one bucket.

A percentile is never an average of percentiles: histograms of several clients, phases or repeats are merged first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from benchbrief.model.measurement import Bucket, Histogram

US_PER_S = 1_000_000
"""The microseconds in a second, which `from_counts` needs for a tool that reports microseconds."""


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """Merge histograms into one. Raises ValueError if their buckets overlap without being equal."""
    counts: Counter[tuple[float, float]] = Counter()
    for histogram in histograms:
        for bucket in histogram.buckets:
            counts[bucket.lo, bucket.hi] += bucket.count
    return _of_seconds(counts.items())


def from_counts(counts: Iterable[tuple[tuple[int, int], int]], per_s: int) -> Histogram:
    """Make a histogram from ((lo, hi), count) pairs, leaving out empty buckets. Raises ValueError if buckets overlap.

    `lo` and `hi` are in the tool's unit. A second has `per_s` of these units. In whole units, a bucket ends exactly
    where the next one begins. In floating-point seconds, 1 ms + 8 ms is more than 9 ms, so the buckets would overlap.
    """
    return _of_seconds(((lo / per_s, hi / per_s), count) for (lo, hi), count in counts)


def _of_seconds(counts: Iterable[tuple[tuple[float, float], int]]) -> Histogram:
    buckets = tuple(Bucket(lo, hi, count) for (lo, hi), count in sorted(counts) if count)
    for bucket in buckets:
        if not 0 <= bucket.lo < bucket.hi or bucket.count < 0:
            raise ValueError(f"not a bucket: {bucket}")
    for left, right in pairwise(buckets):
        if right.lo < left.hi:
            raise ValueError(f"buckets overlap: [{left.lo}, {left.hi}) and [{right.lo}, {right.hi})")
    return Histogram(buckets)


def scaled(histogram: Histogram, factor: float) -> Histogram:
    """Multiply all latencies by a factor, to convert from another unit."""
    if factor == 1:
        return histogram
    return Histogram(tuple(Bucket(b.lo * factor, b.hi * factor, b.count) for b in histogram.buckets))


def percentile(histogram: Histogram, percent: float) -> float:
    """Return a percentile (`percent` from 0 to 100) of the latencies, in seconds.

    Latencies are assumed to be evenly spread over their bucket. With n operations, the value lies in the bucket with
    rank percent/100 * n, at the fraction (rank - operations below the bucket) / (operations in it) of the bucket's
    width. This is RocksDB's rule (HistogramStat::Percentile, monitoring/histogram.cc); HdrHistogram returns the
    bucket's upper end. Each rule is off by at most one bucket's width: 0.1 % of the value for YCSB's histograms, about
    50 % for db_bench's. Raises ValueError for an empty histogram or a percentage outside 0 to 100.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"a percentile is from 0 to 100, not {percent}")
    if not histogram.buckets:
        raise ValueError("an empty histogram has no percentiles")
    rank = percent / 100 * histogram.count
    below = 0
    for bucket in histogram.buckets:
        if below + bucket.count >= rank:
            return bucket.lo + (bucket.hi - bucket.lo) * max(0.0, rank - below) / bucket.count
        below += bucket.count
    return histogram.buckets[-1].hi


def mean(histogram: Histogram) -> float:
    """Return the mean in seconds, placing each latency in the middle of its bucket (as HdrHistogram's getMean does)."""
    if not histogram.buckets:
        raise ValueError("an empty histogram has no mean")
    return sum((b.lo + b.hi) / 2 * b.count for b in histogram.buckets) / histogram.count
