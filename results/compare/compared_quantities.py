"""The quantities that both sides of a comparison have, at each point, with their repeats.

A contender is a run, or one hardware or level of a run. A point is an experiment, a workload, a load, and everything
else that varies but is not compared, such as the hardware if whole runs are compared. If a planned repeat of a point
gave no value, the point has no value in any quantity, because the remaining repeats are not the planned sample.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import TypeVar

from benchbrief.compiler.metrics.lower_to_sql import sql_name, sql_text
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import strictest_level
from benchbrief.model.message import Message
from benchbrief.model.plan import DimKey, Levels, Metric, Plan, Query
from benchbrief.model.points import Curve, PointKeys
from benchbrief.results.compare.comparison import Better, ComparedQuantity, PointValues
from benchbrief.results.compare.contender import Contender, defined_otherwise
from benchbrief.results.result_messages import say
from benchbrief.results.store.measure_views import at_levels
from benchbrief.results.store.searched_doubts import KNOWN, Answering, Doubt, Keys, doubts, of_search, values_at
from benchbrief.results.store.store_schema import SENTENCES, read_sentences

UNBOUNDED = "what its searches leave open is not known"
_LEAST = 5e-324
"""A small rate that replaces 0, so that it can be a divisor."""
_SEARCHES = (
    "SELECT experiment, hardware, workload, levels, kept_to, broken_from FROM main.promises "
    "WHERE kind IS NOT NULL ORDER BY ALL"
)
_Search = tuple[Curve, tuple[float, float]]


def is_searched(query: Query) -> bool:
    """Return whether a query reads rates that were found by searches."""
    return any(read.view == "sustained" for read in query.reads or ())


def why_not_judged(query: Query, plans: Sequence[Plan], names: Sequence[str]) -> str:
    """Return why a metric of searched rates can't be judged for two plans, or "" if it can."""
    named = [read.keys.get("experiment") for read in query.reads or () if read.view == "sustained"]
    read = (name for name in plans[0].experiments if any(keys is None or name in keys for keys in named))
    return why_mixed(query) or next(filter(None, (other_promise(name, plans, names) for name in read)), "")


def why_mixed(query: Query) -> str:
    """Return why a query that combines searched rates with measures of repeats has no interval, or "" for other
    queries."""
    others = dict.fromkeys(read.measure for read in query.reads or () if read.view != "sustained")
    if not others:
        return ""
    return f"it has a rate that was searched for and {', '.join(others)} of repeats: no interval here covers both"


def other_promise(experiment: str, plans: Sequence[Plan], names: Sequence[str]) -> str:
    """Return a text with both promises if two plans search for different promises in an experiment, or "" otherwise.

    `names` are the plans' names in the text.
    """
    one, other = (each.promise if (each := plan.experiments.get(experiment)) else None for plan in plans)
    if one is None or other is None or one.is_same(other):
        return ""
    return f"another promise: {one.text} in {names[0]}, {other.text} in {names[1]}"


def searched_bounds(store: Answering, query: Query) -> Mapping[Keys, tuple[float, float]]:
    """Return the least and the largest value that a metric can have, given the results of its searches. The keys are
    the metric's places.

    Either bound may be infinite. Keys whose values can't be computed are left out.
    """
    searches = list(_searches(store))

    def values(rates: Iterable[float]) -> Mapping[Keys, float]:
        return values_at(store, query.sql, dict(zip((place for place, _ in searches), rates, strict=True)))

    lowest = values(ends[0] for _, ends in searches)
    rising: dict[Keys, list[bool]] = {keys: [] for keys in lowest}
    for moved in range(len(searches)):
        ends = [each[number == moved] for number, (_, each) in enumerate(searches)]
        for keys, value in values(ends).items():
            rising[keys].append(value > lowest[keys])
    found: dict[Keys, tuple[float, float]] = {}
    for signs in {tuple(each) for each in rising.values()}:
        low, high = (
            values(ends[up == best] for up, (_, ends) in zip(signs, searches, strict=True)) for best in (False, True)
        )
        for keys, each in rising.items():
            if tuple(each) == signs and not math.isnan(low[keys]) and not math.isnan(high[keys]):
                found[keys] = low[keys], high[keys]
    return found


