"""How an event of a cell ran, and whether it counts: the right command, at its time, with code 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from benchbrief.compiler.messages.text import figure
from benchbrief.compiler.planning.plan import Event
from benchbrief.runners.errors import EventFailed
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal import events as j
from benchbrief.runners.measurement.measurement import Measurement
from benchbrief.runners.messages.run_messages import say

_SAMPLE_S = 1.0
TIMES = "event.times"
"""The file in which a job leaves when its command began and ended, in seconds since boot."""


@dataclass(frozen=True)
class Ran:
    """How a command ran: when it began by its host's clock (None: unknown), how long, its code (None: not in time)."""

    began_at: float | None
    seconds: float
    exit_code: int | None
    said: str


def read_event(output: JobOutput, said: str, in_time: bool, booted: float, timeout_s: float) -> Ran:
    """Return how an event ran, by the times that its job left. `booted` is when its host booted, in Unix seconds."""
    text = ""
    with suppress(OSError):
        text = (output.directory / TIMES).read_text(encoding="utf-8", errors="replace")
    match = re.fullmatch(r"(\d{1,12}\.\d{1,3}) (\d{1,12}\.\d{1,3})\n", text)
    if match is None:
        return Ran(None, 0.0, None if not in_time else output.exit_code, said)
    began, ended = float(match[1]), float(match[2])
    late = not in_time or ended - began > timeout_s
    return Ran(booted + began, ended - began, None if late else output.exit_code, said)


def require_events(events: Sequence[Event], ran: Iterable[j.EventRan], measured: Measurement) -> None:
    """Raises EventFailed for an event that did not run, failed, took too long, or ran at another time than declared."""
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
            # The beginning is known up to a sample, by which an event may also be early.
            if late_s > _SAMPLE_S or late_s < -2 * _SAMPLE_S:
                off = say.event_late if late_s > 0 else say.event_early
                seconds = figure(abs(late_s), ".1f")
                raise EventFailed(off(label=event.label, host=host, seconds=seconds), say.hint_event_late())
