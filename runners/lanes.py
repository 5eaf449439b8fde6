"""Lanes: which cells run side by side, and how one after another of a lane is run.

Cells that share a host, directly or through others, form a lane; a lane's cells run one after another in the plan's
order, and lanes run side by side. One cell's failure does not stop the others, but for a search, which can't go on
without it, or where its experiment says so. A cell that takes a number from a search waits for it, be that in another
lane: searches come first in the plan, so that no two lanes wait for each other.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.plan import Cell
from benchbrief.runners import facts
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, NotWhole
from benchbrief.runners.cell import CellRun
from benchbrief.runners.equipment import Equipment
from benchbrief.runners.errors import (
    BadOutput,
    DiskFull,
    HostBusy,
    HostError,
    Interrupted,
    LoadShort,
    RunnerError,
    ServerFailed,
)
from benchbrief.runners.fan_out import each_of
from benchbrief.runners.going_on import end_jobs, tell_resumed
from benchbrief.runners.history import Left
from benchbrief.runners.lost_hosts import LostHosts
from benchbrief.runners.offered import off_schedule
from benchbrief.runners.run_state import RunState, one_line
from benchbrief.runners.rundir import cell_directory, write_durably
from benchbrief.runners.searches import latency_of
from benchbrief.runners.supported import meters_of
from benchbrief.runners.world import OpenHosts

_LONG_S = 5.0
"""Cells that measure for so long, and the first of a lane, have their hosts looked at for other load."""


@dataclass(frozen=True)
class _Later:
    """The next attempt at a cell, and the `last` one that it may have; `before` says what became of the one before."""

    cell: Cell
    attempt: int
    last: int
    before: str = ""


class Lane:
    """One lane: its equipment, the hosts that it has lost, and the cells that are tried again when those are back."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._equipment = Equipment(run, hosts)
        self._lost = LostHosts(run, hosts, self._have_back)
        self._later: list[_Later] = []
        self._cells: Sequence[Cell] = ()
        self._looked = False
        """Whether its hosts were once looked at for other load."""
        self._warm: tuple[Cell, int] | None = None
        """The last cell that was run, with its attempt: what is to cool down before the next one."""

    def observe(self, cells: Sequence[Cell]) -> None:
        """Collect the facts of each host of the lane, and say where they contradict what the spec declares."""
        self._cells = cells
        for host_id, found in each_of((host for cell in cells for host in cell.locks), self._claim_and_look):
            if isinstance(found, DiskFull):
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
        return self._run.world.facts(self._hosts[host_id], list(paths))

    def _disclose(self, host_id: str, found: dict[str, str]) -> None:
        self._run.journal.write(j.HostFacts(at=time.time(), host=host_id, facts=found))
        for key in dict.fromkeys(cell.hardware for cell in self._cells):
            hardware = self._run.plan.hardware[key]
            if host_id in hardware.hosts:
                for text in facts.contradictions(hardware, found):
                    self.remark("warning", f"{hardware.label} on {host_id}: {text}", str(hardware.origin))

    def _claim(self, host_id: str) -> None:
        """Hold a host for the run, before anything is done there; nothing new when it is held. Raises RunnerError."""
        said = self._hosts[host_id].claim()
        with self._run.lock:
            if host_id not in self._run.claimed:
                self._run.claimed.append(host_id)
        if said:
            self.remark("info", said)

    def remark(
        self, severity: Literal["info", "warning"], text: str, origin: str = "", cell: str | None = None
    ) -> None:
        self._run.journal.write(j.Remark(at=time.time(), severity=severity, text=text, origin=origin, cell=cell))

    def run_cell(self, cell: Cell, left: Left | None = None) -> None:
        """Run a cell, unless a search or repeats that it belongs to are over, as often as its experiment tries again.

        First wait for the searches that it takes numbers from. With what is `left` of an attempt, that one comes
        first; raises NotWhole when it can't be gone on with.
        """
        run = self._run
        reason = run.searches.not_needed(cell) or run.repeats.not_needed(cell)
        if reason and left is None:
            self._skip(cell, reason)
            return
        attempt = left.attempt if left else run.attempts.get(cell.id, 0) + 1
        last = attempt + run.plan.experiments[cell.experiment].retries
        try:
            known = run.searches.resolved(cell, run.ending)
        except RunnerError as error:
            if left is not None:
                raise NotWhole(str(error)) from error
            run.begin(cell)
            run.journal.write(_started(cell, attempt))
            self._failed(cell, attempt, error)
            return
        if known is not None:
            self._try(_Later(known, attempt, last), left)

    def try_later(self) -> None:
        """Try the cells again whose hosts were away, each once its hosts are back, or were waited for long enough."""
        while self._later and (cell := self._lost.wait([each.cell for each in self._later])) is not None:
            later = next(each for each in self._later if each.cell is cell)
            self._later.remove(later)
            self._try(later)

    def _try(self, what: _Later, left: Left | None = None) -> None:
        """The attempts at a cell: up to a good one, the last one, or one for which its hosts have to come back."""
        run, known, attempt, before = self._run, what.cell, what.attempt, what.before
        while left is not None or self._cooled():
            run.begin(known)
            if left is None:
                run.journal.write(_started(known, attempt))
            else:
                tell_resumed(run, known, left)
            if before:
                self.remark("warning", f"{known.id}: {before}", cell=known.id)
            self._warm = known, attempt
            problem = self._attempt(known, attempt, left)
            left = None
            if problem is None:
                return
            self._take_note(known, problem)
            again = attempt < what.last and self._may_go_well(known, problem) and not run.ending.is_set()
            self._failed(known, attempt, problem, again=again)
            if not again:
                return
            before = f"attempt {attempt} failed, and the cell was tried again: {one_line(problem)}"
            attempt += 1
            if self._lost.of(known):
                if not self._is_waited_for(known):
                    self._later.append(_Later(known, attempt, what.last, before))
                    return
                if self._lost.wait([known]) is None:
                    return

    def _is_waited_for(self, cell: Cell) -> bool:
        """Whether what comes after the cell depends on it: a search, or repeats that end by themselves."""
        experiment = self._run.plan.experiments[cell.experiment]
        return experiment.search is not None or experiment.confident is not None

    def go_on(self, cell: Cell, left: Left) -> bool:
        """Go on with an attempt that an earlier controller left. False: it could not be, and is to be run again."""
        try:
            self.run_cell(cell, left)
        except NotWhole as reason:
            end_jobs(self._run, self._hosts, cell, left)
            self.remark("info", f"attempt {left.attempt} of {cell.id} is run again from its first step: {reason}")
            return False
        return True

    def _skip(self, cell: Cell, reason: str) -> None:
        run = self._run
        run.begin(cell)
        run.journal.write(j.CellSkipped(at=time.time(), cell=cell.id, hash=cell.hash, reason=reason))
        run.repeats.skipped(cell)
        run.searches.skipped(cell)
        with run.lock:
            run.judged.add(cell.id)
            run.skipped += 1

    def remember_warm(self, cells: Sequence[Cell]) -> None:
        """An earlier controller's last cell on these hosts cools down too, if it had not."""
        hosts = {host for cell in cells for host in cell.locks}
        planned = {cell.id: cell for cell in self._run.plan.cells}
        for cell_id, attempt in self._run.warm.items():
            if (cell := planned.get(cell_id)) is not None and hosts.intersection(cell.locks):
                self._warm = cell, attempt

    def _cooled(self) -> bool:
        """Let the cell before cool down; False when the run ends meanwhile."""
        run = self._run
        (cell, attempt), self._warm = self._warm or (None, 0), None
        step = next((step for step in cell.steps if step.kind == "cool_down"), None) if cell else None
        if cell is None or step is None:
            return True
        named = {"cell": cell.id, "attempt": attempt, "step": step.kind}
        run.journal.write(j.StepStarted.model_validate({"at": time.time(), "seconds": step.seconds, **named}))
        began = time.monotonic()
        if run.world.pause(step.seconds, run.ending):
            return False
        taken = time.monotonic() - began
        run.journal.write(j.StepEnded.model_validate({"at": time.time(), "seconds": taken, **named}))
        return True

    def _attempt(self, cell: Cell, attempt: int, left: Left | None) -> RunnerError | None:
        """One attempt, up to a good verdict. The error is that of a failed one; an interrupted one has no verdict.

        Raises NotWhole when what is `left` of it can't be gone on with.
        """
        run = self._run
        try:
            with self._kept_evidence(cell, attempt):
                if left is None:
                    run.searches.refuse_undecided(cell)
                    self._lost.refuse(cell)
                    # Again: of a controller that was cut off for long, another run may have taken its hosts over.
                    for host_id in cell.locks:
                        self._claim(host_id)
                    self._refuse_silent_meters(cell)
                    self._tell_other_load(cell)
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
                    ),
                    engine=lambda: self._equipment.engine(cell, before=left is not None),
                    driver=run.world.driver(cell.tool.driver),
                    tool_path=lambda host: self._equipment.tool(host, cell, before=left is not None),
                ).run()
        except Interrupted:
            return None
        except DiskFull:
            raise
        except RunnerError as error:
            return error
        for text in measurement.warnings:
            if left is None or text not in left.said:
                self.remark("warning", text, cell=cell.id)
        text = off_schedule(cell, measurement)
        if text and (left is None or f"{cell.id} {text}" not in left.said):
            self.remark("info", f"{cell.id} {text}", cell=cell.id)
        criterion = run.searches.criterion(cell)
        latency_s = latency_of(measurement, criterion.latency) if criterion else None
        self._ended(cell, attempt, ops_per_s=measurement.total.ops_per_s, latency_s=latency_s)
        return None

    def _ended(
        self,
        cell: Cell,
        attempt: int,
        *,
        ops_per_s: float | None = None,
        latency_s: float | None = None,
        failed: str = "",
        retried: bool = False,
    ) -> None:
        """The verdict on an attempt: what it measured, or why it `failed`."""
        verdict = j.CellEnded(
            at=time.time(),
            cell=cell.id,
            hash=cell.hash,
            attempt=attempt,
            status="failed" if failed else "ok",
            reason=failed,
            origin=str(cell.origin) if failed else "",
            ops_per_s=ops_per_s,
            latency_s=latency_s,
            retried=retried,
        )
        self._run.journal.write(verdict)
        if not verdict.retried:
            with self._run.lock:
                self._run.judged.add(cell.id)
            self._run.repeats.ended(cell, verdict)
            self._run.searches.ended(cell, verdict)

    @contextmanager
    def _kept_evidence(self, cell: Cell, attempt: int) -> Iterator[None]:
        """A mistake of ours fails the cell with one line, and keeps the traceback beside its raw output."""
        try:
            yield
        except (RunnerError, Interrupted, NotWhole):
            raise
        except Exception as error:
            path = self._run.run_dir / cell_directory(cell.id, attempt) / "internal-error.txt"
            write_durably(path, traceback.format_exc().encode())
            raise RunnerError(f"internal error: {error!r}", f"please report it with {path}") from error

    def _take_note(self, cell: Cell, error: RunnerError) -> None:
        """Of what is lost with a failed attempt: hosts, and the engine."""
        if isinstance(error, HostError):
            self._lost.note(cell, error)
        if isinstance(error, ServerFailed | HostError):
            self._equipment.stop_engine()

    def _may_go_well(self, cell: Cell, error: RunnerError) -> bool:
        """Whether another attempt is worth its time: a wrong definition or a missing tool stays what it is, and so
        does a host that refuses us. One that is away may come back."""
        of_a_kind = isinstance(error, BadOutput | LoadShort | ServerFailed | HostError)
        return of_a_kind and not isinstance(error, HostBusy) and not self._lost.for_good(cell)

    def _failed(self, cell: Cell, attempt: int, error: RunnerError, *, again: bool = False) -> None:
        """The verdict on a failed attempt; not the last one of its cell when it is tried `again`."""
        reason = one_line(error)
        if not again:
            self._run.fail(cell, reason)
        self._ended(cell, attempt, failed=reason, retried=again)

    def _refuse_silent_meters(self, cell: Cell) -> None:
        """Raises the error of a power meter that said nothing, and was tried again: it may have been mended."""
        run, mine = self._run, meters_of(cell)
        if mine.isdisjoint(run.silent_meters):
            return
        silent = run.world.silent_meters(run.plan, [cell], self._hosts)
        with run.lock:
            mended = [meter for meter in mine if run.silent_meters.pop(meter, None) and meter not in silent]
            run.silent_meters.update(silent)
        for _, host_id in mended:
            self.remark("info", f"the power meter of {host_id} can be read again")
        for error in silent.values():
            raise error

    def _tell_other_load(self, cell: Cell) -> None:
        """Of each of its hosts that something else keeps busy; where that takes little of the cell's time."""
        if self._run.world.simulated or (self._looked and cell.measure_s < _LONG_S):
            return
        self._looked = True
        for host_id, said in each_of(cell.locks, lambda host_id: self._run.world.other_load(self._hosts[host_id])):
            if isinstance(said, str) and said:
                self.remark("warning", f"{host_id} was busy when the cell began: {said}", cell=cell.id)

    def _have_back(self, host_id: str) -> None:
        """Have a host as it was at the start: held, observed, and with nothing of an attempt that was lost on it."""
        host = self._hosts[host_id]
        taken_over = host.claim()
        with self._run.lock:
            self._run.claimed.append(host_id)
        self._equipment.stop_engine()
        host.end_leftovers()
        self._disclose(host_id, self._look(host_id))
        self.remark("info", f"{host_id} can be reached again" + (f"; {taken_over}" if taken_over else ""))

    def close(self) -> None:
        self._equipment.stop_engine()


def _started(cell: Cell, attempt: int) -> j.CellStarted:
    """With the numbers that a search has found for it, if they are found."""
    return j.CellStarted(
        at=time.time(),
        cell=cell.id,
        hash=cell.hash,
        attempt=attempt,
        threads=cell.threads if cell.threads_from else None,
        target=cell.target if cell.target_from else None,
    )