def _searches(store: Answering) -> Iterator[_Search]:
    for experiment, hardware, workload, levels, kept_to, broken_from in store.sql(_SEARCHES).rows:
        if kept_to is not None or broken_from is not None:
            ends = kept_to or _LEAST, math.inf if broken_from is None else broken_from
            yield Curve(experiment, hardware, workload, Levels(levels)), ends


_Known = TypeVar("_Known")


@dataclass
class Gathered:
    """One contender's values by point, and the values of its repeats. A missing value is None."""

    values: dict[PointKeys, tuple[float | None, str]] = field(default_factory=dict)
    repeats: dict[PointKeys, list[float | None]] = field(default_factory=dict)
    bounds: dict[PointKeys, tuple[float, float]] = field(default_factory=dict)
    doubts: dict[PointKeys, Doubt] = field(default_factory=dict)

    def at(self, point: PointKeys, planned: int, behind: Measurements, *, percentile: bool) -> PointValues | None:
        """Return the values at a point. `planned` is the number of repeats planned there, or 0 if there are none."""
        if point not in self.values and not planned:
            return None
        value, reason = self.values.get(point, (None, ""))
        repeats = self.repeats.get(point, [])
        known = tuple(each for each in repeats if each is not None)
        of = max(planned, len(repeats))
        if known and len(known) < of:
            value, reason = None, say.repeats_valueless(n=of - len(known), of=of)
        elif value is None and not reason:
            merged = percentile and len(known) > 1
            reason = say.over_repeats(said=say.unmergeable()) if merged else say.no_repeat()
        bounds, doubt = self.bounds.get(point), self.doubts.get(point, KNOWN)
        return PointValues(value, known, percentile, reason, *behind.at(point), behind.level, bounds, doubt)


class Measurements:
    """The measurements behind a contender's cells, each identified by the digests of its raw outputs, or else by the
    run that made it.

    A file with several cells of a run, such as an imported table, counts as one measurement for each cell.
    """

    def __init__(self, side: Contender) -> None:
        self.level = strictest_level(side.plan)
        self._cells: list[tuple[dict[str, DimKey | None], dict[str, float]]] = []
        self._found: dict[tuple[str, ...], dict[PointKeys, dict[str, float]]] = {}
        self._dims = side.plan.point_dims
        rows = side.store.sql(f"{_MEASUREMENTS.format(side.columns)} AND {side.condition} GROUP BY ALL").rows
        for *keys, measurements, seconds in rows:
            there = dict(zip(measurements, seconds, strict=True))
            self._cells.append((dict(zip(self._dims, keys, strict=True)), there))

    def at(self, point: PointKeys) -> tuple[frozenset[str], float]:
        """Return the measurements at a point, and their total seconds. A point may have fewer dimensions than
        a cell."""
        dims = tuple(dim for dim, _ in point if dim in self._dims)
        if dims not in self._found:
            found = self._found[dims] = {}
            for keys, measured in self._cells:
                found.setdefault(tuple((dim, keys[dim]) for dim in dims), {}).update(measured)
        there = self._found[dims].get(tuple((dim, key) for dim, key in point if dim in dims), {})
        return frozenset(there), sum(there.values())


def _point(side: Contender, keys: Mapping[str, DimKey | None]) -> PointKeys:
    """Return a cell's point. The compared dimensions (such as the hardware) are left out, and so are factors that the
    cell's experiment does not vary. If the cell has a target, the threads are left out, too."""
    left_out = {*side.selected, *(factor for factor in side.plan.factors if keys.get(factor) is None)}
    if keys.get("target") is not None:
        left_out.add("threads")
    return tuple((dim, key) for dim, key in keys.items() if dim not in left_out)


