"""The cautions that `bench compare` prints about its numbers, one sentence each."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from benchbrief.cli.terminal import one_line
from benchbrief.comparing.compare_output import format_point
from benchbrief.compiler.explain.explain_diff import part_name, value_text
from benchbrief.compiler.explain.explain_rules import measured_for
from benchbrief.compiler.planning.plan_diff import ChangedPart, changed_parts
from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.message import Message, figure, speaker
from benchbrief.model.plan import DIMENSIONS, Arrivals, DimKey, Levels
from benchbrief.model.points import Curve, PointKeys, word_of_key
from benchbrief.model.precision import FEWEST
from benchbrief.results.analysis.cautions import read_other_work, resting_on_few
from benchbrief.results.compare.comparison import Comparison, PairOutcome, PointValues
from benchbrief.results.compare.contender import Contender, Difference, defined_otherwise
from benchbrief.results.compare.rankings import Field, Pair
from benchbrief.results.result_messages import ResultMessages
from benchbrief.results.store.searched_doubts import explain_marks

if TYPE_CHECKING:
    from benchbrief.model.plan import Cell
    from benchbrief.results.compare.contender import Contender


class CompareMessages(ResultMessages, Protocol):
    def side_simulated(self, *, name: object) -> Message: ...
    def sides_simulated(self, *, names: object) -> Message: ...
    def side_imported(self, *, name: object) -> Message: ...
    def sides_imported(self, *, names: object) -> Message: ...
    def busy_side(self, *, name: object, n: object, total: object, most: object) -> Message: ...
    def busy_sides(self, *, said: object) -> Message: ...
    def kinds_unknown(self, *, name: object) -> Message: ...
    def metric_otherwise(self, *, name: object, one: object, a: object, other: object, b: object) -> Message: ...
    def part_otherwise(
        self, *, name: object, of: object, one: object, a: object, other: object, b: object
    ) -> Message: ...
    def other_nodes(self, *, said: object) -> Message: ...
    def more_nodes(self, *, said: object, n: object) -> Message: ...
    def node_of(self, *, host: object, one: object, other: object) -> Message: ...
    def other_time(self, *, name: object, one: object, a: object, other: object, b: object) -> Message: ...
    def one_for_two(self, *, n: object, total: object) -> Message: ...
    def one_import_for_two(self, *, n: object, total: object) -> Message: ...
    def some_for_two(self, *, n: object, total: object) -> Message: ...
    def only_has(self, *, name: object, said: object) -> Message: ...
    def only_one_has(self, *, names: object, name: object, said: object) -> Message: ...
    def at_place(self, *, what: object, place: object) -> Message: ...
    def next_to(self, *, one: object, other: object) -> Message: ...
    def some_of(self, *, said: object, n: object) -> Message: ...
    def one_repeat(self, *, n: object, said: object) -> Message: ...
    def only_two_repeats(self, *, n: object, said: object) -> Message: ...
    def advise_budget(self) -> Message: ...
    def advise_repeats(self) -> Message: ...
    def thin_tail(self, *, n: object, total: object, fewest: object, said: object) -> Message: ...
    def apart(self, *, said: object) -> Message: ...
    def bounds_explained(self) -> Message: ...
    def level_range(self, *, low: object, high: object) -> Message: ...
    def pair_test(self, *, levels: object) -> Message: ...
    def pair_test_from(self, *, threshold: object, levels: object) -> Message: ...
    def loads_differ(self, *, n: object, total: object) -> Message: ...
    def loads_unjudged(self, *, n: object, total: object) -> Message: ...
    def one_for_some(self, *, n: object, total: object) -> Message: ...
    def one_import_for_some(self, *, n: object, total: object) -> Message: ...
    def few_repeats(self) -> Message: ...
    def thin_tails(self, *, n: object, total: object, fewest: object) -> Message: ...
    def point_count(self, *, n: object) -> Message: ...
    def rank_test(self, *, tests: object, levels: object) -> Message: ...
    def rank_test_from(self, *, tests: object, threshold: object, levels: object) -> Message: ...
    def not_equal(self) -> Message: ...
    def rank_loads(self, *, n: object, total: object) -> Message: ...
    def rank_loads_unjudged(self, *, n: object, total: object) -> Message: ...
    def not_told_apart(self, *, said: object, points: object) -> Message: ...
    def left_out_there(self, *, name: object, said: object, points: object) -> Message: ...


say: CompareMessages = speaker(CompareMessages)


def some_of(names: Sequence[str], most: int) -> str:
    """Return the first of some names, and how many more there are."""
    said = names[0]
    for name in names[1:most]:
        said = say.next_to(one=said, other=name)
    return say.some_of(said=said, n=len(names) - most) if len(names) > most else said


def listed(names: Sequence[str]) -> str:
    """Return `A`, `A and B`, or `A, B and C`."""
    return say.sides(one=some_of(names[:-1], len(names)), other=names[-1]) if len(names) > 1 else names[0]


_OF_THE_POINT = ("threads", "target", "repeat")
_NAMED = 3


@dataclass(frozen=True)
class Loads:
    """How the loads of two contenders differ. `other` maps each experiment and workload to its differences. If whole
    runs are compared, the key includes the hardware."""

    differences: tuple[Difference, ...]
    other: Mapping[PointKeys, tuple[str, ...]]

    def why_other(self, point: PointKeys) -> str:
        """Return how the loads behind the values at a point differ, or "" if they are equal. If the point lacks a
        dimension, its value covers all groups along that dimension. If the point has a factor's level, its value covers
        only groups that vary the factor.
        """
        keys = dict(point)
        levels = {dim for dim in keys if dim not in DIMENSIONS}
        found = [
            names
            for group, names in self.other.items()
            if levels <= dict(group).keys() and all(keys.get(dim, key) == key for dim, key in group)
        ]
        names = list(dict.fromkeys(name for each in found for name in each))
        if not names:
            return ""
        return say.other_load(said=some_of(names, _NAMED))


def compare_loads(first: Contender, second: Contender) -> Loads:
    """Compare the loads of everything that both sides measured. Experiments need not have the same name, because a
    metric may combine several. Differences in the load itself are listed first."""
    found: dict[bool, dict[Difference, None]] = {True: {}, False: {}}
    ours, theirs = _groups(first), _groups(second)
    # A group that only one side has is part of that side's points with fewer dimensions, and of no other points.
    alone = {group[1:] for group in ours} ^ {group[1:] for group in theirs}
    other: dict[PointKeys, tuple[str, ...]] = {}
    for group in sorted(alone, key=str):
        other[group] = (" on ".join(word_of_key(dim, key) for dim, key in group if key is not None) + " in one alone",)
    compared = [(*both, list(_parts(first, both[1], second, both[2]))) for both in _both(ours, theirs)]
    alike = {cell.id for _, *cells, parts in compared if not parts for cell in cells}
    for group, was, cell, parts in compared:
        if was.id in alike and cell.id in alike and was.experiment != cell.experiment:
            continue  # each has an equal cell under another name
        names = []
        for part in parts:
            of_load = part.owner.startswith("workload ")
            found[of_load][_difference(part, cell)] = None
            if of_load:
                names.append(part.name)
        if names:
            other[group] = tuple(dict.fromkeys((*other.get(group, ()), *names)))
    in_order = (sorted(found[of_load], key=lambda each: each.what) for of_load in (True, False))
    return Loads(tuple(each for found in in_order for each in found), other)


def _both(ours: Mapping[PointKeys, Cell], theirs: Mapping[PointKeys, Cell]) -> Iterator[tuple[PointKeys, Cell, Cell]]:
    """Yield the pairs of cells to compare, each with its group. An experiment is compared with the one of the same name
    on the other side. If there is none, it is compared with all experiments there that have the same workload and
    hardware.
    """
    for group, was in ours.items():
        if group in theirs:
            yield group, was, theirs[group]
    for group, was in ours.items():
        for namesake, cell in theirs.items():
            if group[1:] == namesake[1:] and (group not in theirs or namesake not in ours):
                yield group[1:], was, cell


def _groups(side: Contender) -> dict[PointKeys, Cell]:
    """Return one cell for each experiment, workload, hardware and level. The other cells of each group differ only in
    point and repeat."""
    found: dict[PointKeys, Cell] = {}
    for cell in side.plan.cells:
        keys: dict[str, DimKey] = {"experiment": cell.experiment, "workload": cell.workload, "hardware": cell.hardware}
        keys |= cell.levels.keys
        if side.has(keys):
            found.setdefault(tuple((dim, key) for dim, key in keys.items() if dim not in side.selected), cell)
    return found


def _parts(first: Contender, was: Cell, second: Contender, cell: Cell) -> Iterator[ChangedPart]:
    set_by_levels = {*_set_by_levels(first, was, second.levels), *_set_by_levels(second, cell, first.levels)}
    for found in changed_parts(first.plan, was, second.plan, cell):
        part = _with_defaults(found, _arrivals(first, was), _arrivals(second, cell))
        if part.before == part.after:
            continue
        if part.name.partition(".")[0] in _OF_THE_POINT and not part.owner:
            continue
        # Two hardware groups may differ in hosts and databases, and two levels in what they set: that is compared.
        of_hardware = second.hardware is not None and part.owner.startswith(("hardware ", "database "))
        if not of_hardware and (part.owner, part.name) not in set_by_levels:
            yield part


def _set_by_levels(side: Contender, cell: Cell, levels: Levels) -> Iterator[tuple[str, str]]:
    """Yield each part of a cell's definition, by owner and name, that would change if the cell were measured at the
    other side's levels."""
    there = Levels.of({**cell.levels.keys, **levels.keys})
    for each in side.plan.cells if there != cell.levels else ():
        if each.levels == there and Curve.of(each)._replace(levels=cell.levels) == Curve.of(cell):
            yield from ((part.owner, part.name) for part in changed_parts(side.plan, cell, side.plan, each))
            return


