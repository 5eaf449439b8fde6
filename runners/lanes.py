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
from typing import Literal

from benchbrief.compiler.plan import Cell
from benchbrief.runners import facts
from benchbrief.runners import journal as j
from benchbrief.runners.attempt import Attempt, Interrupted
from benchbrief.runners.cell import CellRun
from benchbrief.runners.equipment import Equipment
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.offered import shortfall
from benchbrief.runners.run_state import RunState, one_line
from benchbrief.runners.rundir import cell_directory, write_durably
from benchbrief.runners.seams import BadOutput, DiskFull, HostError, HostFull, LoadShort, RunnerError, ServerFailed
from benchbrief.runners.searches import latency_of
from benchbrief.runners.supported import metered
from benchbrief.runners.world import OpenHosts


class Lane:
    """One lane, with the hosts that could not be reached, or had no room even to be looked at."""

    def __init__(self, run: RunState, hosts: OpenHosts) -> None:
        self._run = run
        self._hosts = hosts
        self._equipment = Equipment(run, hosts)
        self._lost: dict[str, RunnerError] = {}
        self._warm: tuple[Cell, int] | None = None
        """The last cell that was run, with its attempt: what is to cool down before the next one."""

    def observe(self, cells: Sequence[Cell]) -> None:
        """Collect the facts of each host of the lane, and say where they contradict what the spec declares."""
        plan = self._run.plan
        for host_id in dict.fromkeys(host for cell in cells for host in cell.locks):
            paths = dict.fromkeys(
                path for cell in cells if host_id in cell.locks and (path := plan.databases[cell.database].path)
            )
            try:
                ended = host_id == CONTROLLER.id and any(at == host_id for _, at in metered(plan))
                if self._run.resumed and not ended and (left := self._hosts[host_id].end_leftovers()):
                    jobs = f"{left} job{'s' if left > 1 else ''} of the interrupted run"
                    self.remark("info", f"{jobs} still ran on {host_id}, and had to be stopped first")
                found = self._run.world.facts(self._hosts[host_id], list(paths))
            except (HostError, HostFull) as error:
                self._lost[host_id] = error
                continue
            self._run.journal.write(j.HostFacts(at=time.time(), host=host_id, facts=found))
            for key in dict.fromkeys(cell.hardware for cell in cells):
                hardware = plan.hardware[key]
                if host_id in hardware.hosts:
                    for text in facts.contradictions(hardware, found):
                        self.remark("warning", f"{hardware.label} on {host_id}: {text}", str(hardware.origin))

    def remark(
        self, severity: Literal["info", "warning"], text: str, origin: str = "", cell: str | None = None
    ) -> None:
        self._run.journal.write(j.Remark(at=time.time(), severity=severity, text=text, origin=origin, cell=cell))

    def run_cell(self, cell: Cell) -> None:
        """Run a cell, unless a search or repeats that it belongs to are over, as often as its experiment tries again.

        First wait for the searches that it takes numbers from.
        """
        run = self._run
        if reason := run.searches.not_needed(cell) or run.repeats.not_needed(cell):
            self._skip(cell, reason)
            return
        attempt = run.attempts.get(cell.id, 0) + 1
        last = attempt + run.plan.experiments[cell.experiment].retries
        try:
            known = run.searches.resolved(cell, run.ending)
        except RunnerError as error:
            run.begin(cell)
            run.journal.write(_started(cell, attempt))
            self._failed(cell, attempt, error)
            return
        before = ""
        while known is not None and self._cooled():
            run.begin(cell)
            run.journal.write(_started(known, attempt))
            if before:
                self.remark("warning", f"{cell.id}: {before}", cell=cell.id)
            self._warm = known, attempt
            problem = self._attempt(known, attempt)
            if problem is None:
                return
            self._take_note(known, problem)
            again = attempt < last and self._may_go_well(known, problem) and not run.ending.is_set()
            self._failed(known, attempt, problem, again=again)
            if not again:
                return
            before = f"attempt {attempt} failed, and the cell was tried again: {one_line(problem)}"
            attempt += 1

    def _skip(self, cell: Cell, reason: str) -> None:
        run = self._run
        run.begin(cell)
        run.journal.write(j.CellSkipped(at=time.time(), cell=cell.id, hash=cell.hash, reason=reason))
        run.repeats.skipped(cell)
        run.searches.skipped(cell)
        with run.lock:
            run.skipped += 1

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

    def _attempt(self, cell: Cell, attempt: int) -> RunnerError | None:
        """One attempt, up to a good verdict. The error is that of a failed one; an interrupted one has no verdict."""
        run = self._run
        try:
            with self._kept_evidence(cell, attempt):
                run.searches.refuse_undecided(cell)
                self._refuse_lost_hosts(cell)
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
                    ),
                    engine=lambda: self._equipment.engine(cell),
                    driver=run.world.driver(cell.tool.driver),
                    tool_path=lambda host: self._equipment.tool(host, cell),
                ).run()
        except Interrupted:
            return None
        except DiskFull:
            raise
        except RunnerError as error:
            return error
        for text in measurement.warnings:
            self.remark("warning", text, cell=cell.id)
        if text := shortfall(cell, measurement):
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
            self._run.repeats.ended(cell, verdict)
            self._run.searches.ended(cell, verdict)

    @contextmanager
    def _kept_evidence(self, cell: Cell, attempt: int) -> Iterator[None]:
        """A mistake of ours fails the cell with one line, and keeps the traceback beside its raw output."""
        try:
            yield
        except (RunnerError, Interrupted):
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
        return isinstance(error, BadOutput | LoadShort | ServerFailed | HostError) and not lost

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
        for host_id in cell.locks:
            if host_id in self._lost:
                raise self._lost[host_id]

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