_MEASUREMENTS = f"""
WITH outputs AS (
    SELECT run_id, cell_id, string_agg(sha256, ' ' ORDER BY sha256) AS digests FROM main.files GROUP BY ALL
), shared AS (
    SELECT run_id, digests FROM outputs GROUP BY ALL HAVING count(*) > 1
)
SELECT {{}}, list(coalesce(
    o.digests || CASE WHEN s.digests IS NULL THEN '' ELSE ' ' || c.cell_id END,
    coalesce(c.reused_from, c.run_id) || ' ' || c.cell_hash || ' ' || c.repeat
) ORDER BY c.run_id, c.cell_id), list(coalesce(c.measured_s, 0) ORDER BY c.run_id, c.cell_id)
FROM {at_levels("cells")} AS c LEFT JOIN outputs AS o ON o.run_id = c.run_id AND o.cell_id = c.cell_id
LEFT JOIN shared AS s ON s.run_id = o.run_id AND s.digests = o.digests
WHERE c.status = 'ok'"""  # noqa: S608  # our own names


def planned_repeats(side: Contender) -> Mapping[PointKeys, int]:
    """Return how many repeats the plan has at each point. Repeats that were not needed do not count."""
    rows = side.store.sql(
        f"SELECT {side.columns}, count(*) FROM measure.cells AS c WHERE {side.condition} GROUP BY ALL"  # noqa: S608  # ours
    ).rows
    return {_point(side, dict(zip(side.plan.point_dims, keys, strict=True))): count for *keys, count in rows}


def _counted(side: Contender, view: str, condition: str) -> Gathered:
    """Return a view's values by point, one for each planned cell, taken from the rows that meet `condition`."""
    found = Gathered()
    match = " AND ".join(f"m.{name} IS NOT DISTINCT FROM c.{name}" for name in map(sql_name, side.plan.point_dims))
    rows = side.store.sql(
        f"SELECT {side.columns}, list(m.value ORDER BY m.value) FROM measure.cells AS c LEFT JOIN measure.{view} AS m "  # noqa: S608  # ours
        f"ON {match} AND m.repeat = c.repeat AND m.phase IS NULL AND {condition} WHERE {side.condition} "
        "GROUP BY ALL ORDER BY ALL"
    ).rows
    for *keys, values in rows:
        found.repeats.setdefault(_point(side, dict(zip(side.plan.point_dims, keys, strict=True))), []).extend(values)
    for point, values in found.repeats.items():
        known = [value for value in values if value is not None]
        found.values[point] = (statistics.fmean(known) if known else None, "")
    return found


def throughput(side: Contender) -> Gathered:
    return _counted(side, "throughput", "m.operation = 'all'")


def errors(side: Contender) -> Gathered:
    return _counted(side, "errors", "true")


def latencies(side: Contender, statistics: Collection[str] | None = None) -> dict[str, Gathered]:
    """Return latencies by name (such as `latency.p99[read]`), both merged over all repeats and for each repeat.

    `statistics` are the statistics to read, such as `p999`. By default, these are all statistics except the minimum and
    the maximum.
    """
    sentences = read_sentences(side.store.sql(SENTENCES).rows)
    found: dict[str, Gathered] = {}
    wanted = "c.statistic NOT IN ('min', 'max')"
    if statistics is not None:
        wanted += f" AND list_contains([{', '.join(map(sql_text, statistics))}], replace(c.statistic, '.', ''))"
    rows = side.store.sql(  # repeats may be many, and a row of its own for each takes far more memory
        f"SELECT {side.columns}, c.operation, c.statistic, c.repeat IS NULL AS merged, "  # noqa: S608  # ours
        "list(c.value_s ORDER BY c.repeat, c.value_s), coalesce(any_value(c.reason), '') "
        f"FROM {at_levels('latency')} AS c WHERE c.source IS NULL AND c.reported AND c.phase IS NULL "
        f"AND {wanted} AND {side.condition} GROUP BY ALL ORDER BY ALL"
    ).rows
    for *keys, operation, statistic, merged, values, reason in rows:
        name = f"latency.{statistic.replace('.', '')}[{operation}]"
        point = _point(side, dict(zip(side.plan.point_dims, keys, strict=True)))
        gathered = found.setdefault(name, Gathered())
        if merged:
            gathered.values[point] = (values[-1], sentences.get(reason, reason))
        else:
            gathered.repeats.setdefault(point, []).extend(values)
    return found


