"""Probes: samplers that run beside the measurement. Each is a small shell loop on the host and a parser here.

The loop prints blocks, so that one cut off by its end is not taken for whole:

    disks nvme0n1 nvme1n1           what the probe found out at its start
    = 1795184780.123456789          the host's clock
    ...                             what was read
    .
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import shell_line
from benchbrief.runners.seams import BadOutput, Job, JobOutput, Word

_LONGEST_S = 24 * 3600.0
"""A loop ends by itself after this long, or when its directory has gone: none is left behind for ever."""
_MAX_LINE = 10_000


@dataclass(frozen=True)
class Reading:
    """What was read at one moment, by the host's clock."""

    time: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """Two readings after one another. `time` is the end of the interval, seconds from the start of the window."""

    before: Reading
    after: Reading
    time: float

    @property
    def seconds(self) -> float:
        return self.after.time - self.before.time


def sampling_job(probe: Probe, read: str, header: str = "", env: Mapping[str, Word] | None = None) -> Job:
    """`read` is a shell command that prints one reading, `header` one that prints what does not change."""
    rounds = math.ceil(_LONGEST_S / probe.every_s)
    line = (
        f'd=$PWD; n=0; {header}\nwhile [ $n -lt {rounds} ] && [ -d "$d" ]; do\n'
        f"n=$((n + 1)); printf '= '; date +%s.%N; {read}; echo .; sleep {probe.every_s:g}; done"
    )
    command = replace(shell_line(line), env=env or {})
    return Job(f"{probe.name} probe", command, timeout_s=_LONGEST_S, background=True)


def readings(output: JobOutput) -> tuple[list[str], list[Reading]]:
    """The header's lines, and the readings that are whole, in order of time. Raises BadOutput."""
    header: list[str] = []
    found: list[Reading] = []
    time: float | None = None
    lines: list[str] = []
    for line in _lines(output.stdout):
        if line.startswith("= "):
            match = re.fullmatch(r"= (\d{1,12}(?:\.\d{0,9})?)", line)
            time, lines = float(match[1]) if match else None, []
        elif line == ".":
            if time is not None and (not found or time > found[-1].time):
                found.append(Reading(time, tuple(lines)))
            time = None
        elif found or time is not None:
            lines.append(line)
        else:
            header.append(line)
    if not found:
        raise BadOutput(f"the probe printed no reading: {last_words(output)}", "Run its command.txt by hand.")
    return header, found


def recent(text: str) -> list[Reading]:
    """The whole readings in the end of a probe's output, which may begin and end anywhere, in order of time."""
    blocks = re.finditer(r"^= (\d{1,12}(?:\.\d{0,9})?)\n((?:(?!= |\.$).*\n)*)\.$", text, re.MULTILINE)
    return [Reading(float(match[1]), tuple(match[2].splitlines())) for match in blocks]


def steps(probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]) -> Iterator[Step]:
    """The intervals that lie wholly inside the window. Raises BadOutput when the probe did not run all through it."""
    _require_all_through(probe, output, found, window)
    start, end = window
    for before, after in pairwise(found):
        if before.time >= start and after.time <= end:
            yield Step(before, after, after.time - start)


def moments(
    probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]
) -> Iterator[tuple[float, Reading]]:
    """The readings inside the window, each with its seconds from the window's start. See `steps` for what is raised."""
    _require_all_through(probe, output, found, window)
    yield from ((reading.time - window[0], reading) for reading in found if window[0] <= reading.time <= window[1])


def _require_all_through(probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]) -> None:
    start, end = window
    slack = 2 * probe.every_s + 1
    if found[0].time > start + slack or found[-1].time < end - slack:
        raise BadOutput(
            f"the {probe.name} probe ran from {found[0].time - start:.1f} s to {found[-1].time - start:.1f} s of the "
            f"measurement, which took {end - start:.1f} s: {last_words(output)}",
            f"Look at the probe's stderr in {output.directory}.",
        )


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(_MAX_LINE):
            yield line.rstrip("\n")


def last_words(output: JobOutput) -> str:
    with output.stderr.open("rb") as file:
        text = file.read(2000).decode("utf-8", "replace").strip()
    return text.splitlines()[-1][:200] if text else "it said nothing of why"
