"""The view model: everything that a template may lay out, computed and escaped. Templates contain no logic.

Text fields of type `str` are plain, and the template escapes them. `Markup` is safe HTML.
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
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict
from benchbrief.results.analysis.stated_numbers import StatedNumber

EMPTY = Markup("")


@dataclass(frozen=True)
class Footnote:
    """A footnote. On paper, the footnotes of running text are at the foot of the page, and all others are below their
    block."""

    number: int
    text: str
    again: str = ""
    """The id of the figure, table or text on another page that repeats the footnote."""


@dataclass(frozen=True)
class NumberSource:
    """The source of numbers: the spec's expression and its SQL."""

    expression: str
    sql: str


@dataclass(frozen=True)
class MissingPart:
    """A part of the brief that could not be made, and the reason, without a full stop. `kind` is figure, table, text or
    another word of the catalogue (`part_...`), and `name` is the part's number or title.

    `is_ours` means that the reason is a mistake in benchbrief. `is_drawing` means that only a figure's drawing is
    missing, while its data are with the brief. `anchor` is the id of the part's place, or "".
    """

    kind: str
    name: str
    reason: str
    is_ours: bool
    anchor: str = ""
    is_drawing: bool = False


@dataclass(frozen=True)
class TextView:
    """A text. `leads` means that it is short and introduces a figure, a table or a formula. Other such texts may be
    between the two."""

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
    """The heading of a column, or of a row in a transposed table."""

    label: str
    unit: str = ""
    numeric: bool = True
    notes: tuple[int, ...] = ()
    """The numbers of the footnotes that apply to all values below this heading."""
    heads: tuple[str, ...] = ()
    """The headings above the label that are shared with neighbours, outermost first."""


@dataclass(frozen=True)
class TableCell:
    """A cell of a table. `cells` are the ids of the plan's cells that a number comes from, separated by blanks. `best`
    means that the number is the best of its line, or within noise of the best. `pad` is the space after the number that
    lines up the column's decimal signs, in multiples of the type size.

    `value` is in `unit`, before scaling and rounding. It is None for a missing number and for a text. `heat` is the
    cell's shade in a heat table, from 1 for the lowest to 5, or 0 for no shade.
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
    """The numbers of the footnotes that apply to this value alone."""


@dataclass(frozen=True)
class TableRow:
    """A row of a table. `group` is a name that this row and the next ones share. It is printed on a line above them."""

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
    """A piece of a table that fits a page: its columns from `first` up to `end`.

    `points` is the type size, or 0 for the usual one. `widths` are percentages, beginning with the column of row
    headings. `width` is the piece's own width in per cent of the page's.
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
    """The rows of the table's head, without the corner."""
    parts: tuple[TablePart, ...]
    """The pieces of the table, which are placed one below the other on paper."""
    heat: str = ""
    """The meaning of a heat table's shades."""
    marks: tuple[int, ...] = ()
    """The numbers of the notes that apply to all values of the table."""
    compared: str = ""
    """The meaning of a comparison's letters, with the test and the correction that were used."""
    unit: str = ""
    """The unit of all numbers if columns or rows share one. Then only the caption shows it."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, if it makes any. `title` is plain."""
    kind: Literal["table"] = "table"

    @property
    def id(self) -> str:
        return f"table-{self.number}"


@dataclass(frozen=True)
class Card:
    """A number in large type. `value` and `unit` are as in a table's cell, and `marks` are the numbers of its
    footnotes."""

    label: str
    html: Markup
    value: float | None = None
    unit: str = ""
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class CalloutView:
    """The lead box. If its table has only one column, `cards` are the table's cells in large type (`card_pt` points). A
    larger table stays a table."""

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
    """The numbers of the notes that apply to all values of the box."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, if it makes any. `title` is plain."""
    kind: Literal["callout"] = "callout"


@dataclass(frozen=True)
class HeadlineNumberView:
    """A number in large type, with its sentence. With `shows_none`, the number is grey because there is no gain."""

    value: Markup
    text: Markup
    shows_none: bool = False


