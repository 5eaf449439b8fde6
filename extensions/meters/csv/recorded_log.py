"""Extracts a window from a meter's log: `python -m benchbrief.extensions.meters.csv.recorded_log`.

The environment variable BENCH_RECORDED holds JSON with

    path                a file, or a pattern with `*` for several, which are read together
    time, columns       names of columns; the watts of the columns are printed one by one
    zone, format        the zone of times without a zone, and the format of times not in ISO 8601 ("" if not needed)
    scale               the factor that converts a number of the log to watts
    since, until        the window in seconds since the epoch; null for the last row, whatever its time
    wait                how long to wait for the log to reach `until`, in seconds
"""

from __future__ import annotations

import csv
import glob
import json
import os
import sys
import time
import zoneinfo
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from benchbrief.extend.samplers import block, fail, head, number, text_encoding

_LOOK_S = 0.5
_MOST_SECONDS = 1e11
"""The largest number that is read as seconds since the epoch. Larger numbers are read as milliseconds, and those a
thousand times larger as microseconds."""

_MOST_BAD = 1000
"""How many consecutive unreadable lines to report at most."""


class LogRow(NamedTuple):
    """A line of the log. `problem` is the reason why it has no watts. An unreadable line gets a time between its
    neighbours' times."""

    at: float
    watts: tuple[float | None, ...]
    problem: str = ""


_NOT_YET = 3
"""The exit code if there is no log yet, or if the log has no row yet."""


class Unreadable(Exception):
    """Raised if the log contradicts its description in the spec. The message is for people."""


class NotYet(Exception):
    """Raised if there is no log yet, or if the log has no row yet."""


def take(settings: dict[str, Any]) -> list[LogRow]:
    """Return the rows of the window in order, with one more row before it and one after it.

    Inside the window, an unreadable line becomes a row without watts, and so does a time with two different powers.
    Outside the window, unreadable lines are skipped. Raises Unreadable, NotYet, OSError.
    """
    since, until = settings["since"], settings["until"]
    rows: dict[float, LogRow] = {}
    before: LogRow | None = None
    after: LogRow | None = None
    steps: list[str] = []
    for row in _all(settings, steps):
        if row.problem:
            if until is not None and since <= row.at <= until:
                rows.setdefault(row.at, row)
        elif until is None:
            before = row if before is None or row[0] >= before[0] else before
        elif since <= row[0] <= until:
            known = rows.setdefault(row.at, row)
            if known.watts != row.watts and not known.problem:
                problem = f"{settings['path']}: two rows of the time {row.at:.3f} have other watts"
                rows[row.at] = LogRow(row.at, (None,) * len(row.watts), problem)
        elif row[0] < since:
            before = row if before is None or row[0] > before[0] else before
        else:
            after = row if after is None or row[0] < after[0] else after
    if until is not None and not rows and (before or after):
        nearest = [f"{since - before.at:.1f} s before it"] if before else []
        nearest += [f"{after.at - until:.1f} s after it"] if after else []
        raise Unreadable(
            f"{settings['path']} has no row in the measured time, and one {' and '.join(nearest)}{''.join(steps[-1:])}"
        )
    ends = [row for row in (before, after) if row is not None]
    return sorted([*rows.values(), *ends], key=lambda row: row[0])


def _all(settings: dict[str, Any], steps: list[str]) -> Iterator[LogRow]:
    """Yield the rows of all files. Appends to `steps` a sentence about each jump of the clock outside the window."""
    paths = sorted(glob.glob(settings["path"]))  # noqa: PTH207  # of an absolute path
    if not paths:
        raise NotYet(f"there is no file {settings['path']}")
    for path in paths:
        with Path(path).open(encoding=text_encoding(Path(path)), errors="replace", newline="") as file:
            yield from _rows(file, path, settings, steps)


