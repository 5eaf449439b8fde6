"""Resuming an attempt that an earlier controller left: the remarks on it, and the end of its jobs when it can't
resume."""

from __future__ import annotations

import time
from contextlib import suppress

from benchbrief.compiler.planning.plan import Cell
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.execution.step_jobs import jobs_of
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.cell_history import Left
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.messages.run_messages import say, say_step
from benchbrief.runners.seams import Hosts


def tell_resumed(run: RunState, cell: Cell, left: Left) -> None:
    """Report since when the step ran without a controller, and from when on server counters were not read."""
    at, step = now(), left.current
    if step is None or left.step is None:
        return
    resumed = j.CellResumed(
        at=at,
        cell=cell.id,
        hash=cell.hash,
        attempt=left.attempt,
        step=step,
        began_at=left.step.at,
        away_since=left.until,
    )
    run.journal.write(resumed)
    if step == "collect":
        return  # nothing ran meanwhile
    away = {"step": say_step(step), "start": _clock(left.until), "end": _clock(at)}
    text = say.controller_away(**away)
    if left.readings:
        text = say.controller_away_counters(**away, counters=_clock(left.readings[-1].at))
    run.journal.write(j.Remark(at=at, severity="info", text=text, cell=cell.id))


def end_jobs(run: RunState, hosts: Hosts, cell: Cell, left: Left) -> None:
    """End the remaining jobs of the attempt's step, on the hosts that can be reached."""
    step = left.current
    if step is None:
        return
    for its in jobs_of(run.world, cell, step):
        key = its.key(left.cell, left.attempt, step)
        with suppress(RunnerError):
            at = hosts[its.at]
            if at.find(key) is not None:
                running = at.start(Job("leftover", Command(("true",)), timeout_s=1.0, key=key))
                running.stop()
                running.discard()


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
