"""Checks the paths of data on a host."""

from __future__ import annotations

from benchbrief.compiler.frontend import value_errors
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.source import Span


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
