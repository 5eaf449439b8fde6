"""The simulated load generator: its input (a `Task`), and its report (a `Reported`).

Both are kept as JSON in the same folder of the run's raw outputs, where the simulated driver reads them.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import Literal

from pydantic import TypeAdapter

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import DimKey, Fact, Factor, Hardware, Quantity
from benchbrief.model.steadiness import BATCH_S, SteadyVerdict, judge_batches

PER_DECADE = 20
"""How many buckets there are for each power of ten. Each bucket is 12 % wider than the previous one."""
_FIRST_S = 1e-6
_MOST = 12 * PER_DECADE
"""The number of buckets. The last one ends at 10^12 times the start of the first, which is more than any latency."""
_LAGS = 8
_WIDE = 20
"""Latencies with a growing lag are computed at `_LAGS` steps of the lag. If the lag grows by more than `_WIDE` times
the rest of a latency, the rest hardly matters, and no steps are needed."""

Counts = tuple[tuple[int, int], ...]
"""The counts of latencies by bucket, as pairs of bucket number and count in rising order."""


def edge(number: int) -> float:
    """Return where a bucket begins, in seconds. It ends where the next bucket begins."""
    return EDGES[number]


EDGES = tuple(_FIRST_S * 10 ** (i / PER_DECADE) for i in range(_MOST + 2))
"""The start of each bucket, in seconds."""


@dataclass(frozen=True)
class LatencyMix:
    """A distribution of latencies. Each latency is the sum of two exponential parts with these means, a fixed part, and
    a lag, all in seconds.

    The lag says how far a load that is too high for the hosts has fallen behind its schedule. It grows from `lag_from`
    to `lag_to` during the measured time.
    """

    first_s: float
    second_s: float
    fixed_s: float
    lag_from: float = 0.0
    lag_to: float = 0.0

    @property
    def mean_s(self) -> float:
        return self.first_s + self.second_s + self.fixed_s + (self.lag_from + self.lag_to) / 2

    def share_below(self, latency_s: float) -> float:
        """Return the share of the operations that take at most this many seconds."""
        if self.lag_to <= 0:
            return self._without_lag(latency_s - self.fixed_s)
        span, busy_s = self.lag_to - self.lag_from, self.first_s + self.second_s
        late_s = latency_s - self.fixed_s - self.lag_from
        if span > _WIDE * busy_s:  # the rest is negligible against the lag
            return min(1.0, max(0.0, (late_s - busy_s) / span))
        return sum(self._without_lag(late_s - span * (i + 0.5) / _LAGS) for i in range(_LAGS)) / _LAGS

    @cached_property
    def _without_lag(self) -> Callable[[float], float]:
        """Return the distribution function of the sum of two exponentials (hypoexponential). One of their means may be
        0, and the two may be equal."""
        a, b, exp = max(self.first_s, self.second_s), min(self.first_s, self.second_s), math.exp
        if a <= 0:
            return lambda time_s: float(time_s > 0)
        if b <= a * 1e-6:
            return lambda time_s: -math.expm1(-time_s / a) if time_s > 0 else 0.0
        if a - b < a * 1e-3:
            return lambda time_s: 1.0 - (1.0 + time_s / a) * exp(-time_s / a) if time_s > 0 else 0.0
        return lambda time_s: 1.0 - (a * exp(-time_s / a) - b * exp(-time_s / b)) / (a - b) if time_s > 0 else 0.0

    def counts(self, number: int) -> Counts:
        """Distribute `number` latencies over the buckets in proportion to the buckets' shares."""
        found = []
        counted = 0
        low = max(_FIRST_S, self.fixed_s + self.lag_from)
        without_lag = None if self.lag_to > 0 else self._without_lag
        bucket = max(0, min(_MOST, math.floor(math.log10(low / _FIRST_S) * PER_DECADE) - 1))
        while counted < number:
            if bucket >= _MOST:
                share = 1.0
            elif without_lag:  # this loop is a third of what a simulated load costs
                share = without_lag(EDGES[bucket + 1] - self.fixed_s)
            else:
                share = self.share_below(EDGES[bucket + 1])
            upto = min(number, round(number * share))
            if upto > counted:
                found.append((bucket, upto - counted))
                counted = upto
            bucket += 1
        return tuple(found)


