"""The contenders of a comparison, and what they have in common: each quantity at each point, with its repeats.

A contender is a run, or one hardware of a run. A point is by experiment, workload and load, and by hardware where whole
runs are compared. A point one of whose planned repeats gave no value has none, whatever the quantity: what is left of
its repeats is another sample than the one that was planned.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Protocol

from benchbrief.compiler.plan import Metric, Plan, Query
from benchbrief.results.comparison import Better, Point, Quantity, Values
from benchbrief.results.definitions import defined_otherwise
from benchbrief.results.latency import UNMERGEABLE
from benchbrief.results.store import Key

_MINUS = re.compile(r"-|\b(?:ln|log\w*|regr_\w+|corr|covar\w*)\(")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_POINT = ("experiment", "hardware", "workload", "threads", "target")


class Rows(Protocol):
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


class ReadSide(Protocol):
    """What is asked of a run's `Store`."""

    def query(self, query: Query) -> Sequence[Sequence[Any]]: ...
    def sql(self, text: str) -> Rows: ...


@dataclass(frozen=True)
class Contender:
    """A finished run, or with `hardware` that part of it. `label` is what the user calls it, `origin` where its numbers
    are from: measured, simulated or imported."""

    label: str
    plan: Plan
    store: ReadSide
    hardware: str | None = None
    origin: str = "measured"


@dataclass
class _Gathered:
    """The values of one contender by point, with those of the repeats beside them: None where one has none."""

    values: dict[Point, tuple[float | None, str]] = field(default_factory=dict)
    repeats: dict[Point, list[float | None]] = field(default_factory=dict)

    def at(self, point: Point, planned: int, behind: _Measurements, *, percentile: bool) -> Values | None:
        """`planned` is how many repeats the plan has of the point, 0 where it has none, or the point is of several."""
        if point not in self.values and not planned:
            return None
        value, reason = self.values.get(point, (None, ""))
        told = self.repeats.get(point, [])
        known = tuple(each for each in told if each is not None)
        of = max(planned, len(told))
        if known and len(known) < of:
            value, reason = None, f"{of - len(known)} of {of} repeats without a value"
        elif value is None and not reason:
            reason = f"{UNMERGEABLE} over repeats" if percentile and len(known) > 1 else "no repeat has a value"
        return Values(value, known, percentile, reason, *behind.at(point))


class _Measurements:
    """What the cells of a contender are of: the digests of their raw outputs; else the run that measured them."""

    def __init__(self, side: Contender) -> None:
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
        """Those of all cells at the point, which may have fewer dimensions than a cell, and their seconds together."""
        dims = tuple(dim for dim, _ in point if dim in _POINT)
        if dims not in self._found:
            found = self._found[dims] = {}
            for keys, measurement, seconds in self._cells:
                found.setdefault(tuple((dim, keys[dim]) for dim in dims), {})[measurement] = seconds
        there = self._found[dims].get(tuple((dim, key) for dim, key in point if dim in _POINT), {})
        return frozenset(there), sum(there.values())


@dataclass(frozen=True)
class _Side:
    """What one contender measured, by quantity but for metrics, and those of its metrics that can be compared."""

    of: Contender
    planned: Mapping[Point, int]
    behind: _Measurements
    found: Mapping[str, _Gathered]
    metrics: Mapping[str, Metric]


def quantities(first: Contender, second: Contender, *, metrics: bool = True) -> Iterator[Quantity]:
    """All that both contenders have: throughput, the percentiles and the mean of latency by operation, the share of
    errors, and each metric of the specs that has a value for each repeat and is the same in both (none without
    `metrics`)."""
    yield from _in_common(_side(first, metrics), _side(second, metrics))


def pairs(sides: Sequence[Contender]) -> Iterator[tuple[Contender, Contender, Iterator[Quantity]]]:
    """Each two of some contenders with what both have but for metrics; what each measured is asked for once."""
    for first, second in combinations([_side(side, metrics=False) for side in sides], 2):
        yield first.of, second.of, _in_common(first, second)


