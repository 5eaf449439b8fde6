"""A brief over imported results: the published metrics."""

from __future__ import annotations

from markupsafe import Markup, escape

from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.numbers_file import Printed
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Cell, Head, Row, TableView
from benchbrief.reports.provenance.number_ledger import Ledger
from benchbrief.reports.view.table_heads import Room, head_rows, parts_of
from benchbrief.reports.words.brief_words import Words


def published_table(results: Results, ledger: Ledger, number: int, room: Room) -> TableView | None:
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
            Head(each.label, numeric=False), (_cell(each.text), *([_computed(each, ledger, words)] if computed else []))
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
