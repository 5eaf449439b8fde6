"""Records the origin of each number of a brief while the brief is built, for its appendix and its side file."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from html import escape
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import plan as p
from benchbrief.model.plan import DimKey, Levels
from benchbrief.model.points import Curve
from benchbrief.model.precision import printing
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.numbers_file import (
    Backlink,
    CellEntry,
    FigureEntry,
    MeasurementLine,
    NumberEntry,
    NumbersFile,
    PrintedBy,
    ProvenanceView,
    QueryEntry,
    RawFile,
    SeriesEntry,
    SourceLine,
)
from benchbrief.reports.data.place_labels import system_heading, system_label
from benchbrief.reports.data.report_data import NOT_PUBLISHED, ReportedCell, Results, run_row
from benchbrief.reports.notices.open_searches import open_searches
from benchbrief.reports.text.number_format import fixed, points
from benchbrief.reports.words.brief_words import counted

if TYPE_CHECKING:
    from benchbrief.reports.data.report_data import AskedStore

LISTED = 5000
"""The most raw outputs that a page lists. More of them would make a browser slow, and the side file has them all."""


def each_entry(store: AskedStore) -> Iterator[tuple[str, CellEntry]]:
    """Yield each cell with the raw outputs of the attempt that counts. Raises ReportError.

    While the cells are read, the store allows no other query.
    """
    text = "SELECT cell_id, cell_hash, status, coalesce(reused_from, run_id), attempt FROM cells"
    with store.each(text) as rows:
        left = {cell: (digest, sys.intern(status), sys.intern(run), n) for cell, digest, status, run, n in rows}
    # A table keeps the order in which it was written: each cell's files are together.
    with store.each("SELECT cell_id, attempt, path, sha256 FROM files") as rows:
        for cell, files in groupby(rows, key=itemgetter(0)):
            if cell not in left:
                raise ReportError(f"the table of files names {cell} twice, or out of place", "type `bench rebuild`")
            digest, status, run, counted = left.pop(cell)
            of_it = {
                path: sha256 for _, attempt, path, sha256 in sorted(files, key=itemgetter(2)) if attempt == counted
            }
            yield cell, CellEntry(hash=digest, status=status, run=run, attempt=counted, files=of_it)
    for cell, (digest, status, run, counted) in left.items():
        yield cell, CellEntry(hash=digest, status=status, run=run, attempt=counted, files={})


@dataclass(frozen=True)
class Outputs:
    """The raw outputs that a brief is based on. There are `count` of them, and the page lists `listed`. `manifests` has
    the number of each measurement's outputs and a joint digest of them."""

    count: int
    listed: tuple[RawFile, ...]
    manifests: Mapping[Hashable, tuple[int, str]]


def outputs_of(store: AskedStore, measurement: Mapping[str, Hashable]) -> Outputs:
    """Return the raw outputs of these cells, each of which must belong to a measurement. Raises ReportError."""
    count, listed = 0, list[RawFile]()
    lines: dict[Hashable, list[bytes]] = {}
    for cell, entry in each_entry(store):
        if cell not in measurement:
            continue
        count += len(entry.files)
        if count <= LISTED:
            listed += (RawFile(cell, path, digest) for path, digest in entry.files.items())
        lines.setdefault(measurement[cell], []).append(_lines(entry.files))
    manifests = {of: _manifest(b"".join(its)) for of, its in lines.items()}
    return Outputs(count, tuple(listed) if count <= LISTED else (), manifests)


def _lines(files: Mapping[str, str]) -> bytes:
    """Return the lines that `sha256sum` prints for the files. They are bytes, because bytes take half as much memory as
    text."""
    return "".join(f"{digest}  {path}\n" for path, digest in files.items()).encode()


def _manifest(lines: bytes) -> tuple[int, str]:
    """Return the number of files, and the digest of their lines in the order of their paths."""
    by_path = {line.partition(b"  ")[2]: line for line in lines.splitlines(keepends=True)}
    return len(by_path), hashlib.sha256(b"".join(by_path[path] for path in sorted(by_path))).hexdigest()


Detail = Literal["full", "compact", "none"]
"""The level of detail of the appendix (see `provenance` of a report)."""