def _rows(file: TextIO, path: str, settings: dict[str, Any], steps: list[str]) -> Iterator[LogRow]:
    first = file.readline(100_000)
    delimiter = max(",;\t", key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    wanted = [settings["time"], *settings["columns"]]
    lost = [name for name in wanted if name not in names]
    if lost:
        known = ", ".join(f"`{name}`" for name in names[:20]) or "none"
        raise Unreadable(f"{path} has no column `{lost[0]}`: it has {known}")
    at, *columns = (names.index(name) for name in wanted)
    clock = _Clock(settings["zone"], settings["format"])
    bad: list[str] = []
    last: float | None = None
    rising: bool | None = None
    for line, cells in enumerate(csv.reader(_whole_lines(file), delimiter=delimiter), start=2):
        if len(cells) <= max(at, *columns):
            continue  # an incomplete or empty line
        try:
            moment = clock.read(cells[at].strip())
        except ValueError as error:
            if len(bad) < _MOST_BAD:
                bad.append(f"{path}:{line}: {error}")
            continue
        if last is not None and moment != last:
            rising = moment > last if rising is None else rising
            if rising != (moment > last):
                step = f"its times go {'back' if rising else 'on'} by {abs(moment - last):.3f} s"
                if _meet(settings, min(last, moment), max(last, moment)):
                    raise Unreadable(f"{path}:{line}: {step}: when its watts were measured is not known")
                steps.append(f"; {step} in line {line}")
        yield from _between(last, moment, columns, bad)
        bad, last = [], moment
        yield LogRow(moment, tuple(_watts(cells[column], delimiter, settings["scale"]) for column in columns))
    if bad and last is None:
        raise Unreadable(bad[0])
    if last is not None:
        yield from _between(last, last, columns, bad)


def _meet(settings: dict[str, Any], start: float, end: float) -> bool:
    """Return whether the window overlaps the times from `start` to `end`, over which the log's clock jumped."""
    until = settings["until"]
    return until is not None and start <= until and end >= settings["since"]


def _between(last: float | None, moment: float, columns: Sequence[int], bad: Sequence[str]) -> Iterator[LogRow]:
    """Yield a row without watts for each unreadable line between two readable ones. The rows are evenly spaced in
    time."""
    start = moment if last is None else last
    for place, problem in enumerate(bad, start=1):
        yield LogRow(start + (moment - start) * place / (len(bad) + 1), (None,) * len(columns), problem)


def _whole_lines(file: TextIO) -> Iterator[str]:
    for line in file:
        if line.endswith("\n"):
            yield line


def _watts(cell: str, delimiter: str, scale: float) -> float | None:
    text = cell.strip().removesuffix("W").strip()
    found = number(text.replace(",", ".") if delimiter != "," else text)
    return None if found is None else found * scale


class _Clock:
    def __init__(self, zone: str, form: str) -> None:
        self._zone = zoneinfo.ZoneInfo(zone) if zone else None
        self._form = form

    def read(self, text: str) -> float:
        """Parse a time and return it as seconds since the epoch. Raises ValueError."""
        if not self._form and (seconds := number(text)) is not None and seconds >= 0:
            while seconds > _MOST_SECONDS:
                seconds /= 1000
            return seconds
        try:
            moment = datetime.strptime(text, self._form) if self._form else datetime.fromisoformat(text)  # noqa: DTZ007
        except ValueError:
            form = f'as `format: "{self._form}"` says' if self._form else "of ISO 8601, nor seconds: say its `format:`"
            raise ValueError(f"`{text[:60]}` is not a time {form}") from None
        if moment.tzinfo is None:
            if self._zone is None:
                raise ValueError(f"`{text[:60]}` names no time zone: say which by `zone:`")
            moment = moment.replace(tzinfo=self._zone)
        return moment.timestamp()


def main() -> int:
    settings = json.loads(os.environ["BENCH_RECORDED"])
    deadline = time.monotonic() + settings["wait"]
    while True:
        problem, code = "", 1
        try:
            rows = take(settings)
            if not rows:
                problem, code = f"{settings['path']} has no row yet", _NOT_YET
        except (Unreadable, OSError) as error:
            rows, problem = [], str(error)
        except NotYet as error:
            rows, problem, code = [], str(error), _NOT_YET
        until = settings["until"]
        if (rows and (until is None or rows[-1][0] >= until)) or time.monotonic() >= deadline:
            break
        time.sleep(_LOOK_S)
    if problem:
        fail(problem)
        return code
    head("meter csv")
    for row in rows:
        block(row.at, row.watts)
        if row.problem:
            fail(row.problem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
