"""Pressure stall information: how long tasks waited for a resource, in /proc/pressure (Linux 4.20).

See https://docs.kernel.org/accounting/psi.html: `some` is the time in which at least one task waited, as a total in
microseconds. Kernels may be built, or started, without it.
"""

from __future__ import annotations

import re
from typing import Literal

from benchbrief.runners.sampling import Reading, Step

Resource = Literal["cpu", "io", "memory"]


def pressure_rule(resource: Resource) -> dict[str, str]:
    """Return the file, and the awk statement that prints its total, for `FileReads`."""
    return {f"/proc/pressure/{resource}": f'if (/^some /) print "{resource}-pressure " $NF'}


def pressure(resource: Resource, step: Step) -> float | None:
    """Return the share of the time in which some task waited; None where the kernel does not count it."""
    before, after = _total(resource, step.before), _total(resource, step.after)
    if before is None or after is None or after < before:
        return None
    return min(1.0, (after - before) / 1e6 / step.seconds)


def _total(resource: Resource, reading: Reading) -> int | None:
    for line in reading.lines:
        if match := re.fullmatch(rf"{resource}-pressure total=(\d{{1,18}})", line):
            return int(match[1])
    return None
