"""Reads a server's counters before and after a measurement, and at regular times during it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.controller_clock import now

_READINGS = 20
_OFTENEST_S = 1.0
_KEPT_EVERY_S = 30.0
_LAST_ANSWER_S = 5.0
"""How many seconds to wait for the last reading, so that a server that hangs does not hold up an interrupted run."""

Counters = dict[str, float]


class CounterReadings:
    """Reads counters during the block, about twenty times in the `seconds` that are measured.

    `samples` are pairs: the time at which the server answered (in epoch seconds by the controller's time), and the
    counters. The first sample is taken before the block, and the last one after it. Nothing is raised. Instead,
    `problem` describes what could not be read ("" if nothing failed). A server without counters at the start is not
    queried again. `keep` gets the first reading and some of the others, for a controller that takes over.
    """

    def __init__(
        self,
        read: Callable[[], Counters],
        seconds: float,
        keep: Callable[[float, Counters], None] = lambda _at, _counters: None,
    ) -> None:
        self._read = read
        self._keep = keep
        self._kept_at = -math.inf
        self._every_s = max(_OFTENEST_S, seconds / _READINGS)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._samples: list[tuple[float, Counters]] = []
        self._asked = 0
        self._failures: list[str] = []
        self.before: Counters = {}
        self.after: Counters = {}

    @property
    def samples(self) -> tuple[tuple[float, Counters], ...]:
        with self._lock:
            return tuple(self._samples)

    @property
    def problem(self) -> str:
        with self._lock:
            if not self._failures:
                return ""
            return say.readings_failed(failed=len(self._failures), count=self._asked, said=self._failures[-1])

    def __enter__(self) -> Self:
        self.before = self._sample()
        if self.before or self.problem:
            self._thread = threading.Thread(target=self._sample_until_over, daemon=True, name="counters")
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is None:
            return
        self._thread.join(_LAST_ANSWER_S)
        if error is None:
            self.after = self._sample()

    def _sample_until_over(self) -> None:
        due = time.monotonic() + self._every_s
        while not self._over.wait(max(0.0, due - time.monotonic())):
            self._sample()
            due = max(due + self._every_s, time.monotonic())

    def _sample(self) -> Counters:
        try:
            counters = self._read()
        except RunnerError as error:
            with self._lock:
                self._asked += 1
                self._failures.append(str(error))
            return {}
        at = now()
        with self._lock:
            self._asked += 1
            if counters:
                self._samples.append((at, counters))
        if counters and time.monotonic() >= self._kept_at + _KEPT_EVERY_S:
            self._kept_at = time.monotonic()
            self._keep(at, counters)
        return counters
