"""Reads clocks: how far each host's clock is ahead of the controller's, and whether a clock was set during a cell's
measurement.

The offset is computed as in NTP (RFC 5905, section 8), but from one time stamp on the host: the host's time minus the
middle of the round trip by the controller's time. Its error is at most half the round trip, so the shortest of several
round trips counts.

Times of samples and of measured windows are converted to the controller's time. The conversion interpolates between the
offsets before and after the measurement, as two clocks drift apart steadily. Setting a clock changes the difference
between the host's epoch time and its time since boot. NTP's slewing does not change it. If a clock was set, its offset
from before remains in use, and the times of a job that began after that moment are moved back.

The controller's own time follows the time since boot (`journal/controller_clock.py`), so the controller's clock has an
offset like any other clock. In journals of earlier versions, offsets refer to the controller's clock as it was set.
These journals are converted, too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.measurement import Measurement
from benchbrief.model.message import Message, figure
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.output_evidence import bad_output, best_line, require_exit
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.hosts.host_connections import CONTROLLER, is_on_controller
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.tasks import Command, JobOutput
from benchbrief.runners.journal.controller_clock import clock_ahead, now, since_boot
from benchbrief.runners.seams import Driver, Transport

STEP_S = 0.1
"""A clock counts as set if it changed by more than this many seconds relative to the time since boot (which is known to
hundredths of a second)."""

_ROUND_TRIPS = 4
_SCRIPT = "date +%s.%N; read -r up _ </proc/uptime; echo $up"


@dataclass(frozen=True)
class ClockReading:
    """One reading of a host's clock. `offset_s` is how far the clock is ahead, to within `uncertainty_s`.

    `booted` is when the host started, in epoch seconds by its own clock, or None if unknown.
    """

    offset_s: float
    uncertainty_s: float
    booted: float | None


def read_clock(transport: Transport) -> ClockReading | None:
    """Read a host's clock. Returns None if the host's answer is incomplete. Raises HostError if the host can't be
    reached."""
    if is_on_controller(transport.host):
        return ClockReading(clock_ahead(), 0.0, time.time() - _up())
    tried = (call_persistently(transport, lambda: _round_trip(transport)) for _ in range(_ROUND_TRIPS))
    found = [reading for reading in tried if reading is not None]
    return min(found, key=lambda reading: reading.uncertainty_s, default=None)


def _up() -> float:
    """Return the time since boot as this machine's jobs see it, since a container may have its own."""
    try:
        return float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return since_boot()


def _round_trip(transport: Transport) -> ClockReading | None:
    sent, began = now(), time.monotonic()
    done = transport.run(Command(("sh",)), stdin=_SCRIPT, timeout_s=15)
    took = time.monotonic() - began
    match = re.fullmatch(r"(\d{1,11}\.\d{1,9})\n(\d{1,12}\.\d{1,3})\n", done.stdout)
    if match is None:
        return None
    there = float(match[1])
    return ClockReading(there - (sent + took / 2), took / 2, there - float(match[2]))


@dataclass(frozen=True)
class Offset:
    """How far a host's clock is ahead: `before_s` at the time `began`, and `after_s` at the time `over`. Both times are
    the controller's.

    The error is at most `uncertainty_s`. `set_s` is how far the clock was set between the two times. `booted` is when
    the host started, by its clock before the measurement.
    """

    before_s: float = 0.0
    after_s: float = 0.0
    began: float = 0.0
    over: float = 0.0
    uncertainty_s: float = 0.0
    set_s: float = 0.0
    booted: float | None = None

    def of_job(self, booted: float | None) -> Offset:
        """Return the offset for the times of a job. `booted` is when the job's host started, by its clock at the job's
        start. It shows whether the clock was set before the job started."""
        step = booted - self.booted if booted is not None and self.booted is not None else 0.0
        if abs(step) <= STEP_S:
            return self
        return replace(self, before_s=self.before_s + step, after_s=self.after_s + step)

    def at(self, ours: float) -> float:
        """Return how many seconds the host's clock is ahead at `ours`, a moment in the controller's time."""
        return self.before_s + self._drift * (min(max(ours, self.began), self.over) - self.began)

    def there(self, ours: float) -> float:
        """Convert a moment in the controller's time to the host's clock."""
        return ours + self.at(ours)

    def ours(self, there: float) -> float:
        """Convert a time by the host's clock to the controller's time."""
        return there - self.at((there - self.before_s + self._drift * self.began) / (1 + self._drift))

    @property
    def _drift(self) -> float:
        """Return how much the offset grows per second, in seconds."""
        took = self.over - self.began
        return (self.after_s - self.before_s) / took if took > 0 else 0.0


def offset_of(before: j.ClockRead | None, after: j.ClockRead | None = None, ours: float = 0.0) -> Offset:
    """Return the offset from two readings. If there is no `after`, or if the clock was set in between, only `before` is
    used.

    An unknown offset is 0. `ours` is how far the controller's time moved between the two readings: see `axis_step`.
    """
    if before is None:
        return Offset()
    over = after.at - ours if after is not None else before.at
    step = clock_step(before, after)
    if after is None or over <= before.at or step:
        as_before = before.offset_s, before.offset_s, before.at, before.at
        return Offset(*as_before, before.uncertainty_s, step, before.booted)
    unsure = max(before.uncertainty_s, after.uncertainty_s)
    return Offset(before.offset_s, after.offset_s + ours, before.at, over, unsure, 0.0, before.booted)


