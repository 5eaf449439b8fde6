"""The base classes of power meters. A meter supplies a job that reads it, and finds the watts in the job's output."""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from benchbrief.model.message import Message, figure
from benchbrief.model.plan import Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError, ToolMissing
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput, Word
from benchbrief.runners.meters.meter_points import MeterPoint, MeterReader, figures, points_of
from benchbrief.runners.sampling import Reading, SampleStep, sampling_job
from benchbrief.runners.seams import Node

_NOISE = ("IANA PEN registry", "Created directory: ")
"""Words in output lines that do not explain a failure. ipmitool 1.8.19 prints the first if its list of vendors is
missing, and snmpget prints the second."""

ENDED = re.compile(r"code (\d{1,3})")
"""Matches the line that follows the output of a command that failed."""


def below_zero_words(watts: float) -> Message:
    return say.below_zero(watts=figure(watts, "g"))


def describe_failure(
    kind: AnyMeter, node: Node, output: JobOutput, ended: bool, below_zero: float | None = None
) -> RunnerError:
    """Return the error for a trial reading without watts or, if `below_zero` is set, with this negative number of
    watts."""
    meter = points_of(node)[0].meter
    what = node.hardware.label if meter.shared else node.host.id
    said = _last_line_of(output, kind.answer) if ended else say.meter_no_answer()
    if below_zero is not None:
        said = below_zero_words(below_zero)
    program, package = kind.tool
    if program and re.search(rf"{program}\W+(not found|No such file)", said):
        where = say.this_machine() if meter.on == "controller" else node.host.id
        return ToolMissing(
            say.power_unread(of=what, meter=meter.kind, said=said), say.hint_install_on(package=package, where=where)
        )
    answer = re.match(kind.answer, said) if kind.answer else None
    if answer and answer["unit"]:
        said = say.meter_unit(unit=answer["unit"].strip())
    hint = next((each for pattern, each in kind.hints if re.search(pattern, said)), "")
    mend = say.hint_mend_meter_by(hint=hint, origin=meter.origin) if hint else say.hint_mend_meter(origin=meter.origin)
    return RunnerError(say.power_unread(of=what, meter=meter.kind, said=said), mend)


def _last_line_of(output: JobOutput, answer: str) -> str:
    """Return the line that best explains a reading without watts: the meter's `answer`, the last error, or the last
    line of output."""
    errors = [line for line in _lines(output.stderr) if not any(noise in line for noise in _NOISE)]
    stdout = _lines(output.stdout)
    codes = [match[1] for line in stdout if (match := ENDED.fullmatch(line))]
    said = [line for line in stdout if not re.match(r"= |\.$|@ |meter |x [0-9]", line) and not ENDED.fullmatch(line)]
    reading = next((line.lstrip() for line in said if answer and re.match(answer, line.lstrip())), "")
    streams = ([reading], errors, said)
    last = next((line.strip() for stream in streams for line in reversed(stream) if line.strip()), "")
    return last[:300] or say.meter_ended(code=codes[-1] if codes else output.exit_code)


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.read(20_000).decode("utf-8", "replace").splitlines()


class AnyMeter(ABC):
    """The base of all meters.

    `tool` names the program that reads the meter, and the program's Debian package. Each of `hints` has a regular
    expression for the meter's output, and a text about what to do next. `answer` is a regular expression for the line
    that holds a reading. Its group `unit` matches the unit, if that may be something other than watts.
    """

    tool: ClassVar[tuple[str, str]] = ("", "")
    hints: ClassVar[tuple[tuple[str, str], ...]] = ()
    answer: ClassVar[str] = ""

    @abstractmethod
    def trial(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node) -> Job:
        """Return a job that reads the meter once, before anything is measured."""

    def watts(self, reading: Reading) -> float | None:
        """Return the watts in a reading of one point, or None if there are none. Never raises an error for odd text."""
        return parse_watts(reading)


class SampledMeter(AnyMeter):
    """A meter that a job reads while the load runs."""

    trial_rounds: ClassVar[int] = 1

    @abstractmethod
    def job(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node, rounds: int | None = None) -> Job:
        """Return a job that samples until it is stopped, or `rounds` times."""

    def trial(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node) -> Job:
        return self.job(probe, points, node, self.trial_rounds)


class Meter(SampledMeter):
    """A meter read by shell commands. If each command prints one number of watts, a subclass only needs `reader`.

    `figures` are regular expressions for the lines with watts, in addition to those for every meter.
    """

    counts: ClassVar[bool] = False
    figures: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def reader(self, points: tuple[MeterPoint, ...], node: Node) -> MeterReader:
        """Return how to read the points. The first line that the header command prints must be `meter` and the meter's
        name."""

    def job(self, probe: Probe, points: tuple[MeterPoint, ...], node: Node, rounds: int | None = None) -> Job:
        """Return a job that samples until it is stopped, or `rounds` times. The job ends at once if its header command
        fails."""
        reader = self.reader(points, node)
        read, kept = _together(reader.reads), (*figures(), *self.figures)
        return sampling_job(probe, read, reader.header, reader.env, reader.files, rounds, kept, self.counts)


class CountingMeter(Meter):
    """A meter that has energy counters. The watts are computed from the difference between two readings."""

    counts: ClassVar[bool] = True
    trial_rounds: ClassVar[int] = 2

    @abstractmethod
    def moved(
        self, probe: Probe, output: JobOutput, header: Sequence[str], found: list[Reading], window: tuple[float, float]
    ) -> list[tuple[SampleStep, float | None]]:
        """Return the watts over each interval between readings, or None for an interval in which they are unknown."""


class RecordedMeter(AnyMeter):
    """A meter that writes its own log, which is read after each measurement."""

    @abstractmethod
    def job_after(self, points: tuple[MeterPoint, ...], since: float, until: float) -> Job:
        """Return a job that fetches the readings between two times (epoch seconds), and then ends."""


def _together(reads: Sequence[str]) -> str:
    """Return shell commands that read all points as simultaneously as possible."""
    if len(reads) == 1:
        return reads[0]
    begun = " ".join(f"{{ {read}; }} >said-{number} &" for number, read in enumerate(reads))
    outputs = "; ".join(f"echo '@ {number}'; cat said-{number}" for number in range(len(reads)))
    return f"{begun} wait; {outputs}"


def parse_watts(reading: Reading) -> float | None:
    """Return the one number that a command printed, with or without its unit. Returns None for any other text."""
    text = " ".join(line for line in reading.lines if line.strip() and not ENDED.fullmatch(line)).strip()
    match = re.fullmatch(r"(-?\d{1,9}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?)(?:\s*W(?:atts?)?)?", text)
    watts = float(match[1]) if match else math.nan
    return watts if math.isfinite(watts) else None


def sampler_job(module: str, env: Mapping[str, Word], name: str, timeout_s: float) -> Job:
    """Return a background job on the controller that runs a module as a program. The program prints readings. The
    module should import little, as each job starts a new Python process."""
    words = (sys.executable, "-P", "-m", module)
    return Job(name, Command(words, env), timeout_s=timeout_s, background=True, figures=figures())
