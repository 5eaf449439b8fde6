"""The view model: everything that a template may lay out, computed and escaped. Templates have no logic of
their own.

Text fields of type `str` are plain, and the template escapes them; `Markup` is safe HTML.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.native_chart import NativeChart
from benchbrief.reports.data.numbers_file import CellEntry, NumbersFile, ProvenanceView
from benchbrief.results.analysis.stated_numbers import StatedNumber

EMPTY = Markup("")


@dataclass(frozen=True)
class Footnote:
    """A footnote. On paper, one of running text stands at the foot of the page, any other under its block."""

    number: int
    text: str
    again: str = ""
    """The id of the figure, table or text that has it once more, where it stands on another page, too."""


@dataclass(frozen=True)
class NumberSource:
    """The source of numbers: the expression in the spec, and its SQL."""

    expression: str
    sql: str


@dataclass(frozen=True)
class MissingPart:
    """A part of the brief that could not be made, and the reason, without a full stop. `kind` is figure, table, text
    or another word of the catalogue (`part_...`), `name` its number or title.

    `is_ours`: the reason is a mistake in benchbrief. `is_drawing`: only the drawing of a figure, whose data are with
    the brief. `anchor` is the id of its place, or "".
    """

    kind: str
    name: str
    reason: str
    is_ours: bool
    anchor: str = ""
    is_drawing: bool = False


@dataclass(frozen=True)
class TextView:
    """`leads`: it is short, and introduces a figure, a table or a formula, alone or with the texts between."""

    html: Markup
    notes: tuple[Footnote, ...] = ()
    leads: bool = False
    number: int = 0
    kind: Literal["text"] = "text"

    @property
    def id(self) -> str:
        return f"text-{self.number}"


@dataclass(frozen=True)
class TableHead:
    """A column's head, or a row's in a transposed table."""

    label: str
    unit: str = ""
    numeric: bool = True
    notes: tuple[int, ...] = ()
    """The numbers of the footnotes on all of its values."""
    heads: tuple[str, ...] = ()
    """The heads above the label, outermost first, which neighbours share."""


@dataclass(frozen=True)
class TableCell:
    """`cells` are the ids of the plan's cells behind a number, separated by blanks. `best`: it is the best of its
    line, or within noise of it. `pad` is the room behind it that aligns the decimal signs of its column, in heights of
    the type.

    `value` is computed, in `unit`, before scaling and rounding; None where it is missing, and for a text. `heat` is
    its shade in a heat table, from 1, the lowest, to 5; 0 for none.
    """

    html: Markup
    numeric: bool
    cells: str = ""
    value: float | None = None
    unit: str = ""
    heat: int = 0
    best: bool = False
    pad: float = 0.0
    notes: tuple[int, ...] = ()
    """The numbers of the footnotes on this value alone."""


@dataclass(frozen=True)
class TableRow:
    """`group` is a line above this row: the name that it shares with the next ones."""

    head: TableHead
    cells: tuple[TableCell, ...]
    group: str = ""


@dataclass(frozen=True)
class HeadCell:
    """A cell of a table's head that spans columns and rows."""

    head: TableHead
    columns: int
    rows: int


@dataclass(frozen=True)
class TablePart:
    """The columns of a table from `first` up to `end`, which fit a page.

    `points` is the size of their type, 0 for the usual one; `widths` are percentages, first that of the rows' heads.
    `width` is the table's own, in per cent of the page's.
    """

    head: tuple[tuple[HeadCell, ...], ...]
    first: int
    end: int
    points: float = 0.0
    widths: tuple[float, ...] = ()
    width: float = 100.0