PAGE_BYTES = 4096
"""The bytes that one access to the disk reads or writes."""


@dataclass(frozen=True)
class Machine:
    """A simulated node. If the spec declares a fact of the same name for the hardware, that fact is used instead.

    Each of `cores` processors serves one operation at a time. The disk serves `disk_queue` accesses at once, each for
    `disk_latency` (seconds). `network_latency` (seconds) is a round trip. Power (watts) is `idle_power` without load,
    and `full_power` if all processors are busy.
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
    """What one operation needs: processor seconds, disk reads and writes, and network round trips."""

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
"""What each operation needs, by the operations' names in `model/measurement.py`."""


def demand_of(operation: str) -> Demand:
    """Return what an operation needs. Operations that only their tool knows, such as transactions, read and write
    once."""
    return DEMANDS.get(operation, _READ + _WRITE)


def mix(shares: Mapping[str, float], demand: Callable[[str], Demand] = demand_of) -> Demand:
    """Return the mean demand of operations in these shares."""
    total = Demand(0.0, 0.0, 0.0, 0.0)
    for operation, share in shares.items():
        total = total + demand(operation) * share
    return total


@dataclass(frozen=True)
class QueueNetwork:
    """A closed queueing network of `nodes` machines, and the mean demand of the operations. Times are in seconds.

    `remote` says whether the load comes over the network, as it does for a server but not for a library.
    """

    machine: Machine
    nodes: int
    demand: Demand
    remote: bool

    def at(self, threads: int) -> SolvedNetwork:
        """Solve the network for a number of threads, which is at least one."""
        return self._walk(threads)[-1]

    def offered(self, rate: float, threads: int) -> SolvedNetwork:
        """Solve the network for an offered load in operations per second, with at most `threads` threads. Only as many
        threads as needed are busy."""
        points = self._walk(threads)
        if points[-1].ops_per_s <= rate:
            return points[-1]
        after = next(i for i, point in enumerate(points) if point.ops_per_s > rate)
        low = points[after - 1] if after else points[0]
        high = points[after]
        span = high.ops_per_s - low.ops_per_s
        part = (rate - low.ops_per_s) / span if span > 0 else 0.0
        cpu, disk = (low.cpu_queue, high.cpu_queue), (low.disk_queue, high.disk_queue)
        return SolvedNetwork(self, rate, *(a + (b - a) * max(0.0, part) for a, b in (cpu, disk)))

    def _walk(self, threads: int) -> tuple[SolvedNetwork, ...]:
        return _solved(self, threads)


@dataclass(frozen=True)
class SolvedNetwork:
    """A solved network: its operations per second, and the queue lengths that an operation finds at a node when it
    arrives."""

    network: QueueNetwork
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
        """Return the mean latency of an operation: its time at the processors, at the disk, and on the network."""
        return sum(self.residence(self.network.demand))


def _residence(service_s: float, servers: float, found: float) -> float:
    """Return the residence time at a station by Seidmann's approximation. It replaces the station by a single server
    that is `servers` times as fast, and adds a delay for the remaining time."""
    return service_s / servers * (1 + found) + service_s * (servers - 1) / servers


@lru_cache(maxsize=256)
def _solved(network: QueueNetwork, threads: int) -> tuple[SolvedNetwork, ...]:
    """Return the solved networks for 1, 2, ... threads. Each builds on the one before it: an arriving operation finds
    the queues of a network with one thread fewer."""
    machine, demand = network.machine, network.demand
    cpu_s = demand.cpu_s / machine.cores
    disk_s = (demand.reads + demand.writes) * machine.disk_latency / machine.disk_queue
    points = []
    cpu = disk = 0.0
    for customers in range(1, max(1, threads) + 1):
        rate = customers / SolvedNetwork(network, 0.0, cpu, disk).latency_s
        points.append(SolvedNetwork(network, rate, cpu, disk))
        per_node = rate / network.nodes
        cpu, disk = per_node * cpu_s * (1 + cpu), per_node * disk_s * (1 + disk)
    return tuple(points)


