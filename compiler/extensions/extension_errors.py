"""Mistakes in extensions of other packages (E0212, W0212)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.source import Span

if TYPE_CHECKING:
    from benchbrief.compiler.extensions.registry import Refused


class UnusableExtension(CompileProblem):
    """An extension of another package that can't be used. `source` is the package with its version."""

    code = "E0212"
    says = "the {kind} `{name}` of {source} can't be used: {why}"
    mark = "installed, and broken"
    hint = "{remedy}; `bench extensions` lists what is installed"
    kind: str
    name: str
    source: str
    why: str
    remedy: str

    @classmethod
    def of(cls, span: Span, refused: Refused) -> Self:
        return cls(span, refused.kind, refused.name, refused.source, refused.why, refused.hint)


class UntranslatedExtension(CompileProblem):
    """A report in a language that an extension has no words in, for some of what it says."""

    code = "W0212"
    says = (
        "the {kind} `{name}` of {source} has no words in `{language}` for {missing:ticked 3}: they will be in English"
    )
    mark = "a language that it lacks"
    hint = "ask its authors for words in `{language}`"
    kind: str
    name: str
    source: str
    language: str
    missing: tuple[str, ...]
