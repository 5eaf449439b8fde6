"""Running a plan: every cell that the journal does not call good yet, in parallel lanes."""

from __future__ import annotations

import math
import os
import shlex
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import most_of, planned_cells
from benchbrief.model.run_messages import say
from benchbrief.model.text import joined
from benchbrief.model.version import benchbrief_version
from benchbrief.runners.checks.unsupported import find_tools, metered, meters_of, refuse_places
from benchbrief.runners.errors import (
    FolderMoved,
    HostBusy,
    HostError,
    NoHost,
    NotKept,
    OneMachine,
    Outdated,
    RunnerError,
)
from benchbrief.runners.execution.lanes import Lane
from benchbrief.runners.execution.live_numbers import Monitor, read_live
from benchbrief.runners.execution.run_state import Outcome, RunState, one_line
from benchbrief.runners.execution.takeover import hosts_of, take_over
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.hosts.kept_claim import KeptClaim
from benchbrief.runners.journal.controller_clock import now, since_boot, this_boot
from benchbrief.runners.journal.journal_writer import Journal, Listener
from benchbrief.runners.journal.measurement_versions import SHARED, tool_version
from benchbrief.runners.journal.run_folder import files_of_beginning
from benchbrief.runners.journal.run_identity import run_name, settle
from benchbrief.runners.journal.run_record import LeftBehind, RunRecord, read_run
from benchbrief.runners.journal.secret_masking import hide
from benchbrief.runners.scheduling.budgeted_repeats import Budgets, ReadTables, nothing_read
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.knee_search import Searches
from benchbrief.runners.scheduling.parallel_lanes import lanes, lanes_left
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from benchbrief.runners.scheduling.promise_search import PromiseSearches
from benchbrief.runners.seams import Hosts
from benchbrief.runners.session.session import Session
from benchbrief.runners.stopping.stop_run import end_all, nodes_ever, refuse_driven_elsewhere, refuse_driven_here
from benchbrief.runners.world_choice import world_of
from benchbrief.runners.world_seams import Meter, OpenHosts, World


class Claimed(NamedTuple):
    """The hosts that are claimed now, sentences on claims that were taken over, and the failed hosts with their
    reasons."""

    held: list[str]
    taken_over: list[str]
    away: dict[str, RunnerError]


def claim_all(hosts: Hosts, ids: Iterable[str], again: Callable[[HostBusy], None]) -> Claimed:
    """Claim all of these hosts, or none.

    When another run holds one, releases those already claimed, except where jobs of ours are left, and calls
    `again`. That raises the error, or returns when it is time to try again. A host that can't be claimed for
    another reason is skipped, and must be claimed before it is used (`runners/execution/lanes.py`).
    """
    wanted = list(ids)
    said: list[str] = []
    while True:
        results = fan_out(wanted, lambda host_id: hosts[host_id].claim())
        said += [text for text in results.values() if isinstance(text, str) and text]
        held = next((each for each in results.values() if isinstance(each, HostBusy)), None)
        claimed = [host_id for host_id, result in results.items() if isinstance(result, str)]
        if held is None:
            away = {host_id: result for host_id, result in results.items() if isinstance(result, RunnerError)}
            return Claimed(claimed, said, away)
        fan_out(claimed, lambda host_id: hosts[host_id].release(keep_jobs=True))
        again(held)


def release_all(hosts: Hosts, ids: Iterable[str], *, keep_jobs: bool = False) -> dict[str, int | RunnerError]:
    """Release all of these hosts, except where jobs are kept. Returns by id how many jobs and processes still ran, or
    why a host could not be cleaned."""
    return fan_out(ids, lambda host_id: hosts[host_id].release(keep_jobs=keep_jobs))


def refuse_aliases(plan: Plan, cells: Sequence[Cell], hosts: Hosts, held: Sequence[str]) -> None:
    """Raises OneMachine for two names of one machine whose cells may run in parallel. `held` are the claimed hosts."""
    lane_of = {host: number for number, lane in enumerate(lanes(cells)) for cell in lane for host in cell.locks}
    if len({lane_of[host] for host in held if host in lane_of}) < 2:
        return
    names = fan_out(held, lambda host_id: hosts[host_id].claimed_as())
    for host, name in names.items():
        if isinstance(name, str) and name != host and name in held and lane_of.get(host) != lane_of.get(name):
            first, second = sorted((host, name), key=list(plan.hosts).index)
            raise OneMachine(
                f"{first} ({_where(plan, first)}) and {second} ({_where(plan, second)}) are one machine under two "
                "names: their cells would be measured at the same time, and disturb each other",
                f"write {first} in both places",
            )


