"""The `database` probe: a server's own counters, read by the controller over the engine's connection.

For MongoDB that is `serverStatus` (https://www.mongodb.com/docs/manual/reference/command/serverStatus/) and, for a
replica set, `replSetGetStatus`. The form is that of other probes' readings, each with one line of JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import ClassVar

from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.sampling import Reading, parse_readings, readings_in_window, steps_in_window
from benchbrief.runners.seams import Node

_GAUGES: Mapping[str, tuple[str, str, float]] = {
    "connections.current": ("database.connections", "", 1),
    "active": ("database.active", "", 1),
    "queued": ("database.queued", "", 1),
    "memory.resident_mib": ("database.memory", "B", 1 << 20),
    "wiredtiger.cache.used_bytes": ("database.cache_used", "B", 1),
    "wiredtiger.cache.dirty_bytes": ("database.cache_dirty", "B", 1),
    "replication_lag_s": ("database.replication_lag", "s", 1),
}
_COUNTERS: Mapping[str, tuple[str, str]] = {
    "opcounters.insert": ("database.inserts", "1/s"),
    "opcounters.query": ("database.queries", "1/s"),
    "opcounters.update": ("database.updates", "1/s"),
    "opcounters.delete": ("database.deletes", "1/s"),
    "opcounters.getmore": ("database.getmores", "1/s"),
    "opcounters.command": ("database.commands", "1/s"),
    "network.bytesIn": ("database.received", "B/s"),
    "network.bytesOut": ("database.sent", "B/s"),
    "wiredtiger.cache.read_bytes": ("database.cache_read", "B/s"),
    "wiredtiger.cache.written_bytes": ("database.cache_written", "B/s"),
    "wiredtiger.cache.evicted_pages": ("database.evictions", "1/s"),
    "wiredtiger.cache.evicted_by_operations": ("database.evictions_by_operations", "1/s"),
}
"""Each number's name in the engine, with its measure: a gauge as it is, a counter as its rate."""


class Database:
    """Rates of the server's counters, and its gauges; see `seams.ProbeKind`. Numbers that a server lacks are
    left out."""

    name: ClassVar[str] = "database"

    def reading(self, status: Mapping[str, float]) -> str:
        """Return one reading's line; see `RecordsStatus`."""
        return json.dumps(dict(status))

    def job(self, probe: Probe, node: Node) -> Job:
        raise RunnerError(say.asked_by_controller())

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        _, found = parse_readings(output)
        samples = [
            Sample(measure, output.host, "", time, status[name] * factor, unit)
            for time, reading in readings_in_window(probe, output, found, window)
            for status in [_status(reading)]
            for name, (measure, unit, factor) in _GAUGES.items()
            if name in status
        ]
        for step in steps_in_window(probe, output, found, window):
            before, after = _status(step.before), _status(step.after)
            samples += [
                Sample(
                    measure, output.host, "", step.time, (after[name] - before[name]) / step.seconds, unit, step.inside
                )
                for name, (measure, unit) in _COUNTERS.items()
                if name in before and after.get(name, -math.inf) >= before[name]  # otherwise the server was restarted
            ]
        return tuple(sorted(samples, key=lambda sample: sample.time))


def _status(reading: Reading) -> Mapping[str, float]:
    try:
        found = json.loads("".join(reading.lines))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BadOutput(say.status_unread())
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}
