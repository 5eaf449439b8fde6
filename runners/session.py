"""The objects that one command shares among all the hosts that it reaches.

Journals are only imported when they are needed. Importing their records takes longer than importing everything else
that is needed to reach a host.
"""

from __future__ import annotations

import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import count
from pathlib import Path
from typing import Any

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.run_identity import IDENTITY, owner_in, this_machine


def find_driving_processes() -> Iterator[tuple[int, Path]]:
    """Yield the processes on this machine that drive runs, each with its run's folder, as far as permissions allow.

    A process that drives a run has its journal open for writing or, while the brief is made, its identity file. Works
    only on Linux.
    """
    from benchbrief.runners.journal.journal_file import JOURNAL

    for link in _open_files() if sys.platform == "linux" else ():
        with suppress(OSError, ValueError):
            file = link.readlink()
            if file.name in (JOURNAL, IDENTITY):
                info = (link.parent.parent / "fdinfo" / link.name).read_text()
                flags = next(line for line in info.splitlines() if line.startswith("flags:"))
                if int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                    yield int(link.parts[2]), file.parent


def _open_files() -> Iterator[Path]:
    """Yield the links of the files that the processes have open. Skips processes that end in the meantime."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield from (process / "fd").iterdir()


def is_driven_here(run_dir: Path) -> bool:
    """Return whether a process holds the run's journal or, while the brief is made, its identity file."""
    from benchbrief.runners.journal.journal_file import is_being_written, is_locked

    return is_being_written(run_dir) or is_locked(run_dir / IDENTITY)


def is_making_brief(run_dir: Path) -> bool:
    """Return whether a process is making the brief of a run whose cells have all ended."""
    from benchbrief.runners.journal.journal_file import is_being_written, is_locked

    return is_locked(run_dir / IDENTITY) and not is_being_written(run_dir)


