"""The point at which the parser stopped, and the text around it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Problem
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Source, Span

MAX_DEPTH = 64
MAX_LEVELS = 100  # the depth of an expression, with brackets and operators counted together

MAX_WORDS = 100_000  # and signs: some 25,000 lines, checked in less than two seconds

_HOLE = 10  # reading a hole takes as long as this many words
_TEXTS = r'"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)(?:""")?|"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"?'
_WORD = compile_late(
    r"\#[^\r\n]*"
    rf"|(?P<string>{_TEXTS})"
    r"|\w+|\S"
)
_BRACKET = compile_late(rf"\#[^\r\n]*|{_TEXTS}|([()\[\]{{}}])")
_BLANK = r"(?>(?:\s+|\#[^\r\n]*)*)"
_SIGNS = compile_late(rf"(?:(?:-|\bnot\b){_BLANK}){{{MAX_LEVELS}}}")
_TWO_SIGNS = compile_late(rf"-{_BLANK}(?:-|not)|not{_BLANK}(?:-|not)")  # found faster: each way begins with a letter
_PIECE = compile_late(
    r"(?P<comment>\#[^\r\n]*)"
    r'|(?P<text>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)(?P<text_end>""")?)'
    r'|(?P<string>"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)(?P<string_end>")?)'
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rf"|(?P<signs>{_SIGNS.pattern})"
)
_KEYWORDS = "metric|param|expect|use|hardware|client|factor|database|workload|probe|experiment|profile|report|scheduler"
_VALUE = r'\s*+(?:"[^"\r\n]*"\s*+)?=(?!=)'
_DECLARATION = compile_late(rf"\#[^\r\n]*|{_TEXTS}|\n(?P<declaration>(?:{_KEYWORDS})\b(?!{_VALUE}))")
_CLOSER = {"(": ")", "[": "]", "{": "}"}


def comments(source: Source) -> tuple[Span, ...]:
    """Return the span of every comment, including its `#` but not its line end."""
    return tuple(_span(source, piece) for piece in _pieces(source, 0, len(source.text)) if piece.lastgroup == "comment")


def declaration_starts(text: str) -> list[int]:
    """Return offsets that divide the text so that each part probably has one declaration. The first offset is 0.

    A part begins where a keyword of a declaration stands at the margin, outside texts and comments. A keyword inside a
    bracket counts, too, because the bracket should most likely have been closed before it.
    """
    pieces = (piece for piece in _DECLARATION.finditer(text) if piece.lastgroup)
    starts = [0, *(piece.start("declaration") for piece in pieces)]
    first = starts[1:2]
    return [0, *starts[2:]] if first and not text[: first[0]].strip() else starts


def check_size(source: Source) -> None:
    """Raise SpecError if a text has more words and signs than a spec may have. A comment counts as one."""
    if len(source.text) + _HOLE * source.text.count("{") > MAX_WORDS and words(source.text) > MAX_WORDS:
        raise syntax_errors.TooLarge(None, source.name, MAX_WORDS, words=True).error()


@lru_cache(maxsize=1)
def words(text: str) -> int:
    """Return the number of words and signs in a text."""
    strings = _WORD.findall(text)
    inside = "".join(strings)
    return len(strings) + inside.count("{") * _HOLE + inside.count("\n") + inside.count("\\")


def check_depth(source: Source, start: int, end: int) -> None:
    """Raise SpecError if brackets, `-` or `not` are nested too deeply to be intended."""
    if _is_shallow(source.text[start:end]):
        return
    depth = 0
    for piece in _pieces(source, start, end):
        if piece.lastgroup == "open":
            depth += 1
            if depth > MAX_DEPTH:
                raise syntax_errors.TooDeep(_span(source, piece), "brackets are nested", MAX_DEPTH).error()
        elif piece.lastgroup == "close":
            depth -= 1
        elif piece.lastgroup == "signs":
            # The parser would first read all of them: they apply from the last to the first.
            raise syntax_errors.TooDeep(_span(source, piece), "an expression is", MAX_LEVELS).error()


