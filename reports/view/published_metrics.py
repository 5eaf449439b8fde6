"""A brief over imported results: the published metrics, and the elements that still have contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup, escape

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.provenance.number_ledger import Ledger
from benchbrief.reports.provenance.numbers_file import Printed
from benchbrief.reports.view import imported_briefs
from benchbrief.reports.view.report_data import Results
from benchbrief.reports.view.table_heads import Room, head_rows, parts_of
from benchbrief.reports.view.tables import queries_of_prose, table_queries
from benchbrief.reports.view.view_model import Cell, Head, Row, TableView
from benchbrief.reports.words.brief_words import Words


def telling(elements: Sequence[p.Element], results: Results) -> tuple[p.Element, ...]:
    """Return the elements, without those whose numbers were not imported.

    A section goes with its figures and tables, unless one of its texts has numbers of its own.
    """
    if not imported_briefs.is_imported(results):
        return tuple(elements)
    return tuple(left for element in elements if (left := _telling(element, results)))


def _telling(element: p.Element, results: Results) -> p.Element | None:
    if isinstance(element, p.SectionElement):
        left = telling(element.elements, results)
        shows = any(not isinstance(each, p.TextElement) or _tells_numbers(each, results) for each in left)
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


def _tells_numbers(text: p.TextElement, results: Results) -> bool:
    """Return whether it has numbers of the imported figures, and all that it needs."""
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


def parted(elements: Sequence[p.Element]) -> tuple[Sequence[p.Element], Sequence[p.Element]]:
    """Split a brief into its first texts and boxes, and the rest."""
    at = next(
        (i for i, each in enumerate(elements) if not isinstance(each, p.TextElement | p.CalloutElement)), len(elements)
    )
    return elements[:at], elements[at:]


def table(results: Results, ledger: Ledger, number: int, room: Room) -> TableView | None:
    """Return the metrics of the source beside those computed from the imported figures; None without any.

    Computed numbers are entered as all others; the published ones have only their source.
    """
    words, metrics = results.words, list(imported_briefs.published(results))
    if not metrics:
        return None
    computed = any(each.query for each in metrics)
    ledger.at(f"{words['table']} {number}")
    columns = [Head(words["published"]), *([Head(words["published_computed"])] if computed else [])]
    rows = [
        Row(
            Head(each.label, numeric=False), (_cell(each.told), *([_computed(each, ledger, words)] if computed else []))
        )
        for each in metrics
    ]
    title, corner = words["published_values"], words["published_metric"]
    parts = parts_of(corner, columns, rows, room)
    return TableView(number, title, corner, tuple(columns), tuple(rows), (), None, (), head_rows(columns), parts)


def _computed(of: imported_briefs.Published, ledger: Ledger, words: Words) -> Cell:
    if of.query is None:
        return _cell("")
    printed = Printed(by="amount", significant=4, to=words["to"])
    shown = ledger.number(of.query, printed, high=of.high, at=of.at)
    return Cell(shown.html(), True, shown.cells)


def _cell(text: str) -> Cell:
    return Cell(Markup(escape(text or "–")), numeric=True)  # noqa: S704  # escaped just there
