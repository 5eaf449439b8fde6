"""Takes over from a controller that was killed or stopped. Whatever it left on the hosts is resumed or ended.

An attempt is resumed if nothing of it is lost. It must have been in its load, warm-up or measurement, and each job of
that step must be running, have ended by itself, or have been collected. If everything was collected, the outputs are
read again. Any other attempt runs again from its first step, and its remains are ended before anything else begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Cell
from benchbrief.model.run_messages import say, say_step
from benchbrief.model.run_record import Left
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.attempt import StepJob
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.execution.step_jobs import jobs_of
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.measurement_versions import recorded_at, way_now, way_of
from benchbrief.runners.journal.run_folder import digests
from benchbrief.runners.scheduling.parallel_lanes import lanes_left
from benchbrief.runners.seams import Hosts, OutlivesController

_AT_ONCE = 16
"""How many hosts are queried at the same time."""


def take_over(run: RunState, hosts: Hosts) -> dict[str, Left]:
    """Return the attempts to resume, by cell. Ends everything else that the run's controller left on the hosts."""
    cells = {cell.id: cell for cell in run.plan.cells}
    left = [each for each in run.earlier.attempts if each.cell in cells and each.cell not in run.done]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="take-over") as pool:
        reasons = list(pool.map(lambda each: why_not_resumable(each, cells[each.cell], run, hosts), left))
        found = {each.cell: each for each, reason in zip(left, reasons, strict=True) if not reason}
        kept = _kept_jobs(run, hosts, found, _started_engines(run))
        list(pool.map(lambda host_id: _end_others(run, hosts, host_id, kept), hosts_of(run)))
    for each, reason in zip(left, reasons, strict=True):
        if reason:
            run.remark("info", say.run_again(n=each.attempt, cell=each.cell, said=reason))
    return found


def why_not_resumable(left: Left, cell: Cell, run: RunState, hosts: Hosts) -> str:
    """Return why an attempt can't be resumed, or "" if it can."""
    if way_of(run.plan, cell, recorded_at(left.start, cell)) != way_now(run.plan, cell):
        return say.measures_otherwise()
    step = left.current
    if step is None or step == "prepare":
        if step:
            return say.interrupted_in(step=say_step(step))
        return say.interrupted_between() if left.step else say.interrupted_before()
    if cell.events and step == "measure":
        return say.event_interrupted()  # nobody ran it at its time
    try:
        jobs = jobs_of(run.world, cell, "measure" if step == "collect" else step)
    except RunnerError as error:
        return str(error)
    for its in jobs:
        record = left.output("measure" if step == "collect" else step, its.name, its.host)
        if record is None and step == "collect":
            return say.output_not_kept(job=_named(its))
        reason = _why_lost(left, its, step, hosts) if record is None else _why_not_whole(record, its, run.run_dir)
        if reason:
            return reason
    return ""


def _why_not_whole(record: j.JobCollected, its: StepJob, run_dir: Path) -> str:
    if record.exit_code is None and not its.is_probe:
        return say.job_was_stopped(job=_named(its))
    if digests(run_dir / record.directory) != record.files:
        return say.output_changed(job=_named(its))
    return ""


def _why_lost(left: Left, its: StepJob, step: str, hosts: Hosts) -> str:
    try:
        state = hosts[its.at].find(its.key(left.cell, left.attempt, step))
    except RunnerError as error:
        return say.job_unknown(job=_named(its), said=error)
    return {"running": "", "ended": "", "killed": say.job_was_killed(job=_named(its))}.get(
        state or "", say.job_lost(job=_named(its))
    )


def _named(its: StepJob) -> str:
    if its.is_probe:
        return say.probe_on(probe=its.name.split(":")[1], host=its.host)
    return say.job_on(step=say_step(its.name), host=its.host)


def _started_engines(run: RunState) -> set[str]:
    """Return the databases whose engines the last controller had completely started, or attached to."""
    return {*run.earlier.engines, *(cell.database for cell in run.plan.cells if cell.id in run.earlier.resumed)}


def _kept_jobs(run: RunState, hosts: Hosts, found: Mapping[str, Left], started_engines: set[str]) -> set[str]:
    """Return the keys of the jobs that will be resumed, and of the servers that the lanes' next cells use."""
    keys = set()
    for lane in lanes_left(run.plan.cells, run.done):
        going_on = next((cell for cell in lane if cell.id in found), None)
        if going_on is not None:
            left = found[going_on.id]
            step = left.current
            if step is not None:
                keys |= {
                    its.key(left.cell, left.attempt, step)
                    for its in jobs_of(run.world, going_on, step)
                    if left.output(step, its.name, its.host) is None
                }
        following = going_on or lane[0]
        if going_on is not None or following.database in started_engines:
            keys |= _servers(run, hosts, following)
    return keys


def _servers(run: RunState, hosts: Hosts, cell: Cell) -> set[str]:
    plan = run.plan
    try:
        engine = run.world.engine(plan, plan.databases[cell.database], plan.hardware[cell.hardware], hosts)
        return set(engine.job_keys()) if isinstance(engine, OutlivesController) else set()
    except RunnerError:
        return set()  # its cells fail for this reason


def hosts_of(run: RunState) -> list[str]:
    """Return the run's hosts. They include hosts of finished cells, where a server may have been left."""
    return list(dict.fromkeys((CONTROLLER.id, *(host for cell in run.plan.cells for host in cell.locks))))


def _end_others(run: RunState, hosts: Hosts, host_id: str, kept: set[str]) -> None:
    try:
        ended = hosts[host_id].end_leftovers(kept)
    except RunnerError:
        return  # its remaining cells, if any, fail for this reason
    if ended:
        run.remark("info", say.others_ended(n=ended, host=host_id))


def note_resumed(run: RunState, cell: Cell, left: Left) -> None:
    """Report how long the step ran without a controller, and since when server counters had not been read."""
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
    """End the remaining jobs of the attempt's step on those hosts that can be reached."""
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
