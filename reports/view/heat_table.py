"""Heat tables: cells shaded by their values, in steps that also differ in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from benchbrief.reports.data.view_model import Cell, Row

Among = Literal["table", "rows", "columns"]
STEPS = 5
_FEWEST = 3
"""The fewest shaded values: of two, the numbers show the higher one."""


def shade_rows(rows: Sequence[Row], among: Among) -> list[Row]:
    """Return the rows with the shades of their cells.

    Compares values of one unit in the whole table, in each row, or in each column.
    """

    def scope(cell: Cell, at: int, column: int) -> tuple[str, int]:
        return cell.unit, {"table": 0, "rows": at, "columns": column}[among]

    scopes: dict[tuple[str, int], list[float]] = {}
    for at, row in enumerate(rows):
        for column, cell in enumerate(row.cells):
            if cell.value is not None:
                scopes.setdefault(scope(cell, at, column), []).append(cell.value)
    found = []
    for at, row in enumerate(rows):
        cells = [
            cell if cell.value is None else replace(cell, heat=step(cell.value, scopes[scope(cell, at, column)]))
            for column, cell in enumerate(row.cells)
        ]
        found.append(replace(row, cells=tuple(cells)))
    return found


def key_of(rows: Sequence[Row], among: Among) -> str:
    """Return the key of the catalogue's word for the meaning of the shades, or for why there are none."""
    return f"heat_{among}" if any(cell.heat for row in rows for cell in row.cells) else "heat_none"


def step(value: float, among: Sequence[float]) -> int:
    """Return from 1 to STEPS the equal part of the range of `among`; 0 for equal or too few values."""
    low, high = min(among), max(among)
    if low == high or len(among) < _FEWEST:
        return 0
    return min(STEPS, 1 + int(STEPS * (value - low) / (high - low)))
