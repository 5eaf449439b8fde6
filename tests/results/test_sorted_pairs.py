"""Tests that differences or ratios of all pairs can be looked up by their index, as in a sorted list, however many
pairs there are."""

from __future__ import annotations

import random
import statistics
from itertools import product

import pytest

from benchbrief.results.statistics import sorted_pairs
from benchbrief.results.statistics.sorted_pairs import SortedPairs
from tests.support.longer import longer


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("digits", [1, 9])
@pytest.mark.parametrize(("n", "m"), [(1, 7), (8, 9), *longer((40, 31)), (3, 200)])
def test_the_places_are_those_of_all_pairs_in_order(
    n: int, m: int, digits: int, by_ratio: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_pairs, "FEW", 16)
    drawn = random.Random(n * m + digits)  # noqa: S311  # reproducible draws
    a, b = ([round(drawn.lognormvariate(0, 0.5) + 0.1, digits) for _ in range(size)] for size in (n, m))
    wanted = sorted(above / below if by_ratio else above - below for below, above in product(a, b))
    found = SortedPairs(a, b, by_ratio=by_ratio)
    assert [found[place] for place in range(len(found))] == wanted
    assert found[-2] == wanted[-2]
    assert found.median == statistics.median(wanted)


def test_thousands_of_repeats_are_compared() -> None:
    a, b = [float(value) for value in range(1, 6001)], [float(value) for value in range(3, 6003)]
    assert SortedPairs(a, b, by_ratio=False).median == 2.0