def sustained(side: Contender) -> Gathered:
    """Return the rates that searches for a promise found. An undecided rate has no value, but it may have bounds."""
    dims = ("experiment", "hardware", "workload", *side.plan.factors)
    rows = side.store.sql(
        f"SELECT {', '.join(f'c.{sql_name(dim)}' for dim in dims)}, c.sustained, coalesce(c.reason, ''), c.kept_to, "  # noqa: S608  # ours
        "c.broken_from, c.kind, c.by_generator, c.sure "
        f"FROM {at_levels('promises')} AS c WHERE c.kind IS NOT NULL AND {side.condition} ORDER BY ALL"
    ).rows
    sentences = read_sentences(side.store.sql(SENTENCES).rows)
    found = Gathered()
    for *keys, value, reason, kept_to, broken_from, kind, by_generator, sure in rows:
        point = _point(side, dict(zip(dims, keys, strict=True)))
        found.values[point] = (value, sentences.get(reason, reason))
        if any(each is not None for each in (value, kept_to, broken_from)):
            found.bounds[point] = (kept_to or 0.0, math.inf if broken_from is None else broken_from)
        if value is not None:
            found.doubts[point] = of_search(kind, by_generator=by_generator, sure=sure)
    return found


def metric_values(side: Contender, query: Query, repeats: Query | None) -> Gathered:
    found = Gathered()
    for keys, value, reason in _rows(side, query):
        found.values[_point(side, keys)] = (value, reason)
    for keys, value, _ in _rows(side, repeats) if repeats else ():
        keys.pop("repeat")
        found.repeats.setdefault(_point(side, keys), []).append(value)

    def keep(by_keys: Mapping[tuple[DimKey | None, ...], _Known], at: dict[PointKeys, _Known]) -> None:
        for key, known in by_keys.items():
            of: dict[str, DimKey | None] = dict(zip(query.dims, key, strict=True))
            if side.has(of):
                at[_point(side, of)] = known

    keep(doubts(side.store, query.sql), found.doubts)
    if is_searched(query) and not why_mixed(query):
        keep(searched_bounds(side.store, query), found.bounds)
    return found


def _rows(side: Contender, query: Query) -> Iterator[tuple[dict[str, DimKey | None], float | None, str]]:
    for row in side.store.query(query):
        keys: dict[str, DimKey | None] = dict(zip(query.dims, row[:-1], strict=True))
        if side.has(keys):
            yield keys, row[-1], getattr(row, "reason", None) or ""


SUSTAINED = "sustained"


@dataclass(frozen=True)
class _Side:
    """One contender's quantities, and its comparable metrics."""

    of: Contender
    planned: Mapping[PointKeys, int]
    behind: Measurements
    found: Mapping[str, Gathered]
    metrics: Mapping[str, Metric]


def quantities(first: Contender, second: Contender, *, metrics: bool = True) -> Iterator[ComparedQuantity]:
    """Yield each quantity that both contenders have: throughput, errors, latency percentiles and means by operation,
    and the rates that searches for a promise found.

    Unless `metrics` is False, this includes each metric that has a value for each repeat and is the same in both specs.
    """
    yield from _in_common(_side(first, metrics), _side(second, metrics))


