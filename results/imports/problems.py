"""What is wrong with files that are to be imported: all of it at once, each with its file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.results.errors import ResultsError

_SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """`line` is None for a file as a whole; `hint` says what to do next."""

    file: str
    line: int | None
    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.text}"


class ImportRefused(ResultsError):
    """Nothing was stored, for these problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        lines = [str(problem) for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            lines.append(f"and {len(problems) - _SHOWN} more")
        lines.append("nothing was imported")
        super().__init__("\n".join(lines), next((problem.hint for problem in problems if problem.hint), ""))
        self.problems = tuple(problems)
