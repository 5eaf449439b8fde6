"""Texts in SQL."""

from __future__ import annotations


def sql_text(value: object) -> str:
    """Quote a text for SQL."""
    return "'" + str(value).replace("'", "''") + "'"
