"""The series of a figure, with the details of each point, the events beside them, and their data for download."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from benchbrief.model import plan
from benchbrief.reports.charts.chart import ChartPoint, Trace
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import NBSP, Scale, automatic, decimals_for, in_column
from benchbrief.results.query import defuse_formula

_AS_IT_IS = Scale(1.0, "")


@dataclass(frozen=True)
class Detail:
    """A measured point in base units. `key` is its place along the dimension of the series.

    `repeats` counts the repeats with a result, and `cells` has the ids of their cells. `x` is a curve's other value,
    and `mark` the mark of its point.
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
    """Its place in the file of the figure's data: an amount in base units, without its unit."""
    left_out: bool = False
    """Whether no run has its combination of levels: a line breaks there, and data have no row."""


@dataclass(frozen=True)
class DrawnSeries:
    """A series: its label in words, its trace (in base units at first, in axis units in a Drawing), and its points."""

    series: plan.Series
    label: str
    trace: Trace
    details: tuple[Detail, ...]
    panel: str = ""
    y: Scale = _AS_IT_IS
    x: Scale = _AS_IT_IS
    named: bool = False
    """Whether its name says its value."""
    along: str = ""
    """The dimension of its points' keys."""

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
    def searched(self) -> bool:
        """Whether its values come from searched rates."""
        return any(read.view == "sustained" for read in self.series.query.reads or ())

    @property
    def unit(self) -> str:
        """The unit of its values on their axis."""
        return (self.x.unit or self.series.query.unit) if self.upright else self.y.unit


def event_rules(
    figure: plan.FigureElement, panels: Sequence[plan.LabelledKey | None], results: Results
) -> Iterator[DrawnSeries]:
    """Yield a rule for each event of the cells behind a figure whose x axis is time, in each panel.

    Events of several cells at one time and with one label are one.
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


def value_writers(drawn: Sequence[DrawnSeries]) -> list[Callable[[float], str]]:
    """Return a function for each series that writes its values: with equal decimals on one axis; for a mark or whole
    counts, each number by itself."""
    axes = {
        right: column_writer(
            [p.y for d in drawn if d.trace.right == right and d.trace.mark != "rule" for p in d.trace.points]
        )
        for right in (False, True)
    }
    alone = [d.trace.mark == "rule" or d.trace.whole for d in drawn]
    return [automatic if one else axes[d.trace.right] for one, d in zip(alone, drawn, strict=True)]


def column_writer(values: Iterable[float | None]) -> Callable[[float], str]:
    """Return a function that writes numbers with the same decimals, to be compared."""
    decimals = decimals_for(values)
    return lambda value: in_column(value, decimals)


def figure_csv(
    drawn: Sequence[DrawnSeries],
    figure: plan.FigureElement,
    mark: str = "",
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return CSV (RFC 4180) with a head. Missing values are empty. `repeats` and `cells` (separated by blanks) are
    those behind a value; `low` and `high` the ends of its interval over repeats, in its unit. `remarks`, by cells, are
    a column where values have some: searched rates that are only known from below. A `mark` (`simulated`,
    `imported`) is a last column of `true`, as in other exports, since the file is read apart from its brief."""
    x_dim = next((d.along for d in drawn if d.along), "point")
    curve = any(d.series.x_query for d in drawn)
    out = io.StringIO()
    writer = csv.writer(out)
    panel = [figure.panel_dim] if figure.panel_dim else []
    x_head = ["x", "x_unit"] if curve else []
    marks = [mark] if mark else []
    said = {id(d): _remarked(d, remarks) for drawing in drawn for d in drawing.details if drawing.searched}
    head = ["remarks"] if any(said.values()) else []
    writer.writerow(
        [*panel, "series", x_dim, *x_head, "value", "unit", "low", "high", "repeats", "cells", *head, *marks]
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
    """Return a number in full, or a text that no spreadsheet computes; "" for a missing value."""
    if isinstance(value, str):
        return defuse_formula(value.replace(NBSP, " "))
    return "" if value is None else repr(value) if isinstance(value, float) else value
