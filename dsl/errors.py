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
