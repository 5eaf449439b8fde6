"""Probes are samplers that run during the measurement. Each has a small shell loop on the host, and a parser here.

The loop prints blocks with an end mark, so that a block that was cut off is not taken for a whole one:

    disks nvme0n1 nvme1n1           what the probe found out at its start
    = 1795184780.123456789 812.54   the host's clock, and its time since boot, which no step of the clock changes
    ...                             what was read
    .

Probes that read the kernel's files at the same rate share one loop on their host: see `FileReads`.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.message import figure
from benchbrief.model.plan import Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.commands import quote, read_script, shell_line, with_values
from benchbrief.runners.jobs.tasks import Job, JobFile, JobOutput, Word

_LONGEST_S = 24 * 3600.0
"""A loop ends by itself after this many seconds, so that none is left behind. It also ends if its directory is
removed."""
_MAX_LINE = 10_000
_STEPPED_S = 0.25
"""The clock counts as set if it differs by more than this many seconds from a time that is computed from the time since
boot. The kernel's slewing affects both alike. The time since boot is known to hundredths of a second, and a busy host
may pause between the two readings.
"""
_SLOW_S = 1.0
"""A reading may always be this many seconds late without counting as missing, since the host may be busy."""

_LOOP = read_script(__file__, "sampling_loop.sh")


def is_count(word: str) -> bool:
    """Return whether the text is a number that the kernel may print. It has at most 20 digits, since Python refuses to
    convert thousands of them."""
    return len(word) <= 20 and word.isdecimal()


@dataclass(frozen=True)
class FileReads:
    """The kernel's files that a probe reads, each with an awk statement that prints the wanted parts of its lines.

    `header` is a shell script that prints everything that does not change. If it fails, its output explains the probe's
    failure. A missing file is left out.
    """

    files: Mapping[str, str]
    header: str = ""


@runtime_checkable
class ReadsFiles(Protocol):
    """A kind of probe that can share its loop with others, since its parser recognizes the lines that belong to it."""

    def reads(self, probe: Probe) -> FileReads: ...


@dataclass(frozen=True)
class Reading:
    """The lines read at one moment. `time` is by the host's clock as it was set at the probe's start."""

    time: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SampleStep:
    """Two consecutive readings. The time between them lies partly or wholly inside the window.

    `time` is the end of the part inside the window, in seconds from the window's start, and `inside` is the length of
    that part.
    """

    before: Reading
    after: Reading
    time: float
    inside: float

    @property
    def seconds(self) -> float:
        return self.after.time - self.before.time


def sampling_job(
    probe: Probe,
    read: str,
    header: str = "",
    env: Mapping[str, Word] | None = None,
    files: tuple[JobFile, ...] = (),
    rounds: int | None = None,
    figures: tuple[str, ...] = (),
    counts: bool = False,
) -> Job:
    """Return the job of a probe. The shell command `read` prints one reading, and `header` prints everything that does
    not change.

    The job reads until it is stopped, or `rounds` times. With `counts`, it reads once more when it is stopped. `files`
    are written into the job's directory. For `figures`, see `tasks.Job`.
    """
    every = round(probe.every_s * 1e9)
    most = rounds or math.ceil(_LONGEST_S / probe.every_s)
    loop = with_values(_LOOP, every=str(every), rounds=str(most), counts="yes" if counts else "")
    line = f"header() {{\n:\n{header}\n}}\nread_all() {{\n{read}\n}}\n{loop}"
    command = replace(shell_line(line), env=env or {})
    return Job(f"{probe.name} probe", command, timeout_s=_LONGEST_S, files=files, background=True, figures=figures)


def reading_job(probes: Sequence[tuple[Probe, FileReads]]) -> Job:
    """Return one job that samples a host for all of these probes, which have the same rate. Each reading takes three
    short processes."""
    rules: dict[str, dict[str, None]] = {}
    headers, each_alone = [], []
    for probe, reads in probes:
        if reads.header:
            headers.append(f"(\n{reads.header}\n) 2>&1 || echo {quote(f'{_FAILED}{probe.name}')}")
        for path, rule in reads.files.items():
            rules.setdefault(path, {})[rule] = None
        alone = f"{_readable(reads.files)}; {_awk({path: [rule] for path, rule in reads.files.items()})}"
        failed = f'echo {quote(f"{_FAILED}{probe.name}: ")}"$({alone} 2>&1 >/dev/null | head -n 1)"'
        each_alone.append(f"({alone}) 2>/dev/null || {failed}")
    # The mistake of one probe's statement ends awk for all of them. They are then read one by one.
    read = f"{_awk(rules)} 2>/dev/null || {{\necho {_AGAIN}\n" + "\n".join(each_alone) + "\n}"
    job = sampling_job(probes[0][0], read, "\n".join([*headers, _readable(rules)]), counts=True)
    return replace(job, name=f"{', '.join(probe.name for probe, _ in probes)} probe")


def _readable(paths: Iterable[str]) -> str:
    """Return a command that sets the shell variable `f` to those of the paths that can be read."""
    # A file that can be opened but not read (pressure, when the kernel does not count it) would end awk.
    # A shell's `read` takes single bytes, and /proc/sys gives its numbers only to the first read of a file.
    return f'f=; for p in {" ".join(paths)}; do cat "$p" >/dev/null 2>&1 && f="$f $p"; done'


def _awk(rules: Mapping[str, Iterable[str]]) -> str:
    """Return a command that runs each awk statement on its file."""
    program = "\n".join(f'FILENAME == "{path}" {{ {"; ".join(each)} }}' for path, each in rules.items())
    return f"awk {quote(program)} $f </dev/null"


_FAILED = "failed: "
_AGAIN = "=again"
"""The line before a repeated reading. The lines of the failed attempt before it are dropped."""


def parse_readings(output: JobOutput, probe: str = "") -> tuple[list[str], list[Reading]]:
    """Return the header's lines, and the complete readings in order of time. Raises BadOutput.

    `probe` selects the header if one loop reads for several probes. If the clock is set in between, the readings do not
    move, as they follow the time since boot.
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
        elif line == _AGAIN:
            lines = []
        elif found or times is not None:
            lines.append(line)
        else:
            header.append(line)
    if f"{_FAILED}{probe}" in header:
        why = header[header.index(f"{_FAILED}{probe}") - 1]
        raise BadOutput(say.probe_unread(probe=probe, host=output.host, said=why[:200]), say.hint_command())
    spoilt = f"{_FAILED}{probe}: "
    good = [each for each in found if not any(line.startswith(spoilt) for line in each[-1])]
    if found and not good:
        why = next(line for line in found[0][-1] if line.startswith(spoilt)).removeprefix(spoilt)
        raise BadOutput(say.probe_unread(probe=probe, host=output.host, said=why[:200]), say.hint_command())
    steady = list(_steadied(good, output.booted))
    if not steady:
        raise BadOutput(say.probe_silent(said=read_last_words(output)), say.hint_command())
    if not any(reading.lines for reading in steady) and (words := _stderr(output).strip()):
        raise BadOutput(say.probe_silent(said=words.splitlines()[0][:200]), say.hint_command())
    return header, steady


