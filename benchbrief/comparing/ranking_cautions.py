"""What a reader has to know of a ranking of `bench compare`, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchbrief.comparing.compare_messages import say, some_of
from benchbrief.comparing.comparison_cautions import (
    levels_of,
    warn_of_bounds,
    warn_of_busy_hosts,
    warn_of_definitions,
    warn_of_lengths,
    warn_of_origins,
    warn_of_shared_measurements,
)
from benchbrief.comparing.load_differences import Loads
from benchbrief.compiler.messages.text import figure
from benchbrief.results.compare.comparison import Comparison
from benchbrief.results.compare.contender import Contender
from benchbrief.results.compare.rankings import Field, Pair
from benchbrief.results.compare.tail_percentiles import FEWEST, resting_on_few

_ENOUGH = 3
_NAMED = 3


def ranking_cautions(
    contenders: Sequence[Contender],
    names: str,
    field: Field,
    loads: Mapping[Pair, Loads],
    threshold: float,
    *,
    judged: bool,
) -> Iterator[str]:
    """`judged`: points of another load are judged all the same."""
    rows = [row for outcome in field.outcomes.values() for row in outcome.comparisons]
    yield from _warn_of_loads(field, loads, judged=judged)
    yield from warn_of_origins(contenders, names)
    yield from warn_of_busy_hosts(contenders, names)
    for (a, b), outcome in field.outcomes.items():
        called = names[a], names[b]
        yield from warn_of_definitions(contenders[a], contenders[b], called=called)
        yield from warn_of_lengths(contenders[a], contenders[b], called)
        if a == 0:
            for only, name in ((outcome.only_first, called[0]), (outcome.only_second, called[1])):
                if only:
                    said = some_of(only, _NAMED)
                    yield say.only_one_has(names=say.sides(one=called[0], other=called[1]), name=name, said=said)
    if same := sum(row.verdict == "same measurement" for row in rows):
        imported = all(each.origin == "imported" for each in contenders)
        yield (say.one_import_for_some if imported else say.one_for_some)(n=same, total=len(rows))
    yield from warn_of_shared_measurements(rows)
    few = [row for row in rows if row.verdict == "within noise" and row.fewest < _ENOUGH]
    if few or any(row.lacks_repeats for row in rows):
        yield say.few_repeats()
    yield from _warn_of_tails(contenders, field)
    yield from warn_of_bounds(rows)
    if any(row.p is not None for row in rows):
        yield from _explain_test(rows, threshold)


def _explain_test(rows: Sequence[Comparison], threshold: float) -> Iterator[str]:
    families: dict[str, int] = {}
    for row in rows:
        if row.p is not None:
            families[row.family] = families.get(row.family, 0) + 1
    tests = ", ".join(f"{name}: {count}" for name, count in families.items())
    levels, of = levels_of(rows), figure(threshold * 100, ".3g")
    yield (
        say.rank_test_from(tests=tests, threshold=of, levels=levels)
        if threshold
        else say.rank_test(tests=tests, levels=levels)
    )
    yield say.not_equal()


def _warn_of_loads(field: Field, loads: Mapping[Pair, Loads], *, judged: bool) -> Iterator[str]:
    of_other = [
        ranking
        for ranking in field.rankings
        if any(loads[pair].why_other(row.point) for pair, row in ranking.pairs.items())
    ]
    if of_other:
        warn = say.rank_loads if judged else say.rank_loads_unjudged
        yield warn(n=len(of_other), total=_points(field))


def _warn_of_tails(contenders: Sequence[Contender], field: Field) -> Iterator[str]:
    few: set[tuple[str, object]] = set()
    for place, side in enumerate(contenders):
        rows = [next((row for pair, row in each.pairs.items() if place in pair), None) for each in field.rankings]
        few |= {(row.quantity, row.point) for row in resting_on_few(side, [row for row in rows if row is not None])}
    if few:
        yield say.thin_tails(n=len(few), total=_points(field), fewest=FEWEST)


def _points(field: Field) -> str:
    return say.point_count(n=figure(len(field.rankings), ","))