SPREAD = 0.02
"""How much repeats differ: the standard deviation of the logarithm of a cell's speed."""
_JITTER = 0.01
"""How much throughput differs between intervals, as a relative standard deviation."""
_COLD, _WARMING_S = 0.3, 60.0
"""A cold system is slower by the first number, as a share. It warms up exponentially, and the second number is the time
constant in seconds."""
_INTERVALS = 60
"""The most intervals that a simulated cell reports. An interval is a sixtieth of the cell's time, but at least a
second."""
_MOST_SECONDS = 7200
"""The most intervals that a cell with events has. It has one per second."""
OUTAGE_S = 3.0
"""How many seconds a simulated service is down after an event. In the other seconds, the cell works as it would without
the event."""
_NEARLY = 0.999


@dataclass(frozen=True)
class Task:
    """One load generator's part of a cell's load. If `step` is load, the task fills the database. Times are in seconds.

    - `threads` and `target` are the task's own; `all_threads` and `all_target` are the sums over all load generators.
    - `limit` is the number of operations after which the task ends.
    - `mix` has the shares of the operations.
    - `beside` is the operation of one additional thread, which does not count in any throughput.
    - `intended` says whether latencies are also counted from when operations are due.
    - `errors` is the share of operations that fail.
    - `failing` names hosts. If it is not empty, the whole task fails.
    - `events_at` are times in seconds of the measured time. After each, the service is out for `OUTAGE_S`.
    - `steady_within`, if above 0, makes the task end once it is steady, but not before `steady_from_s`.
    - `generators` are all hosts that offer the load. They begin together.
    - `speed` is the factor by which the levels of the cell's factors change the speed (`effect_of`).
    - `service_s` is how many processor seconds an operation takes, or 0 for the usual number.
    - `in_memory` says whether operations need no disk.
    """

    step: Literal["load", "measure"]
    cell: str
    hash: str
    seed: int
    tool: str
    nodes: tuple[str, ...]
    machine: Machine
    remote: bool
    mix: dict[str, float]
    threads: int
    all_threads: int
    warm_up_s: float = 0.0
    measure_s: float = 0.0
    phases: int = 1
    target: float | None = None
    all_target: float | None = None
    limit: int | None = None
    beside: str | None = None
    intended: bool = False
    errors: float = 0.0
    failing: tuple[str, ...] = ()
    events_at: tuple[float, ...] = ()
    steady_within: float = 0.0
    steady_from_s: float = 0.0
    generators: tuple[str, ...] = ()
    speed: float = 1.0
    service_s: float = 0.0
    in_memory: bool = False
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"

    def demand_of(self, operation: str) -> Demand:
        """Return what an operation of this load needs, with the load's own `service_s` and `in_memory` taken into
        account."""
        usual = demand_of(operation)
        disk = (0.0, 0.0) if self.in_memory else (usual.reads, usual.writes)
        return Demand(self.service_s or usual.cpu_s, *disk, usual.trips)


@dataclass(frozen=True)
class ReportedOperation:
    """One operation as in `model/measurement.py`, with its latencies counted by bucket."""

    operation: str
    kind: Literal["service", "intended"]
    count: int
    errors: int
    mean_s: float
    buckets: Counts
    in_total: bool = True

    @property
    def min_s(self) -> float | None:
        return edge(self.buckets[0][0]) if self.buckets else None

    @property
    def max_s(self) -> float | None:
        return edge(self.buckets[-1][0] + 1) if self.buckets else None


