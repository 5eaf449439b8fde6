"""The load on a job's host that is not the job's: busy processors, less the job's own processor time.

The script of a job writes four parts, one after the other:

    812345                              ticks in which processors were busy since the boot, when it began
    815345                              the same when it ended
    0m0.01s 0m0.00s 0m21.5s 0m3.2s      processor time of the script, and of the job with all that it waited for:
                                        user and system each, as the shell's `times` prints them
    100                                 ticks a second
"""

from __future__ import annotations

import re

LEAST_S = 1.0
"""In a shorter job, starting and ending are too much of the time, in seconds."""
_TIME = r"(\d{1,9})m(\d{1,2}(?:[.,]\d{1,9})?)s"
_LOAD = re.compile(rf"(\d{{1,18}}) (\d{{1,18}}) {_TIME} {_TIME} {_TIME} {_TIME} (\d{{1,6}})")


def other_cores(text: str, seconds: float | None) -> float | None:
    """Return the cores that were busy with other work, on average over the job; None when unknown."""
    match = _LOAD.fullmatch(" ".join(text.split()))
    if match is None or seconds is None or seconds < LEAST_S or int(match[11]) == 0:
        return None
    times = [60 * float(minutes) + float(rest.replace(",", ".")) for minutes, rest in _pairs(match.groups()[2:10])]
    busy = (int(match[2]) - int(match[1])) / int(match[11])
    return max(0.0, busy - sum(times)) / seconds if busy >= 0 else None


def _pairs(parts: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(parts[::2], parts[1::2], strict=True))
