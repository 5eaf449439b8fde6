"""Tests the verdicts of comparisons, with repeats that are made for each."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from benchbrief.model.measurement import Histogram, Operation
from benchbrief.model.points import PointKeys
from benchbrief.results.compare.compared_quantities import quantities
from benchbrief.results.compare.comparison import ComparedQuantity, Comparison, PointValues, compare, compare_all
from benchbrief.results.compare.contender import Contender
from benchbrief.results.open_store import open_store
from tests.results.making import RunMaker, a_cell, a_plan, histogram, measurement

Points = dict[PointKeys, tuple[PointValues | None, PointValues | None]]

STRAGGLER = (5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7, 5.8, 800.0)
STEADY = tuple(10 + n / 10 for n in range(10))


def values(*repeats: float, merged: float | None = None, of: str = "") -> PointValues:
    mean = sum(repeats) / len(repeats) if merged is None else merged
    return PointValues(mean, repeats, merged is not None, measurements=frozenset({of}) if of else frozenset())


def judged(first: PointValues, second: PointValues, **more: float) -> Comparison:
    quantity = ComparedQuantity("latency.p99[read]", "s", "lower", {(("threads", 1),): (first, second)})
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
    slower = ComparedQuantity(
        "throughput", "ops/s", "higher", {(("threads", 1),): (values(*rates[0]), values(*rates[1]))}
    )
    none: Points = {(("threads", n),): (values(0.0, 0.0, 0.0), values(0.0, 0.0, 0.0)) for n in range(60)}
    errors = ComparedQuantity(
        "errors", "share", "lower", {**none, (("threads", 99),): (values(0, 0, 0), values(0.1, 0.2, 0.1))}
    )
    shown, *others = compare([slower, errors]).comparisons
    assert shown.verdict == "worse"
    assert shown.p_holm == shown.p
    assert {row.verdict for row in others[:60]} == {"within noise"}
    assert {(row.p, row.reason) for row in others[:60]} == {(None, "all repeats of both have the same value")}
    assert others[60].p_holm == others[60].p, "the others test nothing"


def test_the_points_of_a_metric_are_corrected_together_and_not_with_those_of_another() -> None:
    a, b = values(10, 11, 12), values(12, 13, 14)
    points: Points = {(("threads", n),): (a, b) for n in range(4)}
    names = ("throughput", "latency.p99[read]", "latency.p99[update]")
    rows = compare([ComparedQuantity(name, "", "lower", points) for name in names]).comparisons
    assert [row.p_holm for row in rows] == pytest.approx([4 * rows[0].p] * 4 + [min(1.0, 8 * rows[0].p)] * 8)  # type: ignore[operator]


def test_an_interval_leaves_no_change_out_exactly_where_the_verdict_is_not_noise() -> None:
    """Holm's procedure decides the verdict, so the interval beside the verdict has the level of Holm's test."""
    draw = random.Random(7)  # noqa: S311  # no secret
    verdicts = Counter[str]()
    uncorrected = 0
    for _ in range(40):
        points: Points = {}
        for n in range(6):
            first = values(*(draw.gauss(100, 3) for _ in range(4)))
            points[(("threads", n),)] = first, values(*(draw.gauss(100 + 2 * n, 3) for _ in range(4)))
        for row in compare([ComparedQuantity("throughput", "ops/s", "higher", points)]).comparisons:
            for interval, same in ((row.interval, 1), (row.difference_interval, 0)):
                assert interval is not None
                assert (interval[0] <= same <= interval[1]) == (row.verdict == "within noise")
            verdicts[row.verdict] += 1
            assert row.p is not None
            uncorrected += row.verdict == "within noise" and row.p < 0.05
    assert min(verdicts["better"], verdicts["within noise"], uncorrected) > 10


def test_equal_values_are_one_measurement_only_when_they_come_from_the_same() -> None:
    assert judged(values(1, 2, 3, of="run-1"), values(1, 2, 3, of="run-2")).verdict == "within noise"
    assert judged(values(0, 0, 0, of="run-1"), values(0, 0, 0, of="run-2")).verdict == "within noise"
    assert judged(values(1, 2, 3, of="run-1"), values(1, 2, 3, of="run-1")).verdict == "same measurement"


def test_a_repeat_without_a_value_leaves_the_point_missing_for_each_quantity_alike(tmp_path: Path) -> None:
    """A repeat on the second hardware has no value, so the throughput, latencies and errors there are not from a
    complete sample."""
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
        ("unknown", None, "missing in B: 1 of 3 repeats without a value")
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
        (name, "missing in B: no repeat has a value") for name in ("throughput", "latency.p99[read]")
    }


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_percentile_that_the_tool_gave_to_neither_side_is_not_compared(tmp_path: Path, repeats: int) -> None:
    reasons = latency_reasons(tmp_path, repeats, written=(None, None))
    assert "latency.p99[write]" not in reasons
    assert "missing" not in reasons["latency.mean[write]"]
    assert "missing" not in reasons["latency.p99[read]"]


def test_a_percentile_that_the_tool_gave_to_one_side_is_missing_in_the_other(tmp_path: Path) -> None:
    reasons = latency_reasons(tmp_path, 2, written=(histogram((0.001, 0.003, 50)), None))
    assert reasons["latency.p99[write]"] == "missing in B: the tool gave no histogram"


def latency_reasons(tmp_path: Path, repeats: int, written: tuple[Histogram | None, Histogram | None]) -> dict[str, str]:
    """Compare two hardware groups whose writes have these histograms, and return the reason for each quantity."""
    sides = dict(zip(("nvme", "hdd"), written, strict=True))
    cells = [a_cell(hardware=key, repeat=repeat + 1) for key in sides for repeat in range(repeats)]
    plan = a_plan(cells)
    run = RunMaker(tmp_path / "run", plan)
    for cell in cells:
        read = Operation("read", 100, mean_s=0.001, histogram=histogram((0.001, 0.002, 100)))
        write = Operation("write", 50, mean_s=0.002, histogram=sides[cell.hardware])
        run.ok(cell, {"load-1": measurement([read, write])})
    with open_store(run.run_dir) as store:
        found = list(quantities(*(Contender(key, plan, store, key) for key in sides)))
    return {row.quantity: row.reason for row in compare(found).comparisons}


def test_several_pairs_are_one_family_and_each_keeps_its_own_points() -> None:
    a, b = values(10, 11, 12), values(12, 13, 14)
    pairs = [[ComparedQuantity("throughput", "", "higher", {(("threads", n),): (a, b)})] for n in range(3)]
    alone = compare(pairs[0]).comparisons[0].p
    assert alone is not None
    outcomes = compare_all(pairs)
    assert [len(each.comparisons) for each in outcomes] == [1, 1, 1]
    assert [each.comparisons[0].p_holm for each in outcomes] == pytest.approx([3 * alone] * 3)


def of_gain(first: PointValues, second: PointValues, **more: float) -> Comparison:
    (row,) = compare(
        [ComparedQuantity("gain", "%", "higher", {(("threads", 1),): (first, second)})], **more
    ).comparisons
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


def test_a_quantity_that_is_never_below_0_falls_by_100_percent_at_most() -> None:
    point = (("threads", 1),)
    sides = values(1000.0, 1150.0, 1100.0), values(200.0, 900.0, 1500.0)
    found = [
        ComparedQuantity(name, "ops/s", "higher", {point: sides}, signed=name == "change")
        for name in ("change", "rate")
    ]
    change, rate = compare(found).comparisons
    assert change.interval is not None
    assert change.interval[0] < 0
    assert change.interval[1] > 2
    assert rate.interval == (0.0, change.interval[1])
    assert (rate.verdict, rate.ratio) == ("within noise", change.ratio)


@pytest.mark.parametrize(("repeats", "verdict"), [(3, "unknown"), (5, "worse")])
def test_repeats_that_do_not_vary_say_how_little_is_known(repeats: int, verdict: str) -> None:
    row = judged(values(*(5.0,) * repeats), values(*(6.0,) * repeats))
    assert row.verdict == verdict
    assert row.p is not None
    assert row.p > 0
    assert row.interval is None
    assert ("the repeats of each have one value" in row.reason) == (verdict == "unknown")


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ((12.35,) * 3, (6.91,) * 3, "better"),
        ((6.91,) * 2, (12.35,) * 3, "worse"),
        ((3.2,), (4.0,), "worse"),
        ((6.91,) * 3, (6.91,) * 3, "within noise"),
        ((6.9, 7.0, 7.1), (7.0, 7.1, 7.2), "within noise"),
        ((6.9, 7.0, 7.1), (9.0, 9.1, 9.2), "worse"),
    ],
)
def test_sizes_counts_and_prices_that_do_not_vary_differ_when_they_differ(
    first: tuple[float, ...], second: tuple[float, ...], verdict: str
) -> None:
    points: Points = {(("threads", 1),): (values(*first), values(*second))}
    row = compare([ComparedQuantity("size", "B", "lower", points, exact=True)]).comparisons[0]
    assert row.verdict == verdict
    assert (row.p is None) == (len({*first}) == 1), "what does not vary is not tested"


def test_a_difference_counts_below_five_percent_of_its_family() -> None:
    """A t of 2.45 with 4 degrees of freedom has p = 7 %. A t of 3.67 has p = 2.1 %, or 8.5 % as one of four
    comparisons."""
    assert judged(values(10, 11, 12), values(12, 13, 14)).verdict == "within noise"
    assert judged(values(10, 11, 12), values(13, 14, 15)).verdict == "worse"
    points: Points = {(("threads", n),): (values(10, 11, 12), values(13, 14, 15)) for n in range(4)}
    rows = compare([ComparedQuantity("throughput", "ops/s", "higher", points)]).comparisons
    assert {row.verdict for row in rows} == {"within noise"}


def test_one_repeat_has_no_interval_and_percentiles_have_their_lowest_and_highest() -> None:
    assert values(5.0).interval is None
    assert values(5.0, merged=5.0).interval is None
    assert values(3.0, 1.0, 2.0, merged=2.0).interval == (1.0, 3.0)


def test_single_repeats_of_the_same_value_are_too_few() -> None:
    row = judged(values(5.0), values(5.0))
    assert (row.verdict, row.reason) == ("unknown", "too few repeats: 1, and a test takes 2")


def test_a_change_of_just_the_threshold_counts() -> None:
    sides = values(99, 100, 101, 100), values(124, 125, 126, 125)
    assert judged(*sides, threshold=0.25).verdict == "worse"
    assert judged(*sides, threshold=0.26).verdict == "within threshold"


def test_repeats_below_zero_have_no_ratio_whatever_their_mean() -> None:
    row = judged(values(10, 11, 12), values(-1, 1, 3))
    assert (row.ratio, row.difference) == (None, -10)


def test_points_that_did_not_measure_the_same_are_not_tested_and_take_no_power() -> None:
    a, b = values(10, 11, 12), values(20, 21, 22)
    shared = values(1, 2, 3, of="run-1")
    points: Points = {(("threads", 1),): (a, b), (("threads", 2),): (a, b), (("threads", 3),): (shared, shared)}
    of = ComparedQuantity("throughput", "", "higher", points, unlike={(("threads", 1),): "another load was offered"})
    unlike, alike, same = compare([of]).comparisons
    assert (unlike.p, unlike.verdict, unlike.reason) == (None, "unknown", "another load was offered")
    assert (same.p, same.verdict) == (None, "same measurement")
    assert alike.p_holm == alike.p


def test_points_that_one_side_lacks_are_reported_once_and_only_for_that_side() -> None:
    def at(threads: int) -> PointKeys:
        return (("experiment", "e"), ("threads", float(threads)))

    a, b = values(10, 11, 12), values(20, 21, 22)
    rates: Points = {at(1): (a, b), at(2): (a, None), at(3): (None, b)}
    latencies: Points = {at(1): (a, None), at(2): (a, None)}
    unordered = ComparedQuantity("cpu", "", None, {at(1): (a, b)})
    outcome = compare(
        [
            ComparedQuantity("throughput", "", "higher", rates),
            ComparedQuantity("latency.p99[read]", "s", "lower", latencies),
            unordered,
        ]
    )
    assert (outcome.only_first, outcome.only_second) == (("e/threads=2",), ("e/threads=3",))
    assert [row.verdict for row in outcome.comparisons] == ["better", "differs"]
    assert outcome.worse == ()
    assert outcome.unknown == ("e/threads=2",)


@pytest.mark.parametrize("by_ratio", [True, False])
def test_rates_are_judged_by_their_logarithms_and_the_interval_agrees(by_ratio: bool) -> None:
    sides = values(12_600, 13_300, 13_100), values(370_000, 128_000, 192_000)
    quantity = ComparedQuantity("throughput", "ops/s", "higher", {(): sides}, signed=False, by_ratio=by_ratio)
    (row,) = compare([quantity]).comparisons
    assert row.verdict == ("better" if by_ratio else "within noise")
    assert row.interval is not None
    assert (row.interval[0] > 1) == by_ratio
    assert (row.difference_interval is None) == by_ratio


def test_rates_that_a_repeat_lacks_are_judged_by_their_values() -> None:
    points: Points = {(("threads", n),): (values(0, 1, 2), values(n, n + 1, n + 2)) for n in (0, 1, 50)}
    rows = compare([ComparedQuantity("throughput", "ops/s", "higher", points, by_ratio=True)]).comparisons
    assert [row.verdict for row in rows] == ["within noise", "within noise", "better"]
    assert all(row.difference_interval is not None for row in rows)
