"""Tests rankings of several contenders: letters, contenders that no test distinguishes, and points without a
ranking."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from benchbrief.model.points import PointKeys
from benchbrief.results.compare.comparison import Better, ComparedQuantity, PointValues
from benchbrief.results.compare.rankings import Field, Pair, Ranking, letter_groups, rank

POINT: PointKeys = (("workload", "a"),)


def values(*repeats: float, percentile: bool = False) -> PointValues:
    return PointValues(sum(repeats) / len(repeats), repeats, percentile)


def around(mean: float, spread: float = 0.01) -> PointValues:
    return values(*(mean * (1 + spread * step) for step in (-1, 0, 1, 0.5)))


def field(
    *contenders: PointValues | None, better: Better = "higher", unlike: tuple[Pair, ...] = (), threshold: float = 0.0
) -> Field:
    names = "ABCDEFGH"
    pairs = {
        (a, b): [
            ComparedQuantity(
                "throughput",
                "ops/s",
                better,
                {POINT: (contenders[a], contenders[b])},
                {POINT: "another load: records"} if (a, b) in unlike else {},
                names=(names[a], names[b]),
            )
        ]
        for a, b in combinations(range(len(contenders)), 2)
    }
    return rank(pairs, threshold)


def ranked(*contenders: PointValues | None, better: Better = "higher", threshold: float = 0.0) -> Ranking:
    (ranking,) = field(*contenders, better=better, threshold=threshold).rankings
    return ranking


def test_the_best_has_the_first_letter_and_those_that_no_test_separates_share_one() -> None:
    ranking = ranked(around(100), around(200), around(199))
    assert ranking.letters == ("b", "a", "a")
    assert ranking.order == (1, 2, 0)
    assert ranking.leading == (1, 2)
    assert not ranking.are_apart(1, 2)
    assert ranking.are_apart(0, 1)


def test_lower_is_better_turns_the_order_round() -> None:
    ranking = ranked(around(100), around(200), around(150), better="lower")
    assert ranking.order == (0, 2, 1)
    assert ranking.letters == ("a", "c", "b")
    assert ranking.leading == (0,)


def test_a_contender_between_two_that_differ_has_both_their_letters() -> None:
    ranking = ranked(around(100, 0.03), around(106, 0.06), around(112, 0.03))
    assert ranking.letters == ("b", "ab", "a")
    assert ranking.leading == (2, 1)


@pytest.mark.parametrize("seed", range(40))
def test_two_share_a_letter_exactly_where_no_test_separates_them(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # not for secrets
    order = list(range(chance.randint(2, 8)))
    chance.shuffle(order)
    apart = {pair for pair in combinations(sorted(order), 2) if chance.random() < chance.choice((0.2, 0.5, 0.9))}
    groups = letter_groups(order, apart)
    for pair in combinations(sorted(order), 2):
        assert any(set(pair) <= group for group in groups) == (pair not in apart)
    assert not any(one < other for one in groups for other in groups), "no letter says what another one says"
    assert order[0] in groups[0]


def test_a_point_where_a_pair_has_another_load_is_not_ranked() -> None:
    (ranking,) = field(around(100), around(200), around(300), unlike=((0, 2),)).rankings
    assert ranking.order == ()
    assert ranking.letters == ("", "", "")
    assert ranking.reason == "another load: records"


def test_a_contender_without_a_value_is_left_out_and_the_others_are_ranked() -> None:
    ranking = ranked(around(100), None, around(200))
    assert ranking.order == (2, 0)
    assert ranking.letters == ("b", "", "a")
    failed = PointValues(None, (1.0, 2.0), percentile=False, reason="1 of 3 repeats without a value")
    assert ranked(around(100), failed, around(200)).letters == ("b", "", "a")


def test_single_repeats_are_not_ranked() -> None:
    ranking = ranked(values(1.0), values(2.0), values(3.0))
    assert ranking.order == ()
    assert "too few repeats" in ranking.reason


def test_a_value_missing_in_the_third_is_named_by_its_letter() -> None:
    outcome = field(around(100), around(100), PointValues(None, (), percentile=False, reason="it failed")).outcomes[
        0, 2
    ]
    assert outcome.comparisons[0].reason == "missing in C: it failed"


def test_a_change_below_the_threshold_separates_no_two() -> None:
    assert ranked(around(100), around(104), around(200), threshold=0.1).letters == ("b", "b", "a")


def test_all_pairs_at_all_points_are_corrected_as_one_family() -> None:
    two = {
        (0, 1): [ComparedQuantity("throughput", "ops/s", "higher", {POINT: (around(100), around(102))})],
    }
    alone = rank(two).outcomes[0, 1].comparisons[0]
    among = field(around(100), around(102), around(100), around(100), around(100)).outcomes[0, 1].comparisons[0]
    assert alone.p == among.p
    assert alone.p_holm == alone.p
    assert among.p_holm is not None
    assert alone.p is not None
    assert among.p_holm > alone.p


def test_equal_contenders_get_a_false_letter_in_at_most_five_of_a_hundred_rankings() -> None:
    chance = random.Random(1)  # noqa: S311  # not for secrets
    false = 0
    for _ in range(200):
        contenders = [values(*(chance.gauss(100, 2) for _ in range(5))) for _ in range(5)]
        false += set(ranked(*contenders).letters) != {"a"}
    assert false <= 16, "10 are expected at most, and 16 are two standard deviations above"