@dataclass(frozen=True)
class ReportedPhase:
    seconds: float
    count: int
    errors: int
    operations: tuple[ReportedOperation, ...]


@dataclass(frozen=True)
class ReportedSteady:
    """How a load ended by itself, and each batch's number of operations. For an offered load, each batch also has its
    mean latency in nanoseconds. `cut_s` is the length of the transient in seconds."""

    completed: tuple[int, ...]
    latency_ns: tuple[int, ...] | None
    cut_s: float
    lasted_s: float


@dataclass(frozen=True)
class Reported:
    """A simulated tool's report. Its `phases` follow each other from `began_at` on, in epoch seconds by the simulated
    clock.

    `began_at` is the end of the warm-up or, for a load that ended by itself, the end of the transient. `intervals` are
    consecutive pairs of seconds and operations from `began_at` on.
    """

    began_at: float
    phases: tuple[ReportedPhase, ...]
    intervals: tuple[tuple[float, int], ...]
    steady: ReportedSteady | None = None
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    @property
    def count(self) -> int:
        return sum(phase.count for phase in self.phases)


TASK: TypeAdapter[Task] = TypeAdapter(Task)
REPORTED: TypeAdapter[Reported] = TypeAdapter(Reported)


@dataclass(frozen=True)
class Busy:
    """How busy a load keeps each node: rates per second at one node, and shares of the stations' time."""

    operations: Mapping[str, float]
    reads: float
    writes: float
    cores: float
    cpu: float
    disk: float


def effect_of(factor: Factor, key: DimKey, on: Literal["pace", "disk"]) -> float:
    """Return the number by which a level of a simulated factor multiplies the speed (`on` is "pace") or the size of the
    data ("disk").

    It depends only on the level's value. If the level is a number, a larger level is faster, and the size stays the
    same. For a word, the result is arbitrary.
    """
    if not isinstance(key, str):
        return 1.0 if on == "disk" else 0.5 + min(12.0, math.log10(1 + max(0.0, key))) / 12
    level = next(each for each in factor.levels if each.key == key)
    return chance(on, level.value, sorted(level.attributes.items())).uniform(0.7, 1.3)


