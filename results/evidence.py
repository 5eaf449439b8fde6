"""What a run left: its plan, its journal, and for each cell the attempt whose outputs count.

The journal is read once, record by record, and only what the tables are made of is kept of it: a fleet's is larger
than the memory that its controller should take.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchbrief.compiler.plan import Knee, Plan
from benchbrief.results.host_facts import together
from benchbrief.results.verdicts import INTERRUPTED, UNENDED, History, Verdict, found
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import JOURNAL, Place, each_record, whole_bytes
from benchbrief.runners.rundir import PLAN, load_plan, simulation_of
from benchbrief.runners.world import World
from benchbrief.runners.worlds import world_for

Problem = str
"""Why a file, and all that is read from it, can't be used."""


@dataclass(frozen=True)
class Evidence:
    """A run's plan and what its journal said when it was read; `journal_bytes` is how much of it was there.

    `verdicts` has one for each planned cell, in the plan's order.
    """

    run_dir: Path
    plan: Plan
    plan_sha256: str
    journal_bytes: int
    torn: bool
    told: Told
    verdicts: tuple[Verdict, ...]

    @property
    def records(self) -> Iterator[j.AnyRecord]:
        """All records, read again each time."""
        path = self.run_dir / JOURNAL
        return (record for _, record in each_record(path, self.journal_bytes)) if self.journal_bytes else iter(())

    @property
    def starts(self) -> list[j.RunStarted]:
        return self.told.starts

    @cached_property
    def simulated(self) -> j.Simulated | None:
        """How the run was simulated; None when it was measured on real hosts."""
        told = (start.simulated for start in self.starts if start.simulated)
        return next(told, None) or simulation_of(self.run_dir)

    @property
    def imported(self) -> j.Imported | None:
        """Where the results come from, when they were measured elsewhere."""
        return next((start.imported for start in self.starts if start.imported), None)

    @property
    def made_by(self) -> str:
        """The version of benchbrief that began the run."""
        return self.starts[0].benchbrief if self.starts else "of an unknown version"

    @cached_property
    def world(self) -> World:
        """Whose drivers and probes made the raw outputs, and read them."""
        return world_for(self.simulated)

    @property
    def run_id(self) -> str:
        return self.starts[0].run_id if self.starts else self.run_dir.name

    @property
    def end(self) -> j.RunEnded | None:
        """The last verdict on the run, unless it was resumed after it."""
        return self.told.end

    @property
    def tools(self) -> dict[tuple[str, str], j.ToolFound]:
        """The tool last found for each host and driver."""
        return self.told.tools

    @property
    def remarks(self) -> dict[str | None, list[j.Remark]]:
        """Remarks of each cell's last attempt (None: of the run), in order of time."""
        return self.told.remarks

    @cached_property
    def reused(self) -> dict[str, j.CellReused]:
        """The cells whose result that counts is of an earlier run."""
        counts = {verdict.cell.id: verdict.attempt for verdict in self.verdicts if verdict.status == "ok"}
        return {cell: record for cell, record in self.told.reused.items() if counts.get(cell) == record.attempt}

    @property
    def current_steps(self) -> dict[str, str]:
        """The step that each cell's last attempt began last."""
        return self.told.current_steps

    @property
    def knees(self) -> dict[Knee, float | None]:
        """What each search that is over has found."""
        return self.told.knees

    def strangers(self) -> tuple[str, ...]:
        """Cells of the journal that are not in the plan."""
        planned = {cell.id for cell in self.plan.cells}
        return tuple(cell for cell, history in self.told.histories.items() if history.started and cell not in planned)


