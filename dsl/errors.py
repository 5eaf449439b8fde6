"""Every mistake in reading and parsing a spec: one frozen class each, with its stable code and all of its prose.

E00xx reading a file, E01xx syntax. The compiler's rooms hold the rest, on the same base.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from benchbrief.dsl.diagnostics import Diagnostic, Note, Severity, SpecError, Suggestion
from benchbrief.dsl.source import Span

_LONGEST = 600  # characters of a message


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


def _brief(text: str) -> str:
    """The text, cut in its middle when a word of the spec makes it endless."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


class _Fields(dict[str, object]):
    """The fields and properties of a problem, by name."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self._problem = problem

    def __missing__(self, name: str) -> object:
        return getattr(self._problem, name)


# --- E00xx: reading a file -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileMissing(Problem):
    code = "E0001"
    says = "there is no file `{name}`"
    name: str
    guess: str | None

    @property
    def help(self) -> str:
        return f"did you mean `{self.guess}`?" if self.guess else "check the path; it starts at the current folder"


@dataclass(frozen=True)
class NotAFile(Problem):
    code = "E0002"
    says = "`{name}` is a folder, not a file"
    name: str
    specs: tuple[str, ...]

    @property
    def help(self) -> str:
        if not self.specs:
            return "name a file that ends in .bench"
        return "name one of its files: " + ", ".join(f"`{spec}`" for spec in self.specs)


@dataclass(frozen=True)
class Unreadable(Problem):
    code = "E0003"
    says = "can't read `{name}`: {why}"
    name: str
    why: str

    @property
    def help(self) -> str:
        return "let this user read it: `chmod u+r`" if "permission" in self.why.lower() else ""


@dataclass(frozen=True)
class NotText(Problem):
    """`byte` is the first that is not UTF-8, `offset` its place in the file, from 0."""

    code = "E0004"
    says = "the file is not UTF-8 text"
    mark = "byte 0x{byte:02x} at offset {offset} starts no character"
    byte: int
    offset: int
    likely: str

    @property
    def help(self) -> str:
        return f"it looks like {self.likely}; save it as UTF-8" if self.likely else "save it as UTF-8"


@dataclass(frozen=True)
class HoldsNul(Problem):
    code = "E0005"
    says = "the file holds a NUL byte, so it is not text"
    mark = "at offset {offset}"
    hint = "is this a spec? one is plain text"
    offset: int


@dataclass(frozen=True)
class TooLarge(Problem):
    """A file of more bytes than `limit`; or, where `words` says so, of more words and signs."""

    code = "E0006"
    says = "`{name}` {much}, the limit for a spec"
    hint = "is this a spec? a long one can be split with `use`"
    name: str
    limit: int
    words: bool = False

    @property
    def much(self) -> str:
        if self.words:
            return f"has more than {self.limit:,} words and signs"
        return f"is larger than {self.limit >> 20} MiB"


# --- E01xx: syntax ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unexpected(Problem):
    """What stands at `span` can't stand there. `found` and `expected` are words for people."""

    code = "E0101"
    mark = "not expected here"
    found: str
    expected: str
    advice: str = ""

    @property
    def summary(self) -> str:
        return f"expected {self.expected}, found {self.found}" if self.expected else f"unexpected {self.found}"

    @property
    def label(self) -> str:
        return f"expected {self.expected}" if self.expected else "not expected here"

    @property
    def help(self) -> str:
        return self.advice


@dataclass(frozen=True)
class UnclosedBracket(Problem):
    """`met` is the closing bracket of an outer one that came instead; None when the file ended."""

    code = "E0102"
    says = "`{opener}` is never closed"
    mark = "opened here"
    hint = "add the missing `{closer}`"
    opener: str
    closer: str
    met: Span | None

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"this `{self.met.text}` comes before its `{self.closer}`", self.met),) if self.met else ()


@dataclass(frozen=True)
class WrongCloser(Problem):
    code = "E0103"
    says = "`{found}` where `{wanted}` was expected"
    mark = "closes nothing"
    remark = "this is open"
    hint = "write `{wanted}`"
    found: str
    wanted: str
    opener: Span

    @property
    def first(self) -> Span:
        return self.opener

    @property
    def replacement(self) -> str:
        return self.wanted


