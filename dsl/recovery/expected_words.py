"""What was found and what was expected, in words for people instead of the names of terminals."""

from __future__ import annotations

from benchbrief.dsl.recovery.parser_stop import Stop

_LONGEST = 40  # characters of a word that are repeated in a message

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

_NAMES_AFTER = {  # what a name is called after these words
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


def found_words(stop: Stop) -> str:
    piece = stop.found
    if piece is None:
        return "the end of the expression" if stop.in_hole else "nothing more"
    if piece.kind == "string":
        return "a quoted text"
    text = piece.text if len(piece.text) <= _LONGEST else piece.text[:_LONGEST] + "..."
    return f"`{text}`"


def expected_words(stop: Stop) -> str:
    """ "a value", "`=` or `in` with a unit", "`,` or `]`"."""
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


def _after_value(stop: Stop) -> str:
    if stop.bracket in ("(", "["):
        return f"`,` or {_CLOSERS[stop.bracket]}"
    if stop.bracket == "{":
        return "the next attribute, a block or `}`"
    if stop.in_hole:
        return "an operator or `}`"
    return "an operator or a new declaration"


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
