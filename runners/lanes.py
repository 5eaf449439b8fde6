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
from contextlib import contextmanager, suppress
from typing import Literal

from benchbrief.compiler.plan import Cell
from benchbrief.runners import facts
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, Interrupted, NotWhole
from benchbrief.runners.cell import CellRun
from benchbrief.runners.equipment import Equipment
from benchbrief.runners.fan_out import each_of
from benchbrief.runners.history import Left
from benchbrief.runners.offered import shortfall
from benchbrief.runners.run_state import RunState, one_line
from benchbrief.runners.rundir import cell_directory, write_durably
from benchbrief.runners.seams import (
    BadOutput,
    Command,
    DiskFull,
    HostBusy,
    HostError,
    HostFull,
    Job,
    LoadShort,
    RunnerError,
    ServerFailed,
)
from benchbrief.runners.searches import latency_of
from benchbrief.runners.step_jobs import jobs_of
from benchbrief.runners.world import OpenHosts


class Lane:
    """One lane, with the hosts that could not be reached, or had no room even to be looked at."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._equipment = Equipment(run, hosts)
        self._lost: dict[str, RunnerError] = {}
        self._cells: Sequence[Cell] = ()
        self._warm: tuple[Cell, int] | None = None
        """The last cell that was run, with its attempt: what is to cool down before the next one."""

    def observe(self, cells: Sequence[Cell]) -> None:
        """Collect the facts of each host of the lane, and say where they contradict what the spec declares."""
        self._cells = cells
        for host_id, found in each_of((host for cell in cells for host in cell.locks), self._claim_and_look):
            if isinstance(found, HostError | HostFull):
                self._lost[host_id] = found
                continue
            if isinstance(found, RunnerError):
                raise found
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
        before = ""
        while known is not None and (left is not None or self._cooled()):
            run.begin(cell)
            if left is None:
                run.journal.write(_started(known, attempt))
            else:
                self._tell_resumed(known, left)
            if before:
                self.remark("warning", f"{cell.id}: {before}", cell=cell.id)
            self._warm = known, attempt
            problem = self._attempt(known, attempt, left)
            left = None
            if problem is None:
                return
            self._take_note(known, problem)
            again = attempt < last and self._may_go_well(known, problem) and not run.ending.is_set()
            self._failed(known, attempt, problem, again=again)
            if not again:
                return
            before = f"attempt {attempt} failed, and the cell was tried again: {one_line(problem)}"
            attempt += 1

    def go_on(self, cell: Cell, left: Left) -> bool:
        """Go on with an attempt that an earlier controller left. False: it could not be, and is to be run again."""
        try:
            self.run_cell(cell, left)
        except NotWhole as reason:
            self._end_jobs(cell, left)
            self.remark("info", f"attempt {left.attempt} of {cell.id} is run again from its first step: {reason}")
            return False
        return True

    def _end_jobs(self, cell: Cell, left: Left) -> None:
        """End what is left of the attempt's step, on the hosts that can be reached."""
        step = left.current
        if step is None:
            return
        for its in jobs_of(self._run.world, cell, step):
            key = its.key(left.cell, left.attempt, step)
            with suppress(RunnerError):
                at = self._hosts[its.at]
                if at.find(key) is not None:
                    running = at.start(Job("leftover", Command(("true",)), timeout_s=1.0, key=key))
                    running.stop()
                    running.discard()

    def _tell_resumed(self, cell: Cell, left: Left) -> None:
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
        self._run.journal.write(resumed)
        if step == "collect":
            return  # nothing ran meanwhile
        text = (
            f"the controller was away in the {step.replace('_', '-')} step, from {_clock(left.until)} to {_clock(now)}"
        )
        gap = f"; server counters were not read from {_clock(left.readings[-1].at)} until then" if left.readings else ""
        self.remark("info", text + gap, cell=cell.id)

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
                    self._refuse_lost_hosts(cell)
                    # Again: of a controller that was cut off for long, another run may have taken its hosts over.
                    for host_id in cell.locks:
                        self._claim(host_id)
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
        text = shortfall(cell, measurement)
        if text and (left is None or f"{cell.id} {text}" not in left.said):
            self.remark("info", f"{cell.id} {text}", cell=cell.id)
        criterion = run.searches.criterion(cell)
        self._ended(
            cell,
            j.CellEnded(
                at=time.time(),
                cell=cell.id,
                hash=cell.hash,
                attempt=attempt,
                status="ok",
                ops_per_s=measurement.total.ops_per_s,
                latency_s=latency_of(measurement, criterion.latency) if criterion else None,
            ),
        )
        return None

    def _ended(self, cell: Cell, verdict: j.CellEnded) -> None:
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
            for host_id in cell.locks:
                if not self._hosts.reachable(host_id):
                    self._lost[host_id] = error
        if isinstance(error, ServerFailed | HostError):
            self._equipment.stop_engine()

    def _may_go_well(self, cell: Cell, error: RunnerError) -> bool:
        """Whether another attempt is worth its time: a wrong definition or a missing tool stays what it is."""
        lost = any(host in self._lost for host in cell.locks)
        of_a_kind = isinstance(error, BadOutput | LoadShort | ServerFailed | HostError)
        return of_a_kind and not isinstance(error, HostBusy) and not lost

    def _failed(self, cell: Cell, attempt: int, error: RunnerError, *, again: bool = False) -> None:
        """The verdict on a failed attempt; not the last one of its cell when it is tried `again`."""
        reason = one_line(error)
        if not again:
            self._run.fail(cell, reason)
        self._ended(
            cell,
            j.CellEnded(
                at=time.time(),
                cell=cell.id,
                hash=cell.hash,
                attempt=attempt,
                status="failed",
                reason=reason,
                origin=str(cell.origin),
                retried=again,
            ),
        )

    def _refuse_lost_hosts(self, cell: Cell) -> None:
        """Raises the error of a host that is lost, and was looked for again: it may be back."""
        for host_id in cell.locks:
            if host_id in self._lost:
                self._look_again(host_id)

    def _look_again(self, host_id: str) -> None:
        """Have a host back as it was at the start: held, observed, and with nothing of an attempt that was lost on it.

        Raises HostError or HostFull when it is still away, or can't be had.
        """
        if not self._hosts.reachable(host_id):
            raise self._lost[host_id]
        host = self._hosts[host_id]
        try:
            taken_over = host.claim()
            with self._run.lock:
                self._run.claimed.append(host_id)
            self._equipment.stop_engine()
            host.end_leftovers()
            self._disclose(host_id, self._look(host_id))
        except (HostError, HostFull) as error:
            self._lost[host_id] = error
            raise
        del self._lost[host_id]
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


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
