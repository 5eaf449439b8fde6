"""Tests MSER-5, which finds how much of a measured window is a transient."""

from __future__ import annotations

import time

import numpy as np
import pytest

from benchbrief.model.measurement import Interval
from benchbrief.model.run_messages import say
from benchbrief.model.steadiness import BATCH, find_transient, judge_window


def seconds(counts: np.ndarray | list[float]) -> tuple[Interval, ...]:
    return tuple(Interval(float(at), 1.0, round(count)) for at, count in enumerate(counts))


def steady(length: int, seed: int, noise: float = 0.03) -> np.ndarray:
    return np.random.default_rng(seed).normal(10_000, 10_000 * noise, length)


def white(series: np.ndarray) -> int:
    """Return how many batches to leave out by White's rule, implemented a second time with numpy."""
    batches = series[: len(series) // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    errors = [np.var(batches[cut:]) / len(batches[cut:]) for cut in range(len(batches) - 4)]
    return int(np.argmin(errors))


@pytest.mark.parametrize("seed", range(20))
def test_the_beginning_that_is_left_out_is_whites(seed: int) -> None:
    series = np.rint(steady(60 + 7 * seed, seed))
    series[: 3 * seed] *= 0.8
    series = np.rint(series)
    cut, found = white(series), find_transient(seconds(series))
    if cut > len(series) // BATCH / 2:
        assert found is None
    else:
        assert found
        assert found.seconds == cut * BATCH


@pytest.mark.parametrize(("slow_s", "depth"), [(15, 0.6), (20, 0.8), (25, 1.3)])
def test_a_slow_or_fast_beginning_is_reported_with_its_length_and_what_it_does_to_the_mean(
    slow_s: int, depth: float
) -> None:
    series = steady(100, 1, 0.005)
    series[:slow_s] *= depth
    found = find_transient(seconds(series))
    assert found
    assert found.noted
    assert slow_s <= found.seconds == white(np.rint(series)) * BATCH
    assert found.bias == pytest.approx(series[slow_s:].mean() / series.mean() - 1, abs=0.01)
    warnings, properties = judge_window(seconds(series), say.remedy_warm_up())
    than = "higher" if depth < 1 else "lower"
    (warning,) = [text for text in warnings if "MSER-5" in text]
    assert warning == (
        f"the first {found.seconds:.0f} s of 100 s are not steady by MSER-5, and without them the throughput would be "
        f"{100 * abs(found.bias):.0f} % {than}: lengthen `warm_up`"
    )
    assert properties["transient"] == f"{found.seconds:.0f} s of 100 s (MSER-5)"


def test_a_steady_series_is_rarely_noted() -> None:
    """The rule finds a transient in many of these series, but those transients do not change the mean."""
    noted = [found.noted for seed in range(300) if (found := find_transient(seconds(steady(60, seed, 0.05))))]
    assert len(noted) > 200
    assert sum(noted) <= 3


def test_a_beginning_in_the_second_half_is_not_accepted() -> None:
    series = np.full(100, 10_000.0)
    series[:70] = np.repeat([5_000.0, 15_000.0], BATCH).tolist() * 7
    assert white(series) * BATCH > 50
    assert find_transient(seconds(series)) is None


@pytest.mark.parametrize("length", [0, 5, 49])
def test_a_short_series_does_not_tell(length: int) -> None:
    assert find_transient(seconds([100.0] * length)) is None
    assert "transient" not in judge_window(seconds([100.0] * length), say.remedy_warm_up())[1]


def test_a_series_of_a_day_is_judged_at_once() -> None:
    day = seconds(np.r_[steady(7_200, 1) * 0.5, steady(79_200, 2)])
    began = time.process_time()
    found = find_transient(day)
    assert time.process_time() - began < 2
    assert found is not None
    assert not found.noted, "two hours are less than a tenth of it"
    assert 7_200 <= found.seconds < 8_000


def test_a_series_without_operations_does_not_tell() -> None:
    assert find_transient(seconds([0.0] * 60)) is None


def test_rates_count_and_not_the_lengths_of_intervals() -> None:
    intervals = tuple(Interval(at * 2.0, 2.0 if at else 1.0, 200 if at else 100) for at in range(60))
    found = find_transient(intervals)
    assert found
    assert (found.seconds, found.bias) == (0, 0)


def test_half_of_the_shortest_series_may_be_a_transient() -> None:
    """At least ten batches are needed. Of ten, five may be left out, so that five remain."""
    found = find_transient(seconds([5_000.0] * 25 + [10_000.0] * 25))
    assert found
    assert (found.seconds, found.window_s) == (25, 50)


def test_intervals_without_time_are_left_out() -> None:
    series = seconds([5_000.0] * 20 + [10_000.0] * 60)
    empty = (Interval(20.0, 0.0, 0),) * BATCH
    assert find_transient((*series[:20], *empty, *series[20:])) == find_transient(series)


def test_small_changes_of_a_large_throughput_are_seen() -> None:
    series = np.array([1e9 - 6 if at < 25 else 1e9 + at % 2 for at in range(100)])
    found = find_transient(seconds(series))
    assert found
    assert found.seconds == white(series) * BATCH == 25
