"""Tests `bench compare` of two searches for a promise: their results, and the rates between which their runs
disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchbrief.comparing.compare_output import cases, table_rows
from benchbrief.comparing.comparison_cautions import warn_of_shared_measurements
from benchbrief.model.points import PointKeys
from benchbrief.results.compare.comparison import ComparedQuantity, Comparison, PointValues, compare
from benchbrief.results.store.searched_doubts import KNOWN, Doubt
from tests.support.bench import Bench, fresh_bench

SPEC = """
hardware eco    { hosts = "eco.lab"     cores = 4 }
hardware legacy { hosts = "legacy.lab"  cores = 16 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = as_needed }
workload b from ycsb.b { records = 100k }
experiment e {
  hardware = [eco, legacy]  workloads = b  threads = 64  measure = 10 s  repeats = 3
  target   = highest(@RATES@, where: @WHERE@, within: 20 %, held_out: 1)
}
metric tail in ms = latency.p99[e, read], lower is better
"""
METRICS = """
experiment full {
  hardware = [eco, legacy]  workloads = b  threads = 64  measure = 10 s  repeats = 2
}
param eco_price = 800 USD
param legacy_price = 2400 USD
metric cost in USD*s/op = (eco_price + legacy_price) / sustained[e], lower is better
metric beside = sustained[e] / sustained[e, eco], higher is better
metric headroom = sustained[e] / throughput[full], higher is better
"""
INF = float("inf")
POINT: PointKeys = (("experiment", "e"), ("workload", "b"))


def judged(first: PointValues, second: PointValues, threshold: float = 0.0) -> Comparison:
    (row,) = compare(
        [ComparedQuantity("sustained", "ops/s", "higher", {POINT: (first, second)})], threshold
    ).comparisons
    return row


def found(value: float | None, low: float, high: float, doubt: Doubt = KNOWN) -> PointValues:
    return PointValues(value, (), percentile=False, bounds=(low, high), doubt=doubt)


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (found(5_000, 4_900, 5_100), found(5_200, 5_100, 5_300), "better"),
        (found(5_200, 5_100, 5_300), found(5_000, 4_900, 5_100), "worse"),
        (found(5_000, 4_900, 5_100), found(5_100, 5_000, 5_300), "within noise"),
        (found(5_000, 4_900, 5_100), found(5_000, 4_900, 5_100), "within noise"),
        (found(20_000, 20_000, INF), found(5_000, 4_900, 5_100), "worse"),
        (found(20_000, 20_000, INF), found(20_000, 20_000, INF), "unknown"),
        (found(5_000, 4_900, 5_100), found(None, 0.0, 1_000), "worse"),
        (found(None, 0.0, 1_000), found(None, 0.0, 1_000), "unknown"),
        (found(5_000, 4_900, 5_100), PointValues(None, (), percentile=False, reason="it failed"), "unknown"),
    ],
)
def test_what_searches_found_differs_where_their_runs_do_not_disagree(
    first: PointValues, second: PointValues, verdict: str
) -> None:
    assert judged(first, second).verdict == verdict


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [("ab", "bc", 1), ("ab", "abc", 1), ("ab", "ab", 0), ("ab", "cd", 0), ("", "", 0)],
)
def test_searches_that_have_some_cells_in_common_are_noted(first: str, second: str, shared: int) -> None:
    sides = [replace(found(5_000, 4_900, 5_100), measurements=frozenset(each)) for each in (first, second)]
    notes = list(warn_of_shared_measurements([judged(sides[0], sides[1])]))
    assert len(notes) == shared
    assert all(note.startswith("1 of 1 comparisons have some measurements on both sides") for note in notes)


def test_a_change_below_the_threshold_counts_for_nothing() -> None:
    sides = found(5_000, 4_900, 5_050), found(5_100, 5_075, 5_200)
    assert judged(*sides).verdict == "better"
    assert judged(*sides, threshold=0.05).verdict == "within threshold"
    assert judged(found(5_000, 4_900, 5_050), found(None, 0.0, 1_000), threshold=0.05).verdict == "worse"


@pytest.mark.parametrize(
    ("first", "second", "printed"),
    [
        (
            found(5_000, 4_900, 5_100),
            found(5_200, 5_100, 5_300),
            ("5,000 ops/s (4,900 to 5,100)", "5,200 ops/s (5,100 to 5,300)", "+4.0 % (+0.0 to +8.2)", "better"),
        ),
        (
            found(5_000, 4_900, 5_100),
            found(20_000, 20_000, INF, Doubt("at_least")),
            ("5,000 ops/s (4,900 to 5,100)", "≥ 20,000 ops/s", "+300 % (≥ +292)", "better"),
        ),
        (
            found(5_000, 4_900, 5_100, Doubt(decided=False)),
            found(20_000, 19_000, INF, Doubt("at_least", decided=False)),
            ("≈ 5,000 ops/s (4,900 to 5,100)", "≳ 20,000 ops/s", "+300 % (≥ +273)", "better"),
        ),
        (
            found(5_000, 4_900, 5_100),
            found(None, 0.0, 1_000),
            ("5,000 ops/s (4,900 to 5,100)", "below 1,000 ops/s", "–", "worse"),
        ),
        (
            found(5_000, 4_900, 5_100),
            found(None, 3_000, 5_000),
            ("5,000 ops/s (4,900 to 5,100)", "3,000 to 5,000 ops/s", "–", "within noise"),
        ),
        (
            found(5_000, 0.0, 5_000, Doubt("at_most")),
            found(None, 6_000, INF),
            ("≤ 5,000 ops/s", "above 6,000 ops/s", "–", "better"),
        ),
    ],
)
def test_a_rate_is_shown_with_where_runs_disagree(
    first: PointValues, second: PointValues, printed: tuple[str, ...]
) -> None:
    ((_, _, *cells),) = table_rows([judged(first, second)])
    assert tuple(cells) == printed


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with fresh_bench(tmp_path_factory.mktemp("searches")) as fresh:
        yield fresh


def run(
    bench: Bench,
    name: str,
    where: str = "latency.p99[read] < 10 ms",
    rates: str = "1k ops/s..200k ops/s",
    seed: int = 1,
    more: str = "",
) -> str:
    """Simulate a search, and return its name."""
    path = bench.folder / f"{name}.bench"
    path.write_text(SPEC.replace("@WHERE@", where).replace("@RATES@", rates) + more)
    done = bench("run", path.name, "--simulate", "--seed", str(seed), "--no-report", "--fresh")
    assert done.code == 0, done.text
    return next(each.name for each in reversed(bench.run_dirs()) if f"-{name}-" in each.name)


@pytest.fixture(scope="module")
def first(bench: Bench) -> str:
    return run(bench, "first")


def rows(bench: Bench, *words: str) -> list[dict[str, Any]]:
    printed: list[dict[str, Any]] = bench("compare", *words, "--json").json["comparisons"]
    return printed


@pytest.mark.long
def test_two_searches_are_compared_by_what_they_found_alone(bench: Bench, first: str) -> None:
    """Each search chooses the rates that it measures. A rate that only one search measured is not a missing point of
    the other."""
    second = run(bench, "second", seed=2)
    printed = bench("compare", first, second, "--json").json
    assert [(row["metric"], row["hardware"], row["workload"]) for row in printed["comparisons"]] == [
        ("sustained", "eco", "b"),
        ("sustained", "legacy", "b"),
    ]
    assert (printed["only_first"], printed["only_second"]) == ([], [])
    for row in printed["comparisons"]:
        low, high = row["first"]["interval"]
        assert low <= row["first"]["value"] < high
        assert row["p"] is None
    assert {row["metric"] for row in rows(bench, first, second, "--metric", "latency.p99[read]")} == {
        "latency.p99[read]"
    }, "but they are, when asked for"


def test_hardware_that_sustains_more_is_better_and_the_exit_code_says_so(bench: Bench, first: str) -> None:
    (row,) = rows(bench, f"{first}:eco", f"{first}:legacy")
    assert row["verdict"] == "better"
    assert row["interval"][0] > 1
    back = bench("compare", f"{first}:legacy", f"{first}:eco", "--metric", "sustained")
    assert back.code == 4
    assert "1 worse" in back.out
    assert "better and worse need ( ) of A and B that do not overlap" in " ".join(back.out.split())


@pytest.mark.long
def test_the_same_limit_in_another_unit_is_the_same_promise(bench: Bench, first: str) -> None:
    alike = run(bench, "alike", where="latency.p99[read] < 10000 us")
    assert "unknown" not in {row["verdict"] for row in rows(bench, first, alike)}


@pytest.mark.long
def test_a_promise_that_each_rate_keeps_has_no_upper_bound(bench: Bench, first: str) -> None:
    low = run(bench, "low", rates="1k ops/s..2k ops/s")
    sides = f"{low}:eco", f"{first}:eco", "--metric", "sustained"
    printed = bench("compare", *sides)
    assert "≥ 2,000 ops/s" in printed.out, printed.text
    (row,) = rows(bench, *sides)
    assert row["first"]["interval"] == [2_000.0, None]
    assert row["verdict"] == "unknown", "A may sustain as much"
    assert "known from one side only" in row["reason"]
    assert bench("compare", *sides, "--strict").code == 4


def test_files_for_build_servers_have_the_rates() -> None:
    outcome = compare(
        [
            ComparedQuantity(
                "sustained", "ops/s", "higher", {POINT: (found(5_000, 4_900, 5_100), found(None, 0.0, 1_000))}
            )
        ]
    )
    (case,) = cases(outcome)
    assert case.state == "failure"
    assert "5,000 ops/s (4,900 to 5,100) -> below 1,000 ops/s" in case.detail


@pytest.fixture(scope="module")
def priced(bench: Bench) -> str:
    return run(bench, "priced", more=METRICS)


@pytest.mark.long
def test_a_metric_of_a_searched_rate_is_judged_by_the_rates_between_which_runs_disagree(
    bench: Bench, priced: str
) -> None:
    printed = {
        (row["metric"], row.get("hardware")): row
        for row in rows(bench, priced, run(bench, "again", more=METRICS, seed=2))
    }
    rates = {unit: printed["sustained", unit]["first"]["interval"] for unit in ("eco", "legacy")}
    for unit, (low, high) in rates.items():
        assert printed["cost", unit]["first"]["interval"] == pytest.approx([3200 / high, 3200 / low])
    low, high = printed["beside", "legacy"]["first"]["interval"]
    assert (low, high) == pytest.approx((rates["legacy"][0] / rates["eco"][1], rates["legacy"][1] / rates["eco"][0]))
    assert printed["beside", "eco"]["first"]["interval"] == [1, 1]
    assert printed["beside", "eco"]["verdict"] == "within noise"


@pytest.mark.long
def test_hardware_is_judged_by_such_a_metric(bench: Bench, priced: str) -> None:
    (row,) = rows(bench, f"{priced}:eco", f"{priced}:legacy", "--metric", "cost")
    assert row["verdict"] == "better", "legacy sustains more"
    assert row["first"]["interval"][0] > row["second"]["interval"][1]


def test_a_metric_of_a_searched_rate_and_of_repeats_is_not_judged(bench: Bench, priced: str) -> None:
    for row in rows(bench, f"{priced}:eco", f"{priced}:legacy", "--metric", "headroom"):
        assert row["verdict"] == "unknown"
        assert "it has a rate that was searched for and throughput of repeats" in row["reason"]


@pytest.mark.long
def test_searches_for_other_promises_are_shown_and_not_judged(bench: Bench, priced: str) -> None:
    other = run(bench, "other", where="latency.p99[read] < 4 ms", more=METRICS)
    asked = (bench, priced, other, "--metric", "sustained", "--metric", "cost")
    for row in [*rows(*asked), *rows(*asked, "--other-load")]:
        assert row["verdict"] == "unknown"
        assert row["reason"] == "another promise: latency.p99[read] < 10 ms in A, latency.p99[read] < 4 ms in B"
        assert row["first"]["value"]


@pytest.mark.long
def test_what_no_rate_keeps_is_compared_by_the_lowest_rate_that_broke_it(bench: Bench, priced: str) -> None:
    none = run(bench, "none", rates="150k ops/s..200k ops/s", more=METRICS)
    printed = rows(bench, priced, none, "--metric", "sustained")
    assert [row["verdict"] for row in printed] == ["unknown"] * 2, "below 150k ops/s: so may be A"
    assert [row["second"]["interval"] for row in printed] == [[0.0, 150_000.0]] * 2
    out = bench("compare", priced, none, "--metric", "cost").out
    assert "above 0.02133 USD*s/op" in out, "it costs more than at the lowest rate"
