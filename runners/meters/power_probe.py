"""The `power` probe, which samples the watts of hosts with their meters.

Each host has one job that reads all its meters and adds up their watts. If a meter is shared, the whole hardware has
one job. Lines such as `@ 0` and `@ 1` separate the outputs of several meters. A reading that fails or is below zero
leaves a gap without a sample, and the probe's output quotes the meter. If the controller's process dies, a job on that
machine continues, like any job, and ends by itself when its directory is removed.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchbrief.compiler.registry import METER_SPECS
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Probe
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.meters.meter_base import (
    AnyMeter,
    CountingMeter,
    RecordedMeter,
    SampledMeter,
    below_zero_words,
    describe_failure,
)
from benchbrief.runners.meters.meter_points import points_of
from benchbrief.runners.plugins import meter_kind
from benchbrief.runners.sampling import Reading, parse_readings, parse_recent, read_last_words, readings_in_window
from benchbrief.runners.seams import Node, Transport

_TRY_S = 60.0
"""How many seconds a trial reading may take. A BMC's first reading by Redfish takes several slow requests."""
_MARGIN_S = 60.0
"""The log is also fetched for this many seconds before the measurement, by the controller's clock."""


class Power:
    """The watts of a node, or of hardware with shared meters. Implements `seams.ProbeKind` and `seams.ReadsAfter`."""

    name: ClassVar[str] = "power"

    def job(self, probe: Probe, node: Node) -> Job:
        found = points_of(node)
        meter = meter_kind(found[0].meter.kind)
        if not isinstance(meter, SampledMeter):
            raise RunnerError(
                say.meter_has_log_only(meter=found[0].meter.kind, origin=found[0].meter.origin),
                say.hint_package_authors(),
            )
        return meter.job(probe, found, node)

    def job_after(self, probe: Probe, node: Node, window: tuple[float, float]) -> Job:
        found = points_of(node)
        meter = meter_kind(found[0].meter.kind)
        if not isinstance(meter, RecordedMeter):
            raise RunnerError(
                say.meter_keeps_no_log(meter=found[0].meter.kind, origin=found[0].meter.origin),
                say.hint_package_authors(),
            )
        return meter.job_after(found, window[0] - _MARGIN_S, window[1])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        of = _of(probe, output)
        read = _watts(probe, output, window)
        known = tuple(
            Sample("power", of, "", each.time, each.watts, "W", each.seconds) for each in read if each.watts is not None
        )
        if read and not known:
            raise BadOutput(
                say.no_watts(count=len(read), of=of, said=_why(read, output)),
                say.hint_probe_output(path=output.directory),
            )
        return known

    def now(self, probe: Probe, text: str) -> Mapping[str, float]:
        """Implement `seams.TellsNow`. Tries every kind of meter, as the text may lack the header that names the
        meter."""
        for reading in parse_recent(text)[-1:]:
            watts = [next(_any(each), None) for each in _apart(reading)]
            known = [each for each in watts if each is not None and each >= 0]
            if known and len(known) == len(watts):
                return {"power": sum(known)}
        return {}

    def gaps(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> str:
        read = _watts(probe, output, window)
        failed = sum(each.watts is None for each in read)
        if not failed:
            return ""
        return say.watts_failed(failed=failed, count=len(read), of=_of(probe, output), said=_why(read, output))


def _of(probe: Probe, output: JobOutput) -> str:
    """Return what the power belongs to: the host, or the whole hardware if the meter is shared."""
    return probe.options.get("of", output.host)


# --- what they said ----------------------------------------------------------------------------------------------


class _Read(NamedTuple):
    """A reading at `time`, or over the `seconds` up to it. `watts` is None if the reading failed."""

    time: float
    watts: float | None
    seconds: float = 0.0
    below_zero: float | None = None


def _watts(probe: Probe, output: JobOutput, window: tuple[float, float]) -> list[_Read]:
    """Return the readings inside the window. Raises BadOutput."""
    header, found = parse_readings(output)
    meter = _meter(header, output)
    if isinstance(meter, CountingMeter):
        moved = meter.moved(probe, output, header, found, window)
        return [_Read(step.time, watts, step.inside) for step, watts in moved]
    return [_read(time, meter, reading) for time, reading in readings_in_window(probe, output, found, window)]


def _read(time: float, meter: AnyMeter, reading: Reading) -> _Read:
    watts = _all(meter, reading)
    below_zero = min(watts, default=0.0) < 0
    return _Read(time, None if below_zero or not watts else sum(watts), 0.0, min(watts) if below_zero else None)


def _why(read: Sequence[_Read], output: JobOutput) -> str:
    """Return why readings failed: the last negative power or, if there is none, the end of the meter's output."""
    below_zero = [each.below_zero for each in read if each.below_zero is not None]
    return below_zero_words(below_zero[-1]) if below_zero else read_last_words(output)


def _meter(header: Sequence[str], output: JobOutput) -> AnyMeter:
    """Return the meter that wrote the output. Raises BadOutput if the output names none."""
    kind = next((line.removeprefix("meter ") for line in header if line.startswith("meter ")), "")
    if METER_SPECS.find(kind) is None:
        raise BadOutput(say.meter_unnamed(host=output.host))
    return meter_kind(kind)


def _all(meter: AnyMeter, reading: Reading) -> list[float]:
    """Return the watts of all points in a reading, or an empty list if one point lacks them."""
    watts = [meter.watts(each) for each in _apart(reading)]
    known = [each for each in watts if each is not None]
    return known if len(known) == len(watts) else []


def _apart(reading: Reading) -> Iterator[Reading]:
    lines: list[str] = []
    begun = False
    for line in reading.lines:
        if re.fullmatch(r"@ \d{1,4}", line):
            if begun:
                yield Reading(reading.time, tuple(lines))
            begun, lines = True, []
        else:
            lines.append(line)
    yield Reading(reading.time, tuple(lines))


def _any(reading: Reading) -> Iterator[float]:
    """Yield the watts that each of benchbrief's own meters finds in the reading."""
    found = (meter_kind(name).watts(reading) for name in METER_SPECS.own)
    return (watts for watts in found if watts is not None)


# --- once, before anything is measured -----------------------------------------------------------------------------


def try_meter(node: Node, transport: Transport) -> float | None:
    """Read the node's power once, in the same way as the probe. Returns None if the meter's log does not exist yet,
    since it may only appear during the run.

    If the power can't be read, raises RunnerError with the meter's words and the place of its line in the spec.
    """
    found = points_of(node)
    meter = meter_kind(found[0].meter.kind)
    probe = Probe(name="power", every_s=0.3, hosts=(node.host.id,), origin=found[0].meter.origin)
    job = meter.trial(probe, found, node)
    with tempfile.TemporaryDirectory(prefix="benchbrief-") as folder:
        running = transport.start(job)
        ended = running.wait(_TRY_S)
        if not ended:
            running.stop()
        output = running.collect(Path(folder) / "tried")
        running.discard()
        if isinstance(meter, RecordedMeter) and output.exit_code == _NOT_YET:
            return None
        try:
            read = _once(probe, output)
        except BadOutput:
            read = None
        if read is None or read.watts is None:
            raise describe_failure(meter, node, output, ended, read.below_zero if read else None)
    return read.watts


_NOT_YET = 3
"""The exit code of a sampler that found no log."""


def _once(probe: Probe, output: JobOutput) -> _Read | None:
    header, found = parse_readings(output)
    meter = _meter(header, output)
    if isinstance(meter, CountingMeter):
        moved = meter.moved(probe, output, header, found, (0.0, math.inf))
        return next((_Read(step.time, watts) for step, watts in moved), None)
    return _read(found[-1].time, meter, found[-1])
