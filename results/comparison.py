"""Two contenders, point by point: what each measured, the ratio, and whether the difference is more than noise.

A contender is a run, or one hardware of a run. Its repeats are what is compared, at the same points: by experiment,
workload and load (and by hardware, where whole runs are compared). The statistics are in `results/significance.py`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

from benchbrief.compiler.plan import Plan, Query
from benchbrief.results.significance import Ratio, difference, holm, p_value, ratio_of_means, ratio_of_percentiles
from benchbrief.results.store import Key
from benchbrief.runners.confidence import t_interval

SIGNIFICANT = 0.05
Better = Literal["higher", "lower"] | None
Verdict = Literal["better", "worse", "differs", "within noise", "within threshold", "same measurement", "unknown"]
Point = tuple[tuple[str, Key], ...]
"""The dimensions of a point with their keys, in the order of the results."""

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


@dataclass(frozen=True)
class Values:
    """What was measured at a point, in the quantity's unit: `value` over all repeats, and each repeat's own.

    A percentile's `value` is of the merged histograms of all repeats. Where there is none, `reason` says why.
    `measurements` are what it comes from: the same ones in another run when that took its results from there.
    """

    value: float | None
    repeats: tuple[float, ...]
    percentile: bool
    reason: str = ""
    measurements: frozenset[str] = frozenset()

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the mean; of percentiles, the lowest and the highest of the repeats."""
        if len(self.repeats) < 2:
            return None
        if self.percentile:
            return min(self.repeats), max(self.repeats)
        low, high = t_interval(len(self.repeats), statistics.fmean(self.repeats), statistics.stdev(self.repeats))
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class Quantity:
    """What is compared: a measure or a metric. `points` has what each contender measured, the first one first."""

    name: str
    unit: str
    better: Better
    points: Mapping[Point, tuple[Values | None, Values | None]]


@dataclass(frozen=True)
class Comparison:
    """One quantity at one point. `ratio` is the second contender's by the first's, in what is tested: of percentiles
    with repeats, their own and not the merged one.

    `p` is the probability of so large a difference if there is none, `p_holm` the same corrected for the comparisons of
    its family; both are None where one side has fewer than two repeats, or nothing, and where no repeat differs.
    """

    quantity: str
    unit: str
    better: Better
    point: Point
    first: Values | None
    second: Values | None
    ratio: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_holm: float | None
    verdict: Verdict
    reason: str = ""

    @property
    def family(self) -> str:
        """What is corrected together: a measure or metric at all points and, of latencies, for all operations."""
        return self.quantity.partition("[")[0]

    @property
    def key(self) -> str:
        """`experiment/hardware/workload/threads=4`, as cells are called."""
        return "/".join(
            str(key) if isinstance(key, str) else f"{dim}={key:g}" for dim, key in self.point if key is not None
        )