def chance(*of: object) -> random.Random:
    """Return a random generator that depends only on the cell, so that simulations are repeatable."""
    digest = hashlib.sha256(":".join(map(str, of)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311  # repeatable, not secret


def warmth(start: float, end: float) -> float:
    """Return the mean speed between two times (in seconds after a cold start), as a share of the full speed."""
    if end <= start:
        return 1.0 - _COLD * math.exp(-start / _WARMING_S)
    moved = math.exp(-start / _WARMING_S) - math.exp(-end / _WARMING_S)
    return 1.0 - _COLD * _WARMING_S * moved / (end - start)


class TaskLoad:
    """A running task. Rates are in operations per second."""

    def __init__(self, task: Task) -> None:
        self.task = task
        network = QueueNetwork(task.machine, len(task.nodes), mix(task.mix, task.demand_of), task.remote)
        self._full = network.at(task.all_threads)
        # Each repeat differs, but all load generators of the cell have the same speed.
        self._speed = task.speed * math.exp(SPREAD * chance(task.seed, task.hash).gauss(0.0, 1.0))
        self._share = task.threads / task.all_threads
        warm = self.warmth(task.warm_up_s, task.warm_up_s + task.measure_s)
        self._point = self._full
        if task.all_target is not None:
            self._point = network.offered(task.all_target / (self._speed * warm), task.all_threads)

    def warmth(self, start: float, end: float) -> float:
        return 1.0 if self.task.step == "load" else warmth(start, end)

    def capacity(self, start: float, end: float) -> float:
        """Return the rate that this load generator could reach between two times after its start."""
        return self._full.ops_per_s * self._speed * self._share * self.warmth(start, end)

    def rate(self, start: float, end: float) -> float:
        """Return the operations per second of this load generator between two times after its start."""
        capacity = self.capacity(start, end)
        return capacity if self.task.target is None else min(capacity, self.task.target)

    @property
    def seconds(self) -> float:
        """Return for how many seconds this load generator measures, including the transient."""
        task = self.task
        if self.steady:
            return self.steady.lasted_s
        rate = self.rate(task.warm_up_s, task.warm_up_s + task.measure_s)
        needed = task.limit / rate if task.limit else math.inf
        return needed if task.step == "load" else min(task.measure_s, needed)

    @cached_property
    def steady(self) -> ReportedSteady | None:
        """Judge batch by batch whether the load is steady, by the same rule as for real loads. Return the batches, and
        when the load ends. Return None if the load lasts for a fixed time."""
        task = self.task
        if not task.steady_within:
            return None
        completed: list[int] = []
        latency: list[int] | None = [] if task.target is not None and task.intended else None
        jitter = chance(task.seed, task.hash, task.cell, "batches")
        verdict = SteadyVerdict(None)
        while (len(completed) + 1) * BATCH_S <= task.measure_s:
            start = task.warm_up_s + len(completed) * BATCH_S
            completed.append(
                round(self.rate(start, start + BATCH_S) * BATCH_S * (1 + _JITTER * jitter.gauss(0.0, 1.0)))
            )
            if latency is not None:
                mean_s = self._mean_latency_s(start, start + BATCH_S)
                latency.append(round(1e9 * mean_s * (1 + _JITTER * jitter.gauss(0.0, 1.0))))
            if len(completed) * BATCH_S >= task.steady_from_s:
                verdict = judge_batches(completed, latency)
                if verdict.steady(task.steady_within):
                    break
        lasted_s = len(completed) * BATCH_S if verdict.steady(task.steady_within) else task.measure_s
        batches = tuple(completed), None if latency is None else tuple(latency)
        return ReportedSteady(*batches, (verdict.cut or 0) * BATCH_S, lasted_s)

    def _mean_latency_s(self, start: float, end: float) -> float:
        shares = self.task.mix.items()
        return sum(share * self._intended_latencies(name, start, end).mean_s for name, share in shares)

    def report(self, started_at: float) -> Reported:
        start, seconds = self.task.warm_up_s, self.seconds
        if self.steady:
            start, seconds = start + self.steady.cut_s, seconds - self.steady.cut_s
        step = seconds / self.task.phases
        phases = tuple(self._phase(start + i * step, start + (i + 1) * step) for i in range(self.task.phases))
        whole = sum(phase.count for phase in phases)
        return Reported(started_at + start, phases, tuple(self._intervals(start, seconds, whole)), self.steady)

    def _phase(self, start: float, end: float) -> ReportedPhase:
        rate = self.rate(start, end)
        done, errors, found = 0, 0, []
        for operation, share in self.task.mix.items():
            asked = round(rate * share * (end - start))
            failed = round(asked * self.task.errors)
            done, errors = done + asked - failed, errors + failed
            found.append((operation, asked - failed, failed))
        rows = [row for row in _rows(found) if row[1] or row[2]]
        operations = [self._service(*row, self._latencies(row[0], start, end)) for row in rows]
        if self.task.target is not None and self.task.intended:
            operations += [self._intended(name, count, start, end) for name, count, _ in rows]
        return ReportedPhase(end - start, done, errors, (*operations, *self._beside(start, end)))

    @staticmethod
    def _service(operation: str, count: int, errors: int, latencies: LatencyMix) -> ReportedOperation:
        in_total = operation != "read_modify_write"
        buckets = latencies.counts(count)
        return ReportedOperation(operation, "service", count, errors, latencies.mean_s, buckets, in_total)

    def _latencies(self, operation: str, start: float, end: float) -> LatencyMix:
        slower = 1.0 / (self._speed * self.warmth(start, end))
        cpu, disk, network = self._point.residence(self.task.demand_of(operation))
        return LatencyMix(cpu * slower, disk * slower, network * slower)

    def _intended(self, operation: str, count: int, start: float, end: float) -> ReportedOperation:
        latencies = self._intended_latencies(operation, start, end)
        return ReportedOperation(
            operation, "intended", count, 0, latencies.mean_s, latencies.counts(count), in_total=False
        )

    def _intended_latencies(self, operation: str, start: float, end: float) -> LatencyMix:
        """Return intended latency. It is the sum of the service time, the wait for a free thread, and the lag behind
        the schedule.

        The wait follows Sakasegawa's formula for a queue with several servers (1977). If the offered load is too high,
        the lag grows from the load's start.
        """
        offered, capacity = self.task.target or 0.0, self.capacity(start, end)
        service = self._latencies(operation, start, end)
        busy = min(offered / capacity, _NEARLY)
        threads = self.task.threads
        wait = service.mean_s / threads * busy ** (math.sqrt(2 * (threads + 1)) - 1) / (1 - busy)
        behind = max(0.0, 1.0 - capacity / offered)
        return LatencyMix(
            max(service.first_s, service.second_s) + wait,
            min(service.first_s, service.second_s),
            service.fixed_s,
            start * behind,
            end * behind,
        )

    def _beside(self, start: float, end: float) -> Iterator[ReportedOperation]:
        """Yield the operation of the additional thread, which is not part of `busy`."""
        if self.task.beside:
            mean = self._latencies(self.task.beside, start, end).mean_s
            count = round((end - start) / mean)
            yield ReportedOperation(self.task.beside, "service", count, 0, mean, (), in_total=False)

    def _intervals(self, start: float, seconds: float, whole: int) -> Iterator[tuple[float, int]]:
        number = max(1, min(_INTERVALS, math.floor(seconds)))
        if self.task.events_at:
            number = max(1, min(_MOST_SECONDS, math.floor(seconds)))
        step = seconds / number
        jitter = chance(self.task.seed, self.task.hash, self.task.cell, "intervals")
        rates = [
            self.rate(start + i * step, start + (i + 1) * step) * max(0.0, 1 + _JITTER * jitter.gauss(0.0, 1.0))
            for i in range(number)
        ]
        if self.task.events_at:
            rates = [rate * self._in_service(i * step, (i + 1) * step) for i, rate in enumerate(rates)]
        total, before, counted = sum(rates), 0.0, 0
        for rate in rates:
            before += rate
            upto = round(whole * before / total) if total > 0 else 0
            yield step, upto - counted
            counted = upto

    def _in_service(self, start: float, end: float) -> float:
        """Return which share of the time from `start` to `end` is outside of outages."""
        out = sum(max(0.0, min(end, at + OUTAGE_S) - max(start, at)) for at in self.task.events_at)
        return max(0.0, 1.0 - out / (end - start))

    def busy(self) -> Busy:
        """Return the mean load that this load generator's part puts on each node."""
        task = self.task
        rate = self.rate(task.warm_up_s, task.warm_up_s + self.seconds) / len(task.nodes)
        demand, machine = mix(task.mix, task.demand_of), task.machine
        reads, writes, cores = rate * demand.reads, rate * demand.writes, rate * demand.cpu_s / self._speed
        return Busy(
            {operation: rate * share for operation, share in task.mix.items()},
            reads,
            writes,
            min(machine.cores, cores),
            min(1.0, cores / machine.cores),
            min(1.0, (reads + writes) * machine.disk_latency / machine.disk_queue / self._speed),
        )


def _rows(found: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Count operations as YCSB does: the halves of a read-modify-write also count as reads and updates."""
    both = next(((count, failed) for operation, count, failed in found if operation == "read_modify_write"), None)
    if both is None:
        return found
    rows = {operation: (count, failed) for operation, count, failed in found}
    for half in ("read", "update"):
        count, failed = rows.get(half, (0, 0))
        rows[half] = (count + both[0], failed)
    return [(operation, *numbers) for operation, numbers in rows.items()]
