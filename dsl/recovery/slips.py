"""Why a text can't be read: the slip behind a syntax error.

The parser says only where it stopped and which terminals could have gone on. What was meant is guessed from the text
around: each function in `_SLIPS` knows one kind of slip, and the first that recognises its own explains the error.
Where none does, `words.py` puts the terminals into words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator

from benchbrief.dsl.diagnostics import sign_errors, syntax_errors
from benchbrief.dsl.diagnostics.problem import Problem
from benchbrief.dsl.diagnostics.suggest import did_you_mean, likely
from benchbrief.dsl.recovery import brackets, data_format_slips, programming_slips, unfinished_values
from benchbrief.dsl.recovery.expected_words import expected_words, found_words
from benchbrief.dsl.recovery.parser_stop import DECLARATIONS, INNER_BLOCKS, Stop
from benchbrief.dsl.source import Source, Span

Slip = Callable[[Stop], Problem | None]

_QUOTES = {"'": "'", "`": "`", "‘": "’", "’": "’", "“": "”", "”": "”", "„": "“", "«": "»", "「": "」", "＂": "＂"}
_LOGIC = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
_COMPARISONS = {"=<": "<=", "=>": ">=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!="}
_LOOKALIKES = {"−": "-", "–": "-", "—": "-", "×": "x", "÷": "/", "…": ".."}
_HOST = re.compile(r"[A-Za-z]\w*(?:-\w+)*-\d\w*(?:[.-]\w+)*\.[A-Za-z][\w-]*")
_KEYWORDS = frozenset((*DECLARATIONS, *INNER_BLOCKS))
_GRAMMAR = (
    "over", "when", "every", "on", "by", "along", "from", "in", "for", "and", "or", "not", "higher", "lower", "is",
    "better", "each", "override", "formula", "at",
)  # fmt: skip
_BRACES = "`{` in a text begins an expression; write `{{` and `}}` for braces that are printed"
_DECLARED = re.compile(rf"^(?:{'|'.join(DECLARATIONS)})\b", re.MULTILINE)
_HEAD = re.compile(r"^(?![ \t]*(?:each|override|formula)\b)[ \t]*[A-Za-z_]\w*+[^=\n{]*+\{", re.MULTILINE)
_ADVICE = {
    "+": "a number has no `+` sign",
    "^": "there is no power operator: multiply; a ramp that doubles is `range(1, 64, factor: 2)`",
    "$": 'a value of the environment is `env("NAME")`',
    "{": "a list is written `[a, b]`; a block inside a block has no `=`",
    "?": "there are no conditions on values: give each case a metric of its own",
    "..": "a ramp with steps is written `range(1, 16, step: 2)`",
    "<": 'a text of several lines stands between `"""` and `"""`',
}
_WORD_ADVICE = {"mix": "shares are attributes of the workload: `read = 95 %  update = 5 %`"}


_DOLLARS = re.compile(r"\$ ?([0-9]+(?:\.[0-9]+)?)((?:/[A-Za-z]+)*)")
_SHELL_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
_NINES = re.compile(r"9+(?![0-9])")


def explain(source: Source, start: int, end: int, at: int, expected: frozenset[str]) -> Problem:
    """The problem behind a parser that stopped at `at` within [start, end), where only `expected` could go on."""
    unbalanced = brackets.problem(source, start, end)
    if unbalanced is not None and unbalanced.span is not None and unbalanced.span.start <= at:
        return unbalanced
    stop = Stop(source, start, end, at, expected)
    for slip in _SLIPS:
        problem = slip(stop)
        if problem is not None:
            return problem
    return syntax_errors.Unexpected(stop.here(), found_words(stop), expected_words(stop), _advice(stop))


def misspelt_keywords(source: Source, start: int, end: int, at: int) -> Iterator[tuple[Span, str]]:
    """The words at and before the place, each with the keywords that it may be a slip for."""
    stop = Stop(source, start, end, at, frozenset())
    words = [piece for piece in (stop.found, *reversed(stop.before[-4:])) if piece and piece.kind == "word"]
    for piece in words:
        if piece.text not in _GRAMMAR and piece.text not in syntax_errors.SERIES_OPTIONS:
            for keyword in likely(piece.text, _GRAMMAR):
                yield piece.span, keyword


def heads_before(source: Source, start: int, at: int) -> Iterator[tuple[str, int]]:
    """Where a part of the text may be read from, the nearest first, and what is to be put before it. That is the line
    of the nearest block's head, read as in a block, and that of the nearest declaration."""
    for pattern, opened in ((_HEAD, "block {\n"), (_DECLARED, "")):
        for match in deque(pattern.finditer(source.text, start, at), 1):
            yield opened, match.start()


