"""Slips that are habits: how JSON, YAML, shells and spreadsheets write what this language writes otherwise.

Each function knows one habit, as those of `slips.py` do, which asks these, too.
"""

from __future__ import annotations

import re
from collections import deque

from benchbrief.dsl.diagnostics import sign_errors, syntax_errors
from benchbrief.dsl.diagnostics.problem import Problem
from benchbrief.dsl.recovery.parser_stop import DECLARATIONS, Stop

_DECLARED = re.compile(rf"^(?:{'|'.join(DECLARATIONS)})\b", re.MULTILINE)
_COLONS = re.compile(r"([0-9]{1,15}):([0-9]{1,15})(?::([0-9]{1,15}))?(?![\w.:])")
_FAMILIES = ("ycsb", "db_bench")
_ALONG = ("by", "along", "across", "per")
_METRIC = "a metric is written `metric name in unit = expression, higher is better`"
_NAMED = {
    "expect": "a condition",
    "use": "a quoted text",
    "metric": "a name for the metric",
    "param": "a name for the parameter",
}
_EXAMPLES = {
    "expect": "no `=` follows `expect`: write `expect max(errors over threads) == 0`",
    "use": 'write `use "lab.bench"`',
    "metric": "a metric is written `metric some_name = expression`",
    "param": "a parameter is written `param some_name = value`",
}


def colons(stop: Stop) -> Problem | None:
    """`16:256:16` for a ramp."""
    last = stop.last
    if stop.sign != ":" or last is None or last.kind != "number" or last.span.end != stop.at:
        return None
    ramp = _COLONS.match(stop.source.text, last.span.start, stop.end)
    if ramp is None:
        return None
    first, last_or_step, third = ramp.groups()
    wanted = f"{first}..{last_or_step}"
    if third:  # some put the step last, some in the middle
        step, end = sorted((last_or_step, third), key=int)
        wanted = f"range({first}, {end}, step: {step})" if int(step) else f"{first}..{end}"
    return sign_errors.WrongSign(stop.span(*ramp.span()), ramp[0], wanted, "`1..16` is every whole number between")


def quoted_key(stop: Stop) -> Problem | None:
    """`"threads": 8` of JSON."""
    key = stop.matches(r'"([A-Za-z_]\w*)"\s*[:=]')
    if key is None or "KEY" not in stop.expected or stop.after_value:
        return None
    return sign_errors.QuotedKey(stop.here(), key[1])


def unit_of_metric(stop: Stop) -> Problem | None:
    """`metric m [ops/s] =`, `metric m in "ops/s" =` and `metric m in ops/s: ...`."""
    quoted = stop.matches(r'"([\w/%*$€£¥µ°]+)"')
    if "UNIT" in stop.expected and stop.last and stop.last.text == "in" and quoted:
        return sign_errors.WrongSign(stop.here(), quoted[0], quoted[1], "a unit has no quotes")
    if "_EQUAL" not in stop.expected or stop.bracket:
        return None
    unit = None
    if "_IN" in stop.expected:
        bare = stop.matches(r"([\w%]+(?:/[\w%]+)+|%)(?=\s*=[^=])")
        unit = bare or stop.matches(r'(?:[\[(]|in\s+")\s*([\w/%*$€£¥µ°]+)\s*[\])"]')
    if unit is not None:
        wanted = f"in {unit[1]}"
        return sign_errors.WrongSign(stop.span(*unit.span()), unit[0], wanted, "the unit of a metric follows `in`")
    if stop.sign == ":":
        return sign_errors.WrongSign(stop.here(), ":", "=", "a value is given with `=`")
    if stop.sign == "{" and "_IN" in stop.expected:
        return syntax_errors.Unexpected(stop.here(), "`{`", "`=` or `in` with a unit", _METRIC)
    return None


def direction(stop: Stop) -> Problem | None:
    """`throughput higher is better`, without the comma."""
    for piece in (*stop.head[:1], stop.found):
        if piece and piece.text in ("higher", "lower") and not stop.bracket and _declares(stop, "metric"):
            return sign_errors.MissingComma(piece.span, f"`{piece.text}`", "")
    return None


def along(stop: Stop) -> Problem | None:
    """`max(throughput by threads)`."""
    found = stop.found
    if stop.bracket != "(" or not stop.after_value or found is None or found.text not in _ALONG:
        return None
    return syntax_errors.MisspeltWord(found.span, found.text, "over")


