"""Writing SQL: literals that are escaped, and layout."""

from __future__ import annotations

from benchbrief.compiler.measure_catalogue import Key


def key_literal(key: Key) -> str:
    """Return a dimension's key as a literal: a quoted text, or a number."""
    return string_literal(key) if isinstance(key, str) else number_literal(key)


def string_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def number_literal(value: float) -> str:
    """Return the shortest text that reads back as the same number; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
