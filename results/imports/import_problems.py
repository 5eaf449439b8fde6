"""What is wrong with files to import: all problems together, each with its file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.results.store_errors import ResultsError

WRONG_CELL = "name the cell that it is of, or write into the spec what was run"
"""The next step for an output that is not of its cell."""
_SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """A problem. `line` is None for a file as a whole. `hint` is the next step."""

    file: str
    line: int | None
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.text}"


class ImportRefused(ResultsError):
    """Nothing was stored, because of these problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
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
    """Something is wrong with what is imported. `hint` is the next step."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class BadLine(Wrong):
    """A line can't be read. `line` is None for the file as a whole."""

    def __init__(self, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text, hint)
        self.line = line


class Unreadable(Wrong):
    """A file can't be read as a whole."""


def why_packed(path: Path) -> Unreadable | None:
    """Return why a file must be unpacked before it can be read. Raises OSError."""
    with path.open("rb") as file:
        begin = file.read(8)
    for magic, (what, hint) in _PACKED.items():
        if begin.startswith(magic):
            return Unreadable(what, hint.format(name=path.name))
    return None