def _side(side: Contender, metrics: bool) -> _Side:
    """With its metrics of one value for each repeat, but for those that compare the hardware itself. A plan that does
    not say which metrics are percentiles has none to compare."""
    told = {
        each.name: each
        for each in side.plan.metrics
        if metrics
        and each.repeats
        and each.percentile is not None
        and (side.hardware is None or "hardware" in each.query.dims)
    }
    found = {"throughput": _throughput(side), **_latencies(side), "errors": _errors(side)}
    return _Side(side, _planned(side), _Measurements(side), found, told)


def _in_common(*sides: _Side) -> Iterator[Quantity]:
    def quantity(
        name: str, unit: str, better: Better, found: Sequence[_Gathered], percentile: bool, signed: bool = False
    ) -> Quantity:
        return replace(_quantity(name, unit, better, sides, found, percentile=percentile), signed=signed)

    for name in dict.fromkeys(name for side in sides for name in side.found):
        found = [side.found.get(name, _Gathered()) for side in sides]
        if name.startswith("latency."):
            yield quantity(name, "s", "lower", found, name.startswith("latency.p"))
        elif name == "throughput":
            yield quantity(name, "ops/s", "higher", found, percentile=False)
        elif any(value for each in found for value, _ in each.values.values()):
            yield quantity(name, "share", "lower", found, percentile=False)
    first, second = sides
    others = {each.name for each in defined_otherwise(first.of.plan, second.of.plan)} if first.metrics else set()
    for name, metric in first.metrics.items():
        if name not in second.metrics or name in others:
            continue
        found = [_metric(side.of, side.metrics[name].query, side.metrics[name].repeats) for side in sides]
        yield quantity(
            name, metric.query.unit, metric.better, found, bool(metric.percentile), signed=_may_be_below_0(metric.query)
        )


def _may_be_below_0(query: Query) -> bool:
    """Whether something is subtracted, or a temperature or a logarithm is read: all else is of measures from 0 on."""
    return bool(_MINUS.search(_QUOTED.sub("", query.sql))) or "degC" in query.unit


def _quantity(
    name: str, unit: str, better: Better, sides: Sequence[_Side], found: Sequence[_Gathered], *, percentile: bool
) -> Quantity:
    def at(which: int, point: Point) -> Values | None:
        side = sides[which]
        return found[which].at(point, side.planned.get(point, 0), side.behind, percentile=percentile)

    points = sorted({**found[0].values, **found[1].values}, key=_order(sides[0].of.plan))
    return Quantity(name, unit, better, {point: (at(0, point), at(1, point)) for point in points})


def _order(plan: Plan) -> Callable[[Point], list[tuple[int, float, str]]]:
    """To sort points by: names as they are in the plan, numbers as they are."""
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
    """Of one hardware, that is what differs, and no part of the point; an offered load says more than its threads."""
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
    """How many repeats the plan has of each point, but for those that were not needed."""
    rows = side.store.sql(f"SELECT {_CELLS}, count(*) FROM measure.cells AS c WHERE {_of(side)} GROUP BY ALL").rows  # noqa: S608  # ours
    return {_point(side, dict(zip(_POINT, keys, strict=True))): count for *keys, count in rows}


def _counted(side: Contender, view: str, condition: str) -> _Gathered:
    """A value of each cell, by point; every planned cell has a row."""
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
    """By `latency.p99[read]`; merged over the repeats, and of each repeat."""
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


def _metric(side: Contender, query: Query, repeats: Query | None) -> _Gathered:
    found = _Gathered()
    for keys, value, reason in _rows(side, query):
        found.values[_point(side, keys)] = (value, reason)
    for keys, value, _ in _rows(side, repeats) if repeats else ():
        keys.pop("repeat")
        found.repeats.setdefault(_point(side, keys), []).append(value)
    return found


def _rows(side: Contender, query: Query) -> Iterator[tuple[dict[str, Key], float | None, str]]:
    for row in side.store.query(query):
        keys: dict[str, Key] = dict(zip(query.dims, row[:-1], strict=True))
        if side.hardware is None or keys.get("hardware") == side.hardware:
            yield keys, row[-1], getattr(row, "reason", None) or ""


def by_default(names: Iterable[str]) -> list[str]:
    """Of all quantities, those that are told when none is asked for: of latencies the 99th percentile alone."""
    return [name for name in names if not name.startswith("latency.") or name.startswith("latency.p99[")]
