"""The `memory` probe: the use of memory, and paging, from /proc/meminfo and /proc/vmstat.

`MemAvailable` is the memory that is available without swapping, and the rest of `MemTotal` is in use: see
https://docs.kernel.org/filesystems/proc.html. /proc/vmstat counts pages swapped in and out, and faults that had to read
from a disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Protocol

from benchbrief.extend.common import BadOutput, Job, JobOutput, Message, Node, Probe, Sample, speaker
from benchbrief.extend.probes import (
    FileReads,
    Reading,
    SampleStep,
    parse_readings,
    pressure,
    pressure_rule,
    reading_job,
    readings_in_window,
    steps_in_window,
)


class MemoryMessages(Protocol):
    def no_memory(self, *, host: object) -> Message: ...


say: MemoryMessages = speaker(MemoryMessages)


_SIZES = "if (/^(MemTotal|MemAvailable|Buffers|Cached|Dirty|SwapTotal|SwapFree):/) print"
_COUNTS = "if (/^(pswpin|pswpout|pgmajfault) /) print"


class Memory:
    """Bytes in use, available, cached and dirty, as well as swapping, major faults and pressure; see
    `seams.ProbeKind`."""

    name: ClassVar[str] = "memory"

    def reads(self, probe: Probe) -> FileReads:
        files = {"/proc/meminfo": _SIZES, "/proc/vmstat": _COUNTS, **pressure_rule("memory")}
        return FileReads(files, "echo page $(getconf PAGESIZE)")

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = parse_readings(output, self.name)
        pages = [int(match[1]) for line in header if (match := re.fullmatch(r"page (\d{1,9})", line))]
        samples = [
            Sample(measure, output.host, "", time, float(value), "B")
            for time, reading in readings_in_window(probe, output, found, window)
            for measure, value in _sizes(reading).items()
        ]
        if not samples:
            raise BadOutput(say.no_memory(host=output.host))
        for step in steps_in_window(probe, output, found, window):
            samples += [
                Sample(measure, output.host, "", step.time, value, unit, step.inside)
                for measure, value, unit in _rates(step, pages[0] if pages else None)
            ]
        return tuple(samples)


def _sizes(reading: Reading) -> dict[str, int]:
    kib = _numbers(reading, r"(\w+):\s+(\d{1,15}) kB")
    found = {}
    if "MemTotal" in kib and "MemAvailable" in kib:
        found["memory.used"] = kib["MemTotal"] - kib["MemAvailable"]
        found["memory.available"] = kib["MemAvailable"]
    if "Cached" in kib:
        found["memory.cached"] = kib["Cached"] + kib.get("Buffers", 0)
    if "Dirty" in kib:
        found["memory.dirty"] = kib["Dirty"]
    if "SwapTotal" in kib and "SwapFree" in kib:
        found["memory.swap_used"] = kib["SwapTotal"] - kib["SwapFree"]
    return {measure: value << 10 for measure, value in found.items()}


def _rates(step: SampleStep, page: int | None) -> list[tuple[str, float, str]]:
    before, after = (_numbers(each, r"(pswpin|pswpout|pgmajfault) (\d{1,19})") for each in (step.before, step.after))
    found = []
    for counter, measure, size, unit in (
        ("pswpin", "memory.swap_in", page, "B/s"),
        ("pswpout", "memory.swap_out", page, "B/s"),
        ("pgmajfault", "memory.major_faults", 1, "1/s"),
    ):
        if size is not None and counter in before and after.get(counter, -1) >= before[counter]:
            found.append((measure, (after[counter] - before[counter]) * size / step.seconds, unit))
    waited = pressure("memory", step)
    return found if waited is None else [*found, ("memory.pressure", waited, "")]


def _numbers(reading: Reading, pattern: str) -> Mapping[str, int]:
    return {match[1]: int(match[2]) for line in reading.lines if (match := re.fullmatch(pattern, line))}
