"""Explains why a text can't be read, by finding the slip behind a syntax error.

The parser knows only where it stopped and which terminals could have come there. What the user meant is guessed from
the text around that place. Each function in `_SLIPS` knows one kind of slip, and the first function that recognises its
slip explains the error. If no function does, `expected_words` describes the terminals in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Problem
from benchbrief.dsl.diagnostics.suggest import did_you_mean, likely
from benchbrief.dsl.diagnostics.syntax_errors import SERIES_OPTIONS, Unexpected
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import parser_stop
from benchbrief.dsl.syntax.parser_stop import DECLARATIONS, INNER_BLOCKS, ParserStop, Piece

_LONGEST_WORD = 40  # characters of a word that are repeated in a message

_SIGNS = {
    "_EQUAL": "`=`",
    "_LBRACE": "`{`",
    "_COLON": "`:`",
    "_IN": "`in` with a unit",
    "UNIT": "a unit such as `ops/s`",
    "HIGHER": "`higher is better`",
    "LOWER": "`lower is better`",
    "_IS": "`is better`",
    "BETTER": "`better`",
    "_FROM": "`from`",
    "_FOR": "`for`",
}
_CLOSERS = {"(": "`)`", "[": "`]`", "{": "`}`"}

_NAMES_AFTER = {  # the word for a name after these keywords
    "over": "a dimension such as `threads`",
    "by": "a dimension such as `threads`",
    "along": "a dimension such as `threads`",
    "each": "a dimension such as `workload`",
    "override": "a kind of block such as `workload`",
    "from": "a name to start from, such as `ycsb.a`",
    "formula": "the name of a metric",
    "metric": "a name for the metric",
    "param": "a name for the parameter",
}


def found_words(stop: ParserStop) -> str:
    piece = stop.found
    if piece is None:
        return "the end of the expression" if stop.in_hole else "nothing more"
    if piece.kind == "string":
        return "a quoted text"
    text = piece.text if len(piece.text) <= _LONGEST_WORD else piece.text[:_LONGEST_WORD] + "..."
    return f"`{text}`"


def expected_words(stop: ParserStop) -> str:
    """Return the expected terminals in words, such as "a value", "`=` or `in` with a unit", or "`,` or `]`"."""
    expected = stop.expected
    if stop.wants_value:
        return "an interval such as `1 s`" if stop.last and stop.last.text == "every" else "a value"
    if "KEY" in expected and not stop.after_value:
        return "an attribute such as `threads = 8`, a block or `}`"
    if "PARAM" in expected and stop.last is None:
        return "a declaration"
    if stop.after_value or "KEY" in expected or "PARAM" in expected:
        return _after_value(stop)
    if "TEXT" in expected and len(expected) == 2:
        return "a quoted text"
    words = [word for terminal, word in _SIGNS.items() if terminal in expected]
    if "NAME" in expected and not words:
        return _NAMES_AFTER.get(stop.last.text if stop.last else "", "a name")
    if "_LBRACE" in expected:
        words = ["`{`"]
    return _either(words)


def _after_value(stop: ParserStop) -> str:
    if stop.bracket in ("(", "["):
        return f"`,` or {_CLOSERS[stop.bracket]}"
    if stop.bracket == "{":
        return "the next attribute, a block or `}`"
    if stop.in_hole:
        return "an operator or `}`"
    return "an operator or a new declaration"


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


_QUOTE_WORDS = "a text is written in quotes"
_OPTION_COMMA = "write a comma before each option of a series, as in `line = throughput by threads, log x, log y`"
_VALUE = compile_late(r"[ \t]*([^=\n\r\"{}\[\]#]*)(=?)")
_NEXT_KEY = compile_late(r"\s*\w+\s*\Z")
_NUMBERS = compile_late(r"[0-9][\w.]*(?:\s+[0-9][\w.]*)+")
_AMOUNT = r"([0-9][\w.]*\s*([A-Za-z%/]+))"
_AMOUNTS = compile_late(rf"{_AMOUNT}\s+{_AMOUNT}")
_WORD = compile_late(r"[A-Za-z]{2}")
_LONGEST_VALUE = 60  # characters of a value that are repeated in a message
_UNFINISHED = ("..", "+", "-", "*", "/")
_STEPS = compile_late(r"\[\s*(\d{1,9})\s*,\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?,\s*\.{2,3}\s*,\s*(\d{1,9})\s*\]")
_SPAN = compile_late(
    r"([0-9][\w.]*)\s*(?:to|until|through|\.\.)\s*([0-9][\w.]*)(?:\s+(step|by|factor)\s+([0-9][\w.]*))?"
)
_PERCENTILE = compile_late(r"p[0-9]{2,4}|mean|max")
_POINTS = ("for", "where", "with", "on", "at", "in")
_SPANNING = ("to", "until", "through")
_RAMP_WORDS = "every whole number between is `1..16`, with steps `range(8, 96, step: 8)`"


def what_to_write(stop: ParserStop, piece: Piece) -> str:
    """Return advice for a value that continues at `piece`, after the parser has taken it to be complete."""
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
        return f'{_QUOTE_WORDS}: `"{value}"`'
    return _QUOTE_WORDS


def _beside(stop: ParserStop, word: Piece) -> Piece | None:
    """Return the piece before a word, if it is on the word's line."""
    before = next((piece for piece in reversed(stop.before) if piece.span.end <= word.span.start), None)
    return before if before and before.span.line == word.span.line else None