def _where(plan: Plan, host: str) -> str:
    users = [each.origin for each in plan.hardware.values() if host in each.hosts]
    users += [each.origin for each in plan.clients.values() if host in each.hosts]
    return str(users[0]) if users else "no line of the spec"


def leave_former_nodes(
    plan: Plan, record: RunRecord, given: j.HostsGiven, run_dir: Path, world: World
) -> Iterator[j.Remark]:
    """End all of the run on nodes that it no longer has. Yields what is to be said of it, and of cells measured there.

    Raises HostBusy when another process drives the lane there: a scheduler may run a job twice.
    """
    former = {node: host for node, host in nodes_ever(plan, record).items() if node not in given.nodes.values()}
    name = run_name(run_dir)
    with world.hosts(plan.model_copy(update={"hosts": former}), name) as hosts:
        results = fan_out(list(former), lambda node: end_all(name.owner, _no_other, hosts[node]))
    for error in results.values():
        if isinstance(error, HostBusy):
            raise error
        if isinstance(error, RunnerError):
            yield j.Remark(at=now(), severity="warning", text=say.former_node_unclean(said=error), passing=True)
    moved = [
        say.node_changed(host=host, before=before, after=given.nodes[host])
        for host, before in record.nodes.items()
        if given.nodes.get(host, before) != before
    ]
    if moved:
        measured = len(record.finished(plan))
        severity, text = "info", say.nodes_changed(said=joined(moved, say.both))
        if measured:
            severity, text = "warning", say.nodes_changed_after(n=measured, said=joined(moved, say.both))
        yield j.Remark.model_validate({"at": now(), "severity": severity, "text": text})


def _no_other(_: object) -> bool:
    return False


_LOOK_EVERY_S = 0.5
"""How often, in seconds, signals are checked while lanes run."""

_STACK_BYTES = 1 << 20

_NAMED = 5
"""A message names so many hosts at most, and counts the rest."""

