"""Imports ipmitool's power readings with their times.

2026-11-21T17:01:02Z Pwr Consumption | 220 Watts        (a sensor's line, after its time)

Instantaneous power reading:  220 Watts                 dcmi power reading, repeated
IPMI timestamp:  Sat Nov 21 17:01:02 2026               or 11/21/2026 17:01:02 UTC, with more text on the line
"""

from __future__ import annotations

import re
from pathlib import Path

from benchbrief.extend.common import Sample
from benchbrief.extend.importers import BadLog, SampleImporter, parse_time
from benchbrief.extend.tools import read_output_lines

_WATTS = re.compile(r"((?<![\w.])-?\d+(?:\.\d+)?)\s*(?:\|\s*)?Watts", re.IGNORECASE)
_READING = re.compile(r"\s*Instantaneous power reading:\s+(-?\d+) Watts")
_STAMP = re.compile(
    r"\bIPMI timestamp:\s+"
    r"(?:(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})|(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)(?: ([A-Z]{2,5})\b)?)"
)
"""Date formats. Up to ipmitool 1.8.18, dates have the format of C's `asctime`; since 1.8.19, they are numbers with the
month first and a time zone."""
_AT = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d{10}(?:\.\d+)?)[\s,;|]+(.*)")


class Ipmitool(SampleImporter):
    def read(self, path: Path, node: str, window: tuple[float, float], device: str) -> list[Sample]:
        found: list[Sample] = []
        watts: float | None = None
        sensors: dict[str, int] = {}
        for number, line in enumerate(read_output_lines(path), start=1):
            if match := _READING.match(line):
                watts = _power(number, match[1])
            if match := _STAMP.search(line):
                if match[3] not in (None, "UTC", "GMT"):
                    raise BadLog(
                        number, f"its times are in {match[3]}, which is not known here", "run ipmitool with TZ=UTC"
                    )
                if watts is not None:
                    found.append(Sample("power", node, "", parse_time(match[1] or match[2]), watts, "W"))
                watts = None
            elif (match := _AT.match(line)) and (value := _WATTS.search(match[2])):
                sensors.setdefault(match[2].partition("|")[0].strip(), number)
                if len(sensors) > 1:
                    raise BadLog(number, f"watts of several sensors: {', '.join(sensors)}; give the log of one")
                found.append(Sample("power", node, "", parse_time(match[1]), _power(number, value[1]), "W"))
        if not found:
            raise BadLog(None, "not a log of ipmitool: it has no reading of watts with its time")
        return found


def _power(number: int, text: str) -> float:
    """Parse a number of watts. Raises BadLog if it is negative."""
    watts = float(text)
    if watts < 0:
        hint = "look at the sensor and at its wiring; without its lines the log can be imported"
        raise BadLog(number, f"{watts:g} W: no power is below zero", hint)
    return watts
