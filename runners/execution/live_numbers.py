"""The current numbers of a run, read from the tools while they run. They are shown to people and not kept.

Every few seconds, a monitor reads the end of the running jobs' output, over connections that are already open. It
writes the numbers to `live.json` beside the journal. It replaces the file as a whole, so that another process can
follow the run. The file is not part of the run's results: nothing is computed from it, and it may be missing or old.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.seams import RunningJob

LIVE = "live.json"
POLL_S = 3.0
"""How often a job is read, in seconds."""
STALE_S = 15.0
"""The age in seconds above which a number no longer counts as current."""
GONE_S = 10.0
"""A controller that has not written for this many seconds counts as gone."""

_BEAT_S = 1.0
_FIRST_S = 1.5
_WORKERS = 4
_TAIL = 16_000
"""How many characters to read from the end of an output, which is enough for one status line from each of 100
threads."""

Phase = Literal["running", "tables", "reports", "ended"]
"""The controller's activity: measuring, building the tables, rendering the reports, or having ended normally."""


class JobReading(BaseModel):
    """The latest numbers of one job. `measures` has a probe's numbers by name. The other fields have a load generator's
    numbers.

    `latency_of` names the latency, such as `p99 read`. `at` is in epoch seconds by the controller's clock.
    """

    model_config = ConfigDict(frozen=True)
    cell: str
    host: str
    at: float
    ops_per_s: float | None = None
    latency_s: float | None = None
    latency_of: str = ""
    done: int | None = None
    """The number of operations that a load generator has done so far."""
    measures: dict[str, float] = {}


class Live(BaseModel):
    """The contents of `live.json`. `exit_code` is the command's exit code, once the command has ended."""

    model_config = ConfigDict(frozen=True)
    pid: int
    controller: str
    at: float
    phase: Phase
    exit_code: int | None = None
    readings: tuple[JobReading, ...] = ()
    waits: tuple[str, ...] = ()
    """Sentences about what the controller waits for."""

    def controller_lives(self, now: float) -> bool:
        """Return whether the controller is alive. On this machine this is judged by its pid, elsewhere by the file's
        age."""
        if self.phase == "ended":
            return False
        if self.controller == socket.gethostname():
            return _is_alive(self.pid)
        return now - self.at < GONE_S


Read = Callable[[str], JobReading | None]
"""A function that makes a reading from the end of a job's output."""


@dataclass
class _Watched:
    running: RunningJob
    read: Read
    due: float
    busy: bool = False
    latest: JobReading | None = None


