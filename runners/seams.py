"""The seams of the runners: the interfaces of drivers, engines, probes and transports.

A driver or a probe defines *what* to run (typed commands) and what its output means. It never touches a network. A
transport runs commands and moves files on one host. An engine looks after the system under test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.measurement import Measurement, Sample
from benchbrief.model.plan import Cell, Database, Hardware, Host, Plan, Probe
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobOutput
from benchbrief.runners.session import Session


class Stopping(Protocol):
    """A flag that is set when the run was asked to stop, for example by Ctrl-C."""

    def is_set(self) -> bool: ...


class GoesOn:
    """A `Stopping` that is never set."""

    def is_set(self) -> bool:
        return False  # nobody asks it to stop


@dataclass(frozen=True)
class Requirement:
    """Something that a tool needs on a host. If it is there, the command `check` exits with 0 and prints a version.
    `hint` says how to install it."""

    name: str
    check: Command
    hint: str


class Driver(Protocol):
    """A load generator. All methods are pure: the same arguments and files give the same result."""

    name: ClassVar[str]

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        """Return the paths at which to look for the tool, best first. If a path is configured, return only that one."""
        ...

    def requirements(self, path: str) -> tuple[Requirement, ...]: ...

    def load(self, context: CellContext) -> Job | None:
        """Return the job that fills the database, or None if the benchmark makes its own data."""
        ...

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        """Return how many records were loaded. Raises BadOutput unless the output proves this number."""
        ...

    def warm_up(self, context: CellContext) -> Job | None:
        """Return a separate warm-up job. Returns None if there is no warm-up, or if `measure` includes it and `parse`
        cuts it off."""
        ...

    def measure(self, context: CellContext) -> Job: ...

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        """Return the measurement. Raises BadOutput if the output does not prove a good measurement."""
        ...


@dataclass(frozen=True)
class Interim:
    """A load generator's current numbers: throughput, a named latency (`p99 read`), the number of operations so far,
    and the seconds from its first operation to this output."""

    ops_per_s: float
    latency_s: float | None = None
    latency_of: str = ""
    done: int | None = None
    elapsed_s: float | None = None


@runtime_checkable
class TellsInterim(Protocol):
    """A driver whose tool prints its progress while it runs."""

    def interim(self, context: CellContext, text: str) -> Interim | None:
        """Read the current numbers from the end of the tool's output, which may be cut anywhere. Returns None if they
        are not known yet.

        The context has neither the load generator's host nor its endpoint. Never raises an error for odd text.
        """
        ...


@runtime_checkable
class TellsBeginning(Protocol):
    """A driver whose tool reports when the measured part of its job began, so that events can happen on time."""

    def measured_from(self, context: CellContext, text: str) -> float | None:
        """Read from the end of the output when measuring began, in seconds since the host booted. Returns None if it
        has not begun.

        The context is the same as for `measure`. Never raises an error for odd text.
        """
        ...


@dataclass(frozen=True)
class Node:
    """A host under test, with its hardware group."""

    host: Host
    hardware: Hardware


class ProbeKind(Protocol):
    """A sampler that runs during the measurement."""

    name: ClassVar[str]

    def job(self, probe: Probe, node: Node) -> Job:
        """Return a background job that samples the node every `probe.every_s` until it is stopped.

        The probe determines whether the job runs on the node or on the controller. Raises RunnerError if no job can be
        made.
        """
        ...

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        """Return the samples inside the window (epoch seconds by the host's clock). Raises BadOutput."""
        ...


@runtime_checkable
class TellsNow(Protocol):
    """A probe kind that can be read while it samples."""

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """Return the latest values by measure (`power` in watts, `cpu.utilisation` as a share) from the end of the
        output.

        Returns an empty mapping if there are no values. Never raises an error for odd text.
        """
        ...


@runtime_checkable
class ReadsAfter(Protocol):
    """A probe kind that, after the measurement, fetches samples that another system has recorded (`read = after`)."""

    def job_after(self, probe: Probe, node: Node, window: tuple[float, float]) -> Job:
        """Return a job that fetches the samples recorded in the window (epoch seconds by the controller), and then
        ends."""
        ...


@runtime_checkable
class TellsGaps(Protocol):
    """A probe kind whose readings may fail one by one, while the others are good."""

    def gaps(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> str:
        """Return a sentence about which readings inside the window failed, and why, or "" if none failed."""
        ...


@runtime_checkable
class RecordsStatus(Protocol):
    """A probe kind whose readings come from the engine (`TellsStatus`). It has no job."""

    def reading(self, status: Mapping[str, float]) -> str:
        """Return a reading as text, in the form that `parse` expects in the lines of a `Reading`."""
        ...


@runtime_checkable
class TellsStatus(Protocol):
    """An engine whose server reports its status."""

    def status(self) -> Mapping[str, float]:
        """Return the server's counters and gauges by name. Raises RunnerError. May be called from another thread."""
        ...


JobState = Literal["running", "ended", "killed"]


@runtime_checkable
class ChecksPlace(Protocol):
    """An engine that knows where its data may be stored, for example on a device whose contents may be destroyed."""

    def check_place(self) -> str:
        """Describe what is at the path, or return "" for a directory. Changes nothing. Raises RunnerError."""
        ...


@runtime_checkable
class Restores(Protocol):
    """An engine that can restore a data set without a load, if the database declares how."""

    def restore(self, cell: Cell) -> str:
        """Restore the cell's data set, and return a short description of how this was done. Raises RunnerError.

        Only called if `holds` has returned that this is possible.
        """
        ...


@runtime_checkable
class ShapesData(Protocol):
    """An engine that knows facts that a data set's bytes depend on, besides the plan and the load generator."""

    def shaping(self) -> dict[str, str]:
        """Return the facts that determine the data's bytes, by name, such as contents of files and the server's build.
        Called after `start`.

        Raises RunnerError.
        """
        ...


@dataclass(frozen=True)
class Size:
    """The size of a database: the bytes of its files, and the number of its records. Each is None if unknown."""

    on_disk: float | None
    logical: float | None
    why_no_disk: str = ""
    why_no_logical: str = ""


@runtime_checkable
class TellsSize(Protocol):
    """An engine that can measure the database's size while no load runs."""

    def size(self, cell: Cell) -> Size:
        """Return the database's current size, with this cell's data. Raises RunnerError."""
        ...


@runtime_checkable
class Settles(Protocol):
    """An engine that has to do something, or to wait for something, between the load and the measurement."""

    def settle(self, cell: Cell) -> tuple[str, ...]:
        """Wait until the system under test is ready for this cell.

        Returns remarks for the run and the brief. Raises RunnerError.
        """
        ...


@runtime_checkable
class KnowsWhy(Protocol):
    """An engine that may know why a load generator failed although the system under test seems healthy."""

    def why_failed(self) -> str:
        """Return the reason in a few words, or "" if it is unknown. Raises RunnerError."""
        ...


class RunningJob(Protocol):
    """A job started on a host."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the job. Returns True once it has ended."""
        ...

    @property
    def out_of_touch(self) -> bool:
        """Return whether the job's host can't be reached at the moment."""
        ...

    def stop(self) -> None:
        """End the job's whole process group. Does nothing if it has already ended."""
        ...

    def collect(self, into: Path) -> JobOutput:
        """Fetch the job's outputs, with secrets masked, and flush them to disk. The originals stay on the host until
        `discard`."""
        ...

    def discard(self) -> None:
        """Remove an ended job's files from its host. Does nothing if they are gone."""
        ...

    def tail(self, limit: int = 2000) -> str:
        """Return the last characters of the job's stderr and stdout, for a message."""
        ...


class Transport(Protocol):
    """One host. Every method raises HostError if the host can't do what is asked."""

    host: Host
    given_up_at: float
    """When calls to the host last failed for good, by the monotonic clock. It is minus infinity while the host
    answers."""
    session: Session
    """The objects that one command shares among all its hosts. A run that is asked to stop has to wait for the things
    that an engine has noted in `underway`."""

    def run(self, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
        """Run a short command and wait for it. A non-zero exit code is a result, not an error."""
        ...

    def start(self, job: Job) -> RunningJob:
        """Start a job. If a job with the same key was started before, attaches to that job instead, even if it has
        ended."""
        ...

    def find(self, key: str) -> JobState | None:
        """Return the state of the job with this key, or None if it was never started, or was discarded.

        A job is `killed` if it neither runs nor left an exit code: the host restarted, the job was killed together with
        its keeper, or it ended itself because it had no controller.
        """
        ...

    def end_leftovers(self, kept: Collection[str] = ()) -> int:
        """Stop and remove everything that the run's jobs or an earlier controller left here. Returns how many jobs and
        processes were running.

        Jobs whose keys are in `kept` stay, and so do the processes that ended jobs had started.
        """
        ...

    def claim(self) -> str:
        """Claim the host for the run. Does nothing if the run already holds the host. Raises HostBusy if another run
        does.

        If the other run has shown no sign of life for long, takes over the claim and ends that run's jobs. Returns a
        sentence about that, or "".
        """
        ...

    def claimed_as(self) -> str:
        """Return the id under which the run last claimed this machine, or "" if it has no claim."""
        ...

    def release(self, *, keep_jobs: bool = False) -> int:
        """Release the host and remove the run's files from it. With `keep_jobs`, jobs stay.

        Returns how many jobs were still running and were ended.
        """
        ...

    def get(self, path: str, to: Path) -> None: ...

    def forward(self, host: str, port: int) -> AbstractContextManager[tuple[str, int]]:
        """Yield an address on the controller. Connections to it reach the address host:port as seen from this host."""
        ...

    def close(self) -> None: ...


class Hosts(Protocol):
    """The transports of a run. Each is opened on first use and stays open."""

    def __getitem__(self, host_id: str) -> Transport: ...


class Engine(Protocol):
    """Looks after one database on one hardware group while its cells run.

    `keep` is the folder for the output of a server that the engine starts. If it is None, the output is not kept. Once
    `stopping` is set, long calls raise Interrupted. Only `stop` still completes, so that nothing is left behind.
    """

    name: ClassVar[str]
    keep: Path | None
    stopping: Stopping

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None: ...

    def start(self) -> Endpoint:
        """Connect to the server, or start the embedded one. Idempotent. Raises ServerFailed."""
        ...

    def look(self) -> None:
        """Connect to a server that already runs, in order to describe it. Does nothing if the run would have to start
        the server.

        Changes nothing and runs no declared command. Afterwards, `stop` disconnects, and does not run a command either.
        Raises ServerFailed.
        """
        ...

    def describe(self) -> dict[str, str]:
        """Return facts for the disclosure: `server`, `version`, `topology` and others.

        `stand_in` is a sentence about a stand-in, if there is one. `other_server` is a sentence about the server if its
        product is not the one that the engine is named after.
        """
        ...

    def build(self) -> str:
        """Return the SHA-256 of the embedded server's program, even if it is not started. Returns "" if there is no
        such program or the SHA-256 is unknown."""
        ...

    def holds(self, cell: Cell) -> bool:
        """Return whether the cell's data set is already there and may be reused."""
        ...

    def reset(self, cell: Cell) -> None:
        """Make the database empty for a load."""
        ...

    def loaded(self, cell: Cell, records: int) -> None:
        """Check the record count after a load, and remember the data set. Raises LoadShort."""
        ...

    def counters(self) -> dict[str, float]:
        """Return the server's monotonic counters (such as opcounters.query), or an empty mapping if there are none."""
        ...

    def healthy(self) -> None:
        """Check that the server still answers. Raises ServerFailed if it does not."""
        ...

    def stop(self) -> None:
        """Stop everything that `start` started. Leaves an attached server alone."""
        ...


@runtime_checkable
class OutlivesController(Protocol):
    """An engine whose server outlives a killed controller, so that the next controller can attach to it.

    `job_keys` returns the keys of the server's jobs. `start` attaches to those that run, and keeps their data.
    """

    def take_over(self) -> None:
        """Skip everything before the first `start`, such as hooks, since an earlier controller has done it."""
        ...

    def job_keys(self) -> Mapping[str, str]:
        """Return the keys of the jobs that `start` may start, each with its host's id. Returns nothing if it starts no
        job."""
        ...

    def require_running_since(self, at: float) -> None:
        """Raise ServerFailed if the server was started after that time (by the controller's clock)."""
        ...


@runtime_checkable
class HasStandIn(Protocol):
    """An engine that can start a stand-in for its server. Its spec may therefore offer the server `embedded`."""

    @staticmethod
    def find_stand_in(transport: Transport) -> str:
        """Return the stand-in's path on a host. Raises ToolMissing."""
        ...


@runtime_checkable
class KnowsChanges(Protocol):
    """An engine that remembers how cells changed a data set. If these changes do not matter to a cell, the engine can
    keep the data set for it.

    If a cell writes, the data set counts as changed in an unknown way from `begin` until `finish`.
    """

    def finish(self, cell: Cell) -> None:
        """Remember what the cell changed. Called after the cell has succeeded. Raises RunnerError."""
        ...

    def doubt(self, cell: Cell) -> str:
        """Return why an expected data set is missing, or "" if its absence is no surprise. Called after `holds`
        returned False."""
        ...


@runtime_checkable
class KnowsUnchanged(Protocol):
    """An engine that can tell whether cells have only read a data set. If so, it need not be restored from a
    snapshot."""

    def is_unchanged(self, cell: Cell) -> bool:
        """Return whether the data set is still as its load left it. Called if `holds` found the snapshot complete."""
        ...


@runtime_checkable
class CountsWriters(Protocol):
    """An engine that records, beside the data, which cells have written to it."""

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Count the cell as a writer, if it writes, just before its load generator starts.

        The cell changes the data set only from this call on. If it is interrupted earlier, for example while it waits
        for its turn, it leaves the data set as it was. Returns remarks about the cells before this one. Raises
        RunnerError.
        """
        ...


@runtime_checkable
class Undoes(Protocol):
    """An engine that can delete the records that cells have inserted."""

    def can_undo(self, cell: Cell) -> bool:
        """Return whether the data set is there, and cells did nothing to it except insert and update records."""
        ...

    def undo(self, cell: Cell) -> tuple[bool, str]:
        """Delete the records that cells inserted. Returns whether the data set has as many records again as just after
        its load, and a sentence for the user.

        If this raises ServerFailed or Interrupted, the data set must be loaded again.
        """
        ...


@runtime_checkable
class NamesKeys(Protocol):
    """A driver that knows the keys of the records that its tool inserts."""

    def key(self, number: int, *, ordered: bool = False, padding: int = 1) -> str:
        """Return the key of the record with this number. The first record of the load has the number 0.

        If `ordered`, the keys are in the order of the numbers, and are not hashed. A number with fewer than `padding`
        digits is padded with zeros.
        """
        ...


class Room(NamedTuple):
    """How many bytes a load needs, and a text that explains what they are for."""

    needed: int
    why: str


@runtime_checkable
class KnowsRoom(Protocol):
    """An engine that refuses a load if there is too little room."""

    def room_for_load(self, cell: Cell) -> Room:
        """Return how much room the cell's load needs, and what the room is for."""
        ...


@runtime_checkable
class TellsDatabase(Protocol):
    """A driver whose tool has the database in its own process, so that only the tool can report the database's
    counters."""

    def database_samples(
        self, context: CellContext, output: JobOutput, window: tuple[float, float]
    ) -> tuple[Sample, ...]:
        """Return samples of the probe `database` inside the window (epoch seconds, by the host's clock).

        Raises BadOutput if the output of the measured job has no samples.
        """
        ...


@runtime_checkable
class HoldsEngine(Protocol):
    """A driver whose tool runs the database inside its own process, so that the tool determines the database's
    version."""

    def engine_version(self, path: str) -> Command:
        """Return the command that makes the tool at this path print the name and then the version of its library."""
        ...