@dataclass(frozen=True)
class HeadlineView:
    """One to three numbers on the first page, `points` high. Their sentences are to the right of them if `beside` is
    set, and otherwise below. With `wraps`, a number is too long for one line."""

    numbers: tuple[HeadlineNumberView, ...]
    notes: tuple[Footnote, ...] = ()
    points: float = 42.0
    beside: bool = False
    wraps: bool = False
    kind: Literal["headline"] = "headline"


@dataclass(frozen=True)
class FigureView:
    """A figure. `title` names what is drawn. `claim` is a sentence on what the figure shows, either written by the
    author or computed.

    `svg` is empty if nothing was measured, or if drawing failed. In the latter case `undrawn` has the reason.

    `data` are the drawn points as text, below the heading `data_head`. `csv` has the measured points in base units, and
    `points` is for the page's script.
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
    """The figure's row of the appendix on provenance."""
    csv: str = ""
    points: Mapping[str, object] = field(default_factory=dict)
    claim: Markup | None = None
    key: str = ""
    """The meaning of the numbers beside the points, or of the pale bars. "" if the figure has neither."""
    undrawn: str = ""
    redrawn: Callable[[float], str] | None = field(default=None, repr=False, compare=False)
    """Draws the figure again at a share of its height. Its texts keep their size."""
    for_phone: Callable[[], tuple[str, Mapping[str, object]] | None] | None = field(
        default=None, repr=False, compare=False
    )
    """Draws the figure for a narrow screen, and returns the drawing and its `points`. None if the figure is already
    narrow enough."""
    marks: tuple[int, ...] = ()
    """The numbers of the figure's notes, including those printed below an earlier block."""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, if it makes any. `title` is plain."""
    paper_svg: str = ""
    """The drawing for paper, or "" if it equals `svg`. It has no legend if the figure beside it has the same one."""
    head_pt: float = 0.0
    """The least height in points of the texts above the figure, so that they match the texts of the figure beside it. 0
    if no figure is beside it."""
    claim_pt: float = 0.0
    """The least height in points of the claim, if that of the figure beside it is taller."""
    is_rigid: bool = False
    """Whether the figure cannot be made lower, because it has several panels or horizontal bars."""
    native: tuple[NativeChart, ...] = ()
    """The figure's panels as charts for office programs. Empty if nothing was measured."""
    kind: Literal["figure"] = "figure"

    @property
    def csv_link(self) -> str:
        """The figure's CSV data as a data URL."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.csv.encode()).decode()

    @property
    def id(self) -> str:
        return f"figure-{self.number}"


@dataclass(frozen=True)
class FigureRow:
    """Figures that are placed side by side if the page is wide enough."""

    figures: tuple[FigureView, ...]
    kind: Literal["figures"] = "figures"


@dataclass(frozen=True)
class FormulaView:
    """A formula. `steps` are the right sides of its equation: first in words, then in numbers, and finally the result.
    `title` says what it computes."""

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
    """Whether the fact is of little interest if all machines have the same value."""


@dataclass(frozen=True)
class FactGroup:
    label: str
    lines: tuple[FactLine, ...]


@dataclass(frozen=True)
class FactRow:
    """A line of a table that compares facts. It has a cell for each column, or a single cell for all. `differs` means
    that the observed fact contradicts the declared one."""

    name: str
    cells: tuple[str, ...]
    differs: bool = False
    told: tuple[str, ...] = ()
    """The fact in lines: one for each side that has it, with the side's name, or one for all."""


