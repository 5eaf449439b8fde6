"""The contents of a quoted string: plain text, escapes and `{expression:format}` holes."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from functools import partial
from itertools import islice

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax.ast import Expr, Hole, String

ParseHole = Callable[[Source, int, int], Expr]
"""A function that parses the expression in [start, end) of a source."""

_MOST = 25  # mistakes of one text that are reported at once
_UNPRINTABLE = re.compile(
    "(?:(?!\t|\r?\n)[\x00-\x1f\x7f-\x9f]|[\ud800-\udfff\ufdd0-\ufdef"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    + "])+"
)
"""Control characters except tabs and line ends, lone surrogates, and code points that are not characters."""
_SPECIAL = re.compile(r"\\[\s\S]|\{\{|\}\}|\{|\}")
_IN_HOLE = re.compile(r'"(?>[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"|[()\[\]{}:]')
_PLAIN = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\", "{{": "{", "}}": "}"}


def read_string(source: Source, start: int, end: int, parse_hole: ParseHole) -> String:
    """Return the string at [start, end) of the source, including its quotes. Raises SpecError with all its mistakes.

    In a text of several lines, a blank first or last line is dropped, and so is the indentation that all lines after
    the first share.
    """
    text = source.text
    if (simple := text[start + 1 : end - 1]).isprintable() and not _SPECIAL.search(simple) and simple[:1] != '"':
        return String(Span(source, start, end), (simple,))
    newline: re.Pattern[str] | None = None
    if text.startswith('"""', start) and end - start >= 6:
        at, stop, margin = _trim(text, start + 3, end - 3)
        newline = re.compile(rf"\r?\n(?:{margin})?")
    else:
        at, stop = start + 1, end - 1

    parts: list[str | Hole] = []
    plain: list[str] = []
    unprintable = (Span(source, *each.span()) for each in _UNPRINTABLE.finditer(text, start, end))
    wrong = [syntax_errors.Unprintable(span).diagnostic() for span in islice(unprintable, _MOST)]
    unbroken = partial(newline.sub, "\n") if newline else str
    while special := _SPECIAL.search(text, at, stop):
        plain.append(unbroken(text[at : special.start()]))
        at = special.end()
        word = special.group()
        if word in _PLAIN:
            plain.append(_PLAIN[word])
        elif word == "{":
            if before := "".join(plain):
                parts.append(before)
            plain.clear()
            colon, brace = _hole(source, special.start(), stop)
            at = brace + 1 if brace >= 0 else stop
            try:
                parts.append(_filled(source, special.start(), colon, brace, parse_hole))
            except SpecError as error:
                if brace < 0 and newline is None and _has_odd_quotes(text, start):
                    raise syntax_errors.UnpairedQuote(Span(source, start, end)).error() from None
                wrong.extend(error.diagnostics)
        else:
            span = Span(source, special.start(), at)
            problem = syntax_errors.StrayBrace(span) if word == "}" else syntax_errors.BadEscape(span, word)
            wrong.append(problem.diagnostic())
        if len(wrong) >= _MOST:
            break
    if wrong:
        raise SpecError(tuple(wrong))
    plain.append(unbroken(text[at:stop]))
    if (last := "".join(plain)) or not parts:
        parts.append(last)
    return String(Span(source, start, end), tuple(parts))


def _has_odd_quotes(text: str, at: int) -> bool:
    """Return whether a quote on the line of `at` lacks a partner, which makes texts seem to begin where they end."""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[begin : end if end >= 0 else len(text)]
    return len(re.findall(r'(?<!\\)"', line)) % 2 == 1


def _hole(source: Source, start: int, stop: int) -> tuple[int, int]:
    """Return the end of the expression in the hole that opens at `start`, and the offset of the hole's `}`. Both are -1
    if the hole is not closed."""
    depth = 0
    colon = -1
    at = start + 1
    while piece := _IN_HOLE.search(source.text, at, stop):
        at = piece.end()
        match piece.group():
            case "(" | "[":
                depth += 1
            case ")" | "]":
                depth -= 1
            case ":" if depth == 0 and colon < 0:
                colon = piece.start()
            case "{":
                break
            case "}":
                return colon if colon >= 0 else piece.start(), piece.start()
    return -1, -1


def _filled(source: Source, start: int, expr_end: int, end: int, parse_hole: ParseHole) -> Hole:
    if end < 0:
        raise syntax_errors.UnclosedHole(Span(source, start, start + 1)).error()
    span = Span(source, start, end + 1)
    if not source.text[start + 1 : expr_end].strip():
        raise syntax_errors.EmptyHole(span).error()
    return Hole(span, parse_hole(source, start + 1, expr_end), source.text[expr_end + 1 : end])


def _trim(text: str, start: int, end: int) -> tuple[int, int, str]:
    """Return where the lines of a text begin and end without blank first and last lines, and a pattern for the lines'
    margin. A line that has only blanks is all margin."""
    first, newline, rest = text[start:end].partition("\n")
    if not newline:
        return start, end, ""
    lines = rest.split("\n")
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    common = os.path.commonprefix(margins)  # noqa: RUF071  # character by character is what is wanted
    margin = rf"[ \t]*(?=\r?\n)|{re.escape(common)}"
    if not lines[-1].strip():
        end -= len(lines[-1]) + (2 if text[: end - len(lines[-1])].endswith("\r\n") else 1)
    if first.strip():
        return start, end, margin
    start = min(start + len(first) + 1, max(end, start))
    if outside := re.compile(margin).match(text, start, end):
        start = outside.end()
    return start, max(start, end), margin


def text_lines(text: str) -> list[str] | None:
    """Return the lines of a text in triple quotes, each without the margin. Return None if the text is on one line, or
    if its meaning would change with another margin or with its quotes on lines of their own."""
    if "\n" not in text:
        return None
    lines = _without_margin(text)
    indented = (f"  {line}" if line else "" for line in lines)
    return lines if _without_margin("\n".join(('"""', *indented, '"""'))) == lines else None


def _without_margin(text: str) -> list[str]:
    at, stop, margin = _trim(text, 3, len(text) - 3)
    return re.sub(rf"\r?\n(?:{margin})?", "\n", text[at:stop]).split("\n")
