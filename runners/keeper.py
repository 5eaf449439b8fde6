"""Telling hosts that the controller of their jobs is alive, so that what runs there does not end itself.

A bounded number of threads change each host's sign of life (`runners/jobs.py`) well before the shortest
`unattended_s` of its jobs is over. A host that can't be told is tried again at its next turn; once its jobs have ended
themselves for that, less and less often. Hosts that answer go before those that do not, and have threads to themselves.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

_AT_ONCE = 32
"""Hosts told at the same time: one that does not answer holds its thread for as long as a time-out."""
_FAILING_AT_ONCE = 8
"""Of these, the hosts whose last turn failed."""
_TIMES = 6
"""How often a host is told within the time after which its jobs would end themselves."""
_AT_LEAST_EVERY_S = 60.0


@dataclass
class _Kept:
    """A host: `holds` are the times that its jobs wait for a sign, `due` when it is to be told, by our own clock."""

    tell: Callable[[], None]
    holds: dict[int, float] = field(default_factory=dict)
    due: float = math.inf
    busy: bool = False
    failing: bool = False
    told: float = field(default_factory=time.monotonic)
    """When it was last told, or first to be kept."""

    @property
    def every_s(self) -> float:
        return min(_AT_LEAST_EVERY_S, min(self.holds.values()) / _TIMES)

    def pause_s(self) -> float:
        """How long to its next turn. One that was away for longer than its jobs wait is tried ever more rarely."""
        away_s = time.monotonic() - self.told
        if self.failing and away_s > min(self.holds.values()):
            return max(self.every_s, min(_AT_LEAST_EVERY_S, away_s / 2))
        return self.every_s


class Keeper:
    """Safe to use from several threads. Its own threads live for as long as there is a host to be told."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._hosts: dict[int, _Kept] = {}
        self._threads = 0
        self._numbers = count()

    def keep(self, host: object, tell: Callable[[], None], unattended_s: float) -> Callable[[], None]:
        """Call `tell` again and again for this host, until what is returned is called, or the host is forgotten.

        The first call is left to whoever starts what waits for the sign. Whatever `tell` raises, it is called again.
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
                threading.Thread(target=self._work, daemon=True, name=f"keeper {self._threads}").start()
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
        """Tell this host nothing any more: its connection is closed."""
        with self._changed:
            self._hosts.pop(id(host), None)
            self._changed.notify_all()

    def _work(self) -> None:
        while (kept := self._next()) is not None:
            try:
                kept.tell()
                failed = False
            except Exception:  # a thread that died of it would leave its host, and others, untold
                failed = True
            with self._changed:
                kept.busy, kept.failing = False, failed
                if not failed:
                    kept.told = time.monotonic()
                if kept.holds:
                    kept.due = time.monotonic() + kept.pause_s()
                self._changed.notify_all()

    def _next(self) -> _Kept | None:
        """The next host that is to be told, once it is due; None when there is none left for this thread."""
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


KEEPER = Keeper()
"""The one of this process."""
