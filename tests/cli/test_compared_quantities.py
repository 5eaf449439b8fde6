"""Numbers and settings as `bench compare` prints them."""

from __future__ import annotations

import pytest

from benchbrief.compare_output import quantity
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
