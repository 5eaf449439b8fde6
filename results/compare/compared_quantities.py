"""What the contenders of a comparison have in common: each quantity at each point, with its repeats.

A contender is a run, or one hardware of a run. A point has an experiment, workload and load, and a hardware when
whole runs are compared. When one of a point's planned repeats gave no value, the point has none in any quantity:
the other repeats are another sample than the planned one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from benchbrief.compiler.planning.plan import Metric, Plan
from benchbrief.results.compare.comparison import Better, Point, Quantity, Values
from benchbrief.results.compare.contender import Contender
from benchbrief.results.compare.gathered_values import (
    Gathered,
    Measurements,
    errors,
    latencies,
    metric_values,
    planned_repeats,
    sustained,
    throughput,
)
from benchbrief.results.compare.metric_definitions import defined_otherwise
from benchbrief.results.compare.searched_metrics import UNBOUNDED, is_searched, other_promise, why_not_judged
from benchbrief.results.ingest.latency_rows import is_not_given

SUSTAINED = "sustained"


@dataclass(frozen=True)
class _Side:
    """What one contender measured: each quantity except metrics, and its metrics that can be compared."""

    of: Contender
    planned: Mapping[Point, int]
    behind: Measurements
    found: Mapping[str, Gathered]
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
    """Return what a contender measured, with metrics of one value a repeat that do not compare the hardware itself, and
    those of declared values alone.

    A plan that does not say which metrics are percentiles has none to compare.
    """
    metrics_by_name = {
        each.name: each
        for each in side.plan.metrics
        if metrics
        and (each.repeats or is_searched(each.query) or each.query.reads == ())
        and each.percentile is not None
        and (side.hardware is None or "hardware" in each.query.dims)
    }
    found = {"throughput": throughput(side), **latencies(side), "errors": errors(side), SUSTAINED: sustained(side)}
    return _Side(side, planned_repeats(side), Measurements(side), found, metrics_by_name)


def _in_common(*sides: _Side, names: tuple[str, str] = ("A", "B"), without_errors: bool = False) -> Iterator[Quantity]:
    """`without_errors`: also the errors of contenders that have none."""

    def quantity(
        name: str, unit: str, better: Better, found: Sequence[Gathered], percentile: bool, signed: bool = False
    ) -> Quantity:
        made = _quantity(name, unit, better, sides, found, percentile=percentile)
        return replace(made, signed=signed, names=names)

    for name in dict.fromkeys(name for side in sides for name in side.found):
        found = [side.found.get(name, Gathered()) for side in sides]
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
        found = [metric_values(side.of, side.metrics[name].query, side.metrics[name].repeats) for side in sides]
        compared = quantity(
            name, metric.query.unit, metric.better, found, bool(metric.percentile), signed=metric.query.signed
        )
        compared = replace(compared, exact=metric.query.exact)
        if is_searched(metric.query):
            why = why_not_judged(metric.query, [side.of.plan for side in sides], names)
            unbounded = [point for each in found for point in each.values if point not in each.bounds]
            unlike = dict.fromkeys(compared.points, why) if why else dict.fromkeys(unbounded, UNBOUNDED)
            compared = replace(compared, unlike=unlike)
        yield compared


def _other_promises(
    sides: Sequence[_Side], points: Iterable[Point], names: tuple[str, str]
) -> Iterator[tuple[Point, str]]:
    """Yield the points whose searches are for another promise, with both."""
    for point in points:
        name = str(dict(point).get("experiment"))
        if why := other_promise(name, [side.of.plan for side in sides], names):
            yield point, why


def _quantity(
    name: str, unit: str, better: Better, sides: Sequence[_Side], found: Sequence[Gathered], *, percentile: bool
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
