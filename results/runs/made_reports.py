"""The journal's records of the reports that were made of a run, and whether the run's files are unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.model.events import ReportMade
from benchbrief.results.store.digests import changed_text
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL, first_start, reports_made, sum_at
from benchbrief.runners.journal.journal_writer import Journal


@dataclass(frozen=True)
class ReportFiles:
    """The files of one report, all in `folder` or below it, and the seconds that making them took."""

    folder: Path
    files: Sequence[Path]
    seconds: float | None = None


def note_reports(run_dir: Path, made: Mapping[str, ReportFiles]) -> str:
    """Record the new reports in the run's journal, by their names. Returns why that failed, or ""."""
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
    """Return the SHA-256 of each file of a report as it was last made, by its path in the run's folder. Raises
    RunnerError."""
    inside = (record for record in reports_made(journal) if not Path(record.directory).is_absolute())
    return {f"{record.directory}/{name}": sha256 for record in inside for name, sha256 in record.files.items()}


@dataclass(frozen=True)
class Made:
    """The reports of one name in a journal, in order of time. `problem` is why the journal can't be read, or ""."""

    records: tuple[ReportMade, ...]
    problem: str = ""

    def knows(self, sha256: str) -> bool:
        return any(sha256 in record.files.values() for record in self.records)

    def has_kind(self, path: Path) -> bool:
        """Return whether a file of this kind (a PDF, a page) was ever made, wherever it lies now."""
        return any(Path(name).suffix == path.suffix.lower() for record in self.records for name in record.files)

    def at_home(self, path: Path, run_dir: Path) -> list[ReportMade]:
        """Return the records that have the file at `path`, where it was made."""
        folder = path.resolve().parent
        return [
            each for each in self.records if path.name in each.files and (run_dir / each.directory).resolve() == folder
        ]

    def of_path(self, path: str) -> set[str]:
        """Return the digests that the file at this path had each time."""
        return {record.files[path] for record in self.records if path in record.files}


def made_of(run_dir: Path, report: str) -> Made:
    path = run_dir / JOURNAL
    try:
        found = reports_made(path) if path.exists() else []
    except RunnerError as error:
        return Made((), str(error))
    return Made(tuple(record for record in found if record.report == report))


def changed_in_run(
    run_dir: Path, made: Made, journal_then: tuple[int, str], spec: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield what changed in the run, apart from its raw outputs and tables: its journal and the files of its
    beginning.

    `journal_then` is the journal's size in bytes when a brief was made, 0 if unknown, and its sum. `spec` are the
    files of the plan's spec with their SHA-256, in order, for a run whose journal does not name them.
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
    """Yield why a file in a folder has none of the `known` SHA-256; nothing when it has one."""
    try:
        found = sha256_of(folder / name, folder)
    except OSError as error:
        yield (
            f"{name} is missing" if isinstance(error, FileNotFoundError) else f"{name} can't be read: {error.strerror}"
        )
        return
    if found not in (digests := sorted(known)):
        yield f"{name} was changed ({changed_text(found, digests[-1])})"
