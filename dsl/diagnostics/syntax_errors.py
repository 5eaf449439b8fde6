"""Every mistake in the syntax of a spec (E01xx), each as a frozen class with its stable code and all of its prose.

Mistakes in reading a file are E00xx. The compiler's folders define other mistakes, with the same base class.
"""

from __future__ import annotations

from benchbrief.dsl.diagnostics.diagnostic import Again, Mended, Note, Problem
from benchbrief.dsl.source import Span


class FileMissing(Problem):
    code = "E0001"
    says = "there is no file `{name}`"
    hint = ("did you mean `{guess}`?", "check the path; it starts at the current folder")
    name: str
    guess: str | None


class NotAFile(Problem):
    code = "E0002"
    says = "`{name}` is a folder, not a file"
    hint = ("name one of its files: {specs:ticked}", "name a file that ends in .bench")
    name: str
    specs: tuple[str, ...]


class UnreadableSpec(Problem):
    code = "E0003"
    says = "can't read `{name}`: {why}"
    name: str
    why: str

    @property
    def help(self) -> str:
        return "let this user read it: `chmod u+r`" if "permission" in self.why.lower() else ""


class NotText(Problem):
    """A file that is not in UTF-8. `byte` is the first invalid byte, and `offset` is its offset in the file, from 0."""

    code = "E0004"
    says = "the file is not UTF-8 text"
    mark = "byte 0x{byte:02x} at offset {offset} starts no character"
    hint = ("it looks like {likely}; save it as UTF-8", "save it as UTF-8")
    byte: int
    offset: int
    likely: str


class HoldsNul(Problem):
    code = "E0005"
    says = "the file holds a NUL byte, so it is not text"
    mark = "at offset {offset}"
    hint = "check that this is a spec: a spec is plain text"
    offset: int


class TooLarge(Problem):
    """A file with more than `limit` bytes or, if `words` is set, with more than `limit` words and signs."""

    code = "E0006"
    says = "`{name}` {much}, the limit for a spec"
    hint = "check that this is a spec; split a long one into files with `use`"
    name: str
    limit: int
    words: bool = False

    @property
    def much(self) -> str:
        if self.words:
            return f"has more than {self.limit:,} words and signs"
        return f"is larger than {self.limit >> 20} MiB"


class WrongSign(Problem):
    """A sign that is wrong in its place. `wanted` is the right sign, and `where` says what that sign is for."""

    code = "E0107"
    says = "`{found}` in place of `{wanted}`"
    mark = "write `{wanted}`"
    hint = "{where}"
    mend = "{wanted}"
    found: str
    wanted: str
    where: str


class Semicolon(Problem):
    code = "E0108"
    says = "a `;` is not allowed here"
    mark = "remove it"
    hint = "attributes need no separator: write each on its own line, or separate them with spaces"
    mend = ""


class QuotedKey(Mended):
    code = "E0107"
    says = "the name of an attribute has no quotes"
    hint = "an attribute is written `{mended} = value`, without quotes, `:` or a comma at its end"


class MissingComma(Problem):
    """A missing comma. `span` is the text after it. `closer` is the bracket that could be there instead, or "" if none
    is open."""

    code = "E0117"
    says = "no `,` before {found}"
    mark = ("expected `,` or `{closer}`", "expected `,`")
    found: str
    closer: str

    @property
    def help(self) -> str:
        return "separate the items with `,`" if self.closer else "write `, higher is better` after the expression"


class MissingEvery(Problem):
    """A probe and an interval without `every` between them: `cpu 1 s`. `span` is the interval."""

    code = "E0117"
    says = "no `every` before `{interval}`"
    mark = "how often `{probe}` samples"
    hint = "write `{probe} every {interval}`"
    probe: str
    interval: str


class StrayComma(Problem):
    code = "E0118"
    says = "this `,` separates nothing"
    mark = "remove it"
    mend = ""


class DigitsWithCommas(Mended):
    code = "E0118"
    says = "a number can't have commas"


class ChainedComparison(Problem):
    code = "E0119"
    says = "comparisons can't be chained"
    mark = "a second comparison"
    hint = "write `a < b and b < c`"


class LogicSign(Problem):
    code = "E0120"
    says = "`{found}` is written `{word}`"
    mark = "write `{word}`"
    mend = "{word}"
    found: str
    word: str


_MOST_NAMED = 3
SERIES_OPTIONS = {"log": "log y", "color": "color hardware", "axis": "axis right", "dashed": "dashed", "band": "band"}
"""Options that may follow a series of a figure, each with a sample."""
_CONTROLS = {
    "\x08": "backspace",
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\r": "a carriage return without a line feed",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
}


class Unexpected(Problem):
    """Text that is not allowed at its place. `found` and `expected` describe it to the user."""

    code = "E0101"
    says = ("expected {expected}, found {found}", "unexpected {found}")
    mark = ("expected {expected}", "not expected here")
    hint = "{advice}"
    found: str
    expected: str
    advice: str = ""


class UnclosedBracket(Problem):
    """A bracket that is not closed. `met` is the closing bracket of an outer pair that was found instead, or None at
    the end of the file."""

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


class WrongCloser(Again):
    code = "E0103"
    says = "`{found}` where `{wanted}` was expected"
    mark = "closes nothing"
    remark = "this is open"
    hint = "write `{wanted}`"
    mend = "{wanted}"
    found: str
    wanted: str


