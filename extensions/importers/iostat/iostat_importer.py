"""Imports iostat's reports with their times, as text (`-t -x`) or JSON.

    2026-11-21T17:01:02+0000
    Device   r/s   rkB/s   r_await  ...  %util
    nvme0n1  12.0  96.0    0.21     ...  4.10

The first report is left out: without `-y`, it covers the time since the machine started. iostat prints a disk, its
partitions and the devices mapped onto it on separate lines. As in the probe (`disk_probe.py`), only whole disks count,
or only the device that the probe names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbrief.extend.common import Sample
from benchbrief.extend.importers import BadLog, SampleImporter, parse_time
from benchbrief.extend.samplers import text_encoding
from benchbrief.extend.tools import read_output_lines

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
    "aqu-sz": ("disk.queue", 1.0, ""),
    "avgqu-sz": ("disk.queue", 1.0, ""),
    "%util": ("disk.utilisation", 0.01, ""),
    "util": ("disk.utilisation", 0.01, ""),
}
_AWAIT = {"r_await": "r/s", "w_await": "w/s"}
"""The request rate that belongs to each mean time. If the rate is 0, iostat prints a mean time of 0, which is read as
missing."""
_WHOLE = r"(?:(?:sd|hd|vd|xvd|dasd|rssd)[a-z]+|nvme\d+n\d+|mmcblk\d+|pmem\d+)"
"""The names of whole disks in Linux: see https://www.kernel.org/doc/Documentation/admin-guide/devices.txt."""
_NOT_WHOLE = re.compile(rf"{_WHOLE}p?\d+|(?:loop|ram|zram|sr|fd|dm-|md)\d.*")
_DEVICE = re.compile(r"Device:?\s+(.*)")


class Iostat(SampleImporter):
    def read(self, path: Path, node: str, window: tuple[float, float], device: str) -> list[Sample]:
        with path.open(encoding=text_encoding(path), errors="replace") as file:
            is_json = file.read(64).lstrip().startswith("{")
        reports = _json_reports(path) if is_json else list(_text_reports(path))
        if not reports:
            raise BadLog(None, "not a log of iostat -x -t: it has no report of devices with its time")
        times = _times_by_window([at for at, _ in reports], window)
        counted = _counted(list(dict.fromkeys(name for _, devices in reports for name, _ in devices)), device)
        found = []
        for before, at, (_, devices) in zip(times, times[1:], reports[1:], strict=False):
            for name, row in devices:
                for column, value in row.items() if name in counted else ():
                    if column in _COLUMNS and (column not in _AWAIT or row.get(_AWAIT[column])):
                        measure, factor, unit = _COLUMNS[column]
                        found.append(Sample(measure, node, name, at, value * factor, unit, at - before))
        return found


def _counted(names: Sequence[str], device: str) -> Sequence[str]:
    """Return the log's devices that count for the probe. None of them is part of another one. Raises BadLog."""
    hint = 'say `disk every 1 s on device` in the spec, and `device = "/dev/..."` in the hardware'
    if device.startswith("/dev/"):
        if Path(device).name not in names:
            raise BadLog(None, f"it has no {device}, which the probe is of, but {', '.join(names)}")
        return (Path(device).name,)
    whole = [name for name in names if re.fullmatch(_WHOLE, name)]
    if unknown := [name for name in names if name not in whole and not _NOT_WHOLE.fullmatch(name)]:
        raise BadLog(None, f"whether {', '.join(unknown)} is a disk or a part of one is not clear from its name", hint)
    if not whole:
        raise BadLog(None, f"it has no whole disk, but {', '.join(names)}", hint)
    if device and len(whole) > 1:
        raise BadLog(None, f"which of {', '.join(whole)} holds {device} is not clear from the log", hint)
    return whole


def _times_by_window(times: Sequence[_Times], window: tuple[float, float]) -> Sequence[float]:
    """Return the times. Either all dates are read with the month first, or all with the day first, whichever gives
    valid dates.

    If both do, the dates are read so that they fall into the measured window. Raises BadLog if the window does not
    decide between the two.
    """
    ways = {tuple(way) for way in zip(*times, strict=True) if None not in way}
    if len(ways) > 1:
        ways = {way for way in ways if any(window[0] <= at <= window[1] for at in way if at is not None)}
    if len(ways) != 1:
        text = "whether its dates have the month or the day first is not known"
        raise BadLog(None, text, "run iostat with S_TIME_FORMAT=ISO, or write the dates as 2026-06-05")
    return [at for at in ways.pop() if at is not None]


_Times = tuple[float | None, float | None]
"""The two possible meanings of a date such as `06/05/26`, in epoch seconds: with the month first, and with the day
first."""
_Report = tuple[_Times, list[tuple[str, dict[str, float]]]]


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
                _times(str(each["timestamp"])),
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
    at: _Times | None = None
    columns: Sequence[str] = ()
    devices: list[tuple[str, dict[str, float]]] = []
    for number, line in enumerate(read_output_lines(path), start=1):
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
                # strict: a line that was cut has fewer values
                row = {name: float(text.replace(",", ".")) for name, text in zip(columns, values, strict=True)}
            except ValueError as error:
                raise BadLog(number, f"not a whole line of a device: {line.strip()[:60]!r}") from error
            devices.append((device, row))
        else:
            try:
                at = _times(line.strip())
            except ValueError:
                continue  # the banner, or the processors' line


def _times(text: str) -> _Times:
    """Parse a date both ways: with the month first, and with the day first. Raises ValueError if both fail."""
    month, slash, rest = text.partition("/")
    day, more, year = rest.partition("/")
    if not (slash and more):
        return (at := parse_time(text)), at
    first, second = (_time_or_none(f"{a}/{b}/{year}") for a, b in ((month, day), (day, month)))
    if first is None and second is None:
        raise ValueError(text)
    return first, second


def _time_or_none(text: str) -> float | None:
    try:
        return parse_time(text)
    except ValueError:
        return None
