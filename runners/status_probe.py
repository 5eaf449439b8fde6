"""The base of probes whose readings are an engine's status (`seams.TellsStatus`): counters and gauges by name.

A counter that went back was reset, or its server was restarted. Its growth in that time is unknown, and is left out.
"""

from __future__ import annotations

import json
import math
from abc import ABC
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

from benchbrief.model.extension_spec import ProbeSpec
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.sampling import Reading, SampleStep, parse_readings, readings_in_window, steps_in_window
from benchbrief.runners.seams import Node


class StatusProbe(ABC):
    """Samples an engine's status. Implements `ProbeKind` and `RecordsStatus`, except for `name`.

    `rates` and `gauges` map each measure to its name in the status. `spec` has the units of the measures.
    """

    spec: ClassVar[ProbeSpec]
    rates: ClassVar[Mapping[str, str]] = {}
    gauges: ClassVar[Mapping[str, str]] = {}
    counted: ClassVar[tuple[str, ...]] = ()
    """The names of the counters that `of_whole` needs, as in the status."""

    def of_whole(self, grew: Mapping[str, float]) -> Mapping[str, float]:
        """Compute measures of the whole measurement from the growth of each counter in `counted`.

        `grew` lacks a counter if part of its growth is unknown.
        """
        return {}

    def as_now(self, status: Mapping[str, float]) -> Mapping[str, float]:
        """Return a reading under the current names. Earlier versions wrote other names, and their runs can still be
        read."""
        return status

    def reading(self, status: Mapping[str, float]) -> str:
        kept = {*self.rates.values(), *self.gauges.values(), *self.counted}
        return json.dumps({name: value for name, value in status.items() if name in kept})

    def job(self, probe: Probe, node: Node) -> Job:
        raise RunnerError(say.asked_by_controller())

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        _, found = parse_readings(output)
        samples = [
            self._sample(measure, output, time, status[name])
            for time, reading in readings_in_window(probe, output, found, window)
            for status in (self._status(reading),)
            for measure, name in self.gauges.items()
            if name in status
        ]
        steps = list(steps_in_window(probe, output, found, window))
        for step in steps:
            for measure, name in self.rates.items():
                if not math.isnan(grew := self._grew(step, name)):
                    samples.append(self._sample(measure, output, step.time, grew / step.seconds, step.inside))
        samples += self._whole(steps, output, window[1] - window[0])
        return tuple(sorted(samples, key=lambda sample: sample.time))

    def _whole(self, steps: list[SampleStep], output: JobOutput, length: float) -> Iterator[Sample]:
        """Yield the samples of the whole measurement, or nothing if part of the measured time is unknown."""
        grew = {name: sum(self._grew(step, name) for step in steps) for name in self.counted}
        gap = any(one.after is not other.before for one, other in pairwise(steps))
        if steps and not gap:
            inside = sum(step.inside for step in steps)
            known = {name: each for name, each in grew.items() if not math.isnan(each)}
            for measure, value in self.of_whole(known).items():
                yield self._sample(measure, output, length, value, inside)

    def _sample(self, measure: str, output: JobOutput, time: float, value: float, seconds: float = 0.0) -> Sample:
        return Sample(measure, output.host, "", time, value, self.spec.measures[measure].unit, seconds)

    def _grew(self, step: SampleStep, name: str) -> float:
        """Return the growth of a counter, or NaN if it is unknown."""
        before, after = (self._status(each).get(name, math.nan) for each in (step.before, step.after))
        return after - before if after >= before else math.nan

    def _status(self, reading: Reading) -> Mapping[str, float]:
        try:
            found = json.loads("".join(reading.lines))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise BadOutput(say.status_unread())
        return self.as_now({name: float(value) for name, value in found.items() if isinstance(value, int | float)})
