"""Ticks of logarithmic axes, and of the offered loads of a search, at the ends of what numbers there are."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchbrief.reports.charts.chart import linear, log_ticks
from benchbrief.reports.charts.searched_points import round_rates

VALUES = {
    "one power": [10.0],
    "one value": [37.0],
    "one that rounds to a power": [0.1 + 0.2 - 0.2],
    "just below a power": [999.9999999, 1000.0],
    "just above a power": [1000.0000001],
    "all alike": [8.0, 8.0, 8.0],
    "within a decade": [2.1, 4.9],
    "two decades": [1.0, 100.0],
    "three decades": [0.5, 800.0],
    "nanoseconds to hours": [1e-9, 3600.0],
    "a hundred decades": [1e-50, 1e50],
    "the smallest": [5e-324, 1.0],
    "the largest": [1.0, 1.7976931348623157e308],
    "the smallest alone": [5e-324],
    "the largest alone": [1.7976931348623157e308],
}


@pytest.mark.parametrize("base", [2, 10])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_values_lie_between_the_ends_of_a_logarithmic_axis(values: list[float], base: int) -> None:
    ticks = log_ticks(values, base)
    assert 0 < ticks.low <= min(values) * (1 + 1e-6)
    assert max(values) * (1 - 1e-6) <= ticks.high < float("inf")
    assert 2 <= len(ticks.values) <= 10
    assert all(a < b for a, b in pairwise(ticks.values))
    assert ticks.low <= ticks.values[0]
    assert ticks.values[-1] <= ticks.high
    assert len(set(ticks.labels())) == len(ticks.values)
    place = linear((ticks.low, ticks.high), (0.0, 100.0), log=True)
    assert all(-0.1 <= place(value) <= 100.1 for value in values)


@pytest.mark.parametrize(
    ("rates", "shown"),
    [
        ([1000.0, 200_000.0], (1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5)),
        ([80.0, 100.0], (80.0, 100.0)),
        ([3.0], (3.0, 3.0)),
        ([], (1.0, 1.0)),
    ],
)
def test_the_loads_of_a_search_are_marked_at_round_numbers(rates: list[float], shown: tuple[float, ...]) -> None:
    assert round_rates(rates) == shown
