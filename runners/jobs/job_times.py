"""When a job began and ended, by the two moments that its script wrote: the host's clock, and the time since boot."""

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
