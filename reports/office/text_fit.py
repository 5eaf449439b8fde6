"""Estimates the space that texts and tables need. The exact space is unknown, because an office program lays them out
itself, perhaps in other typefaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.office.table_grid import Grid, GridCell

LINE_HEIGHT, _JAPANESE_LINE = 1.25, 1.45
"""The height of a line in multiples of the type size, in most typefaces and in a typeface for Japanese."""
JAPANESE = re.compile(r"[\u2e80-\u9fff\uff00-\uff60]")
BOLDER = 1.06
"""The factor by which bold letters are wider than others."""
_WORD = re.compile(
    r"[\u30a1-\u30fc]+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]"
    r"|(?:[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]|[\u00a0\u202f])+"
)
"""Matches a word, which is broken only if necessary. In Chinese and Japanese, a line may end after any character,
except within a word of katakana."""
_BLANK, _LONGEST = 0.29, 14.0
"""The width of a blank, and the largest width that a single word can claim from a column, in multiples of the type
size."""
_ROUNDING = 0.01
"""By how much a line may exceed its width. A column that is as wide as its longest text needs this, because its width
is computed in another way."""
_SPARE = 1.05
"""The share of a line to keep free in case the typeface is wider than estimated."""


@lru_cache(maxsize=20_000)
def _ems(word: str) -> float:
    return text_width(word, 1.0)


def lines_of(text: str, width: float, points: float, *, bold: bool = False) -> int:
    """Return how many lines a text takes in a width given in points."""
    scale = points * _SPARE * (BOLDER if bold else 1.0)
    total = 0
    for line in text.split("\n"):
        lines, at, end = 1, 0.0, 0
        for found in _WORD.finditer(line):
            word = _ems(found.group()) * scale
            blank = _BLANK * scale if found.start() > end else 0.0
            end = found.end()
            if at and at + blank + word > width + _ROUNDING:
                lines, at, blank = lines + 1, 0.0, 0.0
            more = int((at + blank + word) // width) if word > width else 0
            lines, at = lines + more, at + blank + word - more * width
        total += lines
    return total


def height_of(text: str, width: float, points: float, *, bold: bool = False) -> float:
    return lines_of(text, width, points, bold=bold) * points * line_height(text)


def line_height(text: str) -> float:
    """Return the height of a text's lines in multiples of the type size."""
    return _JAPANESE_LINE if JAPANESE.search(text) else LINE_HEIGHT


def column_widths(grid: Grid, width: float, points: float, gap: float) -> tuple[float, ...]:
    """Return widths of a table's columns that add up to `width`. If possible, all texts are on one line. If not, heads
    are broken into two lines, or more. If that is not enough, the widths are between those and the widths of the
    longest words. Each cell has a `gap` beside its text.
    """
    wanted: list[float] = []
    for of_head, of_body in ((_line, _line), (_halved, _line), (_longest_word, _line), (_longest_word, _longest_word)):
        least = least_widths(grid, points, gap)
        for cell in grid.cells if of_body is _line else ():
            if cell.columns == 1 and cell.plain:
                line = (of_head if cell.row < grid.heads else of_body)(cell.text)
                least[cell.column] = max(least[cell.column], line * _scale(cell, grid, points) + gap)
        if sum(least) <= width:
            break
        wanted = least
    spare = width - sum(least)
    if spare < 0:
        return tuple(each * width / sum(least) for each in least)
    if not wanted:
        return tuple(each + spare / grid.columns for each in least)
    share = spare / (sum(wanted) - sum(least))
    return tuple(low + share * (high - low) for low, high in zip(least, wanted, strict=True))


def _line(text: str) -> float:
    return sum(map(_ems, _WORD.findall(text))) + _BLANK * text.count(" ")


def _longest_word(text: str) -> float:
    return max(map(_ems, _WORD.findall(text)), default=0.0)


def _halved(text: str) -> float:
    """Return the width of a text that is broken into two lines, in multiples of the type size."""
    ends = [found.end() for found in _WORD.finditer(text)]
    return min((max(_line(text[:end]), _line(text[end:].strip())) for end in ends), default=0.0)


def lines_below_head(grid: Grid, width: float, points: float, gap: float) -> int:
    """Return how many lines all cells below a table's head take."""
    widths = column_widths(grid, width, points, gap)
    cells = (cell for cell in grid.cells if cell.row >= grid.heads and cell.columns == 1)
    return sum(lines_of(cell.text, widths[cell.column] - gap, points, bold=cell.bold) for cell in cells)


def least_widths(grid: Grid, points: float, gap: float) -> list[float]:
    """Return the smallest column widths that break no word of a table. A word counts as at most 24 letters wide."""
    least = [gap] * grid.columns
    for cell in grid.cells:
        if cell.columns == 1:
            word = _longest_word(cell.text) * _scale(cell, grid, points)
            least[cell.column] = max(least[cell.column], min(word, _LONGEST * points) + gap)
    return least


def _scale(cell: GridCell, grid: Grid, points: float) -> float:
    return points * _SPARE * (BOLDER if cell.bold or cell.row < grid.heads else 1.0)


def row_heights(grid: Grid, widths: Sequence[float], points: float, gap: float, pad: float) -> tuple[float, ...]:
    """Return the heights of a table's rows, with a `pad` above and below each text."""
    heights = [LINE_HEIGHT] * grid.rows
    for cell in grid.cells:
        room = sum(widths[cell.column : cell.column + cell.columns]) - gap
        lines = lines_of(cell.text, max(room, points), points, bold=cell.bold) - (cell.rows - 1)
        heights[cell.row] = max(heights[cell.row], lines * line_height(cell.text))
    return tuple(height * points + 2 * pad for height in heights)


def pages_of(heights: Sequence[float], heads: int, room: float) -> list[tuple[int, int]]:
    """Divide the rows below the head into groups, so that a table with any one of them is at most `room` high. Each
    group has at least one row."""
    above = sum(heights[:heads])
    found, first, used = [], 0, above
    for at, height in enumerate(heights[heads:]):
        if at > first and used + height > room:
            found.append((first, at))
            first, used = at, above
        used += height
    return [*found, (first, len(heights) - heads)]


def shortened(text: str, width: float, points: float, lines: int, *, bold: bool = False) -> str:
    """Return a text shortened to this many lines. If something is left out, it ends with an ellipsis."""
    if lines_of(text, width, points, bold=bold) <= lines:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if lines_of(f"{text[:middle].rstrip()}…", width, points, bold=bold) <= lines:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…"
