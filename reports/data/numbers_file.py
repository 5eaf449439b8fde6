"""The file of a brief's numbers. It gives each number as shown, its raw value, its origin, and the rule by which it is
printed.

The file is `<brief>.json` beside a brief, and an attachment of the PDF. `docs/verify.md` describes it. It has
everything needed to compute a number again from a store, and to print it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Dimension, DimKey, Query
from benchbrief.model.precision import Printing, printing, stepped
from benchbrief.reports.text.number_format import ENGLISH_UNITS, formatted, in_column, in_prose, quantity, whole_nodes
from benchbrief.results.store.searched_doubts import Bound, Doubt


@dataclass(frozen=True)
class Backlink:
    """A link from a row of the appendix to a place that shows its numbers: a number in a text, or an element."""

    label: str
    anchor: str


@dataclass(frozen=True)
class SourceLine:
    """A line of the appendix, with values that are computed in the same way from the same cells. `measurements` names
    the lines that describe these cells.

    In a compact appendix, a line has all `values` of a figure, a table, a box or a section's texts.
    """

    id: str
    number: int
    expressions: tuple[str, ...]
    measurements: tuple[Backlink, ...]
    links: tuple[Backlink, ...]
    values: int = 0
    quoted: bool = False
    """Whether the values come from a publication."""


@dataclass(frozen=True)
class MeasurementLine:
    """A series of measurements of one experiment on the same hardware with the same workload: its measured points, its
    runs and its raw outputs. `hardware` is the label of the hardware, the names of levels, or both, whichever tells the
    series apart.
    """

    id: str
    name: str
    experiment: str
    hardware: str
    workload: str
    points: str
    run: str
    files: str


@dataclass(frozen=True)
class RawFile:
    cell: str
    path: str
    sha256: str


@dataclass(frozen=True)
class ProvenanceView:
    """The origin of the numbers. `files` lists all raw outputs, for the HTML. Without an appendix, all fields are
    empty."""

    origin: tuple[tuple[str, str], ...]
    sources: tuple[SourceLine, ...]
    measurements: tuple[MeasurementLine, ...]
    files: tuple[RawFile, ...]
    compact: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    """For each cell behind a number, the line of the appendix with the cell's measurement."""
    unlisted: str = ""
    """How many raw outputs are missing from `files` because a page can't list them all, or "" if none is missing."""
    system: str = ""
    """The heading for the `hardware` of the measurements."""


FORMAT = "benchbrief-numbers"
ATTACHMENT = "numbers.json"
"""The file's name in a PDF."""
Document = Literal["brief", "disclosure"]
OF_DISCLOSURE = re.compile(r"-disclosure(?=\.)")
"""Matches the part of a disclosure's file name after the name of its brief. No report's name contains a dash, so the
match is certain."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")  # a later benchbrief may add fields


class PrintedBy(_Part):
    """How a number is printed. `by` names the rule in `number_format.py`, and the other fields are the rule's
    inputs."""

    by: Literal["prose", "format", "scale", "amount", "declared"]
    format: str = ""
    follows: str = ""
    to: str = ""
    as_declared: bool = False
    factor: float = 1.0
    decimals: int = 0
    significant: int = 0
    missing: str = "–"
    step: float = 0.0
    rounded: Literal["nearest", "down", "up"] = "nearest"

    def text(self, value: float | None, high: float | None, unit: str, *, ranged: bool = False) -> str:
        """Return the number as it is printed in the brief. If a fact is printed as its author declared it, only `value`
        is needed."""
        if value is None or (ranged and high is None):
            return self.missing
        match self.by:
            case "prose":
                way = self.rounded if printing() < 4 else "nearest"
                value, high = stepped(value, self.step, way), None if high is None else stepped(high, self.step, way)
                return in_prose(value, high, self.format, unit, self.follows, self.to, declared=self.as_declared)
            case "format":
                return formatted(value, self.format, unit)
            case "scale":
                return in_column(whole_nodes(value, unit) / self.factor, self.decimals)
            case "amount":
                ends = [value] if high is None else [value, high]
                return self.to.join(quantity(end, unit, significant=self.significant) for end in ends)
            case "declared":
                return self.format


class QueryEntry(_Part):
    """An expression with its SQL (see `plan.py`) and its cells. `source` is its row in the brief's appendix, or ""
    without an appendix."""

    id: str
    expression: str
    sql: str
    dims: tuple[Dimension, ...]
    unit: str
    cells: tuple[str, ...]
    source: str

    @property
    def query(self) -> Query:
        return Query(sql=self.sql, dims=self.dims, unit=self.unit, text=self.expression)


class NumberEntry(_Part):
    """A number in the brief. `at` are its coordinates in the query's dimensions.

    With `high_query`, the number is a range whose upper end is `high`. A missing value is null.
    """

    id: str
    place: str
    shown: str
    value: float | None
    high: float | None = None
    query: str
    high_query: str | None = None
    at: dict[str, DimKey] = {}
    cells: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """Sentences on doubts about the searched rates that the number comes from."""
    bound: Bound | None = None
    """Set if a search found the value only as a bound: whether the true value may be larger or smaller. `shown` then
    begins with a sign. Always None in an early file."""
    decided: bool = True
    """Whether the searches for the number decided with their required confidence."""
    printed: PrintedBy
    letters: str = ""
    """The letters of a contender in a comparison. If two contenders share a letter, the test does not tell them apart.
    """
    linked: bool = True
    """Whether the page marks the number. Numbers inside an author's link are not marked."""
    document: Document = "brief"
    """The document that shows the number: the brief or its disclosure."""

    @property
    def doubt(self) -> Doubt:
        return Doubt(self.bound or "", self.decided)


