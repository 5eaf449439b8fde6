"""What a run left: its plan, its journal, and for each cell the attempt whose outputs count.

A cell's last verdict decides. A cell that started again after it, and never ended, is missing; so is one that never
started.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from benchbrief.compiler.plan import Cell, Knee, Plan
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import JOURNAL, read_journal
from benchbrief.runners.rundir import PLAN, load_plan, simulation_of
from benchbrief.runners.world import World
from benchbrief.runners.worlds import world_for

Problem = str
"""Why a file, and all that is read from it, can't be used."""

Status = Literal["ok", "failed", "missing", "skipped"]
"""Skipped cells are not needed, so nothing is missing without them."""


_OfCell = j.CellStarted | j.JobCollected | j.Counters | j.ClockRead | j.CellEnded | j.CellSkipped


@dataclass(frozen=True)
class Verdict:
    """How a planned cell ended. `jobs`, `counters` and `clocks` are those of `attempt`.

    `cell` has the threads and the target that a search has found for it, once they are known.
    """

    cell: Cell
    status: Status
    reason: str | None
    attempt: int | None = None
    started_at: float | None = None
    seconds: float | None = None
    """From the attempt's start to its end; None when it has none."""
    ops_per_s: float | None = None
    """As the run said it when the cell ended well."""
    jobs: tuple[j.JobCollected, ...] = ()
    counters: tuple[j.Counters, ...] = ()
    clocks: tuple[j.ClockRead, ...] = ()

    def offset(self, host: str) -> float:
        """By how many seconds a host's clock was ahead of the controller's before the measurement; 0 if not known."""
        return next((c.offset_s for c in self.clocks if c.host == host and c.when == "before"), 0.0)


@dataclass(frozen=True)
class Evidence:
    """A run's plan and journal. `journal_bytes` is how much of the journal was there when it was read."""

    run_dir: Path
    plan: Plan
    plan_sha256: str
    records: tuple[j.AnyRecord, ...]
    journal_bytes: int
    torn: bool

    @cached_property
    def starts(self) -> tuple[j.RunStarted, ...]:
        return tuple(r for r in self.records if isinstance(r, j.RunStarted))

    @cached_property
    def simulated(self) -> j.Simulated | None:
        """How the run was simulated; None when it was measured on real hosts."""
        told = (start.simulated for start in self.starts if start.simulated)
        return next(told, None) or simulation_of(self.run_dir)

    @cached_property
    def world(self) -> World:
        """Whose drivers and probes made the raw outputs, and read them."""
        return world_for(self.simulated)

    @property
    def run_id(self) -> str:
        return self.starts[0].run_id if self.starts else self.run_dir.name

    @cached_property
    def end(self) -> j.RunEnded | None:
        """The last verdict on the run, unless it was resumed after it."""
        for record in reversed(self.records):
            if isinstance(record, j.RunEnded):
                return record
            if isinstance(record, j.RunStarted):
                return None
        return None

    @cached_property
    def tools(self) -> dict[tuple[str, str], j.ToolFound]:
        """The tool last found for each host and driver."""
        return {(r.host, r.driver): r for r in self.records if isinstance(r, j.ToolFound)}

    @cached_property
    def remarks(self) -> dict[str | None, tuple[j.Remark, ...]]:
        """Remarks of each cell's last attempt (None: of the run), in order of time."""
        found: dict[str | None, tuple[j.Remark, ...]] = {}
        for record in self.records:
            if isinstance(record, j.CellStarted):
                found.pop(record.cell, None)
            if isinstance(record, j.Remark):
                found[record.cell] = (*found.get(record.cell, ()), record)
        return found

    @cached_property
    def reused(self) -> dict[str, j.CellReused]:
        """The cells whose result that counts is of an earlier run."""
        taken = {r.cell: r for r in self.records if isinstance(r, j.CellReused)}
        counts = {verdict.cell.id: verdict.attempt for verdict in self.verdicts if verdict.status == "ok"}
        return {cell: record for cell, record in taken.items() if counts.get(cell) == record.attempt}

    @cached_property
    def current_steps(self) -> dict[str, str]:
        """The step that each cell's last attempt began last."""
        return {r.cell: r.step for r in self.records if isinstance(r, j.StepStarted)}

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One for each planned cell, in the plan's order."""
        histories: dict[str, _History] = {}
        for record in self.records:
            if isinstance(record, _OfCell):
                histories.setdefault(record.cell, _History()).add(record)
        unseen = self._why_unseen()
        return tuple(histories.get(cell.id, _History()).verdict(self._known(cell), unseen) for cell in self.plan.cells)

    def _known(self, cell: Cell) -> Cell:
        """The cell with what searches have found for it; as it was planned when they have not."""
        threads = self.knees.get(cell.threads_from) if cell.threads_from else None
        target = self.knees.get(cell.target_from) if cell.target_from else None
        found = {"threads": threads and int(threads), "target": target}
        return cell.model_copy(update={name: value for name, value in found.items() if value is not None})

    @cached_property
    def knees(self) -> dict[Knee, float | None]:
        """What each search that is over has found."""
        return {
            Knee(experiment=r.experiment, hardware=r.hardware, workload=r.workload): r.knee
            for r in self.records
            if isinstance(r, j.SearchEnded)
        }

    def _why_unseen(self) -> str:
        if self.end is None:
            return "not run yet"
        return f"not run: the run was {self.end.status}" + (f" ({self.end.message})" if self.end.message else "")

    def strangers(self) -> tuple[str, ...]:
        """Cells of the journal that are not in the plan."""
        planned = {cell.id for cell in self.plan.cells}
        return tuple(
            dict.fromkeys(r.cell for r in self.records if isinstance(r, j.CellStarted) and r.cell not in planned)
        )


