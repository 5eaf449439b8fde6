"""Walking the plan: which cells run side by side, which engine is up when, and what the journal says of each.

Cells that share a host, directly or through others, form a lane; a lane's cells run one after another in the plan's
order, and lanes run side by side. One cell's failure does not stop the others, but for a search, which can't go on
without it. A cell that takes a number from a search waits for it, be that in another lane: searches come first in the
plan, so that no two lanes wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import benchbrief
from benchbrief.compiler.plan import Cell, Plan
from benchbrief.runners import facts, tools
from benchbrief.runners import journal as j
from benchbrief.runners.cell import CellRun, Interrupted
from benchbrief.runners.hosts import CONTROLLER, HostPool
from benchbrief.runners.journal_io import JOURNAL, Journal, Listener, read_journal
from benchbrief.runners.plugins import driver, engine_class
from benchbrief.runners.rundir import cell_directory, server_directory, write_durably
from benchbrief.runners.seams import DiskFull, Engine, HostError, HostFull, RunnerError, ServerFailed
from benchbrief.runners.searches import Searches, latency_of
from benchbrief.runners.supported import metered, refuse_unsupported, require_power


@dataclass(frozen=True)
class Outcome:
    """How a run ended; `failed` pairs each failed cell with its reason."""

    status: Literal["done", "failed", "interrupted"]
    message: str
    failed: tuple[tuple[str, str], ...]


def execute(
    plan: Plan,
    plan_sha256: str,
    run_dir: Path,
    *,
    listener: Listener = lambda _: None,
    stopping: threading.Event | None = None,
    config: Path | None = None,
) -> Outcome:
    """Run every cell of the plan that the journal does not yet call good.

    Set `stopping` to end early: running jobs are stopped, and the run can be resumed. Raises RunnerError when another
    process drives the run, or when it can't be run as planned; DiskFull when the journal can't even be begun.
    """
    refuse_unsupported(plan)
    journal = Journal(run_dir, listener)
    try:
        before = read_journal(run_dir / JOURNAL)
        # A journal may begin with results of earlier runs, before any start.
        resumed = any(isinstance(record, j.RunStarted) for record in before)
        attempts = _attempts(before)
        if resumed and plan.cells and finished_cells(run_dir) >= {cell.id for cell in plan.cells}:
            # A whole run stays as it ended: there is nothing to add to its journal.
            return Outcome("done", f"all {len(plan.cells)} cells were done before", ())
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
            )
        )
        reused = sum(isinstance(record, j.CellReused) for record in before)
        done, stop = finished_cells(run_dir), stopping or threading.Event()
        searches = Searches(plan, before, done, journal.write)
        run = _Run(plan, run_dir, journal, stop, done, attempts, resumed, reused, searches)
        run.skipped = sum(isinstance(record, j.CellSkipped) for record in before)
        with HostPool(plan, config, owner=_owner(run_dir)) as hosts:
            run.all_lanes(hosts)
        outcome = run.outcome()
        try:
            journal.write(j.RunEnded(at=time.time(), status=outcome.status, message=outcome.message))
        except DiskFull as error:  # a run whose journal has no end counts as interrupted
            outcome = Outcome("interrupted", _one_line(error), outcome.failed)
        return outcome
    finally:
        journal.close()


def finished_cells(run_dir: Path) -> set[str]:
    """Cells whose last verdict is good, and those not needed. Raises RunnerError when the journal can't be read."""
    done: set[str] = set()
    for record in _records(run_dir):
        if isinstance(record, j.CellEnded):
            (done.add if record.status == "ok" else done.discard)(record.cell)
        elif isinstance(record, j.CellSkipped):
            done.add(record.cell)
    return done


def _attempts(records: Sequence[j.AnyRecord]) -> dict[str, int]:
    """How many attempts each cell has had."""
    return {record.cell: record.attempt for record in records if isinstance(record, j.CellStarted)}


def _owner(run_dir: Path) -> str:
    """What the run's jobs are known by on every host: the same when it is resumed, another for any other run."""
    return hashlib.sha256(f"{socket.gethostname()}:{run_dir.resolve()}".encode()).hexdigest()[:16]


