"""Verdicts of comparisons, from repeats made for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.results.comparison import Comparison, Point, Quantity, Values, compare, compare_all
from benchbrief.results.contenders import Contender, quantities
from benchbrief.results.store import open_store
from benchbrief.runners.measurement import Operation
from tests.results.making import RunMaker, a_cell, a_plan, histogram, measurement

Points = dict[Point, tuple[Values | None, Values | None]]

STRAGGLER = (5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7, 5.8, 800.0)
STEADY = tuple(10 + n / 10 for n in range(10))


def values(*repeats: float, merged: float | None = None, of: str = "") -> Values:
    mean = sum(repeats) / len(repeats) if merged is None else merged
    return Values(mean, repeats, merged is not None, measurements=frozenset({of}) if of else frozenset())


def judged(first: Values, second: Values, **more: float) -> Comparison:
    quantity = Quantity("latency.p99[read]", "s", "lower", {(("threads", 1),): (first, second)})
    (row,) = compare([quantity], **more).comparisons
    return row


def test_a_percentile_is_better_or_worse_by_what_is_tested_and_not_by_its_merged_value() -> None:
    row = judged(values(*STRAGGLER, merged=500.0), values(*STEADY, merged=10.8))
    assert row.p is not None
    assert row.p < 0.01
    assert row.ratio is not None
    assert row.interval is not None
    assert 1 < row.interval[0] < row.ratio < row.interval[1]
    assert row.verdict == "unknown", "nine repeats of ten got worse, and the merged value better"
    assert "that of all of them does not" in row.reason
    assert judged(values(*STRAGGLER, merged=5.9), values(*STEADY, merged=10.8)).verdict == "worse"
    assert judged(values(*STEADY, merged=10.8), values(*STRAGGLER, merged=5.9)).verdict == "better"


@pytest.mark.parametrize("count", [4, 10])
def test_the_threshold_is_held_against_the_change_of_the_repeats(count: int) -> None:
    first, second = [100 + n / 100 for n in range(count)], [104 + n / 100 for n in range(count)]
    sides = values(*first, merged=90.0), values(*second, merged=180.0)
    assert judged(*sides, threshold=0.05).verdict == "within threshold"
    assert judged(*sides, threshold=0.03).verdict == "worse"


def test_points_without_errors_take_no_power_from_those_that_differ() -> None:
    rates = (101.0, 99.0, 100.0), (91.0, 90.0, 92.0)
    slower = Quantity("throughput", "ops/s", "higher", {(("threads", 1),): (values(*rates[0]), values(*rates[1]))})
    none: Points = {(("threads", n),): (values(0.0, 0.0, 0.0), values(0.0, 0.0, 0.0)) for n in range(60)}
    errors = Quantity(
        "errors", "share", "lower", {**none, (("threads", 99),): (values(0, 0, 0), values(0.1, 0.2, 0.1))}
    )
    told, *others = compare([slower, errors]).comparisons
    assert told.verdict == "worse"
    assert told.p_holm == told.p
    assert {row.verdict for row in others[:60]} == {"within noise"}
    assert {(row.p, row.reason) for row in others[:60]} == {(None, "all repeats of both have the same value")}
    assert others[60].p_holm == others[60].p, "the others test nothing"


def test_the_points_of_a_metric_are_corrected_together_and_not_with_those_of_another() -> None:
    a, b = values(10, 11, 12), values(12, 13, 14)
    points: Points = {(("threads", n),): (a, b) for n in range(4)}
    names = ("throughput", "latency.p99[read]", "latency.p99[update]")
    rows = compare([Quantity(name, "", "lower", points) for name in names]).comparisons
    assert [row.p_holm for row in rows] == pytest.approx([4 * rows[0].p] * 4 + [min(1.0, 8 * rows[0].p)] * 8)  # type: ignore[operator]


def test_equal_values_are_one_measurement_only_when_they_come_from_the_same() -> None:
    assert judged(values(1, 2, 3, of="run-1"), values(1, 2, 3, of="run-2")).verdict == "within noise"
    assert judged(values(0, 0, 0, of="run-1"), values(0, 0, 0, of="run-2")).verdict == "within noise"
    assert judged(values(1, 2, 3, of="run-1"), values(1, 2, 3, of="run-1")).verdict == "same measurement"


def test_a_repeat_without_a_value_leaves_the_point_missing_for_each_quantity_alike(tmp_path: Path) -> None:
    """The second hardware lost a repeat: its throughput, its latencies and its errors are of no whole sample."""
    cells = [a_cell(hardware=key, repeat=repeat) for key in ("nvme", "hdd") for repeat in (1, 2, 3)]
    plan = a_plan(cells)
    run = RunMaker(tmp_path / "run", plan)
    *done, lost = cells
    for cell in done:
        read = Operation(
            "read", 100 + cell.repeat, mean_s=0.001, histogram=histogram((0.001, 0.002, 100 + cell.repeat))
        )
        run.ok(cell, {"load-1": measurement([read], errors=1)})
    run.failed(lost, "gone")
    with open_store(run.run_dir) as store:
        found = {
            each.name: each
            for each in quantities(Contender("nvme", plan, store, "nvme"), Contender("hdd", plan, store, "hdd"))
        }
    assert {"throughput", "errors", "latency.mean[read]", "latency.p99[read]"} <= found.keys()
    for name, quantity in found.items():
        ((first, second),) = quantity.points.values()
        assert first is not None, name
        assert second is not None, name
        assert first.value is not None, name
        assert len(first.repeats) == 3, name
        assert (second.value, second.reason) == (None, "1 of 3 repeats without a value"), name
    rows = compare(found.values()).comparisons
    assert {(row.verdict, row.p, row.reason) for row in rows} == {
        ("unknown", None, "missing (second: 1 of 3 repeats without a value)")
    }


def test_a_point_whose_repeats_all_failed_is_missing_and_not_left_out(tmp_path: Path) -> None:
    cells = [a_cell(hardware=key, repeat=repeat) for key in ("nvme", "hdd") for repeat in (1, 2)]
    plan = a_plan(cells)
    run = RunMaker(tmp_path / "run", plan)
    for cell in cells[:2]:
        read = Operation("read", 100, mean_s=0.001, histogram=histogram((0.001, 0.002, 100)))
        run.ok(cell, {"load-1": measurement([read])})
    for cell in cells[2:]:
        run.failed(cell, "gone")
    with open_store(run.run_dir) as store:
        found = list(quantities(*(Contender(key, plan, store, key) for key in ("nvme", "hdd"))))
    outcome = compare(found)
    assert (outcome.only_first, outcome.only_second) == ((), ())
    assert {(row.quantity, row.reason) for row in outcome.comparisons} >= {
        (name, "missing (second: no repeat has a value)") for name in ("throughput", "latency.p99[read]")
    }


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_percentile_that_no_tool_told_is_missing_with_that_reason(tmp_path: Path, repeats: int) -> None:
    cells = [a_cell(hardware=key, repeat=repeat + 1) for key in ("nvme", "hdd") for repeat in range(repeats)]
    plan = a_plan(cells)
    run = RunMaker(tmp_path / "run", plan)
    for cell in cells:
        read = Operation("read", 100, mean_s=0.001, histogram=histogram((0.001, 0.002, 100)))
        run.ok(cell, {"load-1": measurement([read, Operation("write", 50, mean_s=0.002)])})
    with open_store(run.run_dir) as store:
        found = list(quantities(*(Contender(key, plan, store, key) for key in ("nvme", "hdd"))))
    reasons = {row.quantity: row.reason for row in compare(found).comparisons}
    why = "the tool gave no histogram"
    assert reasons["latency.p99[write]"] == f"missing (first: {why} and second: {why})"
    assert "missing" not in reasons["latency.mean[write]"]


def test_several_pairs_are_one_family_and_each_keeps_its_own_points() -> None:
    a, b = values(10, 11, 12), values(12, 13, 14)
    pairs = [[Quantity("throughput", "", "higher", {(("threads", n),): (a, b)})] for n in range(3)]
    alone = compare(pairs[0]).comparisons[0].p
    assert alone is not None
    outcomes = compare_all(pairs)
    assert [len(each.comparisons) for each in outcomes] == [1, 1, 1]
    assert [each.comparisons[0].p_holm for each in outcomes] == pytest.approx([3 * alone] * 3)


def of_gain(first: Values, second: Values, **more: float) -> Comparison:
    (row,) = compare([Quantity("gain", "%", "higher", {(("threads", 1),): (first, second)})], **more).comparisons
    return row


def test_values_below_zero_have_a_difference_and_no_ratio() -> None:
    deeper = of_gain(values(-39.0, -40.0, -39.8), values(-79.0, -80.0, -79.5))
    assert (deeper.ratio, deeper.interval, deeper.verdict) == (None, None, "worse")
    assert deeper.difference == pytest.approx(-39.9)
    assert deeper.difference_interval is not None
    assert deeper.difference_interval[0] < -39.9 < deeper.difference_interval[1] < 0
    across = of_gain(values(-39.0, -40.0, -39.8), values(10.0, 10.6, 10.3), threshold=0.5)
    assert (across.ratio, across.verdict) == (None, "better")
    near = of_gain(values(-39.0, -40.0, -39.8), values(-41.0, -41.2, -41.1), threshold=0.5)
    assert near.verdict == "within threshold"
    from_zero = of_gain(values(0.0, 0.0, 0.0), values(1.0, 1.1, 1.2), threshold=0.5)
    assert (from_zero.ratio, from_zero.verdict) == (None, "better")


def test_percentiles_without_repeats_of_their_own_have_a_ratio_and_no_verdict() -> None:
    row = judged(values(merged=0.001), values(merged=0.002))
    assert row.ratio == pytest.approx(2.0)
    assert row.p is None


def test_what_can_not_be_below_0_falls_by_100_percent_at_most() -> None:
    point = (("threads", 1),)
    sides = values(1000.0, 1150.0, 1100.0), values(200.0, 900.0, 1500.0)
    found = [Quantity(name, "ops/s", "higher", {point: sides}, signed=name == "change") for name in ("change", "rate")]
    change, rate = compare(found).comparisons
    assert change.interval is not None
    assert change.interval[0] < 0
    assert change.interval[1] > 2
    assert rate.interval == (0.0, change.interval[1])
    assert (rate.verdict, rate.ratio) == ("within noise", change.ratio)
