"""Every diagnostic code with its explanation, collected from the classes that define the codes.

`compiler/explanations/E0703.md` explains E0703: its first line is the title, behind `# `; the rest is Markdown. The
tests check that a sample behind "```bench wrong" gives that code, and that one behind "```bench mended" gives none.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from types import ModuleType

import benchbrief.compiler
import benchbrief.dsl
from benchbrief.compiler.explanation_holes import filled
from benchbrief.dsl.diagnostics.diagnostic import Problem, Severity
from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class CodeInfo:
    """A code with its explanation. `title` is one line without a full stop; `explanation_markdown` has no title of its
    own."""

    code: str
    severity: Severity
    title: str
    explanation_markdown: str


@cache
def all_codes() -> tuple[CodeInfo, ...]:
    """Return every code once: errors, then warnings."""
    by_code: dict[str, type[Problem]] = {}
    for problem in problems():
        by_code.setdefault(problem.code, problem)
    return tuple(_info_of(by_code[code]) for code in sorted(by_code))


def code_info(code: str) -> CodeInfo | None:
    """Return the explanation of a code in upper or lower case, or None for an unknown code."""
    return next((info for info in all_codes() if info.code == code.upper()), None)


def problems() -> Iterator[type[Problem]]:
    """Return every class that defines a code, in the order of the modules (named `...errors`)."""
    for module in (*_error_modules(benchbrief.dsl), *_error_modules(benchbrief.compiler)):
        for value in vars(module).values():
            if not isinstance(value, type) or not issubclass(value, Problem) or value.__module__ != module.__name__:
                continue
            if "code" in vars(value):
                yield value


def _error_modules(room: ModuleType) -> Iterator[ModuleType]:
    found = pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    for name in sorted(each.name for each in found):
        if name.endswith("errors"):
            yield importlib.import_module(name)


def _info_of(problem: type[Problem]) -> CodeInfo:
    file = resources.files("benchbrief.compiler") / "explanations" / f"{problem.code}.md"
    if not file.is_file():
        return CodeInfo(
            problem.code, problem.severity, re.sub(r"(?<!^)(?=[A-Z])", " ", problem.__name__).capitalize(), ""
        )
    title, _, text = file.read_text(encoding="utf-8").partition("\n")
    return CodeInfo(problem.code, problem.severity, title.removeprefix("# "), filled(text.strip()) + "\n")