def _is_shallow(text: str) -> bool:
    """Return whether a text's brackets are paired and not deeply nested, and the text has no long row of signs."""
    if _TWO_SIGNS.search(text) and _SIGNS.search(text):
        return False
    brackets = "".join(_BRACKET.findall(text))
    for _ in range(MAX_DEPTH // 4):
        brackets = brackets.replace("()", "").replace("[]", "").replace("{}", "")
    return not brackets


def open_bracket(source: Source, start: int, offset: int) -> Span | None:
    """Return the innermost bracket that is open at `offset`."""
    stack: list[int] = []
    for piece in _pieces(source, start, offset):
        if piece.lastgroup == "open":
            stack.append(piece.start())
        elif piece.lastgroup == "close" and stack:
            stack.pop()
    return Span(source, stack[-1], stack[-1] + 1) if stack else None


def problem(source: Source, start: int, end: int) -> Problem | None:
    """Return the problem with the first bracket or string that is not closed or was never opened. Its span starts at
    the cause."""
    text = source.text
    stack: list[int] = []
    suspect: int | None = None
    for piece in _pieces(source, start, end):
        match piece.lastgroup:
            case "open":
                stack.append(piece.start())
            case "close":
                closer = piece.group()
                if not stack:
                    return syntax_errors.StrayCloser(_span(source, piece), closer)
                if _CLOSER[text[stack[-1]]] == closer:
                    opener = stack.pop()
                    if suspect is None and closer == "}" and _differently_indented(source, opener, piece.start()):
                        suspect = opener
                elif any(_CLOSER[text[opener]] == closer for opener in stack):
                    return _unclosed(source, stack[-1], _span(source, piece))
                else:
                    opened = Span(source, stack[-1], stack[-1] + 1)
                    return syntax_errors.WrongCloser(_span(source, piece), opened, closer, _CLOSER[opened.text])
            case "text" if piece["text_end"] is None:
                return syntax_errors.UnclosedText(Span(source, piece.start(), piece.start() + 3))
            case "string" if piece["string_end"] is None:
                return syntax_errors.UnclosedString(_span(source, piece))
    if not stack:
        return None
    return _unclosed(source, suspect if suspect is not None and text[stack[-1]] == "{" else stack[-1], None)


def _unclosed(source: Source, opener: int, met: Span | None) -> Problem:
    span = Span(source, opener, opener + 1)
    return syntax_errors.UnclosedBracket(span, span.text, _CLOSER[span.text], met)


def _pieces(source: Source, start: int, end: int) -> Iterator[re.Match[str]]:
    return _PIECE.finditer(source.text, start, end)


def _span(source: Source, piece: re.Match[str]) -> Span:
    return Span(source, piece.start(), piece.end())


def _differently_indented(source: Source, opener: int, closer: int) -> bool:
    """Return whether a `}` that begins its line is indented differently from the line of its `{`."""
    line, column = source.position(closer)
    if source.line(line)[: column - 1].strip():
        return False
    opening = source.line(source.position(opener)[0])
    return len(opening) - len(opening.lstrip()) != column - 1


DECLARATIONS = (
    "hardware", "client", "factor", "database", "workload", "probe", "experiment", "metric", "expect", "claim",
    "report", "profile", "scheduler", "param", "use",
)  # fmt: skip
INNER_BLOCKS = (
    "callout", "compare", "each", "figure", "formula", "level", "note", "options", "override", "palette", "section",
    "ssh", "table", "theme", "variant",
)  # fmt: skip

PIECE = compile_late(
    r'(?P<blank>(?>(?:\s+|\#[^\r\n]*)+))|(?P<string>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)"""|"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)")'
    r"|(?P<number>\d+(?:[\d_]*\d)?(?:\.\d+)?[A-Za-z%]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[=!<>]=|\.\.|[\s\S])"
)
_AFTER_VALUE = {"PLUS", "COMPARE", "AND", "OR", "RPAR", "RSQB"}
_BEFORE = 8  # pieces before the place that are looked at


@dataclass(frozen=True)
class Piece:
    """A string, number, word or sign of the text. `kind` says which of these it is."""

    kind: str
    span: Span

    @property
    def text(self) -> str:
        return self.span.text


@dataclass(frozen=True)
class ParserStop:
    """The offset `at` within [start, end) at which the parser stopped, and the terminals `expected` there."""

    source: Source
    start: int
    end: int
    at: int
    expected: frozenset[str]

    @cached_property
    def opener(self) -> Span | None:
        """The innermost bracket that is open where the parser stopped."""
        return open_bracket(self.source, self.start, self.at)

    @property
    def bracket(self) -> str:
        return self.opener.text if self.opener else ""

    @property
    def in_hole(self) -> bool:
        return self.start > 0

    @cached_property
    def before(self) -> tuple[Piece, ...]:
        """The pieces right before the stop, the nearest last. Pieces outside the open bracket are left out."""
        start = self.opener.end if self.opener else self.start
        nearest = deque(PIECE.finditer(self.source.text, start, self.at), 2 * _BEFORE)
        return tuple(self._pieces(nearest))[-_BEFORE:]

    @cached_property
    def found(self) -> Piece | None:
        """The piece at the stop, or None at the end of the text."""
        return next(self._pieces(PIECE.finditer(self.source.text, self.at, self.end)), None)

    @property
    def sign(self) -> str:
        """The sign at the stop, or "" if there is no sign."""
        return self.found.text if self.found and self.found.kind == "sign" else ""

    @property
    def last(self) -> Piece | None:
        return self.before[-1] if self.before else None

    @property
    def wants_value(self) -> bool:
        return "QUANTITY" in self.expected

    @property
    def after_value(self) -> bool:
        """Whether an expression is complete here, so that an operator, or the end of the enclosing part,
        could follow."""
        if self.wants_value:
            return False
        return not self.expected.isdisjoint(_AFTER_VALUE) or (self.in_hole and "$END" in self.expected)

    @property
    def in_head(self) -> bool:
        """Whether the parser stopped in the head of a block, before its `{`."""
        return "_LBRACE" in self.expected and self.expected.isdisjoint({"PLUS", "_DOT"})

    @cached_property
    def head(self) -> tuple[Piece, ...]:
        """The keyword, name and label of a block, as far as the parser has read them. It is empty outside the head of a
        block."""
        if not self.in_head:
            return ()
        count = 1 if "NAME" in self.expected else 2 if "STRING" in self.expected else 3
        head = self.before[-count:]
        # A label may follow the keyword at once: then the first of the three is another fact's.
        if count == 3 and len(head) == 3 and (head[0].kind != "word" or self._starts(head[1], head[0])):
            head = head[1:]
        return head if head and head[0].kind == "word" else ()

    def matches(self, pattern: str) -> re.Match[str] | None:
        """Return the match of a pattern at the stop, or None."""
        return re.compile(pattern).match(self.source.text, self.at, self.end)

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def here(self) -> Span:
        """The span of the piece at the stop. At the end, this is the span of the character after the last piece."""
        if self.found:
            return self.found.span
        at = self.last.span.end if self.last else self.at
        return self.span(at, at)

    @staticmethod
    def _starts(piece: Piece, earlier: Piece) -> bool:
        return piece.text in DECLARATIONS or piece.text in INNER_BLOCKS or piece.span.line != earlier.span.line

    def _pieces(self, found: Iterable[re.Match[str]]) -> Iterator[Piece]:
        for piece in found:
            if piece.lastgroup and piece.lastgroup != "blank":
                yield Piece(piece.lastgroup, self.span(piece.start(), piece.end()))
