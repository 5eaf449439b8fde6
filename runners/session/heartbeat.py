"""Heartbeats: showing hosts that the controller of their jobs is alive, so that the jobs do not end themselves.

A bounded number of threads change each host's sign of life (`runners/jobs/detached_jobs.py`) well before the
shortest `unattended_s` of its jobs is over. A host that fails is tried again at its next turn, and less and less
often once its jobs must have ended themselves. Hosts that answer come first, and have threads of their own.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

_AT_ONCE = 32
"""Hosts in parallel. One that does not answer holds its thread until its time-out."""
_FAILING_AT_ONCE = 8
"""How many of these may be hosts whose last turn failed."""
_TIMES = 6
"""How many heartbeats a host gets within the time after which its jobs would end themselves."""
_AT_LEAST_EVERY_S = 60.0


@dataclass
class _Kept:
    """A host with jobs: `holds` are the times that its jobs wait for a sign, `due` the next turn by the monotonic
    clock."""

    tell: Callable[[], None]
    holds: dict[int, float] = field(default_factory=dict)
    due: float = math.inf
    busy: bool = False
    failing: bool = False
    sent_at: float = field(default_factory=time.monotonic)
    """The last heartbeat, or when the host was added."""

    @property
    def every_s(self) -> float:
        return min(_AT_LEAST_EVERY_S, min(self.holds.values()) / _TIMES)

    def pause_s(self) -> float:
        """Return the seconds until the next turn. A host that was away longer than its jobs wait has longer pauses."""
        away_s = time.monotonic() - self.sent_at
        if self.failing and away_s > min(self.holds.values()):
            return max(self.every_s, min(_AT_LEAST_EVERY_S, away_s / 2))
        return self.every_s


class Heartbeats:
    """Sends heartbeats. Safe to use from several threads. Its own threads live while there is a host to send to."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._hosts: dict[int, _Kept] = {}
        self._threads = 0
        self._numbers = count()

    def keep(self, host: object, tell: Callable[[], None], unattended_s: float) -> Callable[[], None]:
        """Call `tell` again and again for this host, until the returned function is called or the host is
        forgotten.

        The caller makes the first heartbeat itself. An error of `tell` does not end the calls.
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
        """Send no more heartbeats to this host: its connection is closed."""
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
        """Wait for the next host that is due, and return it. None when this thread has no host left."""
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
