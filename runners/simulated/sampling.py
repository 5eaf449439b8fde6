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
    """`devices` are what each of its measures is told of: one without a name where it is the whole host."""

    probe: str
    host: str
    every_s: float
    machine: Machine
    seed: int
    device: str = ""
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


@dataclass(frozen=True)
class Samples:
    """Values in base units, by measure, at `times` (epoch seconds by the simulated clock)."""

    times: tuple[float, ...]
    values: dict[str, tuple[float, ...]]
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


SAMPLER: TypeAdapter[Sampler] = TypeAdapter(Sampler)
SAMPLES: TypeAdapter[Samples] = TypeAdapter(Samples)

Reading = Callable[[Busy, Machine], float]


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
}
"""The unit of each sampled measure, and how it follows from what a host does. Memory is the same for every host."""


def measures_of(probe: str) -> tuple[str, ...]:
    """What a probe of that name samples: a measure begins with the name of its probe."""
    return tuple(name for name in READINGS if name.partition(".")[0] == probe)


def sampled(sampler: Sampler, start: float, end: float, spans: Sequence[tuple[float, float, Busy]]) -> Samples:
    """What is seen from `start` to `end` of a host that was under these loads."""
    step = max(sampler.every_s, (end - start) / _MOST)
    times = tuple(start + i * step for i in range(math.floor((end - start) / step) + 1))
    jitter = chance(sampler.seed, sampler.host, sampler.probe, start)
    factors = [max(0.0, 1.0 + _JITTER * jitter.gauss(0.0, 1.0)) for _ in times]
    at_work = [_busy_at(time, spans) for time in times]
    values = {
        measure: tuple(
            _limited(measure, factor * READINGS[measure][1](busy, sampler.machine))
            for factor, busy in zip(factors, at_work, strict=True)
        )
        for measure in measures_of(sampler.probe)
    }
    return Samples(times, values)


def _limited(measure: str, value: float) -> float:
    return min(1.0, value) if measure.endswith((".utilisation", ".pressure", ".iowait")) else value


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
