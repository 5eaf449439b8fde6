"""Probes: samplers that run beside the measurement. Each is a small shell loop on the host and a parser here.

The loop prints blocks, so that one cut off by its end is not taken for whole:

    disks nvme0n1 nvme1n1           what the probe found out at its start
    = 1795184780.123456789 812.54   the host's clock, and its time since boot, which no step of the clock changes
    ...                             what was read
    .

Probes that read the kernel's files and sample as often share one loop on their host: see `FileReads`.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol, runtime_checkable

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import quote, shell_line
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.tasks import File, Job, JobOutput, Word

_LONGEST_S = 24 * 3600.0
"""A loop ends by itself after this long, or when its directory has gone: none is left behind for ever."""
_MAX_LINE = 10_000
_STEPPED_S = 0.25
"""The clock was set when it and the time since boot disagree by more than this. The kernel's slewing bends both alike;
the time since boot has hundredths of a second, and a busy host may be late between looking at the two."""
_SLOW_S = 1.0
"""How far apart two readings may always be: a busy host is late by that much without a reading being missed."""

# The next reading is due at a multiple of the interval, so that readings do not drift. What is late is not caught up
# on, and a clock that was set begins anew. The number added keeps the nanoseconds' leading zeros.
_LOOP = """\
d=$PWD; n=0; due=0; {header}
while [ $n -lt {rounds} ] && [ -d "$d" ]; do
n=$((n + 1)); t=$(date +%s%N); read -r up _ </proc/uptime
s=${{t%?????????}}; printf '= %s.%s %s\\n' "$s" "${{t#"$s"}}" "$up"; {read}; echo .
due=$((due + {every})); left=$((due - t))
if [ $left -lt 0 ] || [ $left -gt {every} ]; then due=$((t + {every})); left={every}; fi
left=$((left + 1000000000000000000)); s=${{left%?????????}}; sleep "$((s - 1000000000)).${{left#"$s"}}" || exit 1
done"""


def is_count(word: str) -> bool:
    """Whether it is a number of the kernel's: it has none of more digits, and Python refuses those of thousands."""
    return len(word) <= 20 and word.isdecimal()


@dataclass(frozen=True)
class FileReads:
    """What a probe reads of the kernel's files: for each, an awk statement that prints what is wanted of its line.

    `header` is a shell script that prints what does not change; when it fails, what it said is the probe's failure.
    A file that is not there is left out.
    """

    files: Mapping[str, str]
    header: str = ""


@runtime_checkable
class ReadsFiles(Protocol):
    """A probe kind whose readings can be taken by the loop of others; its parser finds its own lines among theirs."""

    def reads(self, probe: Probe) -> FileReads: ...


@dataclass(frozen=True)
class Reading:
    """What was read at one moment, by the host's clock as it was at the first reading."""

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


def sampling_job(
    probe: Probe,
    read: str,
    header: str = "",
    env: Mapping[str, Word] | None = None,
    files: tuple[File, ...] = (),
    rounds: int | None = None,
) -> Job:
    """`read` is a shell command that prints one reading, `header` one that prints what does not change.

    It is read until the job is stopped, or so many `rounds`. `files` are written into the job's directory.
    """
    every = round(probe.every_s * 1e9)
    most = rounds or math.ceil(_LONGEST_S / probe.every_s)
    line = _LOOP.format(header=header, read=read, every=every, rounds=most)
    command = replace(shell_line(line), env=env or {})
    return Job(f"{probe.name} probe", command, timeout_s=_LONGEST_S, files=files, background=True)