class StrayCloser(Problem):
    code = "E0103"
    says = "`{found}` closes nothing"
    mark = "nothing is open here"
    hint = "remove it, or look above for a block that is closed too early"
    found: str


class UnclosedString(Problem):
    code = "E0104"
    says = "a quoted text does not end on its line"
    mark = 'no closing `"`'
    hint = 'close it with `"`; a text of many lines stands between `"""` and `"""`'


class UnpairedQuote(Problem):
    code = "E0104"
    says = 'a quoted text is not closed: its line has an odd number of `"`'
    mark = "it ends where the next text should begin"
    hint = 'put the missing `"` at the end of this text'


class UnclosedText(Problem):
    code = "E0104"
    says = 'a text opened with `"""` is never closed'
    mark = "opened here"
    hint = 'close it with `"""`'


class Unprintable(Problem):
    code = "E0125"
    says = "a text holds {names}, which no page can show"
    mark = "remove it"
    hint = "a tab is written `\\t`, and a line end `\\n`"
    mend = ""

    @property
    def names(self) -> str:
        found = dict.fromkeys(self._name(char) for char in self.span.text) if self.span else {}
        return ", ".join([*found][:_MOST_NAMED]) + (" and more" if len(found) > _MOST_NAMED else "")

    @staticmethod
    def _name(char: str) -> str:
        name = _CONTROLS.get(char, "a control character" if ord(char) < 0xA0 else "not a character")
        return f"U+{ord(char):04X} ({name})"


class UnknownDeclaration(Problem):
    code = "E0105"
    says = "`{word}` does not begin a declaration"
    mark = "not a declaration"
    hint = ("did you mean `{guess}`?", "a declaration begins with {known:ticked 50}")
    mend = "{guess}"
    word: str
    guess: str | None
    known: tuple[str, ...]


class MissingEquals(Problem):
    code = "E0106"
    says = "no `=` after `{key}`"
    mark = "expected `=` after this"
    hint = "an attribute is written `{key} = value`"
    key: str


class StrayOption(Problem):
    """An option of a series, such as `log y`, that does not follow a series and a comma."""

    code = "E0106"
    says = "`{word}` is an option of a series, not an attribute"
    mark = "which series?"
    hint = "write it after a comma, at the end of its series: `line = throughput by threads, {example}`"
    word: str

    @property
    def example(self) -> str:
        return SERIES_OPTIONS[self.word]


class WrongQuotes(Problem):
    """A text in wrong quotes. `mended` is the text in the right quotes, or None if the end of the text was
    not found."""

    code = "E0109"
    says = 'a text is quoted with `"`, not with `{found}`'
    mark = "not a quote"
    hint = ("write `{mended}`", 'write `"` on both sides')
    mend = "{mended}"
    found: str
    mended: str | None


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


class BadNumber(Problem):
    """A number that is too large or too small for a 64-bit float."""

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


class BarePoint(Mended):
    code = "E0111"
    says = "a decimal point needs a digit on both sides"


class TooDeep(Problem):
    code = "E0112"
    says = "{what} more than {limit} levels deep"
    mark = "one too many"
    hint = "give a part of it a name with `metric` or `param`"
    what: str
    limit: int


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


class StrayBrace(Problem):
    code = "E0114"
    says = "`}}` in a quoted text closes nothing"
    mark = "no `{{` before it"
    hint = "write `}}}}` for a brace"
    mend = "}}}}"


class UnclosedHole(Problem):
    code = "E0114"
    says = "`{{` in a quoted text is never closed"
    mark = "opened here"
    hint = "close it with `}}`, or write `{{{{` for a brace"


class EmptyHole(Problem):
    code = "E0114"
    says = "`{{...}}` in a quoted text is empty"
    mark = "expected an expression"
    hint = "write an expression, such as `{{max(throughput over threads):.0f}}`; for braces write `{{{{` and `}}}}`"


class BadCharacter(Problem):
    code = "E0115"
    says = "this character is not allowed here: {title}"
    mark = "not allowed here"
    mend = "{mended}"
    title: str
    mended: str | None

    @property
    def help(self) -> str:
        if self.mended == " ":
            return "write an ordinary space"
        if self.mended:
            return f"write `{self.mended}`"
        return "names are made of a-z, A-Z, 0-9 and `_`; a quoted text may hold any character"


class OutsideBlock(Problem):
    code = "E0116"
    says = "`{key} = ...` is outside of any block"
    mark = "in no block"
    hint = "move it into the braces of a block, or declare a parameter: `param {key} = ...`"
    key: str


class Unquoted(Problem):
    code = "E0121"
    says = "a text needs quotes: `{text}`"
    mark = "not quoted"
    hint = 'write `"{text}"`'
    mend = '"{text}"'
    text: str


class BadName(Problem):
    code = "E0122"
    says = "`{text}` is not a name"
    mark = "write `{mended}`"
    hint = "a name begins with a letter; letters, digits and `_` follow"
    mend = "{mended}"
    text: str
    mended: str


class MisspeltWord(Problem):
    """A misspelt word of the grammar. The parser can continue if `meant` replaces the word."""

    code = "E0124"
    says = "`{word}` has no meaning here"
    mark = "expected `{meant}`"
    hint = "did you mean `{meant}`?"
    mend = "{meant}"
    word: str
    meant: str


class DetachedMultiplier(Problem):
    code = "E0123"
    says = "there is a space between the number and its `{letter}`"
    mark = "write `{mended}`"
    hint = "`{letter}` multiplies the number only when it follows without a space"
    mend = "{mended}"
    letter: str
    mended: str
