"""Compares several contenders: a test of each pair, and a ranking at each point that shows which contenders differ.

All pairs at all points of a quantity are one family of tests (`comparison.compare_all`), corrected together by Holm's
procedure. Contenders that no test distinguishes share a letter: H.-P. Piepho, "An Algorithm for a Letter-Based
Representation of All-Pairwise Comparisons", Journal of Computational and Graphical Statistics 13 (2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.points import PointKeys
from benchbrief.results.compare.comparison import (
    Better,
    ComparedQuantity,
    Comparison,
    PairOutcome,
    PointValues,
    compare_all,
)
from benchbrief.results.result_messages import say

Pair = tuple[int, int]
"""The indexes of two contenders in the list of contenders, the lower index first."""
_APART = frozenset(("better", "worse", "differs"))


@dataclass(frozen=True)
class Ranking:
    """The contenders at one point of a quantity. `values` and `letters` are in the order of the contenders.

    `order` has the indexes of the contenders that have a value, the best first (or the highest first if neither higher
    nor lower is better). It is empty if a pair can't be judged; then `reason` says why. Contenders that share a letter
    could not be told apart.
    """

    quantity: str
    unit: str
    better: Better
    point: PointKeys
    values: tuple[PointValues | None, ...]
    letters: tuple[str, ...]
    order: tuple[int, ...]
    pairs: Mapping[Pair, Comparison]
    reason: str = ""

    @property
    def key(self) -> str:
        """Return the point as text, like a cell's id: `experiment/hardware/workload/threads=4`."""
        return next(iter(self.pairs.values())).key

    def are_apart(self, one: int, other: int) -> bool:
        return not set(self.letters[one]) & set(self.letters[other])

    @property
    def leading(self) -> tuple[int, ...]:
        """Return the first contender of the order, and all others that can't be told apart from it."""
        return tuple(each for each in self.order if not self.are_apart(self.order[0], each))


class Field(NamedTuple):
    """A comparison of several contenders: the outcome of each pair, and the rankings."""

    outcomes: Mapping[Pair, PairOutcome]
    rankings: tuple[Ranking, ...]


def rank(pairs: Mapping[Pair, Iterable[ComparedQuantity]], threshold: float = 0.0) -> Field:
    """Judge all pairs as one set of comparisons, and rank the contenders at each point that at least two contenders
    have.

    A change smaller than `threshold`, a share, does not count.
    """
    outcomes = dict(zip(pairs, compare_all(pairs.values(), threshold), strict=True))
    count = 1 + max(second for _, second in pairs)
    found: dict[tuple[str, PointKeys], dict[Pair, Comparison]] = {}
    for pair, outcome in outcomes.items():
        for row in outcome.comparisons:
            found.setdefault((row.quantity, row.point), {})[pair] = row
    return Field(outcomes, tuple(_ranking(rows, count) for rows in found.values()))


def _ranking(rows: Mapping[Pair, Comparison], count: int) -> Ranking:
    values: list[PointValues | None] = [None] * count
    for (first, second), row in rows.items():
        values[first], values[second] = row.first, row.second
    row = next(iter(rows.values()))
    unranked = Ranking(row.quantity, row.unit, row.better, row.point, tuple(values), ("",) * count, (), rows)
    present = [place for place, value in enumerate(values) if value is not None and value.is_known]
    if len(present) < 2:
        return replace(unranked, reason=next((each.reason for each in rows.values()), ""))
    judged = {pair: rows.get(pair) for pair in combinations(present, 2)}
    for each in judged.values():
        if each is None or each.verdict == "unknown":
            return replace(unranked, reason=each.reason if each else say.not_measured())
    order = sorted(present, key=lambda place: _worth(values[place], row.better), reverse=True)
    apart = {pair for pair, each in judged.items() if each and each.verdict in _APART}
    return replace(unranked, letters=_spread(letter_groups(order, apart), count), order=tuple(order))


def _worth(values: PointValues | None, better: Better) -> float:
    if values is None or (values.value is None and values.bounds is None):
        return -inf
    value = values.value if values.value is not None else values.bounds[0] if values.bounds else 0.0
    return -value if better == "lower" else value


def _spread(groups: Sequence[frozenset[int]], count: int) -> tuple[str, ...]:
    return tuple("".join(letter(at) for at, group in enumerate(groups) if place in group) for place in range(count))


def letter_groups(order: Sequence[int], apart: Iterable[Pair]) -> list[frozenset[int]]:
    """Group the contenders' indexes. Two contenders share a group exactly if their pair is not in `apart`.

    Uses Piepho's insert-and-absorb algorithm. Each letter stands for one group, and the groups are in the order of
    their best members.
    """
    groups = [frozenset(order)]
    for one, other in sorted(apart):
        split = [group for group in groups if one in group and other in group]
        if not split:
            continue
        groups = [group for group in groups if group not in split]
        for part in [group - {each} for group in split for each in (one, other)]:
            if not any(part <= group for group in groups):
                groups = [group for group in groups if not group < part] + [part]

    def places(group: frozenset[int]) -> list[int]:
        return sorted(map(order.index, group))

    return sorted(groups, key=places)


def letter(at: int) -> str:
    """Return the letter of a group: `a` to `z`, then the Greek alphabet."""
    return chr(ord("a") + at) if at < 26 else chr(ord("α") + at - 26)
