"""What a measurement is: operations with their latency distributions, and samples of probes.

Latencies are in seconds, throughputs in operations per second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal


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


def together(measured: Sequence[Measurement]) -> Measurement:
    """What several load generators measured at the same time, for its verdict: rates are added, as in the store."""
    if len(measured) == 1:
        return measured[0]
    totals = [each.total for each in measured]
    total = PhaseThroughput(
        None,
        sum(t.count for t in totals),
        sum(t.errors for t in totals),
        max(t.seconds for t in totals),
        sum(t.ops_per_s for t in totals),
    )
    return replace(
        measured[0],
        window=(max(each.window[0] for each in measured), min(each.window[1] for each in measured)),
        throughput=(total,),
        operations=tuple(operation for each in measured for operation in each.operations),
        intervals=(),
        warnings=tuple(dict.fromkeys(text for each in measured for text in each.warnings)),
    )


@dataclass(frozen=True)
class Sample:
    """A probe's reading: `measure` such as "disk.read", in base units (bytes/s, busy cores, share, W, degrees C).

    `time` is in seconds from the start of the measured window.
    """

    measure: str
    node: str
    device: str
    time: float
    value: float
    unit: str
