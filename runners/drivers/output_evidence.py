"""Reads a tool's output with limits, and finds the line that best explains a failure."""

from __future__ import annotations

import re
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbrief.model.message import share_figure
from benchbrief.model.plan import Cell, StepKind
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import BadOutput, NotServed, OptionRefused
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.text_encoding import text_encoding

_LINE_LIMIT = 1 << 20
"""The longest line to read, in bytes. The longest real lines, YCSB's HDR payloads, have a few kilobytes."""
_TEXT_LIMIT = 64 << 20
_QUOTE_LIMIT = 300

_COMPLAINT = re.compile(
    r"error|exception|fail|fatal|cannot|can't|corrupt|refused|unknown|illegal|denied|no space|no such|not found|unable"
    r"|invalid|missing|could not|not implemented|unsupported",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"unknown command line flag|illegal value .* specified for|Invalid value for --|Cannot parse |unknown benchmark"
    r"|Could not create memtable factory|Unknown compaction fadvice|invalid merge operator|Cannot provide both "
    r"|prefix size is larger than key size|No secondary cache registered|Assertion `FLAGS_|Options::Dump\("
    r"|open error: (?:Not implemented|Invalid argument):"  # RocksDB refuses a combination of its options
    r"|flag provided but not defined"
    r"|unrecogni[sz]ed option|bad option|valid values: |not valid for this option|engine \S+ not loadable"
    r"|does not support direct=1"
)
"""Matches complaints of db_bench, fio, YCSB, go-ycsb and openload about unknown options or workloads."""
# Tools echo their command lines, settings, properties and paths, which may contain any word.
_ECHOES = ("Command line:", "DB path:", "java ", "/", '"')
_FROM_OUTSIDE = {
    each.value: each.name for each in (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU)
}
"""Signals that are sent from outside. The tool itself raises all others, for example when an assertion fails."""
_NOISE = re.compile(r"at \S+\(|\.\.\. \d+ more|\d{4}-\d\d-\d\d \S+ \d+ sec: |DBWrapper: report latency")
"""Matches lines that do not explain a failure: frames of a stack trace, YCSB's status lines (which name its
`READ-FAILED` rows), and YCSB's greeting."""


def read_output_lines(path: Path, limit: int = _TEXT_LIMIT) -> Iterator[str]:
    """Yield the lines of a file without their line ends. A bare carriage return also ends a line.

    Replaces bytes that are invalid in the file's encoding. Yields nothing if the file does not exist. `limit` is in
    bytes. Raises BadOutput if the file or a line is too long.
    """
    if not path.exists():
        return
    if path.stat().st_size > limit:
        raise BadOutput(say.too_large(file=path.name, n=path.stat().st_size), say.hint_see(path=path))
    with path.open(encoding=text_encoding(path), errors="replace") as file:
        while line := file.readline(_LINE_LIMIT):
            if len(line) == _LINE_LIMIT:
                raise BadOutput(say.long_line(file=path.name, n=_LINE_LIMIT), say.hint_see(path=path))
            yield line.rstrip("\n")


def best_line(output: JobOutput) -> str:
    """Return the line that best explains a failure: the first complaint on either stream or, if there is none, the last
    line."""
    last = ""
    for text in _said(output):
        if _COMPLAINT.search(text) and not text.startswith(_ECHOES):
            return text[:_QUOTE_LIMIT]
        last = text
    return last[:_QUOTE_LIMIT] or say.printed_nothing()


def last_line(output: JobOutput) -> str:
    """Return the last line of standard output or, if that is empty, of standard error. It need not explain a
    failure."""
    last = deque(_said(output), 1)
    return last[0][:_QUOTE_LIMIT] if last else say.printed_nothing()


def _said(output: JobOutput) -> Iterator[str]:
    for path in (output.stderr, output.stdout):
        for line in read_output_lines(path):
            text = "".join(c if c.isprintable() else " " for c in line).strip()
            if text and not _NOISE.match(text):
                yield text


def bad_output(output: JobOutput, what: str, hint: str = "") -> BadOutput:
    """Return the error for output that proves nothing: OptionRefused if the tool complains about its command line,
    otherwise BadOutput. `what` quotes the most helpful line."""
    error = OptionRefused if _REFUSED.search(what) else BadOutput
    return error(what, hint or say.hint_output(path=output.directory))


def require_exit(output: JobOutput, tool: str, accepted: tuple[int, ...] = (0,)) -> None:
    """Raise BadOutput unless the tool ended by itself with an accepted code."""
    if output.exit_code in accepted:
        return
    if (code := output.exit_code) is not None and -code in _FROM_OUTSIDE:
        # The signal is the cause, not the tool's earlier complaints.
        name = _FROM_OUTSIDE[-code]
        raise BadOutput(
            say.tool_killed(tool=tool, code=-code, name=name, said=last_line(output)),
            say.hint_tool_killed(path=output.directory)
            if name == "SIGKILL"
            else say.hint_output(path=output.directory),
        )
    said = best_line(output)
    if output.exit_code is None:
        raise bad_output(output, say.tool_stopped(tool=tool, said=said))
    if output.exit_code < 0:
        raise bad_output(output, say.tool_signal(tool=tool, code=-output.exit_code, said=said))
    raise bad_output(output, say.tool_ended(tool=tool, code=output.exit_code, said=said))


def require_few_errors(
    output: JobOutput, tool: str, errors: int, successes: int, allowed: float, said: str = ""
) -> None:
    """Raise NotServed if more than the allowed share of the operations failed.

    `said` is the reason why operations failed. If it is "", the error quotes the tool's best line.
    """
    total = errors + successes
    if total and errors / total > allowed:
        what = say.too_many_errors(
            errors=errors,
            n=total,
            tool=tool,
            share=share_figure(errors / total, 2),
            allowed=share_figure(allowed, 2),
            said=said or best_line(output),
        )
        error = bad_output(output, what, say.hint_errors())
        raise error if isinstance(error, OptionRefused) else NotServed(str(error), error.hint)


def require_consistent(output: JobOutput, tool: str, problems: Sequence[str]) -> None:
    """Raise BadOutput if the output contradicts itself. `problems` are sentences that name the values that disagree."""
    if problems:
        more = len(problems) - 1
        what = say.contradicts_more(tool=tool, said=problems[0], more=more) if more else None
        raise BadOutput(what or say.contradicts(tool=tool, said=problems[0]), say.hint_disk_full(path=output.directory))


def timeout_s(cell: Cell, kind: StepKind) -> float:
    """Return how many seconds the plan allows for a step of the cell. Raises KeyError if the cell does not have the
    step."""
    for step in cell.steps:
        if step.kind == kind:
            return step.timeout_s
    raise KeyError(kind)
