"""Files beside a spec whose text is part of the plan, and paths of data on a host."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.frontend import value_errors
from benchbrief.compiler.frontend.value_errors import UnreadableFile
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.source import Span

MOST_BYTES = 64 << 10


def read_spec_file(what: str, name: str, span: Span, findings: Findings) -> str | None:
    """Return the text of the file that a spec names at `span`, by its path from the folder of the spec. `what` is what
    messages call it. None for a file that can't be read, or is too large, which is reported."""
    path = Path(span.source.name).parent / name
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # reading a FIFO blocks
            raise ValueError("it is not a regular file")
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES >> 10} KiB")
        return path.read_bytes().decode()
    except (OSError, ValueError) as error:
        why = error.strerror or "it can't be read" if isinstance(error, OSError) else _decoded(error)
        findings.add(UnreadableFile(span, what, name, why[:1].lower() + why[1:]))
        return None


def _decoded(error: ValueError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def check_path(span: Span, key: str, path: str, findings: Findings) -> bool:
    """Check that a path is absolute, not the root, and without `..`."""
    problem = None
    if not path.startswith("/"):
        problem = "it does not start with `/`"
    elif ".." in path.split("/"):
        problem = "it goes up with `..`"
    elif not path.strip("/"):
        problem = "it is the root directory"
    if problem:
        findings.add(value_errors.BadPath(span, key, path, problem))
    return problem is None
