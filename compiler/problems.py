"""What the compiler's mistakes have in common, and what was found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from benchbrief.dsl.diagnostics import Diagnostic, Note
from benchbrief.dsl.problem import Problem
from benchbrief.dsl.source import Span
from benchbrief.dsl.suggest import did_you_mean


@dataclass(frozen=True)
class CompileProblem(Problem):
    """A mistake in what a spec means."""

    stands_alone: ClassVar[bool] = False
    """In a metric or a report: whether it is wrong whatever the experiments measure, and so is reported also while one
    of them has a mistake of its own. What is said of dimensions, keys and points may only follow from that one."""


_P = TypeVar("_P", bound=CompileProblem)
_MOST_FINDINGS = 100  # that are told at once; a text with more has one cause for most of them


class Findings:
    """What was found so far, each once, in the order found; beyond the most that are told, only that there is more."""

    def __init__(self) -> None:
        self._problems: dict[CompileProblem, None] = {}
        self._places: set[tuple[int, int, int]] = set()
        self._more = False
        self.failed = False

    def add(self, problem: CompileProblem) -> None:
        if len(self._problems) >= _MOST_FINDINGS and (self.failed or problem.severity != "error"):
            self._more = True
            return
        self._problems[problem] = None
        self.failed |= problem.severity == "error"
        if problem.span is not None:
            self._places.add(_place(problem.span))

    @property
    def more(self) -> bool:
        """Whether more was found than is told."""
        return self._more

    def include(self, other: Findings) -> None:
        """Add all that others found."""
        self._problems.update(other._problems)

    def __len__(self) -> int:
        return len(self._problems)

    def gather(self, kind: type[_P], since: int, together: Callable[[Sequence[_P]], CompileProblem]) -> None:
        """Put one problem in the place of all of a kind that were found after the first `since`."""
        late = list(self._problems)[since:]
        found = [problem for problem in late if isinstance(problem, kind)]
        if found:
            one = together(found)
            kept = [one if problem is found[0] else problem for problem in late]
            kept = [problem for problem in kept if problem is one or not isinstance(problem, kind)]
            self._problems = dict.fromkeys((*list(self._problems)[:since], *kept))

    def at(self, span: Span) -> bool:
        """Whether something was found at just this place."""
        return _place(span) in self._places

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        found = [problem.diagnostic() for problem in self._problems]
        if self._more:
            more = Note("more was found than is told: mend this first")
            found[-1] = replace(found[-1], notes=(*found[-1].notes, more))
        return tuple(found)

    def standing_alone(self) -> tuple[Diagnostic, ...]:
        """Those that hold whatever the experiments turn out to measure."""
        return tuple(problem.diagnostic() for problem in self._problems if problem.stands_alone and not _vague(problem))


def _place(span: Span) -> tuple[int, int, int]:
    return id(span.source), span.start, span.end


def _vague(problem: CompileProblem) -> bool:
    """An unknown word like no other: it may be declared in what could not be read."""
    return isinstance(problem, Misspelt) and problem.declared and problem.replacement is None


def ticked(words: Iterable[str], limit: int = 8) -> str:
    """`a`, `b`, `c` and 12 more."""
    every = list(words)
    shown = ", ".join(f"`{word}`" for word in every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' or word == 'ssh' else 'a'} {word}"


@dataclass(frozen=True)
class Misspelt(CompileProblem):
    """A word of some `kind` that is not among `known`."""

    kind: str
    word: str
    known: tuple[str, ...]
    otherwise: ClassVar[str] = "{there_are} {all_known}"
    declared: ClassVar[bool] = False
    """Whether a spec may declare such words: else `known` are all that there can be."""
    when_none: ClassVar[str] = ""

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.word, self.known)

    @property
    def all_known(self) -> str:
        return ticked(self.known, limit=30)

    @property
    def there_are(self) -> str:
        return "there is" if len(self.known) == 1 else "there are"

    @property
    def a_kind(self) -> str:
        return article(self.kind)

    @property
    def help(self) -> str:
        if self.replacement:
            return f"did you mean `{self.replacement}`?"
        return self._filled(self.otherwise if self.known else self.when_none)


@dataclass(frozen=True)
class Again(CompileProblem):
    """Something said before at `earlier`."""

    earlier: Span

    @property
    def first(self) -> Span | None:
        return self.earlier


@dataclass(frozen=True)
class Circle(CompileProblem):
    chain: tuple[str, ...]
    remark = "{circle}"

    @property
    def circle(self) -> str:
        return " -> ".join((*self.chain, self.chain[0]))
