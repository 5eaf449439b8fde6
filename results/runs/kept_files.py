"""What a run keeps: whether its raw outputs are there, and whether its reports are as they were made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchbrief.results.ingest.unchanged_outputs import kept_outputs
from benchbrief.results.runs.made_reports import changed_file, recorded_files
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import REPORTS
from benchbrief.runners.plain_files import why_not_kept


class KeptFiles(NamedTuple):
    """How many raw outputs the journal names and which are not there; how many files lie among the reports, and which
    were `edited` since they were made, or are `unrecorded`."""

    raw: int
    missing: tuple[str, ...]
    reports: int
    edited: tuple[str, ...]
    unrecorded: tuple[str, ...]


def look_at_kept(run_dir: Path) -> KeptFiles:
    """Look for the raw outputs behind the results, and compute the SHA-256 of each file of a report. Raises
    RunnerError."""
    raw, recorded = kept_outputs(run_dir), recorded_files(run_dir / JOURNAL)
    missing = tuple(f"{path} {why}" for path in raw if (why := why_not_kept(run_dir / path, run_dir)))
    lying = tuple(_lying(run_dir))
    edited, unrecorded = list[str](), list[str]()
    for path in lying:
        if path in recorded:
            edited += changed_file(path, run_dir, {recorded[path]})
        else:
            unrecorded.append(f"{path} is not recorded: the run's journal does not say that it was made")
    return KeptFiles(len(raw), missing, len(lying), tuple(edited), tuple(unrecorded))


def _lying(run_dir: Path) -> Iterator[str]:
    """Yield what lies among the reports, also what is no file."""
    if (run_dir / REPORTS).is_symlink():
        yield REPORTS
        return
    for at, folders, names in os.walk(run_dir / REPORTS):
        links = [name for name in folders if Path(at, name).is_symlink()]
        yield from (Path(at, name).relative_to(run_dir).as_posix() for name in sorted([*names, *links]))
