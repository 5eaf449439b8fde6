"""Tests latencies in buckets: all of them are counted, and have the mean and the percentiles of their distribution."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchbrief.model import histogram as h
from benchbrief.model.measurement import Bucket, Histogram
from benchbrief.runners.world.load_model import PER_DECADE, LatencyMix, edge

WIDTH = 10 ** (1 / PER_DECADE)
TIMES = st.floats(10e-6, 0.1)


def histogram(latencies: LatencyMix, number: int) -> Histogram:
    return Histogram(tuple(Bucket(edge(i), edge(i + 1), count) for i, count in latencies.counts(number)))


@settings(max_examples=60, deadline=None)
@given(TIMES, TIMES, st.floats(0, 0.01), st.floats(0, 30), st.floats(0, 30), st.integers(1, 10**9))
def test_every_latency_is_counted(
    first: float, second: float, fixed: float, lag: float, more: float, number: int
) -> None:
    found = histogram(LatencyMix(first, second, fixed, lag, lag + more), number)
    assert found.count == number


@settings(max_examples=60, deadline=None)
@given(TIMES, TIMES, st.floats(0, 0.01), st.sampled_from([0.0, 1.0, 20.0]))
def test_the_mean_of_the_buckets_is_that_of_the_distribution(
    first: float, second: float, fixed: float, lag: float
) -> None:
    latencies = LatencyMix(first, second, fixed, lag, 3 * lag)
    # A bucket says no more than that its latencies are between its edges.
    assert h.mean(histogram(latencies, 10**8)) == pytest.approx(latencies.mean_s, rel=max(0.03, (WIDTH - 1) / 2))


@pytest.mark.parametrize("percent", [10, 50, 90, 99, 99.9])
def test_percentiles_of_a_single_station_are_those_of_the_exponential_distribution(percent: float) -> None:
    exact = -1e-3 * math.log(1 - percent / 100)
    found = h.percentile(histogram(LatencyMix(1e-3, 0.0, 0.0), 10**8), percent)
    assert exact / WIDTH <= found <= exact * WIDTH


@pytest.mark.parametrize("second", [1e-3, 0.9999e-3, 1e-12])
def test_two_alike_stations_and_one_that_takes_no_time_are_no_edge(second: float) -> None:
    shares = [LatencyMix(1e-3, second, 0.0).share_below(i * 1e-4) for i in range(100)]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.99 < shares[-1] <= 1.0
