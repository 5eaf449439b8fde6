"""The elements of a brief over imported results that still have contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tables import queries_of_prose, table_queries


def keep_elements_with_data(elements: Sequence[p.Element], results: Results) -> tuple[p.Element, ...]:
    """Return the elements, without those whose numbers were not imported.

    A section goes with its figures and tables, unless one of its texts has numbers of its own.
    """
    if not imported_briefs.is_imported(results):
        return tuple(elements)
    return tuple(left for element in elements if (left := _telling(element, results)))


def _telling(element: p.Element, results: Results) -> p.Element | None:
    if isinstance(element, p.SectionElement):
        left = keep_elements_with_data(element.elements, results)
        shows = any(not isinstance(each, p.TextElement) or _has_numbers(each, results) for each in left)
        if not left or (not shows and len(left) < len(element.elements)):
            return None
        return element.model_copy(update={"elements": left})
    if isinstance(element, p.CalloutElement):
        table = element.table if element.table and _known(_queries(element.table), results) else None
        prose = element.prose if element.prose and _known(queries_of_prose(element.prose), results) else None
        return element.model_copy(update={"table": table, "prose": prose}) if table or prose else None
    return element if _known(_queries(element), results) else None


def _known(queries: Iterable[p.Query], results: Results) -> bool:
    """Return whether a measured part has a value; declared values don't count."""
    measured = [query for query in queries if results.cells_behind(query)]
    return not measured or any(v is not None for query in measured for v in results.rows(query).values())


def _has_numbers(text: p.TextElement, results: Results) -> bool:
    """Return whether the text has numbers of the imported figures, and lacks none."""
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


def split_brief(elements: Sequence[p.Element]) -> tuple[Sequence[p.Element], Sequence[p.Element]]:
    """Split a brief into its first texts and boxes, and the rest."""
    at = next(
        (i for i, each in enumerate(elements) if not isinstance(each, p.TextElement | p.CalloutElement)), len(elements)
    )
    return elements[:at], elements[at:]