def pairs(
    sides: Sequence[Contender],
    *,
    metrics: bool = False,
    names: Sequence[str] = (),
    statistics: Collection[str] | None = None,
) -> Iterator[tuple[Contender, Contender, Iterator[ComparedQuantity]]]:
    """Yield each pair of contenders with the quantities that both have. Metrics are included only if asked for.

    Each contender is read once. `names` are the contenders' names in reasons, by default their labels. `statistics` are
    the statistics of latencies to read, by default all.
    """
    called = names or [side.label for side in sides]
    measured = [_side(side, metrics, statistics) for side in sides]
    for (first, one), (second, other) in combinations(zip(measured, called, strict=True), 2):
        yield first.of, second.of, _in_common(first, second, names=(one, other))


def own_quantities(side: Contender) -> Iterator[ComparedQuantity]:
    """Yield each quantity of one contender compared with itself. Errors are included even if no operation failed."""
    found = _side(side, metrics=True)
    yield from _in_common(found, found, without_errors=True)


def _side(side: Contender, metrics: bool, statistics: Collection[str] | None = None) -> _Side:
    """Return the quantities that a contender measured, and its metrics that can be compared.

    A metric can be compared if it has the compared dimensions. It must also have one value for each repeat, read
    searched rates, or be computed from declared values alone. If the plan does not say which metrics are percentiles,
    no metric can be compared.
    """
    metrics_by_name = {
        each.name: each
        for each in side.plan.metrics
        if metrics
        and (each.repeats or is_searched(each.query) or each.query.reads == ())
        and each.percentile is not None
        and side.selected.keys() <= set(each.query.dims)
    }
    latency = latencies(side, statistics)
    found = {"throughput": throughput(side), **latency, "errors": errors(side), SUSTAINED: sustained(side)}
    return _Side(side, planned_repeats(side), Measurements(side), found, metrics_by_name)


def _in_common(
    *sides: _Side, names: tuple[str, str] = ("A", "B"), without_errors: bool = False
) -> Iterator[ComparedQuantity]:
    """Yield each quantity found on both sides of a comparison. With `without_errors`, errors are included even if no
    operation failed."""

    def quantity(
        name: str, unit: str, better: Better, found: Sequence[Gathered], percentile: bool = False
    ) -> ComparedQuantity:
        made = _quantity(name, unit, better, sides, found, percentile=percentile)
        return replace(made, signed=False, by_ratio=unit != "share", names=names)

    for name in dict.fromkeys(name for side in sides for name in side.found):
        found = [side.found.get(name, Gathered()) for side in sides]
        if name.startswith("latency."):
            latency = quantity(name, "s", "lower", found, name.startswith("latency.p"))
            if latency.points:
                yield latency
        elif name == SUSTAINED and any(each.values for each in found):
            searched = quantity(name, "ops/s", "higher", found)
            yield replace(searched, unlike=dict(_other_promises(sides, searched.points, names)))
        elif name == "throughput":
            yield quantity(name, "ops/s", "higher", found)
        elif without_errors or any(value for each in found for value, _ in each.values.values()):
            yield quantity(name, "share", "lower", found)
    first, second = sides
    others = {each.name for each in defined_otherwise(first.of.plan, second.of.plan)} if first.metrics else set()
    for name, metric in first.metrics.items():
        if name not in second.metrics or name in others:
            continue
        found = [metric_values(side.of, side.metrics[name].query, side.metrics[name].repeats) for side in sides]
        of = metric.query
        compared = quantity(name, of.unit, metric.better, found, bool(metric.percentile))
        compared = replace(compared, signed=of.signed, by_ratio=of.by_ratio, exact=of.exact)
        if is_searched(metric.query):
            why = why_not_judged(metric.query, [side.of.plan for side in sides], names)
            unbounded = [point for each in found for point in each.values if point not in each.bounds]
            unlike = dict.fromkeys(compared.points, why) if why else dict.fromkeys(unbounded, UNBOUNDED)
            compared = replace(compared, unlike=unlike)
        yield compared