@dataclass(frozen=True)
class StrayCloser(Problem):
    code = "E0103"
    says = "`{found}` closes nothing"
    mark = "nothing is open here"
    hint = "remove it, or look above for the bracket that it was to close"
    found: str


@dataclass(frozen=True)
class UnclosedString(Problem):
    code = "E0104"
    says = "a quoted text does not end on its line"
    mark = 'no closing `"`'
    hint = 'close it with `"`; a text of many lines stands between `"""` and `"""`'


@dataclass(frozen=True)
class UnclosedText(Problem):
    code = "E0104"
    says = 'a text opened with `"""` is never closed'
    mark = "opened here"
    hint = 'close it with `"""`'


@dataclass(frozen=True)
class UnknownDeclaration(Problem):
    code = "E0105"
    says = "`{word}` does not begin a declaration"
    mark = "not a declaration"
    word: str
    guess: str | None
    known: tuple[str, ...]

    @property
    def help(self) -> str:
        if self.guess:
            return f"did you mean `{self.guess}`?"
        return "a declaration begins with " + ", ".join(f"`{word}`" for word in self.known)

    @property
    def replacement(self) -> str | None:
        return self.guess


@dataclass(frozen=True)
class MissingEquals(Problem):
    code = "E0106"
    says = "no `=` after `{key}`"
    mark = "expected `=` after this"
    hint = "an attribute is written `{key} = value`"
    key: str


@dataclass(frozen=True)
class WrongSign(Problem):
    """A sign that has another meaning here. `where` says what `wanted` is for."""

    code = "E0107"
    says = "`{found}` in place of `{wanted}`"
    mark = "write `{wanted}`"
    hint = "{where}"
    found: str
    wanted: str
    where: str

    @property
    def replacement(self) -> str:
        return self.wanted


@dataclass(frozen=True)
class Semicolon(Problem):
    code = "E0108"
    says = "a `;` has no meaning"
    mark = "remove it"
    hint = "attributes need no sign between them: one on each line, or several beside each other"

    @property
    def replacement(self) -> str:
        return ""


@dataclass(frozen=True)
class WrongQuotes(Problem):
    """`mended` is the text in the right quotes where its end was found."""

    code = "E0109"
    says = 'a text is quoted with `"`, not with `{found}`'
    mark = "not a quote"
    found: str
    mended: str | None

    @property
    def help(self) -> str:
        return f"write `{self.mended}`" if self.mended else 'write `"` on both sides'

    @property
    def replacement(self) -> str | None:
        return self.mended


@dataclass(frozen=True)
class WrongComment(Problem):
    code = "E0110"
    says = "a comment begins with `#`, not with `{found}`"
    mark = "write `#`"
    found: str

    @property
    def help(self) -> str:
        return "begin each of its lines with `#`" if self.found == "/*" else ""

    @property
    def replacement(self) -> str | None:
        return None if self.found == "/*" else "#"


@dataclass(frozen=True)
class BadNumber(Problem):
    """A number that can't be held."""

    code = "E0111"
    large: bool

    @property
    def summary(self) -> str:
        return f"a number too {'large' if self.large else 'small'} to be held"

    @property
    def label(self) -> str:
        return "beyond 1.8e308" if self.large else "nearer to zero than 5e-324"

    @property
    def help(self) -> str:
        return "write it with a larger or smaller unit"


@dataclass(frozen=True)
class BarePoint(Problem):
    code = "E0111"
    says = "a decimal point needs a digit on both sides"
    mark = "write `{mended}`"
    mended: str

    @property
    def replacement(self) -> str:
        return self.mended


@dataclass(frozen=True)
class TooDeep(Problem):
    code = "E0112"
    says = "{what} more than {limit} levels deep"
    mark = "one too many"
    hint = "give a part of it a name of its own with `metric` or `param`"
    what: str
    limit: int


