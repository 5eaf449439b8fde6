"""Tests the ticks of logarithmic axes and of a search's offered loads, even for the largest and smallest numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.charts.chart import linear, log_ticks
from benchbrief.reports.charts.searched_points import round_rates
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w

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


@pytest.mark.parametrize(("highest", "log"), [(9.0, False), (100.0, True)])
def test_curves_that_would_lie_on_a_linear_axis_have_a_logarithmic_one(highest: float, log: bool) -> None:
    def values(unit: str, first: float, last: float) -> p.Query:
        rows = f"('a', 1, {first!r}::DOUBLE), ('a', 4, {last!r}::DOUBLE)"
        return w.query(
            f"SELECT * FROM (VALUES {rows}) AS t (hardware, threads, value)",  # noqa: S608  # made-up values
            ("hardware", "threads"),
            unit,
            unit,
            [],
        )

    made = w.series(
        "curve", values("s", 1.0, highest), "p99", "threads",
        color_dim="hardware", x_query=values("ops/s", 10.0, 20.0), x_label="Throughput",
    )  # fmt: skip
    figure = w.figure("F", made, by={"threads": w.keys((1, 4)), "hardware": w.keys({"a": "A"})})
    world = w.World({"a": "A"}, {"w": "W"}, (1, 4))
    (chart,) = drawing(figure, Results(world.plan(), world.store(), words("en"))).charts
    assert chart.log_y is log