@dataclass(frozen=True)
class LedgerNumber:
    """A recorded number: its text, and its identifier."""

    text: str
    id: str
    row: str
    cells: str
    expression: str

    def html(self, *, missing: bool = False) -> Markup:
        """Return the number with a link to its row of the appendix. Without an appendix, the number is in two nested
        elements, which distinguish it from other spans in a PDF."""
        kind = "num missing" if missing else "num"
        cells = f' data-cells="{escape(self.cells)}"' if self.cells else ""
        data = f'data-expression="{escape(self.expression)}"{cells}'
        if self.row:
            text = f'<a class="{kind}" id="{self.id}" href="#{self.row}" {data}>{escape(self.text)}</a>'
        else:
            text = f'<span class="{kind}" id="{self.id}" {data}><span>{escape(self.text)}</span></span>'
        return Markup(text)  # noqa: S704  # all of it escaped above


@dataclass
class _Row:
    """A row of the appendix: one computation from the same measurements or, in a compact appendix, all computations of
    one place."""

    number: int
    expressions: dict[str, None]
    cells: dict[str, None]
    links: dict[str, str] = field(default_factory=dict)
    """The places where the row's numbers are shown: labels with their anchors."""
    values: int = 0
    quoted: bool = True
    """Whether all values come from a publication, without a measurement."""

    @property
    def id(self) -> str:
        return f"source-{self.number}"


