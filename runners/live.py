"""What a run is doing now: numbers read from the tools while they run, shown to people and kept nowhere.

A monitor looks at the end of what running jobs have printed, every few seconds, over the connections that are open
anyway. It writes what it saw to `live.json` beside the journal, replaced as a whole, so that another process can follow
the run. That file is no part of the run's truth: nothing is ever computed from it, and it may be missing or old.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

from benchbrief.runners.seams import RunningJob

LIVE = "live.json"
POLL_S = 3.0
"""How often a job is looked at."""
STALE_S = 15.0
"""A number that old is no longer the present."""
GONE_S = 10.0
"""A controller that has not written for this long has gone."""

_BEAT_S = 1.0
_FIRST_S = 1.5
_WORKERS = 4
_TAIL = 16_000
"""Characters: a status line of each of 100 threads fits in."""

Phase = Literal["running", "tables", "reports", "ended"]
"""What the controller does: measures, builds the tables, renders the reports; or it has ended in order."""


class Reading(BaseModel):
    """What one job said. `measures` are a probe's latest values by name, the rest is a load generator's.

    `latency_of` names the latency, such as `p99 read`. `at` is in epoch seconds by the controller's clock.
    """

    model_config = ConfigDict(frozen=True)
    cell: str
    host: str
    at: float
    ops_per_s: float | None = None
    latency_s: float | None = None
    latency_of: str = ""
    measures: dict[str, float] = {}


class Live(BaseModel):
    """The contents of `live.json`. `exit_code` is the command's, once it has ended."""

    model_config = ConfigDict(frozen=True)
    pid: int
    controller: str
    at: float
    phase: Phase
    exit_code: int | None = None
    readings: tuple[Reading, ...] = ()

    def controller_lives(self, now: float) -> bool:
        """Whether who wrote it is still there: on this machine by its pid, on another by how old the file is."""
        if self.phase == "ended":
            return False
        if self.controller == socket.gethostname():
            return _is_alive(self.pid)
        return now - self.at < GONE_S


Read = Callable[[str], Reading | None]
"""Makes a reading of the end of what a job printed."""


@dataclass
class _Watched:
    running: RunningJob
    read: Read
    due: float
    busy: bool = False
    latest: Reading | None = None


@dataclass
class Monitor:
    """Looks at running jobs while it is entered; safe to use from several threads. Outside of that it does nothing.

    `run_dir` is where `live.json` goes; None: nowhere. A host that does not answer delays its own numbers alone, and
    nothing waits for the monitor.
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

    def __enter__(self) -> Self:
        # Daemons: one that waits for a host that does not answer must not keep the process from ending.
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
        """The run is ours alone from now on, and so is its `live.json`."""
        self._begun = True
        self._write()

    def watch(self, running: RunningJob, read: Read) -> None:
        """Look at a job from now on."""
        with self._lock:
            self._jobs[id(running)] = _Watched(running, read, time.monotonic() + min(_FIRST_S, self.poll_s))

    def forget(self, running: RunningJob) -> None:
        """Look at it no more; no error when it was not looked at."""
        with self._lock:
            self._jobs.pop(id(running), None)

    def now(self) -> tuple[Reading, ...]:
        """What running jobs said last, without what is too old to be called the present."""
        oldest = time.time() - STALE_S
        with self._lock:
            return tuple(job.latest for job in self._jobs.values() if job.latest and job.latest.at > oldest)

    def enter(self, phase: Phase) -> None:
        self._phase = phase
        self._write()

    def ended(self, exit_code: int) -> None:
        """The command ends in order: `live.json` stays, and says so."""
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
                # Whatever goes wrong here is told where the job is waited for, not by who just looks on.
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
        live = Live(
            pid=os.getpid(),
            controller=socket.gethostname(),
            at=time.time(),
            phase=self._phase,
            exit_code=self._exit_code,
            readings=self.now(),
        )
        temporary = self.run_dir / f".{LIVE}.{os.getpid()}.{threading.get_ident()}"
        # Not fsynced, and a full disk is no matter: it is of no use after the run.
        try:
            temporary.write_text(live.model_dump_json(exclude_defaults=True), encoding="utf-8")
            temporary.replace(self.run_dir / LIVE)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def present_readings(run_dir: Path) -> tuple[Reading, ...]:
    """What is said now in a run that another process drives; nothing that is old."""
    live, now = read_live(run_dir), time.time()
    return tuple(each for each in live.readings if now - each.at < STALE_S) if live is not None else ()


@dataclass(frozen=True)
class Load:
    """What the load generators of a cell say together: rates add up, of latencies the highest is shown."""

    ops_per_s: float
    latency_s: float | None
    latency_of: str


def load_of(cell: str, readings: Iterable[Reading]) -> Load | None:
    """What a cell's load generators say; None when none has said anything."""
    said = [each for each in readings if each.cell == cell and each.ops_per_s is not None]
    if not said:
        return None
    slowest = max(said, key=lambda each: each.latency_s or 0.0)
    return Load(sum(each.ops_per_s or 0.0 for each in said), slowest.latency_s, slowest.latency_of)


def measures_of(readings: Iterable[Reading]) -> dict[str, dict[str, float]]:
    """What probes say, by host and measure."""
    found: dict[str, dict[str, float]] = {}
    for reading in readings:
        if reading.measures:
            found.setdefault(reading.host, {}).update(reading.measures)
    return found


def read_live(run_dir: Path) -> Live | None:
    """What the run's controller wrote last; None when there is nothing that can be read."""
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
    # A process that has ended, and that its parent has not asked for yet, still has its number.
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True
