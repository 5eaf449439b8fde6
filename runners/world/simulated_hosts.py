"""Simulated hosts: a transport that runs nothing, and machines with a clock and a record of their load.

Simulated time begins at the same moment in the past for every host in every run, so that the same plan produces the
same bytes. A host's clock advances when a job on the host is collected.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import TypeAdapter

from benchbrief.compiler.registry import PROBE_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.events import Failing
from benchbrief.model.message import to_data
from benchbrief.model.plan import Host, Plan
from benchbrief.model.run_messages import say
from benchbrief.model.tool_spec import Change
from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.fetch_outputs import cannot_write
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobOutput
from benchbrief.runners.seams import JobState, RunningJob, Transport
from benchbrief.runners.session import Session
from benchbrief.runners.world.load_model import PAGE_BYTES, REPORTED, TASK, Busy, Machine, Task, TaskLoad, chance

_MOST = 60
"""The most samples that a job has. A long job is therefore sampled less often than the spec asks."""
_JITTER = 0.01
GIB, MESSAGE_BYTES = float(1 << 30), 1000.0
_IDLE = Busy({}, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Sampler:
    """Samples one probe on one host.

    `library` says whether the database is a library in the load generator's process instead of a server.
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
    """Values in base units, by measure, at `times` (epoch seconds by the simulated clock). A missing value is None."""

    times: tuple[float, ...]
    values: dict[str, tuple[float | None, ...]]
    format: Literal["benchbrief-simulation-1"] = "benchbrief-simulation-1"


SAMPLER: TypeAdapter[Sampler] = TypeAdapter(Sampler)
SAMPLES: TypeAdapter[Samples] = TypeAdapter(Samples)

Reading = Callable[[Busy, Machine], float | None]


def _watts(busy: Busy, machine: Machine) -> float:
    """Return the power in watts, which is linear in the processors' utilisation.

    From Fan, Weber and Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.
    """
    return machine.idle_power + (machine.full_power - machine.idle_power) * busy.cpu


def _always(value: float) -> Reading:
    return lambda *_: value


def _messages(busy: Busy, _: Machine) -> float:
    """Return the number of messages in one direction. Each operation has one request and one reply."""
    return sum(busy.operations.values())


def _bytes(busy: Busy, _: Machine) -> float:
    return sum(busy.operations.values()) * MESSAGE_BYTES


def _done(*names: str) -> Reading:
    """Count operations of these kinds. A read-modify-write counts as both of its halves, and a scan counts as a
    query."""
    return lambda busy, _: sum(busy.operations.get(name, 0.0) for name in names)


_READS, _WRITES = ("read", "scan", "read_modify_write"), ("update", "insert", "write", "merge", "read_modify_write")
_HIT_RATIO, _AMPLIFICATION = 0.8, 6.0
"""Invented numbers. RocksDB reads one of five blocks from the disk. It logs and flushes each byte, and compacts it four
times."""


def _user(names: tuple[str, ...], times: float = 1.0) -> Reading:
    done = _done(*names)
    return lambda busy, machine: times * MESSAGE_BYTES * (done(busy, machine) or 0.0)


def _where(names: tuple[str, ...], value: float) -> Reading:
    """Return a function that returns `value` if operations with one of these names were done, and None otherwise."""
    return lambda busy, _: value if any(busy.operations.get(name) for name in names) else None


def _active(busy: Busy, machine: Machine) -> float:
    """Return how many operations are being processed at the processors and at the disk, by Little's law."""
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
    """Return the measures that a probe samples: those in `READINGS`, and those that its spec can simulate.

    The name of a measure begins with the name of its probe.
    """
    others = _OF_SERVERS if library else _OF_LIBRARIES
    by_load = [name for name in READINGS if name.partition(".")[0] == probe and name not in others]
    spec = PROBE_SPECS.usable(probe)
    measures = [name for name, said in spec.measures.items() if said.simulated is not None] if spec else []
    return tuple(dict.fromkeys((*by_load, *measures)))


def reading_of(measure: str) -> tuple[str, Reading]:
    """Return a measure's unit, and how to compute the measure from a host's load. A measure outside `READINGS` is
    constant."""
    if measure in READINGS:
        return READINGS[measure]
    spec = PROBE_SPECS.usable(measure.partition(".")[0])
    said = spec.measures[measure] if spec else None
    return (said.unit, _always(said.simulated or 0.0)) if said else ("", _always(0.0))


