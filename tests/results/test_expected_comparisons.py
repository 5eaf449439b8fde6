"""Tests a spec's expectations about significance and intervals, with numbers made for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from benchbrief.cli.verdict_files import junit
from benchbrief.compiler.compile import check
from benchbrief.extensions.importers.table.figure_tables import TableOfFigures
from benchbrief.model.budgets import Looks
from benchbrief.model.plan import Dimension, DimKey, Expect, Plan, Query, Range
from benchbrief.progress.finished_run import expect_case
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.view.notices import notices
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict, Judgement, evaluate, is_number, judge
from benchbrief.results.imports.keep_import import StatedSource, keep_run
from benchbrief.results.open_store import open_store
from benchbrief.results.store.store import Store

SPEC = """
hardware old { hosts = "old.lab" }
hardware new { hosts = "new.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 1000 }
experiment ramp { hardware = [old, new]  workloads = a  threads = [4, 8]  measure = 1 min  repeats = 5 }
expect "not slower beyond noise" throughput[new] >= throughput[old] or p_value(throughput[new], throughput[old]) > 5 %
expect "apart by more than their intervals"
  throughput[new] - ci(throughput[new] over repeat) > throughput[old] + ci(throughput[old] over repeat)
expect "steady repeats" ci(throughput over repeat) / throughput < 5 %
"""
SOURCE = StatedSource({"title": "T", "publisher": "P", "document": "D", "licence": "internal"})
OLD = (1000.0, 1010.0, 990.0, 1005.0, 995.0)
NOISE = (1004.0, 985.0, 1012.0, 993.0, 1001.0)


def imported(tmp_path: Path, plan: Plan, new: tuple[float, ...]) -> Store:
    """Return a store of a published table. At each number of threads, it has the throughputs `OLD` and `new` in
    ops/s."""
    rows = [
        f"{hardware},{threads},{repeat},{value!r}"
        for hardware, values in (("old", OLD), ("new", new))
        for threads in (4, 8)
        for repeat, value in enumerate(values, start=1)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["hardware,threads,repeat,throughput (ops/s)", *rows]) + "\n")
    return open_store(keep_run(tmp_path / "out", plan, {}, TableOfFigures().prepare(table, plan, SOURCE)))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (tuple(value * 1.1 for value in OLD), ("ok", "ok", "ok")),
        (NOISE, ("ok", "failure", "ok")),
        (tuple(value * 0.9 for value in OLD), ("failure", "failure", "ok")),
        ((1400.0, 600.0, 1000.0, 1300.0, 500.0), ("ok", "failure", "failure")),
    ],
)
def test_a_gate_by_significance_or_by_intervals_is_what_scipy_says(
    tmp_path: Path, new: tuple[float, ...], expected: tuple[str, ...]
) -> None:
    spec = tmp_path / "gate.bench"
    spec.write_text(SPEC)
    plan = check(spec).plan
    assert plan is not None
    with imported(tmp_path, plan, new) as store:
        cases = [expect_case(verdict) for verdict in evaluate(plan, store)]
    assert tuple(case.state for case in cases) == expected
    significant = stats.ttest_ind(np.log(new), np.log(OLD), equal_var=False).pvalue < 0.05
    halves = [stats.t.ppf(0.975, 4) * stats.sem(values) for values in (OLD, new)]
    apart = np.mean(new) - halves[1] > np.mean(OLD) + halves[0]
    assert (cases[0].state == "failure") == bool(significant and np.mean(new) < np.mean(OLD))
    assert (cases[1].state == "ok") == bool(apart)
    assert cases[0].name == "not slower beyond noise"


LIMITS = """
metric gain in % = throughput[new] / throughput[old] - 1, higher is better
expect "above" throughput[new] > {limit} ops/s
expect "gain"  gain > -5 %
expect "sides" throughput[new] > throughput[old]
expect "sixth" throughput[new] == 1 ops/s
"""
REPORT = """
report brief "B" {
  language = LANGUAGE
  table "T" { rows = hardware  columns = throughput by threads }
  disclosure = automatic
}
"""


def judged(
    tmp_path: Path, new: tuple[float, ...], limit: float, language: str = "en"
) -> tuple[list[ExpectVerdict], str]:
    """Return the verdicts, the brief's notices and its disclosure, if the throughput at each point is `new`."""
    spec = tmp_path / "gate.bench"
    spec.write_text(SPEC.partition("expect ")[0] + LIMITS.format(limit=limit) + REPORT.replace("LANGUAGE", language))
    plan = check(spec).plan
    assert plan is not None
    with imported(tmp_path, plan, new) as store:
        results = Results(plan, store, CATALOGUES[language])
        shown = [f"{notice.title}: {notice.text}" for notice in notices(results, Gaps())]
        groups = build_disclosure(results, Gaps(), facts_of=(), reports_from={}).groups
        return evaluate(plan, store), "\n".join([*shown, *(item.text for group in groups for item in group.items)])


@pytest.mark.parametrize(
    ("new", "limit", "holds", "decided"),
    [
        ((1000.0, 1010.0, 990.0, 1005.0, 995.0), 900, True, True),
        ((1000.0, 1010.0, 990.0, 1005.0, 995.0), 1100, False, True),
        ((1400.0, 600.0, 1000.0, 1300.0, 500.0), 900, True, False),
        ((1400.0, 600.0, 1000.0, 1300.0, 500.0), 1000, False, False),
    ],
)
def test_a_verdict_says_whether_the_repeats_decide_it_by_their_interval(
    tmp_path: Path, new: tuple[float, ...], limit: float, holds: bool, decided: bool
) -> None:
    verdicts, _ = judged(tmp_path, new, limit)
    found = verdicts[0]
    assert (found.holds, found.decided) == (holds, decided)
    half = stats.t.ppf(1 - 0.05 / (1 if holds else 2) / 2, 4) * stats.sem(new)
    assert decided == (float(np.mean(new)) - half > limit or float(np.mean(new)) + half < limit)
    said = f"{95 if holds else 97.5:g} % intervals of the means over the repeats" + (
        "" if holds else ", corrected for 2"
    )
    assert (said in found.detail) == (not decided)
    case = expect_case(found)
    assert case.state == ("ok" if holds else "failure"), "the value decides, as ever"
    if not decided:
        ends = f"throughput[new] is {float(f'{np.mean(new) - half:.4g}'):,.6g} ops/s to "
        assert ends in found.detail
        assert found.warning.startswith(
            f"expect {'holds' if holds else 'does not hold'}, but the repeats do not decide it: above: "
        )
        xml = junit("run", [case]).decode()
        assert "but the repeats do not decide it" in xml
        assert ("<system-out>" in xml) == holds
        assert "decided" not in found.detail


@pytest.fixture(scope="module")
def above(tmp_path_factory: pytest.TempPathFactory) -> Expect:
    """Return the expectation `throughput[new] > 900 ops/s`."""
    spec = tmp_path_factory.mktemp("gate") / "gate.bench"
    spec.write_text(SPEC.partition("expect ")[0] + "expect throughput[new] > 900 ops/s\n")
    plan = check(spec).plan
    assert plan is not None
    return plan.expects[0]


def found_at(
    expect: Expect,
    at: Mapping[int, tuple[float, ...]],
    fewest: int = 2,
    verdict: float | None = None,
    last: int | None = None,
) -> Judgement:
    """Judge an expectation by intervals with a joint level of 95 %. `at` maps numbers of threads to the values of the
    repeats.

    The intervals are looked at after each number of repeats from `fewest` to `last`, or only at the end if `last` is
    None. Whether a point meets the expectation follows from the mean of its repeats, unless `verdict` is given for all
    points.
    """
    keys: dict[Dimension, DimKey | None] = {"experiment": "ramp", "workload": "a", "hardware": "new"}

    def read(query: Query) -> list[tuple[list[DimKey | None], float | None]]:
        if is_number(query):
            return [([], 900.0)]
        found: list[tuple[list[DimKey | None], float | None]] = []
        for threads, values in at.items():
            mean = float(np.mean(values))
            for repeat, value in enumerate(values, 1) if "repeat" in query.dims else ((1, mean),):
                place = {**keys, "threads": threads, "repeat": repeat}
                shown = (float(mean > 900) if verdict is None else verdict) if query is expect.query else value
                found.append(([place.get(dim) for dim in query.dims], shown))
        return found

    return judge(expect, read, Looks(fewest, last))


def test_a_place_with_one_repeat_leaves_a_verdict_undecided(above: Expect) -> None:
    """The verdict is undecided even if another place has enough repeats to be certain."""
    for repeats, expected in ((5, True), (1, False)):
        found = found_at(above, {4: OLD, 8: OLD[:repeats]})
        assert (found.holds, found.decided) == (True, expected)
        assert [each.has_ends for each in found.intervals] == [True, repeats > 1]
    assert found_at(above, {4: OLD[:1], 8: OLD[:1]}).decided is None


def test_a_budget_that_leaves_one_measurement_leaves_a_verdict_undecided(above: Expect) -> None:
    """The spec asks for more repeats, so one measurement decides nothing."""
    found = found_at(above, {4: OLD[:1], 8: OLD[:1]}, fewest=3, last=5)
    assert (found.holds, found.decided, found.first_look) == (True, False, 3)
    assert found_at(above, {4: OLD[:1]}, fewest=2).decided is None, "none were planned"


def test_too_few_repeats_have_no_interval_though_the_values_have_a_range(above: Expect) -> None:
    within = above.model_copy(update={"ranges": ((900.0, 2000.0), (900.0, 900.0))})
    found = found_at(within, {4: OLD[:2], 8: OLD}, fewest=3, last=5)
    assert [(each.has_ends, each.decides) for each in found.intervals] == [(False, False), (True, True)]


def test_values_of_repeats_against_the_verdict_do_not_decide_it(above: Expect) -> None:
    """A value over all repeats, such as a percentile, and the mean of the repeats may be on different sides of the
    limit."""
    found = found_at(above, {4: OLD}, verdict=0.0)
    assert (found.holds, found.decided) == (False, False)
    assert found.vague[0].distance == math.inf


def test_fewer_repeats_than_an_interval_takes_decide_nothing(above: Expect) -> None:
    close = (1000.0, 1000.1, 1000.2)
    assert [found_at(above, {4: close[:n]}, fewest=3).decided for n in (2, 3)] == [False, True]
    assert found_at(above, {4: close[:2]}, fewest=2).decided is True


@pytest.mark.parametrize(("places", "decided"), [(1, True), (2, True), (3, False), (10, False)])
def test_that_one_of_several_places_fails_is_decided_by_a_corrected_interval(
    above: Expect, places: int, decided: bool
) -> None:
    near = (862.0, 892.0, 872.0, 891.0, 877.0)
    at = {1: near} | dict.fromkeys(range(2, places + 1), OLD)
    found = found_at(above, at)
    assert (found.holds, found.decided, found.is_corrected) == (False, decided, places > 1)
    half = stats.t.ppf(1 - 0.05 / places / 2, 4) * stats.sem(near)
    (interval,) = found.intervals
    assert interval.high == pytest.approx(np.mean(near) + half)
    assert decided == (np.mean(near) + half <= 900)
    assert [each.place["threads"] for each in found.vague] == ([] if decided else [1])


def test_one_place_that_surely_fails_is_enough_whatever_others_say(above: Expect) -> None:
    low, vague = tuple(value - 500 for value in OLD), (1200.0, 400.0, 1000.0, 900.0, 600.0)
    found = found_at(above, {1: low, 2: vague, 3: OLD})
    assert ([each.decides for each in found.intervals], found.decided) == ([True, False], True)
    assert found.vague == []


def test_that_all_of_several_places_hold_needs_no_correction(above: Expect) -> None:
    high = tuple(1800 - value for value in (862.0, 892.0, 872.0, 891.0, 877.0))
    assert [found_at(above, dict.fromkeys(range(n), high)).decided for n in (1, 10)] == [True, True]


def test_chance_fails_one_of_many_places_in_5_percent_of_cases_at_most(above: Expect) -> None:
    """All places are exactly as fast as the limit, so any decision that one is slower is false."""
    chance = np.random.default_rng(7)
    wrong = [0, 0]
    for _ in range(200):
        at = {threads: tuple(chance.normal(900, 20, 5)) for threads in range(8)}
        found = found_at(above, at)
        wrong[0] += found.holds is False and found.decided is True
        uncorrected = [np.mean(v) + stats.t.ppf(0.975, 4) * stats.sem(v) <= 900 for v in at.values()]
        wrong[1] += any(uncorrected)
    assert wrong[0] / 200 < 0.05 < wrong[1] / 200


@pytest.mark.parametrize("last", [3, 4, 5, 10])
def test_the_shares_of_all_looks_add_up_to_the_whole(last: int) -> None:
    looks = Looks(3, last)
    shares = [share for _, share in looks.until(last)]
    assert len(shares) == looks.count == last - 2
    assert sum(shares) == pytest.approx(1)
    assert looks.until(2) == []
    assert Looks(2).until(7) == [(7, 1.0)], "without a budget, the end alone is looked at"


def test_a_look_after_the_first_and_the_last_repeats_has_more_than_those_between() -> None:
    assert [share for _, share in Looks(3, 10).until(10)] == pytest.approx([0.2, *[0.05] * 6, 0.5])


def test_a_decision_of_one_look_stays(above: Expect) -> None:
    """The interval of the next look is wider, because that look has a smaller share of the allowed error."""
    close = (1000.0, 1004.0, 996.0)
    first = found_at(above, {4: close}, 3, last=10)
    assert (first.decided, first.looks) == (True, 8)
    later = found_at(above, {4: (*close, 850.0)}, 3, last=10)
    half = stats.t.ppf(1 - Looks(3, 10).chance * 0.05 / 2, 3) * stats.sem((*close, 850.0))
    assert np.mean((*close, 850.0)) - half < 900
    (interval,) = later.intervals
    assert later.decided is True
    assert interval.low == pytest.approx(1000 - stats.t.ppf(1 - Looks(3, 10).chance * 0.2 / 2, 2) * stats.sem(close))
    assert interval.distance > 1, "the last look alone is asked how far it is"


def test_the_last_of_contradictory_looks_counts(above: Expect) -> None:
    low, high = (880.0, 880.1, 879.9), (1000.0, 1000.1, 999.9, 1000.2, 999.8, 1000.0, 1000.0)
    found = found_at(above, {4: (*low, *high)}, 3, last=10)
    (interval,) = found.intervals
    half = stats.t.ppf(1 - Looks(3, 10).chance * 0.5 / 2, 9) * stats.sem((*low, *high))
    assert (interval.low, interval.high) == pytest.approx(
        (np.mean((*low, *high)) - half, np.mean((*low, *high)) + half)
    )


def some_look_decides(values: npt.NDArray[np.float64], looks: Looks) -> npt.NDArray[np.bool_]:
    """For each row of repeats, return whether the interval of at least one look excludes 900."""
    found = np.zeros(len(values), dtype=bool)
    for repeats, share in looks.until(values.shape[1]):
        seen = values[:, :repeats]
        half = stats.t.ppf(1 - looks.chance * share / 2, repeats - 1) * seen.std(axis=1, ddof=1) / math.sqrt(repeats)
        found |= np.abs(seen.mean(axis=1) - 900) > half
    return found


@pytest.mark.parametrize(("first", "last"), [(2, 4), (3, 4), (3, 5), (3, 6), (3, 10), (5, 7), (5, 20), (10, 12)])
def test_all_looks_together_decide_wrongly_in_5_percent_of_cases_at_most(first: int, last: int) -> None:
    """Nothing is faster or slower than the limit, so any decision is false, at whichever repeat it is made."""
    values = np.random.default_rng(11).normal(900, 20, (100_000, last))
    assert some_look_decides(values, Looks(first, last)).mean() <= 0.05


def test_looks_at_95_percent_each_would_decide_wrongly_more_often() -> None:
    values = np.random.default_rng(11).normal(900, 20, (20_000, 5))
    every = [some_look_decides(values[:, :repeats], Looks(3)) for repeats in range(3, 6)]
    assert np.any(every, axis=0).mean() > 0.06


def test_the_judgement_is_decided_from_the_first_look_on_that_leaves_the_limit_out(above: Expect) -> None:
    rows = np.random.default_rng(11).normal(910, 20, (40, 10))
    expected = some_look_decides(rows, Looks(3, 10))
    for values, decides in zip(rows, expected, strict=True):
        judged = [found_at(above, {4: tuple(values[:n])}, 3, last=10).decided is True for n in range(3, 11)]
        assert any(judged) == decides
    assert 5 <= expected.sum() <= 35


def test_an_expectation_over_two_measured_sides_has_the_interval_of_their_ratio(tmp_path: Path) -> None:
    verdicts, shown = judged(tmp_path, NOISE, 900)
    above, gain, sides, equal = verdicts
    assert (above.decided, gain.decided, sides.decided) == (True, True, False)
    assert equal.decided is None, "an equality asks for no side of a limit"
    logs = np.log(NOISE) - np.log(OLD)
    half = stats.t.ppf(1 - 0.025 / 2, 4) * stats.sem(logs)  # one of two places that fails is enough
    low, high = (np.exp(logs.mean() + end) for end in (-half, half))
    assert f"threads 4: the ratio throughput[new] / throughput[old] is {low:.4g} to {high:.4g}" in sides.detail
    assert "the ratio throughput[new] / throughput[old] is 0.9" in shown
    assert "97.5% intervals of the means over the repeats, corrected for 2 places, of which one" in shown
    assert "One over several places holds where every place holds, which needs no correction (R. L. Berger" in shown
    assert "does not hold, but the repeats do not decide it" in shown


def test_a_brief_names_expectations_that_hold_by_their_value_alone_in_both_languages(tmp_path: Path) -> None:
    wide = (1400.0, 600.0, 1000.0, 1300.0, 500.0)
    _, shown = judged(tmp_path, wide, 900)
    assert (
        "Expectations that the repeats do not decide: 2 of 4: above: throughput[new] > 900 ops/s: holds, but the"
        in shown
    )
    _, shown = judged(tmp_path, wide, 900, "ja")
    assert "反復からは判定できない期待条件: 4 件中 2 件：" in shown
    assert "成立。ただし反復からは判定できません" in shown
    assert "k か所のうち 1 か所でも不成立なら全体が不成立となるため" in shown
    _, shown = judged(tmp_path, wide, 1000, "ja")
    assert "反復の平均の 97.5% 信頼区間" in shown
    assert "2 か所について補正" in shown


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("gain > -99 %", "gain is -100 % to "),
        ("1 - throughput[new] / throughput[old] < 99 %", " to 100 %"),
        ("throughput[new] > 1 ops/s", "throughput[new] is 0 ops/s to "),
        ("1 ops/s < throughput[new]", "throughput[new] is 0 ops/s to "),
        ("throughput[new] - throughput[old] > -1k ops/s", "throughput[new] - throughput[old] is -"),
    ],
)
def test_no_interval_goes_where_no_value_can_be(tmp_path: Path, condition: str, shown: str) -> None:
    verdict = undecided(tmp_path, condition)
    assert (verdict.holds, verdict.decided) == (True, False)
    assert shown in verdict.detail


