"""What is wrong with a spec, as data. Its prose lives in the modules named `...errors`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.dsl.source import Source, Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Note:
    """A second place worth seeing, or a plain remark (`span` is None)."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class Suggestion:
    """A replacement an editor could make: put `replacement` in place of `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    `code` is stable (`E0201`, `W0301`), `summary` one line without a full stop, `span` the tight place, `label` the
    words beside its underline, `context` a wider span shown around it, `help` the next step.
    """

    code: str
    severity: Severity
    summary: str
    span: Span | None
    label: str = ""
    context: Span | None = None
    notes: tuple[Note, ...] = ()
    help: str = ""
    suggestion: Suggestion | None = None

    def moved(self, source: Source, by: int) -> Diagnostic:
        """The same of another text, in which each place is `by` characters on."""

        def there(span: Span) -> Span:
            return Span(source, span.start + by, span.end + by)

        return replace(
            self,
            span=there(self.span) if self.span else None,
            context=there(self.context) if self.context else None,
            notes=tuple(replace(note, span=there(note.span)) if note.span else note for note in self.notes),
            suggestion=replace(self.suggestion, span=there(self.suggestion.span)) if self.suggestion else None,
        )


class SpecError(BenchError):
    """A spec can't be used: carries every diagnostic found, at least one of them an error."""

    code = "spec"
    ends_with = ExitCode.SPEC_WRONG

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.summary for d in diagnostics))
        self.diagnostics = diagnostics

    def rendered(self, *, colour: bool) -> str:
        from benchbrief.dsl.diagnostics.render import render_all

        return render_all(self.diagnostics, colour=colour)
