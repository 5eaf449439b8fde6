"""The events of a cell: commands that run on hosts at declared times of the measurement.

Each event is a job of its own, which is started well before its time. On its host, the job waits for a time since boot
and then runs the command. Setting the clock does not change the time since boot. Therefore, neither a slow connection
to the host nor setting its clock delays the command.

The measured time begins with the load generator's first operation. The controller estimates this moment from the load
generator's output while the load generator runs. It subtracts the seconds that a line covers from the line's arrival
time, which gives an upper bound. The lowest bound over a few lines counts. The output is read at regular times, so the
estimate is late by at most the time between two reads. A tool whose warm-up has no fixed length reports the moment
itself (`TellsBeginning`). After the measurement, the beginning is computed again from the whole output. The cell fails
if this shows that an event ran more than one sample late (`require_events`).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import Self

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.measurement import Measurement
from benchbrief.model.message import figure
from benchbrief.model.plan import Event
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.drivers.output_evidence import timeout_s
from benchbrief.runners.errors import EventFailed, RunnerError
from benchbrief.runners.execution.attempt import Attempt, StepJob
from benchbrief.runners.hosts.host_clocks import Offset
from benchbrief.runners.hosts.host_connections import is_on_controller
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.seams import Driver, RunningJob, TellsBeginning, TellsInterim

_SAMPLE_S = 1.0
TIMES = "event.times"
"""The file where a job records when its command began and ended, in seconds since boot."""


@dataclass(frozen=True)
class CommandRan:
    """How a command ran: when it began by its host's clock (None if unknown), how long it took, and its exit code (None
    if it did not end in time)."""

    began_at: float | None
    seconds: float
    exit_code: int | None
    said: str


def read_event(output: JobOutput, said: str, in_time: bool, booted: float, timeout_s: float) -> CommandRan:
    """Return how an event ran, from the times that its job wrote. `booted` is when the job's host booted, in epoch
    seconds."""
    text = ""
    with suppress(OSError):
        text = (output.directory / TIMES).read_text(encoding="utf-8", errors="replace")
    match = re.fullmatch(r"(\d{1,12}\.\d{1,3}) (\d{1,12}\.\d{1,3})\n", text)
    if match is None:
        return CommandRan(None, 0.0, None if not in_time else output.exit_code, said)
    began, ended = float(match[1]), float(match[2])
    late = not in_time or ended - began > timeout_s
    return CommandRan(booted + began, ended - began, None if late else output.exit_code, said)


def require_events(events: Sequence[Event], ran: Iterable[j.EventRan], measured: Measurement) -> None:
    """Raise EventFailed if an event did not run, failed, took too long, or did not run at its declared time."""
    latest = {(each.number, each.host): each for each in ran}
    for number, event in enumerate(events, 1):
        for host in event.hosts:
            about = {"label": event.label, "host": host, "command": event.line}
            hint = say.hint_event(origin=event.origin)
            found = latest.get((number, host))
            if found is None:
                raise EventFailed(say.event_not_run(label=event.label, host=host), hint)
            said = found.said or say.said_nothing()
            if found.exit_code is None:
                seconds = figure(event.timeout_s, "g")
                raise EventFailed(say.event_timed_out(**about, seconds=seconds, said=said), hint)
            if found.exit_code != 0:
                raise EventFailed(say.event_ended(**about, code=found.exit_code, said=said), hint)
            if found.began_at is None:
                continue  # simulated
            late_s = found.began_at - measured.window[0] - event.at_s
            # The beginning is known to within a sample, so an event may also be early by as much.
            if late_s > _SAMPLE_S or late_s < -2 * _SAMPLE_S:
                off = say.event_late if late_s > 0 else say.event_early
                seconds = figure(abs(late_s), ".1f")
                raise EventFailed(off(label=event.label, host=host, seconds=seconds), say.hint_event_late())


_LOOK_S = 0.1
"""How often, in seconds, the load generator's output is read to find out when the measurement began."""
_LOOKS = 3
"""How many different lines are enough to find out when the load generator began."""
_BEGINS_S = 60.0
"""How many seconds a load generator may take until its first line of output."""
_AHEAD_S = 2.0
"""An event's job is started at least this many seconds before the event's time."""
_SLICE_S = 0.5
_GRACE_S = 10.0
"""How many seconds beyond the allowed time the controller waits for an event's job to end."""
_TAIL = 16_000
_LAST_WORDS = 300

_SCRIPT = read_script(__file__, "run_event.sh")


@dataclass(frozen=True)
class _Due:
    """An event that is due on one host. `number` counts the events of the cell from 1."""

    number: int
    event: Event
    host: str

    @property
    def job(self) -> StepJob:
        return StepJob(f"event:{self.number}:{self.host}", self.host, self.host)


