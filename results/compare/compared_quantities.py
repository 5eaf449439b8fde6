"""The contenders of a comparison, and what they have in common: each quantity at each point, with its repeats.

A contender is a run, or one hardware of a run. A point has an experiment, workload and load, and a hardware when
whole runs are compared. When one of a point's planned repeats gave no value, the point has none in any quantity:
the other repeats are another sample than the planned one.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Protocol, TypeVar

from benchbrief.compiler.planning.budgets import strictest_level
from benchbrief.compiler.planning.plan import Metric, Plan, Query
from benchbrief.results.compare.comparison import Better, Point, Quantity, Values
from benchbrief.results.compare.metric_definitions import defined_otherwise
from benchbrief.results.compare.searched_doubts import KNOWN, Doubt, doubts, of_search
from benchbrief.results.compare.searched_metrics import UNBOUNDED, is_searched, mixed, searched_bounds, why_not_judged
from benchbrief.results.ingest.latency_rows import is_not_given
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.store import Key

_MINUS = re.compile(r"-|\b(?:ln|log\w*|regr_\w+|corr|covar\w*)\(")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_POINT = ("experiment", "hardware", "workload", "threads", "target")
SUSTAINED = "sustained"


class Rows(Protocol):
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


_Known = TypeVar("_Known")


class ReadSide(Protocol):
    """The part of a run's `Store` that is used here."""

    def query(self, query: Query) -> Sequence[Sequence[Any]]: ...
    def sql(self, text: str) -> Rows: ...


@dataclass(frozen=True)
class Contender:
    """A finished run, or its part with `hardware`. `label` is the user's name for it.

    `origin` says where its numbers are from: measured, simulated or imported.
    """

    label: str
    plan: Plan
    store: ReadSide
    hardware: str | None = None
    origin: str = "measured"


@dataclass
class _Gathered:
    """One contender's values by point, with those of its repeats beside them. None for a missing value."""

    values: dict[Point, tuple[float | None, str]] = field(default_factory=dict)
    repeats: dict[Point, list[float | None]] = field(default_factory=dict)
    bounds: dict[Point, tuple[float, float]] = field(default_factory=dict)
    doubts: dict[Point, Doubt] = field(default_factory=dict)

    def at(self, point: Point, planned: int, behind: _Measurements, *, percentile: bool) -> Values | None:
        """Return the values at a point. `planned` is its number of repeats in the plan, 0 when there is none or
        several."""
        if point not in self.values and not planned:
            return None
        value, reason = self.values.get(point, (None, ""))
        told = self.repeats.get(point, [])
        known = tuple(each for each in told if each is not None)
        of = max(planned, len(told))
        if known and len(known) < of:
            value, reason = None, say.repeats_valueless(n=of - len(known), of=of)
        elif value is None and not reason:
            merged = percentile and len(known) > 1
            reason = say.over_repeats(said=say.unmergeable()) if merged else say.no_repeat()
        bounds, doubt = self.bounds.get(point), self.doubts.get(point, KNOWN)
        return Values(value, known, percentile, reason, *behind.at(point), behind.level, bounds, doubt)


class _Measurements:
    """What a contender's cells rest on: the digests of their raw outputs, else the run that measured them."""

    def __init__(self, side: Contender) -> None:
        self.level = strictest_level(side.plan)
        self._cells: list[tuple[dict[str, Key], str, float]] = []
        self._found: dict[tuple[str, ...], dict[Point, dict[str, float]]] = {}
        rows = side.store.sql(
            f"SELECT {_CELLS}, coalesce((SELECT string_agg(f.sha256, ' ' ORDER BY f.sha256) FROM main.files AS f "  # noqa: S608  # ours
            "WHERE f.run_id = c.run_id AND f.cell_id = c.cell_id), "
            "coalesce(c.reused_from, c.run_id) || ' ' || c.cell_hash || ' ' || c.repeat), coalesce(c.measured_s, 0) "
            f"FROM main.cells AS c WHERE c.status = 'ok' AND {_of(side)}"
        ).rows
        for *keys, measurement, seconds in rows:
            self._cells.append((dict(zip(_POINT, keys, strict=True)), measurement, seconds))

    def at(self, point: Point) -> tuple[frozenset[str], float]:
        """Return this for all cells at the point, which may have fewer dimensions than a cell, and the sum of their
        seconds."""
        dims = tuple(dim for dim, _ in point if dim in _POINT)
        if dims not in self._found:
            found = self._found[dims] = {}
            for keys, measurement, seconds in self._cells:
                found.setdefault(tuple((dim, keys[dim]) for dim in dims), {})[measurement] = seconds
        there = self._found[dims].get(tuple((dim, key) for dim, key in point if dim in _POINT), {})
        return frozenset(there), sum(there.values())