def makes_brief(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether the run of a claim is on this machine and is only making its brief."""
    try:
        return is_here(claim, owner) and is_making_brief(Path(str(claim["folder"])))
    except (OSError, ValueError, RunnerError):
        return False


def driver_of(owner: str) -> tuple[int, Path] | None:
    """Return the other process on this machine that drives the run with this owner, and the run's folder."""
    found = (
        (pid, folder) for pid, folder in find_driving_processes() if pid != os.getpid() and owner_in(folder) == owner
    )
    return next(found, None)


def is_this_machine(claim: Mapping[str, Any]) -> bool:
    """Return whether the controller that a claim or a job names is on this machine, even under another name."""
    return claim.get("controller") == socket.gethostname() or _is_this_boot(claim)


def is_here(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether a claim or job was made on this machine, and its folder exists here and does not belong to another
    run."""
    return is_this_machine(claim) and _owner_at(claim) in (owner, "")


def is_ours(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether we may end a job or claim. We may if a controller on this machine left it, or if its run's folder
    is here."""
    return is_this_machine(claim) or _owner_at(claim) == owner


def is_gone(claim: Mapping[str, Any], owner: str) -> bool:
    """Return whether it is certain that no process drives the run. This is possible only for a run on this machine."""
    try:
        if is_here(claim, owner):
            return not is_driven_here(Path(str(claim["folder"])))
        return process_is_gone(claim) and driver_of(owner) is None
    except (OSError, ValueError):
        return False


def process_is_gone(claim: Mapping[str, Any]) -> bool:
    """Return whether a claim's process has certainly ended. Returns False if it ran on another machine or before this
    machine's last boot, because then nobody can tell."""
    pid = claim.get("pid")
    if not _is_this_boot(claim) or not isinstance(pid, int) or not 0 < pid < 1 << 31:
        return False
    sees_others = Path("/proc/1").exists()  # they may be hidden (`hidepid`)
    return sees_others and not Path(f"/proc/{pid}").exists()


def _is_this_boot(claim: Mapping[str, Any]) -> bool:
    return bool(this_machine()) and claim.get("machine") == this_machine()


def _owner_at(claim: Mapping[str, Any]) -> str | None:
    """Return the owner of the folder that a claim names. Returns "" if the folder has no owner, and None if it does not
    exist."""
    folder = str(claim.get("folder") or "")
    try:
        return owner_in(Path(folder)) if folder and Path(folder).is_dir() else None
    except (OSError, ValueError):
        return None


_AT_ONCE = 32
"""How many hosts get heartbeats in parallel. A host that does not answer occupies its thread until its time-out."""
_FAILING_AT_ONCE = 8
"""Of the hosts that get heartbeats in parallel, at most this many are hosts whose last heartbeat failed."""
_TIMES = 6
"""How many heartbeats a host gets within the time after which its jobs would end themselves."""
_AT_LEAST_EVERY_S = 60.0


@dataclass
class _Kept:
    """A host with jobs. `holds` has, for each job, how many seconds the job waits for a sign of life.

    `due` is when the next heartbeat must be sent, by the monotonic clock.
    """

    tell: Callable[[], None]
    holds: dict[int, float] = field(default_factory=dict)
    due: float = math.inf
    busy: bool = False
    failing: bool = False
    sent_at: float = field(default_factory=time.monotonic)
    """When the last heartbeat was sent, or when the host was added."""

    @property
    def every_s(self) -> float:
        return min(_AT_LEAST_EVERY_S, min(self.holds.values()) / _TIMES)

    def pause_s(self) -> float:
        """Return the seconds until the next heartbeat. The pauses become longer if the host has been away for longer
        than its jobs wait."""
        away_s = time.monotonic() - self.sent_at
        if self.failing and away_s > min(self.holds.values()):
            return max(self.every_s, min(_AT_LEAST_EVERY_S, away_s / 2))
        return self.every_s


class Heartbeats:
    """Sends heartbeats. Safe to use from several threads. Its own threads live as long as there is a host that needs
    heartbeats."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._hosts: dict[int, _Kept] = {}
        self._threads = 0
        self._numbers = count()

    def keep(self, host: object, tell: Callable[[], None], unattended_s: float) -> Callable[[], None]:
        """Call `tell` regularly for this host, until the returned function is called or the host is forgotten.

        The caller sends the first heartbeat. If `tell` raises an error, it is still called again.
        """
        if not math.isfinite(unattended_s):
            return lambda: None
        number = next(self._numbers)
        with self._changed:
            kept = self._hosts.setdefault(id(host), _Kept(tell))
            kept.holds[number] = unattended_s
            kept.due = min(kept.due, time.monotonic() + kept.every_s)
            if self._threads < min(_AT_ONCE, len(self._hosts)):
                self._threads += 1
                threading.Thread(target=self._work, daemon=True, name=f"heartbeat {self._threads}").start()
            self._changed.notify_all()

        def release() -> None:
            with self._changed:
                if self._hosts.get(id(host)) is kept:
                    kept.holds.pop(number, None)
                    if not kept.holds:
                        del self._hosts[id(host)]
                        self._changed.notify_all()

        return release

    def forget(self, host: object) -> None:
        """Send no more heartbeats to this host, because its connection is closed."""
        with self._changed:
            self._hosts.pop(id(host), None)
            self._changed.notify_all()

    def _work(self) -> None:
        while (kept := self._next()) is not None:
            try:
                kept.tell()
                failed = False
            except Exception:  # an error that ended this thread would leave its hosts without heartbeats
                failed = True
            with self._changed:
                kept.busy, kept.failing = False, failed
                if not failed:
                    kept.sent_at = time.monotonic()
                if kept.holds:
                    kept.due = time.monotonic() + kept.pause_s()
                self._changed.notify_all()

    def _next(self) -> _Kept | None:
        """Wait for the next host that is due, and return it. Returns None if this thread has no host left."""
        with self._changed:
            while True:
                if self._threads > min(_AT_ONCE, len(self._hosts)):
                    self._threads -= 1
                    return None
                hosts = self._hosts.values()
                full = sum(kept.busy and kept.failing for kept in hosts) >= _FAILING_AT_ONCE
                idle = [kept for kept in hosts if not kept.busy and not (kept.failing and full)]
                now = time.monotonic()
                first = min(idle, key=lambda kept: (kept.due > now, kept.failing, kept.due), default=None)
                left = min(kept.due for kept in idle) - now if idle else None
                if first is not None and first.due <= now:
                    first.busy = True
                    return first
                self._changed.wait(left)


class Underway:
    """Everything that the run waits for. `tell` is called if a wait begins after the run was asked to stop."""

    def __init__(self) -> None:
        self._jobs: dict[int, str] = {}
        self._waited: dict[int, str] = {}
        self._numbers = count()
        self.tell: Callable[[str], None] | None = None

    def job(self, what: str) -> Callable[[], None]:
        """Note a job that runs on a host. The returned function must be called when the job has ended or its controller
        has lost it."""
        number = next(self._numbers)
        self._jobs[number] = what

        def ended() -> None:
            self._jobs.pop(number, None)

        return ended

    @contextmanager
    def waited_for(self, what: str, most_s: float, *, short: bool = False) -> Iterator[None]:
        """Give a name to a wait that a stop does not interrupt. It lasts at most `most_s` seconds after the run was
        asked to stop.

        A `short` wait seldom takes long, and is only reported if the stop comes during it.
        """
        number = next(self._numbers)
        text = f"{what}, for up to {most_s:g} s"
        self._waited[number] = text
        if self.tell is not None and not short:
            self.tell(f"waiting for {text}")
        try:
            yield
        finally:
            del self._waited[number]

    def waited(self) -> list[str]:
        return list(self._waited.values())

    def jobs(self) -> list[str]:
        return list(self._jobs.values())


_OPENED_AT_ONCE = 64
"""How many connections all threads together may open at the same time. After a network outage, every lane of a fleet
opens its own connection again, perhaps through one jump host, whose sshd refuses some connections if there are many.
"""


class Session:
    """The objects that a command shares among all its hosts: heartbeats, the list of things that the command waits for,
    and turns for opening connections."""

    def __init__(self) -> None:
        self.heartbeats = Heartbeats()
        self.underway = Underway()
        self.opening = threading.BoundedSemaphore(_OPENED_AT_ONCE)
