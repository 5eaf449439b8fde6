"""The comparisons of a site: the hardware of a run, ranked, and a run against the one before it.

The rules are those of `bench compare` (`results/compare/`). What was defined otherwise is not judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from benchbrief.history.many_runs import RunValue, SiteRun
from benchbrief.history.site.site_trends import ERRORS, is_shown
from benchbrief.model.points import PointKeys
from benchbrief.results.compare.comparison import Comparison, Quantity, compare
from benchbrief.results.compare.rankings import Pair, Ranking, rank
from benchbrief.results.result_messages import say

MOST = 16
"""The most compared hardware: pairs grow with the square."""


def hardware_rankings(run: SiteRun) -> list[Ranking]:
    """Return the hardware of a run ranked at each point; none where only one was measured."""
    keys = [key for key in run.hardware if any(value.point.get("hardware") == key for value in run.values)]
    if not 2 <= len(keys) <= MOST:
        return []
    sides = [
        _by_point([v for v in run.values if v.point.get("hardware") == key], lambda value: value.without("hardware"))
        for key in keys
    ]
    pairs = {pair: _quantities(sides, pair, keys) for pair in combinations(range(len(keys)), 2)}
    return list(rank(pairs).rankings)


def judge_by_earlier(run: SiteRun, before: SiteRun) -> list[Comparison]:
    """Return the run judged by an earlier one of its suite, point by point."""
    sides = [_by_point(each.values, lambda value: value.at) for each in (before, run)]
    return list(compare(_quantities(sides, (0, 1), (before.id, run.id))).comparisons)


def changed_facts(run: SiteRun, before: SiteRun) -> list[tuple[str, str, str]]:
    """Return the facts that are not the same of both, with their values: of hosts, tools and servers."""
    one, other = (_facts(each) for each in (before, run))
    names = dict.fromkeys((*one, *other))
    return [(name, one.get(name, ""), other.get(name, "")) for name in names if one.get(name) != other.get(name)]


def _facts(run: SiteRun) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for facts in run.facts.values():
        for name, value in facts.items():
            found.setdefault(name, {}).setdefault(value)
    return {name: ", ".join(values) for name, values in found.items()}


_Side = Mapping[tuple[str, PointKeys], RunValue]


def _by_point(values: Sequence[RunValue], at: Callable[[RunValue], PointKeys]) -> _Side:
    return {(value.quantity, at(value)): value for value in values if is_shown(value) or value.quantity == ERRORS}


def _quantities(sides: Sequence[_Side], pair: Pair, names: Sequence[str]) -> list[Quantity]:
    one, other = (sides[place] for place in pair)
    points: dict[str, dict[PointKeys, tuple[RunValue | None, RunValue | None]]] = {}
    for quantity, point in dict.fromkeys((*one, *other)):
        both = one.get((quantity, point)), other.get((quantity, point))
        if quantity == ERRORS and not any(value.value for side in sides if (value := side.get((quantity, point)))):
            continue  # no contender has any
        points.setdefault(quantity, {})[point] = both
    made = []
    for quantity, at in points.items():
        known = next(value for both in at.values() for value in both if value is not None)
        otherwise = [point for point, (a, b) in at.items() if a and b and a.definition != b.definition]
        unlike = dict.fromkeys(otherwise, say.defined_otherwise())
        values = {point: (a.values if a else None, b.values if b else None) for point, (a, b) in at.items()}
        called = names[pair[0]], names[pair[1]]
        made.append(Quantity(quantity, known.unit, known.better, values, unlike, names=called))
    return made