def base(stop: Stop) -> Problem | None:
    """`from ycsb-c`."""
    if stop.sign != "-" or len(stop.before) < 2 or stop.before[-2].text != "from":
        return None
    tail = stop.matches(r"-\w+")
    family = stop.before[-1]
    if tail is None:
        return None
    span = stop.span(family.span.start, tail.end())
    joint = "." if family.text in _FAMILIES else "_"
    return syntax_errors.BadName(span, span.text, f"{family.text}{joint}{tail[0][1:]}")


def rate(stop: Stop) -> Problem | None:
    """`1.2 USD per hour`."""
    if not stop.head or stop.head[0].text != "per":
        return None
    return syntax_errors.Unexpected(
        stop.head[0].span, "`per`", "the next attribute, a block or `}`", "a rate is written `USD/h`, `ops/s`"
    )


def equals(stop: Stop) -> Problem | None:
    """`expect a = b`, `expect = a > b` and `param = 5`."""
    found = stop.found
    if stop.bracket or found is None:
        return None
    if stop.sign == "=" and stop.after_value and _declares(stop, "expect"):
        return sign_errors.WrongSign(stop.here(), "=", "==", "`==` compares; `=` gives a value to an attribute")
    sign = stop.matches(r"(?:\w+\s*)?(=)(?!=)")
    keyword = stop.last if stop.sign == "=" else found if "PARAM" in stop.expected else None
    if sign and keyword and keyword.text in DECLARATIONS:
        wanted = _NAMED.get(keyword.text, "a name")
        advice = _EXAMPLES.get(keyword.text) or _block(keyword.text)
        return syntax_errors.Unexpected(stop.span(*sign.span(1)), "`=`", wanted, advice)
    return None


def used_file(stop: Stop) -> Problem | None:
    """`use lab.bench`, without quotes."""
    if stop.last is None or stop.last.text != "use" or stop.bracket:
        return None
    path = stop.matches(r"[\w./~-]*[\w/]")
    if path is None:
        return None
    name = path[0] if "." in path[0].rpartition("/")[2] else f"{path[0]}.bench"
    return syntax_errors.Unquoted(stop.span(*path.span()), name)


def thousands(stop: Stop) -> Problem | None:
    """`10,000,000`."""
    last = stop.last
    if stop.sign != "," or last is None or last.kind != "number" or last.span.end != stop.at:
        return None
    whole = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![\w,])").match(stop.source.text, last.span.start, stop.end)
    if whole is None:
        return None
    return sign_errors.DigitsWithCommas(stop.span(*whole.span()), whole[0].replace(",", "_"))


def _declares(stop: Stop, keyword: str) -> bool:
    """Whether the declaration that the place is in, by the words at the margin, is of this kind."""
    nearest = deque(_DECLARED.finditer(stop.source.text, stop.start, stop.at), 1)
    return any(match[0] == keyword for match in nearest)


def heads(stop: Stop) -> Problem | None:
    """`hardware: ...`, `hardware "nvme" "NVMe" {` and `hardware nvme NVMe {`."""
    found, keyword = stop.found, stop.head[0].text if stop.head else ""
    if found is None or keyword not in DECLARATIONS:
        return None
    if stop.sign in (":", "=") and len(stop.head) == 1:
        return syntax_errors.Unexpected(found.span, f"`{found.text}`", "a name", _block(keyword))
    if found.kind == "string" and stop.head[-1].kind == "string":
        return syntax_errors.Unexpected(found.span, "a quoted text", "`{`", f"a name has no quotes: {_block(keyword)}")
    if len(stop.head) == 2 and stop.head[1].kind == "word" and stop.matches(r"[^\W\d]\w*\s*\{"):
        return syntax_errors.Unquoted(found.span, found.text)
    return None


def no_spec(stop: Stop) -> Problem | None:
    """`{` or `[hardware]` at the beginning of a file."""
    if stop.last is not None or "PARAM" not in stop.expected or stop.sign not in ("{", "["):
        return None
    advice = f"{_block('hardware')}; `bench init` writes a spec to start from"
    return syntax_errors.Unexpected(stop.here(), f"`{stop.sign}`", "a declaration", advice)


def _block(kind: str) -> str:
    return f'a block is written `{kind} some_name "Label" {{ ... }}`'


HABITS = (
    heads,
    no_spec,
    colons,
    quoted_key,
    unit_of_metric,
    direction,
    along,
    base,
    rate,
    equals,
    used_file,
    thousands,
)
