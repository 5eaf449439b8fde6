"""The footnotes under the blocks of a report: each text once under its block, numbered through the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.data.report_data import Key, Results
from benchbrief.reports.data.view_model import Note
from benchbrief.reports.disclosure import power_meters
from benchbrief.reports.notices.number_cautions import Cautions
from benchbrief.reports.notices.point_remarks import not_chosen


class Footnotes:
    """Gathers the footnotes of the current block until they are taken."""

    def __init__(self, results: Results) -> None:
        self.cautions = Cautions(results)
        self._results = results
        self._count = 0
        self._pending: dict[str, Note] = {}

    def note(self, text: str) -> int:
        """Return the number of the footnote with this text under the current block."""
        if text not in self._pending:
            self._count += 1
            self._pending[text] = Note(self._count, text)
        return self._pending[text].number

    def numbered(self, texts: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.note(text) for text in dict.fromkeys(texts))

    def tell_boundaries(self, queries: Iterable[p.Query]) -> None:
        """Add a footnote to numbers whose watts are not those of whole machines."""
        if any(map(power_meters.is_of_power, queries)):
            for text in power_meters.cpu_packages_only(self._results):
                self.note(text)

    def quoted(self, query: p.Query, **where: Key) -> Sequence[str]:
        """Return the footnote of a published value in the place of a computed one; nothing for others."""
        return [self._results.words["as_published"]] if self._results.is_quoted(query, **where) else []

    def tell_quoted(self, queries: Iterable[p.Query]) -> None:
        """Add a footnote to a drawing of published values in the place of computed ones."""
        self.numbered(text for query in queries for text in self.quoted(query))

    def tell_cautions(self, queries: Iterable[p.Query]) -> None:
        """Add footnotes for the values of a drawing or a worked example."""
        queries = list(queries)
        self.numbered(text for query in queries for text in (*self.cautions.of(query), *self.cautions.at(query)))

    def of_text(self, queries: Sequence[p.Query]) -> Iterator[str]:
        """Yield the cautions of a number in a text, and which points of an adaptive ramp it is over."""
        for query in queries:
            yield from self.cautions.in_text(query)
        yield from not_chosen(queries, self._results)

    def taken(self) -> tuple[Note, ...]:
        """Return the footnotes of the current block, and begin the next block."""
        found, self._pending = tuple(self._pending.values()), {}
        return found