def _advice(stop: Stop) -> str:
    text = stop.source.text
    if stop.in_hole and stop.after_value and stop.sign == "$":
        return _BRACES  # `{print $1}` is a program of awk
    if stop.wants_value and (name := _SHELL_NAME.match(text, stop.at)):
        return f'a param is named without a sign: `{name[1]}`; a variable of the environment is `env("NAME")`'
    if stop.last and stop.last.text in ("higher", "lower") and "_IS" in stop.expected:
        return f"write `{stop.last.text} is better`"
    if price := _DOLLARS.match(text, stop.at):
        return f"write `{price[1]} USD{price[2]}`"
    if text.startswith(".p99.", max(0, stop.at - 5)) and (nines := _NINES.match(text, stop.at)):
        return f"percentiles are written without a point: `p99{nines[0]}`"
    if stop.wants_value and stop.sign == "*" and stop.last and stop.last.text == "*":
        return _ADVICE["^"]
    words = [piece.text for piece in (stop.found, stop.last) if piece]
    if advice := next((_WORD_ADVICE[word] for word in words if word in _WORD_ADVICE), ""):
        return advice
    if len(stop.before) > 1 and stop.before[-2].text == "use" and stop.found and stop.found.kind == "string":
        return "each file has a `use` of its own"
    if stop.wants_value or stop.after_value:
        if stop.sign in _ADVICE:
            return _ADVICE[stop.sign]
        if stop.after_value and stop.bracket == "{" and stop.found and stop.last and stop.last.kind != "sign":
            return unfinished_values.what_to_write(stop, stop.found)
    return _BRACES if stop.in_hole and stop.at < stop.end else ""


# Signs of other languages.


def _semicolon(stop: Stop) -> Problem | None:
    return sign_errors.Semicolon(stop.here()) if stop.sign == ";" else None


def _comment(stop: Stop) -> Problem | None:
    mark = stop.matches(r"//|/\*|--(?=\s)")
    if mark:
        return syntax_errors.WrongComment(stop.span(*mark.span()), mark[0])
    # Behind a value the first `/` divides, and the parser stops at the second sign.
    if stop.last and stop.last.text == "/" and stop.last.span.end == stop.at and stop.sign in ("/", "*"):
        span = stop.last.span.to(stop.here())
        return syntax_errors.WrongComment(span, span.text)
    return None


def _quotes(stop: Stop) -> Problem | None:
    closer = _QUOTES.get(stop.sign)
    if closer is None:
        return None
    whole = stop.matches(rf"[^\r\n]([^\r\n{closer}\"\\]*){closer}")
    mended = f'"{whole[1]}"' if whole else None
    return syntax_errors.WrongQuotes(stop.span(*whole.span()) if whole else stop.here(), stop.sign, mended)


def _logic(stop: Stop) -> Problem | None:
    sign = stop.matches(r"&&?|\|\|?|!(?!=)")
    return sign_errors.LogicSign(stop.span(*sign.span()), sign[0], _LOGIC[sign[0]]) if sign else None


def _comparison(stop: Stop) -> Problem | None:
    """`=<` for `<=`, `=` for `==`, and a second comparison behind a first."""
    sign = stop.matches(r"=[<>]|<>|[≤≥≠]")
    if sign:
        where = "comparisons are <, <=, >, >=, == and !="
        return sign_errors.WrongSign(stop.span(*sign.span()), sign[0], _COMPARISONS[sign[0]], where)
    if not stop.after_value:
        return None
    if stop.sign in ("<", ">", "<=", ">=", "==", "!="):
        return sign_errors.ChainedComparison(stop.here())
    expects = stop.in_hole or any(piece.text in ("expect", "when") for piece in stop.before)
    if stop.sign == "=" and (expects or (stop.bracket == "(" and stop.last and stop.last.kind != "word")):
        return sign_errors.WrongSign(stop.here(), "=", "==", "`==` compares; `=` gives a value to an attribute")
    return None


# Attributes and arguments.


def _argument_sign(stop: Stop) -> Problem | None:
    """`f(a = 1)` for `f(a: 1)`; the comma before it is where the parser stops when there is one."""
    if stop.bracket not in ("(", "["):
        return None
    sign = stop.matches(r"(?:,\s*)?(?:[^\W\d]\w*\s*)?=(?!=)")
    if not sign:
        return None
    span = stop.span(sign.end() - 1, sign.end())
    return sign_errors.WrongSign(span, "=", ":", "an argument is written `name: value`, an attribute `name = value`")