def goes_on(stop: ParserStop) -> bool:
    """Return whether what looks like a block's head is really the rest of the value before it: `a = fast disk`."""
    word = stop.head[0]
    if _beside(stop, word) is None:
        return False
    # `cpu = AMD EPYC 7763` and `threads = 8 to 64`
    named = (word.text[0].isupper() or word.text in _SPANNING) and stop.sign not in ("=", "{")
    return stop.sign == "}" or stop.found is None or named


def condition(stop: ParserStop) -> str:
    """Return the advice for a condition or a metric that continues with a word: `latency.p99[read] < 5 ms for threads =
    16`."""
    word = stop.head[0]
    before = _beside(stop, word)
    if before is None:
        return ""
    if _PERCENTILE.fullmatch(before.text):
        return f"an operation is written in square brackets, as in `latency.{before.text}[{word.text}]`"
    return "a point is fixed in square brackets, as in `throughput[threads: 16]`" if word.text in _POINTS else ""


def unfinished(stop: ParserStop) -> Unexpected | None:
    """Explain a value that ends too early, such as `threads = 1..` at the end of a line. The parser takes the next
    attribute for the missing part, up to its `=`."""
    if stop.sign != "=" or stop.bracket != "{" or len(stop.before) < 2:
        return None
    sign, word = stop.before[-2:]
    if word.kind != "word" or sign.text not in _UNFINISHED or sign.span.line == word.span.line:
        return None
    return Unexpected(sign.span, "the end of the line", f"a value after `{sign.text}`")


def dots(stop: ParserStop) -> Unexpected | None:
    """Explain the syntax error of a list with dots, such as `[16, 32, ..., 256]`."""
    sign = stop.matches(r"\.{2,3}(?![.\d])")
    if sign is None or not stop.wants_value:
        return None
    return Unexpected(stop.span(*sign.span()), f"`{sign[0]}`", "a value", _ramp(stop))


