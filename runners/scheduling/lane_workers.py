"""How many lanes work at the same time, where they only compute.

Threads of one Python process take turns at computing. Many that compute cost each other more than they gain.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

_MOST_THREADS = 32
"""Lanes that have begun: those at work, and those that wait for others."""


class LaneWorkers:
    """Lets `at_once` lanes work at the same time; None for all of them. One that waits for another makes room."""

    def __init__(self, at_once: int | None) -> None:
        self._places = nullcontext() if at_once is None else threading.Semaphore(at_once)

    def threads(self, lanes: int) -> int:
        """Return how many threads so many lanes need."""
        return lanes if isinstance(self._places, nullcontext) else min(lanes, _MOST_THREADS)

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._places:
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let another lane work, which this one waits for while the block runs."""
        if isinstance(self._places, nullcontext):
            yield
            return
        self._places.release()
        try:
            yield
        finally:
            self._places.acquire()