def test_an_interval_is_not_cut_at_a_limit_that_a_value_is_beyond(tmp_path: Path) -> None:
    verdict = undecided(tmp_path, "throughput[new] > 1 ops/s", ((6.0, None), (1.0, 1.0)))
    assert "throughput[new] is -" in verdict.detail


def undecided(tmp_path: Path, condition: str, ranges: tuple[Range, ...] | None = None) -> ExpectVerdict:
    """Return the verdict on values with a wide interval. `ranges` replaces the ranges that the compiler found."""
    spec = tmp_path / "gate.bench"
    expect = f"metric gain in % = throughput[new] / throughput[old] - 1\nexpect {condition}\n"
    spec.write_text(SPEC.partition("expect ")[0] + expect)
    plan = check(spec).plan
    assert plan is not None
    if ranges is not None:
        (asked,) = plan.expects
        plan = plan.model_copy(update={"expects": (asked.model_copy(update={"ranges": ranges}),)})
    new = (5.0, 4000.0, 10.0, 8.0, 7.0)
    with imported(tmp_path, plan, new) as store:
        (verdict,) = evaluate(plan, store)
    return verdict


EXTREMES = """
hardware old { hosts = "old.lab" }
hardware new { hosts = "new.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 1000 }
experiment ramp {
  hardware = [old, new]  workloads = a  threads = [1, 2, 3, 4, 5, 6, 7, 8]  measure = 1 min  repeats = 5
}
metric speedup "Gain" = throughput[new] / throughput[old], higher is better
metric best "Best" = max(speedup over threads), higher is better
"""


