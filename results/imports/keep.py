"""An imported run's folder: a plan, the files as they were, and a journal that says whose numbers these are.

It is a run like any other, so that its tables can be built again from what was kept. Its cells were measured elsewhere;
what the files do not have stays missing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import benchbrief
from benchbrief.compiler.plan import Cell, Plan
from benchbrief.results.errors import ResultsError
from benchbrief.results.imports.manifest import MANIFEST, SOURCE, Manifest
from benchbrief.results.imports.problems import Problem
from benchbrief.results.imports.source import NOT_PUBLISHED, Source
from benchbrief.results.measured import MEASURE
from benchbrief.results.runs import imported_from, list_runs
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import Journal
from benchbrief.runners.rundir import cell_directory, create_run

SHARED = "raw/imported"
"""Where files lie that several cells' numbers are from."""
ONE_FOR_ALL = "imported as one number for all repeats"


@dataclass(frozen=True)
class KeptJob:
    """Files of one job of a cell, by the names that they are kept under."""

    job: str
    host: str
    manifest: Manifest
    files: Mapping[str, Path] = field(default_factory=dict)
    window: tuple[float, float] | None = None


@dataclass(frozen=True)
class CellImport:
    """What is kept of a cell. `not_needed` are its point's other repeats, when its numbers stand for all of them.

    `failed` is the share of its operations that failed, where that is known.
    """

    cell: Cell
    jobs: tuple[KeptJob, ...]
    ops_per_s: float | None
    not_needed: tuple[Cell, ...] = ()
    failed: float = 0.0


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def imported_before(out: Path, files: Iterable[j.ImportedFile]) -> str:
    """The run of a folder that has one of these files already, and which one; "" for none."""
    wanted = {file.sha256: file.name for file in files}
    for run_dir in list_runs(out):
        source = imported_from(run_dir)
        for file in source.files if source else ():
            if file.sha256 in wanted:
                return f"{wanted[file.sha256]} was imported before, as {file.name} of run {run_dir.name}"
    return ""


@dataclass(frozen=True)
class Prepared:
    """What an import would keep. `shared`: all cells' numbers are from `files`, else each cell has its own.

    `problems` are those of what is left out, `remarks` tell what is less than it could be.
    """

    kind: str
    source: Source
    files: tuple[tuple[Path, j.ImportedFile], ...]
    cells: tuple[CellImport, ...]
    published: tuple[j.PublishedValue, ...] = ()
    shared: bool = False
    problems: tuple[Problem, ...] = ()
    remarks: tuple[str, ...] = ()
    not_published: tuple[Cell, ...] = ()
    """Cells of which the source says that it does not tell them."""


def keep_run(out: Path, plan: Plan, spec_files: Mapping[str, bytes], what: Prepared) -> Path:
    """The directory of a new run; nothing is left when it can't be made. Raises RunnerError."""
    source = what.source
    told = dict(source.said)
    imported = j.Imported(
        kind=what.kind,
        title=told["title"],
        publisher=told["publisher"],
        licence=told["licence"],
        url=told.get("url", ""),
        document=told.get("document", ""),
        date=told.get("date", ""),
        statements=source.statements,
        files=tuple(file for _, file in what.files),
    )
    digest = hashlib.sha256(plan.model_dump_json(indent=1).encode()).hexdigest()

    def begin(run_dir: Path) -> None:
        common: dict[str, str] = {}
        if what.shared:
            for path, file in what.files:
                name = shared_name(file)
                _copy(path, run_dir / SHARED / name)
                common[name] = file.sha256
        _write_journal(run_dir, plan, digest, imported, what, common)

    return create_run(out, plan, spec_files, begin, imported=True)


def shared_name(file: j.ImportedFile) -> str:
    """What it is called in SHARED."""
    return f"{file.sha256[:12]}-{Path(file.name).name}"


def _write_journal(
    run_dir: Path,
    plan: Plan,
    digest: str,
    imported: j.Imported,
    what: Prepared,
    common: Mapping[str, str],
) -> None:
    journal = Journal(run_dir)
    try:
        now = time.time()
        journal.write(
            j.RunStarted(
                at=now,
                run_id=run_dir.name,
                plan_sha256=digest,
                benchbrief=benchbrief.__version__,
                spec=plan.spec.name,
                profile=plan.spec.profile,
                controller_pid=os.getpid(),
                imported=imported,
            )
        )
        for value in what.published:
            journal.write(value.model_copy(update={"at": now}))
        for each in what.cells:
            _write_cell(journal, run_dir, each, common, now)
        for cell in what.not_published:
            journal.write(j.CellSkipped(at=now, cell=cell.id, hash=cell.hash, reason=NOT_PUBLISHED))
        journal.write(j.RunEnded(at=time.time(), status="done", message="imported"))
    finally:
        journal.close()


def _write_cell(journal: Journal, run_dir: Path, each: CellImport, common: Mapping[str, str], now: float) -> None:
    cell = each.cell
    started = j.CellStarted(at=now, cell=cell.id, hash=cell.hash, attempt=1, threads=cell.threads, target=cell.target)
    journal.write(started)
    for job in each.jobs:
        folder = cell_directory(cell.id, 1) / f"{job.job.replace(':', '-').replace(',', '-')}-{job.host}"
        (run_dir / folder).mkdir(parents=True)
        (run_dir / folder / MANIFEST).write_text(job.manifest.model_dump_json(indent=1), encoding="utf-8")
        names = [MANIFEST, *job.files]
        for name, path in job.files.items():
            _copy(path, run_dir / folder / name)
        begin, end = job.window or (now, now)
        journal.write(
            j.JobCollected(
                at=now,
                cell=cell.id,
                attempt=1,
                step=MEASURE,
                job=job.job,
                host=job.host,
                directory=str(folder),
                exit_code=None,
                started_at=begin,
                ended_at=end,
                files={name: sha256_of(run_dir / folder / name) for name in names},
            )
        )
    if common:
        journal.write(
            j.JobCollected(
                at=now,
                cell=cell.id,
                attempt=1,
                step=MEASURE,
                job=SOURCE,
                host="",
                directory=SHARED,
                exit_code=None,
                started_at=now,
                ended_at=now,
                files=dict(common),
            )
        )
    journal.write(j.CellEnded(at=now, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=each.ops_per_s))
    for other in each.not_needed:
        journal.write(j.CellSkipped(at=now, cell=other.id, hash=other.hash, reason=ONE_FOR_ALL))


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def described(path: Path) -> j.ImportedFile:
    """A file as it is now. Raises ResultsError when it can't be read."""
    try:
        return j.ImportedFile(name=str(path), sha256=sha256_of(path), size=path.stat().st_size)
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}") from error
