"""What simulated probes sample: every measure that a probe can give, from what the host was doing at the time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from benchbrief.runners.simulated.load import Busy, chance
from benchbrief.runners.simulated.model import PAGE_BYTES, Machine

_MOST = 60
"""Samples of a job at most: one that lasts for long is sampled less often than was asked for."""
_JITTER = 0.01
GIB, MESSAGE_BYTES = float(1 << 30), 1000.0
_IDLE = Busy({}, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sampler:
    """`devices` are what each of its measures is told of: one without a name where it is the whole host.

    `library`: whether the database is one, in the load generator's process, and no server.
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
    """Values in base units, by measure, at `times` (epoch seconds by the simulated clock); None where there is none."""

    times: tuple[float, ...]
    values: dict[str, tuple[float | None, ...]]
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


SAMPLER: TypeAdapter[Sampler] = TypeAdapter(Sampler)
SAMPLES: TypeAdapter[Samples] = TypeAdapter(Samples)

Reading = Callable[[Busy, Machine], float | None]


def _watts(busy: Busy, machine: Machine) -> float:
    """Linear in the processors' utilisation (Fan, Weber and Barroso, "Power provisioning for a warehouse-sized
    computer", ISCA 2007)."""
    return machine.idle_power + (machine.full_power - machine.idle_power) * busy.cpu


def _always(value: float) -> Reading:
    return lambda *_: value


def _messages(busy: Busy, _: Machine) -> float:
    """One for each operation: a request or an answer."""
    return sum(busy.operations.values())


def _bytes(busy: Busy, _: Machine) -> float:
    return sum(busy.operations.values()) * MESSAGE_BYTES


def _done(*names: str) -> Reading:
    """Operations of these kinds; a read-modify-write is both of its halves, a scan a query."""
    return lambda busy, _: sum(busy.operations.get(name, 0.0) for name in names)


_READS, _WRITES = ("read", "scan", "read_modify_write"), ("update", "insert", "write", "merge", "read_modify_write")
_HIT_RATIO, _AMPLIFICATION = 0.8, 6.0
"""Made up: of five blocks of RocksDB's one is read from the disk; and each byte is logged, flushed, and compacted four
times."""


def _user(names: tuple[str, ...], times: float = 1.0) -> Reading:
    done = _done(*names)
    return lambda busy, machine: times * MESSAGE_BYTES * (done(busy, machine) or 0.0)


def _where(names: tuple[str, ...], value: float) -> Reading:
    """A ratio, where there is something that it could be of."""
    return lambda busy, _: value if any(busy.operations.get(name) for name in names) else None


def _active(busy: Busy, machine: Machine) -> float:
    """By Little's law: what is at work at the processors and at the disk."""
    return busy.cores + (busy.reads + busy.writes) * machine.disk_latency


_OF_SERVERS: Mapping[str, tuple[str, Reading]] = {
    "database.connections": ("connections", _active),
    "database.active": ("operations", _active),
    "database.queued": ("operations", _always(0.0)),
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
"""The unit of each sampled measure, and how it follows from what a host does. Memory is the same for every host."""


def measures_of(probe: str, library: bool = False) -> tuple[str, ...]:
    """What a probe of that name samples: a measure begins with the name of its probe."""
    others = _OF_SERVERS if library else _OF_LIBRARIES
    return tuple(name for name in READINGS if name.partition(".")[0] == probe and name not in others)


def sampled(sampler: Sampler, start: float, end: float, spans: Sequence[tuple[float, float, Busy]]) -> Samples:
    """What is seen from `start` to `end` of a host that was under these loads."""
    step = max(sampler.every_s, (end - start) / _MOST)
    times = tuple(start + i * step for i in range(math.floor((end - start) / step) + 1))
    jitter = chance(sampler.seed, sampler.host, sampler.probe, start)
    factors = [max(0.0, 1.0 + _JITTER * jitter.gauss(0.0, 1.0)) for _ in times]
    at_work = [_busy_at(time, spans) for time in times]
    values = {
        measure: tuple(
            _limited(measure, factor, READINGS[measure][1](busy, sampler.machine))
            for factor, busy in zip(factors, at_work, strict=True)
        )
        for measure in measures_of(sampler.probe, sampler.library)
    }
    return Samples(times, values)


_SHARES = (".utilisation", ".pressure", ".iowait", ".cache_hit_ratio", ".stalled")


def _limited(measure: str, factor: float, value: float | None) -> float | None:
    if value is None:
        return None
    return min(1.0, factor * value) if measure.endswith(_SHARES) else factor * value


def _busy_at(time: float, spans: Sequence[tuple[float, float, Busy]]) -> Busy:
    """Of all load generators together."""
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
