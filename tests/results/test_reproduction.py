"""Tests the verdicts on a reproduction: on random numbers they are right as often as promised, and an open verdict says
why it is open.

For more campaigns, run `python -m benchmarks reproduction`.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.compile import check
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict
from benchbrief.results.analysis.reproduction import Reproduced, judge_reproduction
from benchbrief.results.analysis.stated_numbers import StatedNumber, ValueAt, distinct_numbers, state_claim
from tests.cli.specs import SMALL

NOISE, REPEATS, CLAIMS = 0.02, 5, 5


def stated(repeats: Sequence[float], name: str = "claim", **more: Any) -> StatedNumber:
    value = math.exp(math.fsum(map(math.log, repeats)) / len(repeats)) if min(repeats) > 0 else repeats[0]
    kept = tuple(repeats) if len(repeats) > 1 else ()
    told = {"kind": "claim", "expression": name, "unit": "", "is_relative": True, **more}
    return StatedNumber(name=name, values=(ValueAt(value=value, repeats=kept),), **told)


def campaign(noise: random.Random, true: float, changed: float = 1.0) -> list[StatedNumber]:
    """Return five claims that compare two sides. The first of them has changed."""
    values = [true * (changed if number == 0 else 1.0) for number in range(CLAIMS)]
    drawn = [[value * math.exp(noise.gauss(0, NOISE)) for _ in range(REPEATS)] for value in values]
    return [stated(repeats, f"claim {number}", no_difference=1.0) for number, repeats in enumerate(drawn)]


def one(before: Sequence[float], now: Sequence[float], **more: Any) -> Reproduced:
    (found,) = judge_reproduction([stated(before, **more)], [stated(now, **more)])
    return found


def verdict_of(before: Sequence[float], now: Sequence[float], **more: Any) -> tuple[str, str]:
    found = one(before, now, **more)
    return found.verdict, found.why


def test_the_same_again_holds_in_95_of_100_and_fails_in_at_most_one() -> None:
    noise, found = random.Random(1), Counter[str]()  # noqa: S311  # simulated noise
    for _ in range(200):
        found.update(each.verdict for each in judge_reproduction(campaign(noise, 2.0), campaign(noise, 2.0)))
    assert found["holds"] >= 0.95 * found.total()
    assert found["fails"] <= 0.01 * found.total()


@pytest.mark.parametrize("changed", [0.9, 1.1])
def test_a_change_of_ten_per_cent_is_found_in_95_of_100(changed: float) -> None:
    noise = random.Random(2)  # noqa: S311  # simulated noise
    pairs = [(campaign(noise, 2.0), campaign(noise, 2.0, changed)) for _ in range(200)]
    found = [judge_reproduction(*pair)[0].verdict for pair in pairs]
    assert found.count("fails") >= 0.95 * len(found)


def test_a_small_gain_that_is_lost_does_not_hold_though_the_numbers_are_near() -> None:
    found = one([1.05, 1.051, 1.049, 1.05], [1.001, 1.0, 0.999, 1.0], no_difference=1.0)
    assert (found.verdict, round(found.margin, 3)) == ("fails", 0.048)
    assert one([1.05, 1.051, 1.049, 1.05], [1.05, 1.048, 1.051, 1.05], no_difference=1.0).verdict == "holds"


def test_a_change_in_per_cent_is_judged_as_the_multiple_that_it_is() -> None:
    gain = {"no_difference": 0.0, "unit": "%"}
    assert one([20.0, 20.5, 19.5, 20.0], [20.3, 19.8, 20.2, 20.1], **gain).verdict == "holds"
    lost = one([20.0, 20.5, 19.5, 20.0], [2.0, 2.5, 1.5, 2.0], **gain)
    assert (lost.verdict, round(lost.ratio.value, 2) if lost.ratio else None) == ("fails", 0.85)


def test_what_is_open_says_how_many_repeats_would_decide() -> None:
    found = one([100.0, 104.0, 97.0, 101.0] * 5, [107.0, 95.0, 101.0], is_relative=False)
    assert found.verdict == "open"
    assert found.why == "wide"
    assert found.more is not None
    assert 3 < found.more < 30
    assert one([100.0, 150.0], [100.0, 140.0]).more is None, "the brief has too few"


def test_a_number_that_was_measured_once_is_judged_by_the_spread_of_the_other_side() -> None:
    many = [100.0, 100.2, 99.8, 100.1, 99.9, 100.0]
    assert one([100.1], many).verdict == "holds"
    assert one([140.0], many).verdict == "fails"
    assert one(many, [60.0]).verdict == "fails"
    for again in (100.0, 101.0):
        found = one([100.0], [again])
        assert (found.verdict, found.why) == ("open", "once")
        assert found.ratio is not None
        assert found.ratio.low is None


def test_numbers_that_do_not_vary_hold_only_where_they_are_the_same() -> None:
    assert verdict_of([5.0, 5.0, 5.0], [5.0, 5.0, 5.0]) == ("holds", "equal")
    assert verdict_of([5.0, 5.0, 5.0], [6.0, 6.0, 6.0]) == ("open", "still")


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        ([3.0] * 3, [3.0] * 3, ("holds", "equal")),
        ([3.0] * 3, [2.0] * 3, ("fails", "changed_exact")),
        ([3.0], [3.1], ("holds", "exact")),
        ([3.0], [2.0], ("fails", "changed_exact")),
        ([3.0, 3.0, 3.3], [2.0, 2.0, 3.0], ("open", "wide")),
    ],
)
def test_what_is_exact_is_judged_by_its_ratio_where_it_does_not_vary(
    before: list[float], now: list[float], verdict: tuple[str, str]
) -> None:
    assert verdict_of(before, now, exact=True) == verdict


@pytest.mark.parametrize(("bound", "better", "worse"), [("low", 6.0, 3.0), ("high", 3.0, 6.0)])
def test_more_than_a_promised_bound_holds_and_less_does_not(bound: str, better: float, worse: float) -> None:
    spread = (1.0, 1.01, 0.99, 1.005)
    before = [4.0 * each for each in spread]
    for factor, verdict in ((better, "holds"), (4.0, "holds"), (worse, "fails")):
        assert one(before, [factor * each for each in spread], bound=bound).verdict == verdict
    assert one(before, [better * each for each in spread]).verdict == "fails", "of a number without a bound"
    assert verdict_of([4.0], [better], bound=bound, exact=True) == ("holds", "beyond")


def test_what_is_open_says_which_side_has_the_noise() -> None:
    quiet, noisy = [100.0, 100.1, 99.9] * 4, [10.0, 900.0, 50.0, 400.0]
    assert verdict_of(quiet, noisy) == ("open", "noisy")
    assert verdict_of(noisy, quiet) == ("open", "noisy_before")
    assert verdict_of([1e-9, 1e9], [1e-9, 1e8]) == ("open", "endless")
    assert verdict_of([100.0, 104.0, 97.0, 101.0], [107.0]) == ("open", "wide"), "one repeat varies as theirs"


def test_a_number_is_near_exactly_as_far_as_the_words_say() -> None:
    spread = (1.0, 1.0001, 0.9999, 1.0)
    before = [100.0 * each for each in spread]
    for now, verdict in ((104.9, "holds"), (95.1, "holds"), (105.1, "fails"), (94.9, "fails")):
        assert one(before, [now * each for each in spread]).verdict == verdict


def test_on_another_machine_only_what_compares_is_judged() -> None:
    same = [2.0, 2.01, 1.99, 2.0]
    of_two, absolute = stated(same, "two", no_difference=1.0), stated(same, "one", is_relative=False)
    found = judge_reproduction([of_two, absolute], [of_two, absolute], "machine")
    assert [(each.verdict, each.why) for each in found] == [("holds", "near"), ("unlike", "machine")]
    assert {each.verdict for each in judge_reproduction([of_two], [of_two], "origin")} == {"unlike"}


def test_what_is_gone_defined_otherwise_or_was_never_said_is_not_comparable() -> None:
    same = [2.0, 2.01, 1.99]
    before = [stated(same, "gone"), stated(same, "other"), stated(same, "unsaid", is_said=False)]
    now = [stated(same, "other", expression="defined otherwise"), stated(same, "unsaid")]
    found = judge_reproduction(before, now)
    assert [(each.verdict, each.why) for each in found] == [
        ("unlike", "gone"),
        ("unlike", "defined"),
        ("unlike", "unsaid"),
    ]


def test_the_highest_and_the_lowest_of_the_same_points_are_two_numbers_and_the_worst_is_a_bound(
    tmp_path: Path,
) -> None:
    path, ratio = tmp_path / "a.bench", "throughput[rr, two] / throughput[rr, two][threads: 1] over threads"
    spec = SMALL.replace("@DATA@", "/data").replace("@TOOL@", 'db_bench("/opt/db_bench")')
    spec += f"""
