"""The numbers that a run states if its brief has no claims: the metrics and measures shown in the brief, at
each point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields

from benchbrief.model.budgets import strictest_level
from benchbrief.model.node import Node
from benchbrief.model.plan import Label, Plan, Query, Report
from benchbrief.model.plan import Read as Reading
from benchbrief.results.analysis.expectation_verdicts import Read
from benchbrief.results.analysis.stated_numbers import StatedNumber, ValueAt, is_ratio, named_place, values_of
from benchbrief.results.compare.compared_quantities import Gathered, errors, latencies, sustained, throughput
from benchbrief.results.compare.contender import Contender, ReadSide


def state_quantities(
    plan: Plan, store: ReadSide, report: Report, read: Read, named: Callable[[Label], str]
) -> Iterator[StatedNumber]:
    """Yield the metrics that a report shows, then the measures that it shows outside any metric. Each is yielded at the
    points where it has a value. `named` converts a name to words."""
    level, queries = strictest_level(plan), [*_queries(report)]
    metrics = {metric.name: metric for metric in plan.metrics}
    for name in dict.fromkeys(name for query in queries for name in query.names if name in metrics):
        metric = metrics[name]
        if metric.query.reads == ():  # no part of it is measured
            continue
        yield StatedNumber(
            kind="number",
            name=name,
            sentence=named(metric.label),
            expression=metric.query.text,
            unit=metric.query.unit,
            values=tuple(at for at in values_of(metric.query, metric.repeats, read) if at.value is not None),
            percentile=bool(metric.percentile),
            exact=metric.query.exact,
            is_relative=is_ratio(metric.query),
            level=level,
        )
    shown = {
        _quantity(each) for query in queries if not metrics.keys() & set(query.names) for each in query.reads or ()
    }
    for name, found in _measured(Contender("", plan, store), shown):
        yield StatedNumber(
            kind="number",
            name=name,
            sentence=named(name),
            expression=name,
            unit="s" if name.startswith("latency.") else _MEASURES[name][1],
            values=tuple(
                ValueAt(
                    place=named_place(dict(point)),
                    value=value,
                    repeats=tuple(each for each in found.repeats.get(point, ()) if each is not None),
                )
                for point, (value, _) in found.values.items()
                if value is not None
            ),
            percentile=name.startswith("latency.p"),
            level=level,
        )


_MEASURES: Mapping[str, tuple[Callable[[Contender], Gathered], str]] = {
    "throughput": (throughput, "ops/s"),
    "sustained": (sustained, "ops/s"),
    "errors": (errors, "1"),
}
"""How each measure of a comparison is read, and the unit of the measure. Latencies are not listed here."""


def _measured(side: Contender, shown: Collection[str]) -> Iterator[tuple[str, Gathered]]:
    """Yield each of the shown measures that the contender has, with its values by point."""
    for name, (read, _) in _MEASURES.items():
        if name in shown:
            yield name, read(side)
    if statistics := sorted(name.removeprefix("latency.") for name in shown if name.startswith("latency.")):
        yield from latencies(side, statistics).items()


def _quantity(read: Reading) -> str:
    """Return the name used in comparisons for the quantity of a query, without its operation."""
    return f"latency.{read.statistic.replace('.', '')}" if read.view == "latency" else read.view


def _queries(node: object) -> Iterator[Query]:
    if isinstance(node, Query):
        yield node
    elif isinstance(node, Node):
        for each in fields(node):
            yield from _queries(getattr(node, each.name))
    elif isinstance(node, dict | tuple):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _queries(inner)
