"""Fits a table on slides: its type size, its columns and rows, and its division into pieces."""

from __future__ import annotations

import math

from benchbrief.reports.office.slide_look import TEXT_PT
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    CELL_GAP,
    CELL_PAD,
)
from benchbrief.reports.office.table_grid import Grid
from benchbrief.reports.office.text_fit import (
    column_widths,
    least_widths,
    lines_below_head,
    row_heights,
)

MOST_TABLE_PT = 18.0
_TABLE_PT = (MOST_TABLE_PT, 17.0, 16.0, 15.0, 14.0, 13.0, LEAST_PT)


def height_within(grid: Grid, area: Area) -> float:
    """Return the height of a table in its usual type size and as wide as the area, or infinity if it is too wide."""
    points = TEXT_PT
    if sum(least_widths(grid, points, CELL_GAP)) > area.width:
        return math.inf
    return sum(row_heights(grid, column_widths(grid, area.width, points, CELL_GAP), points, CELL_GAP, CELL_PAD))


def fits(grid: Grid, area: Area) -> bool:
    """Return whether a table fits an area in the smallest type."""
    widths = least_widths(grid, LEAST_PT, CELL_GAP)
    if sum(widths) > area.width:
        return False
    columns = column_widths(grid, area.width, LEAST_PT, CELL_GAP)
    return sum(row_heights(grid, columns, LEAST_PT, CELL_GAP, CELL_PAD)) <= area.height


def fitted(grid: Grid, area: Area, most: float = MOST_TABLE_PT) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return the largest type size up to `most` for which a table fits, the widths of its columns, and the heights of
    its rows. The table may not have more lines than in its usual type size. If it does not fit in any size, the
    smallest one is returned.
    """
    usual = lines_below_head(grid, area.width, TEXT_PT, CELL_GAP)
    for points in (size for size in _TABLE_PT if size <= most):
        widths = column_widths(grid, area.width, points, CELL_GAP)
        heights = row_heights(grid, widths, points, CELL_GAP, CELL_PAD)
        fits = sum(least_widths(grid, points, CELL_GAP)) <= area.width and sum(heights) <= area.height
        if points == LEAST_PT or (fits and lines_below_head(grid, area.width, points, CELL_GAP) <= usual):
            break
    return points, widths, heights


def across(grid: Grid, width: float) -> list[Grid]:
    """Split a table into pieces narrow enough for the page, each with the first column."""
    least = least_widths(grid, LEAST_PT, CELL_GAP)
    pieces: list[Grid] = []
    first, used = 1, least[0]
    for column in range(1, grid.columns):
        if column > first and used + least[column] > width:
            pieces.append(grid.across(first, column))
            first, used = column, least[0]
        used += least[column]
    return [*pieces, grid.across(first, grid.columns)] if pieces else [grid]


def marked_in(grid: Grid) -> tuple[int, ...]:
    """Return the footnotes of a table's cells."""
    return marks_in([cell.runs for cell in grid.cells])
