"""Calls to a host whose connection may break. They are retried until the host is given up."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import Protocol, TypeVar

from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs.tasks import Command, Completed
from benchbrief.runners.seams import Transport

_RETRY_AFTER_S = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
_GIVEN_UP_S = 60.0
"""For this many seconds after a host was given up, each call to it is tried only once, so that remaining work there
fails soon."""

_T = TypeVar("_T")


class Reached(Protocol):
    """A host that is called. `given_up_at` is when calls to it last failed for good, by the monotonic clock.

    It is minus infinity while the host answers.
    """

    given_up_at: float


def call_persistently(
    host: Reached, call: Callable[[], _T], patience_s: float = 0.0, lost: Callable[[], None] = lambda: None
) -> _T:
    """Return the call's result. If the connection breaks, retries a few times, and then until `patience_s` has passed.

    The call must be safe to repeat. `lost` is called if a try has failed and another one follows. Raises
    ConnectionLost.
    """
    now = time.monotonic()
    until = now + patience_s
    tired = now - host.given_up_at < _GIVEN_UP_S
    for pause in chain(() if tired else _RETRY_AFTER_S, repeat(None)):
        try:
            result = call()
        except ConnectionLost:
            if pause is None and time.monotonic() >= until:
                host.given_up_at = time.monotonic()
                raise
            lost()
            threading.Event().wait(pause or _RETRY_AFTER_S[-1])
        else:
            host.given_up_at = -math.inf
            return result
    raise AssertionError("an endless loop has ended")


def run_persistently(at: Transport, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
    """Run a short command that is safe to repeat, and retry it if the connection breaks."""
    return call_persistently(at, lambda: at.run(command, timeout_s=timeout_s, stdin=stdin))