claim best  "up to {{value:.3g}} times the throughput of 1 thread"    {{ value = max({ratio}) }}
claim worst "at least {{value:.3g}} times the throughput of 1 thread" {{ value = min({ratio}) }}
"""
    path.write_text(spec, encoding="utf-8")
    checked = check(path)
    assert checked.plan is not None, checked.diagnostics
    found = [
        state_claim(ClaimVerdict(claim, "once", value), "", lambda _: (), checked.plan)
        for claim, value in zip(checked.plan.claims, (2.0, 1.5), strict=True)
    ]
    assert distinct_numbers(found) == 2
    assert [each.bound for each in found] == ["", "low"]


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [
        ((True, True), (True, True), "holds"),
        ((False, True), (False, True), "holds"),
        ((True, True), (False, True), "fails"),
        ((False, True), (True, True), "fails"),
        ((True, True), (False, False), "open"),
        ((True, False), (False, True), "open"),
        ((True, True), (True, False), "open"),
        ((True, None), (True, None), "holds"),
        ((True, True), (None, None), "open"),
        ((None, None), (True, True), "open"),
    ],
)
def test_an_expectation_holds_where_its_verdict_is_that_of_the_brief(
    before: tuple[bool | None, bool | None], now: tuple[bool | None, bool | None], verdict: str
) -> None:
    one, other = (stated([2.0, 2.1], kind="expect", holds=holds, decided=decided) for holds, decided in (before, now))
    (found,) = judge_reproduction([one], [other])
    assert found.verdict == verdict