@dataclass(frozen=True)
class _Side:
    """What one contender measured: each quantity except metrics, and its metrics that can be compared."""

    of: Contender
    planned: Mapping[Point, int]
    behind: _Measurements
    found: Mapping[str, _Gathered]
    metrics: Mapping[str, Metric]


def quantities(first: Contender, second: Contender, *, metrics: bool = True) -> Iterator[Quantity]:
    """Yield each quantity that both contenders have: throughput, errors, latency percentiles and means by operation,
    and the rates that searches for a promise found.

    Also yields each metric that has a value for each repeat and is the same in both specs, unless `metrics` is
    False.
    """
    yield from _in_common(_side(first, metrics), _side(second, metrics))


def pairs(
    sides: Sequence[Contender], *, metrics: bool = False, names: Sequence[str] = ()
) -> Iterator[tuple[Contender, Contender, Iterator[Quantity]]]:
    """Yield each two of the contenders with what both have: without metrics, unless asked for. Asks once for what each
    measured. `names` are what reasons call the contenders, else their labels."""
    called = names or [side.label for side in sides]
    measured = [_side(side, metrics) for side in sides]
    for (first, one), (second, other) in combinations(zip(measured, called, strict=True), 2):
        yield first.of, second.of, _in_common(first, second, names=(one, other))


def own_quantities(side: Contender) -> Iterator[Quantity]:
    """Yield each quantity of one contender, with its values on both sides. Errors are among them also at 0."""
    found = _side(side, metrics=True)
    yield from _in_common(found, found, without_errors=True)


def _side(side: Contender, metrics: bool) -> _Side:
    """Return what a contender measured, with metrics of one value a repeat that do not compare the hardware itself.

    A plan that does not say which metrics are percentiles has none to compare.
    """
    told = {
        each.name: each
        for each in side.plan.metrics
        if metrics
        and (each.repeats or is_searched(each.query))
        and each.percentile is not None
        and (side.hardware is None or "hardware" in each.query.dims)
    }
    found = {"throughput": _throughput(side), **_latencies(side), "errors": _errors(side), SUSTAINED: _sustained(side)}
    return _Side(side, _planned(side), _Measurements(side), found, told)


def _in_common(*sides: _Side, names: tuple[str, str] = ("A", "B"), without_errors: bool = False) -> Iterator[Quantity]:
    """`without_errors`: also the errors of contenders that have none."""

    def quantity(
        name: str, unit: str, better: Better, found: Sequence[_Gathered], percentile: bool, signed: bool = False
    ) -> Quantity:
        made = _quantity(name, unit, better, sides, found, percentile=percentile)
        return replace(made, signed=signed, names=names)

    for name in dict.fromkeys(name for side in sides for name in side.found):
        found = [side.found.get(name, _Gathered()) for side in sides]
        if name.startswith("latency."):
            latency = quantity(name, "s", "lower", found, name.startswith("latency.p"))
            if latency.points:
                yield latency
        elif name == SUSTAINED and any(each.values for each in found):
            searched = quantity(name, "ops/s", "higher", found, percentile=False)
            yield replace(searched, unlike=dict(_other_promises(sides, searched.points, names)))
        elif name == "throughput":
            yield quantity(name, "ops/s", "higher", found, percentile=False)
        elif without_errors or any(value for each in found for value, _ in each.values.values()):
            yield quantity(name, "share", "lower", found, percentile=False)
    first, second = sides
    others = {each.name for each in defined_otherwise(first.of.plan, second.of.plan)} if first.metrics else set()
    for name, metric in first.metrics.items():
        if name not in second.metrics or name in others:
            continue
        found = [_metric(side.of, side.metrics[name].query, side.metrics[name].repeats) for side in sides]
        told = quantity(
            name, metric.query.unit, metric.better, found, bool(metric.percentile), signed=_may_be_below_0(metric.query)
        )
        if is_searched(metric.query):
            why = why_not_judged(metric.query, [side.of.plan for side in sides])
            unbounded = [point for each in found for point in each.values if point not in each.bounds]
            unlike = dict.fromkeys(told.points, why) if why else dict.fromkeys(unbounded, UNBOUNDED)
            told = replace(told, unlike=unlike)
        yield told


