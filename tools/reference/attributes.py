"""Makes the table of a block's attributes."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.schemas import owners
from benchbrief.model.value_shapes import BlockSchema, Flag, Key, Login, Number, Text, Word
from tools.reference.markdown import code, table


def attributes(keys: Mapping[str, Key]) -> str:
    """Return a table with a row for each attribute, or "" if there are none."""
    head = ("attribute", "what it says", "value", "when left out", "for example")
    rows = [(code(name), _doc(key), value(key), left_out(key), code(key.usage(name))) for name, key in keys.items()]
    return table(head, rows) if rows else ""


def _doc(key: Key) -> str:
    return f"{key.doc} ({owners(key.only)} only)" if key.only else key.doc


def left_out(key: Key) -> str:
    return "must be said" if key.required else key.default or "–"


def value(key: Key) -> str:
    """Describe the allowed values of an attribute."""
    match key.shape:
        case Number() as number:
            return ", ".join(filter(None, [_kind(number), _least(number), _most(number)]))
        case Word() | Flag() | Login():
            return key.shape.wanted
        case Text(holes=True):
            return f"{key.shape.wanted}; may have holes"
        case shape:
            return shape.wanted


def _kind(number: Number) -> str:
    if number.maximum == 1.0 and number.example.endswith("%"):
        return "a share from 0 to 100 %"
    whole = number.wanted.replace("a number", "a whole number", 1) if number.integer else number.wanted
    return f"{whole}, the unit may be left out" if number.plain and number.unit else whole


def _least(number: Number) -> str:
    if number.above:
        return f"above {_amount(number, number.minimum)}"
    return f"at least {_amount(number, number.minimum)}" if number.minimum else ""


def _most(number: Number) -> str:
    if number.maximum is None or number.maximum == 1.0:
        return ""
    return f"at most {_amount(number, number.maximum)}"


def _amount(number: Number, amount: float) -> str:
    return f"{amount:,.16g}{'' if number.plain else f' {number.unit}'}".strip()


def heading(name: str, block: BlockSchema, level: int) -> str:
    return f"{'#' * level} `{name}`\n\n{block.doc}"


def exclusive(block: BlockSchema) -> str:
    """Tell which attributes exclude each other."""
    return "\n\n".join(f"Of {code(*keys)}, a block says at most one." for keys in block.exclusive)
