"""What one contender measured: its values by point, read from its store, with those of the repeats beside them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from benchbrief.compiler.planning.budgets import strictest_level
from benchbrief.compiler.planning.plan import Query
from benchbrief.results.compare.comparison import Point, Values
from benchbrief.results.compare.contender import Contender
from benchbrief.results.compare.searched_metrics import is_searched, searched_bounds, why_mixed
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.searched_doubts import KNOWN, Doubt, doubts, of_search
from benchbrief.results.store.store import Key

_POINT = ("experiment", "hardware", "workload", "threads", "target")
_Known = TypeVar("_Known")


@dataclass
class Gathered:
    """One contender's values by point, with those of its repeats beside them. None for a missing value."""

    values: dict[Point, tuple[float | None, str]] = field(default_factory=dict)
    repeats: dict[Point, list[float | None]] = field(default_factory=dict)
    bounds: dict[Point, tuple[float, float]] = field(default_factory=dict)
    doubts: dict[Point, Doubt] = field(default_factory=dict)

    def at(self, point: Point, planned: int, behind: Measurements, *, percentile: bool) -> Values | None:
        """Return the values at a point. `planned` is its number of repeats in the plan, 0 when there is none or
        several."""
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
        return Values(value, known, percentile, reason, *behind.at(point), behind.level, bounds, doubt)


class Measurements:
    """What a contender's cells rest on: the digests of their raw outputs, else the run that measured them. A file that
    several cells of a run rest on, as an imported table, is another measurement for each."""

    def __init__(self, side: Contender) -> None:
        self.level = strictest_level(side.plan)
        self._cells: list[tuple[dict[str, Key], str, float]] = []
        self._found: dict[tuple[str, ...], dict[Point, dict[str, float]]] = {}
        rows = side.store.sql(f"{_MEASUREMENTS} AND {side.condition}").rows
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


def _point(side: Contender, keys: Mapping[str, Key]) -> Point:
    """Return a cell's point. For one hardware, that is what differs and not part of it. A target replaces threads."""
    left_out = {"hardware"} if side.hardware is not None else set()
    if keys.get("target") is not None:
        left_out.add("threads")
    return tuple((dim, key) for dim, key in keys.items() if dim not in left_out)


_CELLS = "c.experiment, c.hardware, c.workload, c.threads, c.target"
_MEASUREMENTS = f"""
WITH outputs AS (
    SELECT run_id, cell_id, string_agg(sha256, ' ' ORDER BY sha256) AS digests FROM main.files GROUP BY ALL
), shared AS (
    SELECT run_id, digests FROM outputs GROUP BY ALL HAVING count(*) > 1
)
SELECT {_CELLS}, coalesce(
    o.digests || CASE WHEN s.digests IS NULL THEN '' ELSE ' ' || c.cell_id END,
    coalesce(c.reused_from, c.run_id) || ' ' || c.cell_hash || ' ' || c.repeat
), coalesce(c.measured_s, 0)
FROM main.cells AS c LEFT JOIN outputs AS o ON o.run_id = c.run_id AND o.cell_id = c.cell_id
LEFT JOIN shared AS s ON s.run_id = o.run_id AND s.digests = o.digests
WHERE c.status = 'ok'"""  # noqa: S608  # our own names
_MATCH = (
    "m.experiment = c.experiment AND m.hardware = c.hardware AND m.workload = c.workload "
    "AND m.threads IS NOT DISTINCT FROM c.threads AND m.target IS NOT DISTINCT FROM c.target"
)


def planned_repeats(side: Contender) -> Mapping[Point, int]:
    """Return how many repeats the plan has of each point, without those that were not needed."""
    rows = side.store.sql(
        f"SELECT {_CELLS}, count(*) FROM measure.cells AS c WHERE {side.condition} GROUP BY ALL"  # noqa: S608  # ours
    ).rows
    return {_point(side, dict(zip(_POINT, keys, strict=True))): count for *keys, count in rows}


def _counted(side: Contender, view: str, condition: str) -> Gathered:
    """Return a value of each cell, by point. Every planned cell has a row."""
    found = Gathered()
    rows = side.store.sql(
        f"SELECT {_CELLS}, m.value FROM measure.cells AS c LEFT JOIN measure.{view} AS m "  # noqa: S608  # ours
        f"ON {_MATCH} AND m.repeat = c.repeat AND m.phase IS NULL AND {condition} WHERE {side.condition} ORDER BY ALL"
    ).rows
    for *keys, value in rows:
        found.repeats.setdefault(_point(side, dict(zip(_POINT, keys, strict=True))), []).append(value)
    for point, values in found.repeats.items():
        known = [value for value in values if value is not None]
        found.values[point] = (statistics.fmean(known) if known else None, "")
    return found


def throughput(side: Contender) -> Gathered:
    return _counted(side, "throughput", "m.operation = 'all'")


def errors(side: Contender) -> Gathered:
    return _counted(side, "errors", "true")


def latencies(side: Contender) -> dict[str, Gathered]:
    """Return latencies by `latency.p99[read]`, merged over the repeats, and of each repeat."""
    rows = side.store.sql(
        f"SELECT {_CELLS}, c.operation, c.statistic, c.repeat, c.value_s, coalesce(c.reason, '') "  # noqa: S608  # ours
        "FROM main.latency AS c WHERE c.source IS NULL AND c.reported AND c.phase IS NULL "
        "AND c.statistic NOT IN ('min', 'max') "
        f"AND {side.condition} ORDER BY ALL"
    ).rows
    found: dict[str, Gathered] = {}
    for *keys, operation, statistic, repeat, value, reason in rows:
        name = f"latency.{statistic.replace('.', '')}[{operation}]"
        point = _point(side, dict(zip(_POINT, keys, strict=True)))
        gathered = found.setdefault(name, Gathered())
        if repeat is None:
            gathered.values[point] = (value, reason)
        else:
            gathered.repeats.setdefault(point, []).append(value)
    return found


def sustained(side: Contender) -> Gathered:
    """Return what searches for a promise found. An undecided rate has no value, and may have bounds."""
    rows = side.store.sql(
        "SELECT c.experiment, c.hardware, c.workload, c.sustained, coalesce(c.reason, ''), c.kept_to, c.broken_from, "  # noqa: S608  # ours
        "c.kind, c.by_generator, c.sure "
        f"FROM main.promises AS c WHERE c.kind IS NOT NULL AND {side.condition} ORDER BY ALL"
    ).rows
    found = Gathered()
    for *keys, value, reason, kept_to, broken_from, kind, by_generator, sure in rows:
        point = _point(side, dict(zip(_POINT, keys, strict=False)))
        found.values[point] = (value, reason)
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

    def keep(by_keys: Mapping[tuple[Key, ...], _Known], at: dict[Point, _Known]) -> None:
        for key, known in by_keys.items():
            of: dict[str, Key] = dict(zip(query.dims, key, strict=True))
            if side.hardware is None or of.get("hardware") == side.hardware:
                at[_point(side, of)] = known

    keep(doubts(side.store, query.sql), found.doubts)
    if is_searched(query) and not why_mixed(query):
        keep(searched_bounds(side.store, query), found.bounds)
    return found


def _rows(side: Contender, query: Query) -> Iterator[tuple[dict[str, Key], float | None, str]]:
    for row in side.store.query(query):
        keys: dict[str, Key] = dict(zip(query.dims, row[:-1], strict=True))
        if side.hardware is None or keys.get("hardware") == side.hardware:
            yield keys, row[-1], getattr(row, "reason", None) or ""