def of_extreme(tmp_path: Path, condition: str) -> Expect:
    spec = tmp_path / "extreme.bench"
    spec.write_text(f"{EXTREMES}expect {condition}\n")
    plan = check(spec).plan
    assert plan is not None
    return plan.expects[0]


def judged_extreme(expect: Expect, drawn: npt.NDArray[np.float64], limit: float, highest: bool) -> Judgement:
    """Return the judgement on the highest or lowest mean. `drawn` has the repeats by threads."""
    keys: dict[Dimension, DimKey | None] = {"experiment": "ramp", "workload": "a"}
    extreme = np.max if highest else np.min

    def read(query: Query) -> list[tuple[list[DimKey | None], float | None]]:
        if is_number(query):
            return [([], limit)]
        if query is expect.query:
            holds = extreme(drawn.mean(axis=1)) > limit
            return [([keys.get(dim) for dim in query.dims], float(holds))]
        if "threads" not in query.dims:
            values = [((None, repeat), float(extreme(drawn[:, repeat]))) for repeat in range(drawn.shape[1])]
        else:
            values = [((threads, repeat), float(value)) for (threads, repeat), value in np.ndenumerate(drawn)]
        found = [({**keys, "threads": threads, "repeat": repeat}, value) for (threads, repeat), value in values]
        return [([place.get(dim) for dim in query.dims], value) for place, value in found]

    return judge(expect, read, Looks())


