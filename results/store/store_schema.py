"""The store's tables. `measure_views.py` has the views that derived metrics are computed over.

All values are in base units: seconds, bytes, operations; latencies are in seconds; cpu is in busy cores; times are UTC.
A missing value is NULL, and `reason` says why; it is never 0.

Each table is a named tuple below (one Parquet file, one row a fact).

threads is BIGINT (NULL where a search found none), target DOUBLE (NULL on a threads ramp), phase and repeat BIGINT
from 1, names VARCHAR.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from benchbrief.results.store.cell_tables import EventRow, SizeRow, SteadyRow
from benchbrief.results.store.promise_tables import PromiseRow, RateRow
from benchbrief.results.store.sample_table import SampleBlock, SampleRow

SCHEMA_VERSION = 24
"""Raised with every change of a table or a view: a store of another version is built again."""


def utc(seconds: float | None) -> datetime | None:
    """Convert epoch seconds to a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class MetaRow(NamedTuple):
    """The store's origin. The journal's size shows whether the store is up to date, and its sum whether the journal
    is unchanged (`runners/journal/line_sums.py`). `interval_level` is that of each interval over repeats: above
    0.95 where a budget looks at them several times (`compiler/planning/budgets.py`)."""

    schema_version: int
    build: str
    benchbrief: str
    journal_bytes: int
    journal_sum: str = ""
    interval_level: float = 0.95


class RunRow(NamedTuple):
    run_id: str
    spec: str
    profile: str | None
    plan_version: int
    benchbrief: str | None
    started_at: datetime | None
    ended_at: datetime | None
    status: str
    """done | failed | interrupted | unfinished (no verdict in the journal: running, or killed)."""
    message: str | None
    simulated: bool = False
    """Whether all numbers come from a model, and none from a measurement."""
    origin: str = "measured"
    """measured | simulated | imported. All numbers of a run are of one kind."""


class CellRow(NamedTuple):
    """A planned cell. `status` is ok, failed, missing (never ended, or no room in the budget) or skipped (not needed);
    `reason` says why. `threads` and `target` are missing until a search finds them.
    """

    run_id: str
    cell_id: str
    cell_hash: str
    experiment: str
    hardware: str
    database: str
    workload: str
    threads: int | None
    target: float | None
    repeat: int
    status: str
    reason: str | None
    attempt: int | None
    started_at: datetime | None
    measured_s: float | None
    warm_up_s: float
    raw_dir: str | None
    origin: str
    reused_from: str | None = None
    """The earlier run that measured it; NULL for this one."""
    transient_s: float | None = None
    """The seconds of an unsteady beginning, by MSER-5, that changes the mean (else 0)."""
    due: int | None = None
    """The operations that the schedule had due in the measured time; NULL where the load generator does not tell."""


class HistogramBucket(NamedTuple):
    lo_s: float
    hi_s: float
    count: int  # type: ignore[assignment]  # a column, in place of tuple.count


class OperationRow(NamedTuple):
    """One kind of operation, measured by one load generator (`source`, a host)."""

    run_id: str
    cell_id: str
    phase: int | None
    source: str
    operation: str
    kind: str
    """service | intended"""
    count: int  # type: ignore[assignment]  # a column, in place of tuple.count
    errors: int
    mean_s: float | None
    min_s: float | None
    max_s: float | None
    histogram: tuple[HistogramBucket, ...] | None
    reason: str | None


class ThroughputRow(NamedTuple):
    """Over all load generators: the sum of rates and counts, the longest `duration_s`. `operation` 'all' is the
    total.

    For a measured load, and where they ran together for less than 95 % of the time, rates are counts over
    `duration_s`, the time from the first start to the last end.
    """

    run_id: str
    cell_id: str
    phase: int | None
    operation: str
    ops_per_s: float | None
    count: int | None  # type: ignore[assignment]  # a column, in place of tuple.count
    errors: int | None
    duration_s: float | None
    reason: str | None


