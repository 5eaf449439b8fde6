"""Lanes: which cells run in parallel, and how a lane runs its cells.

Cells that share a host or equipment, directly or through others, form a lane. A lane's cells run one after another in
the plan's order, and lanes run in parallel. A failed cell does not stop the other cells, unless its experiment says so
or it belongs to a search, which needs all its cells. A cell that takes a number from a search waits for that search,
even if the search is in another lane. Searches come first in the plan, so two lanes never wait for each other.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from benchbrief.model import events as j
from benchbrief.model.achieved_load import load_of
from benchbrief.model.budgets import chooses, is_budgeted
from benchbrief.model.measurement import Measurement
from benchbrief.model.message import figure, joined, share_figure
from benchbrief.model.plan import Cell, Experiment
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, Left
from benchbrief.runners.errors import HostError, Interrupted, NotKept, RunnerError
from benchbrief.runners.execution.attempt import Attempt, NotWhole
from benchbrief.runners.execution.cell_run import CellRun, started_event
from benchbrief.runners.execution.equipment import Equipment
from benchbrief.runners.execution.lost_hosts import LostHosts
from benchbrief.runners.execution.retries import Try
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.execution.takeover import end_jobs, note_resumed
from benchbrief.runners.hosts.host_connections import look_at_each
from benchbrief.runners.hosts.host_facts import find_contradictions
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import cell_directory
from benchbrief.runners.journal.secret_masking import hide
from benchbrief.runners.scheduling.knee_search import latency_of
from benchbrief.runners.scheduling.measuring_ends import measuring_ended
from benchbrief.runners.scheduling.promise_search import refused
from benchbrief.runners.world.unsupported import meters_of
from benchbrief.runners.world.world_seams import OpenHosts


def off_schedule(cell: Cell, measurement: Measurement, experiment: Experiment | None = None) -> str:
    """Return a sentence about a cell that fell behind its offered load or caught up with it. Returns "" for a cell that
    was on time, or that has no offered load.

    A load generator with a fixed number of threads falls behind when it waits for replies. From then on it is a closed
    loop, and only intended latency includes that wait. A load generator may already be behind when its measurement
    begins. It then catches up by sending as fast as it can, which is faster than the offered load.
    """
    if cell.target is None:
        return ""
    total = measurement.total
    done = total.count + total.errors
    load = load_of(total.ops_per_s, done, measurement.due, total.seconds, cell.target, experiment)
    if not load.is_short and not load.is_ahead:
        return ""
    intended = any(operation.kind == "intended" for operation in measurement.operations)
    late = say.behind_intended if intended else say.behind_closed
    what = (say.caught_up if load.is_ahead else late)(
        achieved=figure(load.achieved, ",.0f"), offered=figure(load.offered, ",.0f"), share=share_figure(load.share)
    )
    return say.in_cell(cell=cell.id, what=what)


_LONG_S = 5.0
"""The hosts of a cell that is measured for at least this many seconds are checked for other load first. Before a lane's
first cell, hosts are always checked."""


class Lane:
    """One lane: its equipment, its lost hosts, and the cells to try again after those hosts return."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._equipment = Equipment(run, hosts)
        self._lost = LostHosts(run, hosts, self._have_back)
        self._cells: Sequence[Cell] = ()
        self._load_checked = False
        self._warm: tuple[Cell, int] | None = None
        """The last cell that ran, and the number of its attempt. The cell must cool down before the next one."""

    def observe(self, cells: Sequence[Cell]) -> None:
        """Collect the facts of each host of the lane, and report facts that contradict the spec."""
        self._cells = cells
        for host_id, found in look_at_each((host for cell in cells for host in cell.locks), self._claim_and_look):
            if isinstance(found, NotKept):
                raise found
            if isinstance(found, RunnerError):
                self._lost.lose(host_id, found)
                continue
            self._disclose(host_id, found)

    def _claim_and_look(self, host_id: str) -> dict[str, str]:
        self._claim(host_id)
        return self._look(host_id)

    def _look(self, host_id: str) -> dict[str, str]:
        databases = self._run.plan.databases
        paths = dict.fromkeys(
            path for cell in self._cells if host_id in cell.locks and (path := databases[cell.database].path)
        )
        host = self._run.plan.hosts[host_id]
        given = {"node": host.name} if host.asked and not host.is_open else {}
        return self._run.world.facts(self._hosts[host_id], list(paths)) | given

    def _disclose(self, host_id: str, found: dict[str, str]) -> None:
        self._run.journal.write(j.HostFacts(at=now(), host=host_id, facts=found))
        for key in dict.fromkeys(cell.hardware for cell in self._cells):
            hardware = self._run.plan.hardware[key]
            if host_id in hardware.hosts:
                for text in find_contradictions(hardware, found):
                    self._run.remark(
                        "warning", say.at(group=hardware.label, host=host_id, what=text), str(hardware.origin)
                    )

    def _claim(self, host_id: str) -> None:
        """Claim a host for the run, unless it is already claimed, before anything is done on it. Raises RunnerError."""
        said = self._hosts[host_id].claim()
        with self._run.lock:
            if host_id not in self._run.claimed:
                self._run.claimed.append(host_id)
        if said:
            self._run.remark("info", said)

    def run_cell(self, cell: Cell, left: Left | None = None) -> None:
        """Run a cell with as many attempts as its experiment allows. Skips a cell that is not needed.

        First waits for the searches from which the cell takes numbers. With `left`, resumes that attempt first. Raises
        NotWhole if that attempt can't be resumed.
        """
        run = self._run
        if left is None and (reason := run.not_needed(cell)):
            self._skip(cell, reason, run.budgets.no_room(cell))
            return
        attempt = left.attempt if left else run.record.cells.get(cell.id, CellHistory()).attempt + 1
        last = attempt + run.plan.experiments[cell.experiment].retries
        try:
            with run.workers.waiting() if run.searches.awaits(cell) else nullcontext():
                known = run.searches.resolved(cell, run.ending)
        except RunnerError as error:
            if left is not None:
                raise NotWhole(str(error)) from error
            self._begin(Try(cell, attempt, last))
            self._failed(cell, attempt, error)
            return
        if known is not None:
            self._try(Try(known, attempt, last), left)

    def try_later(self) -> None:
        """Try again the cells whose hosts were away, each as soon as its hosts are back or the wait for them has timed
        out."""
        for later in self._lost.wait_for_each():
            if not later.before and (reason := self._run.not_needed(later.cell)):
                self._skip(later.cell, reason, self._run.budgets.no_room(later.cell))
            else:
                self._try(later, waited=True)

    def _try(self, next_one: Try | None, left: Left | None = None, *, waited: bool = False) -> None:
        """Attempt a cell until an attempt succeeds, no attempt is left, or the cell needs hosts that must come back
        first.

        `waited` means that the wait for the cell's hosts has ended.
        """
        run = self._run
        if next_one is not None and left is None and (untried := run.why_not_tried(next_one.cell)):
            self._begin(next_one)
            self._failed(next_one.cell, next_one.attempt, untried)
            return
        while next_one is not None:
            this, cell = next_one, next_one.cell
            if left is None and ((not waited and self._is_put_off(this)) or not self._cooled()):
                return
            self._begin(this, left)
            if this.before:
                run.remark("warning", say.of_cell(cell=cell.id, what=this.before), cell=cell.id)
            problem = self._attempt(cell, this.attempt, left)
            if problem is None:
                return
            self._take_note(cell, problem)
            next_one = this.after(problem) if self._may_go_well(cell, problem) and not run.ending.is_set() else None
            self._failed(cell, this.attempt, problem, again=next_one is not None)
            left, waited = None, False

    def _begin(self, what: Try, left: Left | None = None) -> None:
        self._run.begin(what.cell)
        if left is None:
            self._run.journal.write(started_event(what.cell, what.attempt))
        else:
            note_resumed(self._run, what.cell, left)

    def _is_put_off(self, what: Try) -> bool:
        """If the cell's lost hosts may return, put the cell off, or wait for the hosts now. Returns whether the cell
        can't be tried now."""
        if not self._lost.may_return(what.cell, retried=bool(what.before)):
            return False
        if self._is_waited_for(what.cell):
            return self._lost.wait([what.cell]) is None
        self._lost.put_off.append(what)
        return True

    def _is_waited_for(self, cell: Cell) -> bool:
        """Return whether the result of this cell determines which further points or repeats are run."""
        experiment = self._run.plan.experiments[cell.experiment]
        return chooses(experiment) or experiment.confident is not None or is_budgeted(self._run.plan, experiment)

    def go_on(self, cell: Cell, left: Left) -> bool:
        """Resume an attempt that an earlier controller left unfinished. Returns False if the attempt must be repeated
        instead."""
        try:
            self.run_cell(cell, left)
        except NotWhole as reason:
            end_jobs(self._run, self._hosts, cell, left)
            self._run.remark("info", say.run_again(n=left.attempt, cell=cell.id, said=reason))
            return False
        finally:
            self._run.turns.give_up(cell)
        self._run.taken_over(cell)
        return True

    def _skip(self, cell: Cell, reason: str, no_room: j.NoRoom) -> None:
        run = self._run
        run.begin(cell)
        run.journal.write(j.CellSkipped(at=now(), cell=cell.id, hash=cell.hash, reason=reason, no_room=no_room))
        run.repeats.skipped(cell)
        run.searches.skipped(cell)
        run.left_out(cell, reason, no_room)

    def remember_warm(self, cells: Sequence[Cell]) -> None:
        """Let the last cell that an earlier controller ran on these hosts cool down, unless it has already done so."""
        hosts = {host for cell in cells for host in cell.locks}
        planned = {cell.id: cell for cell in self._run.plan.cells}
        for cell_id, attempt in self._run.warm.items():
            if (cell := planned.get(cell_id)) is not None and hosts.intersection(cell.locks):
                self._warm = cell, attempt

    def _cooled(self) -> bool:
        """Let the previous cell cool down. Returns False if the run ends before that."""
        run = self._run
        (cell, attempt), self._warm = self._warm or (None, 0), None
        if cell is None or (step := next((step for step in cell.steps if step.kind == "cool_down"), None)) is None:
            return True
        named = {"cell": cell.id, "attempt": attempt, "step": step.kind}
        run.journal.write(j.StepStarted.model_validate({"at": now(), "seconds": step.seconds, **named}))
        began = time.monotonic()
        if run.world.pause(step.seconds, run.ending):
            return False
        taken = time.monotonic() - began
        run.journal.write(j.StepEnded.model_validate({"at": now(), "seconds": taken, **named}))
        return True

    def _attempt(self, cell: Cell, attempt: int, left: Left | None) -> RunnerError | None:
        """Make one attempt. Record the verdict if it succeeds, and return the error if it fails. An interrupted attempt
        has neither. Raises NotWhole if the attempt in `left` can't be resumed."""
        run = self._run
        try:
            with self._kept_evidence(cell, attempt):
                if left is None:
                    run.searches.refuse_undecided(cell)
                    self._lost.refuse(cell)
                    # Claim again: if this controller was cut off for long, another run may have taken its hosts.
                    for host_id in cell.locks:
                        self._claim(host_id)
                    self._refuse_silent_meters(cell)
                    self._report_other_load(cell)
                self._warm = cell, attempt
                measurement = CellRun(
                    attempt=Attempt(
                        plan=run.plan,
                        cell=cell,
                        number=attempt,
                        run_dir=run.run_dir,
                        journal=run.journal,
                        hosts=self._hosts,
                        world=run.world,
                        stopping=run.stopping,
                        monitor=run.monitor,
                        left=left,
                        turns=run.turns,
                    ),
                    engine=lambda: self._equipment.engine(cell, before=left is not None),
                    with_data_set=self._equipment.with_data_set,
                    driver=run.world.driver(cell.tool.driver),
                    tool_path=lambda host: self._equipment.tool(host, cell, before=left is not None),
                ).run()
        except Interrupted:
            return None
        except NotKept:
            raise
        except RunnerError as error:
            return error
        run.first_failures.good(cell)
        experiment = run.plan.experiments[cell.experiment]
        if measurement.steady and experiment.until_steady and not (left and left.ended):
            run.journal.write(measuring_ended(cell, attempt, experiment.until_steady, measurement.steady))
        for text in measurement.warnings:
            if left is None or text not in left.said:
                self._run.remark("warning", text, cell=cell.id)
        if (text := off_schedule(cell, measurement, experiment)) and (left is None or text not in left.said):
            self._run.remark("info", text, cell=cell.id)
        criterion, rate = run.searches.criterion(cell), measurement.total.ops_per_s
        latency_s = latency_of(measurement, criterion.latency) if criterion else None
        asked = run.budgets.asked_values(cell, measurement) | run.promises.values(cell, measurement)
        self._ended(cell, attempt, ops_per_s=rate, latency_s=latency_s, asked=asked)
        return None

    def _ended(
        self,
        cell: Cell,
        attempt: int,
        *,
        ops_per_s: float | None = None,
        latency_s: float | None = None,
        asked: Mapping[str, float] | None = None,
        failed: RunnerError | None = None,
        retried: bool = False,
    ) -> None:
        """Record the verdict on an attempt: its measured values, or why it `failed`."""
        verdict = j.CellEnded(
            at=now(),
            cell=cell.id,
            hash=cell.hash,
            attempt=attempt,
            status="failed" if failed else "ok",
            reason=failed.one_line if failed else "",
            origin=str(cell.origin) if failed else "",
            ops_per_s=ops_per_s,
            latency_s=latency_s,
            asked=dict(asked or {}),
            retried=retried,
            by_plan=bool(failed and failed.by_plan),
            by_host=bool(failed and failed.by_host),
            refused=failed.refused_by if failed else "",
        )
        self._run.journal.write(verdict)
        if not verdict.retried:
            with self._run.lock:
                self._run.judged.add(cell.id)
            self._run.repeats.ended(cell, verdict)
            self._run.searches.ended(cell, verdict)

    @contextmanager
    def _kept_evidence(self, cell: Cell, attempt: int) -> Iterator[None]:
        """Turn an internal error into a one-line failure of the cell, and save the traceback beside the cell's raw
        output."""
        try:
            yield
        except (RunnerError, Interrupted, NotWhole):
            raise
        except Exception as error:
            path = self._run.run_dir / cell_directory(cell.id, attempt) / "internal-error.txt"
            write_durably(path, hide(traceback.format_exc()).encode(errors="backslashreplace"))
            raise RunnerError(say.internal_error(said=repr(error)), say.hint_report(path=path)) from error

    def _take_note(self, cell: Cell, error: RunnerError) -> None:
        """Record the hosts and the engine that were lost in a failed attempt."""
        if isinstance(error, HostError):
            self._lost.note(cell, error)
        if error.is_server_lost:
            self._equipment.stop_engine()

    def _may_go_well(self, cell: Cell, error: RunnerError) -> bool:
        """Return whether another attempt may succeed on these hosts.

        A failure that answers the cell's search is final. Otherwise a lucky attempt would decide the search.
        """
        return not self._run.promises.learns_from(cell, error) and not self._lost.for_good(cell)

    def _failed(self, cell: Cell, attempt: int, error: RunnerError, *, again: bool = False) -> None:
        """Record the verdict on a failed attempt. `again` means that another attempt at the cell follows."""
        is_answer = not again and self._run.promises.learns_from(cell, error)
        if not again and not is_answer:
            self._run.fail(cell, error)
        self._ended(cell, attempt, failed=error, retried=again)
        if is_answer:  # the run lacks nothing
            self._skip(cell, refused(error, error.one_line), "")

    def _refuse_silent_meters(self, cell: Cell) -> None:
        """Raise an error if one of the cell's power meters is silent. Silent meters are tried again first, in case
        somebody has fixed them."""
        run, mine = self._run, meters_of(cell)
        if mine.isdisjoint(run.silent_meters):
            return
        silent = run.world.silent_meters(run.plan, [cell], self._hosts)
        with run.lock:
            mended = [meter for meter in mine if run.silent_meters.pop(meter, None) and meter not in silent]
            run.silent_meters.update(silent)
        for _, host_id in mended:
            self._run.remark("info", say.meter_back(host=host_id))
        for error in silent.values():
            raise error

    def _report_other_load(self, cell: Cell) -> None:
        """Report each host that is busy with other load. Does so only if the check takes a small part of the cell's
        time."""
        if self._run.world.simulated or (self._load_checked and cell.measure_s < _LONG_S):
            return
        self._load_checked = True
        for host_id, said in look_at_each(cell.locks, lambda host_id: self._run.world.other_load(self._hosts[host_id])):
            if isinstance(said, str) and said:
                self._run.remark("warning", say.busy(host=host_id, cell=cell.id, what=said), cell=cell.id)

    def _have_back(self, host_id: str) -> None:
        """Restore a host to its state at the start: claimed, observed, and free of the remains of a lost attempt."""
        host = self._hosts[host_id]
        taken_over = host.claim()
        with self._run.lock:
            self._run.claimed.append(host_id)
        self._equipment.stop_engine()
        host.end_leftovers()
        self._disclose(host_id, self._look(host_id))
        self._run.remark("info", joined((say.reached(host=host_id), taken_over), say.both))

    def close(self) -> None:
        self._equipment.stop_engine()
