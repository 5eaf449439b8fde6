"""Reads the kernel's gauges of its random number pool."""

from __future__ import annotations

from typing import ClassVar

from benchbrief.extend.common import Job, JobOutput, Node, Probe, Sample
from benchbrief.extend.probes import parse_readings, readings_in_window, sampling_job

_FILES = "/proc/sys/kernel/random"
_MEASURES = ("entropy.available", "entropy.pool")


class Entropy:
    name: ClassVar[str] = "entropy"

    def job(self, probe: Probe, node: Node) -> Job:
        return sampling_job(probe, f"cat {_FILES}/entropy_avail {_FILES}/poolsize")

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        _, found = parse_readings(output, self.name)
        return tuple(
            Sample(measure, output.host, "", time, float(line), "")
            for time, reading in readings_in_window(probe, output, found, window)
            for measure, line in zip(_MEASURES, reading.lines, strict=False)
            if line.isdecimal()
        )