def _other_promises(
    sides: Sequence[_Side], points: Iterable[Point], names: tuple[str, str]
) -> Iterator[tuple[Point, str]]:
    """Yield the points whose searches are for another promise, with both."""
    for point in points:
        name = str(dict(point).get("experiment"))
        one, other = (side.of.plan.experiments.get(name) for side in sides)
        if one and other and one.promise and other.promise and not one.promise.is_same(other.promise):
            yield point, f"another promise: {one.promise.text} in {names[0]}, {other.promise.text} in {names[1]}"


def _may_be_below_0(query: Query) -> bool:
    """Return whether it subtracts, or reads a temperature or a logarithm: other measures start at 0."""
    return bool(_MINUS.search(_QUOTED.sub("", query.sql))) or "degC" in query.unit


def _quantity(
    name: str, unit: str, better: Better, sides: Sequence[_Side], found: Sequence[_Gathered], *, percentile: bool
) -> Quantity:
    def at(which: int, point: Point) -> Values | None:
        side = sides[which]
        return found[which].at(point, side.planned.get(point, 0), side.behind, percentile=percentile)

    points = sorted({**found[0].values, **found[1].values}, key=_order(sides[0].of.plan))
    values = {point: (at(0, point), at(1, point)) for point in points}
    # What the tool gives to neither side is not missing: no measurement could have had it.
    given = {
        point: both for point, both in values.items() if not all(each is None or _is_not_given(each) for each in both)
    }
    return Quantity(name, unit, better, given)


def _is_not_given(values: Values) -> bool:
    return not values.is_known and not values.repeats and is_not_given(values.reason)


def _order(plan: Plan) -> Callable[[Point], list[tuple[int, float, str]]]:
    """Return a sort key for points: names in the plan's order, numbers by value."""
    names: dict[str, Mapping[str, object]] = {
        "experiment": plan.experiments,
        "hardware": plan.hardware,
        "workload": plan.workloads,
    }
    places = {dim: {name: place for place, name in enumerate(declared)} for dim, declared in names.items()}

    def order(point: Point) -> list[tuple[int, float, str]]:
        return [
            (places.get(dim, {}).get(key, 0), 0.0, key) if isinstance(key, str) else (0, float(key or 0), "")
            for dim, key in point
        ]

    return order


def _point(side: Contender, keys: Mapping[str, Key]) -> Point:
    """Return a cell's point. For one hardware, that is what differs and not part of it. A target replaces threads."""
    left_out = {"hardware"} if side.hardware is not None else set()
    if keys.get("target") is not None:
        left_out.add("threads")
    return tuple((dim, key) for dim, key in keys.items() if dim not in left_out)


def _of(side: Contender) -> str:
    quoted = (side.hardware or "").replace("'", "''")
    return f"c.hardware = '{quoted}'" if side.hardware is not None else "true"


_CELLS = "c.experiment, c.hardware, c.workload, c.threads, c.target"
_MATCH = (
    "m.experiment = c.experiment AND m.hardware = c.hardware AND m.workload = c.workload "
    "AND m.threads IS NOT DISTINCT FROM c.threads AND m.target IS NOT DISTINCT FROM c.target"
)


def _planned(side: Contender) -> Mapping[Point, int]:
    """Return how many repeats the plan has of each point, without those that were not needed."""
    rows = side.store.sql(f"SELECT {_CELLS}, count(*) FROM measure.cells AS c WHERE {_of(side)} GROUP BY ALL").rows  # noqa: S608  # ours
    return {_point(side, dict(zip(_POINT, keys, strict=True))): count for *keys, count in rows}


def _counted(side: Contender, view: str, condition: str) -> _Gathered:
    """Return a value of each cell, by point. Every planned cell has a row."""
    found = _Gathered()
    rows = side.store.sql(
        f"SELECT {_CELLS}, m.value FROM measure.cells AS c LEFT JOIN measure.{view} AS m "  # noqa: S608  # ours
        f"ON {_MATCH} AND m.repeat = c.repeat AND m.phase IS NULL AND {condition} WHERE {_of(side)} ORDER BY ALL"
    ).rows
    for *keys, value in rows:
        found.repeats.setdefault(_point(side, dict(zip(_POINT, keys, strict=True))), []).append(value)
    for point, values in found.repeats.items():
        known = [value for value in values if value is not None]
        found.values[point] = (statistics.fmean(known) if known else None, "")
    return found


