"""The simulated probe, which replaces any real one: see `seams.ProbeKind`."""

from __future__ import annotations

from itertools import compress
from typing import ClassVar

from pydantic import ValidationError

from benchbrief.compiler.planning.plan import Probe
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import Command, File, Job, JobOutput
from benchbrief.runners.measurement.measurement import Sample
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.seams import Node
from benchbrief.runners.simulated.queueing_model import Machine
from benchbrief.runners.simulated.simulated_hosts import SAMPLE, TASK_FILE
from benchbrief.runners.simulated.simulated_samples import SAMPLER, SAMPLES, Sampler, reading_of

_LONGEST_S = 24 * 3600.0


class SimulatedProbe:
    """Replaces the probe called `of`."""

    name: ClassVar[str] = "simulated"

    def __init__(self, of: str, seed: int = 0) -> None:
        self._of = of
        self._seed = seed

    def job(self, probe: Probe, node: Node) -> Job:
        machine, library = Machine.of(node.hardware), probe.on == "tool"
        sampler = Sampler(self._of, node.host.id, probe.every_s, machine, self._seed, library=library)
        file = File(TASK_FILE, (SAMPLER.dump_json(sampler).decode(),))
        command = Command((SAMPLE, TASK_FILE))
        return Job(f"{self._of} probe", command, timeout_s=_LONGEST_S, files=(file,), background=True)

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        del probe
        try:
            found = SAMPLES.validate_json(output.stdout.read_bytes())
        except (OSError, ValidationError) as error:
            raise BadOutput(say.not_simulated_probe(path=output.stdout), say.hint_simulate()) from error
        start, end = window
        inside = [start <= time <= end for time in found.times]
        times = [time - start for time in compress(found.times, inside)]
        samples: list[Sample] = []
        for measure, values in found.values.items():
            unit = reading_of(measure)[0]
            each = zip(times, compress(values, inside), strict=True)
            samples += [
                Sample(measure, output.host, "", time, value, unit) for time, value in each if value is not None
            ]
        return tuple(samples)
