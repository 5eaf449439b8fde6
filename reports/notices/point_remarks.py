"""What a reader must know of the points behind a table, a figure or a text, and its labels do not say: the one point
that brackets have fixed, and the candidates of an adaptive ramp that were not measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from benchbrief.model import plan as p
from benchbrief.reports.charts.chart import Chart
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.report_data import CellRow, Results, reads_of
from benchbrief.reports.text.number_format import points
from benchbrief.reports.words.brief_words import counted

_BRACKETS = re.compile(r"\[([^\]]*)\]")
_WORD = re.compile(r"\w+")


def table_remarks(element: p.TableElement, results: Results) -> Iterator[str]:
    shown = [line.query for line in element.lines if line.query]
    labels = [element.title, *(key.label for key in element.keys)]
    labels += [readable_label(label, results.words) for line in element.lines for label in (line.label, *line.heads)]
    if len(shown) == len(element.lines):
        yield from _fixed(shown, " ".join(labels), results)
    yield from not_chosen(shown, results)


def figure_remarks(element: p.FigureElement, charts: Iterable[Chart], results: Results) -> Iterator[str]:
    """The axis of a line chart marks the candidates that were not measured itself."""
    queries = [query for series in element.series for query in (series.query, series.x_query) if query]
    shown = [element.title, element.x_label, *(key.label for keys in element.keys.values() for key in keys)]
    shown += [readable_label(series.label, results.words) for series in element.series]
    yield from _fixed(queries, " ".join(shown), results)
    if not any(chart.x.open for chart in charts):
        yield from not_chosen(queries, results)


def _fixed(queries: Sequence[p.Query], shown: str, results: Results) -> Iterator[str]:
    """Say at which point all values are, as far as nothing that is `shown` beside them says so."""
    found = [*_loads(queries, results), *_places(queries, results)]
    if unshown := [text for text in found if text.casefold() not in shown.casefold()]:
        yield results.words["at_fixed"].format(points=results.words.locale.listed(unshown))


def _loads(queries: Sequence[p.Query], results: Results) -> Iterator[str]:
    for dim in ("threads", "target"):
        keys = {tuple(read.keys.get(dim, ())) for query in queries for read in reads_of(query)}
        if len(keys) == 1 and len(only := next(iter(keys))) == 1:
            behind = {cell.experiment for query in queries for cell in results.cells_behind(query)}
            ramps = [results.plan.experiments[name] for name in behind]
            if any(ramp.axis == dim and len(ramp.points) > 1 for ramp in ramps):
                yield counted(results.words, f"at_{dim}", float(only[0]))


def _places(queries: Sequence[p.Query], results: Results) -> Iterator[str]:
    """Yield the hardware and the workload that are written in the brackets of every query."""
    plan = results.plan
    written = [set(_WORD.findall(" ".join(_BRACKETS.findall(query.text)))) for query in queries]
    labels = {
        "hardware": {key: hardware.label for key, hardware in plan.hardware.items()},
        "workload": {key: workload.label for key, workload in plan.workloads.items()},
    }
    for dim in ("hardware", "workload"):
        keys = {tuple(read.keys.get(dim, ())) for query in queries for read in reads_of(query)}
        if len(keys) == 1 and len(only := next(iter(keys))) == 1 and str(only[0]) in labels[dim]:
            name = str(only[0])
            if len(labels[dim]) > 1 and all(name.rpartition(".")[2] in each for each in written):
                yield labels[dim][name]


def not_chosen(queries: Iterable[p.Query], results: Results) -> Iterator[str]:
    """Say of each adaptive ramp behind the values which of its candidates were measured, where some were not and the
    values are of several points of it."""
    behind: dict[str, dict[str, CellRow]] = {}
    for query in queries:
        for cell in results.cells_behind(query):
            if results.plan.experiments[cell.experiment].adaptive:
                behind.setdefault(cell.experiment, {})[cell.cell_id] = cell
    for name, cells in behind.items():
        ramp = results.plan.experiments[name]
        curves: dict[tuple[str, str], dict[float, set[bool]]] = {}
        for cell in cells.values():
            point = float(getattr(cell, ramp.axis))
            curves.setdefault((cell.hardware, cell.workload), {}).setdefault(point, set()).add(cell.status != "skipped")
        of = {point for curve in curves.values() for point in curve}
        measured = {tuple(sorted(point for point in curve if any(curve[point]))) for curve in curves.values()}
        if len(of) < 2 or all(len(each) == len(of) for each in measured):
            continue
        axis = results.words.get(ramp.axis, ramp.axis).lower()
        same = len(measured) == 1
        listed = points(next(iter(measured))) if same else points(sorted({len(each) for each in measured}))
        key = "ramp_chosen" if same else "ramp_chosen_apart"
        yield results.words[key].format(axis=axis, points=listed, of=len(of))
