"""Where each number of a brief comes from: kept while the brief is built, for its appendix and for its side file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib.metadata import version
from typing import Literal

from markupsafe import Markup

from benchbrief.compiler import plan as p
from benchbrief.reports.disclosure import plan_sha256, run_row
from benchbrief.reports.imported import is_imported
from benchbrief.reports.numbers import CellEntry, Figure, Number, NumbersFile, Printed, QueryEntry, Series
from benchbrief.reports.source import CellRow, Key, Results
from benchbrief.reports.values import points
from benchbrief.reports.view import Backlink, MeasurementLine, ProvenanceView, RawFile, SourceLine

Detail = Literal["full", "compact", "none"]
"""How much the appendix tells: see `provenance` of a report."""


@dataclass(frozen=True)
class Shown:
    """A number that was entered: its text, and how it is told apart from the others."""

    text: str
    id: str
    row: str
    cells: str
    expression: str

    def html(self, *, missing: bool = False) -> Markup:
        """The number, which leads to its row of the appendix; marked by a second element within it where there is none,
        which is how a PDF tells it from other spans."""
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
    """A row of the appendix: what is computed in the same way from the same measurements; in a compact one, what is
    shown in one place."""

    number: int
    expressions: dict[str, None]
    cells: dict[str, None]
    links: dict[str, str] = field(default_factory=dict)
    """Where it is shown: labels, and the anchors that they lead to."""
    values: int = 0

    @property
    def id(self) -> str:
        return f"source-{self.number}"


class Ledger:
    """`at` says which element is being built; `heading` is that of the section which it stands in."""

    def __init__(self, results: Results, detail: Detail = "full") -> None:
        self._results = results
        self._detail = detail
        self._rows: dict[tuple[object, ...], _Row] = {}
        self._queries: dict[tuple[str, str], QueryEntry] = {}
        self._numbers: list[Number] = []
        self._figures: list[Figure] = []
        self._place = self._group = ""
        self.heading = ""

    def at(self, place: str, *, of_text: bool = False) -> None:
        """`place` is what the element in hand is called, "" for running text; `of_text`: its numbers are in a claim or
        a note, which a compact appendix counts among the section's texts."""
        self._place, self._group = place, "" if of_text else place

    # --- entries -------------------------------------------------------------------------------------------------

    def number(
        self, query: p.Query, printed: Printed, *, high: p.Query | None = None, at: Mapping[str, Key] | None = None
    ) -> Shown:
        """Enter a number of the element in hand, as it is printed."""
        at = {dim: key for dim, key in (at or {}).items() if dim in query.dims}
        value = self._results.at(query, **at)
        top = self._results.at(high, **at) if high else None
        text = printed.text(value, top, query.unit, ranged=high is not None)
        found = dict.fromkeys(c.cell_id for q in (query, high) if q for c in self._results.cells_behind(q, **at))
        row = self._row((query.text,), tuple(cell.cell_id for cell in self._results.cells_behind(query)))
        entry = self._query(query, row)
        number = Number(
            id=f"n{len(self._numbers) + 1}",
            place=self._place or "text",
            shown=text,
            value=value,
            high=top,
            query=entry.id,
            high_query=self._query(high, row).id if high else None,
            at=at,
            cells=tuple(found),
            printed=printed,
        )
        self._numbers.append(number)
        row.links.setdefault(self._told_place(text if value is not None else ""), number.id)
        row.values += 1
        return Shown(text, number.id, entry.source, " ".join(found), query.text)

    def _told_place(self, shown: str) -> str:
        """Where a number of running text is shown: the number itself tells it, unless it is missing."""
        words = self._results.words
        if self._detail == "compact":
            return self._group or self.heading or words["p_text"]
        return self._place or shown or words["p_missing"]

    def figure(self, id_: str, title: str, queries: Iterable[p.Query]) -> str:
        """Enter a figure with all that it draws; its row in the appendix."""
        queries = list({query.sql: query for query in queries}.values())
        if not queries:
            return ""
        cells = dict.fromkeys(cell.cell_id for query in queries for cell in self._results.cells_behind(query))
        row = self._row(tuple(dict.fromkeys(query.text for query in queries)), tuple(cells), figure=id_)
        row.links.setdefault(self._place, id_)
        series = tuple(
            Series(
                query=self._query(query, row).id,
                rows=tuple((*keys, value) for keys, value in self._results.rows(query).items()),
            )
            for query in queries
        )
        self._figures.append(Figure(id=id_, title=title, series=series))
        row.values = sum(len(each.rows) for each in series)
        return self._anchor(row)

    def _query(self, query: p.Query, row: _Row) -> QueryEntry:
        """As it stands in the file, once for each row of the appendix that it belongs to."""
        key = (row.id, query.sql)
        if key not in self._queries:
            cells = tuple(cell.cell_id for cell in self._results.cells_behind(query))
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

    def _row(self, expressions: tuple[str, ...], cells: tuple[str, ...], figure: str = "") -> _Row:
        """A figure has a row of its own: it is drawn of several expressions."""
        shown_in = (self._group, self.heading if not self._group else "")
        measured = frozenset(self._measurement[cell] for cell in cells)
        key: tuple[object, ...] = shown_in if self._detail == "compact" else (expressions, measured)
        row = self._rows.setdefault((figure, *key), _Row(len(self._rows) + 1, {}, {}))
        row.expressions |= dict.fromkeys(expressions)
        row.cells |= dict.fromkeys(cells)
        return row

    def _anchor(self, row: _Row) -> str:
        return "" if self._detail == "none" else row.id

    # --- what comes of them --------------------------------------------------------------------------------------

    def view(self, origin: Sequence[tuple[str, str]]) -> ProvenanceView:
        """The appendix: what all numbers have in common, a line for each source, a line for each measured point."""
        if self._detail == "none":
            return ProvenanceView((), (), (), ())
        compact = self._detail == "compact"
        measurements = self._measurements
        lines = [
            SourceLine(
                row.id,
                row.number,
                () if compact else tuple(row.expressions),
                tuple(_ranges([at for at, of in enumerate(measurements, 1) if of.intersection(row.cells)])),
                tuple(Backlink(label, anchor) for label, anchor in row.links.items()),
                row.values,
            )
            for row in self._rows.values()
        ]
        told = tuple(self._told(at, of) for at, of in enumerate(measurements, 1))
        files = () if compact else tuple(self._raw_files())
        places = {cell: line.id for line, of in zip(told, measurements, strict=True) for cell in of}
        return ProvenanceView(tuple(origin), tuple(lines), told, files, compact, places)

    def file(self, report: p.Report, origin: Sequence[tuple[str, str]]) -> NumbersFile:
        run = run_row(self._results)
        return NumbersFile(
            benchbrief=version("benchbrief"),
            report=report.name,
            title=report.title,
            language=report.language,
            locale=self._results.words.locale.name,
            run=str(run["run_id"] or ""),
            kind=kind_of(self._results),
            plan_sha256=plan_sha256(self._results.plan),
            provenance=self._detail,
            origin=tuple(origin),
            queries=tuple(self._queries.values()),
            numbers=tuple(self._numbers),
            figures=tuple(self._figures),
            cells={cell: self._entries[cell] for cell in self._used if cell in self._entries},
        )

    @cached_property
    def _used(self) -> tuple[str, ...]:
        """The cells behind any number, in the plan's order."""
        used = {cell for row in self._rows.values() for cell in row.cells}
        return tuple(cell.cell_id for cell in self._results.cells if cell.cell_id in used)

    @cached_property
    def _entries(self) -> dict[str, CellEntry]:
        return cell_entries(self._results.store)

    @cached_property
    def _measurement(self) -> dict[str, tuple[str, str, str]]:
        """Of each cell its experiment, hardware and workload: those that have these in common are a measurement."""
        return {cell.cell_id: (cell.experiment, cell.hardware, cell.workload) for cell in self._results.cells}

    @cached_property
    def _measurements(self) -> list[frozenset[str]]:
        """The used cells of each: a ramp with its repeats."""
        found = dict[tuple[str, str, str], list[str]]()
        for cell in self._used:
            found.setdefault(self._measurement[cell], []).append(cell)
        return [frozenset(cells) for cells in found.values()]

    def _told(self, number: int, ids: frozenset[str]) -> MeasurementLine:
        plan, words = self._results.plan, self._results.words
        cells = [cell for cell in self._results.cells if cell.cell_id in ids]
        first = cells[0]
        entries = [self._entries[cell.cell_id] for cell in cells if cell.cell_id in self._entries]
        files = {path: digest for entry in entries for path, digest in entry.files.items()}
        repeats = max(cell.repeat for cell in cells)
        own, at = run_row(self._results)["run_id"], _points(cells)
        if repeats > 1:
            at += f" × {repeats}"
        return MeasurementLine(
            f"measurement-{number}",
            f"M{number}",
            plan.experiments[first.experiment].label,
            plan.hardware[first.hardware].label,
            plan.workloads[first.workload].label,
            at,
            ", ".join(dict.fromkeys(entry.run for entry in entries if entry.run != own)),
            words["p_files"].format(n=f"{len(files):,}", sha256=manifest_sha256(files)[:16]) if files else "",
        )

    def _raw_files(self) -> Iterable[RawFile]:
        for cell in self._used:
            entry = self._entries.get(cell)
            for path, digest in entry.files.items() if entry else ():
                yield RawFile(cell, path, digest)


