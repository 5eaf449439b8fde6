"""Runs a plan's cells in parallel lanes, except cells that are already good according to the journal."""

from __future__ import annotations

import math
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import most_of, planned_cells
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import RunRecord
from benchbrief.model.version import benchbrief_version
from benchbrief.runners.errors import FolderMoved, HostBusy, NotKept, RunnerError
from benchbrief.runners.execution.held_hosts import (
    HostWait,
    check_hosts,
    hold_hosts,
    leave_former_nodes,
    leave_hosts,
    release_all,
    wait_for_other_controllers,
)
from benchbrief.runners.execution.kept_claim import KeptClaim
from benchbrief.runners.execution.lane import Lane
from benchbrief.runners.execution.live_numbers import Monitor, read_live
from benchbrief.runners.execution.run_state import Outcome, RunState
from benchbrief.runners.execution.takeover import take_over
from benchbrief.runners.journal.controller_clock import now, since_boot, this_boot
from benchbrief.runners.journal.journal_file import Journal, Listener, read_run
from benchbrief.runners.journal.measurement_versions import SHARED, tool_version
from benchbrief.runners.journal.run_folder import files_of_beginning
from benchbrief.runners.journal.run_identity import run_name
from benchbrief.runners.journal.secret_masking import hide
from benchbrief.runners.scheduling.budgeted_repeats import ReadTables, nothing_read
from benchbrief.runners.scheduling.parallel_lanes import lanes_left
from benchbrief.runners.session import Session
from benchbrief.runners.world.unsupported import meters_of
from benchbrief.runners.world.world_choice import world_of
from benchbrief.runners.world.world_seams import Meter, OpenHosts

_LOOK_EVERY_S = 0.5
"""How often signals are checked for while lanes run, in seconds."""

_STACK_BYTES = 1 << 20


