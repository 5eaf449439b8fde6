"""The figures of a run's reports as altair charts, drawn as in the brief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.charts.chart_layers import altair_chart
from benchbrief.reports.charts.draw_chart import FULL, height_for
from benchbrief.reports.data.elements_with_data import keep_elements_with_data
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words_of
from benchbrief.reports.words.locale_formats import written_as
from benchbrief.results.query.export import mark_of
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

    from benchbrief.results.store.store import Store

_FONT = "sans-serif"


class Figure(NamedTuple):
    """A figure of a report. `number` is the one in the brief, `report` the name of its report."""

    report: str
    number: int
    title: str


def figures_in(plan: p.Plan, store: Store) -> Iterator[tuple[Figure, p.FigureElement]]:
    """Yield the figures of each report, in reading order, as the brief numbers them."""
    for report in plan.reports:
        elements = keep_elements_with_data(report.elements, Results(plan, store, words_of(report)))
        for number, element in enumerate(_figures(elements), start=1):
            yield Figure(report.name, number, element.title), element


def _figures(elements: Sequence[p.Element]) -> Iterator[p.FigureElement]:
    for element in elements:
        if isinstance(element, p.FigureElement):
            yield element
        elif isinstance(element, p.SectionElement):
            yield from _figures(element.elements)


def drawn_figure(figure: Figure, element: p.FigureElement, plan: p.Plan, store: Store) -> LayerChart | ConcatChart:
    """Return the figure as a chart. Raises ResultsError when none of its points has a value."""
    report = next(report for report in plan.reports if report.name == figure.report)
    words = words_of(report)
    with written_as(words.locale):
        found = drawing(element, Results(plan, store, words))
        if not found.charts:
            why = "; ".join(found.notes) or "no cell of it is good"
            raise ResultsError(f"figure {figure.number}, {figure.title!r}, has no value", why)
        mark = mark_of(store)
        title = f"{figure.title} ({mark})" if mark else figure.title
        return altair_chart(found.charts, FULL[0], height_for(found.charts), _FONT, title)