def _arrivals(side: Contender, cell: Cell) -> Arrivals:
    """Return how a cell's requests are spaced, as set by its experiment or by its tool's default."""
    spec = TOOL_SPECS.usable(cell.tool.driver)
    usual = spec.arrivals[0] if spec and spec.arrivals and cell.target is not None else "closed"
    return side.plan.experiments[cell.experiment].arrivals or Arrivals(kind=usual)


def _with_defaults(part: ChangedPart, ours: Arrivals, theirs: Arrivals) -> ChangedPart:
    """Return a changed part with defaults filled in: where a side does not set a setting of arrivals, its default is
    used."""
    _, is_setting, name = part.name.partition("arrivals.")
    if part.owner or not is_setting:
        return part
    before, after = (
        getattr(own, name) if said is None else said for said, own in ((part.before, ours), (part.after, theirs))
    )
    return replace(part, before=before, after=after)


def _difference(part: ChangedPart, cell: Cell) -> Difference:
    before, after = (value_text(part, value) if value is not None else "" for value in (part.before, part.after))
    if before == after:  # the words do not show the difference
        before, after = json.dumps(part.before), json.dumps(part.after)
    of = "" if part.owner or part.name.startswith("tool") else f"experiment {cell.experiment}."
    return Difference(f"{of}{part_name(part)}", before, after)


