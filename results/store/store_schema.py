"""The store's tables. `measure_views.py` has the views from which metrics are computed.

All values are in base units: seconds, bytes, operations. Latencies are in seconds, cpu is in busy cores, and times are
UTC. A missing value is NULL, never 0, and `reason` says why it is missing.

Each table is a named tuple below. It is one Parquet file, and each row is one fact.

threads is BIGINT (NULL if a search found none), target is DOUBLE (NULL on a threads ramp), phase and repeat are BIGINT
from 1, and names are VARCHAR. `levels` is the level of each factor that an experiment varies, as in
`codec=lz4,vsize=1000`; '' if the experiment varies none. The views have a column for each factor instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from benchbrief.model.message import Message, message_from_data, to_data


class SizeRow(NamedTuple):
    """A size of a cell's database: `database.size_loaded` before the warm-up [B], `database.size` after the measurement
    [B], or `database.space_amplification` after the measurement. If there is no value, `reason` says why."""

    run_id: str
    cell_id: str
    measure: str
    node: str
    value: float | None
    unit: str
    reason: str | None


class SteadyRow(NamedTuple):
    """The end of a measurement that lasts until the load is steady. `steady` is whether the load became steady, within
    a share of the mean (`within`). If it did not, the time ran out. The measurement lasted `lasted_s` seconds. Its
    minimum was `from_s`, and its maximum was `most_s`.

    `cut_s` is the length of the transient at the beginning of the measurement, which is left out of all numbers. It is
    NULL if the transient reaches into the second half; then nothing is left out. Half widths belong to the 95 %
    intervals of the means, as shares of the mean. Correlations are between consecutive batches. Both are NULL if there
    is no mean, and for latency in a closed loop.
    """

    run_id: str
    cell_id: str
    steady: bool
    within: float
    from_s: float
    most_s: float
    lasted_s: float
    cut_s: float | None
    throughput_half_width: float | None
    throughput_correlation: float | None
    latency_half_width: float | None
    latency_correlation: float | None


class EventRow(NamedTuple):
    """An event of a measured cell. `number` counts from 1, and `hosts` are separated by commas.

    `declared_s` and `began_s` are from the start of the measured window. `seconds` is how long the event's command took
    on the slowest host, and `exit_code` is 0 if it succeeded on all hosts. `before` and `lowest` are throughputs
    (ops/s). `dip` is how far the lowest throughput is below the one before, as a share. `recovery_s` is the time until
    the throughput had recovered, `latency_s` is the time until the latency had recovered, and `outage_s` is the length
    of the outage: see `results/statistics/recovery.py`. If these values are NULL, `reason` says why. If `latency_s` is
    NULL, `latency_reason` says why.
    """

    run_id: str
    cell_id: str
    number: int
    label: str
    hosts: str
    declared_s: float
    began_s: float
    seconds: float
    exit_code: int
    before: float | None
    lowest: float | None
    dip: float | None
    recovery_s: float | None
    outage_s: float | None
    latency_s: float | None
    reason: str | None
    latency_reason: str | None


EVENT_MEANS = """
UNION ALL
-- Of several events in a cell, the one with the most effect counts; one that has no value leaves the cell without.
SELECT measure, experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat, '' AS node, value
FROM (
    SELECT run_id, cell_id, unnest([
        {'measure': 'recovery', 'value': CASE WHEN count(recovery_s) = count(*) THEN max(recovery_s) END},
        {'measure': 'recovery.outage', 'value': CASE WHEN count(outage_s) = count(*) THEN max(outage_s) END},
        {'measure': 'recovery.latency', 'value': CASE WHEN count(latency_s) = count(*) THEN max(latency_s) END},
        {'measure': 'recovery.dip', 'value': CASE WHEN count(dip) = count(*) THEN max(dip) END},
        {'measure': 'recovery.lowest', 'value': CASE WHEN count(lowest) = count(*) THEN min(lowest) END},
        {'measure': 'recovery.before', 'value': CASE WHEN count(before) = count(*) THEN avg(before) END}
    ], recursive := true)
    FROM main.events
    GROUP BY run_id, cell_id
) JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok'"""