class SeriesEntry(_Part):
    """The values of a query that a figure draws, as rows: the keys in the order of the query's dimensions, then the
    value."""

    query: str
    rows: tuple[tuple[DimKey | None, ...], ...]


class FigureEntry(_Part):
    id: str
    title: str
    series: tuple[SeriesEntry, ...]


class CellEntry(_Part):
    """A cell that numbers come from. `files` maps its raw outputs to their SHA-256."""

    hash: str
    status: str
    run: str
    attempt: int | None
    files: dict[str, str]


class ClaimEntry(_Part):
    """A claim of the brief: its sentence (printed or left out), what is known about it, and its number with
    its unit."""

    claim: str
    said: bool
    sentence: str
    judged: str
    state: str
    value: float | None = None
    unit: str = ""


class NumbersFile(_Part):
    """The file of a brief's numbers. `origin` has everything that all numbers share: the run, the spec with its
    revision, the tools and the servers.

    `provenance` is the level of detail of the document's appendix. Without an appendix, the numbers are marked but are
    not links. Numbers follow the conventions of `locale` and the rules in `printing`. To print them again, use `with
    written_as(Locale(file.locale, file.units)), printed_as(file.printing)`.
    """

    format: Literal["benchbrief-numbers"] = "benchbrief-numbers"
    version: Literal[1] = 1
    benchbrief: str
    report: str
    title: str
    language: str
    locale: str = "en_GB"
    units: dict[str, str] = dict(ENGLISH_UNITS)
    """The names of counted things in the file's language. An early file has them in English."""
    printing: Printing = 1
    """The rules for printing the numbers (`model/precision.py`). An early file lacks them."""
    run: str
    kind: Literal["measured", "simulated", "imported"]
    plan_sha256: str
    provenance: Literal["full", "compact", "none"] = "full"
    origin: tuple[tuple[str, str], ...]
    queries: tuple[QueryEntry, ...]
    numbers: tuple[NumberEntry, ...]
    figures: tuple[FigureEntry, ...]
    cells: dict[str, CellEntry]
    claims: tuple[ClaimEntry, ...] = ()
    """The claims of the brief, with what is known about each in English."""
    page_sha256: str = ""
    """The SHA-256 of the whole HTML page, including words and drawings, or "" in an early file."""
    disclosures: dict[str, str] = {}
    """The files of the full disclosure with their SHA-256. Empty if the brief itself contains the disclosure."""
    document: Document = "brief"
    """The PDF that the file is attached to."""
    journal_bytes: int = 0
    """How many bytes of the run's journal the tables were built from, or 0 in an early file."""
    journal_sum: str = ""
    """The checksum of the first `journal_bytes` bytes of the journal (`runners/journal/journal_file.py`). It shows
    whether they were changed."""

    not_made: tuple[str, ...] = ()
    """The parts of the brief that could not be made, each with its reason. Their numbers are missing."""

    def in_order(self, shown: Mapping[Document, Mapping[str, bool]]) -> NumbersFile:
        """Return the file with its numbers in the order in which the documents show them, and record for each whether
        the documents link it.

        Numbers that neither document shows are left out.
        """
        known = {number.id: number for number in self.numbers}
        numbers = tuple(
            known[i].model_copy(update={"linked": linked, "document": document})
            for document, ids in shown.items()
            for i, linked in ids.items()
        )
        return self.model_copy(update={"numbers": numbers})

    def json_text(self) -> str:
        return self.model_dump_json(indent=1) + "\n"

    def written(self, cells: Iterable[tuple[str, CellEntry]]) -> Iterator[bytes]:
        """Yield the file in pieces, with these cells in place of its own. The cells are most of a large file."""
        head, _, tail = self.model_copy(update={"cells": {}}).json_text().partition(f"{_CELLS}}},")
        yield f"{head}{_CELLS}".encode()
        pending, comma = iter(cells), ""
        while some := dict(islice(pending, _AT_ONCE)):
            text = _Cells(cells=some).model_dump_json(indent=1)
            yield f"{comma}{text.partition(_CELLS)[2].removesuffix(_CELLS_END)}".encode()
            comma = ","
        yield f"{_END if comma else ''}}},{tail}".encode()


class _Cells(_Part):
    cells: dict[str, CellEntry]


_CELLS, _END = '\n "cells": {', "\n "
_CELLS_END = f"{_END}}}\n}}"
_AT_ONCE = 1000
"""The number of cells kept in memory while the file is written."""
