"""Logs of what was sampled beside a measurement: iostat's, as text (`-t -x`) or JSON, and ipmitool's with time stamps.

    2026-11-21T17:01:02+0000
    Device   r/s   rkB/s   r_await  ...  %util
    nvme0n1  12.0  96.0    0.21     ...  4.10

    2026-11-21T17:01:02Z Pwr Consumption | 220 Watts        (a sensor's line, after the time that it was read at)

    Instantaneous power reading:  220 Watts                 dcmi power reading, again and again
    IPMI timestamp:  Sat Nov 21 17:01:02 2026

Time stamps without a zone are taken for UTC. iostat's first report is left out: unless it was told otherwise
(`-y`), that is one of the time since the machine was started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchbrief.runners.drivers.evidence import lines
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.measurement import Sample

PROBES = {"iostat": "disk", "ipmitool": "power"}
"""The probe whose samples each log has."""

_COLUMNS = {
    # iostat's name (of any version): (measure, factor to base units, unit)
    "r/s": ("disk.reads", 1.0, "1/s"),
    "w/s": ("disk.writes", 1.0, "1/s"),
    "rkB/s": ("disk.read", 1024.0, "B/s"),
    "wkB/s": ("disk.write", 1024.0, "B/s"),
    "rMB/s": ("disk.read", 1024.0**2, "B/s"),
    "wMB/s": ("disk.write", 1024.0**2, "B/s"),
    "rsec/s": ("disk.read", 512.0, "B/s"),
    "wsec/s": ("disk.write", 512.0, "B/s"),
    "r_await": ("disk.read_await", 1e-3, "s"),
    "w_await": ("disk.write_await", 1e-3, "s"),
    "aqu-sz": ("disk.queue", 1.0, "requests"),
    "avgqu-sz": ("disk.queue", 1.0, "requests"),
    "%util": ("disk.utilisation", 0.01, ""),
    "util": ("disk.utilisation", 0.01, ""),
}
_AWAIT = {"r_await": "r/s", "w_await": "w/s"}
"""How long requests took is nothing, and not zero, where there was none."""
_FORMATS = ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%a %b %d %H:%M:%S %Y")
_DEVICE = re.compile(r"Device:?\s+(.*)")
_WATTS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\|\s*)?Watts", re.IGNORECASE)
_READING = re.compile(r"\s*Instantaneous power reading:\s+(\d+) Watts")
_STAMP = re.compile(r"\s*IPMI timestamp:\s+(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})")
_AT = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d{10}(?:\.\d+)?)[\s,;|]+(.*)")


class BadLog(Exception):
    """`line` is None where it is the file as a whole."""

    def __init__(self, line: int | None, text: str) -> None:
        super().__init__(text)
        self.line = line


def read(kind: str, path: Path, node: str, window: tuple[float, float]) -> tuple[Sample, ...]:
    """The samples inside a window of epoch seconds. Raises BadLog for what is no such log."""
    try:
        found = _iostat(path, node) if kind == "iostat" else _ipmitool(path, node)
    except BadOutput as error:
        raise BadLog(None, str(error)) from error
    start, end = window
    return tuple(
        Sample(each.measure, node, each.device, each.time - start, each.value, each.unit)
        for each in found
        if start <= each.time <= end
    )


def _iostat(path: Path, node: str) -> list[Sample]:
    with path.open("rb") as file:
        is_json = file.read(64).lstrip().startswith(b"{")
    reports = _json_reports(path) if is_json else list(_text_reports(path))
    if not reports:
        raise BadLog(None, "not a log of iostat -x -t: it has no report of devices with its time")
    found = []
    for at, devices in reports[1:]:
        for device, row in devices:
            for name, value in row.items():
                if name in _COLUMNS and (name not in _AWAIT or row.get(_AWAIT[name])):
                    measure, factor, unit = _COLUMNS[name]
                    found.append(Sample(measure, node, device, at, value * factor, unit))
    return found


_Report = tuple[float, list[tuple[str, dict[str, float]]]]


def _json_reports(path: Path) -> list[_Report]:
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadLog(
            getattr(error, "lineno", None), "not a whole JSON document: was iostat ended by SIGINT?"
        ) from error
    try:
        statistics = document["sysstat"]["hosts"][0]["statistics"]
        return [
            (
                _time(str(each["timestamp"])),
                [
                    (disk["disk_device"], {k: float(v) for k, v in disk.items() if isinstance(v, int | float)})
                    for disk in each["disk"]
                ],
            )
            for each in statistics
        ]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise BadLog(None, f"not iostat's JSON with time stamps (-t -x -o JSON): {error}") from error


def _text_reports(path: Path) -> Iterator[_Report]:
    at: float | None = None
    columns: Sequence[str] = ()
    devices: list[tuple[str, dict[str, float]]] = []
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            columns = ()
            continue
        if match := _DEVICE.match(line):
            if at is None:
                raise BadLog(number, "a report without its time: iostat has to be run with -t")
            columns, devices = match[1].split(), []
            yield at, devices
        elif columns:
            device, *values = line.split()
            try:
                # strict: a line that was cut has fewer
                row = {name: float(text.replace(",", ".")) for name, text in zip(columns, values, strict=True)}
            except ValueError as error:
                raise BadLog(number, f"not a whole line of a device: {line.strip()[:60]!r}") from error
            devices.append((device, row))
        else:
            try:
                at = _time(line.strip())
            except ValueError:
                continue  # the banner, or the processors' line


def _ipmitool(path: Path, node: str) -> list[Sample]:
    found: list[Sample] = []
    watts: float | None = None
    sensors: dict[str, int] = {}
    for number, line in enumerate(lines(path), start=1):
        if match := _READING.match(line):
            watts = float(match[1])
        elif match := _STAMP.match(line):
            if watts is not None:
                found.append(Sample("power", node, "", _time(match[1]), watts, "W"))
            watts = None
        elif (match := _AT.match(line)) and (value := _WATTS.search(match[2])):
            sensors.setdefault(match[2].partition("|")[0].strip(), number)
            if len(sensors) > 1:
                raise BadLog(number, f"watts of several sensors: {', '.join(sensors)}; give the log of one")
            found.append(Sample("power", node, "", _time(match[1]), float(value[1]), "W"))
    if not found:
        raise BadLog(None, "not a log of ipmitool: it has no reading of watts with its time")
    return found


def _time(text: str) -> float:
    """Epoch seconds. Raises ValueError."""
    if re.fullmatch(r"\d{10}(\.\d+)?", text):
        return float(text)
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    at = datetime.fromisoformat(text.replace(",", "."))
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
