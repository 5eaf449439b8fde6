"""The base of the compiler's mistakes, and the collection of findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from benchbrief.dsl.diagnostics import diagnostic
from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, Note, Problem, Suggestion
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span


class CompileProblem(Problem):
    """A mistake in the meaning of a spec, as opposed to its syntax."""

    stands_alone: ClassVar[bool] = False
    """Whether a mistake in a metric or report is certain, whatever the experiments measure.

    If so, it is reported even if an experiment has a mistake. In that case, other mistakes in dimensions, keys and
    points are held back, since the experiment's mistake may be their cause.
    """


_P = TypeVar("_P", bound=CompileProblem)
_MOST_FINDINGS = 100  # the most that are shown; a text with more has one cause for most of them


class Findings:
    """All reported findings, each once and in order, up to a maximum. Beyond the maximum, only the fact that there are
    more is recorded."""

    def __init__(self) -> None:
        self._problems: dict[CompileProblem, None] = {}
        self._places: set[tuple[int, int, int]] = set()
        self._silent: set[tuple[int, int, int]] = set()
        self._more = False
        self.failed = False
        self.of_files = False
        """Whether they may depend on files that are not specs."""

    def silence(self, *spans: Span) -> None:
        """Accept no more findings at exactly these spans, since their mistakes have already been reported."""
        self._silent.update(map(_place, spans))

    def add(self, problem: CompileProblem) -> None:
        if problem.span is not None and _place(problem.span) in self._silent:
            return
        if len(self._problems) >= _MOST_FINDINGS and (self.failed or problem.severity != "error"):
            self._more = True
            return
        self._problems[problem] = None
        self.failed |= problem.severity == "error"
        if problem.span is not None:
            self._places.add(_place(problem.span))

    @property
    def more(self) -> bool:
        """Whether there are more findings than are shown."""
        return self._more

    def include(self, other: Findings) -> None:
        for problem in other._problems:
            self.add(problem)

    def __len__(self) -> int:
        return len(self._problems)

    def since(self, earlier: int) -> list[CompileProblem]:
        """Return the problems that were added after the `earlier` first ones."""
        return list(self._problems)[earlier:]

    def gather(self, kind: type[_P], since: int, together: Callable[[Sequence[_P]], CompileProblem]) -> None:
        """Replace the problems of one kind by a single one. The first `since` problems stay as they are."""
        late = self.since(since)
        found = [problem for problem in late if isinstance(problem, kind)]
        if found:
            one = together(found)
            kept = [one if problem is found[0] else problem for problem in late]
            kept = [problem for problem in kept if problem is one or not isinstance(problem, kind)]
            self._problems = dict.fromkeys((*list(self._problems)[:since], *kept))

    def at(self, span: Span) -> bool:
        """Return whether there is a finding at exactly this span."""
        return _place(span) in self._places

    def within(self, span: Span) -> bool:
        """Return whether there is a finding at this span or at a part of it."""
        return any(
            source == id(span.source) and span.start <= start and end <= span.end for source, start, end in self._places
        )

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        found = [problem.diagnostic() for problem in self._problems]
        if self._more:
            more = Note("there are more findings than these: correct these first")
            found[-1] = replace(found[-1], notes=(*found[-1].notes, more))
        return tuple(found)

    def standing_alone(self) -> tuple[Diagnostic, ...]:
        """Return the findings that do not depend on what the experiments measure. Their classes mark them as
        `stands_alone`."""
        return tuple(problem.diagnostic() for problem in self._problems if problem.stands_alone and not _vague(problem))


class HeldBack(Findings):
    """Findings that are held back until it is clear whether they count."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[CompileProblem] = []

    def add(self, problem: CompileProblem) -> None:
        self.problems.append(problem)


def _place(span: Span) -> tuple[int, int, int]:
    return id(span.source), span.start, span.end


def _vague(problem: CompileProblem) -> bool:
    """Return whether a problem is an unknown word that resembles no known one. Such a word may be declared in a part
    that could not be read."""
    return isinstance(problem, Misspelt) and problem.declared and problem.replacement is None


def article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' or word == 'ssh' else 'a'} {word}"


class Again(diagnostic.Again, CompileProblem):
    """Something that repeats the part of the spec at `earlier`, or conflicts with it."""


class Misspelt(CompileProblem):
    """A word of some `kind` that is not among `known`."""

    kind: str
    word: str
    known: tuple[str, ...]
    otherwise: ClassVar[str] = "{there_are} {all_known}"
    declared: ClassVar[bool] = False
    """Whether a spec may declare words of this kind. Otherwise, `known` is complete."""
    when_none: ClassVar[str] = ""

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.word, self.known)

    @property
    def suggestion(self) -> Suggestion | None:
        """Return the correction of the word, or None if anything but the word (with any quotes) is underlined."""
        quote = '"' if self.span and self.span.text == f'"{self.word}"' else ""
        if self.span is None or self.replacement is None or self.span.text != f"{quote}{self.word}{quote}":
            return None
        return Suggestion(self.span, f"{quote}{self.replacement}{quote}")

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


class Circle(CompileProblem):
    chain: tuple[str, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(" -> ".join((*self.chain, self.chain[0]))),)

    @property
    def which(self) -> str:
        return "it" if len(self.chain) == 1 else "one of them"
