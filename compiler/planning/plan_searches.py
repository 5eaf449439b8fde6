"""How a run chooses what it measures, and for how long.

These are knee searches, repeats until confident, adaptive ramps, searches for promises, and measuring until steady.
"""

from __future__ import annotations

from typing import Literal

from benchbrief.compiler.planning.plan_base import Node


class KneeSearch(Node):
    """A search that walks a ramp upwards to its knee: the point from which the next one raises the latency by at
    least `rise`, while the throughput gains less than `gain` (both shares).

    It judges a point after all its repeats, by their mean throughput and the highest of their latencies. `latency`
    is a statistic in the store's words (mean, max, p50 ... p99.99), over all operations of a cell. `otherwise` is
    the point for other experiments when the ramp has no knee; None: they can't run.
    """

    latency: str
    rise: float
    gain: float
    otherwise: float | None = None


class Confident(Node):
    """When the repeats of a point end: after `at_least` of them, as soon as half the width of the 95 % confidence
    interval of their mean throughput (Student's t) is at most `within` (a share) of that mean."""

    at_least: int
    within: float


class UntilSteady(Node):
    """When the measurement of a cell ends: from `from_s` on, at the first look that finds it steady, and at the latest
    after the experiment's `measure_s`. Steady is what MSER-5 and Student's interval of the mean say, within a share of
    the mean to either side (`runners/measurement/steady_ends.py`)."""

    within: float
    from_s: float


class Adaptive(Node):
    """A ramp of which so many of the experiment's points are measured. The run chooses them, the ends first."""

    points: int


class Knee(Node):
    """The point where an experiment's search, on one hardware and with one workload, finds the knee."""

    experiment: str
    hardware: str
    workload: str


class PromiseLimit(Node):
    """What a promise allows at most: a latency in seconds, or a share of failed operations.

    `statistic` is in the store's words (p99), of one `operation`. `strict`: the limit itself breaks the promise.
    """

    measure: Literal["latency", "errors"]
    statistic: str = ""
    operation: str = ""
    most: float
    strict: bool = True
    text: str
    """As the spec says it: `latency.p99[read] < 5 ms`."""

    @property
    def name(self) -> str:
        """The name of what it limits among the asked statistics of a verdict: `p99 read`, or `errors`."""
        return f"{self.statistic} {self.operation}".strip() if self.measure == "latency" else self.measure

    def keeps(self, value: float) -> bool:
        return value < self.most if self.strict else value <= self.most


class Promise(Node):
    """A search for the highest of an experiment's points, which are rates half of `within` apart, at which each limit
    is kept. `judged` repeats decide on a rate at most, and `held_out` more confirm the one that was found. No search
    measures more than `most` cells, and one of typical length `usual` (see `compiler/searches/rate_search.py`)."""

    limits: tuple[PromiseLimit, ...]
    within: float
    judged: int
    held_out: int
    usual: int
    most: int

    @property
    def text(self) -> str:
        return " and ".join(limit.text for limit in self.limits)

    def is_same(self, other: Promise) -> bool:
        """Whether both have the same limits, in whatever order and units."""
        ours, theirs = ({limit.model_copy(update={"text": ""}) for limit in each.limits} for each in (self, other))
        return ours == theirs
