"""Prepares a table of the plan before its cells are written: its points, its scales, and its queries to the store."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.model.precision import magnitude
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import NumberSource
from benchbrief.reports.text.number_format import Scale, decimals_for, node_decimals, scale_for, whole_nodes

_FIXED = re.compile(r"\b(threads|target)\s*:")
"""Matches a load in brackets, with which an author asks for one point of a ramp."""


def drop_undue(element: p.TableElement, results: Results) -> p.TableElement:
    """Return the table without lines and keys for points of a ramp at which no value is expected."""
    due = tuple(line for line in element.lines if not (line.query and _is_not_needed(line.query, results)))
    element = element.model_copy(update={"lines": due or element.lines})
    queries = [line.query for line in element.lines if line.query]
    if element.dim not in ("threads", "target") or not queries:
        return element
    kept = [
        index
        for index, key in enumerate(element.keys)
        if not all(results.not_due(query, **{element.dim: key.value}) for query in queries)
    ]
    lines = tuple(_at_keys(line, kept) for line in element.lines)
    return element.model_copy(update={"keys": tuple(element.keys[i] for i in kept), "lines": lines})


class ShownTable(NamedTuple):
    """A table reduced to the lines and keys with expected values. Lines and keys without any value
    are kept separately."""

    table: p.TableElement
    lines: tuple[p.Line, ...] = ()
    keys: tuple[p.LabelledKey, ...] = ()


def shown_table(element: p.TableElement, results: Results) -> ShownTable:
    """Return the lines and keys that a table shows. A table without any value shows all of them."""
    due = drop_undue(element, results)
    values = [[_has_value(line, at, due, results) for at in range(len(due.keys))] for line in due.lines]
    lines = [at for at, row in enumerate(values) if any(row)]
    keys = [at for at in range(len(due.keys)) if any(row[at] for row in values)]
    if not lines or (len(lines) == len(due.lines) and len(keys) == len(due.keys)):
        return ShownTable(due)
    shown = {
        "keys": tuple(due.keys[at] for at in keys),
        "lines": tuple(_at_keys(due.lines[at], keys) for at in lines),
    }
    return ShownTable(
        due.model_copy(update=shown),
        tuple(line for at, line in enumerate(due.lines) if at not in lines),
        tuple(key for at, key in enumerate(due.keys) if at not in keys),
    )


def is_empty(element: p.TableElement, results: Results) -> bool:
    """Return whether a table has no value at all."""
    due = drop_undue(element, results)
    return not any(_has_value(line, at, due, results) for line in due.lines for at in range(len(due.keys)))


def _has_value(line: p.Line, at: int, table: p.TableElement, results: Results) -> bool:
    """Return whether a line has a value at a key. A text with numbers has a value unless all of its numbers are
    missing."""
    if line.query:
        return results.at(line.query, **{table.dim: table.keys[at].value}) is not None
    queries = list(queries_of_prose(line.texts[at]))
    return any(results.at(query) is not None for query in queries) if queries else bool(line.texts[at].parts)


def _at_keys(line: p.Line, keys: Sequence[int]) -> p.Line:
    return line.model_copy(update={"texts": tuple(line.texts[at] for at in keys)}) if line.texts else line


def _is_not_needed(query: p.Query, results: Results) -> bool:
    return not _FIXED.search(query.text) and results.not_needed(query)


@dataclass(frozen=True)
class Column:
    """How a table writes the numbers of a unit: their scale and decimals, and the smallest and largest of them in that
    scale."""

    scale: Scale
    decimals: int
    least: float = math.inf
    greatest: float = 0.0

    def compares(self, other: Column) -> bool:
        """Return whether readers may compare the numbers of both columns: they have the same scale, and their ranges
        overlap."""
        return self.scale == other.scale and self.least <= other.greatest and other.least <= self.greatest


class Columns:
    """The columns of all tables of a report. Numbers that readers may compare have the same number of decimals."""

    def __init__(self, elements: Sequence[p.Element], results: Results) -> None:
        self._results = results
        tables = [drop_undue(table, results) for table in tables_of(elements)]
        self._all = [column for table in tables for column in self._own(table).values()]

    def of(self, table: p.TableElement) -> dict[str, Column]:
        """Return a column for each unit of a table, leaving out lines with their own format."""
        return {
            unit: replace(own, decimals=max(other.decimals for other in (own, *filter(own.compares, self._all))))
            for unit, own in self._own(table).items()
        }

    def decimals_beside(self, values: Iterable[float | None], scale: Scale) -> int:
        """Return the decimals for a figure's numbers in `scale`. They are as many as in the tables that a reader
        compares the figure with. Without such a table, they are enough for three digits of the smallest number."""
        own = _of_sizes(scale, values)
        tables = [other.decimals for other in filter(own.compares, self._all)]
        fewer = max(0, 2 - magnitude(own.least)) if math.isfinite(own.least) else 0
        return max(own.decimals, *tables) if tables else min(own.decimals, fewer)

    def _own(self, table: p.TableElement) -> dict[str, Column]:
        """Return a column for each unit, with one scale and one number of decimals for all lines in that unit."""
        by_unit: dict[str, list[float | None]] = {}
        for line in table.lines:
            if line.query and not line.format:
                found = by_unit.setdefault(line.query.unit, [])
                found += [self._results.at(line.query, **{table.dim: key.value}) for key in table.keys]
        return {unit: _column(values, unit) for unit, values in by_unit.items()}


def _column(values: Iterable[float | None], unit: str) -> Column:
    values = [value and whole_nodes(value, unit) for value in values]
    scale = scale_for(values, unit)
    column = _of_sizes(scale, (scale(value) for value in values if value))
    return replace(column, decimals=node_decimals(values)) if unit == "nodes" else column


def _of_sizes(scale: Scale, values: Iterable[float | None]) -> Column:
    """Return the column for values that are already in `scale`."""
    sizes = [abs(value) for value in values if value]
    return Column(scale, decimals_for(sizes), min(sizes, default=math.inf), max(sizes, default=0.0))


def tables_of(elements: Iterable[p.Element]) -> Iterable[p.TableElement]:
    for element in elements:
        match element:
            case p.TableElement():
                yield element
            case p.CalloutElement(table=p.TableElement() as table):
                yield table
            case p.SectionElement():
                yield from tables_of(element.elements)


def table_queries(element: p.TableElement) -> Iterable[p.Query]:
    for line in element.lines:
        if line.query:
            yield line.query
        for text in line.texts:
            yield from queries_of_prose(text)


def queries_of_prose(prose: p.Prose) -> Iterable[p.Query]:
    for part in prose.parts:
        if isinstance(part, p.Value):
            yield part.query
            yield from [part.high] if part.high else []


def is_of_sizes(elements: Iterable[p.Element]) -> bool:
    """Return whether a headline has only sizes of loaded data."""
    headlines = [each for each in elements if isinstance(each, p.HeadlineElement)]
    numbers = [number for each in headlines for number in each.numbers if isinstance(number, p.HeadlineNumber)]
    queries = [query for one in numbers for prose in (one.value, one.text) for query in queries_of_prose(prose)]
    measures = {read.measure for each in queries for read in each.reads or ()}
    return measures == {"database.size_loaded"} and all(each.reads for each in queries)


def sources_of(queries: Iterable[p.Query]) -> Iterable[NumberSource]:
    seen = set()
    for query in queries:
        if query.sql not in seen:
            seen.add(query.sql)
            yield NumberSource(query.text, query.sql)


def has(kind: type[p.Element], elements: Iterable[p.Element]) -> bool:
    return any(isinstance(e, kind) or (isinstance(e, p.SectionElement) and has(kind, e.elements)) for e in elements)


def facts_elements(elements: Iterable[p.Element]) -> Iterator[p.FactsElement]:
    """Yield the tables of facts, including those inside sections."""
    for element in elements:
        if isinstance(element, p.SectionElement):
            yield from facts_elements(element.elements)
        elif isinstance(element, p.FactsElement):
            yield element


def keep_elements_with_data(elements: Sequence[p.Element], results: Results) -> tuple[p.Element, ...]:
    """Return the elements that have data.

    Left out are: elements whose numbers were not imported; figures whose lines have only one point each, if other
    figures show these points; and tables of published values, if the source states none. A section whose figures and
    tables are all left out is dropped too, unless its text has numbers of its own.
    """
    imported = imported_briefs.is_imported(results)
    if not has(p.PublishedElement, elements) and not imported:
        return tuple(elements)
    again = _shown_elsewhere(elements, results) if imported else ()
    return _telling_ones(elements, results, again)


def _telling_ones(
    elements: Sequence[p.Element], results: Results, again: Collection[p.FigureElement]
) -> tuple[p.Element, ...]:
    return tuple(left for element in elements if (left := _telling(element, results, again)))


def _shown_elsewhere(elements: Sequence[p.Element], results: Results) -> Sequence[p.FigureElement]:
    """Return the figures that need no table of their own, because each of their lines has one point, and other figures
    show it, too."""

    def values(figure: p.FigureElement) -> set[tuple[str, float]]:
        measured = [series.query for series in figure.series if results.cells_behind(series.query)]
        return {
            (query.unit, value) for query in measured for value in results.rows(query).values() if value is not None
        }

    figures = list(p.figures_in(elements))
    shown = {id(figure): values(figure) for figure in figures}
    for figure in figures:
        lines = [series for series in figure.series if series.mark == "line" and not series.is_ideal]
        others = {value for place, its in shown.items() if place != id(figure) for value in its}
        if lines and all(_has_one_point(series, results) for series in lines) and shown[id(figure)] <= others:
            del shown[id(figure)]
    return [figure for figure in figures if id(figure) not in shown]


def _has_one_point(series: p.Series, results: Results) -> bool:
    """Return whether all values of a series are at one place along its axis."""
    if series.x_dim is None or series.x_dim not in series.query.dims:
        return False
    at = series.query.dims.index(series.x_dim)
    return len({keys[at] for keys, value in results.rows(series.query).items() if value is not None}) <= 1


def _telling(element: p.Element, results: Results, again: Collection[p.FigureElement]) -> p.Element | None:
    if any(element is figure for figure in again):
        return None
    if isinstance(element, p.PublishedElement):
        return element if any(imported_briefs.published(results)) else None
    if not isinstance(element, p.SectionElement) and not imported_briefs.is_imported(results):
        return element
    if isinstance(element, p.SectionElement):
        left = _telling_ones(element.elements, results, again)
        shows = any(not isinstance(each, p.TextElement) or _has_numbers(each, results) for each in left)
        if not left or (not shows and len(left) < len(element.elements)):
            return None
        return element.model_copy(update={"elements": left})
    if isinstance(element, p.HeadlineElement):
        numbers = tuple(
            each
            for each in element.numbers
            if isinstance(each, p.Said) or _known(queries_of_prose(each.value), results)
        )
        return element.model_copy(update={"numbers": numbers}) if numbers else None
    if isinstance(element, p.CalloutElement):
        table = element.table if element.table and _known(_queries(element.table), results) else None
        prose = element.prose if element.prose and _known(queries_of_prose(element.prose), results) else None
        return element.model_copy(update={"table": table, "prose": prose}) if table or prose else None
    return element if _known(_queries(element), results) else None


def _known(queries: Iterable[p.Query], results: Results) -> bool:
    """Return whether a measured part has a value. Declared values do not count."""
    measured = [query for query in queries if results.cells_behind(query)]
    return not measured or any(v is not None for query in measured for v in results.rows(query).values())


def _has_numbers(text: p.TextElement, results: Results) -> bool:
    """Return whether the text has numbers from the imported figures, and none of these numbers is missing."""
    measured = [query for query in queries_of_prose(text.prose) if results.cells_behind(query)]
    return bool(measured) and all(results.at(query) is not None for query in measured)


def _queries(element: p.Element) -> Iterator[p.Query]:
    if isinstance(element, p.TextElement):
        yield from queries_of_prose(element.prose)
    elif isinstance(element, p.TableElement):
        yield from table_queries(element)
    elif isinstance(element, p.FigureElement):
        yield from (series.query for series in element.series)
    elif isinstance(element, p.FormulaElement):
        yield element.result


_FIRST = (p.HeadlineElement, p.TextElement, p.CalloutElement)


def split_brief(elements: Sequence[p.Element]) -> tuple[Sequence[p.Element], Sequence[p.Element]]:
    """Return the opening texts and boxes of a brief, and all its other elements."""
    at = next((i for i, each in enumerate(elements) if not isinstance(each, _FIRST)), len(elements))
    return elements[:at], elements[at:]


def without_disclosure(elements: Sequence[p.Element]) -> Sequence[p.Element]:
    """Return the elements without the placeholder for the disclosure, and without a section that had nothing else in
    it."""
    found = list[p.Element]()
    for element in elements:
        if isinstance(element, p.SectionElement) and has(p.DisclosureElement, element.elements):
            left = tuple(without_disclosure(element.elements))
            found += [element.model_copy(update={"elements": left})] if left else []
        elif not isinstance(element, p.DisclosureElement):
            found.append(element)
    return found
