"""The results of a measurement: operations with their latency distributions, and samples of probes.

Latencies are in seconds, and throughputs are in operations per second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.model.message import share_figure
from benchbrief.model.run_messages import say

_SAME_WINDOW = 0.95
"""The smallest share of the time in which all load generators must be active for their rates to be added up."""


class Bucket(NamedTuple):
    """`count` latencies in [lo, hi) seconds. This is a tuple, because a cell has hundreds of buckets."""

    lo: float
    hi: float
    count: int  # type: ignore[assignment]  # a field, in place of tuple.count


@dataclass(frozen=True)
class Histogram:
    """A latency distribution as non-empty buckets in rising order. Histograms are merged by adding counts, never by
    averaging.

    See `model/histogram.py` for merging and percentiles.
    """

    buckets: tuple[Bucket, ...]

    @cached_property
    def count(self) -> int:
        return sum(bucket.count for bucket in self.buckets)


@dataclass(frozen=True)
class Operation:
    """One kind of operation during one interval of one load generator.

    `operation` is in our words: read, update, insert, scan, read_modify_write, write, seek, delete. `phase` is None for
    the whole measured window. `count` is the number of successes, and `errors` is the number of failures. `printed`
    holds percentiles as the tool printed them, and is kept only if there is no histogram: {99.0: 0.00123}. `in_total`
    is False for rows whose operations are also counted by other rows (READ-MODIFY-WRITE).
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


def transactions(operations: Iterable[Operation]) -> int:
    """Return how many operations were done. A read-modify-write counts as one, although it is also part of READ and
    UPDATE."""
    kept = tuple(operations)
    counted = {each.kind for each in kept if each.in_total}
    again = sum(each.count for each in kept if each.operation == "read_modify_write" and each.kind in counted)
    return sum(each.count for each in kept if each.in_total) - again


class Interval(NamedTuple):
    """Operations completed in a slice of the measured window. The slice starts `start_s` after the window's start.

    `p99_s` is the 99th percentile of the operations' latencies, or None if the tool does not report it by slice. This
    is a tuple, because a cell has many slices.
    """

    start_s: float
    seconds: float
    count: int  # type: ignore[assignment]  # a field, in place of tuple.count
    p99_s: float | None = None


@dataclass(frozen=True)
class PhaseThroughput:
    """Throughput of a phase, or of the whole measured window if `phase` is None. `count` is the number of successful
    operations.

    If `seconds` is 0, the tool printed only the rate, and the operations and time are unknown.
    """

    phase: int | None
    count: int
    errors: int
    seconds: float
    ops_per_s: float


@dataclass(frozen=True)
class SteadyEnd:
    """The end of a measurement that ends by itself. If it was not `steady`, its longest time was up. Times are in
    seconds.

    The measurement lasted `lasted_s`. The first `cut_s` seconds, the warm-up part, are cut off. If `cut_s` is None,
    this part reached into the second half, and everything counts. The other fields describe the remaining part: half
    the width of each mean's 95 % interval, as a share of the mean, and the correlation of successive batches. They are
    None if there is no mean, and for latency in a closed loop.
    """

    steady: bool
    lasted_s: float
    cut_s: float | None
    throughput_half_width: float | None = None
    throughput_correlation: float | None = None
    latency_half_width: float | None = None
    latency_correlation: float | None = None


@dataclass(frozen=True)
class Measurement:
    """The parsed result of one measured job.

    `window` is the measured part (without warm-up), in epoch seconds by the host's clock, for the probes' samples.
    `warnings` are the tool's own remarks that belong in the report ("Assertions are enabled; ..."). `properties` are
    conditions that the numbers depend on (`latency`: "service" or "intended", `percentiles`: ...). `tool_s` is the
    tool's own running time, including its warm-up. None means that it ran only while it measured.

    `samples` are readings of the measures that the tool's spec declares. Their times count from the start of `window`,
    and each value is for the `seconds` before its time. For a measure of the whole measurement, these are all seconds.
    The samples name no node, because it is always the load generator's host.
    """

    window: tuple[float, float]
    throughput: tuple[PhaseThroughput, ...]
    operations: tuple[Operation, ...]
    intervals: tuple[Interval, ...] = ()
    warnings: tuple[str, ...] = ()
    tool_version: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    samples: tuple[Sample, ...] = ()
    tool_s: float | None = None
    due: int | None = None
    """The number of operations that were due in the window by the tool's schedule, or None if the tool does not report
    it."""
    dropped: int = 0
    """How many due operations were never sent."""
    steady: SteadyEnd | None = None
    """The end of a measurement that lasted until it was steady. `window` then begins after the transient."""

    @property
    def total(self) -> PhaseThroughput:
        return next(t for t in self.throughput if t.phase is None)


