"""Taking over from a controller that was killed, or stopped: what it left on the hosts is gone on with, or ended.

An attempt is gone on with when nothing of it is lost: it was in its load, warm-up or measurement, and each job of that
step runs, has ended by itself, or was collected before. When all was collected, its outputs are read again. Any other
attempt is run again from its first step, and whatever is left of it is ended before anything else begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchbrief.compiler.plan import Cell
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import StepJob
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.history import Left, left_of
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.run_state import RunState
from benchbrief.runners.rundir import digests
from benchbrief.runners.seams import Hosts, OutlivesController
from benchbrief.runners.sharing import lanes
from benchbrief.runners.step_jobs import jobs_of

_AT_ONCE = 16
"""Hosts that are asked at the same time."""


def take_over(run: RunState, hosts: Hosts, records: Sequence[j.AnyRecord]) -> dict[str, Left]:
    """The attempts to go on with, by cell. All else that the run's controller left on the hosts has been ended."""
    cells = {cell.id: cell for cell in run.plan.cells}
    left = [each for each in left_of(records).values() if each.cell in cells and each.cell not in run.done]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="take-over") as pool:
        reasons = list(pool.map(lambda each: why_not(each, cells[each.cell], run, hosts), left))
        found = {each.cell: each for each, reason in zip(left, reasons, strict=True) if not reason}
        kept = _kept_jobs(run, hosts, found, _started_engines(run, records))
        list(pool.map(lambda host_id: _end_others(run, hosts, host_id, kept), hosts_of(run)))
    for each, reason in zip(left, reasons, strict=True):
        if reason:
            text = f"attempt {each.attempt} of {each.cell} is run again from its first step: {reason}"
            run.journal.write(j.Remark(at=time.time(), severity="info", text=text))
    return found


def why_not(left: Left, cell: Cell, run: RunState, hosts: Hosts) -> str:
    """Why an attempt can't be gone on with; "" when it can."""
    if left.measurement != j.MEASUREMENT_VERSION:
        return "it was begun by a benchbrief that measures in another way"
    step = left.current
    if step is None or step == "prepare":
        where = f"in its {step} step" if step else "between two steps" if left.step else "before its first step"
        return f"it was interrupted {where}"
    try:
        jobs = jobs_of(run.world, cell, "measure" if step == "collect" else step)
    except RunnerError as error:
        return str(error)
    for its in jobs:
        record = left.output("measure" if step == "collect" else step, its.name, its.host)
        if record is None and step == "collect":
            return f"the output of {_named(its)} was not kept"
        reason = _why_lost(left, its, step, hosts) if record is None else _why_not_whole(record, its, run.run_dir)
        if reason:
            return reason
    return ""


def _why_not_whole(record: j.JobCollected, its: StepJob, run_dir: Path) -> str:
    if record.exit_code is None and not its.is_probe:
        return f"{_named(its)} had been stopped"
    if digests(run_dir / record.directory) != record.files:
        return f"the output of {_named(its)} is not what was kept"
    return ""


def _why_lost(left: Left, its: StepJob, step: str, hosts: Hosts) -> str:
    try:
        state = hosts[its.at].find(its.key(left.cell, left.attempt, step))
    except RunnerError as error:
        return f"what became of {_named(its)} is not known: {error}"
    return {"running": "", "ended": "", "killed": f"{_named(its)} had been killed"}.get(
        state or "", f"nothing is left of {_named(its)}"
    )


def _named(its: StepJob) -> str:
    if its.is_probe:
        return f"the {its.name.split(':')[1]} probe on {its.host}"
    return f"the {its.name.replace('_', '-')} job on {its.host}"


def _started_engines(run: RunState, records: Sequence[j.AnyRecord]) -> set[str]:
    """The databases whose engines the last controller had brought up, wholly, or had attached to."""
    databases = {cell.id: cell.database for cell in run.plan.cells}
    found: set[str] = set()
    for record in records:
        match record:
            case j.RunStarted():
                found.clear()
            case j.EngineFacts():
                found.add(record.database)
            case j.CellResumed() if record.cell in databases:
                found.add(databases[record.cell])
    return found


def _kept_jobs(run: RunState, hosts: Hosts, found: Mapping[str, Left], started_engines: set[str]) -> set[str]:
    """The keys of the jobs that are gone on with, and those of the servers that each lane's next cell is run on."""
    keys = set()
    left_to_do = [cell for cell in run.plan.cells if cell.id not in run.done]
    for lane in lanes(left_to_do):
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
        return set()  # its cells fail for that


def hosts_of(run: RunState) -> list[str]:
    """Also those of finished cells: a server may have been left there."""
    return list(dict.fromkeys((CONTROLLER.id, *(host for cell in run.plan.cells for host in cell.locks))))


def _end_others(run: RunState, hosts: Hosts, host_id: str, kept: set[str]) -> None:
    try:
        ended = hosts[host_id].end_leftovers(kept)
    except RunnerError:
        return  # its cells fail for that, if it has any left
    if ended:
        jobs = f"{ended} job{'s' if ended > 1 else ''} of the interrupted run"
        text = f"{jobs} still ran on {host_id}, and had to be stopped first"
        run.journal.write(j.Remark(at=time.time(), severity="info", text=text))