@dataclass
class Told:
    """What is kept of the records of a journal. `hosts` and `engines` have the last facts of each; of a host, the
    last of each place on it.

    `elapsed_s` is from each start to the last record before the next one, and `last_at` the time of the last record.
    """

    starts: list[j.RunStarted] = field(default_factory=list)
    end: j.RunEnded | None = None
    hosts: dict[str, j.HostFacts] = field(default_factory=dict)
    engines: dict[str, j.EngineFacts] = field(default_factory=dict)
    tools: dict[tuple[str, str], j.ToolFound] = field(default_factory=dict)
    remarks: dict[str | None, list[j.Remark]] = field(default_factory=dict)
    reused: dict[str, j.CellReused] = field(default_factory=dict)
    current_steps: dict[str, str] = field(default_factory=dict)
    knees: dict[Knee, float | None] = field(default_factory=dict)
    histories: dict[str, History] = field(default_factory=dict)
    published: list[j.PublishedValue] = field(default_factory=list)
    failed_before: set[str] = field(default_factory=set)
    retried: set[str] = field(default_factory=set)
    """Cells that were tried again after an attempt that failed; one that was interrupted did not."""
    elapsed_s: float = 0.0
    last_at: float | None = None

    def add(self, place: Place, record: j.AnyRecord) -> None:
        match record:
            case j.StepStarted():
                self.current_steps[record.cell] = record.step
            case j.JobCollected() | j.Counters() | j.ClockRead():
                self._history(record.cell).keep(record, place)
            case j.CellStarted():
                self.remarks.pop(record.cell, None)
                if record.cell in self.failed_before:
                    self.retried.add(record.cell)
                self._history(record.cell).add(record)
            case j.CellEnded() | j.CellSkipped():
                self._history(record.cell).add(record)
                if isinstance(record, j.CellEnded) and record.status == "failed":
                    self.failed_before.add(record.cell)
            case j.CellReused():
                self.reused[record.cell] = record
            case j.Remark():
                self.remarks.setdefault(record.cell, []).append(record)
            case j.HostFacts():
                before = self.hosts.get(record.host)
                facts = together(before.facts, record.facts) if before else record.facts
                self.hosts[record.host] = record.model_copy(update={"facts": facts})
            case j.EngineFacts():
                self.engines[record.database] = record
            case j.ToolFound():
                self.tools[record.host, record.driver] = record
            case j.SearchEnded():
                search = Knee(experiment=record.experiment, hardware=record.hardware, workload=record.workload)
                self.knees[search] = record.knee
            case j.PublishedValue():
                self.published.append(record)
            case j.RunEnded():
                self.end = record
            case j.RunStarted():
                if self.starts and self.last_at is not None:
                    self.elapsed_s += self.last_at - self.starts[-1].at
                self.starts.append(record)
                self.end = None
                self.remarks[None] = [remark for remark in self.remarks.get(None, ()) if not remark.passing]
        self.last_at = record.at

    def _history(self, cell: str) -> History:
        return self.histories.setdefault(cell, History())

    def verdicts(self, plan: Plan) -> Iterator[Verdict]:
        """One for each planned cell, with what searches have found for it; as it was planned when they have not."""
        unseen, unended = self._why_unseen(), INTERRUPTED if self.end else UNENDED
        for cell in plan.cells:
            threads = self.knees.get(cell.threads_from) if cell.threads_from else None
            target = self.knees.get(cell.target_from) if cell.target_from else None
            known = found(cell, threads=None if threads is None else int(threads), target=target)
            yield self.histories.get(cell.id, History()).verdict(known, unseen, unended)

    def _why_unseen(self) -> str:
        if any(start.imported for start in self.starts):
            return "not in what was imported"
        if self.end is None:
            return "not run yet"
        return f"not run: the run was {self.end.status}" + (f" ({self.end.message})" if self.end.message else "")


def read_evidence(run_dir: Path, plan: Plan | None = None) -> Evidence:
    """Raises RunnerError when the plan or a whole line of the journal can't be read. No journal: nothing began.

    `plan` is the run's own, when it has been read before.
    """
    plan = plan or load_plan(run_dir)
    path = run_dir / JOURNAL
    size, torn, told = 0, False, Told()
    if path.exists():
        size = path.stat().st_size
        torn = whole_bytes(path, size) < size
        for place, record in each_record(path, size):
            told.add(place, record)
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    return Evidence(run_dir, plan, digest, size, torn, told, tuple(told.verdicts(plan)))


def check_files(run_dir: Path, job: j.JobCollected) -> dict[str, Problem | None]:
    """For each file of a job, what is wrong: gone, changed since it was kept, or outside the run's directory."""
    root = os.path.realpath(run_dir)
    return {
        f"{job.directory}/{name}": _problem(root, f"{job.directory}/{name}", sha256)
        for name, sha256 in job.files.items()
    }


def _problem(root: str, relative: str, sha256: str) -> Problem | None:
    path = os.path.realpath(f"{root}/{relative}")
    if not path.startswith(f"{root}{os.sep}"):
        return f"{relative} lies outside the run's directory"
    try:
        with Path(path).open("rb") as file:
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
