"""A power meter that reads the energy counters of CPU packages. They restart at 0 after max_energy_range_uj.

See https://www.kernel.org/doc/html/latest/power/powercap/powercap.html for the counters. Since Linux 5.10 only root can
read them, as they reveal what the processor computes (CVE-2020-8694).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchbrief.extend.common import JobOutput, Node, Probe, quote, read_script, with_values
from benchbrief.extend.meters import CountingMeter, MeterPoint, MeterReader
from benchbrief.extend.probes import Reading, SampleStep, steps_in_window

POWERCAP = "/sys/class/powercap"
_MOST_W = 1000.0
"""More watts than a CPU package can draw. If, at this power, the counter could have restarted twice between two
readings, the power between them is unknown."""

_HEADER = read_script(__file__, "rapl_packages.sh")
_READ = 'for f in @root@/intel-rapl:*/energy_uj; do d=${f%/*}; echo "${d##*/} $(cat "$f")"; done'


class Rapl(CountingMeter):
    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        root = quote(POWERCAP)
        return MeterReader(with_values(_HEADER, powercap=POWERCAP), (_READ.replace("@root@", root),))

    def moved(
        self, probe: Probe, output: JobOutput, header: Sequence[str], found: list[Reading], window: tuple[float, float]
    ) -> list[tuple[SampleStep, float | None]]:
        """Return the power of all packages together in each interval between readings, or None for an interval in which
        a package has no reading."""
        ranges = {}
        for line in header:
            match = re.fullmatch(r"package (\S+) (\d{1,18})", line)
            if match:
                ranges[match[1]] = int(match[2])
        known_watts = []
        for step in steps_in_window(probe, output, found, window):
            before, after = _counts(step.before), _counts(step.after)
            joules = [_moved(before.get(name), after.get(name), most, step.seconds) for name, most in ranges.items()]
            known = [moved for moved in joules if moved is not None]
            whole = bool(known) and len(known) == len(joules)
            known_watts.append((step, sum(known) / step.seconds if whole else None))
        return known_watts


def _counts(reading: Reading) -> dict[str, int]:
    found = (re.fullmatch(r"(\S+) (\d{1,18})", line) for line in reading.lines)
    return {match[1]: int(match[2]) for match in found if match}


def _moved(before: int | None, after: int | None, most: int, seconds: float) -> float | None:
    """Return the joules between two readings of a counter that restarts after `most` microjoules,
    or None if unknown."""
    if before is None or after is None or seconds * _MOST_W > most / 1e6:
        return None
    return (after - before if after >= before else after + most + 1 - before) / 1e6
