"""A third party's load generator and probe that print exactly what they measured, so that tests know every number."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import TypeAdapter, ValidationError

from benchbrief.model.measurement import Measurement, Sample
from benchbrief.model.plan import Probe
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput
from benchbrief.runners.seams import Node, Requirement

MEASUREMENT = TypeAdapter(Measurement)
SAMPLES = TypeAdapter(tuple[Sample, ...])


class PlainDriver:
    name: ClassVar[str] = "plain"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        return (configured or "plain",)

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return (Requirement("plain", Command((path, "--version")), "install it"),)

    def load(self, context: CellContext) -> Job | None:
        return None

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        return 0

    def warm_up(self, context: CellContext) -> Job | None:
        return None

    def measure(self, context: CellContext) -> Job:
        return Job("measure", Command((context.tool_path,)), timeout_s=10)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        try:
            return MEASUREMENT.validate_json(output.stdout.read_bytes())
        except ValidationError as error:
            raise BadOutput("plain printed no measurement") from error


class LaggingDriver(PlainDriver):
    """The same driver under the name `lagging`, whose spec declares a measure of its own."""

    name: ClassVar[str] = "lagging"


class Gauge:
    name: ClassVar[str] = "gauge"

    def job(self, probe: Probe, node: Node) -> Job:
        return Job("gauge", Command(("gauge",)), timeout_s=10, background=True)

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        try:
            samples = SAMPLES.validate_json(output.stdout.read_bytes())
        except ValidationError as error:
            raise BadOutput("gauge printed no samples") from error
        return tuple(s for s in samples if 0 <= s.time < window[1] - window[0])


class Broken(Gauge):
    name: ClassVar[str] = "broken"

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        value = float(output.stdout.read_text())  # raises ValueError
        return (Sample("broken.bar", output.host, "", 0.0, value, "B"),)
