"""Running a plan: every cell that the journal does not yet call good, in lanes that go side by side."""

from __future__ import annotations

import os
import shlex
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import benchbrief
from benchbrief.compiler.plan import Cell, Plan
from benchbrief.runners import journal as j
from benchbrief.runners.aliases import refuse_aliases
from benchbrief.runners.errors import DiskFull, HostBusy, RunnerError
from benchbrief.runners.history import attempts_of, finished_cells, records_of, tools_of, warm_of
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.journal_io import JOURNAL, Journal, Listener, read_journal
from benchbrief.runners.lanes import Lane
from benchbrief.runners.live import Monitor, read_live
from benchbrief.runners.locks import claim_all, release_all
from benchbrief.runners.repeats import RepeatsUntil
from benchbrief.runners.run_state import Outcome, RunState, one_line
from benchbrief.runners.rundir import run_name
from benchbrief.runners.searches import Searches
from benchbrief.runners.sharing import lanes
from benchbrief.runners.supported import Meter, metered, meters_of
from benchbrief.runners.takeover import hosts_of, take_over
from benchbrief.runners.world import OpenHosts
from benchbrief.runners.worlds import world_of

_LOOK_EVERY_S = 0.5
"""How often a signal is looked for while lanes run."""

_STACK_BYTES = 1 << 20

_NAMED = 5
"""More hosts than these are counted only."""

_TRY_EVERY_S = 3.0
"""How often a host that is held by another run is tried again."""


def execute(
    plan: Plan,
    plan_sha256: str,
    run_dir: Path,
    *,
    listener: Listener = lambda _: None,
    stopping: threading.Event | None = None,
    monitor: Monitor | None = None,
    wait: Callable[[str], None] | None = None,
) -> Outcome:
    """Run every cell of the plan that the journal does not yet call good; `monitor` looks at its jobs meanwhile.

    Set `stopping` to end early: running jobs are stopped, and the run can be resumed. A host that another run holds is
    waited for when there is a `wait`, which is told so. Raises HostBusy when there is none; OneMachine for two names of
    one host; RunnerError when another process drives the run, or when it can't be run as planned; DiskFull when the
    journal can't even be begun.
    """
    world = world_of(run_dir, records_of(run_dir))
    world.refuse(plan)
    journal = Journal(run_dir, listener)
    looking = monitor or Monitor()
    last = read_live(run_dir)
    try:
        looking.begin()
        before = read_journal(run_dir / JOURNAL)
        # A journal may begin with results of earlier runs, before any start.
        resumed = any(isinstance(record, j.RunStarted) for record in before)
        attempts = attempts_of(before)
        whole = bool(plan.cells) and finished_cells(run_dir) >= {cell.id for cell in plan.cells}
        if resumed and whole and isinstance(before[-1], j.RunEnded):
            # A whole run stays as it ended: nothing is added to its journal, unless that calls it another thing.
            outcome = Outcome("done", f"all {len(plan.cells)} cells were done before", ())
            if before[-1].status != outcome.status:
                journal.write(j.RunEnded(at=time.time(), status=outcome.status, message=outcome.message))
            return outcome
        done, stop = finished_cells(run_dir), stopping or threading.Event()
        with world.hosts(plan, run_name(run_dir)) as hosts:
            needed = dict.fromkeys(host for cell in plan.cells if cell.id not in done for host in cell.locks)
            try:
                held, taken_over = claim_all(hosts, needed, partial(_try_again, stop, wait, set()))
            except HostBusy:
                if stop.is_set():
                    return Outcome("interrupted", "stopped while waiting for its hosts", ())
                raise
            try:
                refuse_aliases(plan, [cell for cell in plan.cells if cell.id not in done], hosts, held)
                journal.write(
                    j.RunStarted(
                        at=time.time(),
                        run_id=run_dir.name,
                        plan_sha256=plan_sha256,
                        benchbrief=benchbrief.__version__,
                        spec=plan.spec.name,
                        profile=plan.spec.profile,
                        controller_pid=os.getpid(),
                        resumed=resumed,
                        measurement=j.MEASUREMENT_VERSION,
                        simulated=world.simulated,
                    )
                )
                for text in taken_over:
                    journal.write(j.Remark(at=time.time(), severity="info", text=text))
                away = [host_id for host_id in needed if host_id not in held]
                if away:
                    text = _foretold(away, [cell for cell in plan.cells if cell.id not in done])
                    journal.write(j.Remark(at=time.time(), severity="warning", text=text, passing=True))
                reused = sum(isinstance(record, j.CellReused) for record in before)
                searches = Searches(plan, before, done, journal.write)
                repeats = RepeatsUntil(plan, before, done, journal.write)
                run = RunState(
                    plan, run_dir, journal, stop, done, attempts, resumed, reused, searches, repeats, world, looking
                )
                run.tools_before, run.warm = tools_of(before), warm_of(before) if resumed else {}
                run.last_alive = last.at if last else 0.0
                run.skipped = sum(isinstance(record, j.CellSkipped) for record in before)
                _run_lanes(run, hosts, before)
                # What could not be fetched for want of space here is left for when there is some.
                keep = any(isinstance(error, DiskFull) for error in run.fatal)
            except BaseException:
                release_all(hosts, held, keep_jobs=True)
                raise
            # An interrupted run may have left something where all cells are done.
            _leave(run, hosts, [*held, *run.claimed, *(plan.hosts if resumed else ())], keep)
        outcome = run.outcome()
        try:
            journal.write(j.RunEnded(at=time.time(), status=outcome.status, message=outcome.message))
        except DiskFull as error:  # a run whose journal has no end counts as interrupted
            outcome = Outcome("interrupted", one_line(error), outcome.failed)
        return outcome
    finally:
        journal.close()


