"""Finds the capsule of a brief: in its PDF, or in the file beside its page."""

from __future__ import annotations

from pathlib import Path

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.capsule.capsule_file import ENDING, OpenCapsule, is_capsule, open_capsule
from benchbrief.reports.data.numbers_file import OF_DISCLOSURE
from benchbrief.reports.verify_brief import MOST_OF_A_BRIEF, attached_file
from benchbrief.runners.plain_files import read_plain


def capsule_of(path: Path) -> OpenCapsule:
    """Return the capsule of the brief at this path, or the capsule itself if the path is one. Raises ReportError."""
    found = capsule_if_any(path)
    if found is None:
        within = "in it, and no file" if path.suffix.lower() == ".pdf" else "with it: there is no file"
        raise ReportError(
            f"{path.name} has no capsule {within} {_beside(path).name} beside it",
            "name the PDF as it was made; briefs of earlier versions, and those with `provenance = none`, have none",
        )
    return found


def capsule_if_any(path: Path) -> OpenCapsule | None:
    """Return the capsule of the brief at this path, or the capsule itself if the path is one. Return None if the brief
    has no capsule. Raises ReportError."""
    content = _content(path)
    if path.suffix.lower() == ".zip" or (content.startswith(b"PK") and is_capsule(content)):
        return open_capsule(content, path.name)
    if content.startswith(b"%PDF"):
        inside = attached_file(path, ENDING)
        if inside is not None:
            return open_capsule(inside, f"the capsule of {path.name}")
    beside = _beside(path)
    return open_capsule(_content(beside), beside.name) if beside.exists() else None


def _beside(path: Path) -> Path:
    return path.with_name(f"{OF_DISCLOSURE.sub('', path.name).removesuffix(path.suffix)}{ENDING}")


def _content(path: Path) -> bytes:
    try:
        return read_plain(path, most=MOST_OF_A_BRIEF)
    except OSError as error:
        raise ReportError(
            f"{path} can't be read: {error.strerror}", "name a brief, its capsule, or the folder of a run"
        ) from error