def make_samples(sampler: Sampler, start: float, end: float, spans: Sequence[tuple[float, float, Busy]]) -> Samples:
    """Return the samples of a host under these loads, from `start` to `end`."""
    step = max(sampler.every_s, (end - start) / _MOST)
    times = tuple(start + i * step for i in range(math.floor((end - start) / step) + 1))
    jitter = chance(sampler.seed, sampler.host, sampler.probe, start)
    factors = [max(0.0, 1.0 + _JITTER * jitter.gauss(0.0, 1.0)) for _ in times]
    at_work = [_busy_at(time, spans) for time in times]
    loads = {id(busy): busy for busy in at_work}
    """The distinct loads. There are few, as one load lasts for many samples."""
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
    """Return the sum of the loads at this time."""
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


EPOCH = 946_684_800.0
"""When simulated time begins: 2000-01-01 00:00 UTC."""
_WRITTEN_AT_ONCE = 1 << 13
_KEPT = 4
"""How many of its latest loads a machine keeps with their times. Of older ones, it keeps only the total numbers of
operations."""
LOAD, SAMPLE = "simulated-load", "simulated-sampler"
"""The tools on simulated hosts. Each reads its task from the file `TASK_FILE`."""
TASK_FILE = "task.json"


class LoadSpan(NamedTuple):
    """A machine's load from `start` to `end`, in epoch seconds by its clock."""

    start: float
    end: float
    busy: Busy


class SimulatedMachine:
    """A host's clock and its load. Cells that share a host never run at the same time."""

    def __init__(self) -> None:
        self.now = EPOCH
        self.spans: list[LoadSpan] = []
        self._forgotten: dict[str, float] = {}

    def was_busy(self, span: LoadSpan) -> None:
        self.spans.append(span)
        while len(self.spans) > _KEPT:
            old = self.spans.pop(0)
            for operation, rate in old.busy.operations.items():
                done = rate * (old.end - old.start)
                self._forgotten[operation] = self._forgotten.get(operation, 0.0) + done

    def done_by(self, time: float) -> dict[str, float]:
        """Return how many operations were done from the beginning until `time`, by name."""
        done = dict(self._forgotten)
        for span in self.spans:
            seconds = max(0.0, min(time, span.end) - span.start)
            for operation, rate in span.busy.operations.items():
                done[operation] = done.get(operation, 0.0) + rate * seconds
        return {operation: float(round(count)) for operation, count in done.items()}


class SimulatedHosts:
    """The simulated hosts of a plan. Safe to use from several threads. See `runners/world/world_choice.py`."""

    def __init__(self, plan: Plan) -> None:
        self._hosts = {CONTROLLER.id: CONTROLLER, **plan.hosts}
        self._machines: dict[str, SimulatedMachine] = {}
        self.session = Session()
        self._lock = threading.Lock()
        self.datasets: dict[str, tuple[str, Change]] = {}
        """The hash of each database's data set, and how cells have changed the data set since its load."""

    def __getitem__(self, host_id: str) -> Transport:
        if host_id not in self._hosts:
            raise HostError(say.no_such_host(host=repr(host_id)))
        return SimulatedTransport(self._hosts[host_id], self)

    def machine(self, host_id: str) -> SimulatedMachine:
        with self._lock:
            return self._machines.setdefault(host_id, SimulatedMachine())

    def reachable(self, host_id: str) -> bool:
        return host_id in self._hosts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class SimulatedTransport:
    """A simulated host, where every command does nothing and succeeds. Implements `seams.Transport`."""

    given_up_at = -math.inf

    def __init__(self, host: Host, hosts: SimulatedHosts) -> None:
        self.host = host
        self.session = hosts.session
        self._hosts = hosts

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        del command, timeout_s, stdin
        return Completed(0, "", "", 0.0)

    def start(self, job: Job) -> RunningJob:
        program = job.command.words[0]
        text = "".join(str(part) for file in job.files if file.name == TASK_FILE for part in file.content)
        if program == LOAD:
            return _RunningLoad(self.host.id, job, TASK.validate_json(text), self._hosts)
        if program == SAMPLE:
            return _RunningSampler(job, SAMPLER.validate_json(text), self._hosts)
        raise HostError(f"{self.host.id} is simulated, and can't run {program}")

    def find(self, key: str) -> JobState | None:
        del key
        return None  # a job ends with its controller

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        del kept
        return 0

    def claim(self) -> str:
        return ""

    def claimed_as(self) -> str:
        return self.host.id

    def release(self, *, keep_jobs: bool = False) -> int:
        del keep_jobs
        return 0

    def get(self, path: str, to: Path) -> None:
        raise HostError(f"{self.host.id} is simulated, and has no file {path}")

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        raise HostError(f"{self.host.id} is simulated, and does not reach {host}:{port}")

    def close(self) -> None:
        return None


