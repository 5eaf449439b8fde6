"""Reads the evidence of a run: its plan, its journal, and how each planned cell ended.

A cell's last verdict decides. A cell is missing if it never started, or if it started again after its last verdict and
never ended. The journal is read once, record by record, and only the parts that the tables need are kept. The journal
of a large run would take more memory than the controller should use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import JournalPlace
from benchbrief.model.message import Message
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.run_record import CellHistory, RunRecord
from benchbrief.results.result_messages import changed_text, say
from benchbrief.runners.hosts.host_clocks import Offset, axis_step, offset_of
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL, chain_of, each_record, read_run, records_at, whole_bytes
from benchbrief.runners.journal.run_folder import load_plan, simulation_of
from benchbrief.runners.world.world_choice import world_for
from benchbrief.runners.world.world_seams import World

Status = Literal["ok", "failed", "missing", "skipped"]
"""How a cell ended. A skipped cell was not needed, so its measurement is not missing."""


@dataclass(frozen=True)
class CellVerdict:
    """How a planned cell ended. `places` has the positions of the other records of `attempt` in the journal.

    The records are read on first use, and kept as long as the verdict exists. A copy (`replace`) reads its own records.
    Once a search has found the cell's threads or target, `cell` has them.
    """

    cell: Cell
    status: Status
    reason: str | None
    attempt: int | None = None
    started_at: float | None = None
    seconds: float | None = None
    """The time from the attempt's start to its end, or None if it has not ended."""
    ops_per_s: float | None = None
    """The throughput that the run recorded when the cell ended successfully."""
    places: tuple[JournalPlace, ...] = ()
    by_plan: bool = False
    """Whether the plan itself caused the failure, so that the failure would recur."""
    by_host: bool = False
    """Whether a host caused the failure."""
    no_room: j.NoRoom = ""
    """The kind of thing that the budget had no room for: a repeat, which is then skipped, or a whole point, which is
    then missing. It is "" if there was room."""

    @cached_property
    def _kept(self) -> tuple[j.AnyRecord, ...]:
        return tuple(records_at(self.places))

    @cached_property
    def jobs(self) -> tuple[j.JobCollected, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.JobCollected))

    @cached_property
    def counters(self) -> tuple[j.Counters, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.Counters))

    @cached_property
    def clocks(self) -> tuple[j.ClockRead, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.ClockRead))

    @cached_property
    def events(self) -> tuple[j.EventRan, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.EventRan))

    @cached_property
    def measuring_ended(self) -> j.MeasuringEnded | None:
        """The end of a measurement that lasts until the load is steady, or None for other measurements."""
        return next((record for record in reversed(self._kept) if isinstance(record, j.MeasuringEnded)), None)

    @cached_property
    def sizes(self) -> tuple[j.DatabaseSize, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.DatabaseSize))

    def offset(self, host: str) -> Offset:
        """Return how far a host's clock was ahead of the controller's, and by how much the clock was set between its
        two readings. Both are 0 if unknown."""
        return offset_of(*self._read(host), axis_step(*self._read(CONTROLLER.id)))

    def _read(self, host: str) -> tuple[j.ClockRead | None, j.ClockRead | None]:
        read = {clock.when: clock for clock in self.clocks if clock.host == host}
        return read.get("before"), read.get("after")


def verdict_of(history: CellHistory, cell: Cell, unseen: str, *, over: bool = False) -> CellVerdict:
    """Return the verdict on a cell. `unseen` is the reason given if the cell never began. `over` is whether the run has
    ended."""
    ended = history.ended
    last = max(history.started, default=None)
    if history.skipped is not None and (ended is None or ended.status == "failed"):
        lost = history.no_room == "point"
        return CellVerdict(cell, "missing" if lost else "skipped", history.skipped, no_room=history.no_room)
    cell = _as_run(history, cell)
    if last is None and ended is None:
        return CellVerdict(cell, "missing", unseen)
    if ended is None or (last is not None and last > ended.attempt):
        said = say.interrupted_attempt(n=last) if over else say.unended(n=last)
        if ended and ended.status == "failed":
            said = say.failed_before(said=said, n=ended.attempt, what=ended.reason)
        return _of(history, cell, "missing", said, last)
    if ended.hash != cell.hash:
        return _of(history, cell, "missing", say.other_definition(), ended.attempt)
    if ended.status == "failed":
        return _of(history, cell, "failed", ended.reason or say.failed_unknown(), ended.attempt)
    return _of(history, cell, "ok", None, ended.attempt)


