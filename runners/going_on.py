"""Going on with an attempt that an earlier controller left: what is told of it, and what is ended where it can't be."""

from __future__ import annotations

import time
from contextlib import suppress

from benchbrief.compiler.plan import Cell
from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.history import Left
from benchbrief.runners.run_state import RunState
from benchbrief.runners.seams import Hosts
from benchbrief.runners.step_jobs import jobs_of
from benchbrief.runners.tasks import Command, Job


def tell_resumed(run: RunState, cell: Cell, left: Left) -> None:
    """Since when the step went on without a controller, and from when on the server's counters were not read."""
    now, step = time.time(), left.current
    if step is None or left.step is None:
        return
    resumed = j.CellResumed(
        at=now,
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
    text = f"the controller was away in the {step.replace('_', '-')} step, from {_clock(left.until)} to {_clock(now)}"
    gap = f"; server counters were not read from {_clock(left.readings[-1].at)} until then" if left.readings else ""
    run.journal.write(j.Remark(at=time.time(), severity="info", text=text + gap, cell=cell.id))


def end_jobs(run: RunState, hosts: Hosts, cell: Cell, left: Left) -> None:
    """End what is left of the attempt's step, on the hosts that can be reached."""
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
