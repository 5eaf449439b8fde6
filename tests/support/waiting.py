"""Waits for a condition, not for a time."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(holds: Callable[[], object], within_s: float = 30.0) -> None:
    """Check repeatedly until `holds` is true. The longer a check takes, the longer the pauses, because some checks run
    a script or read all of /proc."""
    deadline = time.monotonic() + within_s
    while True:
        began = time.monotonic()
        if holds():
            return
        ended = time.monotonic()
        assert ended < deadline, f"did not come true within {within_s:g} s"
        time.sleep(min(0.2, max(0.01, 4 * (ended - began))))