_TRY_EVERY_S = 3.0
"""How often, in seconds, a host that another run holds is tried again."""


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
    """Run every cell of the plan that the journal does not call good yet. `monitor` watches its jobs meanwhile.

    Set `stopping` to end early: running jobs are stopped, and the run can be resumed. With a `wait`, the call waits up
    to `wait_s` seconds for a host that another run holds, and passes the reason to `wait`. `before` is what the journal
    says, when it was read before: it is extended while the run goes on. `expected` is recorded when the run begins.
    `read_tables` says what the run's tables do so far, for budgets. `given` are the nodes that a scheduler's job has
    for hosts of the plan, which has their names already. `session` has the heartbeats of its hosts, and what it waits
    for. `kept` keeps the claim of this machine after a run that was not stopped. `is_outdated` says after a wait
    whether the results that a new run begins with are still those that it would take.

    Raises HostBusy without a `wait` or after it, Outdated after one when `is_outdated`, OneMachine when two names lead
    to one host, NoTool when hosts lack tools, FolderMoved when the run's folder is moved meanwhile, RunnerError when
    another process drives the run or when it can't run as planned, and DiskFull when the journal can't be begun.
    """
    record = before or read_run(run_dir)
    world = world_of(run_dir, record.starts, session)
    world.refuse(plan)
    # A simulated run costs nothing to repeat, and flushing takes most of its time.
    journal = Journal(run_dir, listener, durable=world.simulated is None)
    looking = monitor or Monitor()
    last = read_live(run_dir)
    try:
        looking.begin()
        record = journal.extend(record)
        earlier = record.left_behind
        # A journal may begin with results of earlier runs, before its first start.
        resumed = bool(record.starts)
        done, stop = record.finished(plan), stopping or threading.Event()
        if resumed and plan.cells and record.end and done >= {cell.id for cell in plan.cells}:
            # A complete run keeps its end. Its journal gets a record only when its status changes.
            outcome = Outcome("done", say.done_before(n=planned_cells(plan, record.not_chosen)), ())
            if record.end.status != outcome.status:
                journal.write(j.RunEnded(at=now(), status=outcome.status, message=outcome.message))
            return outcome
        name = run_name(run_dir)
        with world.hosts(plan, name) as hosts:
            needed = dict.fromkeys(host for cell in plan.cells if cell.id not in done for host in cell.locks)
            waited = set[str]()
            again = partial(_try_again, stop, wait, time.monotonic() + wait_s, waited, looking)
            try:
                if resumed:
                    refuse_driven_here(name.owner, run_dir)
                    _until_driven_here(hosts, needed, name.owner, again)
                moved = list(leave_former_nodes(plan, record, given, run_dir, world)) if given else []
                held, taken_over, refused = claim_all(hosts, needed, again)
                ahead = [cell for cell in plan.cells if cell.id not in done]
                is_hopeless = all(not refused.keys().isdisjoint(cell.locks) for cell in ahead)
                if not held or (is_hopeless and not resumed):
                    _refuse_all(refused, held, hosts, resumed=resumed)
                if waited and not resumed and is_outdated():
                    release_all(hosts, held)
                    raise Outdated("other runs have ended meanwhile")
                settle(run_dir)
            except HostBusy:
                if stop.is_set():
                    return Outcome("interrupted", say.stopped_waiting(), ())
                raise
            try:
                refuse_aliases(plan, ahead, hosts, held)
                tools = find_tools(plan, ahead, hosts, held, world)
                refuse_places(plan, ahead, hosts, held, world)
                journal.write(
                    j.RunStarted(
                        at=now(),
                        run_id=run_dir.name,
                        plan_sha256=plan_sha256,
                        benchbrief=benchbrief_version(),
                        spec=plan.spec.name,
                        profile=plan.spec.profile,
                        controller_pid=os.getpid(),
                        resumed=resumed,
                        measurement=SHARED[-1],
                        measurements={tool: tool_version(tool) for tool in sorted({c.tool.driver for c in plan.cells})},
                        simulated=world.simulated,
                        files=files_of_beginning(run_dir),
                        boot=this_boot(),
                        since_boot=since_boot(),
                    )
                )
                if expected and not resumed:
                    journal.write(expected.model_copy(update={"at": now()}))
                if given:
                    journal.write(given)
                for remark in moved:
                    journal.write(remark)
                for text in taken_over:
                    journal.write(j.Remark(at=now(), severity="info", text=text))
                if refused:
                    text = _describe_refused(plan, list(refused), ahead)
                    journal.write(j.Remark(at=now(), severity="warning", text=text, passing=True))
                searches = Searches(plan, record, done, journal.write)
                repeats = RepeatsUntil(plan, record, done, journal.write)
                simulated = world.simulated is not None
                budgets = Budgets(plan, record, journal.write, simulated=simulated, read_tables=read_tables)
                run = RunState(
                    plan,
                    run_dir,
                    journal,
                    stop,
                    done,
                    {cell: history.attempt for cell, history in record.cells.items()},
                    resumed,
                    len(record.reused),
                    searches,
                    repeats,
                    budgets,
                    AdaptiveRamps(plan, record, journal.write),
                    PromiseSearches(plan, record, journal.write),
                    world,
                    looking,
                    tools=tools,
                )
                run.tools_before, run.warm = deepcopy(record.tool_paths), dict(record.warm) if resumed else {}
                run.last_alive = last.at if last else 0.0
                run.skipped, run.unrepeated, run.refused = record.skipped, record.unrepeated, record.refused
                run.not_chosen = record.not_chosen
                _run_lanes(run, hosts, earlier)
                # Keep what could not be fetched to this full disk, until there is space.
                keep = any(isinstance(error, NotKept) for error in run.fatal)
                gone = next((error for error in run.fatal if isinstance(error, FolderMoved)), None)
            except BaseException:
                release_all(hosts, held, keep_jobs=True)
                raise
            # An interrupted run may have left jobs and claims although all its cells are done.
            claimed = [*held, *run.claimed, *(plan.hosts if resumed else ())]
            here = kept.keep(world, plan, run_dir, claimed) if kept and not run.stopping.is_set() else ""
            _leave(run, hosts, claimed, keep, here)
            if gone is not None:
                raise gone
        outcome = run.outcome()
        try:
            journal.write(j.RunEnded(at=now(), status=outcome.status, message=outcome.message))
        except NotKept as error:  # a run whose journal has no end counts as interrupted
            outcome = Outcome("interrupted", one_line(error), outcome.failed)
        return outcome
    finally:
        journal.close()


def _refuse_all(refused: Mapping[str, RunnerError], held: Sequence[str], hosts: OpenHosts, *, resumed: bool) -> None:
    """Raises NoHost when hosts that every cell of a new run needs refuse us, are away or unfit: nothing is lost by a
    later start. Releases those that are `held`.

    A resumed run, which may have jobs on its hosts, waits for them unless waiting does not help.
    """
    errors = list(refused.values())
    stays = all(isinstance(error, HostError) and (error.lasting or not resumed) for error in errors)
    if not errors or not stays:
        return
    release_all(hosts, held)
    named = "; ".join(map(str, errors[:_NAMED]))
    named += f"; and {len(errors) - _NAMED} more" if len(errors) > _NAMED else ""
    hints = list(dict.fromkeys(error.hint for error in errors if error.hint))
    all_of_them = f"none of the {len(errors)} hosts can be used: " if len(errors) > 1 else ""
    every_cell = "no cell can be measured, as each needs a host that can't be used: "
    raise NoHost(
        f"{every_cell if held else all_of_them}{named}",
        hints[0] if len(hints) == 1 else "`bench doctor` says more of each",
    )


