"""What a tool left behind, read with limits, and the one line of it that tells a user most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchbrief.compiler.plan import Cell, StepKind
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.tasks import JobOutput

_LINE_LIMIT = 1 << 20
"""The longest lines are YCSB's HDR payloads: a few kilobytes."""
_TEXT_LIMIT = 64 << 20
_QUOTE_LIMIT = 300

_COMPLAINT = re.compile(
    r"error|exception|fail|fatal|cannot|can't|corrupt|refused|unknown|illegal|denied|no space|no such|not found|unable"
    r"|invalid|missing",
    re.IGNORECASE,
)
# Tools echo their own command lines, settings and properties, which hold all sorts of words.
_ECHOES = ("Command line:", "java ", "/", '"')
_NOISE = re.compile(r"at \S+\(|\.\.\. \d+ more|\d{4}-\d\d-\d\d \S+ \d+ sec: |DBWrapper: report latency")
"""Frames of a stack trace; YCSB's status lines, which name its `READ-FAILED` rows, and its greeting."""


def lines(path: Path, limit: int = _TEXT_LIMIT) -> Iterator[str]:
    """The lines of a file (also those ended by a bare carriage return), without their ends.

    Bytes that are not UTF-8 are replaced; `limit` is in bytes. Raises BadOutput for a file or a line past all reason.
    """
    if not path.exists():
        return
    if path.stat().st_size > limit:
        raise BadOutput(f"{path.name} has {path.stat().st_size} bytes: that is no benchmark's output", f"see {path}")
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(_LINE_LIMIT):
            if len(line) == _LINE_LIMIT:
                raise BadOutput(f"{path.name} has a line of more than {_LINE_LIMIT} characters", f"see {path}")
            yield line.rstrip("\n")


def best_line(output: JobOutput) -> str:
    """The line that says what went wrong, fit to be shown: the first complaint of either stream, else the last line."""
    last = ""
    for path in (output.stderr, output.stdout):
        for line in lines(path):
            text = "".join(c if c.isprintable() else " " for c in line).strip()
            if not text or _NOISE.match(text):
                continue
            if _COMPLAINT.search(text) and not text.startswith(_ECHOES):
                return text[:_QUOTE_LIMIT]
            last = text
    return last[:_QUOTE_LIMIT] or "it printed nothing"


def bad(output: JobOutput, what: str, hint: str = "") -> BadOutput:
    """The error for output that proves nothing, with the tool's own best line."""
    return BadOutput(f"{what}: {best_line(output)}", hint or f"its whole output is in {output.directory}")


def require_exit(output: JobOutput, tool: str, accepted: tuple[int, ...] = (0,)) -> None:
    """Raises BadOutput unless the tool ended by itself with an accepted code."""
    if output.exit_code in accepted:
        return
    if output.exit_code is None:
        raise bad(output, f"{tool} was stopped before it ended")
    if output.exit_code < 0:
        raise bad(output, f"{tool} was ended by signal {-output.exit_code}")
    raise bad(output, f"{tool} ended with code {output.exit_code}")


def require_few_errors(output: JobOutput, tool: str, errors: int, successes: int, allowed: float) -> None:
    """Raises BadOutput when more than the allowed share of the operations failed."""
    total = errors + successes
    if total and errors / total > allowed:
        raise bad(
            output,
            f"{errors} of {total} operations failed in {tool} ({errors / total:.2%}, {allowed:.2%} allowed)",
            "if that many failures are expected, declare `max_errors` in the experiment",
        )


def timeout_s(cell: Cell, kind: StepKind) -> float:
    """How long the plan lets a step of the cell take. Raises KeyError for a step that the cell does not have."""
    for step in cell.steps:
        if step.kind == kind:
            return step.timeout_s
    raise KeyError(kind)