def _ramp(stop: ParserStop) -> str:
    """Return how to write a list with dots as a `range`."""
    steps = _STEPS.match(stop.source.text, stop.opener.start, stop.end) if stop.opener else None
    if steps is None:
        return _RAMP_WORDS
    first, second, last = int(steps[1]), int(steps[2]), int(steps[4])
    third = int(steps[3]) if steps[3] else None
    ways = []
    if second > first and third in (None, 2 * second - first):
        ways.append(f"`range({first}, {last}, step: {second - first})`")
    if first and second > first and second % first == 0 and third in (None, second * second // first):
        ways.append(f"`range({first}, {last}, factor: {second // first})`")
    return f"write {' or '.join(ways)}" if ways else _RAMP_WORDS


def _whole_value(stop: ParserStop, piece: Piece) -> str:
    """Return the value that continues at `piece`, up to the next attribute or the end of the line, or "" if its end is
    unclear."""
    text, at = stop.source.text, piece.span.start
    begin = text.rfind("=", max(text.rfind("\n", 0, at) + 1, stop.start), at) + 1
    value = _VALUE.match(text, begin, stop.end) if begin else None
    if value is None:
        return ""
    whole = (_NEXT_KEY.sub("", value[1]) if value[2] else value[1]).strip()
    return whole if len(whole) <= _LONGEST_VALUE and value.end(1) > at else ""


_DECLARED = compile_late(rf"^(?:{'|'.join(DECLARATIONS)})\b", re.MULTILINE)
_THOUSANDS = compile_late(r"[0-9]{1,3}(?:,[0-9]{3})+(?![\w,])")
_COLONS = compile_late(r"([0-9]{1,15}):([0-9]{1,15})(?::([0-9]{1,15}))?(?![\w.:])")
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


def _from_number(stop: ParserStop, sign: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """If the parser stopped at `sign` right behind a number, match a pattern from that number on. Otherwise, return
    None."""
    last = stop.last
    if stop.sign != sign or last is None or last.kind != "number" or last.span.end != stop.at:
        return None
    return pattern.match(stop.source.text, last.span.start, stop.end)


def colons(stop: ParserStop) -> Problem | None:
    """Explain a ramp with colons: `16:256:16`."""
    ramp = _from_number(stop, ":", _COLONS)
    if ramp is None:
        return None
    first, last_or_step, third = ramp.groups()
    wanted = f"{first}..{last_or_step}"
    if third:  # some put the step last, some in the middle
        step, end = sorted((last_or_step, third), key=int)
        wanted = f"range({first}, {end}, step: {step})" if int(step) else f"{first}..{end}"
    return syntax_errors.WrongSign(stop.span(*ramp.span()), ramp[0], wanted, "`1..16` is every whole number between")


def quoted_key(stop: ParserStop) -> Problem | None:
    """Explain a quoted key, as in JSON: `"threads": 8`."""
    key = stop.matches(r'"([A-Za-z_]\w*)"\s*[:=]')
    if key is None or "KEY" not in stop.expected or stop.after_value:
        return None
    return syntax_errors.QuotedKey(stop.here(), key[1])


def unit_of_metric(stop: ParserStop) -> Problem | None:
    """Explain a metric's unit in another form: `metric m [ops/s] =`, `metric m in "ops/s" =` and `metric m in ops/s:
    ...`."""
    quoted = stop.matches(r'"([\w/%*$€£¥µ°]+)"')
    if "UNIT" in stop.expected and stop.last and stop.last.text == "in" and quoted:
        return syntax_errors.WrongSign(stop.here(), quoted[0], quoted[1], "a unit has no quotes")
    if "_EQUAL" not in stop.expected or stop.bracket:
        return None
    unit = None
    if "_IN" in stop.expected:
        bare = stop.matches(r"([\w%]+(?:/[\w%]+)+|%)(?=\s*=[^=])")
        unit = bare or stop.matches(r'(?:[\[(]|in\s+")\s*([\w/%*$€£¥µ°]+)\s*[\])"]')
    if unit is not None:
        wanted = f"in {unit[1]}"
        return syntax_errors.WrongSign(stop.span(*unit.span()), unit[0], wanted, "the unit of a metric follows `in`")
    if stop.sign == ":":
        return syntax_errors.WrongSign(stop.here(), ":", "=", "a value is given with `=`")
    if stop.sign == "{" and "_IN" in stop.expected:
        return syntax_errors.Unexpected(stop.here(), "`{`", "`=` or `in` with a unit", _METRIC)
    return None


def direction(stop: ParserStop) -> Problem | None:
    """Explain a metric's direction without a comma before it: `throughput higher is better`."""
    for piece in (*stop.head[:1], stop.found):
        if piece and piece.text in ("higher", "lower") and not stop.bracket and _declares(stop, "metric"):
            return syntax_errors.MissingComma(piece.span, f"`{piece.text}`", "")
    return None


def along(stop: ParserStop) -> Problem | None:
    """Explain a reduction with `by` instead of `over`: `max(throughput by threads)`."""
    found = stop.found
    if stop.bracket != "(" or not stop.after_value or found is None or found.text not in _ALONG:
        return None
    return syntax_errors.MisspeltWord(found.span, found.text, "over")


def base(stop: ParserStop) -> Problem | None:
    """Explain a base with a hyphen: `from ycsb-c`."""
    if stop.sign != "-" or len(stop.before) < 2 or stop.before[-2].text != "from":
        return None
    tail = stop.matches(r"-\w+")
    family = stop.before[-1]
    if tail is None:
        return None
    span = stop.span(family.span.start, tail.end())
    joint = "." if family.text in _FAMILIES else "_"
    return syntax_errors.BadName(span, span.text, f"{family.text}{joint}{tail[0][1:]}")


def rate(stop: ParserStop) -> Problem | None:
    """Explain a rate with `per`: `1.2 USD per hour`."""
    if not stop.head or stop.head[0].text != "per":
        return None
    return syntax_errors.Unexpected(
        stop.head[0].span, "`per`", "the next attribute, a block or `}`", "a rate is written `USD/h`, `ops/s`"
    )


def equals(stop: ParserStop) -> Problem | None:
    """Explain an `=` in the wrong place: `expect a = b`, `expect = a > b` and `param = 5`."""
    found = stop.found
    if stop.bracket or found is None:
        return None
    if stop.sign == "=" and stop.after_value and _declares(stop, "expect"):
        return syntax_errors.WrongSign(stop.here(), "=", "==", "`==` compares; `=` gives a value to an attribute")
    sign = stop.matches(r"(?:\w+\s*)?(=)(?!=)")
    keyword = stop.last if stop.sign == "=" else found if "PARAM" in stop.expected else None
    if sign and keyword and keyword.text in DECLARATIONS:
        wanted = _NAMED.get(keyword.text, "a name")
        advice = _EXAMPLES.get(keyword.text) or _block(keyword.text)
        return syntax_errors.Unexpected(stop.span(*sign.span(1)), "`=`", wanted, advice)
    return None


def used_file(stop: ParserStop) -> Problem | None:
    """Explain a file without quotes: `use lab.bench`."""
    if stop.last is None or stop.last.text != "use" or stop.bracket:
        return None
    path = stop.matches(r"[\w./~-]*[\w/]")
    if path is None:
        return None
    name = path[0] if "." in path[0].rpartition("/")[2] else f"{path[0]}.bench"
    return syntax_errors.Unquoted(stop.span(*path.span()), name)


def thousands(stop: ParserStop) -> Problem | None:
    """Explain a number with thousands separators: `10,000,000`."""
    whole = _from_number(stop, ",", _THOUSANDS)
    if whole is None:
        return None
    return syntax_errors.DigitsWithCommas(stop.span(*whole.span()), whole[0].replace(",", "_"))


def _declares(stop: ParserStop, keyword: str) -> bool:
    """Return whether the stop is in a declaration of this kind, judging by the words at the margin."""
    nearest = deque(_DECLARED.finditer(stop.source.text, stop.start, stop.at), 1)
    return any(match[0] == keyword for match in nearest)


def heads(stop: ParserStop) -> Problem | None:
    """Explain a wrong head of a block: `hardware: ...`, `hardware "nvme" "NVMe" {` and `hardware nvme NVMe {`."""
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


def no_spec(stop: ParserStop) -> Problem | None:
    """Explain a file that is not a spec, because it begins with `{` or `[hardware]`."""
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


_CLOCK = compile_late(r"([0-9]{1,6}):([0-9]{2})(?::([0-9]{2}))?(?![\w.:])")
_TIMES = ("measure", "warm_up", "cool_down", "timeout", "duration", "time", "every")
_ADDRESS = compile_late(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:[:/][0-9]{1,5})?(?![\w.])")
_BRANCHES = ("if", "else", "elif", "unless")
_AGAINST = ("vs", "versus", "against")
_LOOP_WORDS = "a list is written out, `[1, 2, 4]`; steps are `range(8, 96, step: 8)` or `range(1, 64, factor: 2)`"
_CASES = "there are no conditions on values: give each case a metric of its own"
_FORMULAS = "a spec can't define functions: name a formula with `metric some_name = expression`"
_LINE = "write `line = throughput by threads`"
_TIME = "a time is written `90 s`, `10 min` or `1.5 h`"


def call_of_a_block(stop: ParserStop) -> Problem | None:
    """Explain a block that is written as a call: `hardware("box", ...)`."""
    if stop.sign != "(" or len(stop.head) != 1 or stop.head[0].text not in DECLARATIONS:
        return None
    advice = f'a block is written `{stop.head[0].text} some_name "Label" {{ ... }}`'
    return syntax_errors.Unexpected(stop.here(), "`(`", "a name", advice)


def clock(stop: ParserStop) -> Problem | None:
    """Explain a time with colons, such as `00:10:00` for ten minutes. `16:256:16`, by contrast, is a ramp."""
    time = _from_number(stop, ":", _CLOCK)
    key = stop.before[-3].text if len(stop.before) > 2 and stop.before[-2].text == "=" else ""
    if time is None or not (key in _TIMES or time[0].startswith("0")):
        return None
    first, second, third = time.groups()
    seconds = int(first) * 3600 + int(second) * 60 + int(third) if third else int(first) * 60 + int(second)
    fitting = [(size, unit) for size, unit in ((3600, "h"), (60, "min")) if seconds and seconds % size == 0]
    size, unit = (*fitting, (1, "s"))[0]
    return syntax_errors.WrongSign(stop.span(*time.span()), time[0], f"{seconds // size} {unit}", _TIME)


def address(stop: ParserStop) -> Problem | None:
    """Explain an address without quotes: `10.0.0.1`."""
    whole = _from_number(stop, ".", _ADDRESS)
    return syntax_errors.Unquoted(stop.span(*whole.span()), whole[0]) if whole else None


def comprehension(stop: ParserStop) -> Problem | None:
    """Explain a list comprehension: `[2 * i for i in 1..4]`."""
    if stop.bracket not in ("[", "(") or not stop.after_value or stop.found is None or stop.found.text != "for":
        return None
    return syntax_errors.Unexpected(
        stop.found.span, "`for`", f"`,` or `{']' if stop.bracket == '[' else ')'}`", _LOOP_WORDS
    )


def branch(stop: ParserStop) -> Problem | None:
    """Explain a conditional expression: `a if b else c` and `if (b) a else c`."""
    for piece in (*stop.head[:1], stop.found):
        if piece and piece.text in _BRANCHES:
            return syntax_errors.Unexpected(
                piece.span, f"`{piece.text}`", "an operator or what follows the value", _CASES
            )
    return None


def function(stop: ParserStop) -> Problem | None:
    """Explain a function: `lambda x: x + 1` and `x => x + 1`."""
    if stop.sign == ":" and (word := next((piece for piece in stop.before if piece.text == "lambda"), None)):
        return syntax_errors.Unexpected(word.span, "`lambda`", "a value", _FORMULAS)
    # If there is a comma before an argument, the parser stops at that comma.
    arrow = stop.matches(r"(?:,\s*)?(?:([^\W\d]\w*)\s*)?=>([^\r\n]{0,80})")
    if arrow and (name := arrow[1] or (stop.last.text if stop.last else "")) in re.findall(r"\w+", arrow[2]) and name:
        at = stop.source.text.index("=>", stop.at)
        return syntax_errors.Unexpected(stop.span(at, at + 2), "`=>`", "an operator or `)`", _FORMULAS)
    return None


def method(stop: ParserStop) -> Problem | None:
    """Explain a method: `throughput.mean()`."""
    names = stop.before[-3:]
    if stop.sign != "(" or len(names) < 3 or names[1].text != "." or not stop.after_value:
        return None
    operation = stop.matches(r"\(\s*([a-z_]+)\s*\)")
    if names[0].text == "latency" and operation:
        advice = f"an operation is written in square brackets: `latency.{names[2].text}[{operation[1]}]`"
        return syntax_errors.Unexpected(stop.here(), "`(`", "an operator", advice)
    whole = f"`{names[2].text}({names[0].text} over threads)`"
    return syntax_errors.Unexpected(stop.here(), "`(`", "an operator", f"write the function before its value: {whole}")


def against(stop: ParserStop) -> Problem | None:
    """Explain a figure's values with `vs`: `line = throughput vs threads` and `throughput vs threads`."""
    found = stop.found
    if stop.bracket != "{":
        return None
    if stop.head and stop.head[0].text in _AGAINST:
        return syntax_errors.MisspeltWord(stop.head[0].span, stop.head[0].text, "by")
    if stop.head and any(piece and piece.text in _AGAINST for piece in (*stop.head[1:], found)):
        return syntax_errors.Unexpected(stop.head[0].span, f"`{stop.head[0].text}`", "an attribute", _LINE)
    return None


BORROWED = (call_of_a_block, clock, address, comprehension, branch, function, method, against)


Slip = Callable[[ParserStop], Problem | None]

_QUOTES = {"'": "'", "`": "`", "‘": "’", "’": "’", "“": "”", "”": "”", "„": "“", "«": "»", "「": "」", "＂": "＂"}
_LOGIC = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
_COMPARISONS = {"=<": "<=", "=>": ">=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!="}
_LOOKALIKES = {"−": "-", "–": "-", "—": "-", "×": "x", "÷": "/", "…": ".."}
_HOST = compile_late(r"[A-Za-z]\w*(?:-\w+)*-\d\w*(?:[.-]\w+)*\.[A-Za-z][\w-]*")
_KEYWORDS = frozenset((*DECLARATIONS, *INNER_BLOCKS))
_GRAMMAR = (
    "over", "when", "every", "on", "by", "along", "from", "in", "for", "and", "or", "not", "higher", "lower", "is",
    "better", "each", "override", "formula", "at",
)  # fmt: skip
_BRACES = "`{` in a text begins an expression; write `{{` and `}}` for braces that are printed"
_HEAD = compile_late(r"^(?![ \t]*(?:each|override|formula)\b)[ \t]*[A-Za-z_]\w*+[^=\n{]*+\{", re.MULTILINE)
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


_DOLLARS = compile_late(r"\$ ?([0-9]+(?:\.[0-9]+)?)((?:/[A-Za-z]+)*)")
_SHELL_NAME = compile_late(r"\$\{?([A-Za-z_]\w*)")
_NINES = compile_late(r"9+(?![0-9])")


def explain(source: Source, start: int, end: int, at: int, expected: frozenset[str]) -> Problem:
    """Explain why a parser stopped at `at` within [start, end), although it expected one of `expected`."""
    unbalanced = parser_stop.problem(source, start, end)
    if unbalanced is not None and unbalanced.span is not None and unbalanced.span.start <= at:
        return unbalanced
    stop = ParserStop(source, start, end, at, expected)
    for slip in _SLIPS:
        problem = slip(stop)
        if problem is not None:
            return problem
    return syntax_errors.Unexpected(stop.here(), found_words(stop), expected_words(stop), _advice(stop))


def misspelt_keywords(source: Source, start: int, end: int, at: int) -> Iterator[tuple[Span, str]]:
    """Yield the words at the offset `at` and right before it, each with the keywords that it may misspell."""
    stop = ParserStop(source, start, end, at, frozenset())
    words = [piece for piece in (stop.found, *reversed(stop.before[-4:])) if piece and piece.kind == "word"]
    for piece in words:
        if piece.text not in _GRAMMAR and piece.text not in syntax_errors.SERIES_OPTIONS:
            for keyword in likely(piece.text, _GRAMMAR):
                yield piece.span, keyword


def heads_before(source: Source, start: int, at: int) -> Iterator[tuple[str, int]]:
    """Yield offsets from which to read a part of the text, the nearest first, each with text to put before it.

    The first is the line of the nearest block's head, which is read as if it were inside a block. The second is the
    line of the nearest declaration.
    """
    for pattern, opened in ((_HEAD, "block {\n"), (_DECLARED, "")):
        for match in deque(pattern.finditer(source.text, start, at), 1):
            yield opened, match.start()


_SHOWN_BY_PATTERN = {
    _DOLLARS: r"write `\1 USD\2`",
    compile_late(r"\d\w*(?=\s*(?:\"[^\"\n]*\"\s*)?=(?!=))"): (
        r"a name begins with a letter, as `v\g<0>` does; a label may begin with a digit"
    ),
}
"""Advice for the text where the parser stopped, by a pattern that matches this text."""


def _advice_by_pattern(stop: ParserStop) -> str:
    found = ((pattern.match(stop.source.text, stop.at), advice) for pattern, advice in _SHOWN_BY_PATTERN.items())
    return next((written.expand(advice) for written, advice in found if written), "")


def _advice(stop: ParserStop) -> str:
    text = stop.source.text
    if stop.in_hole and stop.after_value and stop.sign == "$":
        return _BRACES  # `{print $1}` is a program of awk
    if stop.wants_value and (name := _SHELL_NAME.match(text, stop.at)):
        return f'a param is named without a sign: `{name[1]}`; a variable of the environment is `env("NAME")`'
    if stop.last and stop.last.text in ("higher", "lower") and "_IS" in stop.expected:
        return f"write `{stop.last.text} is better`"
    if advice := _advice_by_pattern(stop):
        return advice
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
            return what_to_write(stop, stop.found)
    return _BRACES if stop.in_hole and stop.at < stop.end else ""


# Signs of other languages.


def _semicolon(stop: ParserStop) -> Problem | None:
    return syntax_errors.Semicolon(stop.here()) if stop.sign == ";" else None


def _comment(stop: ParserStop) -> Problem | None:
    mark = stop.matches(r"//|/\*|--(?=\s)")
    if mark:
        return syntax_errors.WrongComment(stop.span(*mark.span()), mark[0])
    # Behind a value the first `/` divides, and the parser stops at the second sign.
    if stop.last and stop.last.text == "/" and stop.last.span.end == stop.at and stop.sign in ("/", "*"):
        span = stop.last.span.to(stop.here())
        return syntax_errors.WrongComment(span, span.text)
    return None


def _quotes(stop: ParserStop) -> Problem | None:
    closer = _QUOTES.get(stop.sign)
    if closer is None:
        return None
    whole = stop.matches(rf"[^\r\n]([^\r\n{closer}\"\\]*){closer}")
    mended = f'"{whole[1]}"' if whole else None
    return syntax_errors.WrongQuotes(stop.span(*whole.span()) if whole else stop.here(), stop.sign, mended)


def _logic(stop: ParserStop) -> Problem | None:
    sign = stop.matches(r"&&?|\|\|?|!(?!=)")
    return syntax_errors.LogicSign(stop.span(*sign.span()), sign[0], _LOGIC[sign[0]]) if sign else None


def _comparison(stop: ParserStop) -> Problem | None:
    """Explain `=<` for `<=`, `=` for `==`, and a second comparison after a first."""
    sign = stop.matches(r"=[<>]|<>|[≤≥≠]")
    if sign:
        where = "comparisons are <, <=, >, >=, == and !="
        return syntax_errors.WrongSign(stop.span(*sign.span()), sign[0], _COMPARISONS[sign[0]], where)
    if not stop.after_value:
        return None
    if stop.sign in ("<", ">", "<=", ">=", "==", "!="):
        return syntax_errors.ChainedComparison(stop.here())
    expects = stop.in_hole or any(piece.text in ("expect", "when") for piece in stop.before)
    if stop.sign == "=" and (expects or (stop.bracket == "(" and stop.last and stop.last.kind != "word")):
        return syntax_errors.WrongSign(stop.here(), "=", "==", "`==` compares; `=` gives a value to an attribute")
    return None


# Attributes and arguments.


def _argument_sign(stop: ParserStop) -> Problem | None:
    """Explain `f(a = 1)` for `f(a: 1)`. If a comma precedes the argument, the parser stops at that comma."""
    if stop.bracket not in ("(", "["):
        return None
    sign = stop.matches(r"(?:,\s*)?(?:[^\W\d]\w*\s*)?=(?!=)")
    if not sign:
        return None
    span = stop.span(sign.end() - 1, sign.end())
    return syntax_errors.WrongSign(span, "=", ":", "an argument is written `name: value`, an attribute `name = value`")


def _attribute_sign(stop: ParserStop) -> Problem | None:
    """Explain `hosts: local` and `hosts == local` for `hosts = local`."""
    if not stop.head or stop.bracket != "{" or stop.sign not in (":", "=="):
        return None
    sign = stop.matches(r":=|:|==")
    if sign is None:
        return None
    return syntax_errors.WrongSign(stop.span(*sign.span()), sign[0], "=", "an attribute is written `name = value`")


def _name(stop: ParserStop) -> Problem | None:
    """Explain wrong names: `micron-7450`, `warm up = 1 s` and `7450`."""
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


def _multiplier(stop: ParserStop) -> Problem | None:
    """Explain `5 k ops/s`, which is read as the number 5 with the unit k, followed by a block named ops."""
    first = stop.head[0] if stop.head else None
    before = [piece for piece in stop.before if first and piece.span.end <= first.span.start]
    if len(before) < 2 or before[-1].text not in ("k", "M", "G", "T") or before[-2].kind != "number":
        return None
    span = before[-2].span.to(before[-1].span)
    return syntax_errors.DetachedMultiplier(span, before[-1].text, before[-2].text + before[-1].text)


def _thousands(stop: ParserStop) -> Problem | None:
    """Explain `100K records`, which is read as the number 100 with the unit K."""
    word = stop.head[0] if stop.head else stop.found
    number = _beside(stop, word) if word and word.kind == "word" else None
    if number is None or number.kind != "number" or not re.fullmatch(r"[0-9_.]+K", number.text):
        return None
    return syntax_errors.WrongSign(number.span, number.text, f"{number.text[:-1]}k", "thousands are a small `k`")


def _missing_equals(stop: ParserStop) -> Problem | None:
    """Explain `hosts local`, which is read as the beginning of a block, like `variant hdd`."""
    if not stop.head or stop.bracket == "" or stop.head[0].text in _KEYWORDS:
        return None
    word = stop.head[0]
    if goes_on(stop):
        advice = what_to_write(stop, word)
        return syntax_errors.Unexpected(word.span, f"`{word.text}`", "the next attribute, a block or `}`", advice)
    if word.text in syntax_errors.SERIES_OPTIONS:
        return syntax_errors.StrayOption(word.span, word.text)
    return syntax_errors.MissingEquals(word.span, word.text)


def _outside(stop: ParserStop) -> Problem | None:
    """Explain an attribute, or a misspelt keyword, in a place where only declarations are allowed."""
    if not stop.head or stop.bracket != "":
        return None
    first = stop.head[0]
    if first.text in DECLARATIONS:
        return None
    guess = did_you_mean(first.text, DECLARATIONS)
    if guess is None and goes_on(stop):
        advice = what_to_write(stop, first)
        return syntax_errors.Unexpected(first.span, f"`{first.text}`", "an operator or a new declaration", advice)
    if guess is None and (advice := condition(stop)):
        return syntax_errors.Unexpected(first.span, f"`{first.text}`", "an operator or a new declaration", advice)
    if stop.sign in ("=", ":") and len(stop.head) == 1:
        return syntax_errors.OutsideBlock(first.span, first.text)
    return syntax_errors.UnknownDeclaration(first.span, first.text, guess, DECLARATIONS)


def _no_declaration(stop: ParserStop) -> Problem | None:
    """Explain a word that is read as a second name: `metrc a b`."""
    if "PARAM" not in stop.expected or stop.after_value or stop.found is None or stop.found.kind != "word":
        return None
    return syntax_errors.UnknownDeclaration(
        stop.here(), stop.found.text, did_you_mean(stop.found.text, DECLARATIONS), DECLARATIONS
    )


# Values.


def _unquoted(stop: ParserStop) -> Problem | None:
    """Explain a text without quotes: `/data`, `~/x`, `./y`, `user@host`, `mongodb://host`, `db-1.lab`."""
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


def _point(stop: ParserStop) -> Problem | None:
    """Explain a decimal point without a digit on each side: `.5` and `5.`."""
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
"""The most characters that are searched backwards for the beginning of a list of probes."""


def _every(stop: ParserStop) -> Problem | None:
    """Explain an interval without `every`: `probes = [cpu 1 s]`."""
    interval = stop.matches(r"\d[\d.]*\s*(?:ms|s|sec|min|h)\b")
    of_probes = re.search(r"\bprobes\s*=\s*\[?[^\]=]*$", stop.source.text[max(stop.start, stop.at - _LIST) : stop.at])
    if interval and of_probes and stop.last and stop.last.kind == "word" and not stop.wants_value:
        return syntax_errors.MissingEvery(stop.span(*interval.span()), stop.last.text, interval[0])
    return None


def _comma(stop: ParserStop) -> Problem | None:
    """Explain a missing comma, or one too many."""
    if stop.sign == "{" and stop.after_value:
        for piece in reversed(stop.before):
            if piece.text == ",":
                return syntax_errors.StrayComma(piece.span)
            if piece.kind not in ("word", "string"):
                break
    if stop.sign == "," and (stop.wants_value or "KEY" in stop.expected or "PARAM" in stop.expected):
        return syntax_errors.StrayComma(stop.here())
    begins_value = stop.found and (stop.found.kind != "sign" or stop.sign in "([")
    if stop.after_value and stop.bracket in ("(", "[") and begins_value:
        return syntax_errors.MissingComma(stop.here(), found_words(stop), ")" if stop.bracket == "(" else "]")
    return None


def _character(stop: ParserStop) -> Problem | None:
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
    unfinished,
    dots,
    *BORROWED,
    _comparison,
    *HABITS,
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
