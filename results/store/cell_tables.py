"""The tables of what only some cells have: sizes, events, ends by steadiness; and the view of events' measures."""

from __future__ import annotations

from typing import NamedTuple


class SizeRow(NamedTuple):
    """The size of a cell's database: `database.size_loaded` before its warm-up, `database.size` after its
    measurement [B], and `database.space_amplification` then. Without a value, `reason` says why."""

    run_id: str
    cell_id: str
    measure: str
    node: str
    value: float | None
    unit: str
    reason: str | None


class SteadyRow(NamedTuple):
    """How the measurement of a cell ended that was to go on until it is steady: `steady`, within a share of the mean
    (`within`), or after the most time that it had. It lasted for `lasted_s`, `from_s` at least and `most_s` at most.

    `cut_s` is the transient at its beginning, which no number is of; NULL where that goes into the second half, so that
    all of it counts. Of the rest, half the width of the 95 % interval of each mean is a share of the mean, and the
    correlation that of batches that follow each other; NULL where there is no mean, and of latency in a closed loop.
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
    """An event of a measured cell. `number` counts from 1; `hosts` are separated by commas.

    `declared_s` and `began_s` are from the start of the measured window. `seconds` is how long its command took, the
    longest of all hosts, and `exit_code` 0 for all. `before` and `lowest` are throughputs (ops/s), `dip` is the share
    by which the lowest is below before, `recovery_s` the time until it was back, `outage_s` that in which it was out,
    and `latency_s` the time until the latency was back: see `results/statistics/recovery.py`. `reason` says why they
    are NULL, and `latency_reason` why that of the latency is.
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
SELECT measure, experiment, hardware, workload, threads, target, repeat, '' AS node, value
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
) JOIN main.cells USING (run_id, cell_id)
WHERE status = 'ok'"""
