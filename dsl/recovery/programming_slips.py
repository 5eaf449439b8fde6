"""Slips that are borrowed: how programming languages and clocks write what this language writes otherwise.

Each function knows one of them, as those of `slips.py` do, which asks these, too.
"""

from __future__ import annotations

import re

from benchbrief.dsl.diagnostics import sign_errors, syntax_errors
from benchbrief.dsl.diagnostics.problem import Problem
from benchbrief.dsl.recovery.parser_stop import DECLARATIONS, Stop

_CLOCK = re.compile(r"([0-9]{1,6}):([0-9]{2})(?::([0-9]{2}))?(?![\w.:])")
_TIMES = ("measure", "warm_up", "cool_down", "timeout", "duration", "time", "every")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]{1,5})?(?![\w.])")
_BRANCHES = ("if", "else", "elif", "unless")
_AGAINST = ("vs", "versus", "against")
_RAMPS = "a list is written out, `[1, 2, 4]`; steps are `range(8, 96, step: 8)` or `range(1, 64, factor: 2)`"
_CASES = "there are no conditions on values: give each case a metric of its own"
_FORMULAS = "a spec can't define functions: name a formula with `metric some_name = expression`"
_LINE = "write `line = throughput by threads`"
_TIME = "a time is written `90 s`, `10 min` or `1.5 h`"


def call_of_a_block(stop: Stop) -> Problem | None:
    """`hardware("box", ...)`."""
    if stop.sign != "(" or len(stop.head) != 1 or stop.head[0].text not in DECLARATIONS:
        return None
    advice = f'a block is written `{stop.head[0].text} some_name "Label" {{ ... }}`'
    return syntax_errors.Unexpected(stop.here(), "`(`", "a name", advice)


def clock(stop: Stop) -> Problem | None:
    """`00:10:00` for ten minutes; `16:256:16` is a ramp."""
    last = stop.last
    if stop.sign != ":" or last is None or last.kind != "number" or last.span.end != stop.at:
        return None
    time = _CLOCK.match(stop.source.text, last.span.start, stop.end)
    key = stop.before[-3].text if len(stop.before) > 2 and stop.before[-2].text == "=" else ""
    if time is None or not (key in _TIMES or last.text.startswith("0")):
        return None
    first, second, third = time.groups()
    seconds = int(first) * 3600 + int(second) * 60 + int(third) if third else int(first) * 60 + int(second)
    fitting = [(size, unit) for size, unit in ((3600, "h"), (60, "min")) if seconds and seconds % size == 0]
    size, unit = (*fitting, (1, "s"))[0]
    return sign_errors.WrongSign(stop.span(*time.span()), time[0], f"{seconds // size} {unit}", _TIME)


def address(stop: Stop) -> Problem | None:
    """`10.0.0.1`, without quotes."""
    last = stop.last
    if stop.sign != "." or last is None or last.kind != "number":
        return None
    whole = _ADDRESS.match(stop.source.text, last.span.start, stop.end)
    return syntax_errors.Unquoted(stop.span(*whole.span()), whole[0]) if whole else None


def comprehension(stop: Stop) -> Problem | None:
    """`[2 * i for i in 1..4]`."""
    if stop.bracket not in ("[", "(") or not stop.after_value or stop.found is None or stop.found.text != "for":
        return None
    return syntax_errors.Unexpected(stop.found.span, "`for`", f"`,` or `{']' if stop.bracket == '[' else ')'}`", _RAMPS)


def branch(stop: Stop) -> Problem | None:
    """`a if b else c` and `if (b) a else c`."""
    for piece in (*stop.head[:1], stop.found):
        if piece and piece.text in _BRANCHES:
            return syntax_errors.Unexpected(
                piece.span, f"`{piece.text}`", "an operator or what follows the value", _CASES
            )
    return None


def function(stop: Stop) -> Problem | None:
    """`lambda x: x + 1` and `x => x + 1`."""
    if stop.sign == ":" and (word := next((piece for piece in stop.before if piece.text == "lambda"), None)):
        return syntax_errors.Unexpected(word.span, "`lambda`", "a value", _FORMULAS)
    # The comma before an argument is where the parser stops when there is one.
    arrow = stop.matches(r"(?:,\s*)?(?:([^\W\d]\w*)\s*)?=>([^\r\n]{0,80})")
    if arrow and (name := arrow[1] or (stop.last.text if stop.last else "")) in re.findall(r"\w+", arrow[2]) and name:
        at = stop.source.text.index("=>", stop.at)
        return syntax_errors.Unexpected(stop.span(at, at + 2), "`=>`", "an operator or `)`", _FORMULAS)
    return None


def method(stop: Stop) -> Problem | None:
    """`throughput.mean()`."""
    names = stop.before[-3:]
    if stop.sign != "(" or len(names) < 3 or names[1].text != "." or not stop.after_value:
        return None
    operation = stop.matches(r"\(\s*([a-z_]+)\s*\)")
    if names[0].text == "latency" and operation:
        advice = f"an operation is written in square brackets: `latency.{names[2].text}[{operation[1]}]`"
        return syntax_errors.Unexpected(stop.here(), "`(`", "an operator", advice)
    whole = f"`{names[2].text}({names[0].text} over threads)`"
    return syntax_errors.Unexpected(stop.here(), "`(`", "an operator", f"write the function before its value: {whole}")


def against(stop: Stop) -> Problem | None:
    """`line = throughput vs threads` and `throughput vs threads`, of a figure."""
    found = stop.found
    if stop.bracket != "{":
        return None
    if stop.head and stop.head[0].text in _AGAINST:
        return syntax_errors.MisspeltWord(stop.head[0].span, stop.head[0].text, "by")
    if stop.head and any(piece and piece.text in _AGAINST for piece in (*stop.head[1:], found)):
        return syntax_errors.Unexpected(stop.head[0].span, f"`{stop.head[0].text}`", "an attribute", _LINE)
    return None


BORROWED = (call_of_a_block, clock, address, comprehension, branch, function, method, against)
