"""What a run that is asked to stop still waits for, and what it leaves behind when it is ended at once.

Read by a signal's handler: nothing here takes a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


class Underway:
    """`tell` is told what is waited for when that begins after the run was asked to stop."""

    def __init__(self) -> None:
        self._jobs: dict[int, str] = {}
        self._waited: dict[int, str] = {}
        self._numbers = count()
        self.tell: Callable[[str], None] | None = None

    def job(self, what: str) -> Callable[[], None]:
        """A job that runs on a host until what is returned is called, or its controller is heard of no more."""
        number = next(self._numbers)
        self._jobs[number] = what

        def ended() -> None:
            self._jobs.pop(number, None)

        return ended

    @contextmanager
    def waited_for(self, what: str, most_s: float, *, short: bool = False) -> Iterator[None]:
        """What is not given up at once: for at most so many seconds after the run was asked to stop.

        A `short` one, which seldom takes long, is told only when that comes while it goes on.
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


UNDERWAY = Underway()
"""The one of this process."""