def _records(run_dir: Path) -> list[j.AnyRecord]:
    journal = run_dir / JOURNAL
    return read_journal(journal) if journal.exists() else []


def lanes(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells grouped by the hosts they share, directly or through others, each group in the plan's order."""
    lane_of: dict[str, list[Cell]] = {}
    order = {cell.id: index for index, cell in enumerate(cells)}
    for cell in cells:
        joined = {id(lane): lane for host in cell.locks if (lane := lane_of.get(host)) is not None}
        merged = (
            sorted((c for lane in joined.values() for c in lane), key=lambda c: order[c.id])
            if len(joined) > 1
            else next(iter(joined.values()), [])
        )
        merged.append(cell)
        hosts = {host for c in merged for host in c.locks} if len(joined) > 1 else set(cell.locks)
        for host in hosts:
            lane_of[host] = merged
    return list({id(lane): lane for lane in lane_of.values()}.values())


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


def _one_line(error: RunnerError) -> str:
    return " ".join((f"{error} ({error.hint})" if error.hint else str(error)).split())


@dataclass
class _Run:
    """The state of one execution, shared by its lanes. `failed`, `fatal` and `skipped` change, under the lock."""

    plan: Plan
    run_dir: Path
    journal: Journal
    stopping: threading.Event
    done: set[str]
    attempts: dict[str, int]
    resumed: bool
    reused: int
    searches: Searches
    skipped: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    fatal: list[RunnerError] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def all_lanes(self, hosts: HostPool) -> None:
        try:
            if self.resumed and any(at == CONTROLLER.id for _, at in metered(self.plan)):
                # All lanes have jobs there: before the first begins, all that are left are an earlier run's.
                hosts[CONTROLLER.id].end_leftovers()
            require_power(self.plan, hosts)
        except RunnerError as error:
            self.stop_all(error)
            return
        cells = [cell for cell in self.plan.cells if cell.id not in self.done]
        threads = [
            threading.Thread(target=self._lane, args=(hosts, lane), name=f"lane-{lane[0].locks[0]}")
            for lane in lanes(cells)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def outcome(self) -> Outcome:
        failed = tuple(self.failed)
        if self.fatal:
            return Outcome("interrupted", _one_line(self.fatal[0]), failed)
        if self.stopping.is_set():
            return Outcome("interrupted", "stopped before every cell was run", failed)
        if failed:
            return Outcome("failed", f"{len(failed)} of {len(self.plan.cells)} cells failed", failed)
        taken = "all" if self.reused == len(self.plan.cells) else f"{self.reused} of them"
        earlier = f", {taken} taken from earlier runs" if self.reused else ""
        skipped = f", {self.skipped} of them not needed" if self.skipped else ""
        return Outcome("done", f"{len(self.plan.cells)} cells{earlier}{skipped}", ())

    def _lane(self, hosts: HostPool, cells: list[Cell]) -> None:
        lane = _Lane(self, hosts)
        try:
            lane.observe(cells)
            for cell in cells:
                if self.stopping.is_set():
                    break
                lane.run_cell(cell)
        except DiskFull as error:
            self.stop_all(error)
        except Exception as error:  # a lane is a thread: what escapes it here would be lost
            traceback_file = self.run_dir / "internal-error.txt"
            with suppress(OSError):
                traceback_file.write_text(traceback.format_exc())
            self.stop_all(RunnerError(f"internal error: {error!r}", f"please report it with {traceback_file}"))
        finally:
            lane.stop_engine()

    def stop_all(self, error: RunnerError) -> None:
        with self.lock:
            self.fatal.append(error)
        self.stopping.set()


class _Lane:
    """One lane's engine, tools, and the hosts that could not be reached, or had no room even to be looked at."""

    def __init__(self, run: _Run, hosts: HostPool) -> None:
        self._run = run
        self._hosts = hosts
        self._engine: Engine | None = None
        self._engine_of = ""
        self._tools: dict[tuple[str, str, str | None], str] = {}
        self._lost: dict[str, RunnerError] = {}

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
                found = facts.observe(self._hosts[host_id], list(paths))
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
        """Run a cell, unless a search that it belongs to is over; first wait for those that it takes numbers from."""
        run = self._run
        if reason := run.searches.not_needed(cell):
            run.journal.write(j.CellSkipped(at=time.time(), cell=cell.id, hash=cell.hash, reason=reason))
            with run.lock:
                run.skipped += 1
            return
        attempt = run.attempts.get(cell.id, 0) + 1
        try:
            known = run.searches.resolved(cell, run.stopping)
        except RunnerError as error:
            run.journal.write(_started(cell, attempt))
            self._failed(cell, attempt, error)
            return
        if known is not None:
            self._run_known(known, attempt)

    def _run_known(self, cell: Cell, attempt: int) -> None:
        run = self._run
        run.journal.write(_started(cell, attempt))
        try:
            with self._kept_evidence(cell, attempt):
                run.searches.refuse_undecided(cell)
                self._refuse_lost_hosts(cell)
                measurement = CellRun(
                    plan=run.plan,
                    cell=cell,
                    attempt=attempt,
                    run_dir=run.run_dir,
                    journal=run.journal,
                    hosts=self._hosts,
                    engine=lambda: self._engine_for(cell),
                    driver=driver(cell.tool.driver),
                    tool_path=lambda host: self._tool(host, cell),
                    stopping=run.stopping,
                ).run()
        except Interrupted:
            return
        except DiskFull:
            raise
        except RunnerError as error:
            self._failed(cell, attempt, error)
            return
        for text in measurement.warnings:
            self.remark("warning", text, cell=cell.id)
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

    def _ended(self, cell: Cell, verdict: j.CellEnded) -> None:
        self._run.journal.write(verdict)
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

    def _failed(self, cell: Cell, attempt: int, error: RunnerError) -> None:
        if isinstance(error, HostError):
            for host_id in cell.locks:
                if not self._hosts.reachable(host_id):
                    self._lost[host_id] = error
        if isinstance(error, ServerFailed | HostError):
            self.stop_engine()
        reason = _one_line(error)
        with self._run.lock:
            self._run.failed.append((cell.id, reason))
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
            ),
        )

    def _refuse_lost_hosts(self, cell: Cell) -> None:
        for host_id in cell.locks:
            if host_id in self._lost:
                raise self._lost[host_id]

    def _engine_for(self, cell: Cell) -> Engine:
        """The cell's engine. Another one of the lane is stopped first: two servers on one host disturb each other."""
        plan = self._run.plan
        if self._engine is None or self._engine_of != cell.database:
            self.stop_engine()
            database = plan.databases[cell.database]
            engine = engine_class(database.engine)(plan, database, plan.hardware[cell.hardware], self._hosts)
            engine.keep = self._run.run_dir / server_directory(cell.database)
            try:
                engine.start()
                known = j.EngineFacts(
                    at=time.time(), database=cell.database, facts=engine.describe(), sha256=engine.build()
                )
                self._run.journal.write(known)
            except BaseException:
                with suppress(RunnerError):
                    engine.stop()
                raise
            # Not before: an engine that is known here has been disclosed in the journal.
            self._engine, self._engine_of = engine, cell.database
        return self._engine

    def stop_engine(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            # The server may be gone already, which is then the reason of the cell that failed.
            with suppress(RunnerError):
                engine.stop()

    def _tool(self, host_id: str, cell: Cell) -> str:
        key = (host_id, cell.tool.driver, cell.tool.path)
        if key not in self._tools:
            found = tools.find(self._hosts[host_id], driver(cell.tool.driver), cell.tool.path)
            self._tools[key] = found.path
            self._run.journal.write(
                j.ToolFound(
                    at=time.time(),
                    host=host_id,
                    driver=cell.tool.driver,
                    path=found.path,
                    version=found.version,
                    sha256=tools.digest(self._hosts[host_id], found.path),
                )
            )
        return self._tools[key]
