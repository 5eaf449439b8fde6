"""By the energy counters of CPU packages, which begin again at 0 after max_energy_range_uj.

See https://www.kernel.org/doc/html/latest/power/powercap/powercap.html for the counters. Since Linux 5.10 they can be
read by root only, for they tell what the processor computes (CVE-2020-8694).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import quote
from benchbrief.runners.probes import Reading, steps
from benchbrief.runners.probes.power.points import Point, Reader
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import JobOutput

POWERCAP = "/sys/class/powercap"
_MOST_W = 1000.0
"""More than a CPU package draws: over a gap in which its counter could wrap around twice, nothing is known."""

_HEADER = """\
echo meter rapl; found=
for d in @root@/intel-rapl:*; do
    case ${d##*:} in *[!0-9]*) continue;; esac
    case ${d#*intel-rapl:} in *:*) continue;; esac
    case $(cat "$d/name" 2>/dev/null) in package*) ;; *) continue;; esac
    found=yes
    [ -r "$d/energy_uj" ] || { echo "$d/energy_uj can be read by root only; to let $(id -un) read it, until the next \
start of the host: sudo chmod a+r @root@/intel-rapl:*/energy_uj" >&2; exit 1; }
    echo "package ${d##*/} $(cat "$d/max_energy_range_uj")"
done
[ -n "$found" ] || { echo "there is no CPU package in @root@" >&2; exit 1; }"""
_READ = 'for f in @root@/intel-rapl:*/energy_uj; do d=${f%/*}; echo "${d##*/} $(cat "$f")"; done'


def reader(_points: tuple[Point, ...], _node: Node) -> Reader:
    root = quote(POWERCAP)
    return Reader(_HEADER.replace("@root@", root), (_READ.replace("@root@", root),))


def watts(
    probe: Probe, output: JobOutput, header: Sequence[str], found: list[Reading], window: tuple[float, float]
) -> list[tuple[float, float | None]]:
    """The packages' power together, over each interval between readings."""
    ranges = {}
    for line in header:
        match = re.fullmatch(r"package (\S+) (\d{1,18})", line)
        if match:
            ranges[match[1]] = int(match[2])
    known_watts = []
    for step in steps(probe, output, found, window):
        before, after = _counts(step.before), _counts(step.after)
        joules = [_moved(before.get(name), after.get(name), most, step.seconds) for name, most in ranges.items()]
        known = [moved for moved in joules if moved is not None]
        whole = bool(known) and len(known) == len(joules)
        known_watts.append((step.time, sum(known) / step.seconds if whole else None))
    return known_watts


def _counts(reading: Reading) -> dict[str, int]:
    found = (re.fullmatch(r"(\S+) (\d{1,18})", line) for line in reading.lines)
    return {match[1]: int(match[2]) for match in found if match}


def _moved(before: int | None, after: int | None, most: int, seconds: float) -> float | None:
    """Joules between two readings of a counter that goes up to `most` microjoules, and then begins at 0."""
    if before is None or after is None or seconds * _MOST_W > most / 1e6:
        return None
    return (after - before if after >= before else after + most + 1 - before) / 1e6
