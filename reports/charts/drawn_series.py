"""The series of a figure, with the details of each point, the events drawn over them, and the data for download."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import pairwise
from types import MappingProxyType

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan
from benchbrief.model.plan import DimKey
from benchbrief.model.precision import magnitude
from benchbrief.reports.charts.chart import ChartPoint, Trace
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tables import Columns
from benchbrief.reports.text.number_format import (
    NBSP,
    ROUNDED,
    Scale,
    automatic,
    decimals_for,
    fixed,
    for_all,
    formatted,
    in_column,
    nodes_text,
    quantity,
    with_unit,
)
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.query import defuse_formula
from benchbrief.results.store.searched_doubts import Bound

_AS_IT_IS = Scale(1.0, "")


@dataclass(frozen=True)
class Detail:
    """A measured point in base units. `key` is its place along the dimension of the series.

    `repeats` counts the repeats that have a result, and `cells` has the ids of their cells. `x` is the other value of a
    curve's point, and `mark` is the point's mark.
    """

    key: str
    x: float | None
    value: float | None
    low: float | None
    high: float | None
    repeats: int
    cells: tuple[str, ...]
    mark: str = ""
    in_files: str = ""
    """The point's place as the figure's data file has it: an amount in base units, without the unit."""
    end: float | None = None
    """The upper end of a range that begins at `value`."""
    bound: Bound = ""
    left_out: bool = False
    """Whether no run has this combination of levels. A line has a gap there, and the data have no row."""


@dataclass(frozen=True)
class DrawnSeries:
    """A series: its label in words, its trace, and its points. The trace is in base units at first, and in the axis's
    units once it is part of a Drawing."""

    series: plan.Series
    label: str
    trace: Trace
    details: tuple[Detail, ...]
    panel: str = ""
    y: Scale = _AS_IT_IS
    x: Scale = _AS_IT_IS
    named: bool = False
    """Whether the name of the series contains its value."""
    along: str = ""
    """The dimension of the points' keys."""
    write: Callable[[float], str] = field(default=automatic, compare=False)
    """Writes a value in the form that all values of its axis have in the brief."""
    where: Mapping[str, DimKey] = field(default_factory=dict)
    """The keys that all points of the series share."""
    keys: tuple[DimKey, ...] = ()
    """The key of each point along the dimension of the series."""

    def points_at(self, at: Mapping[str, DimKey]) -> list[int]:
        """Return the indices of the measured points at these keys. For a time, return the nearest sampled time."""
        x_dim = self.series.x_dim or ""
        if not self.on_axis or any(self.where.get(dim) != key for dim, key in at.items() if dim != x_dim):
            return []
        known = [i for i, point in enumerate(self.trace.points[: len(self.keys)]) if point.y is not None]
        wanted = at.get(x_dim)
        if x_dim == "time" and known and isinstance(wanted, float):
            first, last = (float(self.keys[i]) for i in (known[0], known[-1]))
            nearest = min(known, key=lambda i: abs(float(self.keys[i]) - wanted))
            return [nearest] if first <= wanted <= last else []
        return [i for i in known if self.keys[i] == wanted]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(detail.key for detail in self.details)

    @property
    def has_values(self) -> bool:
        return any(point.y is not None for point in self.trace.points)

    @cached_property
    def upright(self) -> bool:
        return any(p.upright for p in self.trace.points)

    @property
    def on_axis(self) -> bool:
        """Whether the series is drawn to the scale of its axis, unlike marks and brackets over bars."""
        return self.trace.mark not in ("rule", "bracket")

    @property
    def searched(self) -> bool:
        """Whether the values come from searched rates."""
        return any(read.view == "sustained" for read in self.series.query.reads or ())

    def written(self, value: float) -> str:
        """Write a value of the axis with its unit."""
        return with_unit(self.write(value), self.unit)

    @property
    def unit(self) -> str:
        """The unit of the values on their axis."""
        return (self.x.unit or self.series.query.unit) if self.upright else self.y.unit


def event_rules(
    figure: plan.FigureElement, panels: Sequence[plan.LabelledKey | None], results: Results
) -> Iterator[DrawnSeries]:
    """For a figure whose x axis is time, yield a rule in each panel for each event of the panel's cells.

    Events of several cells at the same time and with the same label are merged.
    """
    series = next((each for each in figure.series if each.x_dim == "time" and each.mark == "line"), None)
    if series is None:
        return
    events = {cell.id: cell.events for cell in results.plan.cells if cell.events}
    if not events:
        return
    query = series.query.model_copy(update={"unit": "s", "dims": ()})
    rule = series.model_copy(update={"mark": "rule", "query": query, "color_dim": None, "band": False})
    for panel in panels:
        at = {figure.panel_dim: panel.value} if panel is not None and figure.panel_dim else {}
        behind = (events.get(cell.cell_id, ()) for cell in results.cells_behind(series.query, **at))
        found = dict.fromkeys((event.at_s, event.label) for its in behind for event in its)
        for at_s, label in sorted(found):
            name = results.words["event_at"].format(seconds=automatic(at_s), label=label)
            trace = Trace(name, "rule", (ChartPoint(at_s, at_s, upright=True),), None)
            detail = Detail("", None, at_s, None, None, 0, ())
            yield DrawnSeries(rule, name, trace, (detail,), panel.label if panel else "", named=True)


