"""Writing SQL: texts, names and numbers that are quoted, and layout. All SQL with a hole in it is quoted here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbrief.compiler.measure_catalogue import Key


def key_literal(key: Key) -> str:
    """Return a dimension's key as a literal: a quoted text, or a number."""
    return sql_text(key) if isinstance(key, str) else number_literal(key)


def sql_text(value: object) -> str:
    """Quote a text."""
    return "'" + str(value).replace("'", "''") + "'"


def sql_name(*names: str) -> str:
    """Quote the name of a table, a view or a column; of several names, each is inside of the one before."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def number_literal(value: float) -> str:
    """Return the shortest text that reads back as the same number; whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
