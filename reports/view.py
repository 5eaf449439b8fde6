"""The view model: all that a template may lay out, computed and escaped; the templates hold no logic of their own.

Text fields of type `str` are plain and escaped by the template; `Markup` is safe HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from benchbrief.reports.numbers import NumbersFile


@dataclass(frozen=True)
class Note:
    """A footnote: on paper, that of a running text stands at the foot of the page, any other under its block."""

    number: int
    text: str


@dataclass(frozen=True)
class Source:
    """Where numbers come from: the expression as the spec has it, and the SQL it became."""

    expression: str
    sql: str


@dataclass(frozen=True)
class TextView:
    html: Markup
    notes: tuple[Note, ...] = ()
    kind: Literal["text"] = "text"


@dataclass(frozen=True)
class Head:
    """A column's head, or, when the table is transposed, a row's."""

    label: str
    unit: str = ""
    numeric: bool = True
    notes: tuple[int, ...] = ()
    """The numbers of the footnotes on all of its values."""


@dataclass(frozen=True)
class Cell:
    """`cells` are the ids of the plan's cells behind a number, blanks between, so that it can be followed back."""

    html: Markup
    numeric: bool
    cells: str = ""


@dataclass(frozen=True)
class Row:
    head: Head
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class TableView:
    number: int
    title: str
    corner: str
    columns: tuple[Head, ...]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    note: Markup | None
    sources: tuple[Source, ...]
    kind: Literal["table"] = "table"

    @property
    def id(self) -> str:
        return f"table-{self.number}"


@dataclass(frozen=True)
class Card:
    label: str
    html: Markup


@dataclass(frozen=True)
class CalloutView:
    """The lead box. `cards` are a table of one column, set large (`card_pt` points); a larger table stays one."""

    title: str
    column: str
    cards: tuple[Card, ...]
    card_pt: float
    table: TableView | None
    html: Markup | None
    note: Markup | None
    notes: tuple[Note, ...]
    sources: tuple[Source, ...]
    kind: Literal["callout"] = "callout"


@dataclass(frozen=True)
class FigureView:
    """`svg` is empty when nothing was measured. `data` are the drawn points as text, under `data_head`.

    `csv` has them as they were measured, in base units; `points` is what the page's script needs to know of them.
    """

    number: int
    title: str
    svg: str
    alt: str
    wide: bool
    width: int
    data_head: tuple[str, ...]
    data: tuple[tuple[str, ...], ...]
    notes: tuple[Note, ...]
    note: Markup | None
    cells: str
    sources: tuple[Source, ...]
    row: str = ""
    """Its row of the appendix on provenance."""
    csv: str = ""
    points: Mapping[str, object] = field(default_factory=dict)
    claim: Markup | None = None
    key: str = ""
    """What the numbers beside its points are; empty where there are none."""
    kind: Literal["figure"] = "figure"

    @property
    def csv_link(self) -> str:
        """The data as an address, which no request goes to."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.csv.encode()).decode()

    @property
    def id(self) -> str:
        return f"figure-{self.number}"


@dataclass(frozen=True)
class FigureRow:
    """Figures that stand side by side where the page is wide enough."""

    figures: tuple[FigureView, ...]
    kind: Literal["figures"] = "figures"


@dataclass(frozen=True)
class FormulaView:
    """`steps` are the right sides: in words, in numbers, and the result; `title` is what they give, and for what."""

    title: str
    name: str
    for_label: str
    steps: tuple[str | Markup, ...]
    notes: tuple[Note, ...]
    cells: str
    sources: tuple[Source, ...]
    kind: Literal["formula"] = "formula"


@dataclass(frozen=True)
class FactLine:
    name: str
    declared: str
    observed: str
    differs: bool


@dataclass(frozen=True)
class FactGroup:
    label: str
    lines: tuple[FactLine, ...]


@dataclass(frozen=True)
class FactsView:
    number: int
    title: str
    groups: tuple[FactGroup, ...]
    kind: Literal["facts"] = "facts"

    @property
    def observed(self) -> bool:
        """Whether anything was: not where results were imported."""
        return any(line.observed for group in self.groups for line in group.lines)

    @property
    def id(self) -> str:
        return f"table-{self.number}"


@dataclass(frozen=True)
class Item:
    """A line of the disclosure: `term` may be empty."""

    term: str
    text: str
    emphasis: bool = False


@dataclass(frozen=True)
class DisclosureGroup:
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class CellLine:
    id: str
    status: str
    reason: str
    raw_dir: str


@dataclass(frozen=True)
class DisclosureView:
    """`bad_cells` are those that failed or are missing, by what they have in common; `all_ok` says that there are none;
    `cells` are all, for the HTML."""

    groups: tuple[DisclosureGroup, ...]
    bad_cells: tuple[Item, ...]
    all_ok: str
    cells: tuple[CellLine, ...]
    kind: Literal["disclosure"] = "disclosure"


@dataclass(frozen=True)
class SectionView:
    title: str
    level: int
    anchor: str
    blocks: tuple[Block, ...]
    kind: Literal["section"] = "section"


@dataclass(frozen=True)
class Backlink:
    """From a row of the appendix to where it is shown: a number in a text, or an element."""

    label: str
    anchor: str


@dataclass(frozen=True)
class SourceLine:
    """What is computed in the same way from the same cells; `measurements` name the lines of these.

    In a compact appendix, all `values` of a figure, a table, a box or a section's texts.
    """

    id: str
    number: int
    expressions: tuple[str, ...]
    measurements: tuple[Backlink, ...]
    links: tuple[Backlink, ...]
    values: int = 0


@dataclass(frozen=True)
class MeasurementLine:
    """A ramp on one hardware with one workload: its points, and its raw outputs; `run` is an earlier one, if taken."""

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
    """Where the numbers come from. `files` are all raw outputs, for the HTML. Without an appendix, all is empty."""

    origin: tuple[tuple[str, str], ...]
    sources: tuple[SourceLine, ...]
    measurements: tuple[MeasurementLine, ...]
    files: tuple[RawFile, ...]
    compact: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    """Of each cell behind any number, the line of its measurement."""


Block = (
    TextView | TableView | CalloutView | FigureView | FigureRow | FormulaView | FactsView | DisclosureView | SectionView
)


def figures_of(blocks: Iterable[Block]) -> Iterator[FigureView]:
    """All figures, in their order."""
    for block in blocks:
        if isinstance(block, FigureView):
            yield block
        elif isinstance(block, FigureRow):
            yield from block.figures
        elif isinstance(block, SectionView):
            yield from figures_of(block.blocks)


@dataclass(frozen=True)
class Notice:
    """What a reader must know before any number. `severity` is warning or error."""

    title: str
    text: str
    severity: Literal["warning", "error"]


@dataclass(frozen=True)
class ReportView:
    title: str
    subtitle: str
    language: str
    author: str
    date: str
    run_id: str
    version: str
    notices: tuple[Notice, ...]
    blocks: tuple[Block, ...]
    legal: Markup | None
    provenance: ProvenanceView
    numbers: NumbersFile
    """For the side file; no part of the page."""
    simulated: bool = False
    """Nothing was measured: see `reports/watermark.py`."""
    imported: bool = False
    """Whether the numbers were measured elsewhere."""
    side_file: str = ""
    """The side file's name."""
    made: str = ""
    """When the run ended, in ISO 8601; empty when it is not known."""
    profile: str = ""
    """The profile that the run was of; empty for the spec without one."""
    keywords: tuple[str, ...] = ()
    legal_notes: tuple[Note, ...] = ()