class Ledger:
    """Records the numbers of a brief. `at` is the element under construction, and `heading` is the heading of its
    section."""

    def __init__(self, results: Results, detail: Detail = "full") -> None:
        self._results = results
        self._detail = detail
        self._rows: dict[tuple[object, ...], _Row] = {}
        self._queries: dict[tuple[str, str], QueryEntry] = {}
        self.shows_percentiles = False
        self._numbers: list[NumberEntry] = []
        self._figures: list[FigureEntry] = []
        self._place = self._group = self._drawn_in = ""
        self.heading = ""

    def at(self, place: str, *, of_text: bool = False, drawn_in: str = "") -> None:
        """Set the current element to `place`, or to running text if `place` is "". With `of_text`, the numbers are in a
        claim or a note, which a compact appendix counts among the section's texts. With `drawn_in`, the numbers are
        within the drawing of this id, where they have no ids of their own.
        """
        self._place, self._group, self._drawn_in = place, "" if of_text else place, drawn_in

    # --- entries -------------------------------------------------------------------------------------------------

    def number(
        self,
        query: p.Query,
        printed: PrintedBy,
        *,
        high: p.Query | None = None,
        at: Mapping[str, DimKey] | None = None,
        letters: str = "",
    ) -> LedgerNumber:
        """Record a number of the current element, as printed."""
        at = {dim: key for dim, key in (at or {}).items() if dim in query.dims}
        value = self._results.at(query, **at)
        top = self._results.at(high, **at) if high else None
        doubt = self._results.doubt(query, high, at)
        text = printed.text(value, top, query.unit, ranged=high is not None)
        text = doubt.mark + text
        found = dict.fromkeys(c.cell_id for q in (query, high) if q for c in self._results.cells_behind(q, **at))
        quoted = self._results.is_quoted(query, **at)
        row = self._row((query.text,), self._cell_ids([query]), quoted=quoted)
        entry = self._query(query, row)
        number = NumberEntry(
            id=f"n{len(self._numbers) + 1}",
            place=self._place or "text",
            shown=text,
            value=value,
            high=top,
            query=entry.id,
            high_query=self._query(high, row).id if high else None,
            at=at,
            cells=tuple(found),
            remarks=tuple(
                dict.fromkeys(text for q in (query, high) if q for text in open_searches(self._results, q, at))
            ),
            bound=doubt.bound,
            decided=doubt.decided,
            printed=printed,
            letters=letters,
        )
        self._numbers.append(number)
        row.links.setdefault(self._place_in_text(text if value is not None else ""), self._drawn_in or number.id)
        row.values += 1
        return LedgerNumber(text, number.id, entry.source, " ".join(found), query.text)

    def _place_in_text(self, shown: str) -> str:
        """Return the place of a number in running text. This is the number itself unless it is missing."""
        words = self._results.words
        if self._detail == "compact":
            return self._group or self.heading or words["p_text"]
        return self._place or shown or words["p_missing"]

    def figure(self, id_: str, title: str, queries: Iterable[p.Query]) -> str:
        """Record a figure with everything that it draws, as one row of the appendix."""
        queries = list({query.sql: query for query in queries}.values())
        if not queries:
            return ""
        # A constant, such as that of a mark, is nobody's value. Beside quoted values it does not make the row ours.
        of_values = [query for query in queries if query.reads] or queries
        quoted = all(map(self._results.is_quoted, of_values))
        texts = tuple(dict.fromkeys(query.text for query in queries))
        row = self._row(texts, self._cell_ids(queries), figure=id_, quoted=quoted)
        row.links.setdefault(self._place, id_)
        series = tuple(
            SeriesEntry(
                query=self._query(query, row).id,
                rows=tuple((*keys, value) for keys, value in self._results.rows(query).items()),
            )
            for query in queries
        )
        self._figures.append(FigureEntry(id=id_, title=title, series=series))
        row.values = sum(len(each.rows) for each in series)
        return self._anchor(row)

    def _query(self, query: p.Query, row: _Row) -> QueryEntry:
        """Return the query's entry in the file. A query has an entry for each row of the appendix that it belongs
        to."""
        key = (row.id, query.sql)
        if key not in self._queries:
            cells = tuple(cell.cell_id for cell in self._results.cells_behind(query))
            self.shows_percentiles |= any(
                read.view == "latency" and read.statistic.startswith("p") for read in query.reads or ()
            )
            entry = QueryEntry(
                id=f"q{len(self._queries) + 1}",
                expression=query.text,
                sql=query.sql,
                dims=query.dims,
                unit=query.unit,
                cells=cells,
                source=self._anchor(row),
            )
            self._queries[key] = entry
        return self._queries[key]

    def _cell_ids(self, queries: Iterable[p.Query]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.cell_id for query in queries for cell in self._results.cells_behind(query)))

    def _row(
        self, expressions: tuple[str, ...], cells: tuple[str, ...], figure: str = "", *, quoted: bool = False
    ) -> _Row:
        """Return the row for a number. A figure has its own row, since it is drawn from several expressions."""
        shown_in = (self._group, self.heading if not self._group else "")
        measured = frozenset(self._measurement[cell] for cell in cells)
        key: tuple[object, ...] = shown_in if self._detail == "compact" else (expressions, measured, quoted)
        row = self._rows.setdefault((figure, *key), _Row(len(self._rows) + 1, {}, {}))
        row.expressions |= dict.fromkeys(expressions)
        row.quoted &= quoted
        row.cells |= dict.fromkeys(cells)
        return row

    def _anchor(self, row: _Row) -> str:
        return "" if self._detail == "none" else row.id

    @property
    def shows_measured(self) -> bool:
        """Whether any number or figure so far shows a measured value other than zero."""
        numbers = any(number.cells and number.value for number in self._numbers)
        measured = {entry.id for entry in self._queries.values() if entry.cells}
        series = (each for figure in self._figures for each in figure.series if each.query in measured)
        return numbers or any(row[-1] for each in series for row in each.rows)

    # --- what comes of them --------------------------------------------------------------------------------------

    def view(self, origin: Sequence[tuple[str, str]]) -> ProvenanceView:
        """Return the appendix: everything that all numbers share, a line for each source, and a line for each
        measurement."""
        if self._detail == "none":
            return ProvenanceView((), (), (), ())
        compact = self._detail == "compact"
        numbers = {of: at for at, of in enumerate(self._measurements, 1)}
        lines = [
            SourceLine(
                row.id,
                row.number,
                () if compact else tuple(row.expressions),
                () if row.quoted else tuple(_ranges(sorted({numbers[self._measurement[cell]] for cell in row.cells}))),
                tuple(Backlink(label, anchor) for label, anchor in row.links.items()),
                row.values,
                row.quoted,
            )
            for row in self._rows.values()
        ]
        outputs = outputs_of(self._results.store, {cell: self._measurement[cell] for cell in self._used})
        apart = tuple(
            self._line(at, cells, *outputs.manifests.get(of, (0, "")))
            for (of, cells), at in zip(self._measurements.items(), numbers.values(), strict=True)
        )
        places = {
            cell.cell_id: line.id
            for line, cells in zip(apart, self._measurements.values(), strict=True)
            for cell in cells
        }
        listed, others = ((), 0) if compact else (outputs.listed, outputs.count - len(outputs.listed))
        unlisted = fixed(others, 0) if others else ""
        system = system_heading({cell.levels for cell in self._results.cells}, self._results)
        return ProvenanceView(tuple(origin), tuple(lines), apart, listed, compact, places, unlisted, system)

    def file(self, report: p.Report, origin: Sequence[tuple[str, str]]) -> NumbersFile:
        run = run_row(self._results)
        journal = self._results.store.sql("SELECT journal_bytes, journal_sum FROM meta").rows
        journal_bytes, journal_sum = journal[0] if journal else (0, "")
        return NumbersFile(
            benchbrief=version("benchbrief"),
            report=report.name,
            title=report.title,
            language=report.language,
            locale=self._results.words.locale.name,
            units=dict(self._results.words.locale.units),
            printing=printing(),
            run=str(run["run_id"] or ""),
            kind=kind_of(self._results),
            plan_sha256=self._results.plan_sha256,
            provenance=self._detail,
            origin=tuple(origin),
            queries=tuple(self._queries.values()),
            numbers=tuple(self._numbers),
            figures=tuple(self._figures),
            cells={},
            journal_bytes=journal_bytes,
            journal_sum=journal_sum,
        )

    def cells(self) -> Iterator[tuple[str, CellEntry]]:
        """Yield the cells that all numbers come from. While they are read, the store allows no other query."""
        used = set(self._used)
        return ((cell, entry) for cell, entry in each_entry(self._results.store) if cell in used)

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The cells behind all numbers, in the plan's order."""
        used = {cell for row in self._rows.values() for cell in row.cells}
        return tuple(cell.cell_id for cell in self._results.cells if cell.cell_id in used)

    @cached_property
    def _earlier(self) -> dict[str, str]:
        """The earlier run of each cell whose result was taken from an earlier run."""
        text = "SELECT cell_id, reused_from FROM cells WHERE reused_from IS NOT NULL"
        return {str(cell): str(run) for cell, run in self._results.store.sql(text).rows}

    @cached_property
    def _measurement(self) -> dict[str, Curve]:
        """The measurement of each cell, identified by experiment, hardware, workload and levels."""
        return {cell.cell_id: Curve.of(cell) for cell in self._results.cells}

    @cached_property
    def _measurements(self) -> dict[Curve, list[ReportedCell]]:
        """The cells that numbers were computed from, by measurement (a ramp with its repeats)."""
        computed = {cell for row in self._rows.values() if not row.quoted for cell in row.cells}
        found: dict[Curve, list[ReportedCell]] = {}
        for cell in self._results.cells:
            if cell.cell_id in computed:
                found.setdefault(self._measurement[cell.cell_id], []).append(cell)
        return found

    @cached_property
    def _varied(self) -> set[tuple[str, ...]]:
        """The sets of factors that the results' cells vary, each only once."""
        return {tuple(Levels(levels).keys) for levels in {cell.levels for cell in self._results.cells}}

    def _line(self, number: int, cells: Sequence[ReportedCell], files: int, sha256: str) -> MeasurementLine:
        plan, words, first = self._results.plan, self._results.words, cells[0]
        known = [cell for cell in cells if cell.status == "ok"]
        unpublished = all(cell.reason == NOT_PUBLISHED for cell in cells)
        return MeasurementLine(
            f"measurement-{number}",
            f"M{number}",
            plan.experiments[first.experiment].label,
            system_label(first, self._results, headed=len(self._varied) == 1),
            plan.workloads[first.workload].label,
            _points(known) or words["not_published" if unpublished else "p_none_measured"],
            self._runs(known),
            counted(words, "p_files", files, sha256=sha256[:16]) if files else "",
        )

    def _runs(self, cells: Sequence[ReportedCell]) -> str:
        """Return a text on the runs that measured the cells. If there are several runs, each is listed with its
        cells."""
        words = self._results.words
        by_run: dict[str, list[ReportedCell]] = {}
        for cell in cells:
            by_run.setdefault(self._earlier.get(cell.cell_id, words["p_this_run"]), []).append(cell)
        if len(by_run) < 2:
            return "".join(by_run)
        return words["semicolon"].join(f"{run}{words['colon']}{_points(of)}" for run, of in by_run.items())


def kind_of(results: Results) -> Literal["measured", "simulated", "imported"]:
    return "simulated" if run_row(results)["simulated"] else "imported" if is_imported(results) else "measured"


def _ranges(numbers: Sequence[int]) -> Iterable[Backlink]:
    """Turn 1, 2, 3, 5 into M1–M3, M5. Each range links to its first number."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    for first, last in zip(starts, ends, strict=True):
        label = f"M{first}" if first == last else f"M{first}–M{last}"
        yield Backlink(label, f"measurement-{first}")


def _points(cells: Sequence[ReportedCell]) -> str:
    """Return offered loads, or threads such as `1, 2, 4 threads`, with the number of repeats. Return "" if a search
    found no load."""
    targets = sorted({cell.target for cell in cells if cell.target is not None})
    threads = sorted({cell.threads for cell in cells if cell.threads is not None})
    parts = [points(threads)] if threads else []
    point = " @ ".join([*parts, f"{points(targets)} ops/s"] if targets else parts)
    repeats = Counter((cell.threads, cell.target) for cell in cells).values()
    ends = dict.fromkeys((min(repeats, default=1), max(repeats, default=1)))
    return f"{point} × {'–'.join(map(str, ends))}" if max(ends) > 1 and point else point