def _describe_refused(plan: Plan, away: Sequence[str], cells: Sequence[Cell]) -> str:
    """Say what happens to hosts that could not be claimed, early enough to stop the run and fix them."""
    named = ", ".join(away[:_NAMED])
    if len(away) > _NAMED:
        named = say.names_and_more(names=named, n=len(away) - _NAMED)
    theirs = most_of(plan, (cell for cell in cells if not set(away).isdisjoint(cell.locks)))
    if theirs == most_of(plan, cells):
        return say.all_refused(hosts=named, n=theirs)
    return say.hosts_refused(hosts=named, failing=theirs, n=most_of(plan, cells))


def _until_driven_here(hosts: OpenHosts, needed: Iterable[str], owner: str, again: Callable[[HostBusy], None]) -> None:
    """Wait, while `again` allows it, until no other controller of this run shows signs of life. Raises HostBusy."""
    while True:
        try:
            refuse_driven_elsewhere(hosts, needed, owner)
        except HostBusy as busy:
            again(busy)
        else:
            return


def _try_again(
    stop: threading.Event,
    wait: Callable[[str], None] | None,
    until: float,
    said: set[str],
    monitor: Monitor,
    busy: HostBusy,
) -> None:
    """Wait a while for a host that another run holds, and say so once. Raises the error when there is no `wait`, or at
    its end (`until`, by the monotonic clock)."""
    if wait is None or stop.is_set() or time.monotonic() > until:
        raise busy
    if str(busy) not in said:
        said.add(str(busy))
        wait(f"{busy}: waiting for it{f'; {busy.while_waiting}' if busy.while_waiting else ''}")
    with monitor.waiting(str(busy)):
        stop.wait(_TRY_EVERY_S)


def _leave(run: RunState, hosts: OpenHosts, held: Iterable[str], keep_jobs: bool, but: str) -> None:
    """Remove everything of the run from the hosts, `but` the one whose claim is kept. Report where that failed.

    The one that is kept is this machine, which CONTROLLER names, too.
    """
    metering = [CONTROLLER.id] if any(at == CONTROLLER.id for _, at in metered(run.plan).values()) else []
    # A killed controller may have left its claim on hosts that none of the remaining cells needs.
    earlier = hosts_of(run) if run.resumed else []
    kept = (but, CONTROLLER.id) if but else ()
    leaving = dict.fromkeys(host for host in (*held, *metering, *earlier) if host not in kept)
    left = release_all(hosts, leaving, keep_jobs=keep_jobs)
    if but and not keep_jobs:
        left |= fan_out([but], lambda host_id: hosts[host_id].end_leftovers())
    for host_id, ended in left.items():
        with suppress(NotKept):
            if isinstance(ended, Exception):
                text = say.not_cleaned_up(said=ended, command=f"bench stop {shlex.quote(str(run.run_dir))}")
                run.journal.write(j.Remark(at=now(), severity="warning", text=text, passing=True))
            elif ended:
                text = say.ended_with_run(n=ended, host=host_id)
                run.journal.write(j.Remark(at=now(), severity="info", text=text, passing=True))


def _run_lanes(run: RunState, hosts: OpenHosts, earlier: LeftBehind) -> None:
    cells = [cell for cell in run.plan.cells if cell.id not in run.done]
    run.silent_meters.update(run.world.silent_meters(run.plan, cells, hosts))
    # Several hardware groups or variants may share one meter.
    silent: dict[str, set[Meter]] = {}
    for meter, error in run.silent_meters.items():
        silent.setdefault(one_line(error), set()).add(meter)
    for why, meters in silent.items():
        theirs = most_of(run.plan, (cell for cell in cells if not meters.isdisjoint(meters_of(cell))))
        text = say.meters_silent(said=why, failing=theirs, n=most_of(run.plan, cells))
        run.journal.write(j.Remark(at=now(), severity="warning", text=text, passing=True))
    if run.resumed:
        run.resume_turns(take_over(run, hosts, earlier))
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


@contextmanager
def _small_stacks() -> Iterator[None]:
    """Give threads that start meanwhile small stacks.

    A fleet has several threads a host, and 8 MiB each is much where address space is limited.
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