def reading_job(probes: Sequence[tuple[Probe, FileReads]]) -> Job:
    """One loop for all of these, which sample the same host as often: three short processes for each reading."""
    rules: dict[str, dict[str, None]] = {}
    headers = []
    for probe, reads in probes:
        if reads.header:
            headers.append(f"(\n{reads.header}\n) 2>&1 || echo {quote(f'{_FAILED}{probe.name}')}")
        for path, rule in reads.files.items():
            rules.setdefault(path, {})[rule] = None
    program = "\n".join(f'FILENAME == "{path}" {{ {"; ".join(each)} }}' for path, each in rules.items())
    # One that can be opened but not read (pressure, when the kernel is told not to account for it) would end awk.
    there = f'f=; for p in {" ".join(rules)}; do {{ read -r x <$p; }} 2>/dev/null && f="$f $p"; done'
    job = sampling_job(probes[0][0], f"awk {quote(program)} $f </dev/null", "\n".join([*headers, there]))
    return replace(job, name=f"{', '.join(probe.name for probe, _ in probes)} probe")


_FAILED = "failed: "


def readings(output: JobOutput, probe: str = "") -> tuple[list[str], list[Reading]]:
    """The header's lines, and the readings that are whole, in order of time. Raises BadOutput.

    `probe` is whose header it is, where one loop reads for several. A clock that is set meanwhile does not move the
    readings: these go on by the time since boot.
    """
    header: list[str] = []
    found: list[tuple[float, float | None, tuple[str, ...]]] = []
    times: tuple[float, float | None] | None = None
    lines: list[str] = []
    for line in _lines(output.stdout):
        if line.startswith("= "):
            match = re.fullmatch(r"= (\d{1,12}(?:\.\d{0,9})?)(?: (\d{1,12}\.\d{1,3}))?", line)
            times, lines = (float(match[1]), float(match[2]) if match[2] else None) if match else None, []
        elif line == ".":
            if times is not None:
                found.append((*times, tuple(lines)))
            times = None
        elif found or times is not None:
            lines.append(line)
        else:
            header.append(line)
    if f"{_FAILED}{probe}" in header:
        why = header[header.index(f"{_FAILED}{probe}") - 1]
        raise BadOutput(f"the {probe} probe can't read on {output.host}: {why[:200]}", "Run its command.txt by hand.")
    steady = list(_steadied(found))
    if not steady:
        raise BadOutput(f"the probe printed no reading: {last_words(output)}", "Run its command.txt by hand.")
    return header, steady


def _steadied(found: Sequence[tuple[float, float | None, tuple[str, ...]]]) -> Iterator[Reading]:
    """Readings in rising order of time; those after a step of the clock by the time since boot."""
    booted = [at - up for at, up, _ in found[:5] if up is not None]
    base = statistics.median(booted) if booted else None
    last = -math.inf
    for at, up, lines in found:
        stepped = base + up if base is not None and up is not None else at
        time = stepped if abs(at - stepped) > _STEPPED_S else at
        if time > last:
            last = time
            yield Reading(time, lines)


def longest_step(every_s: float) -> float:
    """Between two readings that are farther apart than this, in seconds, some were missed: what happened there is not
    known, and is not made up from what came before and after."""
    return max(2.5 * every_s, every_s + _SLOW_S)


def recent(text: str) -> list[Reading]:
    """The whole readings in the end of a probe's output, which may begin and end anywhere, in order of time."""
    blocks = re.finditer(r"^= (\d{1,12}(?:\.\d{0,9})?)(?: [\d.]{1,16})?\n((?:(?!= |\.$).*\n)*)\.$", text, re.MULTILINE)
    return [Reading(float(match[1]), tuple(match[2].splitlines())) for match in blocks]


def steps(probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]) -> Iterator[Step]:
    """The intervals that lie wholly inside the window, without gaps. Raises BadOutput when none of the window was
    sampled."""
    _require_some(probe, output, found, window)
    start, end = window
    for before, after in pairwise(found):
        if before.time >= start and after.time <= end and after.time - before.time <= longest_step(probe.every_s):
            yield Step(before, after, after.time - start)


def moments(
    probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]
) -> Iterator[tuple[float, Reading]]:
    """The readings inside the window, each with its seconds from the window's start. See `steps` for what is raised."""
    _require_some(probe, output, found, window)
    yield from ((reading.time - window[0], reading) for reading in found if window[0] <= reading.time <= window[1])


def _require_some(probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]) -> None:
    start, end = window
    if found[0].time >= end or found[-1].time <= start:
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
