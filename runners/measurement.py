"""What a measurement is: operations with their latency distributions, and samples of probes.

Latencies are in seconds, throughputs in operations per second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

_SAME_WINDOW = 0.95
"""The share of the time in which all load generators must have been active for their rates to be added."""


@dataclass(frozen=True)
class Bucket:
    """`count` latencies in [lo, hi) seconds."""

    lo: float
    hi: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """A latency distribution as non-empty buckets in rising order; merged by adding counts, never by averaging.

    See `runners/histogram.py` for merging and percentiles.
    """

    buckets: tuple[Bucket, ...]

    @property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)


@dataclass(frozen=True)
class Operation:
    """One kind of operation over one interval of one load generator.

    `operation` is in our words: read, update, insert, scan, read_modify_write, write, seek, delete.
    `phase` is None for the whole measured window. `count` are successes, `errors` failures.
    `printed` are percentiles as the tool printed them, kept only where there is no histogram: {99.0: 0.00123}.
    `in_total` is False for rows that count operations already in other rows (READ-MODIFY-WRITE).
    """

    operation: str
    count: int
    errors: int = 0
    mean_s: float | None = None
    min_s: float | None = None
    max_s: float | None = None
    histogram: Histogram | None = None
    printed: tuple[tuple[float, float], ...] = ()
    kind: Literal["service", "intended"] = "service"
    phase: int | None = None
    in_total: bool = True


@dataclass(frozen=True)
class Interval:
    """Operations completed in a slice of the measured window, `start_s` from its start."""

    start_s: float
    seconds: float
    count: int


@dataclass(frozen=True)
class PhaseThroughput:
    """Throughput of a phase (None: the whole measured window). `count` are successful operations."""

    phase: int | None
    count: int
    errors: int
    seconds: float
    ops_per_s: float


@dataclass(frozen=True)
class Measurement:
    """The parsed result of one measured job.

    `window` is the measured part in epoch seconds by the host's clock (warm-up cut off), for the probes' samples.
    `warnings` are the tool's own remarks that belong in the report ("Assertions are enabled; ...").
    `properties` records what the numbers depend on (`latency`: "service" or "intended", `percentiles`: ...).
    """

    window: tuple[float, float]
    throughput: tuple[PhaseThroughput, ...]
    operations: tuple[Operation, ...]
    intervals: tuple[Interval, ...] = ()
    warnings: tuple[str, ...] = ()
    tool_version: str = ""
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def total(self) -> PhaseThroughput:
        return next(t for t in self.throughput if t.phase is None)


@dataclass(frozen=True)
class Together:
    """What the load generators of a cell measured beside each other.

    `load`: each ended with its own part of the records, and not when a time was over. Their rates are added, as in the
    store, where all were active at the same time. Otherwise each rate is over another time, and their sum was never
    reached: then it is all that they did over the time from the first start to the last end.
    """

    each: tuple[Measurement, ...]
    load: bool

    @property
    def overlap(self) -> float:
        """The share of the time from the first start to the last end in which all load generators were active."""
        first, last = _whole(each.window for each in self.each)
        common = min(each.window[1] for each in self.each) - max(each.window[0] for each in self.each)
        return max(0.0, common) / (last - first) if last > first else 1.0

    @property
    def remark(self) -> str:
        """What has to be told of rates that were meant to be reached at the same time, and were not; else ""."""
        if self.load or not self.over_all:
            return ""
        return (
            f"the load generators ran together for only {self.overlap:.0%} of the time: "
            "their throughput is all their operations over the time from the first start to the last end"
        )

    @property
    def over_all(self) -> bool:
        """Whether the time from the first start to the last end is what counts."""
        return len(self.each) > 1 and (self.load or self.overlap < _SAME_WINDOW)

    @property
    def window(self) -> tuple[float, float]:
        """The time that counts: from the first start to the last end, or that in which all were active."""
        if self.over_all:
            return _whole(each.window for each in self.each)
        return max(each.window[0] for each in self.each), min(each.window[1] for each in self.each)

    def throughput(self, phase: int | None) -> PhaseThroughput | None:
        """None when not every load generator has the phase."""
        parts = [part for each in self.each for part in each.throughput if part.phase == phase]
        if len(parts) < len(self.each):
            return None
        count, seconds = sum(part.count for part in parts), self.seconds(phase)
        rate = count / seconds if self.over_all and seconds > 0 else sum(part.ops_per_s for part in parts)
        return PhaseThroughput(phase, count, sum(part.errors for part in parts), seconds, rate)

    def seconds(self, phase: int | None) -> float:
        """Of a phase that all have: the longest time, or what all of them took one with another."""
        if self.over_all:
            first, last = _whole(_span(each, phase) for each in self.each)
            return last - first
        return max(part.seconds for each in self.each for part in each.throughput if part.phase == phase)

    def rate(self, counts: Sequence[int], phase: int | None) -> float:
        """Per second, of what each load generator counted in a phase that all have."""
        if self.over_all:
            seconds = self.seconds(phase)
            return sum(counts) / seconds if seconds > 0 else 0.0
        times = [part.seconds for each in self.each for part in each.throughput if part.phase == phase]
        return sum(count / time for count, time in zip(counts, times, strict=True) if time > 0)

    def measurement(self) -> Measurement:
        """As one, for the verdict: without phases and intervals."""
        total = self.throughput(None)
        if len(self.each) == 1 or total is None:
            return self.each[0]
        told = (each.warnings for each in self.each)
        return replace(
            self.each[0],
            window=self.window,
            throughput=(total,),
            operations=tuple(operation for each in self.each for operation in each.operations),
            intervals=(),
            warnings=tuple(dict.fromkeys(text for each in ((self.remark,), *told) for text in each if text)),
        )


def _whole(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    starts, ends = zip(*spans, strict=True)
    return min(starts), max(ends)


def _span(measurement: Measurement, phase: int | None) -> tuple[float, float]:
    """When a phase was: phases follow each other from the start of the window."""
    if phase is None:
        return measurement.window
    of = {part.phase: part.seconds for part in measurement.throughput if part.phase is not None}
    start = measurement.window[0] + sum(seconds for number, seconds in of.items() if number < phase)
    return start, start + of[phase]


class Sample(NamedTuple):
    """A probe's reading: `measure` such as "disk.read", in base units (bytes/s, busy cores, share, W, degrees C).

    `time` is in seconds from the start of the measured window. A tuple, as a cell has hundreds of them.
    """

    measure: str
    node: str
    device: str
    time: float
    value: float
    unit: str