def _other_promises(
    sides: Sequence[_Side], points: Iterable[PointKeys], names: tuple[str, str]
) -> Iterator[tuple[PointKeys, str]]:
    """Yield the points where the plans search for different promises, each with a text that names both."""
    for point in points:
        name = str(dict(point).get("experiment"))
        if why := other_promise(name, [side.of.plan for side in sides], names):
            yield point, why


def _quantity(
    name: str, unit: str, better: Better, sides: Sequence[_Side], found: Sequence[Gathered], *, percentile: bool
) -> ComparedQuantity:
    def at(which: int, point: PointKeys) -> PointValues | None:
        side = sides[which]
        return found[which].at(point, side.planned.get(point, 0), side.behind, percentile=percentile)

    points = sorted({**found[0].values, **found[1].values}, key=_order(sides[0].of.plan))
    values = {point: (at(0, point), at(1, point)) for point in points}
    # If the tool gives a value on neither side, the value is not missing, because no measurement could have it.
    given = {
        point: both for point, both in values.items() if not all(each is None or _is_not_given(each) for each in both)
    }
    return ComparedQuantity(name, unit, better, given)


def _is_not_given(values: PointValues) -> bool:
    """Return whether a statistic is missing only because the tool does not report it."""
    return not values.is_known and not values.repeats and is_not_given(values.reason)


def is_not_given(reason: str) -> bool:
    """Return whether the reason for a missing value is that the tool does not report it."""
    if not isinstance(reason, Message):
        return False
    if reason.code == "over_repeats" and isinstance(said := reason.args.get("said"), Message):
        return said.code == "unmergeable"
    mean = reason.code == "gave_no" and reason.args.get("statistic") == "mean"
    return mean or reason.code in ("gave_no_histogram", "not_printed", "unmergeable")


def _order(plan: Plan) -> Callable[[PointKeys], list[tuple[int, float, str]]]:
    """Return a sort key for points that puts names in the plan's order, and numbers in order of value."""
    names: dict[str, Iterable[DimKey]] = {
        "experiment": plan.experiments,
        "hardware": plan.hardware,
        "workload": plan.workloads,
        **{name: [level.key for level in factor.levels] for name, factor in plan.factors.items()},
    }
    places = {dim: {name: place for place, name in enumerate(declared)} for dim, declared in names.items()}

    def order(point: PointKeys) -> list[tuple[int, float, str]]:
        return [
            (places.get(dim, {}).get(key, 0), 0.0, key) if isinstance(key, str) else (0, float(key or 0), "")
            for dim, key in point
        ]

    return order


def by_default(known: Mapping[str, ComparedQuantity], *plans: Plan) -> list[ComparedQuantity]:
    """Return the quantities that are shown by default.

    Latencies other than the 99th percentile are left out. Points at rates that a search for a promise chose are left
    out, too, because each search chooses different rates.
    """
    searching = {name for plan in plans for name, each in plan.experiments.items() if each.promise}
    reads = {metric.name: metric.query.reads or () for plan in plans for metric in plan.metrics}
    names = {name for plan in plans for name in plan.experiments}

    def is_chosen(quantity: str, point: PointKeys) -> bool:
        keys = dict(point)
        if keys.get("target") is None:
            return False
        read = {name for name in names for each in reads.get(quantity, ()) if each.covers({"experiment": name})}
        return keys.get("experiment") in searching or (bool(read) and read <= searching)

    shown = (each for name, each in known.items() if not name.startswith("latency.") or name.startswith("latency.p99["))
    planned = (
        replace(each, points={at: sides for at, sides in each.points.items() if not is_chosen(each.name, at)})
        for each in shown
    )
    return [each for each in planned if each.points]
