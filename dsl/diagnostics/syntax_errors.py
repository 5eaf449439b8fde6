"""Every mistake in the syntax of a spec (E01xx): one frozen class each, with its stable code and all of its prose.

Those in reading a file (E00xx) are in `file_errors.py`, those with signs in `sign_errors.py`; the compiler's rooms hold
the rest, on the same base.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.dsl.diagnostics.diagnostic import Note
from benchbrief.dsl.diagnostics.problem import Mended, Problem
from benchbrief.dsl.source import Span

_MOST_NAMED = 3
SERIES_OPTIONS = {"log": "log y", "color": "color hardware", "axis": "axis right", "dashed": "dashed", "band": "band"}
"""Options that stand behind a series of a figure, each with a sample."""
_CONTROLS = {
    "\x08": "backspace",
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\r": "a carriage return without a line feed",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
}


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
    hint = "remove it, or look above for a block that is closed too early"
    found: str


@dataclass(frozen=True)
class UnclosedString(Problem):
    code = "E0104"
    says = "a quoted text does not end on its line"
    mark = 'no closing `"`'
    hint = 'close it with `"`; a text of many lines stands between `"""` and `"""`'


@dataclass(frozen=True)
class UnpairedQuote(Problem):
    code = "E0104"
    says = 'a quoted text is not closed: its line has an odd number of `"`'
    mark = "it ends where the next text should begin"
    hint = 'put the missing `"` at the end of this text'


@dataclass(frozen=True)
class UnclosedText(Problem):
    code = "E0104"
    says = 'a text opened with `"""` is never closed'
    mark = "opened here"
    hint = 'close it with `"""`'


@dataclass(frozen=True)
class Unprintable(Problem):
    code = "E0125"
    says = "a text holds {names}, which no page can show"
    mark = "remove it"

    @property
    def names(self) -> str:
        found = dict.fromkeys(self._name(char) for char in self.span.text) if self.span else {}
        return ", ".join([*found][:_MOST_NAMED]) + (" and more" if len(found) > _MOST_NAMED else "")

    @property
    def help(self) -> str:
        return "a tab is written `\\t`, and a line end `\\n`"

    @property
    def replacement(self) -> str:
        return ""

    @staticmethod
    def _name(char: str) -> str:
        name = _CONTROLS.get(char, "a control character" if ord(char) < 0xA0 else "not a character")
        return f"U+{ord(char):04X} ({name})"


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
class StrayOption(Problem):
    """An option of a series, such as `log y`, that follows no comma behind a series."""

    code = "E0106"
    says = "`{word}` is an option of a series, not an attribute"
    mark = "which series?"
    hint = "write it after a comma, at the end of its series: `line = throughput by threads, {example}`"
    word: str

    @property
    def example(self) -> str:
        return SERIES_OPTIONS[self.word]


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
        return f"this number is too {'large' if self.large else 'small'}"

    @property
    def label(self) -> str:
        return "the largest number is 1.8e308" if self.large else "the smallest number above 0 is 5e-324"

    @property
    def help(self) -> str:
        return f"write it in a {'larger' if self.large else 'smaller'} unit"


@dataclass(frozen=True)
class BarePoint(Mended):
    code = "E0111"
    says = "a decimal point needs a digit on both sides"


@dataclass(frozen=True)
class TooDeep(Problem):
    code = "E0112"
    says = "{what} more than {limit} levels deep"
    mark = "one too many"
    hint = "give a part of it a name with `metric` or `param`"
    what: str
    limit: int


@dataclass(frozen=True)
class BadEscape(Problem):
    code = "E0113"
    says = "`{found}` is not an escape"
    mark = "unknown escape"
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
    says = "`{{...}}` in a quoted text is empty"
    mark = "expected an expression"
    hint = "write an expression, such as `{{max(throughput over threads):.0f}}`; for braces write `{{{{` and `}}}}`"


@dataclass(frozen=True)
class BadCharacter(Problem):
    code = "E0115"
    says = "this character is not allowed here: {title}"
    mark = "not allowed here"
    title: str
    mended: str | None

    @property
    def help(self) -> str:
        if self.mended == " ":
            return "write an ordinary space"
        if self.mended:
            return f"write `{self.mended}`"
        return "names are made of a-z, A-Z, 0-9 and `_`; a quoted text may hold any character"

    @property
    def replacement(self) -> str | None:
        return self.mended


@dataclass(frozen=True)
class OutsideBlock(Problem):
    code = "E0116"
    says = "`{key} = ...` is outside of any block"
    mark = "in no block"
    hint = "move it into the braces of a block, or declare a parameter: `param {key} = ...`"
    key: str


@dataclass(frozen=True)
class Unquoted(Problem):
    code = "E0121"
    says = "a text needs quotes: `{text}`"
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
    hint = "a name begins with a letter; letters, digits and `_` follow"
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
    mark = "expected `{meant}`"
    hint = "did you mean `{meant}`?"
    word: str
    meant: str

    @property
    def replacement(self) -> str:
        return self.meant


@dataclass(frozen=True)
class DetachedMultiplier(Problem):
    code = "E0123"
    says = "there is a space between the number and its `{letter}`"
    mark = "write `{mended}`"
    hint = "`{letter}` multiplies the number only when it follows without a space"
    letter: str
    mended: str

    @property
    def replacement(self) -> str:
        return self.mended