def kind_of(results: Results) -> Literal["measured", "simulated", "imported"]:
    return "simulated" if run_row(results)["simulated"] else "imported" if is_imported(results) else "measured"


def cell_entries(store: object) -> dict[str, CellEntry]:
    """Each cell of a store (see `reports/source.py`), with the raw outputs of the attempt that counts."""
    files: dict[str, dict[str, str]] = {}
    text = (
        "SELECT f.cell_id, f.path, f.sha256 FROM files f JOIN cells c USING (run_id, cell_id) "
        "WHERE f.attempt = c.attempt ORDER BY ALL"
    )
    for cell, path, digest in store.sql(text).rows:  # type: ignore[attr-defined]
        files.setdefault(cell, {})[path] = digest
    rows = store.sql(  # type: ignore[attr-defined]
        "SELECT cell_id, cell_hash, status, coalesce(reused_from, run_id), attempt FROM cells"
    ).rows
    return {
        cell: CellEntry(hash=digest, status=status, run=run, attempt=attempt, files=files.get(cell, {}))
        for cell, digest, status, run, attempt in rows
    }


def manifest_sha256(files: Mapping[str, str]) -> str:
    """One digest for several files: of the lines that `sha256sum` prints of them, in the order of their paths."""
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _ranges(numbers: Sequence[int]) -> Iterable[Backlink]:
    """1, 2, 3, 5 -> M1–M3, M5; each leads to its first."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    for first, last in zip(starts, ends, strict=True):
        label = f"M{first}" if first == last else f"M{first}–M{last}"
        yield Backlink(label, f"measurement-{first}")


def _points(cells: Sequence[CellRow]) -> str:
    """`1, 2, 4 threads` or offered loads; nothing where a search has not found them."""
    targets = sorted({cell.target for cell in cells if cell.target is not None})
    threads = sorted({cell.threads for cell in cells if cell.threads is not None})
    parts = [points(threads)] if threads else []
    return " @ ".join([*parts, f"{points(targets)} ops/s"] if targets else parts)