class _Running:
    """A simulated job, which never runs. Its output is made on collection, so there is nothing to stop."""

    @property
    def out_of_touch(self) -> bool:
        return False

    def stop(self) -> None:
        return None

    def discard(self) -> None:
        return None

    def tail(self, limit: int = 2000) -> str:
        del limit
        return ""


class _RunningLoad(_Running):
    """A simulated load generator. A wait for it returns at once, as its output is made on collection."""

    def __init__(self, host: str, job: Job, task: Task, hosts: SimulatedHosts) -> None:
        self._host, self._job, self._task, self._hosts = host, job, task, hosts
        self._machines = [hosts.machine(name) for name in dict.fromkeys((*task.nodes, *task.generators, host))]
        # Load generators that start together see the same time, the latest of all their hosts: none has ended yet.
        self._started_at = max(machine.now for machine in self._machines)

    def wait(self, timeout_s: float) -> bool:
        del timeout_s
        return True

    def collect(self, into: Path) -> JobOutput:
        task = self._task
        load = TaskLoad(task)
        if task.failing:
            message = json.dumps(to_data(say.simulated_failure(host=", ".join(task.failing))))
            return _kept(into, self._job, b"", message, (self._started_at, self._started_at), self._host, 1)
        record = load.report(self._started_at)
        ended_at = record.began_at + record.seconds
        busy = load.busy()
        for name in task.nodes:
            self._hosts.machine(name).was_busy(LoadSpan(self._started_at, ended_at, busy))
        for machine in self._machines:
            machine.now = max(machine.now, ended_at)
        return _kept(into, self._job, REPORTED.dump_json(record), "", (self._started_at, ended_at), self._host, 0)


class _RunningSampler(_Running):
    """A simulated probe. Its samples are made on collection, from the host's load during the job."""

    def __init__(self, job: Job, sampler: Sampler, hosts: SimulatedHosts) -> None:
        self._job, self._sampler = job, sampler
        self._machine = hosts.machine(sampler.host)
        self._started_at = self._machine.now

    def wait(self, timeout_s: float) -> bool:
        del timeout_s
        return False

    def collect(self, into: Path) -> JobOutput:
        ended_at = self._machine.now
        spans = [(span.start, span.end, span.busy) for span in self._machine.spans if span.end > self._started_at]
        samples = make_samples(self._sampler, self._started_at, ended_at, spans)
        times = (self._started_at, ended_at)
        return _kept(into, self._job, SAMPLES.dump_json(samples), "", times, self._sampler.host, None)


def _kept(
    into: Path, job: Job, said: bytes, complaint: str, times: tuple[float, float], host: str, code: int | None
) -> JobOutput:
    """Write the input and output files that a job would leave on a real host."""
    files = {file.name: "".join(str(part) for part in file.content).encode() for file in job.files}
    try:
        into.mkdir(parents=True, exist_ok=True)
        for name, content in {**files, "stdout": said, "stderr": complaint.encode()}.items():
            with Path(into, name).open("wb", buffering=_WRITTEN_AT_ONCE) as written:
                written.write(content)
    except OSError as error:
        raise cannot_write(error, into) from error
    return JobOutput(into, code, *times, host)


def choose_failing(
    wanted: Sequence[Failing], hosts: Sequence[str], seed: int, cell: str, again: int
) -> tuple[str, ...]:
    """Choose at random the hosts on which a cell's job fails. The same seed, cell and attempt always give the same
    hosts. `again` counts the attempts."""
    return tuple(
        host
        for host in hosts
        for share in [max((each.share for each in wanted if fnmatchcase(host, each.pattern)), default=0.0)]
        if share and chance(seed, host, cell, again).random() < share
    )
