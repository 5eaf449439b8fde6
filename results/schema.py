"""The store's tables and the views that derived metrics are computed over.

All values are in base units: seconds, bytes, operations; latencies are in seconds; cpu is in busy cores; times are UTC.
A missing value is NULL, and `reason` says why; it is never 0.

Each table is a named tuple below (one Parquet file, one row a fact). The views in schema `measure`, which the SQL in a
plan uses, have one row for each combination of their dimensions, for cells with status ok only:

    measure.throughput  experiment, hardware, workload, threads, target, phase, repeat, operation, value
                        [ops/s]; phase NULL is the whole measured window; operation 'all' is the total
    measure.latency     experiment, hardware, workload, threads, target, phase, repeat, operation, kind, statistic,
                        value [s], reported; repeat NULL is merged over repeats; phase NULL is the whole window
    measure.errors      experiment, hardware, workload, threads, target, phase, repeat, value
                        [share of operations, 0..1]
    measure.sample      measure, experiment, hardware, workload, threads, target, repeat, node, time, value
                        [base unit]; devices summed (shares, times, temperatures, speeds: averaged); time in whole
                        seconds from the start of the measured window; a second has its mean, in a row for each
                        reading in it, so that the mean of the rows is that of the readings
    measure.mean        measure, experiment, hardware, workload, threads, target, repeat, node, value [base unit]: the
                        mean over the measured window; of what a disk's requests took, that of the requests
    measure.cells       experiment, hardware, workload, threads, target, repeat: every planned cell, done or not, but
                        for those that a search did not need
    measure.spread      experiment, hardware, workload, threads, target, phase, operation, repeats, mean, sd, cv:
                        throughput over repeats [ops/s]; sd and cv are NULL with fewer than two

threads is BIGINT (NULL where a search found none), target DOUBLE (NULL on a threads ramp), phase and repeat BIGINT
from 1, names VARCHAR.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

SCHEMA_VERSION = 10
"""Raised with every change of a table or a view: a store of another version is built again."""


def utc(seconds: float | None) -> datetime | None:
    """Epoch seconds as a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class MetaRow(NamedTuple):
    """Of what the store was made: the journal's size tells whether it is still up to date."""

    schema_version: int
    build: str
    benchbrief: str
    journal_bytes: int


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
    """Whether all numbers are a model's: nothing was measured."""
    origin: str = "measured"
    """measured | simulated | imported: all numbers of a run are of one kind."""


class CellRow(NamedTuple):
    """A planned cell. `status` is ok, failed, missing (never ended) or skipped (not needed); `reason` says why.

    `threads` and `target` are missing as long as a search has yet to find them.
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
    """How long the beginning of the measured window is not steady by MSER-5, and changes the mean (else 0)."""


class HistogramBucket(NamedTuple):
    lo_s: float
    hi_s: float
    count: int  # type: ignore[assignment]  # a column, in place of tuple.count


class OperationRow(NamedTuple):
    """One kind of operation as one load generator (`source`, a host) measured it."""

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
    """Over all load generators: rates and counts added, `duration_s` the longest. `operation` 'all' is the total.

    Of a measured load, and where they ran together for less than 95 % of the time, rates are counts over `duration_s`,
    the time from the first start to the last end.
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
    and max; a merged mean is weighted by count). `reported`: what `latency` means in a spec; of an operation that has
    both kinds at an offered load, that is the intended one, which counts from when an operation was due.
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


class SampleRow(NamedTuple):
    """A reading of a probe, `t_s` from the start of the measured window; `throughput` are the tool's own intervals.

    `energy` is one row for the whole window. Without a value: the probe gave no sample on this node.
    """

    run_id: str
    cell_id: str
    measure: str
    node: str
    device: str
    t_s: float
    value: float | None
    unit: str


class CoverageRow(NamedTuple):
    """How much of the measured window a probe sampled on a node, as a share, and the longest stretch without."""

    run_id: str
    cell_id: str
    probe: str
    node: str
    share: float
    longest_gap_s: float


class CounterRow(NamedTuple):
    """A server counter by the last reading before the measured window, and by the first after it.

    `reason` says why there is no delta, or that it covers over 10 % more time than the window: readings are some
    seconds apart, and where one failed, or the journal has none, the delta is that of the whole job, warm-up included.
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
    """What is known of a host (`kind` host), a server (database), a tool (tool), or declared of a group (hardware);
    of the spec (spec), its git revision.

    `node` is the host or, for a server, the database's key in the plan; NULL for what is declared of a whole group.
    """

    run_id: str
    kind: str
    hardware: str | None
    node: str | None
    name: str
    value: str
    unit: str | None
    origin: str
    """observed | declared"""


class PropertyRow(NamedTuple):
    """What a cell's numbers depend on, by its tool: `latency` service or intended, `version`, ..."""

    run_id: str
    cell_id: str
    source: str
    name: str
    value: str


