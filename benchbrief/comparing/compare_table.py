"""The table that `bench compare` prints: a row for each point, as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.cli.terminal import one_line
from benchbrief.cli.terminal_marks import align_columns
from benchbrief.comparing.compare_output import (
    find_constant_dimensions,
    format_change,
    format_point,
    format_values,
    shorten_reason,
    verdict_word,
)
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.diagnostics.source_line import display_width

if TYPE_CHECKING:
    from benchbrief.results.compare.comparison import Comparison

_HEAD = ("metric, point", "A", "B", "change", "verdict")
_MOST_NAMED = 2
_MOST_REASONS = 6


class Line(NamedTuple):
    """A line of the table; `row` is its comparison, None for a head."""

    text: str
    row: Comparison | None = None


class Table(NamedTuple):
    """Lines that fit, and what has no room in them: sentences for below."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def table_of(comparisons: Sequence[Comparison], columns: int | None) -> Table:
    """The table in at most so many columns, where a point's name leaves room for it; None: as wide as it gets.

    Intervals give way first, then each point takes two lines or three. What is 0 on both sides, or missing, is a
    sentence.
    """
    rows = [row for row in comparisons if not _is_zero(row) and not _is_missing(row)]
    notes = [*_zeros(comparisons), *_explain_unknown(comparisons)]
    for with_spread, with_interval in ((True, True), (False, True), (False, False)):
        lines = _aligned(rows, with_spread=with_spread, with_interval=with_interval)
        if columns is None or max((display_width(line.text) for line in lines), default=0) <= columns:
            break
    else:
        lines = _stacked(rows, columns)
    if not (with_spread and with_interval):
        notes.append("there is no room for all intervals: a wider terminal, or --json, shows them")
    return Table(tuple(lines), tuple(notes))


def _is_zero(row: Comparison) -> bool:
    return row.first is not None and row.second is not None and row.first.value == row.second.value == 0


def _is_missing(row: Comparison) -> bool:
    return all(side is None or not side.is_known for side in (row.first, row.second))


def _zeros(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for metric, rows in groupby(comparisons, key=lambda row: row.quantity):
        of = list(rows)
        if count := sum(map(_is_zero, of)):
            where = f"all {plural(count, 'point')}" if count == len(of) > 1 else plural(count, "point")
            yield f"{metric}: 0 in A and in B, at {where}"


def _explain_unknown(rows: Sequence[Comparison]) -> Iterator[str]:
    """Why some values are missing, each reason with the points that it holds for."""
    found: dict[str, list[str]] = {}
    hidden = find_constant_dimensions(rows)
    for row in rows:
        if row.verdict == "unknown":
            found.setdefault(row.reason, []).append(f"{row.quantity} at {format_point(row, hidden)}")
    for reason, points in list(found.items())[:_MOST_REASONS]:
        more = f", and {len(points) - _MOST_NAMED} more" if len(points) > _MOST_NAMED else ""
        yield f"{verdict_word('unknown')}: {shorten_reason(reason)} ({', '.join(points[:_MOST_NAMED])}{more})"
    if left := sum(len(points) for points in list(found.values())[_MOST_REASONS:]):
        yield f"{verdict_word('unknown')} for further reasons at {plural(left, 'point')}: --json has them"


def _cells(row: Comparison, *, with_spread: bool, with_interval: bool) -> tuple[str, str, str, str]:
    first, second = (format_values(side, row.unit, with_spread=with_spread) for side in (row.first, row.second))
    shown = row if with_interval else replace(row, interval=None, difference_interval=None, p=None)
    return first, second, format_change(shown), verdict_word(row.verdict)


def _aligned(rows: Sequence[Comparison], *, with_spread: bool, with_interval: bool) -> list[Line]:
    """A metric's name on a line of its own, above its points."""
    hidden = find_constant_dimensions(rows)
    cells = [
        (f"  {one_line(format_point(row, hidden))}", *_cells(row, with_spread=with_spread, with_interval=with_interval))
        for row in rows
    ]
    head, rule, *texts = align_columns([_HEAD, *cells])
    lines = [Line(head), Line(rule)]
    for metric, pairs in groupby(zip(rows, texts, strict=True), key=lambda pair: pair[0].quantity):
        lines += [Line(one_line(metric)), *(Line(text, row) for row, text in pairs)]
    return lines


def _stacked(rows: Sequence[Comparison], columns: int | None) -> list[Line]:
    """Two lines for each point, for names that leave no room beside them; three where the change has none either."""
    hidden = find_constant_dimensions(rows)
    lines = []
    for metric, of in groupby(rows, key=lambda row: row.quantity):
        lines.append(Line(one_line(metric)))
        for row in of:
            first, second, change, verdict = _cells(row, with_spread=False, with_interval=False)
            shown = [f"    A {first}, B {second}: {change}, {verdict}"]
            if columns is not None and display_width(shown[0]) > columns:
                shown = [f"    A {first}, B {second}:", f"      {change}, {verdict}"]
            lines += [Line(text, row) for text in (f"  {one_line(format_point(row, hidden))}", *shown)]
    return lines
