"""The values that reports, expectations and promises need from a cell: throughput, and statistics of latency.

A spec without reports and expectations needs the values that its metrics read or, if it has no metrics, the throughput
at each point. Samples of probes are read from the run's tables (`results/runs/interim_results.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from benchbrief.model.measurement import Measurement
from benchbrief.model.node import Node
from benchbrief.model.plan import Cell, Plan, Query, Read
from benchbrief.model.points import Point
from benchbrief.runners.scheduling.knee_search import latency_of

THROUGHPUT = "throughput"
_KNOWN = re.compile(r"mean|max|p\d+(\.\d+)?")
"""The statistics of latency that every measurement has."""


class AskedStatistics:
    """The statistics that a plan needs, by cell. A statistic's name is `throughput`, or a latency statistic such as
    `p99 read` (or `p99` for all operations)."""

    def __init__(self, plan: Plan) -> None:
        reads = {_key(read): read for query in asked_queries(plan) for read in query.reads or ()}
        self._reads = [read for read in reads.values() if read.view in ("throughput", "latency")]
        self._sampled = [read for read in reads.values() if read.view == "sample"]
        self._promised = {name: each.promise for name, each in plan.experiments.items() if each.promise}
        self._at = cache(self._names_at)

    def of(self, cell: Cell) -> tuple[str, ...]:
        """Return the names of the statistics at a cell's point, throughput first."""
        return self._at(Point.of(cell))

    def _names_at(self, point: Point) -> tuple[str, ...]:
        place = point.known_keys  # a knee that is not found yet has no key that could be left out
        promise = self._promised.get(point.experiment)
        promised = {limit.name for limit in promise.limits if limit.measure == "latency"} if promise else set()
        if not self._reads:
            return (THROUGHPUT, *sorted(promised))
        # Where samples alone are asked for, the throughput says how many repeats are good.
        sampled = {THROUGHPUT} if any(read.covers(place) for read in self._sampled) else set()
        names = promised | {name for read in self._reads if read.covers(place) for name in _names(read)}
        return tuple(sorted(names or sampled, key=lambda name: (name != THROUGHPUT, name)))

    def values(self, cell: Cell, measurement: Measurement) -> dict[str, float]:
        """Return the measured values of the latency statistics that the plan asks for, in seconds. Missing values are
        left out."""
        found: dict[str, float] = {}
        for name in self.of(cell):
            statistic, _, operation = name.partition(" ")
            if name != THROUGHPUT and (value := latency_at(measurement, statistic, operation)) is not None:
                found[name] = value
        return found


def latency_at(measurement: Measurement, statistic: str, operation: str) -> float | None:
    """Return a statistic of one operation's latency in seconds. The operation "" means all operations together."""
    if not operation:
        return latency_of(measurement, statistic)
    rows = tuple(replace(each, in_total=True) for each in measurement.operations if each.operation == operation)
    return latency_of(replace(measurement, operations=rows), statistic)


def _names(read: Read) -> Iterator[str]:
    if read.view == "throughput":
        yield THROUGHPUT
    elif _KNOWN.fullmatch(read.statistic):
        operations: Iterable[object] = read.keys.get("operation", ("",))
        yield from (f"{read.statistic} {'' if each == 'all' else each}".strip() for each in operations)


def _key(read: Read) -> str:
    return read.model_dump_json()


def asked_queries(plan: Plan) -> list[Query]:
    """Return the queries of the reports and expectations. If there are none, return those of the metrics."""
    return [*_queries(plan.reports), *_queries(plan.expects)] or [*_queries(plan.metrics)]


def _queries(node: object) -> Iterator[Query]:
    """Yield every query inside a part of a plan."""
    if isinstance(node, Query):
        yield node
    elif isinstance(node, Node):
        for each in vars(node).values():
            yield from _queries(each)
    elif isinstance(node, Mapping):
        for each in node.values():
            yield from _queries(each)
    elif isinstance(node, tuple | list):
        for each in node:
            yield from _queries(each)
