"""Compares the files that were made with a brief with the run's journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchbrief.reports.provenance.finished_brief import Brief
from benchbrief.results.runs.made_reports import Made, changed_file


@dataclass(frozen=True)
class Beside:
    """The number of compared files, and the problem of each changed one."""

    files: int
    changed: tuple[str, ...]


def look_beside(path: Path, brief: Brief, made: Made, run_dir: Path) -> Beside:
    """Compare the files made with the brief at `path` with the journal: the side file, and the figures in the folder
    beside it and in the PDF. Compares none where the journal knows of no reports."""
    found = list(_problems(path, brief, made, run_dir)) if made.records else []
    return Beside(len(found), tuple(problem for problem in found if problem))


def _problems(path: Path, brief: Brief, made: Made, run_dir: Path) -> Iterator[str]:
    """Return the problem of each file, or ""."""
    at_home = made.at_home(path, run_dir)
    side = path.with_suffix(".json")
    if brief.side is not None:
        yield (
            ""
            if made.knows(brief.side[1])
            else f"{brief.side[0]} is not, to the byte, the file of its numbers that was made"
        )
    elif at_home and path != side:  # a PDF, which contains its numbers too
        yield next(changed_file(side.name, path.parent, made.of_path(side.name)), "")
    last = next((each for each in reversed(made.records) if brief.sha256 in each.files.values()), None)
    last = last or next(reversed(at_home or made.records))
    figures = {name for each in (at_home or [last]) for name in each.files if len(PurePosixPath(name).parts) > 1}
    for name in sorted(figures):
        file = path.parent / name
        if not at_home and not file.parent.is_dir():  # copied without them
            continue
        yield next(changed_file(name, path.parent, made.of_path(name)), "")
    if brief.attached is not None:
        wanted = {PurePosixPath(name).name for name in last.files if name.endswith(".csv")}
        for inside in sorted(wanted | set(brief.attached)):
            known = {d for each in made.records for name, d in each.files.items() if PurePosixPath(name).name == inside}
            if inside not in brief.attached:
                yield f"{inside} inside of {path.name} is missing"
            else:
                yield "" if brief.attached[inside] in known else f"{inside} inside of {path.name} was changed"