@dataclass
class CellEvents:
    """Runs the events of a cell during its measurement. Call `begin` once the cell's load generators are started."""

    attempt: Attempt
    driver: Driver
    contexts: Mapping[str, CellContext]
    _ended: threading.Event = field(default_factory=threading.Event)
    _pool: ThreadPoolExecutor | None = None
    _running: list[tuple[_Due, Future[CommandRan]]] = field(default_factory=list)
    _ran: list[tuple[_Due, CommandRan]] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def begin(self, jobs: Mapping[str, RunningJob]) -> None:
        """Start the cell's events. `jobs` are the running jobs of its load generators, by host. Does nothing in a
        simulated run."""
        due = [_Due(number, event, host) for number, event in enumerate(self._events, 1) for host in event.hosts]
        if not due or self.attempt.world.simulated or not jobs:
            return
        self._pool = ThreadPoolExecutor(len(due) + 1, thread_name_prefix="event")
        host, job = next(iter(jobs.items()))
        start = self._pool.submit(self._measured_from, self.contexts[host], job, now())
        self._running = [(each, self._pool.submit(self._run, each, start)) for each in due]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the events that have started, or stop them if the measurement failed."""
        if self._pool is None:
            return
        if kind is not None:
            self._ended.set()
        try:
            for due, future in self._running:
                if kind is None:
                    self._ran.append((due, future.result()))
                else:
                    with suppress(RunnerError):
                        future.result()
        finally:
            self._ended.set()
            self._pool.shutdown()

    def record_runs(self, offsets: Mapping[str, Offset]) -> Iterator[j.EventRan]:
        """Write to the journal how each event ran, with times by the controller's clock, and yield these records."""
        ran = self._ran
        if self.attempt.world.simulated:
            done = CommandRan(None, 0.0, 0, "")
            ran = [(_Due(n, event, host), done) for n, event in enumerate(self._events, 1) for host in event.hosts]
        for due, each in ran:
            offset = offsets.get(due.host, Offset())
            record = j.EventRan(
                at=now(),
                cell=self.attempt.cell.id,
                attempt=self.attempt.number,
                number=due.number,
                label=due.event.label,
                host=due.host,
                began_at=None if each.began_at is None else offset.ours(each.began_at),
                seconds=each.seconds,
                exit_code=each.exit_code,
                said=each.said,
            )
            self.attempt.journal.write(record)
            yield record

    @property
    def _events(self) -> Sequence[Event]:
        return self.attempt.cell.events

    def _measured_from(self, context: CellContext, job: RunningJob, started: float) -> float:
        """Return when the measured time began by the controller's clock, as estimated from the load generator's output.

        If no output comes in time, or if the tool does not print its progress, the measured time counts from the tool's
        start.
        """
        if isinstance(self.driver, TellsBeginning):
            return self._told(self.driver, context, job)
        inside = self.attempt.cell.warm_up_s if self.driver.warm_up(context) is None else 0.0
        first_at_s = self.attempt.cell.events[0].at_s
        seen: dict[float, float] = {}
        while isinstance(self.driver, TellsInterim) and len(seen) < _LOOKS:
            latest = min(seen.values()) + inside + first_at_s - _AHEAD_S if seen else started + _BEGINS_S
            if now() > latest or self._ended.wait(_LOOK_S):
                break
            with suppress(RunnerError):  # a host out of touch: the next look may work
                found = self.driver.interim(context, job.tail(_TAIL))
                if found is not None and found.elapsed_s is None:
                    break
                if found is not None and found.elapsed_s is not None:
                    seen.setdefault(found.elapsed_s, now() - found.elapsed_s)
        return min(seen.values(), default=started) + inside

    def _told(self, driver: TellsBeginning, context: CellContext, job: RunningJob) -> float:
        """Wait until the tool reports that the measurement has begun, and return when that was. Raises EventFailed if
        the tool never reports it."""
        event, host = self._events[0], context.load_host or context.cell.load_hosts[0]
        over, latest = False, now() + timeout_s(context.cell, "measure")
        while not over and now() < latest and not self._ended.wait(_LOOK_S):
            with suppress(RunnerError):  # a host out of touch: the next look may work
                over = job.wait(0.0)
                began = driver.measured_from(context, job.tail(_TAIL))
                read = self.attempt.world.clock(self.attempt.hosts[host]) if began is not None else None
                if began is not None and read is not None and read.booted is not None:
                    return began + read.booted - read.offset_s
        raise EventFailed(say.event_not_run(label=event.label, host=host), say.hint_event(origin=event.origin))

    def _run(self, due: _Due, start: Future[float]) -> CommandRan:
        attempt, event = self.attempt, due.event
        at = start.result() + event.at_s
        if self._ended.wait(max(0.0, at - now() - 2 * _AHEAD_S)):
            return CommandRan(None, 0.0, None, "")
        transport = attempt.hosts[due.host]
        read = attempt.world.clock(transport)
        if read is None or read.booted is None:
            raise EventFailed(say.event_no_clock(label=event.label, host=due.host), say.hint_event(origin=event.origin))
        until = at + read.offset_s - read.booted
        here = str(Path.cwd()) if is_on_controller(transport.host) else ""
        words = ("sh", "-c", _SCRIPT, "event", f"{until:.2f}", event.line, here)
        job = Job(
            "event",
            Command(words, env={"BENCH_HOST": due.host}),
            timeout_s=max(0.0, at - now()) + event.timeout_s,
            collect=(TIMES,),
            key=attempt.key("measure", due.job),
        )
        running = transport.start(attempt.attended(job))
        try:
            in_time = self._wait(running, job.timeout_s + _GRACE_S)
            said = running.tail(_LAST_WORDS).strip()
            if not in_time:
                running.stop()
        except BaseException:
            with suppress(RunnerError):
                running.stop()
            raise
        output = attempt.collect(running, "measure", f"event-{due.number}-{due.host}", due.job.name, due.host)
        return read_event(output, said, in_time and not self._ended.is_set(), read.booted, event.timeout_s)

    def _wait(self, running: RunningJob, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not running.wait(_SLICE_S):
            if self._ended.is_set() or time.monotonic() > deadline:
                return False
        return True