@dataclass(frozen=True)
class FactsView:
    """The test configuration. In a brief for customers, `common` is a line with everything that all groups share, and
    the differences are in a table with `corner`, `heads` and the rows `beside`. Without a table, the view needs no
    `number`.
    """

    number: int
    title: str
    groups: tuple[FactGroup, ...]
    heads: tuple[str, ...] = ()
    beside: tuple[FactRow, ...] = ()
    corner: str = ""
    common: str = ""
    title_html: Markup = EMPTY
    """The title with the numbers of its claims, if it makes any. `title` is plain."""
    notes: tuple[Footnote, ...] = ()
    rows: tuple[FactRow, ...] = ()
    """The facts of a brief for customers that are not in the table. A fact that differs has a cell for each of the
    `sides`."""
    sides: tuple[str, ...] = ()
    shared: str = ""
    """A remark that a single cell holds for all sides."""
    kind: Literal["facts"] = "facts"

    @property
    def observed(self) -> bool:
        """Whether any fact was observed. For imported results, none was."""
        return any(line.observed for group in self.groups for line in group.lines)

    @property
    def id(self) -> str:
        return f"table-{self.number}" if self.number else ""


@dataclass(frozen=True)
class Item:
    """A line of the disclosure. `term` may be empty."""

    term: str
    text: str
    emphasis: bool = False


@dataclass(frozen=True)
class LevelTable:
    """The meaning of a factor's levels. `head` has the factor's label and, for a bundle, the names of its attributes.
    Each row has a level's label and its values."""

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
    """The disclosure. `bad_cells` are the failed or missing cells in groups, and `all_ok` is the sentence to print if
    there are none. `cells` are all cells, for the HTML."""

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
    """The title with the numbers of its claims, if it makes any. `title` is plain."""
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
    """Yield all figures in order, including those in sections and in rows of figures."""
    for block in blocks:
        if isinstance(block, FigureView):
            yield block
        elif isinstance(block, FigureRow):
            yield from block.figures
        elif isinstance(block, SectionView):
            yield from figures_of(block.blocks)


def with_every_limit(view: ReportView) -> ReportView:
    """Return the view with all its limits listed."""
    return replace(view, limits=view.every_limit, limits_line=view.every_limits_line, further_limits="")


def notes_of(blocks: Iterable[Block]) -> Iterator[Footnote]:
    """Yield all footnotes in order, including those in sections, but not in the disclosure."""
    for block in blocks:
        if isinstance(block, FigureRow):
            yield from notes_of(block.figures)
        elif isinstance(block, SectionView):
            yield from notes_of(block.blocks)
        elif not isinstance(block, DisclosureView):
            yield from block.notes


def with_redrawn_figures(blocks: Iterable[Block], shares: Mapping[str, float]) -> tuple[Block, ...]:
    """Return the blocks with some figures redrawn. `shares` has the ids of these figures, each with the share of its
    height that the figure keeps."""

    def redrawn(block: Block) -> Block:
        if not isinstance(block, FigureView) or block.id not in shares or block.redrawn is None:
            return block
        return replace(block, svg=block.redrawn(shares[block.id]), paper_svg="")

    return _changed(blocks, redrawn)


def with_notes_again(blocks: Iterable[Block], again: Mapping[str, Iterable[int]]) -> tuple[Block, ...]:
    """Return the blocks, with footnotes repeated in some of them. `again` has the numbers of these footnotes, by the id
    of the figure, table, formula or text that repeats them."""
    blocks = tuple(blocks)
    known = {note.number: note for note in notes_of(blocks)}

    def noted(block: Block) -> Block:
        if not isinstance(block, FigureView | TableView | FormulaView | TextView):
            return block
        more = [replace(known[number], again=block.id) for number in again.get(block.id, ()) if number in known]
        return replace(block, notes=tuple(sorted((*block.notes, *more), key=lambda note: note.number)))

    return _changed(blocks, noted)


def _changed(blocks: Iterable[Block], change: Callable[[Block], Block]) -> tuple[Block, ...]:
    """Return the blocks after changing each one, including those in sections and in rows of figures."""
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
    """A line saying that the numbers do not measure the product, or are only a rehearsal. It is shown in the band and
    in every footer."""

    kind: Literal["simulated", "imported", "stand_in", "rehearsal"]
    text: str


@dataclass(frozen=True)
class Limit:
    """A limit of the numbers as one sentence in the brief, with counts and without ids. `notice` is the number of the
    notice in the disclosure that has the details."""

    text: str
    notice: int


