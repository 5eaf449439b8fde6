"""Checks a run's raw outputs and reports against the SHA-256 digests in the journal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.events import JobCollected, ReportMade
from benchbrief.results.ingest.run_evidence import Problem, check_files, read_evidence
from benchbrief.results.result_messages import changed_text
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL, Journal, first_start, last_held_out, records_of, sum_at
from benchbrief.runners.journal.run_folder import HELD_OUT, REPORTS, held_out_folder
from benchbrief.runners.plain_files import why_not_kept


class RawOutputs(NamedTuple):
    """The number of raw outputs in the journal, and the problems of those that are missing or changed."""

    files: int
    problems: dict[str, Problem]


def held_out_runs(run_dir: Path) -> dict[str, Path]:
    """Return the folder of each run that measured held-out repeats of a claim. The names of such a run's files begin
    with its key.

    Raises RunnerError if the journal can't be read, or if a folder is a link.
    """
    began = last_held_out(run_dir).values()
    return {f"{HELD_OUT}/{each.folder}/": held_out_folder(run_dir, each.folder) for each in began}


def check_raw_outputs(run_dir: Path) -> RawOutputs:
    """Compare each kept output of all attempts, including held-out repeats, with its recorded SHA-256. Raises
    RunnerError if the plan or the journal can't be read."""
    found: dict[str, Problem | None] = {}
    for start, folder in {"": run_dir, **held_out_runs(run_dir)}.items():
        if start and not folder.is_dir():
            found[start] = f"{start} is missing"
            continue
        evidence = read_evidence(folder)
        for record in evidence.records:
            if isinstance(record, JobCollected):
                checked = check_files(evidence.root, record).items()
                found |= {f"{start}{path}": problem and f"{start}{problem}" for path, problem in checked}
    return RawOutputs(len(found), {path: problem for path, problem in found.items() if problem})


def kept_outputs(run_dir: Path) -> dict[str, str]:
    """Return the SHA-256 of each raw output behind the results, by path, including held-out repeats. Only each cell's
    last attempt counts.

    Raises RunnerError if the plan or the journal can't be read.
    """
    below = {start: folder for start, folder in held_out_runs(run_dir).items() if folder.is_dir()}
    return _outputs_of(run_dir) | {
        f"{start}{path}": sha256 for start, folder in below.items() for path, sha256 in _outputs_of(folder).items()
    }


def _outputs_of(run_dir: Path) -> dict[str, str]:
    evidence = read_evidence(run_dir)
    counts = {verdict.cell.id: verdict.attempt for verdict in evidence.verdicts}
    return {
        f"{record.directory}/{name}": sha256
        for record in evidence.records
        if isinstance(record, JobCollected) and record.attempt == counts.get(record.cell, record.attempt)
        for name, sha256 in record.files.items()
    }


@dataclass(frozen=True)
class ReportFiles:
    """The files of one report, all in `folder` or below. `seconds` is how long it took to make the report."""

    folder: Path
    files: Sequence[Path]
    seconds: float | None = None