@dataclass
class Monitor:
    """Reads running jobs inside its `with` block, and does nothing outside it. Safe to use from several threads.

    `run_dir` is the folder for `live.json`, or None to write no file. A host that does not answer delays only its own
    numbers, and nothing waits for the monitor.
    """

    run_dir: Path | None = None
    poll_s: float = POLL_S
    _jobs: dict[int, _Watched] = field(default_factory=dict)
    _due: queue.SimpleQueue[_Watched | None] = field(default_factory=queue.SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)
    _phase: Phase = "running"
    _begun: bool = False
    _exit_code: int | None = None
    _waits: dict[int, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def __enter__(self) -> Self:
        # Daemon threads: one that waits for a silent host must not keep the process alive.
        for target in (self._beat, *(self._work for _ in range(_WORKERS))):
            threading.Thread(target=target, name="monitor", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for _ in range(_WORKERS):
            self._due.put(None)
        if self._phase == "ended":
            self._write()
        elif self._begun and self.run_dir is not None:
            with suppress(OSError):
                (self.run_dir / LIVE).unlink()

    def begin(self) -> None:
        """Start writing `live.json`, which then shows that this process drives the run."""
        self._begun = True
        self._write()

    def watch(self, running: RunningJob, read: Read) -> None:
        """Start reading this job. `read` makes a reading from the end of its output."""
        with self._lock:
            self._jobs[id(running)] = _Watched(running, read, time.monotonic() + min(_FIRST_S, self.poll_s))

    def forget(self, running: RunningJob) -> None:
        """Stop reading this job. Does nothing if the job was not being read."""
        with self._lock:
            self._jobs.pop(id(running), None)

    def now(self) -> tuple[JobReading, ...]:
        """Return the latest readings of running jobs, except stale ones."""
        oldest = controller_clock.now() - STALE_S
        with self._lock:
            return tuple(job.latest for job in self._jobs.values() if job.latest and job.latest.at > oldest)

    def enter(self, phase: Phase) -> None:
        self._phase = phase
        self._write()

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show what the controller waits for during the block."""
        with self._lock:
            number = next(self._numbers)
            self._waits[number] = what
        self._write()
        try:
            yield
        finally:
            with self._lock:
                del self._waits[number]

    def ended(self, exit_code: int) -> None:
        """Record that the command has ended normally. The file `live.json` remains."""
        self._exit_code, self._phase = exit_code, "ended"

    def _beat(self) -> None:
        while not self._over.wait(min(_BEAT_S, self.poll_s)):
            now = time.monotonic()
            with self._lock:
                due = [job for job in self._jobs.values() if not job.busy and job.due <= now]
                for job in due:
                    job.busy = True
            for job in due:
                self._due.put(job)
            self._write()

    def _work(self) -> None:
        while (job := self._due.get()) is not None:
            if not self._over.is_set() and self._watches(job):
                # The code that waits for the job reports its errors, so a reader may ignore them.
                with suppress(Exception):
                    job.latest = job.read(job.running.tail(_TAIL)) or job.latest
            job.due = time.monotonic() + self.poll_s
            job.busy = False

    def _watches(self, job: _Watched) -> bool:
        with self._lock:
            return self._jobs.get(id(job.running)) is job

    def _write(self) -> None:
        if self.run_dir is None or not self._begun:
            return
        with self._lock:
            waits = tuple(dict.fromkeys(self._waits.values()))
        live = Live(
            pid=os.getpid(),
            controller=socket.gethostname(),
            at=controller_clock.now(),
            phase=self._phase,
            exit_code=self._exit_code,
            readings=self.now(),
            waits=waits,
        )
        temporary = self.run_dir / f".{LIVE}.{os.getpid()}.{threading.get_ident()}"
        # Without fsync, and a full disk is ignored: the file has no use after the run.
        try:
            temporary.write_text(live.model_dump_json(exclude_defaults=True), encoding="utf-8")
            temporary.replace(self.run_dir / LIVE)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def present_readings(run_dir: Path, now: float) -> tuple[JobReading, ...]:
    """Return the readings of a run that another process drives. Readings that are stale at `now` (by that run's clock)
    are left out."""
    live = read_live(run_dir)
    return tuple(each for each in live.readings if now - each.at < STALE_S) if live is not None else ()


@dataclass(frozen=True)
class LiveLoad:
    """A cell's current load: the summed rates and operations of all its load generators, and their highest latency.

    `done` is None if one of the load generators does not report its operations.
    """

    ops_per_s: float
    latency_s: float | None
    latency_of: str
    done: int | None = None


def load_of(cell: str, readings: Iterable[JobReading]) -> LiveLoad | None:
    """Return a cell's load, or None if no load generator has a reading."""
    said = [each for each in readings if each.cell == cell and each.ops_per_s is not None]
    if not said:
        return None
    slowest = max(said, key=lambda each: each.latency_s or 0.0)
    done = [each.done for each in said]
    return LiveLoad(
        sum(each.ops_per_s or 0.0 for each in said),
        slowest.latency_s,
        slowest.latency_of,
        None if None in done else sum(each or 0 for each in done),
    )


def measures_of(readings: Iterable[JobReading]) -> dict[str, dict[str, float]]:
    """Return the probes' values by host and measure."""
    found: dict[str, dict[str, float]] = {}
    for reading in readings:
        if reading.measures:
            found.setdefault(reading.host, {}).update(reading.measures)
    return found


def read_live(run_dir: Path) -> Live | None:
    """Return the contents that the run's controller last wrote to `live.json`, or None if the file can't be read."""
    try:
        return Live.model_validate_json((run_dir / LIVE).read_bytes())
    except (OSError, ValueError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A zombie, which has ended but was not reaped by its parent, still has its pid.
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True
