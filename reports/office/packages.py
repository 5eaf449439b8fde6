"""Handles the packages of office programs, which are ZIP files: opens a house's template, and makes packages
reproducible."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.office.read_package import Package

T = TypeVar("T")
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can have."""
_TIMES = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
_KINDS = {
    b"presentationml.template.main+xml": b"presentationml.presentation.main+xml",
    b"wordprocessingml.template.main+xml": b"wordprocessingml.document.main+xml",
}
"""The content type of each kind of template, and the content type of a file made from it."""


def opened(template: tuple[str, bytes], program: str, open_: Callable[[io.BytesIO], T]) -> T:
    """Return a house's template as a file to be filled. Raises ReportError if it cannot be read."""
    name, content = template
    try:
        package = Package(content, "it")
        parts = ((part, _as_document(part, package.read(part))) for part in package.names)
        return open_(io.BytesIO(_packed(parts)))
    except Exception as error:
        raise ReportError(
            f"{name} can't be used as a template: {' '.join(str(error).split())[:200] or type(error).__name__}",
            f"open it in {program} and save it again, or take it out of `theme`",
        ) from error


def _as_document(name: str, content: bytes) -> bytes:
    if name == "[Content_Types].xml":
        for template, document in _KINDS.items():
            content = content.replace(template, document)
    return content


def settled(content: bytes, made: str) -> bytes:
    """Return a package whose date is the end of the run instead of the time of writing."""
    at = time_of(made).strftime("%Y-%m-%dT%H:%M:%SZ").encode()

    def settle(name: str, part: bytes) -> bytes:
        if name.endswith(".xlsx"):
            return settled(part, made)
        return _TIMES.sub(rb"\g<1>" + at, part) if name == "docProps/core.xml" else part

    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return _packed((name, settle(name, package.read(name))) for name in package.namelist())


def time_of(made: str) -> datetime:
    """Return when a run ended, in UTC. If that is unknown, return the earliest date that a ZIP file can store."""
    try:
        found = datetime.fromisoformat(made)
    except ValueError:
        return datetime(*_FIRST_DAY, tzinfo=UTC)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _packed(parts: Iterable[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts:
            part = zipfile.ZipInfo(name, _FIRST_DAY)
            part.compress_type, part.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            package.writestr(part, content)
    return out.getvalue()