class PromiseRow(NamedTuple):
    """A search for the highest rate that keeps a promise, for one hardware group and one workload, and its result.

    `within` and `confidence` are shares. `kind` is found, at_least, none or undecided. `sustained` is the rate in ops/s
    that counts; if it is NULL, `reason` says why. `found` is the rate that the search found, even if held-out runs
    broke the promise there. `above` is the next candidate, which broke the promise or, with `by_generator`, which the
    load generator could not offer. `sure` is whether the search decided between these two rates with that confidence,
    and not by the majority of all repeats. No run broke the promise up to the rate `kept_to`, and no run kept it from
    the rate `broken_from` on (each is NULL if there is no such rate); between the two, runs disagree. Of the `held_out`
    runs, `held_met` kept the promise.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    levels: str
    promise: str
    within: float
    confidence: float
    kind: str | None
    sustained: float | None
    found: float | None
    above: float | None
    by_generator: bool
    sure: bool
    kept_to: float | None
    broken_from: float | None
    held_met: int
    held_out: int
    reason: str | None


class RateRow(NamedTuple):
    """A rate measured by a search, and how many runs kept the promise, broke it, were beyond the load generator's
    reach, or failed.

    Held-out runs are counted separately: of the `held_out` runs, `held_met` kept the promise, and `held_beyond` were
    beyond the load generator's reach.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    levels: str
    target: float
    met: int
    broken: int
    beyond: int
    failed: int
    held_met: int
    held_out: int
    held_beyond: int


SUSTAINED = """

CREATE VIEW measure.sustained AS
SELECT *,
       CASE WHEN value IS NULL THEN NULL WHEN bound IS NULL THEN if(decided, NULL, '≈') ELSE if(decided, '≥', '≳')
       END AS mark
FROM (
    SELECT experiment, hardware, workload, l.* EXCLUDE (levels), sustained AS value,
           CASE WHEN sustained IS NOT NULL AND (kind = 'at_least' OR by_generator) THEN 'at_least' END AS bound,
           coalesce(sure, false) AS decided
    FROM main.promises JOIN measure.levels AS l USING (levels)
);
"""


class SampleRow(NamedTuple):
    """A reading of a probe, `t_s` seconds from the start of the measured window. Readings of `throughput` cover the
    intervals that the tool itself reports.

    A reading represents the time from `from_s` to `to_s` of the window, which is its weight in means. `energy` is one
    row for the whole window. A row without a value means that the probe gave no sample on this node.
    """

    run_id: str
    cell_id: str
    measure: str
    node: str
    device: str
    t_s: float
    value: float | None
    unit: str
    from_s: float = 0.0
    to_s: float = 0.0


class SampleBlock(NamedTuple):
    """Many rows of `SampleRow` from one cell, kept as columns, because nine of ten rows of a store are samples."""

    run_id: str
    cell_id: str
    measure: Sequence[str]
    node: Sequence[str]
    device: Sequence[str]
    t_s: Sequence[float]
    value: Sequence[float | None]
    unit: Sequence[str]
    from_s: Sequence[float]
    to_s: Sequence[float]

    @property
    def columns(self) -> tuple[Sequence[object], ...]:
        """Return the columns of `SampleRow`, all of equal length."""
        size = len(self.t_s)
        return [self.run_id] * size, [self.cell_id] * size, *self[2:]


SCHEMA_VERSION = 27
"""The version of the tables and views, incremented with every change. A store of another version is rebuilt."""


