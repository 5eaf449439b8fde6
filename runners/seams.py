"""The seams of the runners: what a driver, an engine, a probe and a transport are.

A driver and a probe say *what* to run (typed commands) and what its output means; they never touch a network. A
transport runs commands and moves files on one host. An engine looks after the system under test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol, runtime_checkable

from benchbrief.compiler.plan import Cell, Database, Hardware, Host, Plan, Probe
from benchbrief.runners.contexts import CellContext, Endpoint
from benchbrief.runners.measurement import Measurement, Sample
from benchbrief.runners.tasks import Command, Completed, Job, JobOutput


class Stopping(Protocol):
    """Whether the run was asked to stop, as by Ctrl-C."""

    def is_set(self) -> bool: ...


class GoesOn:
    def is_set(self) -> bool:
        return False  # nobody asks it to stop


@dataclass(frozen=True)
class Requirement:
    """Something a tool needs on a host: `check` exits 0 and prints a version; `hint` says how to get it."""

    name: str
    check: Command
    hint: str


class Driver(Protocol):
    """A load generator. All methods are pure: the same arguments and files give the same result."""

    name: ClassVar[str]

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        """Paths to look for the tool at, best first: the configured one alone when the spec names one."""
        ...

    def requirements(self, path: str) -> tuple[Requirement, ...]: ...

    def load(self, context: CellContext) -> Job | None:
        """The job that fills the database; None when the benchmark makes its own data."""
        ...

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        """Records the tool proved to have loaded. Raises BadOutput."""
        ...

    def warm_up(self, context: CellContext) -> Job | None:
        """A separate warm-up job, or None when the warm-up is part of `measure` (cut off when parsed) or not wanted."""
        ...

    def measure(self, context: CellContext) -> Job: ...

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        """What was measured. Raises BadOutput when the output does not prove a good measurement."""
        ...


@dataclass(frozen=True)
class Interim:
    """What a load generator says of the present: throughput, and a latency with its name, such as `p99 read`."""

    ops_per_s: float
    latency_s: float | None = None
    latency_of: str = ""


@runtime_checkable
class TellsInterim(Protocol):
    """A driver whose tool says how it goes while it runs."""

    def interim(self, context: CellContext, text: str) -> Interim | None:
        """Read from the end of what the tool has printed, which may begin and end anywhere. None: not known yet.

        Where the load is and how the server is reached is not in the context. Never raises for odd text.
        """
        ...


@runtime_checkable
class TellsDatabase(Protocol):
    """A driver whose tool has the database in its own process, and tells what that counts: nobody else could."""

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """Samples of the probe `database` inside the measured window (epoch seconds by the host's clock).

        Raises BadOutput when the measured job's output has none at all.
        """
        ...


@dataclass(frozen=True)
class Node:
    """A host under test, with its hardware group."""

    host: Host
    hardware: Hardware


class ProbeKind(Protocol):
    """A sampler that runs beside the measurement."""

    name: ClassVar[str]

    def job(self, probe: Probe, node: Node) -> Job:
        """A background job that samples the node every `probe.every_s` until it is stopped.

        It is run on the node, or on the controller, as the probe says. Raises RunnerError when it can't be made.
        """
        ...

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        """Samples inside the measured window (epoch seconds by the host's clock). Raises BadOutput."""
        ...


@runtime_checkable
class TellsNow(Protocol):
    """A probe kind that can be read while it samples."""

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """The latest values by measure (`power` in watts, `cpu.utilisation` as a share), from the end of its output.

        Empty when there are none; never raises for odd text.
        """
        ...


@runtime_checkable
class ReadsAfter(Protocol):
    """A probe kind that finds what it samples recorded elsewhere, for probes that are read `after`."""

    def job_after(self, probe: Probe, node: Node, window: tuple[float, float]) -> Job:
        """A job that ends by itself, with what was recorded in the window (epoch seconds by the controller's clock)."""
        ...


@runtime_checkable
class TellsGaps(Protocol):
    """A probe kind some of whose readings may fail while the others are good."""

    def gaps(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> str:
        """Which readings inside the window failed, and why, in a sentence; "" when none did."""
        ...


JobState = Literal["running", "ended", "killed"]


@runtime_checkable
class Restores(Protocol):
    """An engine that brings a data set back in another way than by a load, where the database says so."""

    def restore(self, cell: Cell) -> str:
        """Bring the cell's data set back; how, in a few words. Called where `holds` says that it can be.

        Raises RunnerError.
        """
        ...


@runtime_checkable
class Settles(Protocol):
    """An engine that has something to do or to wait for between the load and the measurement."""

    def settle(self, cell: Cell) -> tuple[str, ...]:
        """Wait until the system under test is ready for this cell, and note what the cell will do to its data.

        Returns what is to be told of it in the run and in the brief. Raises RunnerError.
        """
        ...


@runtime_checkable
class KnowsWhy(Protocol):
    """An engine that may know why a load generator has failed though the system under test seems well."""

    def why_failed(self) -> str:
        """In a few words; "" when it does not know. Raises RunnerError."""
        ...


class RunningJob(Protocol):
    """A job started on a host."""

    def wait(self, timeout_s: float) -> bool:
        """True when it has ended."""
        ...

    @property
    def out_of_touch(self) -> bool:
        """Whether its host, which is being waited on, can't be reached at the moment."""
        ...

    def stop(self) -> None:
        """End its whole process group; no error when it has ended already."""
        ...

    def collect(self, into: Path) -> JobOutput:
        """Fetch its outputs, secrets masked. All of it stays on the host too, until `discard`."""
        ...

    def discard(self) -> None:
        """Remove what an ended job left on its host; no error when that has gone already."""
        ...

    def tail(self, limit: int = 2000) -> str:
        """The last characters of its stderr and stdout, for a message."""
        ...


class Transport(Protocol):
    """One host. Every method raises HostError when the host can't do it."""

    host: Host

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        """Run a short command and wait. A non-zero exit is a result, not an error."""
        ...

    def start(self, job: Job) -> RunningJob:
        """Start a job; one with a key that was started before, running or ended, is attached to instead."""
        ...

    def find(self, key: str) -> JobState | None:
        """What became of the job with this key; None when it was never started, or was discarded.

        A job was `killed` when it neither runs nor left an exit code: its host was restarted, it was killed with its
        keeper, or it ended itself without a controller.
        """
        ...

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        """Stop and remove the jobs that an earlier controller of the same run left here; how many still ran.

        Those with the keys of `kept` are left alone.
        """
        ...

    def claim(self) -> str:
        """Hold the host for the run; nothing new when the run holds it. Raises HostBusy when another one does.

        A claim whose run has given no sign of life for long is taken over, and its jobs are ended: the sentence that
        says so, else "".
        """
        ...

    def claimed_as(self) -> str:
        """By which host's id the run last claimed what this name leads to; "" when the run does not hold it."""
        ...

    def release(self, *, keep_jobs: bool = False) -> int:
        """Let the host go, and leave nothing of the run on it, but for its jobs when they are kept.

        How many of them still ran and were ended.
        """
        ...

    def get(self, path: str, to: Path) -> None: ...

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        """An address on the controller that reaches host:port as seen from this host."""
        ...

    def close(self) -> None: ...


class Hosts(Protocol):
    """The transports of a run, opened on first use and kept warm."""

    def __getitem__(self, host_id: str) -> Transport: ...


class Engine(Protocol):
    """Looks after one database on one hardware group for the length of its cells.

    `keep` is a folder for the output of a server that it starts; None: what the server printed is not kept. Once
    `stopping` is set, what takes long is given up with Interrupted; but for `stop`, which leaves nothing behind.
    """

    name: ClassVar[str]
    keep: Path | None
    stopping: Stopping

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None: ...

    def start(self) -> Endpoint:
        """Reach the server, or start the embedded one; idempotent. Raises ServerFailed."""
        ...

    def look(self) -> None:
        """Reach a server that runs already, to be described, and change nothing: no declared command is run.

        What has to be started is not reached. Raises ServerFailed. `stop` lets it go again, without a command too.
        """
        ...

    def describe(self) -> dict[str, str]:
        """Facts for the disclosure: `server`, `version`, `topology`, `stand_in` (a sentence, when it is one), ..."""
        ...

    def build(self) -> str:
        """The SHA-256 of the program of the embedded server, started or not; "" where there is none, or unknown."""
        ...

    def holds(self, cell: Cell) -> bool:
        """Whether the cell's data set is there already and may be reused."""
        ...

    def reset(self, cell: Cell) -> None:
        """Make the database empty for a load."""
        ...

    def loaded(self, cell: Cell, records: int) -> None:
        """Check the record count after a load and remember the data set. Raises LoadShort."""
        ...

    def counters(self) -> dict[str, float]:
        """Monotonic counters of the server (e.g. opcounters.query); empty where there are none."""
        ...

    def healthy(self) -> None:
        """Raises ServerFailed when the server has gone away."""
        ...

    def stop(self) -> None:
        """Stop what `start` started; leave an attached server alone."""
        ...


@runtime_checkable
class OutlivesController(Protocol):
    """An engine whose server goes on when its controller is killed, and can be attached to by the next one.

    What it starts are jobs with the keys of `job_keys`, to which `start` attaches when they run. Their data are kept.
    """

    def take_over(self) -> None:
        """An earlier controller has done what comes before the first `start`, such as hooks: it is not done again."""
        ...

    def job_keys(self) -> Mapping[str, str]:
        """The keys of the jobs that `start` may start, each with the id of its host. Empty: it starts none."""
        ...

    def require_running_since(self, at: float) -> None:
        """Raises ServerFailed when the server was started after that time (by the controller's clock)."""
        ...
