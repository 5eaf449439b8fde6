"""Tests what held-out repeats are for: the highest of many noisy points is too high, and claims about it are wrong too
often."""

from __future__ import annotations

import random

import pytest

from benchbrief.model.held_out import advised_times
from benchbrief.results.statistics.selection_bias import overstatement
from benchmarks.claims import CLAIMS, SHAPES, campaign, overstated
from tests.support.longer import longer

CAMPAIGNS = 400


def draw(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # noise, not secrets


def test_of_campaigns_without_a_difference_few_say_a_wrong_one() -> None:
    noise = draw(7)
    wrong = sum(any(each.is_wrong for each in campaign(noise, SHAPES["alike"], 3)) for _ in range(CAMPAIGNS))
    assert wrong <= 33  # 5 % and three standard errors


def test_the_interval_of_held_out_repeats_has_the_true_value_as_often_as_it_says() -> None:
    noise = draw(8)
    found = [campaign(noise, SHAPES["plateau"], 3, claims=1)[0] for _ in range(2 * CAMPAIGNS)]
    inside = sum((each.verdict.low or 0) <= each.truth <= (each.verdict.high or 0) for each in found)
    assert 0.93 <= inside / len(found) <= 0.97


@pytest.mark.parametrize("claims", [1, 3, CLAIMS])
def test_with_as_many_as_are_advised_most_true_gains_are_said(claims: int) -> None:
    noise = draw(9)
    found = [
        each for _ in range(CAMPAIGNS // claims) for each in campaign(noise, [1.1] * 6, advised_times(claims), claims)
    ]
    said = sum(each.verdict.state == "decided" for each in found)
    assert said >= 0.74 * len(found)  # 80 % and three standard errors


@pytest.mark.parametrize("shape", ["alike", *longer("plateau", "rising")])
def test_a_highest_value_is_as_much_too_high_as_its_claim_says(shape: str) -> None:
    true, stated = overstated(draw(10), SHAPES[shape], CAMPAIGNS)  # type: ignore[index]  # one of them
    assert stated == pytest.approx(true, rel=0.2)


def test_a_point_far_above_the_others_is_hardly_overstated() -> None:
    noise = draw(11)
    repeats = [[noise.gauss(mean, 0.02) for _ in range(3)] for mean in (1.0, 1.1, 1.2, 2.0)]
    found = overstatement(repeats)
    assert found is not None
    assert 0 <= found < 0.005


def test_where_nothing_was_repeated_nothing_is_known_of_the_noise() -> None:
    assert overstatement([[1.0], [1.1]]) is None
    assert overstatement([[1.0, 1.1]]) is None
    assert overstatement([[1.0, 1.0], [1.0, 1.0]]) == 0.0


def test_an_overstatement_is_the_same_each_time_and_of_many_points_too() -> None:
    noise = draw(12)
    repeats = [[noise.gauss(1, 0.02) for _ in range(3)] for _ in range(1_000)]
    found = overstatement(repeats)
    assert found == overstatement(repeats)
    assert found is not None
    assert 0.02 < found < 4 * 0.02