def axis_step(before: j.ClockRead | None, after: j.ClockRead | None) -> float:
    """Return by how many seconds the controller's time, to which offsets refer, was set between two readings of its
    clock.

    In journals of this version, that time can't be set: if the clock is set, its offset changes by the same amount, and
    the result is 0. In journals of earlier versions, offsets refer to the controller's clock itself, whose own offset
    is always 0.
    """
    step = clock_step(before, after)
    moved = step - (after.offset_s - before.offset_s) if before and after and step else 0.0
    return moved if abs(moved) > STEP_S else 0.0


def clock_step(before: j.ClockRead | None, after: j.ClockRead | None) -> float:
    """Return by how many seconds a clock was set between two readings, or 0 if it was not set or if this is unknown."""
    if before is None or after is None or before.booted is None or after.booted is None:
        return 0.0
    step = after.booted - before.booted
    return step if abs(step) > STEP_S else 0.0


def offsets_of(before: Mapping[str, j.ClockRead], after: Mapping[str, j.ClockRead]) -> dict[str, Offset]:
    """Return the offset of each host whose clock was read before a measurement."""
    ours = axis_step(before.get(CONTROLLER.id), after.get(CONTROLLER.id))
    return {host: offset_of(read, after.get(host), ours) for host, read in before.items()}


_TOLERANCE_S = 0.25
"""How many seconds longer than its job a tool may claim to have run, since tools round to seconds, and the job's ends
are not exact."""
_TOLERANCE = 0.005
"""How far two clocks of one host may diverge while one is slewed, as a share of the time. NTP slews at most a tenth as
fast."""

_SHORT_S = 0.5
"""By how many seconds a warm-up may be too short, since a tool looks at the clock only after a number of operations."""


class ClockSet(BadOutput):
    """A clock was set while a tool used it for measuring."""


def read_output(driver: Driver, context: CellContext, output: JobOutput, offset: Offset) -> Measurement:
    """Read the output of a cell's load generator, and convert its window to the controller's time.

    Journals of earlier versions do not record by how much the clock was set during the job. In that case, `offset` has
    that number. Raises the same errors as `parse_trusted`.
    """
    set_s = offset.set_s if output.clock_set_s is None else output.clock_set_s
    measured = parse_trusted(driver.name, lambda: driver.parse(context, output), output, set_s)
    its, (start, end) = offset.of_job(output.booted), measured.window
    return replace(measured, window=(its.ours(start), its.ours(end)))


def parse_trusted(tool: str, parse: Callable[[], Measurement], output: JobOutput, set_s: float) -> Measurement:
    """Return the result of `parse` for a job's output, if the tool's clock can be trusted.

    `set_s` is by how much the host's clock was set while the job ran. Raises ClockSet if the clock was set, or if the
    tool claims to have run longer than its job. The job is timed by the time since boot. Raises BadOutput if `parse`
    does.
    """
    seconds = output.ended_at - output.started_at
    took = say.job_took(seconds=figure(seconds, ",.2f"))
    try:
        measured = parse()
    except BadOutput as error:
        if set_s:
            raise ClockSet(
                say.because(why=say.as_well(first=was_set(output.host, set_s), then=took), what=error), say.hint_slew()
            ) from error
        raise
    own = measured.total.seconds if measured.tool_s is None else measured.tool_s
    if not set_s and own <= seconds * (1 + _TOLERANCE) + _TOLERANCE_S:
        return measured
    why = was_set(output.host, set_s) if set_s else say.clock_wrong(clock=clock_of(output.host))
    raise ClockSet(say.tool_says(why=why, tool=tool, seconds=figure(own, ",.2f"), then=took), say.hint_slew())


def require_seconds(tool: str, output: JobOutput, warm_up_s: float) -> None:
    """Raise BadOutput if the warm-up's tool failed, or if its job was shorter than `warm_up_s`. The job is timed by the
    time since boot.

    Raises ClockSet instead if the clock was set during a job that was too short.
    """
    took = output.ended_at - output.started_at
    if took >= warm_up_s - _SHORT_S:
        require_exit(output, tool)
        return
    short = say.warm_up_short(host=output.host, seconds=figure(took, ",.2f"), wanted=figure(warm_up_s, "g"))
    if output.clock_set_s:
        raise ClockSet(
            say.as_well(first=was_set(output.host, output.clock_set_s, say.step_warm_up()), then=short), say.hint_slew()
        )
    require_exit(output, tool)
    raise bad_output(output, say.because(why=short, what=best_line(output)))


def was_set(host: str, by_s: float, during: str = "") -> Message:
    """Return the message that a host's clock was set. `during` says when, by default during the measurement."""
    moved = say.clock_forward if by_s > 0 else say.clock_back
    return moved(clock=clock_of(host), seconds=figure(abs(by_s), ",.1f"), during=during or say.measurement())


def clock_of(host: str) -> Message:
    return say.clock_of_controller() if host == CONTROLLER.id else say.clock_of_host(host=host)