def execute(
    plan: Plan,
    plan_sha256: str,
    run_dir: Path,
    *,
    listener: Listener = lambda _: None,
    stopping: threading.Event | None = None,
    monitor: Monitor | None = None,
    wait: Callable[[str], None] | None = None,
    wait_s: float = math.inf,
    before: RunRecord | None = None,
    expected: j.TimeEstimated | None = None,
    read_tables: ReadTables = nothing_read,
    given: j.HostsGiven | None = None,
    session: Session | None = None,
    kept: KeptClaim | None = None,
    is_outdated: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run every cell of the plan that is not yet good according to the journal. `monitor` watches the running jobs.

    Reads the journal; waits for the hosts, claims and checks them; records the start; runs the lanes; leaves the hosts;
    and records how the run ended.

    Set `stopping` to end early: running jobs are then stopped, and the run can be resumed. If a host is held by another
    run, the call passes the reason to `wait` and waits up to `wait_s` seconds for the host; without `wait`, it does not
    wait. `before` is the journal's record, if the caller has already read it; it is extended as the run proceeds.
    `expected` is recorded when the run begins. `read_tables` returns the state of the run's tables, for budgets.
    `given` are the nodes that a scheduler's job has; the plan already contains their names. `session` has the
    heartbeats of the run's hosts, and the reason for which the run waits. `kept` keeps the claim on this machine after
    a run that was not stopped. `is_outdated` is called after a wait. It returns whether a run that began now would
    reuse other results than this run does.

    Raises HostBusy if a host stays busy or there is no `wait`, Outdated if `is_outdated` returns True after a wait,
    OneMachine if two names lead to one host, NoTool if hosts lack tools, FolderMoved if the run's folder is moved
    during the run, RunnerError if another process drives the run or if it can't run as planned, and DiskFull if the
    journal can't be begun.
    """
    record = before or read_run(run_dir)
    world = world_of(run_dir, record.starts, session)
    world.refuse(plan)
    # A simulated run costs nothing to repeat, and flushing takes most of its time.
    with closing(Journal(run_dir, listener, durable=world.simulated is None)) as journal:
        looking, stop, last = monitor or Monitor(), stopping or threading.Event(), read_live(run_dir)
        looking.begin()
        record = journal.extend(record)
        run = RunState(plan, run_dir, world, journal, record, stop, looking, last.at if last else 0.0)
        if (outcome := _end_again(run)) is not None:
            return outcome
        waiting = HostWait(wait, time.monotonic() + wait_s, stop, looking)
        with world.hosts(plan, run_name(run_dir)) as hosts:
            try:
                wait_for_other_controllers(run, hosts, waiting)
                moved = list(leave_former_nodes(run, given)) if given else []
                claimed = hold_hosts(run, hosts, waiting, is_outdated)
            except HostBusy:
                if stop.is_set():
                    return Outcome("interrupted", say.stopped_waiting(), ())
                raise
            try:
                tools = check_hosts(run, hosts, claimed.held)
                journal.write(_start_of(run, plan_sha256))
                if expected and not run.resumed:
                    journal.write(expected.model_copy(update={"at": now()}))
                if given:
                    journal.write(given)
                for remark in (*moved, *claimed.remarks(plan, run.ahead)):
                    journal.write(remark)
                run.begin_deciding(tools, read_tables)
                _run_lanes(run, hosts)
            except BaseException:
                release_all(hosts, claimed.held, keep_jobs=True)
                raise
            leave_hosts(run, hosts, claimed.held, kept)
        return _end(run)


def _end_again(run: RunState) -> Outcome | None:
    """Return the outcome of a run that was already complete, or None if the run is not complete.

    Writes a record to the run's journal only if the outcome changes the run's status.
    """
    plan, end = run.plan, run.record.end
    if not run.resumed or end is None or run.ahead or not plan.cells:
        return None
    outcome = Outcome("done", say.done_before(n=planned_cells(plan, run.record.not_chosen)), ())
    if end.status != outcome.status:
        run.journal.write(j.RunEnded(at=now(), status=outcome.status, message=outcome.message))
    return outcome


def _start_of(run: RunState, plan_sha256: str) -> j.RunStarted:
    spec, drivers = run.plan.spec, {cell.tool.driver for cell in run.plan.cells}
    return j.RunStarted(
        at=now(),
        run_id=run.run_dir.name,
        plan_sha256=plan_sha256,
        benchbrief=benchbrief_version(),
        spec=spec.name,
        profile=spec.profile,
        controller_pid=os.getpid(),
        resumed=run.resumed,
        measurement=SHARED[-1],
        measurements={tool: tool_version(tool) for tool in sorted(drivers)},
        simulated=run.world.simulated,
        files=files_of_beginning(run.run_dir),
        boot=this_boot(),
        since_boot=since_boot(),
    )


def _end(run: RunState) -> Outcome:
    """Record how the run ended. Raises FolderMoved if the run's folder was moved during the run."""
    for error in run.fatal:
        if isinstance(error, FolderMoved):
            raise error
    outcome = run.outcome()
    try:
        run.journal.write(j.RunEnded(at=now(), status=outcome.status, message=outcome.message))
    except NotKept as error:  # a run whose journal has no end counts as interrupted
        return Outcome("interrupted", error.one_line, outcome.failed)
    return outcome


def _run_lanes(run: RunState, hosts: OpenHosts) -> None:
    _try_meters(run, hosts)
    if run.resumed:
        run.resume_turns(take_over(run, hosts))
        for left in run.left.values():
            left.until = max(left.until, run.last_alive)
    found = lanes_left(run.plan.cells, run.done)
    if not found:
        return
    # Waiting lanes get their turn in the plan's order, so that searches run before the cells that wait for them.
    with _small_stacks(), ThreadPoolExecutor(run.workers.threads(len(found)), thread_name_prefix="lane") as pool:
        going = [pool.submit(_run_lane, run, hosts, lane) for lane in found]
        # A signal may reach another thread. It does not end this wait then, yet only this thread runs its handler.
        while futures.wait(going, _LOOK_EVERY_S).not_done:
            pass


def _try_meters(run: RunState, hosts: OpenHosts) -> None:
    """Read each power meter once, and report how many cells will fail because of silent meters. Several hardware groups
    or variants may share a meter."""
    run.silent_meters.update(run.world.silent_meters(run.plan, run.ahead, hosts))
    silent: dict[str, set[Meter]] = {}
    for meter, error in run.silent_meters.items():
        silent.setdefault(error.one_line, set()).add(meter)
    for why, meters in silent.items():
        theirs = most_of(run.plan, (cell for cell in run.ahead if not meters.isdisjoint(meters_of(cell))))
        text = say.meters_silent(said=why, failing=theirs, n=most_of(run.plan, run.ahead))
        run.remark("warning", text, passing=True)


@contextmanager
def _small_stacks() -> Iterator[None]:
    """Give small stacks to the threads that start inside the block.

    A fleet has several threads per host, and 8 MiB for each thread is too much if address space is limited.
    """
    before = threading.stack_size(_STACK_BYTES)
    try:
        yield
    finally:
        threading.stack_size(before)


def _run_lane(run: RunState, hosts: OpenHosts, cells: list[Cell]) -> None:
    with run.workers.working():
        _run_cells(run, hosts, cells)


def _run_cells(run: RunState, hosts: OpenHosts, cells: list[Cell]) -> None:
    lane = Lane(run, hosts)
    try:
        # Resumed cells first: no other cell may disturb what still runs on the hosts, or be disturbed by it.
        going_on = [cell for cell in cells if cell.id in run.left]
        over = {cell.id for cell in going_on if lane.go_on(cell, run.left[cell.id])}
        if run.stopping.is_set() or len(over) == len(cells):
            return
        if not over:
            lane.remember_warm(cells)
        lane.observe(cells)
        left = run.budgets.in_order([cell for cell in cells if cell.id not in over])
        for cell in run.promises.in_order(run.ramps.in_order(left, run.ending), run.ending):
            if run.ending.is_set():
                break
            lane.run_cell(cell)
        lane.try_later()
    except NotKept as error:
        run.stop_all(error)
    except Exception as error:  # an exception that leaves a lane's thread would be lost
        traceback_file = run.run_dir / "internal-error.txt"
        with suppress(OSError):
            traceback_file.write_text(hide(traceback.format_exc()), errors="backslashreplace")
        run.stop_all(RunnerError(say.internal_error(said=repr(error)), say.hint_report(path=traceback_file)))
    finally:
        lane.close()