@pytest.mark.parametrize(
    ("condition", "needs"),
    [
        ("min(speedup over threads) > 0.9", "every"),
        ("max(speedup over threads) < 1.2", "every"),
        ("1.2 > max(speedup over threads)", "every"),
        ("max(speedup over threads) > 1.05", "any"),
        ("best > 1.05", "any"),
        ("0.9 > min(speedup over threads)", "any"),
    ],
)
def test_a_highest_or_lowest_value_is_judged_by_those_among_which_it_is(
    tmp_path: Path, condition: str, needs: str
) -> None:
    expect = of_extreme(tmp_path, condition)
    assert expect.needs == needs
    (points,) = (each for each in expect.points if not is_number(each))
    assert {"threads", "repeat"} <= {*points.dims}
    assert "speedup" in points.text


@pytest.mark.parametrize(
    "condition",
    [
        "speedup > 0.9",
        "max(throughput[new] over threads) > max(throughput[old] over threads)",
        "min(speedup over repeat) > 0.5",
        "max(throughput over threads) / 2 > 5 ops/s",
    ],
)
def test_other_sides_are_judged_as_they_are(tmp_path: Path, condition: str) -> None:
    assert of_extreme(tmp_path, condition).points == ()


@pytest.mark.parametrize(
    ("condition", "highest", "limit"),
    [("min(speedup over threads) > 0.95", False, 0.95), ("max(speedup over threads) > 1.05", True, 1.05)],
)
def test_noise_alone_decides_hardly_ever_what_the_extreme_of_equal_sides_is(
    tmp_path: Path, condition: str, highest: bool, limit: float
) -> None:
    """If the extreme of each repeat were judged, 4 of 5 decisions would be wrong."""
    expect, rng = of_extreme(tmp_path, condition), np.random.default_rng(1)
    wrong = 0
    for _ in range(200):
        found = judged_extreme(expect, rng.lognormal(0, 0.12, (8, 5)), limit, highest)
        wrong += found.holds is highest and found.decided is True
    assert wrong <= 10, "5 % at most"


