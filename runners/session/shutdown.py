"""What a stopping run still waits for, and what it leaves behind when it is ended at once.

A signal handler reads this, so nothing here takes a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


class Underway:
    """What the run waits for. `tell` is called when a wait begins after the run was asked to stop."""

    def __init__(self) -> None:
        self._jobs: dict[int, str] = {}
        self._waited: dict[int, str] = {}
        self._numbers = count()
        self.tell: Callable[[str], None] | None = None

    def job(self, what: str) -> Callable[[], None]:
        """Add a job that runs on a host. Call the result when the job has ended, or its controller has lost it."""
        number = next(self._numbers)
        self._jobs[number] = what

        def ended() -> None:
            self._jobs.pop(number, None)

        return ended

    @contextmanager
    def waited_for(self, what: str, most_s: float, *, short: bool = False) -> Iterator[None]:
        """Name a wait that a stop does not cut short. It lasts at most `most_s` seconds after the run was asked to
        stop.

        A `short` wait, which seldom takes long, is only reported when the stop comes during it.
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
