"""What a mistake of a user is made of: its stable code, its place, and all of its prose."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from benchbrief.dsl.diagnostics.diagnostic import Diagnostic, Note, Severity, SpecError, Suggestion
from benchbrief.dsl.source import Span

_BLANK = re.compile(r"\s")
_LONGEST = 600  # characters of a message
_LONGEST_WORD = 120  # those of a word, name, number or path in it


@dataclass(frozen=True)
class Problem:
    """One mistake at `span` (None: no place in a text). A subclass sets `code` and says it in words.

    The words are in class variables, with `{field}` for the fields and properties of the instance (`{{` for a brace):
    `says` is the summary, one line without a full stop; `mark` stands beside the underline; `hint` is the next step;
    `remark` is about the earlier place `first`. What needs more overrides the property.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    says: ClassVar[str] = ""
    mark: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    remark: ClassVar[str] = ""
    span: Span | None

    @property
    def summary(self) -> str:
        return self._filled(self.says)

    @property
    def label(self) -> str:
        return self._filled(self.mark)

    @property
    def context(self) -> Span | None:
        return None

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(self._filled(self.remark), self.first),) if self.remark else ()

    @property
    def help(self) -> str:
        return self._filled(self.hint)

    @property
    def first(self) -> Span | None:
        return None

    @property
    def replacement(self) -> str | None:
        """What would mend it when put in place of `span`."""
        return None

    @property
    def suggestion(self) -> Suggestion | None:
        return Suggestion(self.span, self.replacement) if self.span and self.replacement is not None else None

    def diagnostic(self) -> Diagnostic:
        return Diagnostic(
            code=self.code,
            severity=self.severity,
            summary=_brief(self.summary),
            span=self.span,
            label=_brief(self.label),
            context=self.context,
            notes=tuple(replace(note, text=_brief(note.text)) for note in self.notes),
            help=_brief(self.help),
            suggestion=self.suggestion,
        )

    def error(self) -> SpecError:
        """This problem alone, to be raised."""
        return SpecError((self.diagnostic(),))

    def _filled(self, template: str) -> str:
        return template.format_map(_Fields(self)) if template else ""


@dataclass(frozen=True)
class Mended(Problem):
    """A mistake that is mended by writing `mended` in its place."""

    mark = "write `{mended}`"
    mended: str

    @property
    def replacement(self) -> str:
        return self.mended


def _brief(text: str, longest: int = _LONGEST) -> str:
    """The text, cut in its middle when a word of the spec makes it endless."""
    return text if len(text) <= longest else f"{text[: longest // 2]}...{text[-longest // 2 :]}"


class _Fields(dict[str, object]):
    """The fields and properties of a problem, by name."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self._problem = problem

    def __missing__(self, name: str) -> object:
        value = getattr(self._problem, name)
        return _brief(value, _LONGEST_WORD) if isinstance(value, str) and not _BLANK.search(value) else value
