"""The probe: readings of the engine's status, as rates of counters, gauges, and numbers of the whole measured time.

A counter that went back was reset, or the server was started anew: what it did meanwhile is not known, and is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from bench_postgres.postgres_messages import say_pg
from benchbrief.extend.common import BadOutput, Job, JobOutput, Node, Probe, RunnerError, Sample
from benchbrief.extend.probes import Reading, SampleStep, parse_readings, readings_in_window, steps_in_window

Status = Mapping[str, float]

_GAUGES = {
    "active": ("postgresql.active", ""),
    "lock_waits": ("postgresql.lock_waits", ""),
    "lag_s": ("postgresql.lag", "s"),
    "lag_bytes": ("postgresql.lag_bytes", "B"),
}
_RATES = {
    "wal_bytes": ("postgresql.wal", "B/s"),
    "checkpoint_buffers": ("postgresql.checkpoint_written", "B/s"),
    "blocks_read": ("postgresql.blocks_read", "B/s"),
    "temp_bytes": ("postgresql.temporary", "B/s"),
    "commits": ("postgresql.commits", "1/s"),
    "rollbacks": ("postgresql.rollbacks", "1/s"),
    "deadlocks": ("postgresql.deadlocks", "1/s"),
}
_IN_BLOCKS = ("checkpoint_buffers", "blocks_read")
_TOTALS = {
    "checkpoints_timed": "postgresql.checkpoints_timed",
    "checkpoints_requested": "postgresql.checkpoints_requested",
}


class PostgresProbe:
    """Implements `seams.ProbeKind` and `probes.RecordsStatus`."""

    name: ClassVar[str] = "postgresql"

    def reading(self, status: Status) -> str:
        return json.dumps(dict(status))

    def job(self, probe: Probe, node: Node) -> Job:
        raise RunnerError("the server is asked by the controller itself: there is no job for it")

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        _, found = parse_readings(output)
        if not any("wal_bytes" in _status(reading) for reading in found):
            raise BadOutput(say_pg.pg_no_status(host=output.host), say_pg.pg_hint_status())
        taken = list(steps_in_window(probe, output, found, window))
        samples = [
            Sample(measure, output.host, "", time, status[name], unit)
            for time, reading in readings_in_window(probe, output, found, window)
            for status in [_status(reading)]
            for name, (measure, unit) in _GAUGES.items()
            if name in status
        ]
        samples += (sample for step in taken for sample in _rates(step, output.host))
        samples += _whole(taken, output.host, window[1] - window[0])
        return tuple(sorted(samples, key=lambda sample: sample.time))


def _rates(step: SampleStep, host: str) -> Iterator[Sample]:
    before, after = _status(step.before), _status(step.after)
    for name, (measure, unit) in _RATES.items():
        grew = _grew(name, before, after)
        if grew is not None:
            scale = after.get("block_size", math.nan) if name in _IN_BLOCKS else 1.0
            yield Sample(measure, host, "", step.time, grew * scale / step.seconds, unit, step.inside)


def _whole(taken: Sequence[SampleStep], host: str, length: float) -> Iterator[Sample]:
    """Numbers of the whole measured time; none where a part of it is not known."""
    if not taken or any(one.after is not other.before for one, other in pairwise(taken)):
        return
    inside = sum(step.inside for step in taken)

    def total(name: str) -> float | None:
        parts = [_grew(name, _status(step.before), _status(step.after)) for step in taken]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    for name, measure in _TOTALS.items():
        if (count := total(name)) is not None:
            yield Sample(measure, host, "", length, count, "", inside)
    hits, reads = total("blocks_hit"), total("blocks_read")
    if hits is not None and reads is not None and hits + reads > 0:
        yield Sample("postgresql.buffer_hits", host, "", length, hits / (hits + reads), "", inside)


def _grew(name: str, before: Status, after: Status) -> float | None:
    known = name in before and name in after
    return after[name] - before[name] if known and after[name] >= before[name] else None


def _status(reading: Reading) -> Status:
    try:
        found = json.loads("".join(reading.lines))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadOutput("a reading of the probe postgresql is not an object of JSON")
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}
