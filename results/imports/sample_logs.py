"""Logs of what was sampled beside a measurement: iostat's, as text (`-t -x`) or JSON, and ipmitool's with time stamps.

    2026-11-21T17:01:02+0000
    Device   r/s   rkB/s   r_await  ...  %util
    nvme0n1  12.0  96.0    0.21     ...  4.10

    2026-11-21T17:01:02Z Pwr Consumption | 220 Watts        (a sensor's line, after the time that it was read at)

    Instantaneous power reading:  220 Watts                 dcmi power reading, again and again
    IPMI timestamp:  Sat Nov 21 17:01:02 2026               or 11/21/2026 17:01:02 UTC, before more on its line

Time stamps without a zone are taken for UTC. iostat's first report is left out: unless it was told otherwise
(`-y`), that is one of the time since the machine was started. It tells a disk, its partitions and what is mapped onto
it in lines of their own; only whole disks count, as for the probe (`runners/probes/disk.py`), or the probe's own
device.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchbrief.results.imports.spreadsheets import packed
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
_FORMATS = (
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S",
    "%Y年%m月%d日 %H時%M分%S秒",
)
_WHOLE = r"(?:(?:sd|hd|vd|xvd|dasd|rssd)[a-z]+|nvme\d+n\d+|mmcblk\d+|pmem\d+)"
"""The kernel's names of whole disks, see https://www.kernel.org/doc/Documentation/admin-guide/devices.txt."""
_NOT_WHOLE = re.compile(rf"{_WHOLE}p?\d+|(?:loop|ram|zram|sr|fd|dm-|md)\d.*")
_DEVICE = re.compile(r"Device:?\s+(.*)")
_WATTS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\|\s*)?Watts", re.IGNORECASE)
_READING = re.compile(r"\s*Instantaneous power reading:\s+(\d+) Watts")
_STAMP = re.compile(
    r"\bIPMI timestamp:\s+"
    r"(?:(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})|(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)(?: ([A-Z]{2,5})\b)?)"
)
"""Up to ipmitool 1.8.18 as C's `asctime`; from 1.8.19 on by numbers, the month first, with its zone."""
_AT = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d{10}(?:\.\d+)?)[\s,;|]+(.*)")