def note_reports(run_dir: Path, made: Mapping[str, ReportFiles]) -> str:
    """Record new reports, given by name, in the run's journal. Returns the reason if this failed, otherwise ""."""
    journal = run_dir / JOURNAL
    if not journal.exists():
        return ""
    try:
        records = [_record(run_dir, name, each) for name, each in made.items()]
        opened = Journal(run_dir)
        try:
            for record in records:
                opened.write(record)
        finally:
            opened.close()
    except (OSError, RunnerError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        return f"{journal} takes no note of what was made ({why}): `bench verify` will not know it"
    return ""


def _record(run_dir: Path, report: str, made: ReportFiles) -> ReportMade:
    files = {path.relative_to(made.folder).as_posix(): sha256_of(path) for path in made.files}
    folder = made.folder.resolve()
    inside = folder.is_relative_to(run_dir.resolve())
    directory = folder.relative_to(run_dir.resolve()) if inside else folder
    at, seconds = controller_clock.now(), made.seconds and round(made.seconds, 3)
    return ReportMade(at=at, report=report, directory=directory.as_posix(), files=files, seconds=seconds)


def recorded_files(journal: Path) -> dict[str, str]:
    """Return the last recorded SHA-256 of each file of a report, by path in the run's folder. Raises RunnerError."""
    inside = (record for record in records_of(journal, ReportMade) if not Path(record.directory).is_absolute())
    return {f"{record.directory}/{name}": sha256 for record in inside for name, sha256 in record.files.items()}


@dataclass(frozen=True)
class MadeReports:
    """All records of one report in a journal, in order of time. If the journal can't be read, `problem` says why.
    Otherwise, it is ""."""

    records: tuple[ReportMade, ...]
    problem: str = ""

    def knows(self, sha256: str) -> bool:
        return any(sha256 in record.files.values() for record in self.records)

    def has_kind(self, path: Path) -> bool:
        """Return whether the report ever had a file with the suffix of `path` (such as a PDF or a page), wherever the
        file is now."""
        return any(Path(name).suffix == path.suffix.lower() for record in self.records for name in record.files)

    def at_home(self, path: Path, run_dir: Path) -> list[ReportMade]:
        """Return the records of reports that had a file at `path` when they were made."""
        folder = path.resolve().parent
        return [
            each for each in self.records if path.name in each.files and (run_dir / each.directory).resolve() == folder
        ]

    def of_path(self, path: str) -> set[str]:
        """Return all digests that the file at this path has had."""
        return {record.files[path] for record in self.records if path in record.files}


def made_of(run_dir: Path, report: str) -> MadeReports:
    path = run_dir / JOURNAL
    try:
        found = records_of(path, ReportMade) if path.exists() else []
    except RunnerError as error:
        return MadeReports((), str(error))
    return MadeReports(tuple(record for record in found if record.report == report))


def changed_in_run(
    run_dir: Path, made: MadeReports, journal_then: tuple[int, str], spec: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield the changes in the run, apart from raw outputs and tables: changes in its journal, and in the files that
    were written when the run began.

    `journal_then` is the size in bytes (0 if unknown) and the checksum of the journal when a brief was made. `spec` has
    the files of the plan's spec in order, with their SHA-256, for a run whose journal does not name them.
    """
    size, journal_sum = journal_then
    journal = run_dir / JOURNAL
    if made.problem:
        yield made.problem
    elif size:
        try:
            same = sum_at(journal, size) == journal_sum
        except RunnerError as error:
            yield str(error)
        else:
            if not same:
                yield f"{JOURNAL} is not what it was when the brief was made, of which the brief has the sum"
    start = first_start(journal)
    recorded = dict(start.files) if start else {}
    kept = recorded or {f"spec/{at}-{Path(name).name}": digest for at, (name, digest) in enumerate(spec)}
    for name, digest in kept.items():
        yield from changed_file(name, run_dir, {digest})
    for file in sorted((run_dir / "spec").glob("*-*")):
        begin = file.name.partition("-")[0]  # plans of later reports are named by their digest
        name = f"spec/{file.name}"
        if name not in kept and len(begin) == 12:
            try:
                found = sha256_of(file, run_dir)
            except OSError as error:
                yield f"{name} can't be read: {error.strerror}"
            else:
                yield from () if found.startswith(begin) else (f"{name} was changed",)


def changed_file(name: str, folder: Path, known: Iterable[str]) -> Iterator[str]:
    """Yield the problem with a file in a folder if it is missing, unreadable, or has a SHA-256 that is not among the
    `known` ones."""
    try:
        found = sha256_of(folder / name, folder)
    except OSError as error:
        yield (
            f"{name} is missing" if isinstance(error, FileNotFoundError) else f"{name} can't be read: {error.strerror}"
        )
        return
    if found not in (digests := sorted(known)):
        yield f"{name} was changed ({changed_text(found, digests[-1])})"


class KeptFiles(NamedTuple):
    """The files that a run keeps. `raw` is the number of raw outputs in the journal, and `missing` are those that are
    gone. `reports` is the number of report files, `edited` are those that changed, and `unrecorded` are those that the
    journal does not list.
    """

    raw: int
    missing: tuple[str, ...]
    reports: int
    edited: tuple[str, ...]
    unrecorded: tuple[str, ...]


def look_at_kept(run_dir: Path) -> KeptFiles:
    """Check that the raw outputs behind the results exist, and that the files of the reports have their recorded
    SHA-256.

    Raises RunnerError.
    """
    raw, recorded = kept_outputs(run_dir), recorded_files(run_dir / JOURNAL)
    missing = tuple(f"{path} {why}" for path in raw if (why := why_not_kept(run_dir / path, run_dir)))
    missing += tuple(f"{start} is missing" for start, folder in held_out_runs(run_dir).items() if not folder.is_dir())
    lying = tuple(_lying(run_dir))
    edited, unrecorded = list[str](), list[str]()
    for path in lying:
        if path in recorded:
            edited += changed_file(path, run_dir, {recorded[path]})
        else:
            unrecorded.append(f"{path} is not recorded: the run's journal does not say that it was made")
    return KeptFiles(len(raw), missing, len(lying), tuple(edited), tuple(unrecorded))


def _lying(run_dir: Path) -> Iterator[str]:
    """Yield the path of every file and link in the folder of the reports."""
    if (run_dir / REPORTS).is_symlink():
        yield REPORTS
        return
    for at, folders, names in os.walk(run_dir / REPORTS):
        links = [name for name in folders if Path(at, name).is_symlink()]
        yield from (Path(at, name).relative_to(run_dir).as_posix() for name in sorted([*names, *links]))
