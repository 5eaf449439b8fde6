"""When a job ran, and how busy other work kept its host meanwhile, by what the job's script wrote.

A moment is the host's clock and the time since boot. The load has four parts, one after the other:

    812345                              ticks in which processors were busy since the boot, when it began
    815345                              the same when it ended
    0m0.01s 0m0.00s 0m21.5s 0m3.2s      processor time of the script, and of the job and its children:
                                        user and system each, as the shell's `times` prints them
    100                                 ticks a second
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CLOCK_SET_S = 0.05
"""In seconds. A clock was set when it differs from the time since boot by more than both errors and this."""
_READ_S = 0.2
"""The time since boot may have been read this long after the clock, in seconds, when a job does not say."""


def job_span(start: str, end: str) -> tuple[float | None, float | None, float | None]:
    """Return start and end in epoch seconds, and by how much the clock was set between them (None: unknown).

    When the clock was set, the end is computed from the time since boot.
    """
    first, second = _moment(start), _moment(end)
    if first is None or second is None:
        return (first.at if first else None, second.at if second else None, None)
    if first.up is None or second.up is None:
        return first.at, second.at, None
    # Each clock was read between two readings of the time since boot.
    least, most = second.up[0] - first.up[1], second.up[1] - first.up[0]
    by_clock, by_boot = second.at - first.at, (least + most) / 2
    if least - _CLOCK_SET_S <= by_clock <= most + _CLOCK_SET_S:
        return first.at, second.at, 0.0
    return first.at, first.at + by_boot, by_clock - by_boot


def elapsed_s(start: str, end: str) -> float | None:
    """Return the seconds between two moments by the time since boot; None when unknown."""
    first, second = _moment(start), _moment(end)
    if first is None or second is None or first.up is None or second.up is None:
        return None
    return (sum(second.up) - sum(first.up)) / 2


def booted_at(start: str) -> float | None:
    """Return when the host started, in epoch seconds by its clock at the job's start."""
    first = _moment(start)
    return first.at - sum(first.up) / 2 if first and first.up else None


class _Moment(NamedTuple):
    """A moment: `at` in epoch seconds by the host's clock, `up` the bounds of the seconds since its boot."""

    at: float
    up: tuple[float, float] | None


def _moment(text: str) -> _Moment | None:
    match = re.fullmatch(r"(\d{1,11}(?:\.\d{0,9})?)(?: (\d{1,12}\.\d{1,3})(?: (\d{1,12}\.\d{1,3}))?)?", text)
    if match is None:
        return None
    if match[2] is None:
        return _Moment(float(match[1]), None)
    before = float(match[2])
    # The kernel truncates it to hundredths.
    return _Moment(float(match[1]), (before, float(match[3]) + 0.01) if match[3] else (before - _READ_S, before + 0.01))


LEAST_S = 1.0
"""In a shorter job, starting and ending are too much of the time, in seconds."""
_TIME = r"(\d{1,9})m(\d{1,2}(?:[.,]\d{1,9})?)s"
_LOAD = re.compile(rf"(\d{{1,18}}) (\d{{1,18}}) {_TIME} {_TIME} {_TIME} {_TIME} (\d{{1,6}})")


def other_cores(text: str, seconds: float | None) -> float | None:
    """Return the cores that were busy with other work, on average over the job; None when unknown."""
    match = _LOAD.fullmatch(" ".join(text.split()))
    if match is None or seconds is None or seconds < LEAST_S or int(match[11]) == 0:
        return None
    words = match.groups()[2:10]
    times = [60 * float(m) + float(s.replace(",", ".")) for m, s in zip(words[::2], words[1::2], strict=True)]
    busy = (int(match[2]) - int(match[1])) / int(match[11])
    return max(0.0, busy - sum(times)) / seconds if busy >= 0 else None
