"""Latency histograms: make them from counts, merge and read them. `from benchbrief.extend import histograms`."""

from benchbrief.model.histogram import US_PER_S, from_counts, mean, merge, percentile, scaled

__all__ = ["US_PER_S", "from_counts", "mean", "merge", "percentile", "scaled"]