@dataclass(frozen=True)
class Method:
    """How the measurement was done, in half a page of sentences by topic. They are based on the plan and on
    observations."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Companion:
    """The disclosure of a brief, or the brief of a disclosure. `file` is the companion's name, `sha256` is the
    disclosure's digest ("" in the disclosure itself), `address` is where the companion is published, and `qr` is a
    drawing (SVG) of digest and address.
    """

    file: str
    sha256: str = ""
    address: str = ""
    qr: Markup = EMPTY

    @property
    def digest(self) -> str:
        """Return the first digits of the disclosure's SHA-256, which a brief prints."""
        return self.sha256[:16]


@dataclass(frozen=True)
class Notice:
    """A limit of the numbers, in one sentence. A notice of the `severity` "info" only says what the numbers are based
    on.

    `first` means that a reader must know the limit before any number. Other notices come after the result. `link` is
    the id of the notice's details on the page, or "". A brief with a separate disclosure shows `limits` or the `origin`
    in place of the notice.
    """

    title: str
    text: str
    severity: Severity
    first: bool = False
    number: int = 0
    link: str = ""
    limits: tuple[str, ...] = ()
    """The notice in short sentences with counts, without ids or paths."""
    of_method: str = ""
    """The text that the brief shows among the methods if the notice does not limit any number."""
    is_grave: bool = False
    """Whether the first page states the limits in words, because they may invalidate the page's claims."""
    is_stated: bool = False
    """Whether the limits were written by a person. The first page states such limits in words, too."""
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
    """The numbers for the side file, without their cells. They are not on the page."""
    cells: Callable[[], Iterable[tuple[str, CellEntry]]]
    """Returns the cells that the numbers come from. While they are read, the store allows no other query."""
    stated: tuple[StatedNumber, ...] = ()
    """The brief's claims and the spec's expectations, for the capsule."""
    claims: tuple[ClaimVerdict, ...] = ()
    """The verdicts on the brief's claims, for the sheet of claims."""
    simulated: bool = False
    """Whether the run is simulated: see `reports/render/watermark.py`."""
    imported: bool = False
    """Whether the numbers were measured elsewhere."""
    side_file: str = ""
    """The side file's name."""
    made: str = ""
    """When the run ended, in ISO 8601, or "" if unknown."""
    profile: str = ""
    """The run's profile, or "" if the spec was run without one."""
    keywords: tuple[str, ...] = ()
    legal_notes: tuple[Footnote, ...] = ()
    gaps: tuple[MissingPart, ...] = ()
    """The parts of the brief that could not be made."""
    title_html: Markup = EMPTY
    """The title with its computed numbers. `title` is plain."""
    subtitle_html: Markup = EMPTY
    title_notes: tuple[Footnote, ...] = ()
    """The footnotes on the numbers in the title."""
    origin: tuple[OriginTag, ...] = ()
    limits: tuple[Limit, ...] = ()
    """The limits that the brief lists. The disclosure may have more."""
    every_limit: tuple[Limit, ...] = ()
    """The limits to list if there is room."""
    limit_count: int = 0
    """How many limits there are, with those that only the disclosure has."""
    further_limits: str = ""
    """The sentence on how many limits only the disclosure has, or ""."""
    limits_line: str = ""
    """The first page's text on how many limits there are, such as "Limits: 3 notes"."""
    every_limits_line: str = ""
    """The same text as `limits_line`, for a brief that has room to list all limits."""
    grave_limits: tuple[str, ...] = ()
    stated_limits: tuple[str, ...] = ()
    """The limits that the first page shows in words: failures, and as many of the others as fit on one line."""
    method: Method | None = None
    repeat: str = ""
    """A description of what was measured, and the command that repeats it, or "" if nothing was measured."""
    disclosed: tuple[Block, ...] = ()
    """The blocks of the full disclosure, if it is a separate document."""
    companion: Companion | None = None
    internal: bool = False
    """Whether pages show run ids and paths."""
    columns: int = 1
    one_page: bool = False

    @property
    def further_count(self) -> int:
        """The number of limits that only the disclosure has."""
        return len(self.every_limit) - len(self.limits)
