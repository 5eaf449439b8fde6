"""The controller's time: the clock's time when this process began, plus the seconds that have passed since then. The
time since boot counts these seconds.

Setting the clock does not change the controller's time, so the difference of two moments is a true duration.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbrief.model.events import RunStarted

_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_SAME_S = 0.001


def since_boot() -> float:
    """Return the seconds since boot, including sleep."""
    return time.clock_gettime(_SINCE_BOOT)


_BOOTED = time.time() - since_boot()


def now() -> float:
    """Return the controller's time in epoch seconds."""
    return _BOOTED + since_boot()


def clock_ahead() -> float:
    """Return how far the machine's clock is ahead of `now`, because it was set since this process began."""
    ahead = time.time() - now()
    return ahead if abs(ahead) > _SAME_S else 0.0


@cache
def this_boot() -> str:
    """Return the id of this machine's boot, or "" if it is unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def now_in_run(start: RunStarted | None) -> float:
    """Return the current time in epoch seconds, by the clock of the controller that wrote this record of a start. Works
    in any process of the same boot.

    Returns this machine's own time if there is no start, or if another boot, another machine or an earlier version
    wrote it.
    """
    if start is None or start.since_boot is None or not start.boot or start.boot != this_boot():
        return time.time()
    return start.at + since_boot() - start.since_boot