@dataclass(frozen=True)
class TableView:
    number: int
    title: str
    corner: str
    columns: tuple[TableHead, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[Footnote, ...]
    note: Markup | None
    sources: tuple[NumberSource, ...]
    head: tuple[tuple[HeadCell, ...], ...]
    """The rows of its head, without the corner."""
    parts: tuple[TablePart, ...]
    """Its pieces, one below the other on paper."""
    heat: str = ""
    """The meaning of a heat table's shades."""
    marks: tuple[int, ...] = ()
    """The numbers of the notes on all of its values."""
    compared: str = ""
    """The meaning of a comparison's letters, with its test and its correction."""
    unit: str = ""
    """The unit of all its numbers, where several columns or rows share one: it then stands in the caption alone."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, where it says any; `title` is plain."""
    kind: Literal["table"] = "table"

    @property
    def id(self) -> str:
        return f"table-{self.number}"


@dataclass(frozen=True)
class Card:
    """`value` and `unit` are those of a table's cell, and `marks` the numbers of the footnotes on it."""

    label: str
    html: Markup
    value: float | None = None
    unit: str = ""
    marks: tuple[int, ...] = ()


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
    notes: tuple[Footnote, ...]
    sources: tuple[NumberSource, ...]
    marks: tuple[int, ...] = ()
    """The numbers of the notes on all of its values."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, where it says any; `title` is plain."""
    kind: Literal["callout"] = "callout"


@dataclass(frozen=True)
class HeadlineNumberView:
    """A number set large, and the sentence beside it. It is grey where it `shows_none`: no gain."""

    value: Markup
    text: Markup
    shows_none: bool = False


@dataclass(frozen=True)
class HeadlineView:
    """One to three numbers of the first page, `points` high. What they say stands `beside` them, else below."""

    numbers: tuple[HeadlineNumberView, ...]
    notes: tuple[Footnote, ...] = ()
    points: float = 42.0
    beside: bool = False
    kind: Literal["headline"] = "headline"


@dataclass(frozen=True)
class FigureView:
    """`title` says what is drawn, `claim` what it shows: the author's sentence, or one that is computed.

    `svg` is empty when nothing was measured, and when drawing failed: `undrawn` has the reason.

    `data` are the drawn points as text, under `data_head`. `csv` has the measured ones, in base units; `points` is
    for the page's script.
    """

    number: int
    title: str
    svg: str
    alt: str
    wide: bool
    width: int
    data_head: tuple[str, ...]
    data: tuple[tuple[str, ...], ...]
    notes: tuple[Footnote, ...]
    note: Markup | None
    cells: str
    sources: tuple[NumberSource, ...]
    row: str = ""
    """Its row of the appendix on provenance."""
    csv: str = ""
    points: Mapping[str, object] = field(default_factory=dict)
    claim: Markup | None = None
    key: str = ""
    """The meaning of the numbers beside its points, or of its pale bars; "" where there are none."""
    undrawn: str = ""
    redrawn: Callable[[float], str] | None = field(default=None, repr=False, compare=False)
    """Draws it at this share of its height, with texts of the same size."""
    for_phone: Callable[[], tuple[str, Mapping[str, object]] | None] | None = field(
        default=None, repr=False, compare=False
    )
    """Draws it for a narrow screen: the drawing, and its `points`. None where it is narrow enough."""
    marks: tuple[int, ...] = ()
    """The numbers of its notes, with those that stand under an earlier block."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, where it says any; `title` is plain."""
    paper_svg: str = ""
    """The drawing for paper, without the legend where the figure beside it has the same; "" where that is `svg`."""
    head_pt: float = 0.0
    """The least points of height of the texts above it: those of a figure beside it. 0 where it has none beside it."""
    is_rigid: bool = False
    """Whether it never gets lower than it is."""
    native: tuple[NativeChart, ...] = ()
    """What office programs draw of it, by panels; none where nothing was measured."""
    kind: Literal["figure"] = "figure"

    @property
    def csv_link(self) -> str:
        """The data as an address that needs no request."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.csv.encode()).decode()

    @property
    def id(self) -> str:
        return f"figure-{self.number}"


@dataclass(frozen=True)
class FigureRow:
    """Figures side by side, where the page is wide enough."""

    figures: tuple[FigureView, ...]
    kind: Literal["figures"] = "figures"


@dataclass(frozen=True)
class FormulaView:
    """`steps` are the right sides: in words, in numbers, and the result; `title` is what they compute."""

    title: str
    name: str
    for_label: str
    steps: tuple[str | Markup, ...]
    notes: tuple[Footnote, ...]
    cells: str
    sources: tuple[NumberSource, ...]
    marks: tuple[int, ...] = ()
    number: int = 0
    kind: Literal["formula"] = "formula"

    @property
    def id(self) -> str:
        return f"formula-{self.number}"


@dataclass(frozen=True)
class FactLine:
    name: str
    declared: str
    observed: str
    differs: bool
    detail: bool = False
    """Whether it is of use to few readers where all machines have the same."""


@dataclass(frozen=True)
class FactGroup:
    label: str
    lines: tuple[FactLine, ...]


@dataclass(frozen=True)
class FactRow:
    """A line of a table that compares facts: a cell for each column, or one that all share. `differs`: what was
    observed is not what was declared."""

    name: str
    cells: tuple[str, ...]
    differs: bool = False


@dataclass(frozen=True)
class FactsView:
    """The test configuration. A brief for customers has what all groups share in a line, `common`, and the rest in a
    table with its `corner`, `heads` and rows (`beside`); it needs no `number` without one."""

    number: int
    title: str
    groups: tuple[FactGroup, ...]
    heads: tuple[str, ...] = ()
    beside: tuple[FactRow, ...] = ()
    corner: str = ""
    common: str = ""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, where it says any; `title` is plain."""
    notes: tuple[Footnote, ...] = ()
    kind: Literal["facts"] = "facts"

    @property
    def observed(self) -> bool:
        """Whether anything was observed: not for imported results."""
        return any(line.observed for group in self.groups for line in group.lines)

    @property
    def id(self) -> str:
        return f"table-{self.number}" if self.number else ""


@dataclass(frozen=True)
class Item:
    """A line of the disclosure; `term` may be empty."""

    term: str
    text: str
    emphasis: bool = False


@dataclass(frozen=True)
class LevelTable:
    """What the levels of a factor stand for. `head` has the factor's label and, for a bundle, the names of its
    attributes; a row has the level's label and its values."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class DisclosureGroup:
    title: str
    items: tuple[Item, ...]
    tables: tuple[LevelTable, ...] = ()


@dataclass(frozen=True)
class CellLine:
    id: str
    status: str
    reason: str
    raw_dir: str


@dataclass(frozen=True)
class DisclosureView:
    """`bad_cells` are the failed or missing cells, grouped; `all_ok` says that there are none; `cells` are all, for
    the HTML."""

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
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, where it says any; `title` is plain."""
    kind: Literal["section"] = "section"


Block = (
    HeadlineView
    | TextView
    | TableView
    | CalloutView
    | FigureView
    | FigureRow
    | FormulaView
    | FactsView
    | DisclosureView
    | SectionView
)


def figures_of(blocks: Iterable[Block]) -> Iterator[FigureView]:
    """Return all figures, in order."""
    for block in blocks:
        if isinstance(block, FigureView):
            yield block
        elif isinstance(block, FigureRow):
            yield from block.figures
        elif isinstance(block, SectionView):
            yield from figures_of(block.blocks)


def notes_of(blocks: Iterable[Block]) -> Iterator[Footnote]:
    """Return all footnotes, in order."""
    for block in blocks:
        if isinstance(block, FigureRow):
            yield from notes_of(block.figures)
        elif isinstance(block, SectionView):
            yield from notes_of(block.blocks)
        elif not isinstance(block, DisclosureView):
            yield from block.notes


def with_redrawn_figures(blocks: Iterable[Block], shares: Mapping[str, float]) -> tuple[Block, ...]:
    """Return the blocks, with figures drawn at these shares of their heights, by the figures' ids."""

    def redrawn(block: Block) -> Block:
        if not isinstance(block, FigureView) or block.id not in shares or block.redrawn is None:
            return block
        return replace(block, svg=block.redrawn(shares[block.id]), paper_svg="")

    return _changed(blocks, redrawn)


def with_notes_again(blocks: Iterable[Block], again: Mapping[str, Iterable[int]]) -> tuple[Block, ...]:
    """Return the blocks; figures, tables, formulas and texts have these notes of others once more, by their ids."""
    blocks = tuple(blocks)
    known = {note.number: note for note in notes_of(blocks)}

    def noted(block: Block) -> Block:
        if not isinstance(block, FigureView | TableView | FormulaView | TextView):
            return block
        more = [replace(known[number], again=block.id) for number in again.get(block.id, ()) if number in known]
        return replace(block, notes=tuple(sorted((*block.notes, *more), key=lambda note: note.number)))

    return _changed(blocks, noted)


def _changed(blocks: Iterable[Block], change: Callable[[Block], Block]) -> tuple[Block, ...]:
    """Return the blocks after a change of each, those in sections and rows of figures too."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, FigureRow):
            found.append(replace(block, figures=tuple(change(each) for each in block.figures)))  # type: ignore[misc]  # a figure stays one
        elif isinstance(block, SectionView):
            found.append(replace(block, blocks=_changed(block.blocks, change)))
        else:
            found.append(change(block))
    return tuple(found)


Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True)
class OriginTag:
    """What the numbers are, where they are no measurement of the product: one line, in the band and in every foot.

    `kind` is simulated, imported or stand_in.
    """

    kind: Literal["simulated", "imported", "stand_in"]
    text: str


@dataclass(frozen=True)
class Limit:
    """A limit of the numbers in one sentence for the brief, with counts and without ids. `notice` is the number of
    the notice in the disclosure, which has the details."""

    text: str
    notice: int


@dataclass(frozen=True)
class Method:
    """How it was measured, in half a page: sentences by topic, made from the plan and from what was observed."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Companion:
    """The other document of a brief and its disclosure: `file` is its name, `sha256` its digest (of the disclosure,
    "" in the disclosure itself), `address` where it is published, `qr` a drawing (SVG) of digest and address."""

    file: str
    sha256: str = ""
    address: str = ""
    qr: Markup = EMPTY


@dataclass(frozen=True)
class Notice:
    """A limit of the numbers, in one sentence. One of `severity` "info" limits nothing: it says what they rest on.

    `first`: a reader must know it before any number; others stand after the result. `link` is the id of its details
    on the page, or "". In a brief with a disclosure of its own, `limits` or the `origin` stand for it.
    """

    title: str
    text: str
    severity: Severity
    first: bool = False
    number: int = 0
    link: str = ""
    limits: tuple[str, ...] = ()
    """The notice in short sentences with counts, without ids and paths."""
    of_method: str = ""
    """What the brief says among how it was measured, of a notice that limits no number."""
    is_grave: bool = False
    """Whether the first page says the limits in words: they may undo what it claims."""
    is_stated: bool = False
    """Whether somebody wrote the limits, and they are not computed: the first page says them in words, too."""
    origin: OriginTag | None = None


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
    """For the side file, and not on the page. They come without their cells."""
    cells: Callable[[], Iterable[tuple[str, CellEntry]]]
    """Returns the cells behind the numbers. Nothing else can be asked of the store while they are read."""
    stated: tuple[StatedNumber, ...] = ()
    """What it claims, and what the spec expects, for its capsule."""
    simulated: bool = False
    """Whether the run is simulated: see `reports/render/watermark.py`."""
    imported: bool = False
    """Whether the numbers were measured elsewhere."""
    side_file: str = ""
    """The side file's name."""
    made: str = ""
    """When the run ended, in ISO 8601; "" when unknown."""
    profile: str = ""
    """The profile of the run; "" for the spec without one."""
    keywords: tuple[str, ...] = ()
    legal_notes: tuple[Footnote, ...] = ()
    gaps: tuple[MissingPart, ...] = ()
    """The parts of the brief that could not be made."""
    title_html: Markup = EMPTY
    """The title with its computed numbers; `title` is plain."""
    subtitle_html: Markup = EMPTY
    title_notes: tuple[Footnote, ...] = ()
    """The footnotes of their numbers."""
    origin: tuple[OriginTag, ...] = ()
    limits: tuple[Limit, ...] = ()
    limits_line: str = ""
    grave_limits: tuple[str, ...] = ()
    stated_limits: tuple[str, ...] = ()
    """Those that the first page says in words: failures, and as many of the others as fit in one line."""
    """How many limits there are, for the first page: "Limits: 3 notes"."""
    method: Method | None = None
    repeat: str = ""
    """What was measured, and the command that measures it again; "" where nothing was."""
    disclosed: tuple[Block, ...] = ()
    """The blocks of the full disclosure, where it is a document of its own."""
    companion: Companion | None = None
    internal: bool = False
    """Whether pages show run ids and paths."""
    columns: int = 1
    one_page: bool = False