def _as_run(history: CellHistory, cell: Cell) -> Cell:
    """Return the cell with the threads and the target of its last attempt, which a search may have found."""
    started = history.started.get(history.attempt)
    return cell.at_load(started and started.threads, started and started.target)


def _of(history: CellHistory, cell: Cell, status: Status, reason: str | None, attempt: int | None) -> CellVerdict:
    number = attempt or 0
    started = history.started.get(number)
    ended = history.ended if history.ended and history.ended.attempt == attempt else None
    return CellVerdict(
        cell,
        status,
        reason,
        attempt,
        started_at=started.at if started else None,
        seconds=ended.at - started.at if started and ended else None,
        ops_per_s=ended.ops_per_s if ended else None,
        places=tuple(history.kept.get(number, ())),
        by_plan=bool(ended and ended.by_plan),
        by_host=bool(ended and ended.by_host),
    )


Problem = str
"""The reason why a file, and every number read from it, can't be used."""


@dataclass(frozen=True)
class Evidence:
    """A run's plan, and its journal's contents at the time of reading.

    `journal_bytes` is the size of the complete lines read, and `journal_sum` is their checksum
    (`runners/journal/journal_file.py`). `verdicts` has one verdict for each planned cell, in the plan's order.
    """

    run_dir: Path
    plan: Plan
    journal_bytes: int
    journal_sum: str
    torn: bool
    record: RunRecord
    verdicts: tuple[CellVerdict, ...]

    @property
    def records(self) -> Iterator[j.AnyRecord]:
        """Yield all records of the journal, reading the journal again each time."""
        path = self.run_dir / JOURNAL
        return (record for _, record in each_record(path, self.journal_bytes)) if self.journal_bytes else iter(())

    @cached_property
    def root(self) -> str:
        """Return the run's directory without symbolic links. It is resolved once for all files."""
        return os.path.realpath(self.run_dir)

    @property
    def starts(self) -> list[j.RunStarted]:
        return self.record.starts

    @cached_property
    def simulated(self) -> j.Simulated | None:
        """Return how the run was simulated, or None if it was measured on real hosts."""
        models = (start.simulated for start in self.starts if start.simulated)
        return next(models, None) or simulation_of(self.run_dir)

    @property
    def imported(self) -> j.Imported | None:
        """Return the source of the results if they were measured elsewhere, or None otherwise."""
        return next((start.imported for start in self.starts if start.imported), None)

    @property
    def origin(self) -> Literal["measured", "simulated", "imported"]:
        return "imported" if self.imported else "simulated" if self.simulated else "measured"

    @property
    def made_by(self) -> str:
        """Return the version of benchbrief that began the run."""
        return self.starts[0].benchbrief if self.starts else "of an unknown version"

    @cached_property
    def world(self) -> World:
        """Return the drivers and probes, real or simulated, that made the raw outputs and can read them again."""
        return world_for(self.simulated)

    @property
    def run_id(self) -> str:
        return self.starts[0].run_id if self.starts else self.run_dir.name

    @cached_property
    def reused(self) -> dict[str, j.CellReused]:
        """Return the cells whose valid result is from an earlier run."""
        counts = {verdict.cell.id: verdict.attempt for verdict in self.verdicts if verdict.status == "ok"}
        return {cell: record for cell, record in self.record.reused.items() if counts.get(cell) == record.attempt}

    def strangers(self) -> tuple[str, ...]:
        """Return the cells in the journal that are not in the plan."""
        planned = {cell.id for cell in self.plan.cells}
        return tuple(cell for cell, history in self.record.cells.items() if history.started and cell not in planned)