def _throughput(side: Contender) -> _Gathered:
    return _counted(side, "throughput", "m.operation = 'all'")


def _errors(side: Contender) -> _Gathered:
    return _counted(side, "errors", "true")


def _latencies(side: Contender) -> dict[str, _Gathered]:
    """Return latencies by `latency.p99[read]`, merged over the repeats, and of each repeat."""
    rows = side.store.sql(
        f"SELECT {_CELLS}, c.operation, c.statistic, c.repeat, c.value_s, coalesce(c.reason, '') "  # noqa: S608  # ours
        "FROM main.latency AS c WHERE c.source IS NULL AND c.reported AND c.phase IS NULL "
        "AND c.statistic NOT IN ('min', 'max') "
        f"AND {_of(side)} ORDER BY ALL"
    ).rows
    found: dict[str, _Gathered] = {}
    for *keys, operation, statistic, repeat, value, reason in rows:
        name = f"latency.{statistic.replace('.', '')}[{operation}]"
        point = _point(side, dict(zip(_POINT, keys, strict=True)))
        gathered = found.setdefault(name, _Gathered())
        if repeat is None:
            gathered.values[point] = (value, reason)
        else:
            gathered.repeats.setdefault(point, []).append(value)
    return found


def _sustained(side: Contender) -> _Gathered:
    """Return what searches for a promise found. An undecided rate has no value, and may have bounds."""
    rows = side.store.sql(
        "SELECT c.experiment, c.hardware, c.workload, c.sustained, coalesce(c.reason, ''), c.kept_to, c.broken_from, "  # noqa: S608  # ours
        "c.kind, c.by_generator, c.sure "
        f"FROM main.promises AS c WHERE c.kind IS NOT NULL AND {_of(side)} ORDER BY ALL"
    ).rows
    found = _Gathered()
    for *keys, value, reason, kept_to, broken_from, kind, by_generator, sure in rows:
        point = _point(side, dict(zip(_POINT, keys, strict=False)))
        found.values[point] = (value, reason)
        if any(each is not None for each in (value, kept_to, broken_from)):
            found.bounds[point] = (kept_to or 0.0, math.inf if broken_from is None else broken_from)
        if value is not None:
            found.doubts[point] = of_search(kind, by_generator=by_generator, sure=sure)
    return found


def _metric(side: Contender, query: Query, repeats: Query | None) -> _Gathered:
    found = _Gathered()
    for keys, value, reason in _rows(side, query):
        found.values[_point(side, keys)] = (value, reason)
    for keys, value, _ in _rows(side, repeats) if repeats else ():
        keys.pop("repeat")
        found.repeats.setdefault(_point(side, keys), []).append(value)

    def keep(by_keys: Mapping[tuple[Key, ...], _Known], at: dict[Point, _Known]) -> None:
        for key, known in by_keys.items():
            of: dict[str, Key] = dict(zip(query.dims, key, strict=True))
            if side.hardware is None or of.get("hardware") == side.hardware:
                at[_point(side, of)] = known

    keep(doubts(side.store, query), found.doubts)
    if is_searched(query) and not mixed(query):
        keep(searched_bounds(side.store, query), found.bounds)
    return found


def _rows(side: Contender, query: Query) -> Iterator[tuple[dict[str, Key], float | None, str]]:
    for row in side.store.query(query):
        keys: dict[str, Key] = dict(zip(query.dims, row[:-1], strict=True))
        if side.hardware is None or keys.get("hardware") == side.hardware:
            yield keys, row[-1], getattr(row, "reason", None) or ""


def by_default(known: Mapping[str, Quantity], *plans: Plan) -> list[Quantity]:
    """Return the quantities that are shown by default: of latencies only the 99th percentile, and of searches for a
    promise only what they found, as each measures rates of its own choice."""
    searching = {name for plan in plans for name, each in plan.experiments.items() if each.promise}
    reads = {metric.name: metric.query.reads or () for plan in plans for metric in plan.metrics}
    names = {name for plan in plans for name in plan.experiments}

    def is_chosen(quantity: str, point: Point) -> bool:
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
