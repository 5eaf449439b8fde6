"""Values of a tool's flags that stand among the options of a database: what the tool would refuse, hours later."""

from __future__ import annotations

import math
import re

from benchbrief.compiler.blocks.databases.database_errors import BadFlagValue
from benchbrief.compiler.blocks.values.block_values import Constant, Value
from benchbrief.compiler.extensions import FlagType
from benchbrief.compiler.units import parse_unit
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span

_SWITCHES = {"1": True, "t": True, "true": True, "y": True, "yes": True} | dict.fromkeys(
    ("0", "f", "false", "n", "no"), False
)
"""What gflags takes for a switch, in either case."""

_WHOLE = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)\Z")
_MOST_DIGITS = 40
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_COUNTED = {
    "us": ("microseconds", parse_unit("us")),
    "ms": ("milliseconds", parse_unit("ms")),
    "s": ("seconds", parse_unit("s")),
    "MiB": ("MiB", parse_unit("MiB")),
}
_TIME = parse_unit("s").dimension
_SIZE = parse_unit("B").dimension
_ONE = "one of them, in quotes"
_PASSED = (_TIME, _SIZE)
"""What a flag might count in a unit of its own: its tool gets the number of seconds, or of bytes."""


def bad_value(span: Span, flag: str, value: Value | None, kind: FlagType, tool: str) -> BadFlagValue | None:
    """Return what is wrong with a flag's value; None for nothing. `span` is its place."""
    wanted = ""
    if isinstance(value, Constant):
        wanted, write = _of_a_number(value, kind)
        found = f"`{value.text}`"
    elif isinstance(value, bool):
        found = f"`{str(value).lower()}`"
        if kind.kind in ("integer", "number") and (kind.minimum, kind.maximum) != (0, 1):
            wanted, write = _wanted(kind), "a number"
        elif kind.words:
            wanted, write = _wanted(kind), _ONE
    elif isinstance(value, str):
        wanted, write = _of_a_text(value, kind)
        found = f'`"{value}"`'
    if not wanted:
        return None
    effect = f"{tool} would refuse it"
    if isinstance(value, bool) or (isinstance(value, Constant) and _counts_otherwise(value, kind)):
        effect = f"{tool} would get `{_passed(value)}`"
    return BadFlagValue(span, flag, tool, wanted, found, effect, write)


def _of_a_number(value: Constant, kind: FlagType) -> tuple[str, str]:
    """Return what is wanted and what to write, both "" for a good number."""
    number = value.value
    if kind.kind == "bool":
        return ("", "") if value.bare and number in (0, 1) else (_wanted(kind), "`true` or `false`")
    if kind.kind == "text":
        return (_wanted(kind), _ONE) if kind.words else ("", "")
    if _counts_otherwise(value, kind):
        if kind.unit and _COUNTED[kind.unit][1].dimension == value.dimension:
            name, unit = _COUNTED[kind.unit]
            return f"a plain number of {name}", f"`{_plain(number / unit.factor)}`"
        return "a plain number", "a number without a unit, in what the flag counts"
    if kind.kind == "number":
        return "", ""
    percent = value.dimension == () and not value.bare
    if number != math.floor(number):
        near = 100 * number if percent else number
        return _wanted(kind), f"`{_plain(_held(math.floor(near + 0.5), kind))}`"
    return _out_of_range(number, kind)


def _of_a_text(text: str, kind: FlagType) -> tuple[str, str]:
    if kind.kind == "bool":
        return ("", "") if text.lower() in _SWITCHES else (_wanted(kind), "`true` or `false`")
    if kind.kind == "integer":
        if not _WHOLE.match(text):
            return _wanted(kind), "a number"
        if len(text) > _MOST_DIGITS:  # Python refuses to read a number of thousands of digits
            return _out_of_range(-math.inf if text.startswith("-") else math.inf, kind)
        return _out_of_range(int(text, 16 if "x" in text.lower() else 10), kind)
    if kind.kind == "number":
        return ("", "") if _NUMBER.match(text) else (_wanted(kind), "a number")
    if not kind.words or text.lower() in kind.words:
        return "", ""
    meant = did_you_mean(text, kind.words)
    return _wanted(kind), f'`"{meant}"`' if meant else _ONE


def _counts_otherwise(value: Constant, kind: FlagType) -> bool:
    """Return whether a time or a size was written for a flag that does not count seconds, or bytes."""
    if value.dimension not in _PASSED or value.bare or kind.kind in ("bool", "text"):
        return False
    if value.dimension == _TIME:
        return kind.unit != "s"
    return kind.unit != ""


def _out_of_range(number: float, kind: FlagType) -> tuple[str, str]:
    held = _held(number, kind)
    if held == number:
        return "", ""
    return f"a whole number of at {'most' if number > held else 'least'} {held:,}", f"`{_plain(held)}`"


def _held(number: float, kind: FlagType) -> float:
    """Return the number of the flag's range that is the nearest."""
    low = number if kind.minimum is None else max(number, kind.minimum)
    return low if kind.maximum is None else min(low, kind.maximum)


def _wanted(kind: FlagType) -> str:
    match kind.kind:
        case "bool":
            return "`true` or `false`"
        case "integer":
            return "a whole number"
        case "number":
            return "a number"
        case "text":
            return f"one of {ticked(kind.words)}"


def _passed(value: Constant | bool) -> str:
    return str(int(value)) if isinstance(value, bool) else _plain(value.value)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"
