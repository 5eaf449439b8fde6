"""The findings about a spec, as data. Their prose is in the modules named `...errors`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from string import Formatter
from typing import ClassVar, Literal, dataclass_transform

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import duration, plural, ticked
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Source, Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Note:
    """A second place that helps to explain a mistake, or a plain remark if `span` is None."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class Edit:
    """A change of a text: `replacement` replaces `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True)
class Suggestion(Edit):
    """A correction that an editor could make. If it takes several edits, `also` has all but the first."""

    also: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (self, *self.also)


@dataclass(frozen=True)
class Diagnostic:
    """A mistake or a warning about a spec, with all its texts.

    `code` is stable (`E0201`, `W0301`). `summary` is one line without a full stop. `span` is the exact place, `label`
    has the words beside its underline, and `context` is a wider span to show around it. `help` is the next step.
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
        """Return the diagnostic for another source, with each span shifted by `by` characters."""

        def there(span: Span) -> Span:
            return Span(source, span.start + by, span.end + by)

        change = self.suggestion
        return replace(
            self,
            span=there(self.span) if self.span else None,
            context=there(self.context) if self.context else None,
            notes=tuple(replace(note, span=there(note.span)) if note.span else note for note in self.notes),
            suggestion=change
            and Suggestion(
                there(change.span),
                change.replacement,
                tuple(Edit(there(edit.span), edit.replacement) for edit in change.also),
            ),
        )


class SpecError(BenchError):
    """Raised if a spec can't be used. It has all diagnostics, and at least one of them is an error."""

    code = "spec"
    ends_with = ExitCode.SPEC_WRONG

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.summary for d in diagnostics))
        self.diagnostics = diagnostics

    def rendered(self, *, colour: bool) -> str:
        from benchbrief.dsl.diagnostics.render import render_all

        return render_all(self.diagnostics, colour=colour)


_BLANK = re.compile(r"\s")
_LONGEST = 600  # characters of a message
_LONGEST_WORD = 120  # those of a word, name, number or path in it

Prose = str | tuple[str, ...]
"""A text whose `{field}` holes are filled with fields and properties of a problem (`{{` is a brace). If several texts
are given, the first one whose fields all have a value is used, or else the last one.

Besides Python's formats there are `{seconds:duration}`, `{words:joined}`, `{words:ticked}` (`:ticked 20` for at most 20
of them), `{names:named host}` ("hosts `a`, `b`"), and `{count:plural host}` ("2 hosts", also of a tuple).
"""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True)
class Problem:
    """One mistake at `span`, which is None if the mistake has no place in a text. A subclass sets `code` and the words.

    `says` is the summary, one line without a full stop. `mark` has the words beside the underline. `hint` is the next
    step. `remark` is about an earlier place. `mend` is the text that corrects the mistake when it replaces `span`. A
    problem that needs more than texts overrides a property.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    """This is "warning" if the code begins with W, and "error" otherwise."""
    says: ClassVar[Prose] = ""
    mark: ClassVar[Prose] = ""
    hint: ClassVar[Prose] = ""
    remark: ClassVar[Prose] = ""
    mend: ClassVar[str | None] = None
    """The text that corrects the mistake. There is no correction if it is None, or needs a field that is None."""
    span: Span | None

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        if getattr(cls, "code", "").startswith("W"):
            cls.severity = "warning"

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
        return (Note(self._filled(self.remark)),) if self.remark else ()

    @property
    def help(self) -> str:
        return self._filled(self.hint)

    @property
    def replacement(self) -> str | None:
        """The text that should replace `span`, or None if no correction is known."""
        fields = {name: getattr(self, name) for name in _field_names(self.mend or "")}
        return None if self.mend is None or None in fields.values() else self.mend.format_map(fields)

    @property
    def suggestion(self) -> Suggestion | None:
        return Suggestion(self.span, self.replacement) if self.span and self.replacement is not None else None

    def diagnostic(self) -> Diagnostic:
        return Diagnostic(
            code=self.code,
            severity=self.severity,
            summary=_shorten(self.summary),
            span=self.span,
            label=_shorten(self.label),
            context=self.context,
            notes=tuple(replace(note, text=_shorten(note.text)) for note in self.notes),
            help=_shorten(self.help),
            suggestion=self.suggestion,
        )

    def error(self) -> SpecError:
        """Return an error that has only this problem."""
        return SpecError((self.diagnostic(),))

    def _filled(self, prose: Prose) -> str:
        texts = (prose,) if isinstance(prose, str) else prose
        whole = (text for text in texts[:-1] if all(getattr(self, name) for name in _field_names(text)))
        return _Prose().vformat(next(whole, texts[-1]), (self,), {})


class Mended(Problem):
    """A mistake that is corrected by replacing it with `mended`."""

    mark = "write `{mended}`"
    mend = "{mended}"
    mended: str


class Again(Problem):
    """Something that repeats or contradicts the text at `earlier`."""

    earlier: Span

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(self._filled(self.remark), self.earlier),)


def _shorten(text: str, longest: int = _LONGEST) -> str:
    """Cut the middle out of a text that is too long because of a long word in the spec."""
    return text if len(text) <= longest else f"{text[: longest // 2]}...{text[-longest // 2 :]}"


def _field_names(text: str) -> list[str]:
    return [re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(text) if name]


class _Prose(Formatter):
    """A formatter whose only argument is a problem. It fills a text's holes with the problem's fields and properties,
    formatted as `Prose` describes."""

    def get_value(self, key: int | str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        del kwargs
        return getattr(args[0], str(key))

    def format_field(self, value: object, format_spec: str) -> str:
        match value, format_spec.split():
            case int() | float(), ["duration"]:
                text = duration(value)
            case tuple() | list(), ["joined"]:
                text = ", ".join(value)
            case tuple() | list(), ["ticked", *most]:
                text = ticked(value, *map(int, most))
            case tuple() | list(), ["named", noun]:
                text = f"{noun}{'s' if len(value) > 1 else ''} {ticked(value)}"
            case int() | tuple() | list(), ["plural", noun]:
                text = plural(value if isinstance(value, int) else len(value), noun)
            case _:
                text = format(value, format_spec)
        return text if _BLANK.search(text) else _shorten(text, _LONGEST_WORD)