def with_texts(drawn: Sequence[DrawnSeries], words: Words, columns: Columns | None = None) -> tuple[DrawnSeries, ...]:
    """Return the series with a text for each value.

    The texts follow the author's format if there is one. Otherwise, all values on an axis have equal decimals, as in
    tables with the same numbers. Marks and whole counts have decimals of their own. A bracket is written as a
    comparison, and a range by its two ends.
    """
    drawn = [_as_estimated(d) for d in drawn]
    axes = {right: _axis_writer([d for d in drawn if d.trace.right == right], columns) for right in (False, True)}
    found = []
    for d in drawn:
        write = axes[d.trace.right]
        if d.series.query.unit == "nodes" and d.trace.mark != "bracket":
            write = nodes_text
        elif d.trace.mark == "rule" or d.trace.whole:
            write = automatic
        elif d.series.format:
            alike = [each for each in drawn if (each.series.format, each.unit) == (d.series.format, d.unit)]
            values = [p.y for each in alike for p in each.trace.points if p.y is not None]
            write = _apart(partial(formatted, unit=d.unit), for_all(values, d.series.format, d.unit), d, alike)
        written = replace(d, write=write)
        points = (p if p.y is None else _with_text(p, p.y, written, words) for p in d.trace.points)
        found.append(replace(written, trace=replace(d.trace, points=tuple(points))))
    return tuple(found)


def _as_estimated(drawn: DrawnSeries) -> DrawnSeries:
    """Return a series whose estimates are drawn as the whole numbers that they are written as."""
    if not drawn.trace.estimated or not drawn.series.format.endswith(".0f"):
        return drawn
    points = (p if p.y is None else replace(p, y=float(round(p.y))) for p in drawn.trace.points)
    return replace(drawn, trace=replace(drawn.trace, points=tuple(points)))


_SEEN = 0.01
"""The smallest visible difference between two bars, as a share of the longest bar."""


def _apart(
    write: Callable[..., str], spec: str, own: DrawnSeries, alike: Sequence[DrawnSeries]
) -> Callable[[float], str]:
    """Return a function that writes values by a format. The format gets one more digit if it would print the same
    number at two bars that differ visibly. Whole numbers stay as they are."""
    values = sorted(p.y for d in alike if d.trace.mark == "bar" for p in d.trace.points if p.y is not None)
    longest = max(map(abs, values), default=0.0)
    hidden = any(b - a > _SEEN * longest and write(a, spec=spec) == write(b, spec=spec) for a, b in pairwise(values))
    whole = all(p.y is None or math.isclose(p.y, round(p.y)) for p in own.trace.points)
    if hidden and not whole:
        spec = re.sub(r"\.(\d+)", lambda found: f".{int(found[1]) + 1}", spec)
    return partial(write, spec=spec)


def _axis_writer(drawn: Sequence[DrawnSeries], columns: Columns | None) -> Callable[[float], str]:
    """Return the function that writes the values of an axis with equal decimals. With `columns`, these are the decimals
    of the tables that a reader compares the figure with."""
    own = [d for d in drawn if d.on_axis]
    values = [v for d in own for p in d.trace.points for v in (p.y, p.end) if v is not None]
    scale = own[0].y if own else _AS_IT_IS
    decimals = columns.decimals_beside(values, scale) if columns else decimals_for(values)
    return partial(in_column, decimals=decimals)


def _with_text(point: ChartPoint, value: float, drawn: DrawnSeries, words: Words) -> ChartPoint:
    if drawn.trace.mark == "bracket":
        text = compared(value, drawn.series, words)
        return replace(point, text=text, label=text)
    if point.end is None:
        return replace(point, text=bounded(point.mark + drawn.write(value), point, words))
    ends = range_texts(point, drawn, drawn.write, words)
    text = point.mark + _joined(ends, words)
    return replace(point, text=text, label=text, ends=ends)


def bounded(text: str, point: ChartPoint | Detail, words: Words) -> str:
    """Write a number that a source states as a bound, such as `≥ 2.0`, in the brief's language."""
    return words[point.bound].format(n=text) if point.bound else text


def text_of(point: ChartPoint, drawn: DrawnSeries, words: Words) -> str:
    """Return a point's text with its unit. A value that is a bound is written as one, such as `≥ 2.0`."""
    if point.bound and point.y is not None:
        return bounded(drawn.written(point.y), point, words)
    return with_unit(point.text, drawn.unit)