@dataclass(frozen=True)
class Outcome:
    """All comparisons, and the points that one contender alone has."""

    comparisons: tuple[Comparison, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    @property
    def worse(self) -> tuple[Comparison, ...]:
        return tuple(each for each in self.comparisons if each.verdict == "worse")


def compare(found: Iterable[Quantity], threshold: float = 0.0) -> Outcome:
    """Judge all points of each quantity together; `threshold` is the least change, as a share, that counts.

    A family is what answers one question, "has throughput changed at some point?": R. Bender and S. Lange, "Adjusting
    for multiple testing - when and how?", Journal of Clinical Epidemiology 54 (2001). What another metric is, or that
    one has many points, takes nothing from the power of this one.
    """
    rows = [_compared(quantity, point, *sides) for quantity in found for point, sides in quantity.points.items()]
    both = [row for row in rows if row.first is not None and row.second is not None]
    keys: dict[bool, dict[str, None]] = {True: {}, False: {}}
    # A metric's points may have fewer dimensions than those of the measures that it is made of.
    for row in [row for row in rows if row.point and row.point[0][0] == "experiment"] or rows:
        if (row.first is None) != (row.second is None):
            keys[row.second is None].setdefault(row.key)
    families: dict[str, list[Comparison]] = {}
    for row in both:
        if row.p is not None:
            families.setdefault(row.family, []).append(row)
    corrected: dict[int, float] = {}
    for tested in families.values():
        corrected |= zip(map(id, tested), holm([row.p for row in tested if row.p is not None]), strict=True)
    judged = [_judged(replace(row, p_holm=corrected.get(id(row))), threshold) for row in both]
    seen = {row.key for row in both}
    only = {side: tuple(key for key in named if key not in seen) for side, named in keys.items()}
    return Outcome(tuple(judged), only[True], only[False])


def _compared(quantity: Quantity, point: Point, first: Values | None, second: Values | None) -> Comparison:
    ratio = interval = p = None
    if first is not None and second is not None and first.value is not None and second.value is not None:
        ratio = second.value / first.value if first.value else None
        between: Ratio | None = None
        if first.repeats and second.repeats:
            of = ratio_of_percentiles if first.percentile else ratio_of_means
            between = of(first.repeats, second.repeats)
        if between is not None and min(len(first.repeats), len(second.repeats)) > 1:
            ratio = between.value
        if between is not None and between.low is not None and between.high is not None:
            interval = (between.low, between.high)
        if len({*first.repeats, *second.repeats}) > 1 and not _same_measurement(first, second):
            p = p_value(first.repeats, second.repeats, percentile=first.percentile)
    return Comparison(
        quantity.name, quantity.unit, quantity.better, point, first, second, ratio, interval, p, None, "unknown"
    )


def _judged(row: Comparison, threshold: float) -> Comparison:
    first, second = row.first, row.second
    if first is None or second is None or first.value is None or second.value is None:
        missing = " and ".join(
            f"{which}: {side.reason if side else 'not measured'}"
            for which, side in (("first", first), ("second", second))
            if side is None or side.value is None
        )
        return replace(row, reason=f"missing ({missing})")
    if _same_measurement(first, second):
        return replace(row, verdict="same measurement", reason="one took its results from the other")
    fewest = min(len(first.repeats), len(second.repeats))
    if row.p_holm is None and fewest > 1:
        return replace(row, verdict="within noise", reason="all repeats of both have the same value")
    if row.p_holm is None:
        return replace(row, reason=f"too few repeats: {max(fewest, 1)}, and a test takes 2")
    if row.p_holm >= SIGNIFICANT:
        return replace(row, verdict="within noise")
    if row.ratio is not None and abs(row.ratio - 1) < threshold:
        return replace(row, verdict="within threshold")
    if row.better is None:
        return replace(row, verdict="differs")
    rises = difference(first.repeats, second.repeats, percentile=first.percentile) > 0
    if (second.value <= first.value) if rises else (second.value >= first.value):
        went = ("rise", "does not") if rises else ("fall", "does not")
        return replace(row, reason=f"the repeats' own values {went[0]}, and that of all of them {went[1]}")
    return replace(row, verdict="better" if rises == (row.better == "higher") else "worse")


def _same_measurement(first: Values, second: Values) -> bool:
    return bool(first.measurements) and first.measurements == second.measurements


# --- what is compared ---


@dataclass
class _Gathered:
    """The values of one contender by point, with those of the repeats beside them."""

    values: dict[Point, tuple[float | None, str]] = field(default_factory=dict)
    repeats: dict[Point, list[float]] = field(default_factory=dict)

    def at(self, point: Point, behind: _Measurements, *, percentile: bool) -> Values | None:
        if point not in self.values:
            return None
        value, reason = self.values[point]
        return Values(value, tuple(self.repeats.get(point, ())), percentile, reason, behind.at(point))


class _Measurements:
    """What the cells of a contender are of: the digests of their raw outputs; else the run that measured them."""

    def __init__(self, side: Contender) -> None:
        self._cells: list[tuple[dict[str, Key], str]] = []
        self._found: dict[tuple[str, ...], dict[Point, set[str]]] = {}
        rows = side.store.sql(
            f"SELECT {_CELLS}, coalesce((SELECT string_agg(f.sha256, ' ' ORDER BY f.sha256) FROM main.files AS f "  # noqa: S608  # ours
            "WHERE f.run_id = c.run_id AND f.cell_id = c.cell_id), "
            "coalesce(c.reused_from, c.run_id) || ' ' || c.cell_hash || ' ' || c.repeat) "
            f"FROM main.cells AS c WHERE c.status = 'ok' AND {_of(side)}"
        ).rows
        for *keys, measurement in rows:
            self._cells.append((dict(zip(_POINT, keys, strict=True)), measurement))

    def at(self, point: Point) -> frozenset[str]:
        """Those of all cells at the point, which may have fewer dimensions than a cell."""
        dims = tuple(dim for dim, _ in point if dim in _POINT)
        if dims not in self._found:
            found = self._found[dims] = {}
            for keys, measurement in self._cells:
                found.setdefault(tuple((dim, keys[dim]) for dim in dims), set()).add(measurement)
        return frozenset(self._found[dims].get(tuple((dim, key) for dim, key in point if dim in _POINT), ()))


def quantities(first: Contender, second: Contender, *, metrics: bool = True) -> Iterator[Quantity]:
    """All that both contenders have: throughput, the percentiles and the mean of latency by operation, the share of
    errors, and each metric of the specs that has a value for each repeat (none without `metrics`)."""
    sides = (first, second)
    quantity = partial(_quantity, first.plan, [_Measurements(side) for side in sides])
    yield quantity("throughput", "ops/s", "higher", [_throughput(side) for side in sides])
    latencies = [_latencies(side) for side in sides]
    for name in dict.fromkeys(name for each in latencies for name in each):
        percentile = name.startswith("latency.p")
        gathered = [each.get(name, _Gathered()) for each in latencies]
        yield quantity(name, "s", "lower", gathered, percentile=percentile)
    errors = [_errors(side) for side in sides]
    if any(value for each in errors for value, _ in each.values.values()):
        yield quantity("errors", "share", "lower", errors)
    told = [{m.name: m for m in side.plan.metrics if m.repeats and metrics} for side in sides]
    for name in told[0]:
        if name not in told[1]:
            continue
        ones = [each[name] for each in told]
        if ones[0].query.unit != ones[1].query.unit or any(
            side.hardware is not None and "hardware" not in one.query.dims
            for side, one in zip(sides, ones, strict=True)
        ):
            continue  # of another kind now; or it compares the hardware itself
        gathered = [_metric(side, one.query, one.repeats) for side, one in zip(sides, ones, strict=True)]
        percentile = all("measure.latency" in one.query.sql and "statistic = 'p" in one.query.sql for one in ones)
        yield quantity(name, ones[0].query.unit, ones[1].better, gathered, percentile=percentile)


def _quantity(
    plan: Plan,
    behind: Sequence[_Measurements],
    name: str,
    unit: str,
    better: Better,
    gathered: Sequence[_Gathered],
    *,
    percentile: bool = False,
) -> Quantity:
    first, second = gathered
    points = sorted({**first.values, **second.values}, key=_order(plan))
    return Quantity(
        name,
        unit,
        better,
        {
            point: (
                first.at(point, behind[0], percentile=percentile),
                second.at(point, behind[1], percentile=percentile),
            )
            for point in points
        },
    )


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


def _counted(side: Contender, view: str, condition: str) -> _Gathered:
    """A value of each cell, by point: every planned cell has a row, and one that is missing leaves the point so."""
    found = _Gathered()
    rows = side.store.sql(
        f"SELECT {_CELLS}, m.value FROM measure.cells AS c LEFT JOIN measure.{view} AS m "  # noqa: S608  # ours
        f"ON {_MATCH} AND m.repeat = c.repeat AND m.phase IS NULL AND {condition} WHERE {_of(side)} ORDER BY ALL"
    ).rows
    missing = set()
    for *keys, value in rows:
        point = _point(side, dict(zip(_POINT, keys, strict=True)))
        found.repeats.setdefault(point, [])
        if value is None:
            missing.add(point)
        else:
            found.repeats[point].append(value)
    for point, values in found.repeats.items():
        if point in missing or not values:
            found.values[point] = (None, "a cell has no result")
        else:
            found.values[point] = (statistics.fmean(values), "")
    return found


def _throughput(side: Contender) -> _Gathered:
    return _counted(side, "throughput", "m.operation = 'all'")


def _errors(side: Contender) -> _Gathered:
    return _counted(side, "errors", "true")


def _latencies(side: Contender) -> dict[str, _Gathered]:
    """By `latency.p99[read]`; merged over the repeats, and of each repeat."""
    rows = side.store.sql(
        "SELECT c.experiment, c.hardware, c.workload, c.threads, c.target, c.operation, c.statistic, c.repeat, c.value "  # noqa: S608  # ours
        "FROM measure.latency AS c WHERE c.reported AND c.phase IS NULL AND c.statistic NOT IN ('min', 'max') "
        f"AND {_of(side)} ORDER BY ALL"
    ).rows
    found: dict[str, _Gathered] = {}
    for *keys, operation, statistic, repeat, value in rows:
        name = f"latency.{statistic.replace('.', '')}[{operation}]"
        point = _point(side, dict(zip(_POINT, keys, strict=True)))
        gathered = found.setdefault(name, _Gathered())
        if repeat is None:
            gathered.values[point] = (value, "" if value is not None else "not told by the tool")
        elif value is not None:
            gathered.repeats.setdefault(point, []).append(value)
    return found


def _metric(side: Contender, query: Query, repeats: Query | None) -> _Gathered:
    found = _Gathered()
    for keys, value, reason in _rows(side, query):
        found.values[_point(side, keys)] = (value, reason)
    for keys, value, _ in _rows(side, repeats) if repeats else ():
        keys.pop("repeat")
        if value is not None:
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