def test_an_extreme_that_the_repeats_decide_is_decided(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    drawn = rng.lognormal(0, 0.01, (8, 5))
    lowest = of_extreme(tmp_path, "min(speedup over threads) > 0.9")
    assert judged_extreme(lowest, drawn, 0.9, highest=False).decided is True
    drawn[3] *= 0.8
    found = judged_extreme(lowest, drawn, 0.9, highest=False)
    assert (found.holds, found.decided, found.places) == (False, True, 8)
    assert [each.place["threads"] for each in found.intervals] == [3], "the place that decides it"
    highest = of_extreme(tmp_path, "max(speedup over threads) > 1.2")
    found = judged_extreme(highest, drawn, 1.2, highest=True)
    assert (found.holds, found.decided) == (False, True), "each of them is below it"
    drawn[5] *= 1.5
    found = judged_extreme(highest, drawn, 1.2, highest=True)
    assert (found.holds, found.decided, found.places) == (True, True, 8)


def test_the_interval_of_an_extreme_names_its_place(tmp_path: Path) -> None:
    spec = tmp_path / "gate.bench"
    spec.write_text(
        SPEC.partition("expect ")[0] + "expect min(throughput[new] / throughput[old] over threads) > 0.99\n"
    )
    plan = check(spec).plan
    assert plan is not None
    with imported(tmp_path, plan, (900.0, 1200.0, 800.0, 1100.0, 940.0)) as store:
        (found,) = evaluate(plan, store)
    assert (found.holds, found.decided) == (False, False)
    assert "min(throughput[new] / throughput[old] over threads) is 0.988" in found.detail
    assert (
        "97.5 % intervals of the means over the repeats, corrected for 2 places: workload a, threads 4" in found.detail
    )
    assert "throughput[new] / throughput[old] is 0.7" in found.detail