class BadLog(Exception):
    """`line` is None where it is the file as a whole."""

    def __init__(self, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.line = line
        self.hint = hint


def read(kind: str, path: Path, node: str, window: tuple[float, float], device: str = "") -> tuple[Sample, ...]:
    """The samples inside a window of epoch seconds, of the probe's `device` where it has one.

    Raises BadLog for what is no such log, for one that does not tell which device or which day is meant, and for one
    of another time.
    """
    if (problem := packed(path)) is not None:
        raise BadLog(None, str(problem), problem.hint)
    try:
        found = _iostat(path, node, window, device) if kind == "iostat" else _ipmitool(path, node)
    except BadOutput as error:
        raise BadLog(None, str(error)) from error
    start, end = window
    if found and not any(start <= each.time <= end for each in found):
        spans = [(found[0].time, found[-1].time), window]
        log, measured = (
            " to ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in span) for span in spans
        )
        hint = "is it in local time? run it with TZ=UTC, or write its times with their zone (2026-11-21T17:01:02+0900)"
        raise BadLog(None, f"nothing of it lies in the measured time: it is from {log} UTC, and that {measured}", hint)
    return tuple(
        Sample(each.measure, node, each.device, each.time - start, each.value, each.unit)
        for each in found
        if start <= each.time <= end
    )


def _iostat(path: Path, node: str, window: tuple[float, float], device: str) -> list[Sample]:
    with path.open("rb") as file:
        is_json = file.read(64).lstrip().startswith(b"{")
    reports = _json_reports(path) if is_json else list(_text_reports(path))
    if not reports:
        raise BadLog(None, "not a log of iostat -x -t: it has no report of devices with its time")
    times = _told_times([at for at, _ in reports], window)
    counted = _counted(list(dict.fromkeys(name for _, devices in reports for name, _ in devices)), device)
    found = []
    for at, (_, devices) in list(zip(times, reports, strict=True))[1:]:
        for name, row in devices:
            for column, value in row.items() if name in counted else ():
                if column in _COLUMNS and (column not in _AWAIT or row.get(_AWAIT[column])):
                    measure, factor, unit = _COLUMNS[column]
                    found.append(Sample(measure, node, name, at, value * factor, unit))
    return found


def _counted(names: Sequence[str], device: str) -> Sequence[str]:
    """The devices of a log that are the probe's, none of which is a part of another. Raises BadLog."""
    hint = 'say `disk every 1 s on device` in the spec, and `device = "/dev/..."` in the hardware'
    if device.startswith("/dev/"):
        if Path(device).name not in names:
            raise BadLog(None, f"it has no {device}, which the probe is of, but {', '.join(names)}")
        return (Path(device).name,)
    whole = [name for name in names if re.fullmatch(_WHOLE, name)]
    if unknown := [name for name in names if name not in whole and not _NOT_WHOLE.fullmatch(name)]:
        raise BadLog(None, f"whether {', '.join(unknown)} is a disk or a part of one is not told by its name", hint)
    if not whole:
        raise BadLog(None, f"it has no whole disk, but {', '.join(names)}", hint)
    if device and len(whole) > 1:
        raise BadLog(None, f"which of {', '.join(whole)} holds {device} is not told by the log", hint)
    return whole


def _told_times(times: Sequence[_Times], window: tuple[float, float]) -> Sequence[float]:
    """The reading of all stamps that is a date, and, where both are, the one that the measurement's time confirms."""
    ways = {tuple(way) for way in zip(*times, strict=True) if None not in way}
    if len(ways) > 1:
        ways = {way for way in ways if any(window[0] <= at <= window[1] for at in way if at is not None)}
    if len(ways) != 1:
        text = "whether its dates have the month or the day first is not known"
        raise BadLog(None, text, "run iostat with S_TIME_FORMAT=ISO, or write the dates as 2026-06-05")
    return [at for at in ways.pop() if at is not None]


_Times = tuple[float | None, float | None]
"""A stamp's epoch seconds with the month first, and with the day first: a log's `06/05/26` may be either."""
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
                at = _times(line.strip())
            except ValueError:
                continue  # the banner, or the processors' line


def _ipmitool(path: Path, node: str) -> list[Sample]:
    found: list[Sample] = []
    watts: float | None = None
    sensors: dict[str, int] = {}
    for number, line in enumerate(lines(path), start=1):
        if match := _READING.match(line):
            watts = float(match[1])
        if match := _STAMP.search(line):
            if match[3] not in (None, "UTC", "GMT"):
                raise BadLog(
                    number, f"its times are in {match[3]}, which is not known here", "run ipmitool with TZ=UTC"
                )
            if watts is not None:
                found.append(Sample("power", node, "", _time(match[1] or match[2]), watts, "W"))
            watts = None
        elif (match := _AT.match(line)) and (value := _WATTS.search(match[2])):
            sensors.setdefault(match[2].partition("|")[0].strip(), number)
            if len(sensors) > 1:
                raise BadLog(number, f"watts of several sensors: {', '.join(sensors)}; give the log of one")
            found.append(Sample("power", node, "", _time(match[1]), float(value[1]), "W"))
    if not found:
        raise BadLog(None, "not a log of ipmitool: it has no reading of watts with its time")
    return found


def _times(text: str) -> _Times:
    """Raises ValueError."""
    month, slash, rest = text.partition("/")
    day, more, year = rest.partition("/")
    if not (slash and more):
        return (at := _time(text)), at
    first, second = (_time_or_none(f"{a}/{b}/{year}") for a, b in ((month, day), (day, month)))
    if first is None and second is None:
        raise ValueError(text)
    return first, second


def _time_or_none(text: str) -> float | None:
    try:
        return _time(text)
    except ValueError:
        return None


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
