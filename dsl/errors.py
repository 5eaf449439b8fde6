"""Every mistake in reading and parsing a spec: one frozen class each, with its stable code and all of its prose.

E00xx reading a file, E01xx syntax. `compiler/errors.py` holds the rest, on the same base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchbrief.dsl.diagnostics import Diagnostic, Note, Severity, SpecError, Suggestion
from benchbrief.dsl.source import Span


@dataclass(frozen=True)
class Problem:
    """One mistake at `span` (None: no place in a text). A subclass sets `code` and says it in words.

    `summary` is one line without a full stop; `label` the words beside the underline; `help` the next step.

        @dataclass(frozen=True)
        class UnknownName(Problem):
            code = "E0201"
            word: str

            @property
            def summary(self) -> str:
                return f"unknown name `{self.word}`"
    """

    code: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    span: Span | None

    @property
    def summary(self) -> str:
        raise NotImplementedError

    @property
    def label(self) -> str:
        return ""

    @property
    def context(self) -> Span | None:
        return None

    @property
    def notes(self) -> tuple[Note, ...]:
        return ()

    @property
    def help(self) -> str:
        return ""

    @property
    def suggestion(self) -> Suggestion | None:
        return None

    def diagnostic(self) -> Diagnostic:
        return Diagnostic(
            code=self.code,
            severity=self.severity,
            summary=self.summary,
            span=self.span,
            label=self.label,
            context=self.context,
            notes=self.notes,
            help=self.help,
            suggestion=self.suggestion,
        )

    def error(self) -> SpecError:
        """This problem alone, to be raised."""
        return SpecError((self.diagnostic(),))


# --- E01xx: syntax ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unexpected(Problem):
    """What stands at `span` can't stand there. `found` and `expected` are words for people."""

    code = "E0101"
    found: str
    expected: str

    @property
    def summary(self) -> str:
        return f"expected {self.expected}, found {self.found}" if self.expected else f"unexpected {self.found}"

    @property
    def label(self) -> str:
        return f"expected {self.expected}" if self.expected else "not expected here"


@dataclass(frozen=True)
class UnclosedBracket(Problem):
    """`met` is the closing bracket of an outer one that came instead; None when the file ended."""

    code = "E0102"
    closer: str
    met: Span | None

    @property
    def summary(self) -> str:
        return f"`{self.span.text if self.span else ''}` is never closed"

    @property
    def label(self) -> str:
        return "opened here"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"`{self.met.text}` comes before its `{self.closer}`", self.met),) if self.met else ()

    @property
    def help(self) -> str:
        return f"add the missing `{self.closer}`"


@dataclass(frozen=True)
class WrongCloser(Problem):
    code = "E0103"
    found: str
    wanted: str
    opener: Span

    @property
    def summary(self) -> str:
        return f"`{self.found}` closes nothing"

    @property
    def label(self) -> str:
        return f"expected `{self.wanted}`"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"`{self.opener.text}` is open since here", self.opener),)

    @property
    def help(self) -> str:
        return f"write `{self.wanted}`"

    @property
    def suggestion(self) -> Suggestion | None:
        return Suggestion(self.span, self.wanted) if self.span else None


@dataclass(frozen=True)
class StrayCloser(Problem):
    code = "E0103"
    found: str

    @property
    def summary(self) -> str:
        return f"`{self.found}` closes nothing"

    @property
    def label(self) -> str:
        return "nothing is open here"

    @property
    def help(self) -> str:
        return "remove it, or look for a bracket too many above"


@dataclass(frozen=True)
class UnclosedString(Problem):
    code = "E0104"

    @property
    def summary(self) -> str:
        return "a quoted text does not end on its line"

    @property
    def label(self) -> str:
        return 'no closing `"`'

    @property
    def help(self) -> str:
        return 'close it with `"`; a text of many lines stands between `"""` and `"""`'


@dataclass(frozen=True)
class UnclosedText(Problem):
    code = "E0104"

    @property
    def summary(self) -> str:
        return 'a text opened with `"""` is never closed'

    @property
    def label(self) -> str:
        return "opened here"

    @property
    def help(self) -> str:
        return 'close it with `"""`'


@dataclass(frozen=True)
class TooDeep(Problem):
    code = "E0112"
    limit: int

    @property
    def summary(self) -> str:
        return f"brackets are nested more than {self.limit} levels deep"

    @property
    def label(self) -> str:
        return "one too many"

    @property
    def help(self) -> str:
        return "give a part of it a name with `metric` or `param`"


@dataclass(frozen=True)
class BadEscape(Problem):
    code = "E0113"
    found: str

    @property
    def summary(self) -> str:
        return "a backslash with no meaning in a quoted text"

    @property
    def label(self) -> str:
        return "not an escape"

    @property
    def help(self) -> str:
        if self.found in ("\\{", "\\}"):
            return f"write `{self.found[1] * 2}` for a brace"
        return 'write `\\\\` for a backslash; the escapes are `\\n`, `\\t`, `\\"` and `\\\\`'


@dataclass(frozen=True)
class StrayBrace(Problem):
    code = "E0114"

    @property
    def summary(self) -> str:
        return "`}` in a quoted text closes nothing"

    @property
    def label(self) -> str:
        return "no `{` before it"

    @property
    def help(self) -> str:
        return "write `}}` for a brace"

    @property
    def suggestion(self) -> Suggestion | None:
        return Suggestion(self.span, "}}") if self.span else None


@dataclass(frozen=True)
class UnclosedHole(Problem):
    code = "E0114"

    @property
    def summary(self) -> str:
        return "`{` in a quoted text is never closed"

    @property
    def label(self) -> str:
        return "opened here"

    @property
    def help(self) -> str:
        return "close it with `}`, or write `{{` for a brace"


@dataclass(frozen=True)
class EmptyHole(Problem):
    code = "E0114"

    @property
    def summary(self) -> str:
        return "nothing to compute in `{}`"

    @property
    def label(self) -> str:
        return "expected an expression"

    @property
    def help(self) -> str:
        return "write an expression such as `{max(throughput over threads):.0f}`, or `{{` and `}}` for braces"


@dataclass(frozen=True)
class BadNumber(Problem):
    """A number that the computer can't hold."""

    code = "E0111"
    large: bool

    @property
    def summary(self) -> str:
        return f"a number too {'large' if self.large else 'small'}"

    @property
    def label(self) -> str:
        return "more than 1e308" if self.large else "less than 1e-323, and not zero"
