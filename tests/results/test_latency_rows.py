"""Tests the joint latency statistics of several distributions."""

from __future__ import annotations

import pytest

from benchbrief.model.measurement import Operation
from benchbrief.results.ingest.latency_rows import Statistic, statistics
from tests.results.making import histogram


def of(*distributions: Operation) -> dict[str, Statistic]:
    return {each.name: each for each in statistics(distributions)}


FAST = Operation(
    "read", 300, mean_s=0.001, min_s=0.0005, max_s=0.0019, histogram=histogram((0.0, 0.001, 150), (0.001, 0.002, 150))
)
SLOW = Operation("read", 100, mean_s=0.005, min_s=0.0042, max_s=0.0059, histogram=histogram((0.004, 0.006, 100)))


def test_the_mean_is_weighted_and_minimum_and_maximum_are_of_all() -> None:
    found = of(FAST, SLOW, Operation("read", 0))
    assert found["mean"].value_s == pytest.approx(0.002)
    assert (found["min"].value_s, found["max"].value_s) == (0.0005, 0.0059)


def test_percentiles_are_of_the_merged_histograms_and_within_what_was_seen() -> None:
    found = of(FAST, SLOW)
    assert found["p75"] == Statistic("p75", 0.002, "histogram")
    assert found["p50"].value_s == pytest.approx(0.001 + 0.001 * 50 / 150)
    assert found["p99.99"].value_s == 0.0059, "not above the largest latency"
    low = Operation("read", 100, min_s=0.0009, max_s=0.001, histogram=histogram((0.0, 0.001, 100)))
    assert of(low)["p50"].value_s == 0.0009, "not below the smallest latency"


def test_a_statistic_that_one_distribution_lacks_has_no_value_and_a_reason() -> None:
    found = of(FAST, Operation("read", 100, min_s=0.0042, max_s=0.0059, histogram=SLOW.histogram))
    assert (found["mean"].value_s, found["mean"].reason) == (None, "the tool gave no mean")
    assert found["min"].value_s == 0.0005


def test_a_distribution_without_a_histogram_is_in_no_percentile_of_several() -> None:
    printed = Operation("read", 100, mean_s=0.005, printed=((99.0, 0.006),))
    assert of(printed)["p99"] == Statistic("p99", 0.006, "printed")
    assert of(printed)["p50"].reason == "not printed"
    assert of(Operation("read", 100))["p99"].reason == "the tool gave no histogram"
    for several in ((FAST, printed), (printed, printed)):
        assert (of(*several)["p99"].value_s, of(*several)["p99"].reason) == (
            None,
            "printed percentiles can't be merged",
        )


def test_without_a_success_there_is_a_reason() -> None:
    assert {each.reason for each in statistics([Operation("read", 0, errors=3)])} == {"no successful operation"}