def utc(seconds: float | None) -> datetime | None:
    """Convert epoch seconds to a UTC time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class MetaRow(NamedTuple):
    """The store's origin. The journal's size shows whether the store is up to date, and its checksum whether the
    journal is unchanged (`runners/journal/journal_file.py`).

    `interval_level` is the level of each interval over repeats. It is above 0.95 if a budget looks at the repeats
    several times (`model/budgets.py`).
    """

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
    """done | failed | interrupted | unfinished (the journal has no verdict, because the run is in progress or was
    killed)."""
    message: str | None
    simulated: bool = False
    """Whether the numbers come from a model and nothing was measured."""
    origin: str = "measured"
    """measured | simulated | imported. All numbers of a run are of one kind."""


class CellRow(NamedTuple):
    """A planned cell. `status` is ok, failed, missing (never ended, or no room in the budget) or skipped (not needed),
    with its `reason`. `threads` and `target` are NULL until a search finds them."""

    run_id: str
    cell_id: str
    cell_hash: str
    experiment: str
    hardware: str
    database: str
    workload: str
    levels: str
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
    """The earlier run that measured the cell, or NULL if this run did."""
    transient_s: float | None = None
    """The length in seconds of an unsteady beginning that changes the mean, as found by MSER-5. It is 0 if there is
    none."""
    due: int | None = None
    """The operations that were due in the measured time according to the schedule, or NULL if the load generator does
    not report them."""


class FactorRow(NamedTuple):
    """A level of a factor (a setting that experiments vary), in the order of the spec.

    In the views, `factor` is a column. `level` is the level as it is written in the column `levels` of the tables. If
    levels are numbers, `number` is the level in `unit`, a base unit; otherwise both are NULL.
    """

    run_id: str
    factor: str
    label: str
    level: str
    level_label: str
    number: float | None
    unit: str | None


class HistogramBucket(NamedTuple):
    lo_s: float
    hi_s: float
    count: int  # type: ignore[assignment]  # a column, in place of tuple.count


class OperationRow(NamedTuple):
    """One kind of operation, as measured by one load generator (`source`, a host)."""

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
    """The throughput over all load generators: the sum of rates and counts, and the longest `duration_s`. `operation`
    'all' is the total.

    For a measured load, and if the load generators ran together for less than 95 % of the time, rates are counts
    divided by `duration_s`, the time from the first start to the last end.
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
    """A statistic of latencies. `repeat` is NULL if repeats are merged, and `source` is NULL if load generators are
    merged.

    `statistic` is mean, min, max, p50, p75, p90, p95, p99, p99.9 or p99.99. `sources` is the number of distributions
    behind the value. `origin` is histogram, printed (a percentile as the tool printed it, which can't be merged), or
    tool (the tool's own mean, min and max; a merged mean is weighted by count). `reported` is whether `latency` in a
    spec means this statistic. If a point has intended latencies, which count from when an operation was due, only these
    are reported.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    levels: str
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
    """A server counter at the start and at the end of the measured window, each interpolated between two readings.

    `reason` says why there is no delta, or why the delta does not quite match the window. Either the readings around an
    end are farther apart than 10 % of the window, or they are missing, so that the delta covers the whole job with its
    warm-up.
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
    """A fact, observed or declared. `kind` is one of: host, database (a server), tool, hardware (declared for a group),
    spec (the spec's git revision), source (a version or setting that an imported source states), source fact (a
    declared fact that the source states) or source limit (something that the source's numbers do not show, as `name`).

    `node` is the host or, for a server, the database's key in the plan; it is NULL for a fact about a whole group.
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
    """A property that affects a cell's numbers. It is a property of the cell's tool (`latency`, `version`, ...), or the
    `node` that was used as a host (`source`)."""

    run_id: str
    cell_id: str
    source: str
    name: str
    value: str


class NoteRow(NamedTuple):
    """A note on the run (if `cell_id` is NULL) or on a cell. `severity` is info, warning or error.

    `origin` is a line of the spec, or the subject of the note: a file, or a probe's job (`probe:cpu:db-1`).
    """

    run_id: str
    cell_id: str | None
    severity: str
    text: str
    origin: str


class SentenceRow(NamedTuple):
    """A message of benchbrief that occurs in another table: its English words, and its code with arguments as JSON.

    Texts that are not in this table are the words of a tool, or of an earlier version (`model/message.py`).
    """

    run_id: str
    text: str
    code: str
    message: str


class FileRow(NamedTuple):
    """A raw output behind the numbers, with its SHA-256 when it was kept. `reason` is its current problem, if there is
    one."""

    run_id: str
    cell_id: str
    attempt: int
    job: str
    host: str
    path: str
    sha256: str
    reason: str | None


class SearchRow(NamedTuple):
    """A knee search for one hardware group and one workload: its criterion, and its result.

    `latency` is a statistic. `rise` and `gain` are shares. `knee` is a point on `axis` (threads or target); if it is
    NULL, `reason` says why.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    levels: str
    axis: str
    latency: str
    rise: float
    gain: float
    knee: float | None
    reason: str | None


class MetricRow(NamedTuple):
    """A metric of the spec, as it was when the run was planned. Its values are in the view `metric.NAME`.

    `dims` are its dimensions, joined by commas. `expression` is its text in the spec, and `sql` computes its values.
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
    """A file of imported results, and its source. `licence` says how the numbers may be used."""

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
    """A metric's value as published by a source, without the measures from which it is computed.

    The value is for comparison only: a metric's query does not read it. `bound` is value, low or high. A dimension that
    the source does not give is NULL. `value` is in `unit`, as published.
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
    levels: str = ""


Row = (
    RunRow
    | FactorRow
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
    "factors": FactorRow,
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


SENTENCES = "SELECT text, message FROM main.sentences"


class Sentences:
    """The messages among the fields of rows, each kept only once. `rows` yields them as rows of the table
    `sentences`."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._known: dict[str, Message] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        if not isinstance(row, SampleRow | SampleBlock):  # most rows are samples, whose texts are only names
            for field in row:
                if field.__class__ is Message:
                    self._known[field] = field  # without a call for each field

    def rows(self, run_id: str) -> Iterator[SentenceRow]:
        for text in self._known.values():
            yield SentenceRow(run_id, text, text.code, json.dumps(to_data(text), ensure_ascii=False))


def read_sentences(rows: Iterable[Sequence[object]]) -> dict[str, Message]:
    """Return the messages in a store's table `sentences`, by their English words. Each row is a text and a message."""
    return {str(text): message_from_data(json.loads(str(message))) for text, message in rows}
