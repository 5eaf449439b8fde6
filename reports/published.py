"""What a brief over imported results shows: the metrics as they were published, and of its elements those that tell
something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup, escape

from benchbrief.compiler import plan as p
from benchbrief.reports import imported
from benchbrief.reports.ledger import Ledger
from benchbrief.reports.numbers import Printed
from benchbrief.reports.source import Results
from benchbrief.reports.tables import table_queries
from benchbrief.reports.view import Cell, Head, Row, TableView
from benchbrief.reports.words import Words


def telling(elements: Sequence[p.Element], results: Results) -> tuple[p.Element, ...]:
    """The elements; over imported results, without those of whose numbers none was imported.

    A section goes with its figures and tables: what is left of it are texts on them.
    """
    if not imported.is_imported(results):
        return tuple(elements)
    return tuple(left for element in elements if (left := _telling(element, results)))


def _telling(element: p.Element, results: Results) -> p.Element | None:
    if isinstance(element, p.SectionElement):
        left = telling(element.elements, results)
        shows = any(not isinstance(each, p.TextElement) for each in left)
        if not left or (not shows and len(left) < len(element.elements)):
            return None
        return element.model_copy(update={"elements": left})
    if isinstance(element, p.CalloutElement):
        table = element.table if element.table and _known(_queries(element.table), results) else None
        prose = element.prose if element.prose and _known(_of_prose(element.prose), results) else None
        return element.model_copy(update={"table": table, "prose": prose}) if table or prose else None
    return element if _known(_queries(element), results) else None


def _known(queries: Iterable[p.Query], results: Results) -> bool:
    """Whether some of what is measured has a value; what is only declared tells nothing by itself."""
    measured = [query for query in queries if results.cells_behind(query)]
    return not measured or any(v is not None for query in measured for v in results.rows(query).values())


def _queries(element: p.Element) -> Iterator[p.Query]:
    if isinstance(element, p.TextElement):
        yield from _of_prose(element.prose)
    elif isinstance(element, p.TableElement):
        yield from table_queries(element)
    elif isinstance(element, p.FigureElement):
        yield from (series.query for series in element.series)
    elif isinstance(element, p.FormulaElement):
        yield element.result


def _of_prose(prose: p.Prose) -> Iterator[p.Query]:
    for part in prose.parts:
        if isinstance(part, p.Value):
            yield part.query
            yield from [part.high] if part.high else []


def parted(elements: Sequence[p.Element]) -> tuple[Sequence[p.Element], Sequence[p.Element]]:
    """The texts and boxes that a brief begins with, and what follows them."""
    at = next(
        (i for i, each in enumerate(elements) if not isinstance(each, p.TextElement | p.CalloutElement)), len(elements)
    )
    return elements[:at], elements[at:]


def table(results: Results, ledger: Ledger, number: int) -> TableView | None:
    """The metrics that the source tells, beside what the imported figures give for them; None where it tells none.

    What is computed is entered as all other numbers are; what is told has no other origin than its source.
    """
    words, told = results.words, list(imported.published(results))
    if not told:
        return None
    computed = any(each.query for each in told)
    ledger.at(f"{words['table']} {number}")
    columns = [Head(words["published"]), *([Head(words["published_computed"])] if computed else [])]
    rows = [
        Row(
            Head(each.label, numeric=False), (_cell(each.told), *([_computed(each, ledger, words)] if computed else []))
        )
        for each in told
    ]
    title, corner = words["published_values"], words["published_metric"]
    return TableView(number, title, corner, tuple(columns), tuple(rows), (), None, ())


def _computed(of: imported.Published, ledger: Ledger, words: Words) -> Cell:
    if of.query is None:
        return _cell("")
    printed = Printed(by="amount", significant=4, to=words["to"])
    shown = ledger.number(of.query, printed, high=of.high, at=of.at)
    return Cell(shown.html(), True, shown.cells)


def _cell(text: str) -> Cell:
    return Cell(Markup(escape(text or "–")), numeric=True)  # noqa: S704  # escaped just there
