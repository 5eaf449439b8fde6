"""Clocks: how far each host's is ahead of the controller's, and whether one was set while a cell was measured.

The offset is that of NTP (RFC 5905, section 8) with one time stamp on the host: the host's time, less the middle of the
round trip by the controller's clock; it is off by half the round trip at most. Of several, the shortest trip counts.

Times of samples and of measured windows are brought to the controller's clock by the offsets before and after the
measurement, and on a line between the two: two clocks drift apart steadily. Setting a clock changes the host's epoch
less its time since boot, which slewing by NTP does not; one that was set is taken for what it was before.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.measurement import Measurement
from benchbrief.runners.patience import persistently
from benchbrief.runners.seams import Transport
from benchbrief.runners.tasks import Command

if TYPE_CHECKING:
    from benchbrief.runners.attempt import Attempt

STEP_S = 0.1
"""A clock whose epoch moved by more than this against the time since boot was set: that has hundredths of a second."""

_ROUND_TRIPS = 4
_AT_ONCE = 16
_SCRIPT = "date +%s.%N; read -r up _ </proc/uptime; echo $up"


@dataclass(frozen=True)
class ClockReading:
    """`offset_s` is how far the host's clock is ahead, give or take `uncertainty_s`.

    `booted` is when the host started by its own clock, in epoch seconds; None where it can't be known.
    """

    offset_s: float
    uncertainty_s: float
    booted: float | None


def read_clock(transport: Transport) -> ClockReading | None:
    """None when the host does not tell. Raises HostError when it can't be reached."""
    if transport.host.transport == "local":
        return ClockReading(0.0, 0.0, time.time() - time.clock_gettime(_SINCE_BOOT))
    tried = (persistently(transport, lambda: _round_trip(transport)) for _ in range(_ROUND_TRIPS))
    found = [reading for reading in tried if reading is not None]
    return min(found, key=lambda reading: reading.uncertainty_s, default=None)


_SINCE_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _round_trip(transport: Transport) -> ClockReading | None:
    sent, began = time.time(), time.monotonic()
    done = transport.run(Command(("sh", "-c", _SCRIPT)), timeout_s=15)
    took = time.monotonic() - began
    match = re.fullmatch(r"(\d{1,11}\.\d{1,9})\n(\d{1,12}\.\d{1,3})\n", done.stdout)
    if match is None:
        return None
    there = float(match[1])
    return ClockReading(there - (sent + took / 2), took / 2, there - float(match[2]))


@contextmanager
def clocks(attempt: Attempt) -> Iterator[Mapping[str, Offset]]:
    """Read the clocks of a cell's hosts before the block and after it, and write them to the journal.

    Gives each host's offset, which is known when the block is over. When an attempt is gone on with, the readings
    before are its own; and the controller's clock is not compared, as the controller may have been restarted, unless
    something was run there.
    """
    cell = attempt.cell
    sampled = {host for probe in cell.probes if probe.on == "node" for host in probe.hosts}
    hosts = [CONTROLLER.id, *sorted({*cell.load_hosts, *sampled} - {CONTROLLER.id})]
    if attempt.left is not None and attempt.began("measure") is not None:
        before = dict(attempt.left.clocks)
        if CONTROLLER.id not in {*cell.load_hosts, *sampled} and all(p.on != "controller" for p in cell.probes):
            hosts.remove(CONTROLLER.id)
    else:
        before = _read_all(attempt, hosts, "before")
    offsets: dict[str, Offset] = {}
    yield offsets
    after = _read_all(attempt, hosts, "after")
    offsets.update((host, offset_of(read, after.get(host))) for host, read in before.items())
    for host in hosts:
        step = clock_step(before.get(host), after.get(host))
        if step:
            attempt.journal.write(
                j.Remark(at=time.time(), severity="warning", text=step_text(host, step), cell=cell.id)
            )


@dataclass(frozen=True)
class Offset:
    """How far a host's clock is ahead: `before_s` at the time `began` by the controller's clock, `after_s` at `over`.

    It is known give or take `uncertainty_s`.
    """

    before_s: float = 0.0
    after_s: float = 0.0
    began: float = 0.0
    over: float = 0.0
    uncertainty_s: float = 0.0

    def at(self, ours: float) -> float:
        """At a time by the controller's clock."""
        return self.before_s + self._drift * (min(max(ours, self.began), self.over) - self.began)

    def there(self, ours: float) -> float:
        """What the host's clock shows then."""
        return ours + self.at(ours)

    def ours(self, there: float) -> float:
        """What the controller's clock shows when the host's shows so much."""
        return there - self.at((there - self.before_s + self._drift * self.began) / (1 + self._drift))

    @property
    def _drift(self) -> float:
        """Seconds in a second."""
        took = self.over - self.began
        return (self.after_s - self.before_s) / took if took > 0 else 0.0


def offset_of(before: j.ClockRead | None, after: j.ClockRead | None = None) -> Offset:
    """By two readings; as it was before when there is none after, or the clock was set meanwhile. 0 if not known."""
    if before is None:
        return Offset()
    if after is None or after.at <= before.at or clock_step(before, after):
        return Offset(before.offset_s, before.offset_s, before.at, before.at, before.uncertainty_s)
    unsure = max(before.uncertainty_s, after.uncertainty_s)
    return Offset(before.offset_s, after.offset_s, before.at, after.at, unsure)


def clock_step(before: j.ClockRead | None, after: j.ClockRead | None) -> float:
    """By how many seconds a clock was set between two readings; 0 when it was not, or nothing is known of it."""
    if before is None or after is None or before.booted is None or after.booted is None:
        return 0.0
    step = after.booted - before.booted
    return step if abs(step) > STEP_S else 0.0


def step_text(host: str, step: float) -> str:
    who = "the controller" if host == CONTROLLER.id else host
    return (
        f"the clock of {who} was set {'forward' if step > 0 else 'back'} by {abs(step):,.1f} s during the measurement: "
        "its samples are placed by the time since boot"
    )


def aligned(measurement: Measurement, offset: Offset) -> Measurement:
    """With its window by the controller's clock, from a host whose clock is ahead by so much."""
    start, end = measurement.window
    return replace(measurement, window=(offset.ours(start), offset.ours(end)))


def _read_all(attempt: Attempt, hosts: Iterable[str], when: Literal["before", "after"]) -> dict[str, j.ClockRead]:
    """Of the hosts that tell: one that can't be reached fails the cell by what is to be run there."""
    hosts = tuple(hosts)
    found: dict[str, j.ClockRead] = {}

    def read(host: str) -> None:
        with contextlib.suppress(RunnerError):
            reading = attempt.world.clock(attempt.hosts[host])
            if reading is not None:
                found[host] = j.ClockRead(
                    at=time.time(),
                    cell=attempt.cell.id,
                    attempt=attempt.number,
                    host=host,
                    when=when,
                    offset_s=reading.offset_s,
                    uncertainty_s=reading.uncertainty_s,
                    booted=reading.booted,
                )

    others = [host for host in hosts if host != CONTROLLER.id]
    read(CONTROLLER.id)
    if len(others) == 1:  # threads would cost more than they save
        read(others[0])
    elif others:
        with ThreadPoolExecutor(min(_AT_ONCE, len(others)), thread_name_prefix="clock") as pool:
            list(pool.map(read, others))
    for host in hosts:
        if host in found:
            attempt.journal.write(found[host])
    return found