def _steadied(found: Sequence[tuple[float, float | None, tuple[str, ...]]], booted: float | None) -> Iterator[Reading]:
    """Yield the readings in rising order of time. If the clock was set, the times after that are computed from the time
    since boot.

    `booted` is when the job's host booted. Journals of earlier versions lack it, so the first readings are used
    instead.
    """
    first = [at - up for at, up, _ in found[:5] if up is not None]
    base = booted if booted is not None else statistics.median(first) if first else None
    last = -math.inf
    for at, up, lines in found:
        stepped = base + up if base is not None and up is not None else at
        time = stepped if abs(at - stepped) > _STEPPED_S else at
        if time > last:
            last = time
            yield Reading(time, lines)


def longest_step(every_s: float) -> float:
    """Return how many seconds two readings may be apart. If they are further apart, readings between them count as
    missing.

    The values in a longer gap are unknown, and are not filled in.
    """
    return max(2.5 * every_s, every_s + _SLOW_S)


def parse_recent(text: str) -> list[Reading]:
    """Return the complete readings from the end of a probe's output, in order of time. The text may begin and end
    anywhere."""
    blocks = re.finditer(r"^= (\d{1,12}(?:\.\d{0,9})?)(?: [\d.]{1,16})?\n((?:(?!= |\.$).*\n)*)\.$", text, re.MULTILINE)
    again = re.compile(rf"^{_AGAIN}\n", re.MULTILINE)
    return [Reading(float(match[1]), tuple(again.split(match[2])[-1].splitlines())) for match in blocks]


def steps_in_window(
    probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]
) -> Iterator[SampleStep]:
    """Yield the intervals between readings, cut to the window. Intervals with missing readings are left out.

    The part of an interval inside the window gets the rate of the whole interval, as the counters are interpolated at
    the end of the window. Raises BadOutput if no part of the window was sampled.
    """
    _require_some(probe, output, found, window)
    start, end = window
    for before, after in pairwise(found):
        inside = min(after.time, end) - max(before.time, start)
        if inside > 0 and after.time - before.time <= longest_step(probe.every_s):
            yield SampleStep(before, after, min(after.time, end) - start, inside)


def readings_in_window(
    probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]
) -> Iterator[tuple[float, Reading]]:
    """Yield the readings inside the window, each with its seconds since the window's start. Raises BadOutput like
    `steps_in_window`."""
    _require_some(probe, output, found, window)
    yield from ((reading.time - window[0], reading) for reading in found if window[0] <= reading.time <= window[1])


def _require_some(probe: Probe, output: JobOutput, found: list[Reading], window: tuple[float, float]) -> None:
    start, end = window
    if found[0].time >= end or found[-1].time <= start:
        raise BadOutput(
            say.probe_outside(
                probe=probe.name,
                start=figure(found[0].time - start, ".1f"),
                end=figure(found[-1].time - start, ".1f"),
                seconds=figure(end - start, ".1f"),
                said=read_last_words(output),
            ),
            say.hint_probe_stderr(path=output.directory),
        )


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(_MAX_LINE):
            yield line.rstrip("\n")


def read_last_words(output: JobOutput) -> str:
    text = _stderr(output).strip()
    return text.splitlines()[-1][:200] if text else say.no_reason()


def _stderr(output: JobOutput) -> str:
    with output.stderr.open("rb") as file:
        return file.read(2000).decode("utf-8", "replace")


Resource = Literal["cpu", "io", "memory"]


def pressure_rule(resource: Resource) -> dict[str, str]:
    """Return the file of a resource's pressure, and the awk statement that prints the total from it, for
    `FileReads`."""
    return {f"/proc/pressure/{resource}": f'if (/^some /) print "{resource}-pressure " $NF'}


def pressure(resource: Resource, step: SampleStep) -> float | None:
    """Return the share of the time in which some task waited, or None if the kernel does not count it."""
    before, after = _total(resource, step.before), _total(resource, step.after)
    if before is None or after is None or after < before:
        return None
    return min(1.0, (after - before) / 1e6 / step.seconds)


def _total(resource: Resource, reading: Reading) -> int | None:
    for line in reading.lines:
        if match := re.fullmatch(rf"{resource}-pressure total=(\d{{1,18}})", line):
            return int(match[1])
    return None
