"""Checks of files given as a tool's outputs: problems that any tool's file may have, and which tool wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.results.imports.import_problems import Wrong, why_packed
from benchbrief.results.result_messages import say
from benchbrief.runners.drivers.output_evidence import read_output_lines
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.text_encoding import text_encoding

HDR = ".hdr"


def whole_run() -> tuple[str, str]:
    """Return the property of an output that does not tell its warm-up from the rest."""
    return "window", say.whole_run()


"""The property of a measurement that has everything that an output says."""


class OutputProblem(Wrong):
    """What is wrong with the file kept as `name`. `line` is None for the file as a whole."""

    def __init__(self, name: str, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text, hint)
        self.name, self.line = name, line


def require_consistent(name: str, problems: Sequence[str]) -> None:
    """Raises OutputProblem for an output that contradicts itself; `problems` name the values that disagree."""
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        hint = "the tool prints no such output: was it changed, or put together from several?"
        raise OutputProblem(name, None, f"it contradicts itself: {problems[0]}{more}", hint)


def read_lines(name: str, path: Path) -> list[str]:
    """Return the file's lines. Raises OutputProblem for a file that can't be a tool's."""
    refuse_no_text(name, path)
    try:
        return list(read_output_lines(path))
    except BadOutput as error:
        raise OutputProblem(name, None, str(error)) from error


def refuse_no_text(name: str, path: Path) -> None:
    """Raises OutputProblem for a file that is missing, empty, or compressed."""
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
    """Return how to import an output of another tool than the named one; "" when no tool is recognised."""
    for name, spec in IMPORTER_SPECS.own.items():
        if spec.line and any(re.match(spec.line, line) for line in text):
            return f"it looks like one of `bench import {name}`"
    return ""


def only_file(files: Mapping[str, Path], tool: str) -> tuple[str, Path]:
    """Return the one file of an output, and its name. Raises OutputProblem when there are several."""
    if len(files) > 1:
        raise OutputProblem(sorted(files)[1], None, f"a second output of {tool} for one cell and load generator")
    return next(iter(files.items()))


def ends_whole(path: Path) -> bool:
    """Return whether the last line has its end."""
    return last_text(path, 4)[-1:] in ("\n", "\r")


def last_text(path: Path, most: int) -> str:
    """Return the text of the last bytes of a file, at most so many: an even number."""
    encoding = text_encoding(path)
    with path.open("rb") as file:
        mark = file.read(2) if encoding == "utf-16" else b""
        file.seek(max(len(mark), file.seek(0, 2) - most))
        return (mark + file.read(most)).decode(encoding, errors="replace")


def line_count(path: Path) -> int:
    with path.open(encoding=text_encoding(path), errors="replace") as file:
        return 1 + sum(block.count("\n") for block in iter(lambda: file.read(1 << 20), ""))
