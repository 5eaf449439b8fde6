"""Calls to a host whose connection may break: they are retried until the host is given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import TypeVar
from weakref import WeakKeyDictionary

from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.jobs.tasks import Command, Completed
from benchbrief.runners.seams import Transport

_RETRY_AFTER_S = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
_GIVEN_UP_S = 60.0
"""A host that was given up is tried only once a call for this long, in seconds, so that remaining work there fails
soon."""

_given_up: WeakKeyDictionary[object, float] = WeakKeyDictionary()
"""When each host was last given up, by the monotonic clock."""

_T = TypeVar("_T")


def persistently(
    host: object, call: Callable[[], _T], patience_s: float = 0.0, lost: Callable[[], None] = lambda: None
) -> _T:
    """Return the call's result. Retries a broken connection a few times, and then until `patience_s` is over.

    `host` is what the call goes to, the same object each time. The call must be safe to repeat. `lost` is called
    when a try has failed and another follows. Raises ConnectionLost.
    """
    now = time.monotonic()
    until = now + patience_s
    tired = now - _given_up.get(host, float("-inf")) < _GIVEN_UP_S
    for pause in chain(() if tired else _RETRY_AFTER_S, repeat(None)):
        try:
            result = call()
        except ConnectionLost:
            if pause is None and time.monotonic() >= until:
                _given_up[host] = time.monotonic()
                raise
            lost()
            threading.Event().wait(pause or _RETRY_AFTER_S[-1])
        else:
            _given_up.pop(host, None)
            return result
    raise AssertionError("an endless loop has ended")


def run_persistently(at: Transport, command: Command, *, timeout_s: float = 30.0, stdin: str = "") -> Completed:
    """Run a short command that is safe to repeat, and retry it when the connection breaks."""
    return persistently(at, lambda: at.run(command, timeout_s=timeout_s, stdin=stdin))
