"""The samples of simulated probes: every measure that a probe can give, from the host's load at the time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from benchbrief.compiler.extensions.registry import PROBE_SPECS
from benchbrief.runners.simulated.load_model import Busy, chance
from benchbrief.runners.simulated.queueing_model import PAGE_BYTES, Machine

_MOST = 60
"""The most samples of a job: a long job is sampled less often than asked."""
_JITTER = 0.01
GIB, MESSAGE_BYTES = float(1 << 30), 1000.0
_IDLE = Busy({}, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sampler:
    """Samples one probe. `devices` are those that each measure names: one without a name for the whole host.

    `library`: whether the database is a library in the load generator's process, not a server.
    """

    probe: str
    host: str
    every_s: float
    machine: Machine
    seed: int
    device: str = ""
    library: bool = False
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


@dataclass(frozen=True)
class Samples:
    """Values in base units, by measure, at `times` (epoch seconds by the simulated clock). None when there is none."""

    times: tuple[float, ...]
    values: dict[str, tuple[float | None, ...]]
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


SAMPLER: TypeAdapter[Sampler] = TypeAdapter(Sampler)
SAMPLES: TypeAdapter[Samples] = TypeAdapter(Samples)

Reading = Callable[[Busy, Machine], float | None]


def _watts(busy: Busy, machine: Machine) -> float:
    """Return watts, linear in the processors' utilisation.

    From Fan, Weber and Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.
    """
    return machine.idle_power + (machine.full_power - machine.idle_power) * busy.cpu


def _always(value: float) -> Reading:
    return lambda *_: value


def _messages(busy: Busy, _: Machine) -> float:
    """Return one message for each operation: a request or a reply."""
    return sum(busy.operations.values())


def _bytes(busy: Busy, _: Machine) -> float:
    return sum(busy.operations.values()) * MESSAGE_BYTES


def _done(*names: str) -> Reading:
    """Count operations of these kinds. A read-modify-write counts as both of its halves, a scan as a query."""
    return lambda busy, _: sum(busy.operations.get(name, 0.0) for name in names)


_READS, _WRITES = ("read", "scan", "read_modify_write"), ("update", "insert", "write", "merge", "read_modify_write")
_HIT_RATIO, _AMPLIFICATION = 0.8, 6.0
"""Invented: RocksDB reads one of five blocks from the disk, and logs, flushes, and compacts each byte four times."""


def _user(names: tuple[str, ...], times: float = 1.0) -> Reading:
    done = _done(*names)
    return lambda busy, machine: times * MESSAGE_BYTES * (done(busy, machine) or 0.0)


def _where(names: tuple[str, ...], value: float) -> Reading:
    """Return a ratio, or nothing when its base is 0."""
    return lambda busy, _: value if any(busy.operations.get(name) for name in names) else None


def _active(busy: Busy, machine: Machine) -> float:
    """Return the operations at work at the processors and at the disk, by Little's law."""
    return busy.cores + (busy.reads + busy.writes) * machine.disk_latency


_OF_SERVERS: Mapping[str, tuple[str, Reading]] = {
    "database.connections": ("", _active),
    "database.active": ("", _active),
    "database.queued": ("", _always(0.0)),
    "database.memory": ("B", _always(8 * GIB)),
    "database.cache_used": ("B", _always(6 * GIB)),
    "database.cache_dirty": ("B", lambda busy, _: busy.writes * PAGE_BYTES),
    "database.replication_lag": ("s", _always(0.01)),
    "database.inserts": ("1/s", _done("insert")),
    "database.queries": ("1/s", _done(*_READS)),
    "database.updates": ("1/s", _done("update", "read_modify_write")),
    "database.deletes": ("1/s", _done("delete")),
    "database.getmores": ("1/s", _done("scan")),
    "database.commands": ("1/s", _always(1.0)),
    "database.received": ("B/s", _bytes),
    "database.sent": ("B/s", _bytes),
    "database.cache_read": ("B/s", lambda busy, _: busy.reads * PAGE_BYTES),
    "database.cache_written": ("B/s", lambda busy, _: busy.writes * PAGE_BYTES),
    "database.evictions": ("1/s", lambda busy, _: busy.reads + busy.writes),
    "database.evictions_by_operations": ("1/s", _always(0.0)),
}
_OF_LIBRARIES: Mapping[str, tuple[str, Reading]] = {
    "database.user_read": ("B/s", _user(_READS)),
    "database.user_written": ("B/s", _user(_WRITES)),
    "database.wal_written": ("B/s", _user(_WRITES)),
    "database.flushed": ("B/s", _user(_WRITES)),
    "database.compaction_read": ("B/s", _user(_WRITES, _AMPLIFICATION - 2)),
    "database.compaction_written": ("B/s", _user(_WRITES, _AMPLIFICATION - 2)),
    "database.cache_hits": ("1/s", lambda busy, _: busy.reads * _HIT_RATIO / (1 - _HIT_RATIO)),
    "database.cache_misses": ("1/s", lambda busy, _: busy.reads),
    "database.bloom_useful": ("1/s", _done("read")),
    "database.cache_hit_ratio": ("", _where(_READS, _HIT_RATIO)),
    "database.stalled": ("", _always(0.0)),
    "database.write_amplification": ("", _where(_WRITES, _AMPLIFICATION)),
}

