"""An imported run's folder: a plan, the original files, and a journal that names the source of the numbers.

It is a run like any other, so that its tables can be rebuilt from what was kept. Its cells were measured elsewhere,
and what the files lack stays missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import benchbrief
from benchbrief.compiler.kept_plans.plan_file import plan_sha256
from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.results.imports.import_manifest import MANIFEST, Manifest
from benchbrief.results.imports.import_problems import Problem
from benchbrief.results.imports.import_source import OWN, Source
from benchbrief.results.kept_jobs import MEASURE, SOURCE
from benchbrief.results.messages.result_messages import say
from benchbrief.results.runs.find_runs import imported_from, list_runs
from benchbrief.results.store.digests import sha256_of
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.journal_writer import Journal
from benchbrief.runners.journal.run_folder import cell_directory, create_run, files_of_beginning

SHARED = "raw/imported"
"""The folder of files with the numbers of several cells."""


@dataclass(frozen=True)
class KeptJob:
    """Files of one job of a cell, by the names under which they are kept."""

    job: str
    host: str
    manifest: Manifest
    files: Mapping[str, Path] = field(default_factory=dict)
    window: tuple[float, float] | None = None


@dataclass(frozen=True)
class CellImport:
    """What is kept of a cell. `not_needed` are its point's other repeats, when its numbers stand for all of them.

    `failed` is the share of its operations that failed, if known.
    """

    cell: Cell
    jobs: tuple[KeptJob, ...]
    ops_per_s: float | None
    not_needed: tuple[Cell, ...] = ()
    failed: float = 0.0


def imported_before(out: Path, files: Iterable[j.ImportedFile]) -> str:
    """Return the run of a folder that has one of these files already, and which file; "" for none."""
    wanted = {file.sha256: file.name for file in files}
    for run_dir in list_runs(out):
        source = imported_from(run_dir)
        for file in source.files if source else ():
            if file.sha256 in wanted:
                return f"{wanted[file.sha256]} was imported before, as {file.name} of run {run_dir.name}"
    return ""


@dataclass(frozen=True)
class Prepared:
    """What an import would keep. `shared`: the numbers of all cells are from `files`, else each cell has its own.

    `problems` are those of what is left out. `remarks` name what is incomplete.
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
    """Cells that the source says it does not publish."""


def keep_run(out: Path, plan: Plan, spec_files: Mapping[str, bytes], what: Prepared) -> Path:
    """Return the directory of a new run, or leave nothing when it can't be made. Raises RunnerError."""
    source = what.source
    said = dict(source.said)
    imported = j.Imported(
        kind=what.kind,
        title=said.get("title") or OWN,
        publisher=said.get("publisher", ""),
        licence=said.get("licence", ""),
        url=said.get("url", ""),
        document=said.get("document", ""),
        date=said.get("date", ""),
        statements=source.statements,
        told=source.told,
        facts=source.facts,
        files=tuple(file for _, file in what.files),
    )
    digest = plan_sha256(plan)

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
    """Return the file's name in SHARED."""
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
        now = controller_clock.now()
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
                files=files_of_beginning(run_dir),
            )
        )
        for value in what.published:
            journal.write(value.model_copy(update={"at": now}))
        for each in what.cells:
            _write_cell(journal, run_dir, each, common, now)
        for cell in what.not_published:
            journal.write(j.CellSkipped(at=now, cell=cell.id, hash=cell.hash, reason=say.not_published()))
        journal.write(j.RunEnded(at=controller_clock.now(), status="done", message=say.imported()))
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
        journal.write(j.CellSkipped(at=now, cell=other.id, hash=other.hash, reason=say.one_for_all()))


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def describe_file(path: Path) -> j.ImportedFile:
    """Describe the file in its current state. Raises ResultsError when it can't be read."""
    try:
        return j.ImportedFile(name=str(path), sha256=sha256_of(path), size=path.stat().st_size)
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}") from error
