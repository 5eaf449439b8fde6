"""What to write where a value goes on behind its end: a comma, a list, a sum, or quotes."""

from __future__ import annotations

import re

from benchbrief.dsl.diagnostics.syntax_errors import SERIES_OPTIONS, Unexpected
from benchbrief.dsl.recovery.parser_stop import Piece, Stop

_QUOTES = "a text is written in quotes"
_OPTION_COMMA = "write a comma before each option of a series, as in `line = throughput by threads, log x, log y`"
_VALUE = re.compile(r"[ \t]*([^=\n\r\"{}\[\]#]*)(=?)")
_NEXT_KEY = re.compile(r"\s*\w+\s*\Z")
_NUMBERS = re.compile(r"[0-9][\w.]*(?:\s+[0-9][\w.]*)+")
_AMOUNT = r"([0-9][\w.]*\s*([A-Za-z%/]+))"
_AMOUNTS = re.compile(rf"{_AMOUNT}\s+{_AMOUNT}")
_WORD = re.compile(r"[A-Za-z]{2}")
_LONGEST = 60  # characters of a value that are repeated in a message
_UNFINISHED = ("..", "+", "-", "*", "/")
_STEPS = re.compile(r"\[\s*(\d{1,9})\s*,\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?,\s*\.{2,3}\s*,\s*(\d{1,9})\s*\]")
_SPAN = re.compile(r"([0-9][\w.]*)\s*(?:to|until|through|\.\.)\s*([0-9][\w.]*)(?:\s+(step|by|factor)\s+([0-9][\w.]*))?")
_PERCENTILE = re.compile(r"p[0-9]{2,4}|mean|max")
_POINTS = ("for", "where", "with", "on", "at", "in")
_SPANNING = ("to", "until", "through")
_RAMPS = "every whole number between is `1..16`, with steps `range(8, 96, step: 8)`"


def what_to_write(stop: Stop, piece: Piece) -> str:
    """The advice for a value that ends before `piece`, which goes on with it."""
    if any(each.text in SERIES_OPTIONS for each in (*stop.before[-3:], piece)):
        return _OPTION_COMMA
    value = _whole_value(stop, piece)
    if span := _SPAN.fullmatch(value):
        first, last, way, step = span.groups()
        if way is None:
            return f"write `{first}..{last}` for each number, or `range({first}, {last}, factor: 2)`"
        return f"write `range({first}, {last}, {'factor' if way == 'factor' else 'step'}: {step})`"
    if _NUMBERS.fullmatch(value):
        return f"several values are a list: `[{', '.join(value.split())}]`"
    if amounts := _AMOUNTS.fullmatch(value):
        first, unit, second, other = amounts.groups()
        if unit == other:
            return f"several values are a list: `[{first}, {second}]`"
        return f"a value has one unit; add up the parts: `{first} + {second}`"
    if value and (piece.kind != "number" or _WORD.search(value)):
        return f'{_QUOTES}: `"{value}"`'
    return _QUOTES


def goes_on(stop: Stop) -> bool:
    """Whether what is read as the head of a block is rather the rest of the value before it: `a = fast disk`."""
    word = stop.head[0]
    earlier = [piece for piece in stop.before if piece.span.end <= word.span.start]
    if not earlier or earlier[-1].span.line != word.span.line:
        return False
    # `cpu = AMD EPYC 7763` and `threads = 8 to 64`
    named = (word.text[0].isupper() or word.text in _SPANNING) and stop.sign not in ("=", "{")
    return stop.sign == "}" or stop.found is None or named


def condition(stop: Stop) -> str:
    """The advice for a condition or a metric that goes on with a word: `latency.p99[read] < 5 ms for threads = 16`."""
    word = stop.head[0]
    earlier = [piece for piece in stop.before if piece.span.end <= word.span.start]
    if not earlier or earlier[-1].span.line != word.span.line:
        return ""
    if _PERCENTILE.fullmatch(earlier[-1].text):
        return f"an operation is written in square brackets, as in `latency.{earlier[-1].text}[{word.text}]`"
    return "a point is fixed in square brackets, as in `throughput[threads: 16]`" if word.text in _POINTS else ""


def unfinished(stop: Stop) -> Unexpected | None:
    """`threads = 1..` at the end of a line: the next attribute is read as what is missing, up to its `=`."""
    if stop.sign != "=" or stop.bracket != "{" or len(stop.before) < 2:
        return None
    sign, word = stop.before[-2:]
    if word.kind != "word" or sign.text not in _UNFINISHED or sign.span.line == word.span.line:
        return None
    return Unexpected(sign.span, "the end of the line", f"a value after `{sign.text}`")


def dots(stop: Stop) -> Unexpected | None:
    """`[16, 32, ..., 256]`."""
    sign = stop.matches(r"\.{2,3}(?![.\d])")
    if sign is None or not stop.wants_value:
        return None
    return Unexpected(stop.span(*sign.span()), f"`{sign[0]}`", "a value", _ramp(stop))


def _ramp(stop: Stop) -> str:
    """The list whose middle is left out, as a range."""
    steps = _STEPS.match(stop.source.text, stop.opener.start, stop.end) if stop.opener else None
    if steps is None:
        return _RAMPS
    first, second, last = int(steps[1]), int(steps[2]), int(steps[4])
    third = int(steps[3]) if steps[3] else None
    ways = []
    if second > first and third in (None, 2 * second - first):
        ways.append(f"`range({first}, {last}, step: {second - first})`")
    if first and second > first and second % first == 0 and third in (None, second * second // first):
        ways.append(f"`range({first}, {last}, factor: {second // first})`")
    return f"write {' or '.join(ways)}" if ways else _RAMPS


def _whole_value(stop: Stop, piece: Piece) -> str:
    """The value that goes on at `piece`, up to the next attribute or the end of the line; "" when it can't be told."""
    text, at = stop.source.text, piece.span.start
    begin = text.rfind("=", max(text.rfind("\n", 0, at) + 1, stop.start), at) + 1
    value = _VALUE.match(text, begin, stop.end) if begin else None
    if value is None:
        return ""
    whole = (_NEXT_KEY.sub("", value[1]) if value[2] else value[1]).strip()
    return whole if len(whole) <= _LONGEST and value.end(1) > at else ""
