"""Tests whether a measurement that ends by itself was steady: the reader of records and the load generator agree."""

import json
from typing import Any

import pytest
from scipy.special import stdtrit

from benchbrief.model.steadiness import FEWEST_BATCHES, cut_of, estimate, judge_batches
from tests.support.tools import REPOSITORY

VERDICTS = json.loads((REPOSITORY / "loadgen/internal/steady/testdata/verdicts.json").read_text())
"""The file with the verdicts. `loadgen/internal/steady` is tested with this file, too."""


@pytest.mark.parametrize("case", VERDICTS, ids=lambda case: f"{case['name']}, {case['judges_latency']}")
def test_both_find_the_same(case: dict[str, Any]) -> None:
    found = judge_batches(case["completed"], case["latency"] if case["judges_latency"] else None)
    assert found.cut == (None if case["cut"] < 0 else case["cut"])
    assert [found.steady(within) for within in (0.001, 0.02, 0.5)] == case["steady"]
    estimates = [each and pytest.approx([each.mean, each.half_width, each.autocorrelation]) for each in found.estimates]
    assert case["estimates"] == estimates


def test_the_verdicts_are_of_all_kinds() -> None:
    assert {case["judges_latency"] for case in VERDICTS} == {True, False}
    assert {tuple(case["steady"]) for case in VERDICTS} >= {(False,) * 3, (False, False, True), (True,) * 3}
    assert min(len(case["completed"]) for case in VERDICTS) < FEWEST_BATCHES


@pytest.mark.parametrize("count", [5, 10, 30, 400])
def test_the_interval_is_students(count: int) -> None:
    values = [1000 + 10 * (-1) ** number * (number % 3) for number in range(count)]
    mean = sum(values) / count
    deviation = (sum((value - mean) ** 2 for value in values) / (count - 1)) ** 0.5
    half = float(stdtrit(count - 1, 0.975)) * deviation / count**0.5 / mean
    found = estimate(values)
    assert found
    assert found.mean == pytest.approx(mean)
    assert found.half_width == pytest.approx(half, rel=4e-4)


def test_of_beginnings_that_are_as_good_the_shortest_is_cut() -> None:
    assert cut_of([7] * 20) == 0
    assert cut_of([1, 2]) == 0