_NAMED_HOSTS = 5
_ENOUGH = 3
"""The fewest repeats that can tell a difference from noise."""

_NODES = """
SELECT DISTINCT c.hardware, p.source, p.value FROM properties p JOIN cells c USING (run_id, cell_id)
WHERE p.name = 'node' ORDER BY ALL
"""


def cautions(first: Contender, second: Contender, outcome: PairOutcome, threshold: float) -> Iterator[str]:
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
    """Warn of each contender's cells that were measured while other work kept the load generators' hosts busy, and say
    how much CPU this work used."""
    found = []
    for side, name in zip(sides, names, strict=True):
        cells = read_other_work(side.store, side.condition)
        if busy := [max(hosts.values()) for hosts in cells.values() if hosts]:
            found.append(say.busy_side(name=name, n=len(busy), total=len(cells), most=figure(max(busy), ".1f")))
    if found:
        yield say.busy_sides(said=listed(found))


def warn_of_shared_measurements(rows: Sequence[Comparison]) -> Iterator[str]:
    """Say how many comparisons use some of the same measurements on both sides, such as cells that a search took from
    another search."""
    if shared := sum(row.shares_some for row in rows):
        yield say.some_for_two(n=shared, total=len(rows))


def warn_of_bounds(rows: Sequence[Comparison]) -> Iterator[str]:
    sides = [side for row in rows for side in (row.first, row.second) if side is not None]
    if any(side.bounds for side in sides):
        yield say.bounds_explained()
    if text := explain_marks(side.doubt for side in sides):
        yield text