def range_texts(point: ChartPoint, drawn: DrawnSeries, write: Callable[[float], str], words: Words) -> tuple[str, str]:
    """Write both ends of a range. A range without a unit is written as ratios."""
    ends = (point.y or 0.0, point.end if point.end is not None else point.y or 0.0)
    if drawn.series.format or not drawn.series.query.unit:
        low, high = (compared(value, drawn.series, words, drawn.y.factor) for value in ends)
        return low, high
    return write(ends[0]), write(ends[1])


def _joined(ends: Sequence[str], words: Words) -> str:
    return words["to"].join(dict.fromkeys(ends))


def compared(value: float, series: plan.Series, words: Words, factor: float | None = None) -> str:
    """Write a comparison: a ratio as 8.7X, a share as +117%, and any other number with its unit.

    With an axis's `factor`, the value is in the axis's unit, and the unit is left out because the axis shows it.
    """
    unit, spec = series.query.unit, series.format
    if spec.endswith("%"):
        return formatted(value, spec, unit)
    if unit in ("", "1"):
        if abs(value - 1) < _ALIKE:  # a claim's format would add digits to tell it from 1
            spec = spec.lstrip("".join(ROUNDED))
        return words["times"].format(n=formatted(value, spec, "") if spec else _ratio(value))
    if factor is not None:
        return formatted(value, spec, unit)
    if unit == "%" and not spec:
        return formatted(value, "+.0%", unit)
    return with_unit(formatted(value, spec, unit), unit) if spec else quantity(value, unit)


_ALIKE = 0.005
"""How far a ratio over bars may be from 1 and still be written as 1.0: half a unit of the last digit shown."""


def _ratio(value: float) -> str:
    """Write a ratio with two digits, or with three if it is about 1, such as 8.7, 28 or 1.04."""
    size = abs(value)
    if size and not 1e-3 <= size < 1e7:
        return formatted(value, ".1e", "")
    return fixed(value, 2 if 0.95 <= size < 1.1 else 0 if size >= 9.95 or not size else max(0, 1 - magnitude(size)))


def column_writer(values: Iterable[float | None]) -> Callable[[float], str]:
    """Return a function that writes numbers with equal decimals, so that they can be compared."""
    decimals = decimals_for(values)
    return lambda value: in_column(value, decimals)


def figure_csv(
    drawn: Sequence[DrawnSeries],
    figure: plan.FigureElement,
    mark: str = "",
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return CSV (RFC 4180) with a header. Missing values are empty. `repeats` is how many repeats a value comes from,
    and `cells` lists their cells, separated by blanks. `low` and `high` are the ends of the value's interval over
    repeats, in its unit. A range has its upper end in a column `to`. `remarks` maps cells to remarks on their values,
    for example that a searched rate is only known from below. If there are remarks, they get a column. A `mark`
    (`simulated`, `imported`) becomes a last column of `true`, as in other exports, because the file may be read apart
    from its brief.
    """
    x_dim = next((d.along for d in drawn if d.along), "point")
    curve = any(d.series.x_query for d in drawn)
    out = io.StringIO()
    writer = csv.writer(out)
    panel = [figure.panel_dim] if figure.panel_dim else []
    x_head = ["x", "x_unit"] if curve else []
    marks = [mark] if mark else []
    to = ["to"] if any(d.series.high for d in drawn) else []
    said = {id(d): _remarked(d, remarks) for drawing in drawn for d in drawing.details if drawing.searched}
    head = ["remarks"] if any(said.values()) else []
    writer.writerow(
        [*panel, "series", x_dim, *x_head, "value", *to, "unit", "low", "high", "repeats", "cells", *head, *marks]
    )
    for d in drawn:
        x_unit = d.series.x_query.unit if d.series.x_query else ""
        for detail in (each for each in d.details if not each.left_out):
            writer.writerow(
                [
                    *([_csv_text(d.panel)] if panel else []),
                    _csv_text(d.trace.name),
                    _csv_text(detail.in_files or detail.key),
                    *([_csv_text(detail.x), x_unit] if curve else []),
                    _csv_text(detail.value),
                    *(_csv_text(detail.end) for _ in to),
                    d.series.query.unit,
                    _csv_text(detail.low),
                    _csv_text(detail.high),
                    detail.repeats or "",
                    _csv_text(" ".join(detail.cells)),
                    *(_csv_text(said.get(id(detail), "")) for _ in head),
                    *("true" for _ in marks),
                ]
            )
    return out.getvalue()


def _remarked(detail: Detail, remarks: Mapping[str, str]) -> str:
    return " ".join(dict.fromkeys(remarks[cell] for cell in detail.cells if cell in remarks))


def _csv_text(value: object) -> object:
    """Return a number in full, a text in a form that no spreadsheet evaluates as a formula, or "" for a missing
    value."""
    if isinstance(value, str):
        return defuse_formula(value.replace(NBSP, " "))
    return "" if value is None else repr(value) if isinstance(value, float) else value