def _attribute_sign(stop: Stop) -> Problem | None:
    """`hosts: local` and `hosts == local` for `hosts = local`."""
    if not stop.head or stop.bracket != "{" or stop.sign not in (":", "=="):
        return None
    sign = stop.matches(r":=|:|==")
    if sign is None:
        return None
    return sign_errors.WrongSign(stop.span(*sign.span()), sign[0], "=", "an attribute is written `name = value`")


def _name(stop: Stop) -> Problem | None:
    """`micron-7450`, `warm up = 1 s` and `7450` for names."""
    if stop.sign == "-" and len(stop.before) > 1 and stop.before[-2].text in ("param", "metric"):
        tail = stop.matches(r"(?:-+\w+)+")
        if tail and "_EQUAL" in stop.expected:
            return _joined(stop.span(stop.before[-1].span.start, tail.end()))
    if not stop.head:
        return None
    last = stop.head[-1]
    known = stop.head[0].text in _KEYWORDS
    if stop.sign == "-" and last.kind == "word" and last.span.end == stop.at:
        tail = stop.matches(r"(?:-+\w+)+")
        keyed = tail and stop.source.text[tail.end() : tail.end() + 2].lstrip()[:1] == "="
        if tail and (keyed or known):
            return _joined(stop.span(last.span.start, tail.end()))
    if stop.sign == "=" and len(stop.head) == 2 and last.kind == "word" and stop.bracket == "{" and not known:
        span = stop.head[0].span.to(last.span)
        return syntax_errors.BadName(span, span.text, f"{stop.head[0].text}_{last.text}")
    if known and len(stop.head) == 1 and stop.found and stop.found.kind == "number":
        whole = stop.matches(r"[\w.-]*\w")
        text = whole[0] if whole else stop.found.text
        mended = "n" + "".join(char if char.isalnum() else "_" for char in text)
        return syntax_errors.BadName(stop.span(stop.at, stop.at + len(text)), text, mended)
    return None


def _joined(span: Span) -> Problem:
    return syntax_errors.BadName(span, span.text, span.text.replace("-", "_"))


def _multiplier(stop: Stop) -> Problem | None:
    """`5 k ops/s`, which ends as the number 5 with the unit k, and then a block named ops."""
    first = stop.head[0] if stop.head else None
    before = [piece for piece in stop.before if first and piece.span.end <= first.span.start]
    if len(before) < 2 or before[-1].text not in ("k", "M", "G", "T") or before[-2].kind != "number":
        return None
    span = before[-2].span.to(before[-1].span)
    return syntax_errors.DetachedMultiplier(span, before[-1].text, before[-2].text + before[-1].text)


def _thousands(stop: Stop) -> Problem | None:
    """`100K records`, which ends as the number 100 with the unit K."""
    word = stop.head[0] if stop.head else stop.found
    before = [piece for piece in stop.before if word and piece.span.end <= word.span.start]
    if not word or word.kind != "word" or not before or before[-1].span.line != word.span.line:
        return None
    number = before[-1]
    if number.kind != "number" or not re.fullmatch(r"[0-9_.]+K", number.text):
        return None
    return sign_errors.WrongSign(number.span, number.text, f"{number.text[:-1]}k", "thousands are a small `k`")


def _missing_equals(stop: Stop) -> Problem | None:
    """`hosts local`: read as the beginning of a block, as `variant hdd` is one."""
    if not stop.head or stop.bracket == "" or stop.head[0].text in _KEYWORDS:
        return None
    word = stop.head[0]
    if unfinished_values.goes_on(stop):
        advice = unfinished_values.what_to_write(stop, word)
        return syntax_errors.Unexpected(word.span, f"`{word.text}`", "the next attribute, a block or `}`", advice)
    if word.text in syntax_errors.SERIES_OPTIONS:
        return syntax_errors.StrayOption(word.span, word.text)
    return syntax_errors.MissingEquals(word.span, word.text)


def _outside(stop: Stop) -> Problem | None:
    """An attribute, or a misspelt keyword, where declarations are."""
    if not stop.head or stop.bracket != "":
        return None
    first = stop.head[0]
    if first.text in DECLARATIONS:
        return None
    guess = did_you_mean(first.text, DECLARATIONS)
    if guess is None and unfinished_values.goes_on(stop):
        advice = unfinished_values.what_to_write(stop, first)
        return syntax_errors.Unexpected(first.span, f"`{first.text}`", "an operator or a new declaration", advice)
    if guess is None and (advice := unfinished_values.condition(stop)):
        return syntax_errors.Unexpected(first.span, f"`{first.text}`", "an operator or a new declaration", advice)
    if stop.sign in ("=", ":") and len(stop.head) == 1:
        return syntax_errors.OutsideBlock(first.span, first.text)
    return syntax_errors.UnknownDeclaration(first.span, first.text, guess, DECLARATIONS)