def warn_of_lengths(first: Contender, second: Contender, called: Sequence[str] = "AB") -> Iterator[str]:
    """Warn that an experiment's cells ended by different rules in two runs, so that they may have lasted different
    times."""
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
    """Group comparisons that have too few repeats by the advice on how to get more."""
    found: dict[str, list[Comparison]] = {}
    for row in rows:
        experiment = dict(row.point).get("experiment")
        short = [side for side, values in ((first, row.first), (second, row.second)) if _has_few(values)]
        left_out = short and all(_had_no_room(side, experiment) for side in short)
        advice = say.advise_budget() if left_out else say.advise_repeats()
        found.setdefault(advice, []).append(row)
    yield from found.items()


def _has_few(values: PointValues | None) -> bool:
    return values is None or len(values.repeats) < _ENOUGH


def _had_no_room(side: Contender, experiment: object) -> bool:
    """Return whether a budget may have left out planned repeats of the experiment or, with None, of any experiment."""
    named = side.plan.experiments.items()
    behind = [each for name, each in named if experiment is None or name == experiment]
    return all(each.repeats >= _ENOUGH and is_budgeted(side.plan, each) for each in behind)


def levels_of(rows: Sequence[Comparison]) -> str:
    """Return the confidence level of the intervals, such as `95 %`, or a range of levels."""
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


def warn_of_loads(outcome: PairOutcome, loads: Loads, *, judged: bool) -> Iterator[str]:
    count = sum(bool(loads.why_other(row.point)) for row in outcome.comparisons)
    if count:
        warn = say.loads_differ if judged else say.loads_unjudged
        yield warn(n=count, total=len(outcome.comparisons))


def warn_of_changes_shown_twice(rows: Sequence[Comparison]) -> Iterator[str]:
    """Name the rows that show two different changes: the change between A and B, and the change between their repeats,
    which is the tested one."""
    if apart := [_place_of(row) for row in rows if row.is_apart]:
        yield say.apart(said=some_of(apart, _NAMED))


def warn_of_definitions(
    first: Contender, second: Contender, names: Container[str] | None = None, called: Sequence[str] = "AB"
) -> Iterator[str]:
    """Yield a warning for each metric that is left out because the two runs define it differently. With `names`, only
    these metrics are checked."""
    for name, of, one, other in defined_otherwise(first.plan, second.plan):
        if names is None or name in names:
            arguments = {"name": name, "one": one, "a": called[0], "other": other, "b": called[1]}
            yield say.metric_otherwise(**arguments) if of == name else say.part_otherwise(of=of, **arguments)


def warn_of_other_nodes(first: Contender, second: Contender) -> Iterator[str]:
    """Name the hosts that were different nodes in A and B, because a change may then be due to the machine."""
    a, b = _nodes(first), _nodes(second)
    other = [host for host in a if host in b and a[host] != b[host]]
    if other:
        said: str = say.node_of(host=other[0], one=a[other[0]], other=b[other[0]])
        for host in other[1:_NAMED_HOSTS]:
            said = say.two_reasons(one=said, other=say.node_of(host=host, one=a[host], other=b[host]))
        more = len(other) - _NAMED_HOSTS
        yield say.other_nodes(said=say.more_nodes(said=said, n=more) if more > 0 else said)


def _nodes(side: Contender) -> dict[str, str]:
    """For each host, return the nodes that served as it, such as `n1` or `n1 and n2`."""
    found: dict[str, list[str]] = {}
    for hardware, host, node in side.store.sql(_NODES).rows:
        if side.hardware in (None, hardware) and node not in found.setdefault(str(host), []):
            found[str(host)].append(str(node))
    return {host: " and ".join(nodes) for host, nodes in found.items()}


def ranking_cautions(
    contenders: Sequence[Contender],
    names: str,
    field: Field,
    loads: Mapping[Pair, Loads],
    threshold: float,
    *,
    judged: bool,
) -> Iterator[str]:
    """Yield the cautions about a ranking. `judged` means that points with different loads are judged, too."""
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
    yield from _warn_of_ranked_tails(contenders, field)
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


def _warn_of_ranked_tails(contenders: Sequence[Contender], field: Field) -> Iterator[str]:
    few: set[tuple[str, object]] = set()
    for place, side in enumerate(contenders):
        rows = [next((row for pair, row in each.pairs.items() if place in pair), None) for each in field.rankings]
        few |= {(row.quantity, row.point) for row in resting_on_few(side, [row for row in rows if row is not None])}
    if few:
        yield say.thin_tails(n=len(few), total=_points(field), fewest=FEWEST)


def _points(field: Field) -> str:
    return say.point_count(n=figure(len(field.rankings), ","))