def _verdicts(record: RunRecord, plan: Plan) -> Iterator[CellVerdict]:
    """Yield a verdict for each planned cell, with the threads or the target that a search found for it."""
    unseen, over, knees = _why_unseen(record), record.end is not None, record.knees
    for cell in plan.cells:
        threads = knees.get(cell.threads_from) if cell.threads_from else None
        target = knees.get(cell.target_from) if cell.target_from else None
        known = cell.at_load(None if threads is None else int(threads), target)
        yield verdict_of(record.cells.get(cell.id, CellHistory()), known, unseen, over=over)


def _why_unseen(record: RunRecord) -> str:
    if any(start.imported for start in record.starts):
        return say.not_imported()
    if record.end is None:
        return say.not_run_yet()
    status, said = Message(record.end.status, {}), record.end.message
    return say.not_run_because(status=status, said=said) if said else say.not_run_as(status=status)


def read_evidence(run_dir: Path, plan: Plan | None = None, record: RunRecord | None = None) -> Evidence:
    """Return a run's evidence. Raises RunnerError if the plan or a complete line of the journal can't be read.

    If there is no journal, no cell began. `plan` and `record` are the run's own, if the caller has already read them.
    If the journal has grown since `record` was read, it is read again.
    """
    plan = plan or load_plan(run_dir)
    path = run_dir / JOURNAL
    size = path.stat().st_size if path.exists() else 0
    whole = whole_bytes(path, size) if size else 0
    if record is None or record.size != whole:
        record = read_run(run_dir)
    total = chain_of(path, record.size).sum if path.exists() else ""
    return Evidence(run_dir, plan, record.size, total, whole < size, record, tuple(_verdicts(record, plan)))


def evidence_so_far(run_dir: Path, plan: Plan, record: RunRecord) -> Evidence:
    """Return the evidence of a run in progress from `record`, without reading the journal."""
    return Evidence(run_dir, plan, record.size, "", False, record, tuple(_verdicts(record, plan)))


def check_files(root: str, job: j.JobCollected) -> dict[str, Problem | None]:
    """Return the problem with each file of a job, or None for a good file. A file may be missing, changed since it was
    kept, not a plain file, or outside the run's directory.

    `root` is that directory without symbolic links.
    """
    elsewhere = _elsewhere(root, job.directory)
    return {
        (path := f"{job.directory}/{name}"): _problem(root, path, elsewhere or _elsewhere(root, path, name), sha256)
        for name, sha256 in job.files.items()
    }


def _elsewhere(root: str, relative: str, name: str = "/") -> str:
    """Return why a path leads out of the run's real directory, or "" if it does not.

    If `name` is given, the folder of the file has been checked before. A plain file then needs no further check.
    """
    if "/" not in name and name not in ("", os.curdir, os.pardir):
        return ""
    path = root
    for part in relative.split("/"):
        path = f"{path}/{part}"
        if part in ("", os.curdir, os.pardir):
            return "lies outside the run's directory"
        if os.path.islink(path):  # noqa: PTH114 - for each of a run's files
            return f"is behind a link: {path.removeprefix(root)[1:]}"
    return ""


def _problem(root: str, relative: str, elsewhere: str, sha256: str) -> Problem | None:
    if elsewhere:
        return f"{relative} {elsewhere}"
    try:
        found = sha256_of(f"{root}/{relative}")
    except FileNotFoundError:
        return say.file_missing(path=relative)
    except OSError as error:
        return f"{relative} can't be read: {error.strerror}"
    if found != sha256:
        return say.file_changed(path=relative, said=changed_text(found, sha256))
    return None


def first_problem(problems: Iterable[Problem | None]) -> Problem | None:
    return next((p for p in problems if p), None)
