"""The `cpu` probe: the time that processors spend in each state, from /proc/stat and /proc/pressure/cpu.

The pressure is the time in which some task waited for a processor: see https://docs.kernel.org/accounting/psi.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Protocol

from benchbrief.extend.common import BadOutput, Job, JobOutput, Message, Node, Probe, Sample, speaker
from benchbrief.extend.probes import (
    FileReads,
    Reading,
    is_count,
    parse_readings,
    parse_recent,
    pressure,
    pressure_rule,
    reading_job,
    steps_in_window,
)


class CpuMessages(Protocol):
    def no_processors(self, *, host: object) -> Message: ...


say: CpuMessages = speaker(CpuMessages)


_STATES = 8
"""How many states are counted: user nice system idle iowait irq softirq steal. The guests' time comes after them. It is
not counted, because user and nice include it."""
_IDLE, _IOWAIT, _STEAL = 3, 4, 7


class Cpu:
    """The number of busy processors, and the share of all processors' time in each state; see `seams.ProbeKind`.

    Time stolen by a hypervisor is neither busy nor idle. It has its own share.
    """

    name: ClassVar[str] = "cpu"

    def reads(self, probe: Probe) -> FileReads:
        files = {"/proc/stat": "if (/^cpu /) print", **pressure_rule("cpu")}
        return FileReads(files, "echo processors $(grep -c '^cpu[0-9]' /proc/stat)")

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = parse_readings(output, self.name)
        counts = [int(match[1]) for line in header if (match := re.fullmatch(r"processors (\d{1,6})", line))]
        if not counts or counts[0] == 0:
            raise BadOutput(say.no_processors(host=output.host))
        samples = []
        for step in steps_in_window(probe, output, found, window):
            waited = pressure("cpu", step)
            if waited is not None:
                samples.append(Sample("cpu.pressure", output.host, "", step.time, waited, "", step.inside))
            moved = _moved(step.before, step.after)
            if moved is None:
                continue
            total = sum(moved)
            busy = (total - moved[_IDLE] - moved[_IOWAIT] - moved[_STEAL]) / total
            for measure, value, unit in (
                ("cpu", busy * counts[0], "cores"),
                ("cpu.utilisation", busy, ""),
                ("cpu.iowait", moved[_IOWAIT] / total, ""),
                ("cpu.steal", moved[_STEAL] / total, ""),
            ):
                samples.append(Sample(measure, output.host, "", step.time, value, unit, step.inside))
        return tuple(samples)

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """Implement `seams.TellsNow`: the utilisation between the last two readings."""
        last = parse_recent(text)[-2:]
        moved = _moved(*last) if len(last) == 2 else None
        if moved is None:
            return {}
        idle = moved[_IDLE] + moved[_IOWAIT] + moved[_STEAL]
        return {"cpu.utilisation": 1 - idle / sum(moved)}


def _moved(before: Reading, after: Reading) -> list[int] | None:
    """Return the ticks spent in each state. Returns None if a line can't be read, or if a counter decreased, which
    iowait may do."""
    first, second = _ticks(before), _ticks(after)
    if first is None or second is None:
        return None
    moved = [b - a for a, b in zip(first, second, strict=True)]
    return moved if min(moved) >= 0 and sum(moved) > 0 else None


def _ticks(reading: Reading) -> tuple[int, ...] | None:
    for line in reading.lines:
        words = line.split()
        if words[:1] == ["cpu"] and len(words) > _STATES and all(map(is_count, words[1 : 1 + _STATES])):
            return tuple(int(word) for word in words[1 : 1 + _STATES])
    return None
