"""What a reader has to know of a ranking of `bench compare`, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchbrief.comparing.comparison_cautions import levels_of, told_bounds, told_definitions, told_lengths
from benchbrief.dsl.diagnostics.plural import plural

if TYPE_CHECKING:
    from benchbrief.comparing.load_differences import Loads
    from benchbrief.results.compare.compared_quantities import Contender
    from benchbrief.results.compare.comparison import Comparison
    from benchbrief.results.compare.rankings import Field, Pair

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
    yield from _told_loads(field, loads, judged=judged)
    for origin, what in (("simulated", "nothing was measured"), ("imported", "not measured here")):
        sides = [name for side, name in zip(contenders, names, strict=True) if side.origin == origin]
        if sides:
            yield f"{_listed(sides)} {'is' if len(sides) == 1 else 'are'} {origin}: {what}"
    for (a, b), outcome in field.outcomes.items():
        called = names[a], names[b]
        yield from told_definitions(contenders[a], contenders[b], called=called)
        yield from told_lengths(contenders[a], contenders[b], called)
        if a == 0:
            for only, name in ((outcome.only_first, called[0]), (outcome.only_second, called[1])):
                if only:
                    more = f" and {len(only) - _NAMED} more" if len(only) > _NAMED else ""
                    yield f"of {' and '.join(called)}, only {name} has {', '.join(only[:_NAMED])}{more}"
    if same := sum(row.verdict == "same measurement" for row in rows):
        yield (
            f"{same} of {len(rows)} comparisons of two are of one measurement, which a run took from an earlier one: "
            "measure anew with `bench run --fresh`"
        )
    few = [row for row in rows if row.verdict == "within noise" and row.fewest < _ENOUGH]
    if few or any("too few repeats" in row.reason for row in rows):
        yield (
            "one repeat can't be told from noise, and two hardly, however large a difference looks: say `repeats = 3` "
            "or more in the experiment"
        )
    yield from _told_tails(contenders, field)
    yield from told_bounds(rows)
    if any(row.p is not None for row in rows):
        yield from _told_test(rows, threshold)


def _told_test(rows: Sequence[Comparison], threshold: float) -> Iterator[str]:
    families: dict[str, int] = {}
    for row in rows:
        if row.p is not None:
            families[row.family] = families.get(row.family, 0) + 1
    tests = ", ".join(f"{count} of {name}" for name, count in families.items())
    yield (
        "contenders with a letter in common are not told apart: p of 5 % or more after Holm's correction for all pairs "
        f"at all points of a metric ({tests})"
        + (f", or a change below {threshold * 100:.3g} %" if threshold else "")
        + f"; ± are {levels_of(rows)} intervals over repeats, −/+ the repeats of a percentile"
    )
    yield "not told apart does not say equal: more repeats may tell them apart"


def _told_loads(field: Field, loads: Mapping[Pair, Loads], *, judged: bool) -> Iterator[str]:
    of_other = [
        ranking
        for ranking in field.rankings
        if any(loads[pair].why_other(row.point) for pair, row in ranking.pairs.items())
    ]
    if of_other:
        one = len(of_other) == 1
        yield (
            f"{len(of_other)} of {plural(len(field.rankings), 'point')} {'has' if one else 'have'} contenders of "
            "another load, listed above"
            + ("" if judged else f", and {'is' if one else 'are'} not ranked: a change may be the load's")
            + ("" if judged else "; --other-load ranks them all the same")
        )


def _told_tails(contenders: Sequence[Contender], field: Field) -> Iterator[str]:
    """That percentiles rest on few operations."""
    from benchbrief.results.analysis.tail_percentiles import FEWEST, resting_on_few

    few: set[tuple[str, object]] = set()
    for place, side in enumerate(contenders):
        rows = [next((row for pair, row in each.pairs.items() if place in pair), None) for each in field.rankings]
        few |= {(row.quantity, row.point) for row in resting_on_few(side, [row for row in rows if row is not None])}
    if few:
        yield (
            f"{len(few)} of {plural(len(field.rankings), 'point')} {'is' if len(few) == 1 else 'are'} of a percentile "
            f"with fewer than {FEWEST} operations beyond it in some repeat, which decide it: measure for longer"
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