READINGS: Mapping[str, tuple[str, Reading]] = {
    "power": ("W", _watts),
    "cpu": ("cores", lambda busy, _: busy.cores),
    "cpu.utilisation": ("", lambda busy, _: busy.cpu),
    "cpu.iowait": ("", lambda busy, _: (1.0 - busy.cpu) * busy.disk),
    "cpu.steal": ("", _always(0.0)),
    "cpu.pressure": ("", lambda busy, _: busy.cpu),
    "disk.read": ("B/s", lambda busy, _: busy.reads * PAGE_BYTES),
    "disk.write": ("B/s", lambda busy, _: busy.writes * PAGE_BYTES),
    "disk.reads": ("1/s", lambda busy, _: busy.reads),
    "disk.writes": ("1/s", lambda busy, _: busy.writes),
    "disk.read_await": ("s", lambda _, machine: machine.disk_latency),
    "disk.write_await": ("s", lambda _, machine: machine.disk_latency),
    "disk.queue": ("", lambda busy, machine: (busy.reads + busy.writes) * machine.disk_latency),
    "disk.utilisation": ("", lambda busy, _: busy.disk),
    "disk.pressure": ("", lambda busy, _: busy.disk),
    "memory.used": ("B", _always(16 * GIB)),
    "memory.available": ("B", _always(48 * GIB)),
    "memory.cached": ("B", _always(32 * GIB)),
    "memory.dirty": ("B", lambda busy, _: busy.writes * PAGE_BYTES),
    "memory.swap_used": ("B", _always(0.0)),
    "memory.swap_in": ("B/s", _always(0.0)),
    "memory.swap_out": ("B/s", _always(0.0)),
    "memory.major_faults": ("1/s", _always(0.0)),
    "memory.pressure": ("", _always(0.0)),
    "network.received": ("B/s", _bytes),
    "network.sent": ("B/s", _bytes),
    "network.packets_received": ("1/s", _messages),
    "network.packets_sent": ("1/s", _messages),
    "network.errors": ("1/s", _always(0.0)),
    "network.drops": ("1/s", _always(0.0)),
    **_OF_SERVERS,
    **_OF_LIBRARIES,
}
"""The unit of each sampled measure, and how to compute it from a host's load. Memory is the same for every host."""


def measures_of(probe: str, library: bool = False) -> tuple[str, ...]:
    """Return what a probe of that name samples: those of `READINGS` and those whose spec says what is simulated.

    A measure begins with the name of its probe.
    """
    others = _OF_SERVERS if library else _OF_LIBRARIES
    by_load = [name for name in READINGS if name.partition(".")[0] == probe and name not in others]
    spec = PROBE_SPECS.usable(probe)
    measures = [name for name, said in spec.measures.items() if said.simulated is not None] if spec else []
    return tuple(dict.fromkeys((*by_load, *measures)))


def reading_of(measure: str) -> tuple[str, Reading]:
    """Return its unit, and how it follows from what a host does. One that is not in `READINGS` is the
    same at all times."""
    if measure in READINGS:
        return READINGS[measure]
    spec = PROBE_SPECS.usable(measure.partition(".")[0])
    said = spec.measures[measure] if spec else None
    return (said.unit, _always(said.simulated or 0.0)) if said else ("", _always(0.0))


def make_samples(sampler: Sampler, start: float, end: float, spans: Sequence[tuple[float, float, Busy]]) -> Samples:
    """Return the samples from `start` to `end` of a host under these loads."""
    step = max(sampler.every_s, (end - start) / _MOST)
    times = tuple(start + i * step for i in range(math.floor((end - start) / step) + 1))
    jitter = chance(sampler.seed, sampler.host, sampler.probe, start)
    factors = [max(0.0, 1.0 + _JITTER * jitter.gauss(0.0, 1.0)) for _ in times]
    at_work = [_busy_at(time, spans) for time in times]
    loads = {id(busy): busy for busy in at_work}
    """A load lasts for many samples."""
    values = {}
    for measure in measures_of(sampler.probe, sampler.library):
        _, reading = reading_of(measure)
        steady = {load: reading(busy, sampler.machine) for load, busy in loads.items()}
        means = [steady[id(busy)] for busy in at_work]
        each = zip(factors, means, strict=True)
        read: list[float | None] = [None if mean is None else factor * mean for factor, mean in each]
        if measure.endswith(_SHARES):
            read = [value if value is None or value < 1.0 else 1.0 for value in read]
        values[measure] = tuple(read)
    return Samples(times, values)


_SHARES = (".utilisation", ".pressure", ".iowait", ".cache_hit_ratio", ".stalled")


def _busy_at(time: float, spans: Sequence[tuple[float, float, Busy]]) -> Busy:
    """Return the load of all load generators together."""
    parts = [busy for start, end, busy in spans if start <= time < end]
    if len(parts) < 2:
        return parts[0] if parts else _IDLE
    operations: dict[str, float] = {}
    for part in parts:
        for operation, rate in part.operations.items():
            operations[operation] = operations.get(operation, 0.0) + rate
    return Busy(
        operations,
        sum(part.reads for part in parts),
        sum(part.writes for part in parts),
        sum(part.cores for part in parts),
        min(1.0, sum(part.cpu for part in parts)),
        min(1.0, sum(part.disk for part in parts)),
    )