@dataclass(frozen=True)
class Together:
    """The simultaneous measurements of a cell's load generators.

    `load` means that each generator ended with its part of the records, and not after a set time. As in the store, the
    generators' rates are added up if all of them were active at the same time. Otherwise, the rates cover different
    times, and their sum was never reached. The joint rate is then the number of all operations divided by the time from
    the first start to the last end.
    """

    each: tuple[Measurement, ...]
    load: bool

    @property
    def overlap(self) -> float:
        """Return the share of the time, from the first start to the last end, in which all load generators
        were active."""
        first, last = _whole(each.window for each in self.each)
        common = min(each.window[1] for each in self.each) - max(each.window[0] for each in self.each)
        return max(0.0, common) / (last - first) if last > first else 1.0

    @property
    def remark(self) -> str:
        """Return a remark if the load generators should have run at the same time but did not, or "" otherwise."""
        if self.load or not self.over_all:
            return ""
        return say.together(share=share_figure(self.overlap))

    @property
    def over_all(self) -> bool:
        """Return whether rates are computed over the time from the first start to the last end."""
        return len(self.each) > 1 and (self.load or self.overlap < _SAME_WINDOW)

    @property
    def window(self) -> tuple[float, float]:
        """Return the time over which rates are computed: either from the first start to the last end, or while all load
        generators were active."""
        if self.over_all:
            return _whole(each.window for each in self.each)
        return max(each.window[0] for each in self.each), min(each.window[1] for each in self.each)

    def throughput(self, phase: int | None) -> PhaseThroughput | None:
        """Return the throughput of all load generators together, or None if one of them lacks the phase."""
        parts = [part for each in self.each for part in each.throughput if part.phase == phase]
        if len(parts) < len(self.each):
            return None
        count, seconds = sum(part.count for part in parts), self.seconds(phase)
        rate = count / seconds if self.over_all and seconds > 0 else sum(part.ops_per_s for part in parts)
        return PhaseThroughput(phase, count, sum(part.errors for part in parts), seconds, rate)

    def seconds(self, phase: int | None) -> float:
        """Return the length in seconds of a phase that all load generators have. It is the length of the longest one.
        If rates are `over_all`, it is the time from the first start to the last end."""
        if self.over_all:
            first, last = _whole(_span(each, phase) for each in self.each)
            return last - first
        return max(part.seconds for each in self.each for part in each.throughput if part.phase == phase)

    def rate(self, counts: Sequence[int], phase: int | None) -> float:
        """Return the joint rate per second in a phase that all load generators have, from the count of each."""
        if self.over_all:
            seconds = self.seconds(phase)
            return sum(counts) / seconds if seconds > 0 else 0.0
        times = [part.seconds for each in self.each for part in each.throughput if part.phase == phase]
        return sum(count / time for count, time in zip(counts, times, strict=True) if time > 0)

    def measurement(self) -> Measurement:
        """Combine all measurements into one, without phases and intervals, to judge it."""
        total = self.throughput(None)
        if len(self.each) == 1 or total is None:
            return self.each[0]
        warnings = (each.warnings for each in self.each)
        return replace(
            self.each[0],
            window=self.window,
            throughput=(total,),
            operations=tuple(operation for each in self.each for operation in each.operations),
            intervals=(),
            due=None if any(each.due is None for each in self.each) else sum(each.due or 0 for each in self.each),
            dropped=sum(each.dropped for each in self.each),
            warnings=tuple(dict.fromkeys(text for each in ((self.remark,), *warnings) for text in each if text)),
        )


def _whole(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    starts, ends = zip(*spans, strict=True)
    return min(starts), max(ends)


def _span(measurement: Measurement, phase: int | None) -> tuple[float, float]:
    """Return the start and end of a phase. Phases follow one another from the start of the window."""
    if phase is None:
        return measurement.window
    of = {part.phase: part.seconds for part in measurement.throughput if part.phase is not None}
    start = measurement.window[0] + sum(seconds for number, seconds in of.items() if number < phase)
    return start, start + of[phase]


class Sample(NamedTuple):
    """A probe's reading of a `measure` such as "disk.read", in base units (bytes/s, busy cores, share, W, degrees C).

    `time` is in seconds from the start of the measured window. A rate covers an interval that ends at `time`, and
    `seconds` of it lie inside the window. A gauge is read at one moment, so its `seconds` are 0. This is a tuple,
    because a cell has hundreds of samples.
    """

    measure: str
    node: str
    device: str
    time: float
    value: float
    unit: str
    seconds: float = 0.0
