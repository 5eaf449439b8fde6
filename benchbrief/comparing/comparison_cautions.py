"""What a reader has to know of the numbers of `bench compare`, a sentence each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import one_line
from benchbrief.comparing.compare_output import point_of
from benchbrief.comparing.other_nodes import told_nodes
from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.dsl.diagnostics.plural import plural

if TYPE_CHECKING:
    from benchbrief.comparing.load_differences import Loads
    from benchbrief.results.compare.compared_quantities import Contender
    from benchbrief.results.compare.comparison import Comparison, Outcome, Values

_ENOUGH = 3
"""Repeats that can tell a difference from noise."""


def cautions(first: Contender, second: Contender, outcome: Outcome, threshold: float) -> Iterator[str]:
    """What a reader has to know of the numbers."""
    for origin, what in (("simulated", "nothing was measured"), ("imported", "not measured here")):
        sides = [name for side, name in ((first, "A"), (second, "B")) if side.origin == origin]
        if sides:
            yield f"{' and '.join(sides)} {'is' if len(sides) == 1 else 'are'} {origin}: {what}"
    for side, name in ((first, "A"), (second, "B")):
        if any(metric.percentile is None for metric in side.plan.metrics):
            yield (
                f"metrics of the spec are left out: an earlier benchbrief made the plan of {name}, which does not say "
                "which of them are percentiles; run the spec again to compare them"
            )
    yield from told_definitions(first, second)
    yield from told_nodes(first, second)
    yield from told_lengths(first, second)
    same = sum(row.verdict == "same measurement" for row in outcome.comparisons)
    if same:
        yield (
            f"{same} of {len(outcome.comparisons)} comparisons are of one measurement, which a run took from "
            "an earlier one: measure anew with `bench run --fresh`"
        )
    for only, name in ((outcome.only_first, "A"), (outcome.only_second, "B")):
        if only:
            more = f" and {len(only) - 3} more" if len(only) > 3 else ""
            yield f"only {name} has {', '.join(only[:3])}{more}"
    lone = [row for row in outcome.comparisons if "too few repeats" in row.reason]
    for advice, rows in _by_advice(lone, first, second):
        yield f"{plural(len(rows), 'comparison')} can't be told from noise with one repeat: {advice}"
    pairs = [row for row in outcome.comparisons if row.verdict == "within noise" and row.fewest == 2]
    for advice, rows in _by_advice(pairs, first, second):
        yield (
            f"{plural(len(rows), 'comparison')} within noise {'has' if len(rows) == 1 else 'have'} two repeats, which "
            f"can't tell a difference from noise, however large it looks: {advice}"
        )
    yield from _told_few(first, second, outcome.comparisons)
    yield from told_apart(outcome.comparisons)
    yield from told_bounds(outcome.comparisons)
    tested = sum(row.p is not None for row in outcome.comparisons)
    if tested:
        yield (
            "better and worse: p below 5 % after Holm's correction for the points of each metric"
            + (f", and a change of {threshold * 100:.3g} % or more" if threshold else "")
            + f"; ± and ( ) are {levels_of(outcome.comparisons)} intervals over repeats, "
            "−/+ the repeats of a percentile"
        )


def told_bounds(rows: Sequence[Comparison]) -> Iterator[str]:
    if any(side is not None and side.bounds for row in rows for side in (row.first, row.second)):
        yield (
            "sustained, and metrics of it: the runs of a search disagree between the two rates in ( ): none broke the "
            "promise up to the lower one, none kept it from the upper one on; better and worse need ( ) of A and B "
            "that do not overlap"
        )


def told_lengths(first: Contender, second: Contender, called: Sequence[str] = "AB") -> Iterator[str]:
    """That the cells of an experiment ended by another rule in one of two runs, so that their lengths may differ."""
    from benchbrief.compiler.explain.explain_steady import measured_for

    for name, ours in first.plan.experiments.items():
        theirs = second.plan.experiments.get(name)
        rules = (ours.until_steady, ours.measure_s), (theirs and theirs.until_steady, theirs and theirs.measure_s)
        if theirs and rules[0] != rules[1] and (ours.until_steady or theirs.until_steady):
            yield (
                f"experiment {name} is measured for {measured_for(ours)} in {called[0]}, and for "
                f"{measured_for(theirs)} in {called[1]}: a change may be that of the time"
            )


def _by_advice(
    rows: Sequence[Comparison], first: Contender, second: Contender
) -> Iterator[tuple[str, Sequence[Comparison]]]:
    """Group comparisons with too few repeats by what brings more of them."""
    found: dict[str, list[Comparison]] = {}
    for row in rows:
        experiment = dict(row.point).get("experiment")
        short = [side for side, values in ((first, row.first), (second, row.second)) if _has_few(values)]
        left_out = short and all(_had_no_room(side, experiment) for side in short)
        advice = (
            "run it with a larger budget, which left their other repeats out"
            if left_out
            else "say `repeats = 3` or more in the experiment"
        )
        found.setdefault(advice, []).append(row)
    yield from found.items()


def _has_few(values: Values | None) -> bool:
    return values is None or len(values.repeats) < _ENOUGH


def _had_no_room(side: Contender, experiment: object) -> bool:
    """Whether the plan has enough repeats of each experiment behind a comparison, and a budget that may leave some
    out. A reduced metric is behind none of its own."""
    named = side.plan.experiments.items()
    behind = [each for name, each in named if experiment is None or name == experiment]
    return all(each.repeats >= _ENOUGH and is_budgeted(side.plan, each) for each in behind)


def levels_of(rows: Sequence[Comparison]) -> str:
    """Return the level of the intervals, `95 %`, or from which to which level they are."""
    levels = sorted({side.level for row in rows for side in (row.first, row.second) if side})
    return " to ".join(f"{100 * each:.4g} %" for each in dict.fromkeys((levels[0], levels[-1])))


def _told_few(first: Contender, second: Contender, rows: Sequence[Comparison]) -> Iterator[str]:
    from benchbrief.results.analysis.tail_percentiles import FEWEST, resting_on_few

    found = [row for side in (first, second) for row in resting_on_few(side, rows)]
    few = [row for row in rows if row in found]
    if few:
        one = f"{few[0].quantity} at {one_line(point_of(few[0], {'experiment'}))}"
        yield (
            f"{len(few)} of {len(rows)} comparisons are of a percentile with fewer than {FEWEST} operations beyond it "
            f"in some repeat, which decide it ({one}{', ...' if len(few) > 1 else ''}): measure for longer"
        )


def told_loads(outcome: Outcome, loads: Loads, *, judged: bool) -> Iterator[str]:
    """That some of what is compared was measured with another load."""
    count = sum(bool(loads.why_other(row.point)) for row in outcome.comparisons)
    if count:
        yield f"{count} of {len(outcome.comparisons)} comparisons are of another load, listed above" + (
            "" if judged else ", and not judged: a change may be the load's; --other-load judges them all the same"
        )


def told_apart(rows: Sequence[Comparison]) -> Iterator[str]:
    """The rows whose change is shown twice: as A and B show it, and of the repeats, which the test compares."""
    apart = [f"{row.quantity} at {one_line(point_of(row, {'experiment'}))}" for row in rows if row.is_apart]
    if apart:
        more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
        yield (
            f"of repeats: the change of the repeats' own values, which the test compares. A and B are over all repeats "
            f"together, and differ by another amount ({', '.join(apart[:3])}{more})"
        )


def told_definitions(
    first: Contender, second: Contender, names: Container[str] | None = None, called: Sequence[str] = "AB"
) -> Iterator[str]:
    """The metrics (those of `names`) that are left out, since they are not the same in both."""
    from benchbrief.results.compare.metric_definitions import defined_otherwise

    for name, of, one, other in defined_otherwise(first.plan, second.plan):
        if names is None or name in names:
            whose = f"`{name}`" if of == name else f"`{name}`: `{of}`, which it is made of,"
            yield f"{whose} is defined otherwise, and left out: {one} in {called[0]}, {other} in {called[1]}"
