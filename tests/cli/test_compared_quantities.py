"""Numbers and settings as `bench compare` prints them."""

from __future__ import annotations

import statistics

import pytest

from benchbrief.compare_output import quantity, told_apart, told_rows
from benchbrief.results.comparison import Outcome, Quantity, Values, compare
from benchbrief.results.differences import _readable


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(48740.0, "ops/s/core", "48,740 ops/s/core"), (12.345, "ops/s/W", "12.35 ops/s/W"), (1234567.0, "1", "1,234,567")],
)
def test_a_large_metric_is_told_without_a_power_of_ten(value: float, unit: str, shown: str) -> None:
    assert quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [("8388608", "B", "8 MiB"), ("1000", "B", "1,000 B"), ("4", "cores", "4"), ("tmpfs", None, "tmpfs")],
)
def test_a_setting_that_differs_is_told_in_its_unit(value: str, unit: str | None, shown: str) -> None:
    assert _readable(value, unit) == shown


def compared(unit: str, first: tuple[float, ...], second: tuple[float, ...], *merged: float) -> Outcome:
    values = merged or tuple(statistics.fmean(each) for each in (first, second))
    sides = [Values(value, own, percentile=False) for value, own in zip(values, (first, second), strict=True)]
    return compare([Quantity("gain", unit, "higher", {(("workload", "hot"),): (sides[0], sides[1])})])


@pytest.mark.parametrize(
    ("unit", "first", "second", "change"),
    [
        ("%", (-39.0, -40.0, -39.8), (-79.0, -80.0, -79.5), "-39.9 points (-41.1 to -38.7)"),
        ("%", (-39.6,), (10.3,), "+49.9 points"),
        ("share", (0.2, 0.2), (0.3, 0.3), "+10 points (+10 to +10)"),
        ("W", (-4.0, -4.0), (2.0, 2.0), "+6 W (+6 W to +6 W)"),
        ("W", (0.0,), (2.0,), "+2 W"),
        ("W", (4.0,), (2.0,), "-50.0 %"),
    ],
)
def test_a_change_of_shares_or_below_zero_is_told_as_a_difference(
    unit: str, first: tuple[float, ...], second: tuple[float, ...], change: str
) -> None:
    (row,) = told_rows(compared(unit, first, second).comparisons)
    assert row[4] == change


def test_a_change_of_the_repeats_that_is_not_that_of_the_columns_is_told_as_such() -> None:
    apart = compared("ops/s/W", (10.0, 50.0), (20.0, 60.0), 15.0, 30.0)
    (told,) = told_apart(apart.comparisons)
    assert told.startswith("the change of gain at hot is that of the repeats' own values")
    assert not list(told_apart(compared("ops/s/W", (10.0, 50.0), (20.0, 60.0)).comparisons))