@dataclass
class _History:
    """What the journal says of one cell."""

    started: dict[int, j.CellStarted] = field(default_factory=dict)
    ended: j.CellEnded | None = None
    skipped: j.CellSkipped | None = None
    jobs: dict[int, list[j.JobCollected]] = field(default_factory=dict)
    counters: dict[int, list[j.Counters]] = field(default_factory=dict)
    clocks: dict[int, list[j.ClockRead]] = field(default_factory=dict)

    def add(self, record: _OfCell) -> None:
        if isinstance(record, j.CellStarted):
            self.started[record.attempt] = record
        elif isinstance(record, j.JobCollected):
            self.jobs.setdefault(record.attempt, []).append(record)
        elif isinstance(record, j.Counters):
            self.counters.setdefault(record.attempt, []).append(record)
        elif isinstance(record, j.ClockRead):
            self.clocks.setdefault(record.attempt, []).append(record)
        elif isinstance(record, j.CellSkipped):
            self.skipped = record
        else:
            self.ended = record

    def verdict(self, cell: Cell, unseen: str) -> Verdict:
        ended = self.ended
        last = max(self.started, default=None)
        if self.skipped is not None and (ended is None or ended.status == "failed"):
            return Verdict(cell, "skipped", self.skipped.reason)
        cell = self._as_run(cell)
        if last is None and ended is None:
            return Verdict(cell, "missing", unseen)
        if ended is None or (last is not None and last > ended.attempt):
            before = f"; attempt {ended.attempt} failed: {ended.reason}" if ended and ended.status == "failed" else ""
            return self._of(cell, "missing", f"attempt {last} has no end: going on, or interrupted{before}", last)
        if ended.hash != cell.hash:
            reason = "the journal's result belongs to another definition of this cell"
            return self._of(cell, "missing", reason, ended.attempt)
        if ended.status == "failed":
            return self._of(cell, "failed", ended.reason or "failed, no reason recorded", ended.attempt)
        return self._of(cell, "ok", None, ended.attempt)

    def _as_run(self, cell: Cell) -> Cell:
        """With the numbers that its last attempt was run with, where those were found by a search."""
        started = self.started[max(self.started)] if self.started else None
        found = {"threads": started and started.threads, "target": started and started.target}
        return cell.model_copy(update={name: value for name, value in found.items() if value is not None})

    def _of(self, cell: Cell, status: Status, reason: str | None, attempt: int | None) -> Verdict:
        number = attempt or 0
        started = self.started.get(number)
        ended = self.ended if self.ended and self.ended.attempt == attempt else None
        return Verdict(
            cell,
            status,
            reason,
            attempt,
            started_at=started.at if started else None,
            seconds=ended.at - started.at if started and ended else None,
            ops_per_s=ended.ops_per_s if ended else None,
            jobs=tuple(self.jobs.get(number, ())),
            counters=tuple(self.counters.get(number, ())),
            clocks=tuple(self.clocks.get(number, ())),
        )


def read_evidence(run_dir: Path) -> Evidence:
    """Raises RunnerError when the plan or a whole line of the journal can't be read. No journal: nothing began."""
    plan = load_plan(run_dir)
    path = run_dir / JOURNAL
    size, torn, records = 0, False, []
    if path.exists():
        size, torn = path.stat().st_size, not _ends_whole(path)
        records = read_journal(path)
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    return Evidence(run_dir, plan, digest, tuple(records), size, torn)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def check_files(run_dir: Path, job: j.JobCollected) -> dict[str, Problem | None]:
    """For each file of a job, what is wrong: gone, changed since it was kept, or outside the run's directory."""
    root = run_dir.resolve()
    return {
        f"{job.directory}/{name}": _problem(run_dir, root, Path(job.directory) / name, sha256)
        for name, sha256 in job.files.items()
    }


def _problem(run_dir: Path, root: Path, relative: Path, sha256: str) -> Problem | None:
    path = run_dir / relative
    if not path.resolve().is_relative_to(root):
        return f"{relative} lies outside the run's directory"
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return f"{relative} is missing"
    except OSError as error:
        return f"{relative} can't be read: {error.strerror}"
    if found != sha256:
        return f"{relative} was changed after it was measured (SHA-256 {found[:12]}, recorded {sha256[:12]})"
    return None


def first_problem(problems: Iterable[Problem | None]) -> Problem | None:
    return next((p for p in problems if p), None)
