"""Checks imported files: which problems a file has, whether it is complete and comes from the named tool, and which
times it contains."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.results.result_messages import say
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.drivers.output_evidence import read_output_lines
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.text_encoding import text_encoding

WRONG_CELL = "name the cell that it is of, or write into the spec what was run"
"""The hint for an output that does not match its cell."""
_SHOWN = 20


@dataclass(frozen=True)
class ImportProblem:
    """A problem with an imported file. `line` is None if the problem concerns the whole file. `hint` is the
    next step."""

    file: str
    line: int | None
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.text}"


class ImportRefused(ResultsError):
    """Raised when nothing was stored because of the listed problems."""

    def __init__(self, problems: Sequence[ImportProblem]) -> None:
        lines = [str(problem) for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            lines.append(f"and {len(problems) - _SHOWN} more")
        lines.append("nothing was imported")
        super().__init__("\n".join(lines), next((problem.hint for problem in problems if problem.hint), ""))
        self.problems = tuple(problems)


_PACKED = {
    b"\x1f\x8b": ("packed by gzip", "unpack it: gunzip {name}"),
    b"BZh": ("packed by bzip2", "unpack it: bunzip2 {name}"),
    b"\x28\xb5\x2f\xfd": ("packed by zstd", "unpack it: unzstd {name}"),
    b"\xfd7zXZ": ("packed by xz", "unpack it: unxz {name}"),
    b"PK\x03\x04": ("a workbook or another archive", "save the sheet as CSV (UTF-8), or unpack the archive"),
}


class Wrong(Exception):
    """Raised when something is wrong with an imported file. `hint` is the next step."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class BadLine(Wrong):
    """Raised for a line that can't be read. `line` is None if the problem concerns the whole file."""

    def __init__(self, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text, hint)
        self.line = line


class UnreadableImport(Wrong):
    """Raised for a file that can't be read as a whole."""


def why_packed(path: Path) -> UnreadableImport | None:
    """Return why a file must be unpacked before it can be read. Raises OSError."""
    with path.open("rb") as file:
        begin = file.read(8)
    for magic, (what, hint) in _PACKED.items():
        if begin.startswith(magic):
            return UnreadableImport(what, hint.format(name=path.name))
    return None


def whole_run() -> tuple[str, str]:
    """Return the property of outputs that do not separate their warm-up from the rest of the run."""
    return "window", say.whole_run()


class OutputProblem(Wrong):
    """A problem with the file that is kept as `name`. `line` is None if the problem concerns the whole file."""

    def __init__(self, name: str, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text, hint)
        self.name, self.line = name, line


def refuse_contradictions(name: str, problems: Sequence[str]) -> None:
    """Raise OutputProblem if an output contradicts itself. `problems` describe the values that disagree."""
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        hint = "the tool prints no such output: was it changed, or put together from several?"
        raise OutputProblem(name, None, f"it contradicts itself: {problems[0]}{more}", hint)


def read_lines(name: str, path: Path) -> list[str]:
    """Return the file's lines. Raises OutputProblem if no tool can have printed the file."""
    refuse_no_text(name, path)
    try:
        return list(read_output_lines(path))
    except BadOutput as error:
        raise OutputProblem(name, None, str(error)) from error


def refuse_no_text(name: str, path: Path) -> None:
    """Raise OutputProblem for a file that is unreadable, empty, or compressed."""
    try:
        problem = why_packed(path)
        with path.open("rb") as file:
            begin = file.read(1)
    except OSError as error:
        raise OutputProblem(name, None, f"can't be read: {error.strerror}") from error
    if problem is not None:
        raise OutputProblem(name, None, str(problem), problem.hint)
    if not begin:
        raise OutputProblem(name, None, "empty: was the tool's output written elsewhere?")


def tool_that_wrote(text: Sequence[str]) -> str:
    """Return a hint that names the tool behind this output and says how to import it, or "" if no tool is
    recognised."""
    for name, spec in IMPORTER_SPECS.own.items():
        if spec.line and any(re.match(spec.line, line) for line in text):
            return f"it looks like one of `bench import {name}`"
    return ""


def only_file(files: Mapping[str, Path], tool: str) -> tuple[str, Path]:
    """Return the name and the path of an output's only file. Raises OutputProblem if there are several files."""
    if len(files) > 1:
        raise OutputProblem(sorted(files)[1], None, f"a second output of {tool} for one cell and load generator")
    return next(iter(files.items()))


def ends_whole(path: Path) -> bool:
    """Return whether the file's last line has a line end."""
    return last_text(path, 4)[-1:] in ("\n", "\r")


def last_text(path: Path, most: int) -> str:
    """Return the text of a file's last `most` bytes (an even number), or the whole text if the file is shorter."""
    encoding = text_encoding(path)
    with path.open("rb") as file:
        mark = file.read(2) if encoding == "utf-16" else b""
        file.seek(max(len(mark), file.seek(0, 2) - most))
        return (mark + file.read(most)).decode(encoding, errors="replace")


def line_count(path: Path) -> int:
    """Return the number of lines of a file, which is the line number of a problem at the file's end."""
    with path.open(encoding=text_encoding(path), errors="replace") as file:
        return 1 + sum(block.count("\n") for block in iter(lambda: file.read(1 << 20), ""))


_FORMATS = (
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%d.%m.%Y %H:%M:%S",
    "%Y年%m月%d日 %H時%M分%S秒",
)


def parse_time(text: str) -> float:
    """Parse a time to epoch seconds. Raises ValueError."""
    if re.fullmatch(r"\d{10}(\.\d+)?", text):
        return float(text)
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    at = datetime.fromisoformat(text.replace(",", "."))
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