@dataclass(frozen=True)
class BadEscape(Problem):
    code = "E0113"
    says = "a backslash that has no meaning here"
    mark = "not an escape"
    found: str

    @property
    def help(self) -> str:
        if self.found in ("\\{", "\\}"):
            return f"write `{self.found[1] * 2}` for a brace"
        return 'write `\\\\` for a backslash; the escapes are `\\n`, `\\t`, `\\"` and `\\\\`'


@dataclass(frozen=True)
class StrayBrace(Problem):
    code = "E0114"
    says = "`}}` in a quoted text closes nothing"
    mark = "no `{{` before it"
    hint = "write `}}}}` for a brace"

    @property
    def replacement(self) -> str:
        return "}}"


@dataclass(frozen=True)
class UnclosedHole(Problem):
    code = "E0114"
    says = "`{{` in a quoted text is never closed"
    mark = "opened here"
    hint = "close it with `}}`, or write `{{{{` for a brace"


@dataclass(frozen=True)
class EmptyHole(Problem):
    code = "E0114"
    says = "nothing to compute in a hole"
    mark = "expected an expression"
    hint = "such as `{{max(throughput over threads):.0f}}`; write `{{{{` and `}}}}` for braces"


@dataclass(frozen=True)
class BadCharacter(Problem):
    code = "E0115"
    says = "a character that can't stand here: {title}"
    mark = "not expected here"
    title: str
    mended: str | None

    @property
    def help(self) -> str:
        if self.mended == " ":
            return "write a plain blank"
        if self.mended:
            return f"write `{self.mended}`"
        return "names are made of a-z, A-Z, 0-9 and `_`; a quoted text may hold any character"

    @property
    def replacement(self) -> str | None:
        return self.mended


@dataclass(frozen=True)
class OutsideBlock(Problem):
    code = "E0116"
    says = "`{key} = ...` stands outside of any block"
    mark = "in no block"
    hint = "move it into a block's braces; a value with a name of its own is `param {key} = ...`"
    key: str


@dataclass(frozen=True)
class MissingComma(Problem):
    """`span` is what comes after the missing comma."""

    code = "E0117"
    says = "no `,` before {found}"
    mark = "expected `,` or `{closer}`"
    hint = "items are told apart by `,`"
    found: str
    closer: str


@dataclass(frozen=True)
class StrayComma(Problem):
    code = "E0118"
    says = "a `,` with nothing to tell apart"
    mark = "remove it"

    @property
    def replacement(self) -> str:
        return ""


@dataclass(frozen=True)
class ChainedComparison(Problem):
    code = "E0119"
    says = "comparisons can't be chained"
    mark = "a second comparison"
    hint = "write `a < b and b < c`"


@dataclass(frozen=True)
class LogicSign(Problem):
    code = "E0120"
    says = "`{found}` is written `{word}`"
    mark = "write `{word}`"
    found: str
    word: str

    @property
    def replacement(self) -> str:
        return self.word


@dataclass(frozen=True)
class Unquoted(Problem):
    code = "E0121"
    says = "a path, address or other text without quotes"
    mark = "not quoted"
    hint = 'write `"{text}"`'
    text: str

    @property
    def replacement(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True)
class BadName(Problem):
    code = "E0122"
    says = "`{text}` is not a name"
    mark = "write `{mended}`"
    hint = "a name begins with a letter and goes on with letters, digits and `_`"
    text: str
    mended: str

    @property
    def replacement(self) -> str:
        return self.mended


@dataclass(frozen=True)
class MisspeltWord(Problem):
    """A word of the grammar with a slip in it: with `meant` in its place the text can be read on."""

    code = "E0124"
    says = "`{word}` has no meaning here"
    mark = "not a word of the language"
    hint = "did you mean `{meant}`?"
    word: str
    meant: str

    @property
    def replacement(self) -> str:
        return self.meant


@dataclass(frozen=True)
class DetachedMultiplier(Problem):
    code = "E0123"
    says = "a blank between a number and its `{letter}`"
    mark = "write `{mended}`"
    hint = "`{letter}` multiplies the number when it stands right behind it"
    letter: str
    mended: str

    @property
    def replacement(self) -> str:
        return self.mended
