"""Simulated hosts: a transport that runs nothing, and machines with a clock and a record of their load.

Simulated time begins at the same past moment for every host of every run, so that the same plan leaves the same
bytes. A host's clock advances when a job on it is collected.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Self

from benchbrief.compiler.messages.text import to_data
from benchbrief.compiler.planning.plan import Change, Host, Plan
from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.fetch_outputs import cannot_write
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobOutput
from benchbrief.runners.journal.events import Failing
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.seams import JobState, RunningJob, Transport
from benchbrief.runners.session.session import Session
from benchbrief.runners.simulated.load_model import REPORTED, TASK, Busy, Load, Task, chance
from benchbrief.runners.simulated.simulated_samples import SAMPLER, SAMPLES, Sampler, make_samples

EPOCH = 946_684_800.0
"""2000-01-01 00:00 UTC, when simulated time begins."""
_WRITTEN_AT_ONCE = 1 << 13
_KEPT = 4
"""How many jobs a machine remembers."""
LOAD, SAMPLE = "simulated-load", "simulated-sampler"
"""The tools on simulated hosts. Each reads its task from the file `TASK_FILE`."""
TASK_FILE = "task.json"


class Span(NamedTuple):
    """A machine's load from `start` to `end`, in epoch seconds by its clock."""

    start: float
    end: float
    busy: Busy


class SimulatedMachine:
    """A host's clock and its load. Cells that share a host never run at the same time."""

    def __init__(self) -> None:
        self.now = EPOCH
        self.spans: list[Span] = []
        self._forgotten: dict[str, float] = {}

    def was_busy(self, span: Span) -> None:
        self.spans.append(span)
        while len(self.spans) > _KEPT:
            old = self.spans.pop(0)
            for operation, rate in old.busy.operations.items():
                done = rate * (old.end - old.start)
                self._forgotten[operation] = self._forgotten.get(operation, 0.0) + done

    def done_by(self, time: float) -> dict[str, float]:
        """Return the operations since the beginning, by name."""
        done = dict(self._forgotten)
        for span in self.spans:
            seconds = max(0.0, min(time, span.end) - span.start)
            for operation, rate in span.busy.operations.items():
                done[operation] = done.get(operation, 0.0) + rate * seconds
        return {operation: float(round(count)) for operation, count in done.items()}


class SimulatedHosts:
    """The simulated hosts of a plan. Safe to use from several threads. See `runners/worlds/real_world.py`."""

    def __init__(self, plan: Plan) -> None:
        self._hosts = {CONTROLLER.id: CONTROLLER, **plan.hosts}
        self._machines: dict[str, SimulatedMachine] = {}
        self.session = Session()
        self._lock = threading.Lock()
        self.datasets: dict[str, tuple[str, Change]] = {}
        """The hash of the data set that each database holds, and how cells have changed it since its load."""

    def __getitem__(self, host_id: str) -> Transport:
        if host_id not in self._hosts:
            raise HostError(f"no host {host_id!r} in the plan")
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
    """One simulated host; see `seams.Transport`. Every command does nothing and succeeds."""

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
    """A simulated job never runs. Its output is made when it is collected, so there is nothing to stop."""

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
    """A simulated load generator. When asked, it has ended by its own clock."""

    def __init__(self, host: str, job: Job, task: Task, hosts: SimulatedHosts) -> None:
        self._host, self._job, self._task, self._hosts = host, job, task, hosts
        self._machines = [hosts.machine(name) for name in dict.fromkeys((*task.nodes, *task.generators, host))]
        # Load generators that start together see the same time: that of all their hosts, of which none has ended yet.
        self._started_at = max(machine.now for machine in self._machines)

    def wait(self, timeout_s: float) -> bool:
        del timeout_s
        return True

    def collect(self, into: Path) -> JobOutput:
        task = self._task
        load = Load(task)
        if task.failing:
            message = json.dumps(to_data(say.simulated_failure(host=", ".join(task.failing))))
            return _kept(into, self._job, b"", message, (self._started_at, self._started_at), self._host, 1)
        record = load.report(self._started_at)
        ended_at = record.began_at + record.seconds
        busy = load.busy()
        for name in task.nodes:
            self._hosts.machine(name).was_busy(Span(self._started_at, ended_at, busy))
        for machine in self._machines:
            machine.now = max(machine.now, ended_at)
        return _kept(into, self._job, REPORTED.dump_json(record), "", (self._started_at, ended_at), self._host, 0)


class _RunningSampler(_Running):
    """A simulated probe. Its samples are made when it is collected, from the host's load at that time."""

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
    """Write the files that a job leaves on a real host: its input and its output."""
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
    """Return those of a cell's hosts that fail its job, by repeatable chance. `again` counts the cell's attempts."""
    return tuple(
        host
        for host in hosts
        for share in [max((each.share for each in wanted if fnmatchcase(host, each.pattern)), default=0.0)]
        if share and chance(seed, host, cell, again).random() < share
    )
