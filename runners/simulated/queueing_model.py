"""The queueing model behind simulated hosts: throughput and residence times of a closed network of queues.

Each node has two stations, its processors and its disk. An operation visits one node, each equally often. It asks
each station for its service time, and once for the network, which is a pure delay. The load's threads are the
customers: each begins its next operation when the last one is done.

Throughput and mean residence times come from exact mean value analysis (Reiser and Lavenberg, "Mean-value analysis
of closed multichain queuing networks", JACM 27 (2), 1980). A station that serves several at once is taken as a
faster one with a delay (Seidmann, Schweitzer and Shalev-Oren, "Computerized closed queueing network models of
flexible manufacturing systems", Large Scale Systems 12, 1987).

The service times below are invented. They are the same for all hardware, except for the facts that a spec declares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from benchbrief.compiler.planning.plan import Fact, Hardware, Quantity

PAGE_BYTES = 4096
"""The bytes that one access to the disk reads or writes."""


@dataclass(frozen=True)
class Machine:
    """A simulated node. A fact of the same name that the spec declares of its hardware takes precedence.

    `cores` processors serve one operation each. The disk serves `disk_queue` accesses at once, each for
    `disk_latency` (seconds). `network_latency` (seconds) is a round trip. Power (watts) is `idle_power` without
    load and `full_power` with all processors busy.
    """

    cores: float = 16.0
    disk_latency: float = 100e-6
    disk_queue: float = 32.0
    network_latency: float = 200e-6
    idle_power: float = 150.0
    full_power: float = 450.0

    @classmethod
    def of(cls, hardware: Hardware) -> Machine:
        facts = {each.name: _number(hardware.facts.get(each.name)) for each in fields(cls)}
        return cls(**{name: value for name, value in facts.items() if value is not None})


def _number(fact: Fact | None) -> float | None:
    return fact.value if isinstance(fact, Quantity) and math.isfinite(fact.value) and fact.value > 0 else None


@dataclass(frozen=True)
class Demand:
    """What one operation needs: seconds of a processor, reads and writes of the disk, round trips over the network."""

    cpu_s: float
    reads: float
    writes: float
    trips: float = 1.0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.cpu_s + other.cpu_s,
            self.reads + other.reads,
            self.writes + other.writes,
            self.trips + other.trips,
        )

    def __mul__(self, share: float) -> Demand:
        return Demand(self.cpu_s * share, self.reads * share, self.writes * share, self.trips * share)


_READ, _WRITE = Demand(200e-6, 1.0, 0.0), Demand(250e-6, 0.0, 1.0)
DEMANDS: Mapping[str, Demand] = {
    "read": _READ,
    "update": _WRITE,
    "insert": _WRITE,
    "write": _WRITE,
    "delete": _WRITE,
    "merge": _WRITE,
    "seek": Demand(250e-6, 1.0, 0.0),
    "scan": Demand(1500e-6, 8.0, 0.0),
    "read_modify_write": _READ + _WRITE,
}
"""By operation, with the names of `runners/measurement/measurement.py`."""


def demand_of(operation: str) -> Demand:
    """Return what an operation needs. One that only its tool knows, such as a transaction, reads and writes once."""
    return DEMANDS.get(operation, _READ + _WRITE)


def mix(shares: Mapping[str, float]) -> Demand:
    """Return the mean demand of operations with these shares."""
    total = Demand(0.0, 0.0, 0.0, 0.0)
    for operation, share in shares.items():
        total = total + demand_of(operation) * share
    return total


@dataclass(frozen=True)
class Network:
    """A closed network: `nodes` machines, and the mean demand of the operations. Times are in seconds.

    `remote`: whether the load comes over the network, as for a server but not for a library.
    """

    machine: Machine
    nodes: int
    demand: Demand
    remote: bool

    def at(self, threads: int) -> Point:
        """Solve the network for so many threads, at least one."""
        return self._walk(threads)[-1]

    def offered(self, rate: float, threads: int) -> Point:
        """Solve it for so many operations a second from at most `threads` threads, of which only those needed are
        busy."""
        points = self._walk(threads)
        if points[-1].ops_per_s <= rate:
            return points[-1]
        after = next(i for i, point in enumerate(points) if point.ops_per_s > rate)
        low = points[after - 1] if after else points[0]
        high = points[after]
        span = high.ops_per_s - low.ops_per_s
        part = (rate - low.ops_per_s) / span if span > 0 else 0.0
        cpu, disk = (low.cpu_queue, high.cpu_queue), (low.disk_queue, high.disk_queue)
        return Point(self, rate, *(a + (b - a) * max(0.0, part) for a, b in (cpu, disk)))

    def _walk(self, threads: int) -> tuple[Point, ...]:
        return _solved(self, threads)


@dataclass(frozen=True)
class Point:
    """A solved network: operations per second, and the queues that an arriving operation finds at a node."""

    network: Network
    ops_per_s: float
    cpu_queue: float
    disk_queue: float

    def residence(self, demand: Demand) -> tuple[float, float, float]:
        """Return the seconds that an operation spends at the processors, at the disk, and on the network."""
        machine = self.network.machine
        cpu = _residence(demand.cpu_s, machine.cores, self.cpu_queue)
        disk = _residence((demand.reads + demand.writes) * machine.disk_latency, machine.disk_queue, self.disk_queue)
        return cpu, disk, demand.trips * machine.network_latency if self.network.remote else 0.0

    @property
    def latency_s(self) -> float:
        """Return the mean latency."""
        return sum(self.residence(self.network.demand))


def _residence(service_s: float, servers: float, found: float) -> float:
    """Return the residence time at Seidmann's station: a server `servers` times as fast, then the remaining time as
    delay."""
    return service_s / servers * (1 + found) + service_s * (servers - 1) / servers


@lru_cache(maxsize=256)
def _solved(network: Network, threads: int) -> tuple[Point, ...]:
    """Return the points for 1, 2, ... threads. An arriving operation finds the queues of a network with one thread
    less."""
    machine, demand = network.machine, network.demand
    cpu_s = demand.cpu_s / machine.cores
    disk_s = (demand.reads + demand.writes) * machine.disk_latency / machine.disk_queue
    points = []
    cpu = disk = 0.0
    for customers in range(1, max(1, threads) + 1):
        rate = customers / Point(network, 0.0, cpu, disk).latency_s
        points.append(Point(network, rate, cpu, disk))
        per_node = rate / network.nodes
        cpu, disk = per_node * cpu_s * (1 + cpu), per_node * disk_s * (1 + disk)
    return tuple(points)