class NoteRow(NamedTuple):
    """A remark for the run (`cell_id` NULL) or a cell; `severity` is info, warning or error.

    `origin` is a line of the spec, or what the note is about: a file, or a probe's job (`probe:cpu:db-1`).
    """

    run_id: str
    cell_id: str | None
    severity: str
    text: str
    origin: str


class FileRow(NamedTuple):
    """A raw output behind the numbers, with the SHA-256 it had when it was kept; `reason` when it is no longer that."""

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


class SourceRow(NamedTuple):
    """A file that results were imported from, and who tells them; `licence` is what may be done with the numbers."""

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
    """A metric of the spec as a source tells it, where it does not tell what the metric is computed from.

    No query of a metric meets it: it stands beside, to compare with. `bound` is value, low or high; a dimension that it
    is not of is NULL. `value` is in `unit`, as published.
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
    | CoverageRow
    | CounterRow
    | FactRow
    | PropertyRow
    | NoteRow
    | FileRow
    | SearchRow
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
    "counters": CounterRow,
    "facts": FactRow,
    "properties": PropertyRow,
    "notes": NoteRow,
    "files": FileRow,
    "searches": SearchRow,
    "sources": SourceRow,
    "published": PublishedRow,
}

# Shares, times, temperatures and speeds are the units of readings that don't add up over the devices of a node.
VIEWS = """
CREATE SCHEMA measure;

CREATE VIEW measure.cells AS
SELECT experiment, hardware, workload, threads, target, repeat FROM main.cells WHERE status <> 'skipped';

CREATE VIEW measure.throughput AS
SELECT experiment, hardware, workload, threads, target, phase, repeat, operation, ops_per_s AS value
FROM main.throughput JOIN main.cells USING (run_id, cell_id)
WHERE status = 'ok';

CREATE VIEW measure.latency AS
SELECT experiment, hardware, workload, threads, target, phase, repeat, operation, kind, statistic, value_s AS value,
       reported
FROM main.latency
WHERE source IS NULL;

CREATE VIEW measure.errors AS
SELECT experiment, hardware, workload, threads, target, phase, repeat,
       errors / nullif(count + errors, 0) AS value
FROM main.throughput JOIN main.cells USING (run_id, cell_id)
WHERE status = 'ok' AND operation = 'all';

CREATE VIEW measure.sample AS
SELECT measure, experiment, hardware, workload, threads, target, repeat, node, time, value
FROM (
    SELECT run_id, cell_id, measure, node, time,
           CASE WHEN any_value(unit) IN ('', '1', '%', 'share', 's', 'degC', 'K', 'Hz', 'rpm')
                THEN avg(value) ELSE sum(value) END AS value,
           unnest(range(greatest(max(readings), 1))) AS reading
    FROM (
        SELECT run_id, cell_id, measure, node, device, unit, floor(t_s)::BIGINT AS time, avg(value) AS value,
               count(value) AS readings
        FROM main.samples
        GROUP BY ALL
    )
    GROUP BY run_id, cell_id, measure, node, time
) JOIN main.cells USING (run_id, cell_id)
WHERE status = 'ok';

CREATE VIEW measure.mean AS
SELECT measure, experiment, hardware, workload, threads, target, repeat, node, avg(value) AS value
FROM measure.sample
WHERE measure NOT IN ('disk.read_await', 'disk.write_await')
GROUP BY ALL
UNION ALL
-- What the requests of a disk took is weighted by how many there were. Where that is not known, all readings are alike.
SELECT a.measure, experiment, hardware, workload, threads, target, repeat, a.node,
       coalesce(sum(a.value * n.value) / nullif(sum(n.value) FILTER (WHERE a.value IS NOT NULL), 0), avg(a.value))
FROM main.samples AS a
JOIN main.cells USING (run_id, cell_id)
LEFT JOIN main.samples AS n
  ON n.measure = CASE a.measure WHEN 'disk.read_await' THEN 'disk.reads' ELSE 'disk.writes' END
  AND n.run_id = a.run_id AND n.cell_id = a.cell_id AND n.node = a.node AND n.device = a.device AND n.t_s = a.t_s
WHERE a.measure IN ('disk.read_await', 'disk.write_await') AND status = 'ok'
GROUP BY ALL;

CREATE VIEW measure.spread AS
SELECT experiment, hardware, workload, threads, target, phase, operation,
       count(value) AS repeats, avg(value) AS mean, stddev_samp(value) AS sd,
       stddev_samp(value) / nullif(avg(value), 0) AS cv
FROM measure.throughput
GROUP BY ALL;
"""
