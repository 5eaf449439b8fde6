"""What a reader has to know of the numbers of `bench compare`, a sentence each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from benchbrief.cli.terminal import one_line
from benchbrief.comparing.compare_messages import listed, say, some_of
from benchbrief.comparing.compare_output import format_point
from benchbrief.comparing.load_differences import Loads
from benchbrief.compiler.explain.explain_rules import measured_for
from benchbrief.compiler.messages.text import figure
from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.results.analysis.other_work import read_other_work
from benchbrief.results.compare.comparison import Comparison, Outcome, Values
from benchbrief.results.compare.contender import Contender
from benchbrief.results.compare.metric_definitions import defined_otherwise
from benchbrief.results.compare.tail_percentiles import FEWEST, resting_on_few
from benchbrief.results.store.searched_doubts import explain_marks

_NAMED = 3
_NAMED_HOSTS = 5
_ENOUGH = 3
"""Repeats that can tell a difference from noise."""

_NODES = """
SELECT DISTINCT c.hardware, p.source, p.value FROM properties p JOIN cells c USING (run_id, cell_id)
WHERE p.name = 'node' ORDER BY ALL
"""


def cautions(first: Contender, second: Contender, outcome: Outcome, threshold: float) -> Iterator[str]:
    yield from warn_of_origins((first, second), "AB")
    yield from warn_of_busy_hosts((first, second), "AB")
    for side, name in ((first, "A"), (second, "B")):
        if any(metric.percentile is None for metric in side.plan.metrics):
            yield say.kinds_unknown(name=name)
    yield from warn_of_definitions(first, second)
    yield from warn_of_other_nodes(first, second)
    yield from warn_of_lengths(first, second)
    if same := sum(row.verdict == "same measurement" for row in outcome.comparisons):
        told = say.one_import_for_two if first.origin == second.origin == "imported" else say.one_for_two
        yield told(n=same, total=len(outcome.comparisons))
    yield from warn_of_shared_measurements(outcome.comparisons)
    for only, name in ((outcome.only_first, "A"), (outcome.only_second, "B")):
        if only:
            yield say.only_has(name=name, said=some_of(only, _NAMED))
    lone = [row for row in outcome.comparisons if row.lacks_repeats]
    for advice, rows in _by_advice(lone, first, second):
        yield say.one_repeat(n=figure(len(rows), ","), said=advice)
    pairs = [row for row in outcome.comparisons if row.verdict == "within noise" and row.fewest == 2]
    for advice, rows in _by_advice(pairs, first, second):
        yield say.only_two_repeats(n=figure(len(rows), ","), said=advice)
    yield from _warn_of_tails(first, second, outcome.comparisons)
    yield from warn_of_changes_shown_twice(outcome.comparisons)
    yield from warn_of_bounds(outcome.comparisons)
    if any(row.p is not None for row in outcome.comparisons):
        levels = levels_of(outcome.comparisons)
        of = figure(threshold * 100, ".3g")
        yield say.pair_test_from(threshold=of, levels=levels) if threshold else say.pair_test(levels=levels)


def warn_of_origins(sides: Sequence[Contender], names: str) -> Iterator[str]:
    for origin, one, several in (
        ("simulated", say.side_simulated, say.sides_simulated),
        ("imported", say.side_imported, say.sides_imported),
    ):
        if found := [name for side, name in zip(sides, names, strict=True) if side.origin == origin]:
            yield several(names=listed(found)) if len(found) > 1 else one(name=found[0])


def warn_of_busy_hosts(sides: Sequence[Contender], names: str) -> Iterator[str]:
    """Of which contenders cells were measured while other work kept hosts of load generators busy: how many, and how
    much it took."""
    found = []
    for side, name in zip(sides, names, strict=True):
        cells = read_other_work(side.store, side.condition)
        if busy := [cores for _, cores in cells if cores is not None]:
            found.append(say.busy_side(name=name, n=len(busy), total=len(cells), most=figure(max(busy), ".1f")))
    if found:
        yield say.busy_sides(said=listed(found))


def warn_of_shared_measurements(rows: Sequence[Comparison]) -> Iterator[str]:
    """How many comparisons have some measurements on both sides, such as cells that a search took from another one."""
    if shared := sum(row.shares_some for row in rows):
        yield say.some_for_two(n=shared, total=len(rows))


def warn_of_bounds(rows: Sequence[Comparison]) -> Iterator[str]:
    sides = [side for row in rows for side in (row.first, row.second) if side is not None]
    if any(side.bounds for side in sides):
        yield say.bounds_explained()
    if text := explain_marks(side.doubt for side in sides):
        yield text


def warn_of_lengths(first: Contender, second: Contender, called: Sequence[str] = "AB") -> Iterator[str]:
    """That the cells of an experiment ended by another rule in one of two runs, so that their lengths may differ."""
    for name, ours in first.plan.experiments.items():
        theirs = second.plan.experiments.get(name)
        rules = (ours.until_steady, ours.measure_s), (theirs and theirs.until_steady, theirs and theirs.measure_s)
        if theirs and rules[0] != rules[1] and (ours.until_steady or theirs.until_steady):
            yield say.other_time(
                name=name, one=measured_for(ours), a=called[0], other=measured_for(theirs), b=called[1]
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
        advice = say.advise_budget() if left_out else say.advise_repeats()
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
    low, high = (f"{100 * each:.4g} %" for each in (levels[0], levels[-1]))
    return low if low == high else say.level_range(low=low, high=high)


def _warn_of_tails(first: Contender, second: Contender, rows: Sequence[Comparison]) -> Iterator[str]:
    found = [row for side in (first, second) for row in resting_on_few(side, rows)]
    few = [row for row in rows if row in found]
    if few:
        one = _place_of(few[0])
        said = f"{one}, ..." if len(few) > 1 else one
        yield say.thin_tail(n=len(few), total=len(rows), fewest=FEWEST, said=said)


def _place_of(row: Comparison) -> str:
    return say.at_place(what=row.quantity, place=one_line(format_point(row, {"experiment"})))


def warn_of_loads(outcome: Outcome, loads: Loads, *, judged: bool) -> Iterator[str]:
    count = sum(bool(loads.why_other(row.point)) for row in outcome.comparisons)
    if count:
        warn = say.loads_differ if judged else say.loads_unjudged
        yield warn(n=count, total=len(outcome.comparisons))


def warn_of_changes_shown_twice(rows: Sequence[Comparison]) -> Iterator[str]:
    """The rows whose change is shown twice: as A and B show it, and of the repeats, which the test compares."""
    if apart := [_place_of(row) for row in rows if row.is_apart]:
        yield say.apart(said=some_of(apart, _NAMED))


def warn_of_definitions(
    first: Contender, second: Contender, names: Container[str] | None = None, called: Sequence[str] = "AB"
) -> Iterator[str]:
    """The metrics (those of `names`) that are left out, since they are not the same in both."""
    for name, of, one, other in defined_otherwise(first.plan, second.plan):
        if names is None or name in names:
            arguments = {"name": name, "one": one, "a": called[0], "other": other, "b": called[1]}
            yield say.metric_otherwise(**arguments) if of == name else say.part_otherwise(of=of, **arguments)


def warn_of_other_nodes(first: Contender, second: Contender) -> Iterator[str]:
    """Which hosts were other nodes in A than in B, so that a change may be that of the machine."""
    a, b = _nodes(first), _nodes(second)
    other = [host for host in a if host in b and a[host] != b[host]]
    if other:
        said: str = say.node_of(host=other[0], one=a[other[0]], other=b[other[0]])
        for host in other[1:_NAMED_HOSTS]:
            said = say.two_reasons(one=said, other=say.node_of(host=host, one=a[host], other=b[host]))
        more = len(other) - _NAMED_HOSTS
        yield say.other_nodes(said=say.more_nodes(said=said, n=more) if more > 0 else said)


def _nodes(side: Contender) -> dict[str, str]:
    """Return the nodes of each host, `n1` or `n1 and n2`."""
    found: dict[str, list[str]] = {}
    for hardware, host, node in side.store.sql(_NODES).rows:
        if side.hardware in (None, hardware) and node not in found.setdefault(str(host), []):
            found[str(host)].append(str(node))
    return {host: " and ".join(nodes) for host, nodes in found.items()}