def _foretold(away: Sequence[str], cells: Sequence[Cell]) -> str:
    """What is to be expected of hosts that could not be claimed, in time to end the run and mend them."""
    named = ", ".join(away[:_NAMED]) + (f" and {len(away) - _NAMED} more" if len(away) > _NAMED else "")
    theirs = sum(not set(away).isdisjoint(cell.locks) for cell in cells)
    return (
        f"{named} can't be reached, or claimed: {theirs} of {len(cells)} cells fail for it, unless that is mended by "
        "their turn; the others are run (`bench doctor` says more)"
    )


def _try_again(stop: threading.Event, wait: Callable[[str], None] | None, said: set[str], busy: HostBusy) -> None:
    """Wait a while for a host that another run holds, and say so once. Raises the error when it is not to be waited."""
    if wait is None or stop.is_set():
        raise busy
    if str(busy) not in said:
        said.add(str(busy))
        wait(f"{busy}: waiting for it")
    stop.wait(_TRY_EVERY_S)


def _leave(run: RunState, hosts: OpenHosts, held: Iterable[str], keep_jobs: bool) -> None:
    """Leave nothing of ours on the hosts, and say where that could not be done."""
    metering = [CONTROLLER.id] if any(at == CONTROLLER.id for _, at in metered(run.plan).values()) else []
    # A controller that was killed may have left its claim on hosts that none of the cells left needed.
    earlier = hosts_of(run) if run.resumed else []
    _, unclean = release_all(hosts, dict.fromkeys([*held, *metering, *earlier]), keep_jobs=keep_jobs)
    for error in unclean.values():
        text = f"could not be cleaned up: {error}; for later: bench stop {shlex.quote(str(run.run_dir))}"
        with suppress(DiskFull):
            run.journal.write(j.Remark(at=time.time(), severity="warning", text=text, passing=True))


def _run_lanes(run: RunState, hosts: OpenHosts, before: Sequence[j.AnyRecord]) -> None:
    cells = [cell for cell in run.plan.cells if cell.id not in run.done]
    run.silent_meters.update(run.world.silent_meters(run.plan, cells, hosts))
    # One meter may be that of several hardware groups or variants.
    silent: dict[str, set[Meter]] = {}
    for meter, error in run.silent_meters.items():
        silent.setdefault(one_line(error), set()).add(meter)
    for why, meters in silent.items():
        theirs = sum(not meters.isdisjoint(meters_of(cell)) for cell in cells)
        text = f"{why}: {theirs} of {len(cells)} cells fail for it, unless that is mended by their turn"
        run.journal.write(j.Remark(at=time.time(), severity="warning", text=text, passing=True))
    if run.resumed:
        run.left = take_over(run, hosts, before)
        for left in run.left.values():
            left.until = max(left.until, run.last_alive)
    found = lanes(cells)
    if not found:
        return
    # Lanes that wait for their turn do so in the plan's order, as searches come before what waits for them.
    with _small_stacks(), ThreadPoolExecutor(run.world.at_once or len(found), thread_name_prefix="lane") as pool:
        going = [pool.submit(_run_lane, run, hosts, lane) for lane in found]
        # A signal may be given to another thread than this one, whose wait it then does not end, and this one alone
        # runs its handler.
        while futures.wait(going, _LOOK_EVERY_S).not_done:
            pass


@contextmanager
def _small_stacks() -> Iterator[None]:
    """Of each thread that is started meanwhile: a fleet has some for each host, and 8 MiB of each is a lot to promise
    where address space is limited."""
    before = threading.stack_size(_STACK_BYTES)
    try:
        yield
    finally:
        threading.stack_size(before)


def _run_lane(run: RunState, hosts: OpenHosts, cells: list[Cell]) -> None:
    lane = Lane(run, hosts)
    try:
        # First: what runs on the hosts must neither be disturbed, nor disturb another cell.
        going_on = [cell for cell in cells if cell.id in run.left]
        over = {cell.id for cell in going_on if lane.go_on(cell, run.left[cell.id])}
        if run.stopping.is_set() or len(over) == len(cells):
            return
        if not over:
            lane.remember_warm(cells)
        lane.observe(cells)
        for cell in cells:
            if run.ending.is_set():
                break
            if cell.id not in over:
                lane.run_cell(cell)
        lane.try_later()
    except DiskFull as error:
        run.stop_all(error)
    except Exception as error:  # a lane is a thread: what escapes it here would be lost
        traceback_file = run.run_dir / "internal-error.txt"
        with suppress(OSError):
            traceback_file.write_text(traceback.format_exc())
        run.stop_all(RunnerError(f"internal error: {error!r}", f"please report it with {traceback_file}"))
    finally:
        lane.close()