def _no_declaration(stop: Stop) -> Problem | None:
    """A word that is read as a second name: `metrc a b`."""
    if "PARAM" not in stop.expected or stop.after_value or stop.found is None or stop.found.kind != "word":
        return None
    return syntax_errors.UnknownDeclaration(
        stop.here(), stop.found.text, did_you_mean(stop.found.text, DECLARATIONS), DECLARATIONS
    )


# Values.


def _unquoted(stop: Stop) -> Problem | None:
    """`/data`, `~/x`, `./y`, `user@host`, `mongodb://host`, `db-1.lab`."""
    text = stop.source.text
    start = stop.at
    while start > stop.start and not text[start - 1].isspace() and text[start - 1] not in '=,([{"':
        start -= 1
    host = _HOST.match(text, start, stop.end)
    if host and host.end() > stop.at and not stop.in_head and not stop.in_hole:
        return syntax_errors.Unquoted(stop.span(*host.span()), host[0])
    begins = stop.wants_value and stop.matches(r"(?:/|~/?|\.{1,2}/)\w[^\s,)\]}\"]*")
    goes_on = stop.last and stop.last.span.end == stop.at and stop.matches(r"(?:://|@|\\|:\d)[^\s,)\]}\"]*")
    if begins:
        return syntax_errors.Unquoted(stop.span(*begins.span()), begins[0])
    if goes_on and not stop.in_head:
        return syntax_errors.Unquoted(stop.span(start, goes_on.end()), text[start : goes_on.end()])
    return None


def _point(stop: Stop) -> Problem | None:
    """`.5` and `5.`."""
    half = stop.matches(r"\.\d+")
    if half and stop.wants_value:
        return syntax_errors.BarePoint(stop.span(*half.span()), f"0{half[0]}")
    last = stop.last
    if stop.sign == "." and last and last.kind == "number" and last.span.end == stop.at and last.text.isdecimal():
        return syntax_errors.BarePoint(stop.span(last.span.start, stop.at + 1), last.text)
    if last and last.text == "." and len(stop.before) > 1 and stop.before[-2].kind == "number":
        span = stop.before[-2].span.to(last.span)
        return syntax_errors.BarePoint(span, stop.before[-2].text) if span.text == f"{stop.before[-2].text}." else None
    return None


_LIST = 500
"""A list of probes has no more characters."""


def _every(stop: Stop) -> Problem | None:
    """`probes = [cpu 1 s]`."""
    interval = stop.matches(r"\d[\d.]*\s*(?:ms|s|sec|min|h)\b")
    of_probes = re.search(r"\bprobes\s*=\s*\[?[^\]=]*$", stop.source.text[max(stop.start, stop.at - _LIST) : stop.at])
    if interval and of_probes and stop.last and stop.last.kind == "word" and not stop.wants_value:
        return sign_errors.MissingEvery(stop.span(*interval.span()), stop.last.text, interval[0])
    return None


def _comma(stop: Stop) -> Problem | None:
    """A comma too many, or too few."""
    if stop.sign == "{" and stop.after_value:
        for piece in reversed(stop.before):
            if piece.text == ",":
                return sign_errors.StrayComma(piece.span)
            if piece.kind not in ("word", "string"):
                break
    if stop.sign == "," and (stop.wants_value or "KEY" in stop.expected or "PARAM" in stop.expected):
        return sign_errors.StrayComma(stop.here())
    begins_value = stop.found and (stop.found.kind != "sign" or stop.sign in "([")
    if stop.after_value and stop.bracket in ("(", "[") and begins_value:
        return sign_errors.MissingComma(stop.here(), found_words(stop), ")" if stop.bracket == "(" else "]")
    return None


def _character(stop: Stop) -> Problem | None:
    sign = stop.source.text[stop.at : min(stop.at + 1, stop.end)]
    if not sign or (sign.isascii() and sign.isprintable()):
        return None
    title = unicodedata.name(sign, "").lower() or f"U+{ord(sign):04X}"
    mended = _LOOKALIKES.get(sign) or unicodedata.normalize("NFKC", sign)
    usable = mended != sign and mended.isascii() and mended.isprintable()
    return syntax_errors.BadCharacter(stop.span(stop.at, stop.at + 1), title, mended if usable else None)


_SLIPS: tuple[Slip, ...] = (
    _semicolon,
    _quotes,
    _comment,
    _logic,
    unfinished_values.unfinished,
    unfinished_values.dots,
    *programming_slips.BORROWED,
    _comparison,
    *data_format_slips.HABITS,
    _argument_sign,
    _multiplier,
    _thousands,
    _unquoted,
    _attribute_sign,
    _name,
    _missing_equals,
    _outside,
    _no_declaration,
    _point,
    _every,
    _comma,
    _character,
)
