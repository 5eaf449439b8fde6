"""The outer shape of a text: its strings, comments and brackets, found in one quick pass without the grammar.

It comes before parsing, so that a text nested too deeply costs no time, and explains a syntax error whose cause is a
bracket or a string that was opened earlier and never closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbrief.dsl import errors
from benchbrief.dsl.source import Source, Span

MAX_DEPTH = 64

_PIECE = re.compile(
    r'(?P<comment>\#[^\r\n]*)'
    r'|(?P<text>"""(?>(?:[^"\\]|\\[\s\S]|"(?!""))*)(?P<text_end>""")?)'
    r'|(?P<string>"(?>(?:[^"\\\r\n]|\\.)*)(?P<string_end>")?)'
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
)
_CLOSER = {"(": ")", "[": "]", "{": "}"}


def comments(source: Source) -> tuple[Span, ...]:
    """The span of every comment, `#` included, line end not."""
    return tuple(_span(source, piece) for piece in _pieces(source, 0, len(source.text)) if piece.lastgroup == "comment")


def check_depth(source: Source, start: int, end: int) -> None:
    """Raise SpecError when brackets are nested too deeply to be meant."""
    depth = 0
    for piece in _pieces(source, start, end):
        if piece.lastgroup == "open":
            depth += 1
            if depth > MAX_DEPTH:
                raise errors.TooDeep(_span(source, piece), MAX_DEPTH).error()
        elif piece.lastgroup == "close":
            depth -= 1


def open_brackets(source: Source, start: int, offset: int) -> list[Span]:
    """The brackets that are open at `offset`, outermost first."""
    stack: list[Span] = []
    for piece in _pieces(source, start, offset):
        if piece.lastgroup == "open":
            stack.append(_span(source, piece))
        elif piece.lastgroup == "close" and stack:
            stack.pop()
    return stack


def problem(source: Source, start: int, end: int) -> errors.Problem | None:
    """The first bracket or string that has no partner."""
    stack: list[Span] = []
    suspect: Span | None = None
    for piece in _pieces(source, start, end):
        span = _span(source, piece)
        match piece.lastgroup:
            case "text" if piece["text_end"] is None:
                return errors.UnclosedText(Span(source, span.start, span.start + 3))
            case "string" if piece["string_end"] is None:
                return errors.UnclosedString(span)
            case "open":
                stack.append(span)
            case "close":
                if not stack:
                    return errors.StrayCloser(span, span.text)
                if _CLOSER[stack[-1].text] == span.text:
                    opener = stack.pop()
                    if suspect is None and span.text == "}" and _differently_indented(opener, span):
                        suspect = opener
                elif any(_CLOSER[opener.text] == span.text for opener in stack):
                    return errors.UnclosedBracket(stack[-1], stack[-1].text, _CLOSER[stack[-1].text], span)
                else:
                    return errors.WrongCloser(span, span.text, _CLOSER[stack[-1].text], stack[-1])
    if stack:
        opener = suspect if suspect and stack[-1].text == "{" else stack[-1]
        return errors.UnclosedBracket(opener, opener.text, _CLOSER[opener.text], None)
    return None


def _pieces(source: Source, start: int, end: int) -> Iterator[re.Match[str]]:
    return _PIECE.finditer(source.text, start, end)


def _span(source: Source, piece: re.Match[str]) -> Span:
    return Span(source, piece.start(), piece.end())


def _differently_indented(opener: Span, closer: Span) -> bool:
    """Whether a `}` that starts its line stands under another column than the line of its `{` starts at."""
    closing = closer.source.line(closer.line)
    if closing[: closer.column - 1].strip():
        return False
    opening = opener.source.line(opener.line)
    return len(opening) - len(opening.lstrip()) != closer.column - 1