class LatencyRow(NamedTuple):
    """A statistic of a distribution. `repeat` NULL: merged over repeats; `source` NULL: merged over load generators.

    `statistic`: mean, min, max, p50, p75, p90, p95, p99, p99.9, p99.99. `sources`: distributions behind it.
    `origin`: histogram; printed (a percentile as the tool printed it, which can't be merged); tool (its own mean, min
    and max; a merged mean is weighted by count). `reported`: what `latency` means in a spec; where a point has
    intended latencies, which count from when an operation was due, these alone, and never one kind beside the other.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    threads: int | None
    target: float | None
    phase: int | None
    repeat: int | None
    source: str | None
    operation: str
    kind: str
    statistic: str
    value_s: float | None
    origin: str
    sources: int
    reason: str | None
    reported: bool = True


class CoverageRow(NamedTuple):
    """The share of the measured window that a probe sampled on a node, and the longest stretch without samples."""

    run_id: str
    cell_id: str
    probe: str
    node: str
    share: float
    longest_gap_s: float


class CounterRow(NamedTuple):
    """A server counter at the start and the end of the measured window, each interpolated between two readings.

    `reason` says why there is no delta, or why it does not quite match the window: the readings around an end are
    farther apart than 10 % of it; or there are none, and the delta covers the whole job with its warm-up.
    """

    run_id: str
    cell_id: str
    node: str
    name: str
    before: float | None
    after: float | None
    delta: float | None
    reason: str | None


class FactRow(NamedTuple):
    """A fact, observed or declared, by `kind`: host, database (a server), tool, hardware (declared for a group),
    spec (its git revision), source (what an imported source states of its versions and settings) and source fact
    (the declared facts that it states).

    `node` is the host or, for a server, the database's key in the plan; NULL for a fact of a whole group.
    """

    run_id: str
    kind: str
    hardware: str | None
    node: str | None
    name: str
    value: str
    unit: str | None
    origin: str
    """observed | declared | told"""


class PropertyRow(NamedTuple):
    """What a cell's numbers depend on: `latency`, `version`, ... of its tool, the `node` that a host (`source`) was."""

    run_id: str
    cell_id: str
    source: str
    name: str
    value: str


class NoteRow(NamedTuple):
    """A remark on the run (`cell_id` NULL) or a cell; `severity` is info, warning or error.

    `origin` is a line of the spec, or the subject of the note: a file, or a probe's job (`probe:cpu:db-1`).
    """

    run_id: str
    cell_id: str | None
    severity: str
    text: str
    origin: str


class SentenceRow(NamedTuple):
    """A sentence of benchbrief in another table: its English words, and its code with arguments as JSON.

    Other texts are the words of a tool, or of an earlier version (`compiler/messages/text.py`).
    """

    run_id: str
    text: str
    code: str
    message: str


class FileRow(NamedTuple):
    """A raw output behind the numbers, with its SHA-256 when it was kept; `reason` when it has changed since."""

    run_id: str
    cell_id: str
    attempt: int
    job: str
    host: str
    path: str
    sha256: str
    reason: str | None


class SearchRow(NamedTuple):
    """A knee search on one hardware with one workload: its criterion, and what it found.

    `latency` is a statistic, `rise` and `gain` are shares. `knee` is a point of `axis` (threads or target); where it is
    NULL, `reason` says why.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    axis: str
    latency: str
    rise: float
    gain: float
    knee: float | None
    reason: str | None


class MetricRow(NamedTuple):
    """A metric of the spec, as the run was planned; its values are in the view `metric.NAME`.

    `dims` are its dimensions, joined by commas; `expression` is from the spec, and `sql` computes it.
    """

    run_id: str
    name: str
    label: str
    unit: str
    better: str | None
    """higher | lower"""
    dims: str
    expression: str
    sql: str


class SourceRow(NamedTuple):
    """A file of imported results, and its source; `licence` says how the numbers may be used."""

    run_id: str
    kind: str
    """table, ycsb, go-ycsb, db_bench, hdr."""
    title: str
    publisher: str
    url: str | None
    document: str | None
    date: str | None
    licence: str
    file: str
    sha256: str
    size: int


class PublishedRow(NamedTuple):
    """A published metric whose parts the source does not give.

    No query of a metric reads it: it is for comparison. `bound` is value, low or high; a dimension that it lacks is
    NULL. `value` is in `unit`, as published.
    """

    run_id: str
    metric: str
    bound: str
    experiment: str | None
    hardware: str | None
    workload: str | None
    threads: int | None
    target: float | None
    phase: int | None
    value: float
    unit: str
    origin: str


Row = (
    RunRow
    | CellRow
    | OperationRow
    | ThroughputRow
    | LatencyRow
    | SampleRow
    | SampleBlock
    | CoverageRow
    | SizeRow
    | EventRow
    | SteadyRow
    | CounterRow
    | FactRow
    | PropertyRow
    | NoteRow
    | SentenceRow
    | FileRow
    | SearchRow
    | PromiseRow
    | RateRow
    | MetricRow
    | SourceRow
    | PublishedRow
)

TABLES: dict[str, type[tuple[object, ...]]] = {
    "meta": MetaRow,
    "runs": RunRow,
    "cells": CellRow,
    "operations": OperationRow,
    "throughput": ThroughputRow,
    "latency": LatencyRow,
    "samples": SampleRow,
    "coverage": CoverageRow,
    "sizes": SizeRow,
    "events": EventRow,
    "steady_ends": SteadyRow,
    "counters": CounterRow,
    "facts": FactRow,
    "properties": PropertyRow,
    "notes": NoteRow,
    "sentences": SentenceRow,
    "files": FileRow,
    "searches": SearchRow,
    "promises": PromiseRow,
    "rates": RateRow,
    "metrics": MetricRow,
    "sources": SourceRow,
    "published": PublishedRow,
}
