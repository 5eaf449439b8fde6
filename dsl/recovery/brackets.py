"""The outer shape of a text: its strings, comments and brackets, found in one quick pass without the grammar.

It comes before parsing, so that a text nested too deeply costs no time, and explains a syntax error whose cause is a
bracket or a string that was opened earlier and never closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbrief.dsl.diagnostics import file_errors, syntax_errors
from benchbrief.dsl.diagnostics.problem import Problem
from benchbrief.dsl.source import Source, Span

MAX_DEPTH = 64
MAX_LEVELS = 100  # of an expression, brackets and operators taken together

MAX_WORDS = 100_000  # and signs: some 25,000 lines, checked in less than two seconds

_HOLE = 10  # as many words as reading a hole takes the time of
_WORD = re.compile(
    r"\#[^\r\n]*"
    r'|(?P<string>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)(?:""")?|"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"?)'
    r"|\w+|\S"
)
_PIECE = re.compile(
    r"(?P<comment>\#[^\r\n]*)"
    r'|(?P<text>"""(?>[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*)(?P<text_end>""")?)'
    r'|(?P<string>"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)(?P<string_end>")?)'
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rf"|(?P<signs>(?:(?:-|\bnot\b)(?>(?:\s+|\#[^\r\n]*)*)){{{MAX_LEVELS}}})"
)
_KEYWORDS = "metric|param|expect|use|hardware|client|database|workload|probe|experiment|profile|report|scheduler"
_VALUE = r'\s*+(?:"[^"\r\n]*"\s*+)?=(?!=)'
_DECLARATION = re.compile(rf"{_PIECE.pattern}|(?P<declaration>^(?:{_KEYWORDS})\b(?!{_VALUE}))", re.MULTILINE)
_CLOSER = {"(": ")", "[": "]", "{": "}"}


def comments(source: Source) -> tuple[Span, ...]:
    """The span of every comment, `#` included, line end not."""
    return tuple(_span(source, piece) for piece in _pieces(source, 0, len(source.text)) if piece.lastgroup == "comment")


def declaration_starts(text: str) -> list[int]:
    """Where the text can be cut so that each part most likely holds one declaration; the first is 0.

    These are the words at the margin that begin a declaration in the grammar, outside of texts and comments. One that
    stands in a bracket counts too: it is where the bracket was to be closed, more likely than not.
    """
    starts = [0, *(piece.start() for piece in _DECLARATION.finditer(text) if piece.lastgroup == "declaration")]
    first = starts[1:2]
    return [0, *starts[2:]] if first and not text[: first[0]].strip() else starts


def check_size(source: Source) -> None:
    """Raise SpecError when a text has more words and signs than a spec may. A comment counts as one."""
    if len(source.text) + _HOLE * source.text.count("{") > MAX_WORDS and words(source.text) > MAX_WORDS:
        raise file_errors.TooLarge(None, source.name, MAX_WORDS, words=True).error()


def words(text: str) -> int:
    """The words and signs of a text, as far as they are not beyond what a spec may have."""
    count = 0
    for piece in _WORD.finditer(text):
        count += 1
        if piece.lastgroup == "string":
            string = piece.group()
            count += string.count("{") * _HOLE + string.count("\n") + string.count("\\")
        if count > MAX_WORDS:
            break
    return count


def check_depth(source: Source, start: int, end: int) -> None:
    """Raise SpecError when brackets, `-` or `not` are nested too deeply to be meant."""
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


def open_bracket(source: Source, start: int, offset: int) -> Span | None:
    """The innermost bracket that is open at `offset`."""
    stack: list[int] = []
    for piece in _pieces(source, start, offset):
        if piece.lastgroup == "open":
            stack.append(piece.start())
        elif piece.lastgroup == "close" and stack:
            stack.pop()
    return Span(source, stack[-1], stack[-1] + 1) if stack else None


def problem(source: Source, start: int, end: int) -> Problem | None:
    """The first bracket or string that has no partner; its span starts at the cause."""
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
    """Whether a `}` that starts its line stands under another column than the line of its `{` starts at."""
    line, column = source.position(closer)
    if source.line(line)[: column - 1].strip():
        return False
    opening = source.line(source.position(opener)[0])
    return len(opening) - len(opening.lstrip()) != column - 1
