"""Writes a brief as a Word document. Its styles have names, so that a house's template can set their look."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Literal

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT
from docx.oxml.ns import qn
from docx.shared import Emu, Mm, Pt, RGBColor
from docx.styles import BabelFish
from docx.table import _Cell
from docx.text.paragraph import Paragraph
from markupsafe import Markup

from benchbrief.compiler.briefs.colours import ACCENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.bar_marks import ink_on
from benchbrief.reports.charts.chart import INK, SOFT, text_width
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureRow,
    FigureView,
    Footnote,
    FormulaView,
    HeadlineView,
    Item,
    SectionView,
    TableView,
    TextView,
)
from benchbrief.reports.office.brief_frame import Chapter, Front, code_of, endings_of, front_of, properties_of, said_of
from benchbrief.reports.office.line_breaks import broken, closed
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import opened, settled
from benchbrief.reports.office.prose_tables import with_tables
from benchbrief.reports.office.rich_text import Paragraph as Said
from benchbrief.reports.office.rich_text import Run, joined, note_runs, paragraphs, runs_of
from benchbrief.reports.office.table_grid import (
    Grid,
    aligned,
    grid_of,
    grid_of_facts,
    grid_of_levels,
    run_on,
    told_facts,
)
from benchbrief.reports.office.text_fit import column_widths, lines_of
from benchbrief.reports.office.word_pages import Drawn, shares_of
from benchbrief.reports.office.word_parts import (
    Footnotes,
    add_field,
    add_jump,
    add_link,
    add_picture,
    element,
    has_marks,
    line,
    mark,
    number_anew,
    put,
    set_numbering,
    shade,
)
from benchbrief.reports.text.html_markup import code_in_backticks, plain_text, writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import headline_of
from benchbrief.reports.view.house_style import typeface_of

_DPI = 300
_PIXEL = 0.75
"""The size in points of one pixel of a drawing."""
_HEADLINE_PT, _BOLD = 34.0, 1.12
"""The type size of the headline's numbers, and the factor by which bold type is wider than estimated."""
_TITLE_SIZES = (24, 22, 20)
"""The type sizes of the title, the largest first."""
_CARD_PT = 22.0
"""The type size of numbers in boxes that are side by side. If a number does not fit, each number gets a line of its
own."""
_TEXT_PT, _SHORT_LIST = 10.0, 5
"""The type size of running text, and the most items of a list that is kept on one page."""
_LIST_PT, _FEW_FACTS = 18.0, 4
"""The indent of a list, and the most facts that are below one another in one column."""
_ENDING_PT, _TERM_GAP = 9.0, 10.0
"""The type size of method, limits and configuration, and the space between a fact's name and its value."""
_TABLE_PT, _CELL_GAP, _KEPT_ROWS = 9.0, 12.0, 14
"""The type size of a table, the space beside a cell's text, and the most rows of a table that is kept on one page."""
_LANGUAGES = {"en": "en-US", "ja": "en-US"}
"""The languages that text in Latin letters is marked with. If it were marked as Japanese, names and units would be
broken anywhere."""
_BAND, _SHADED, _RULE = "#0b3a5b", "#f2f6f9", "#c9d3da"
_ON_BAND, _TAG, _TAG_INK, _TAG_PT = "on the band", "#fff1d6", "#7a4300", 9.5
"""Four looks of the first page's band: a name for the colour of its text, and the background, the text colour and the
type size of its tag, which gives the origin of the numbers."""
_TAG_PAD = "\N{NO-BREAK SPACE}"
"""The space before and after the text of the tag on the first page's band."""
_BOX_PAD, _QR, _QUIET = 8.0, Mm(21), 4 / 53
"""The space within a box, the size of the QR code with the link to the disclosure, and roughly which share of that size
is the code's own margin."""
_HEAT = ("#ffffff", "#eef5fa", "#d6e8f3", "#b3d3e8", "#8dbddb", "#62a4ca")


@dataclass(frozen=True)
class _Style:
    """One of our own styles. It is for paragraphs unless `of` names another kind. `based` is the style that it
    modifies."""

    points: float = 0.0
    bold: bool | None = None
    colour: str = ""
    before: float = 0.0
    after: float = 0.0
    based: str = "Normal"
    of: Literal["paragraph", "character"] = "paragraph"
    next_to: bool = False


_STYLES = {
    "Title": _Style(_TITLE_SIZES[0], True, _ON_BAND, 2, 2),
    "Subtitle": _Style(12, False, _ON_BAND, 8, 4),
    "Heading 1": _Style(16, True, _BAND, 9, 3, next_to=True),
    "Heading 2": _Style(13.5, True, _BAND, 10, 3, next_to=True),
    "Heading 3": _Style(12, True, _BAND, 10, 2, next_to=True),
    "Caption": _Style(9.5, False, INK, 6, 3, next_to=True),
    "List Bullet": _Style(),
    "List Number": _Style(),
    "footnote text": _Style(8.5, False, SOFT, 0, 1),
    "Brief Kicker": _Style(9.5, True, _ON_BAND, 0, 2),
    "Brief Origin": _Style(_TAG_PT, True, _TAG_INK, 4, 3),
    "Brief Headline": _Style(_HEADLINE_PT, True, _BAND, 0, 0, next_to=True),
    "Brief Headline Text": _Style(11, False, INK, 0, 2),
    "Brief Limits": _Style(9, False, INK, 0, 6),
    "Brief Claim": _Style(11.5, True, INK, 8, 0, next_to=True),
    "Brief Figure": _Style(0, None, "", 0, 3),
    "Brief Note": _Style(8.5, False, SOFT, 0, 2),
    "Brief Box": _Style(10, False, INK, 2, 2),
    "Brief Box Number": _Style(_CARD_PT, True, _BAND, 2, 0),
    "Brief Box Line": _Style(10.5, False, INK, 1, 1),
    "Brief Table": _Style(9, None, "", 1.5, 1),
    "Brief Ending": _Style(_ENDING_PT, False, INK, 0, 2),
    "Brief Legal": _Style(8, False, SOFT, 8, 2),
    "Brief Code": _Style(0, None, "", of="character", based="Default Paragraph Font"),
    "Brief Link": _Style(0, None, "#0b5cad", of="character", based="Default Paragraph Font"),
    "footnote reference": _Style(0, None, "", of="character", based="Default Paragraph Font"),
}
"""The styles that a document uses. A house's template may replace them with styles of the same names."""
_BASES = ("Normal", "Default Paragraph Font", "Table Grid", "Normal Table")
_LIMITS = "limits"
"""The name of the bookmark at the limits."""
_MARK, _NOTE = "footnote reference", "footnote text"


def written(brief: HandOver) -> bytes:
    """Return the document. Raises ReportError if the house's template cannot be used."""
    document = opened(brief.template, "Word", docx.Document) if brief.template else docx.Document()
    writer = _Writer(brief, document)
    with written_as(brief.words.locale):
        writer.write()
    out = io.BytesIO()
    document.save(out)
    return settled(out.getvalue(), brief.view.made)


@dataclass
class _Writer:
    brief: HandOver
    document: Any
    """The python-docx document. The library does not type it completely."""
    footnotes: Footnotes = field(init=False)
    cell: _Cell | None = None
    """The cell that is being written, or None for the page."""
    width: Emu = field(init=False)
    """The width of the cell or page that is being written."""
    last_heading: str = ""
    notes: dict[int, Footnote] = field(default_factory=dict)
    """The footnotes of running text, by number."""
    drawings: list[tuple[Any, FigureView, Emu]] = field(default_factory=list)
    """The paragraphs for figures, each with its figure and the width of its column."""

    def __post_init__(self) -> None:
        self.footnotes = Footnotes(self.document)
        self.view, self.words = self.brief.view, self.brief.words

    # --- the whole ---------------------------------------------------------------------------------------------------

    def write(self) -> None:
        view = self.view
        _empty_body(self.document)
        front = front_of(view, self.brief.report, self.words)
        self.set_styles()
        self.set_page(front.origin)
        for name, value in properties_of(view).items():
            setattr(self.document.core_properties, name, value)
        self.notes = {note.number: note for note in (*_notes_of_texts(view.blocks), *view.legal_notes)}
        self.write_front(front)
        headline, blocks = headline_of(view.blocks)
        if headline:
            self.write_headline(headline)
        self.write_limits(front.warnings)
        code = code_of(self.brief, "Word")
        method, limits = endings_of(view, self.words, coded=bool(code)) if view.disclosed else (None, None)
        both = method and limits and not self.brief.template
        *others, last = with_tables(blocks) or (None,)
        facts = last if both and isinstance(last, FactsView) and last.rows and not last.beside else None
        self.write_blocks(filter(None, (*others, None if facts else last)))
        if not view.blocks:
            self.paragraph("Normal", runs_of(self.words["empty_report"]))
        first, second = map(self.inside, self.halves()) if both else (nullcontext(), nullcontext())
        below_limits = method and limits and self.lines_in_half(method.said) > self.lines_in_half(limits.said_alone)
        if method:
            with first:
                self.write_chapter(method, last=not limits)
                if facts and not below_limits:
                    self.write_facts(facts)
        if limits:
            with second:
                self.write_chapter(limits, last=True, coded=bool(code))
                if facts and below_limits:
                    self.write_facts(facts)
            if code:
                self.write_coded(limits, code)
        if not (limits and code and not view.legal_notes):
            self.write_paragraphs(paragraphs(view.legal), "Brief Legal")
        self.draw_figures()

    def lines_in_half(self, said: Iterable[Said]) -> int:
        """Return about how many lines a part of the ending takes in one of two columns."""
        room = self.width.pt / 2 - _CELL_GAP
        return sum(lines_of(each.text, room - (_LIST_PT if each.item else 0), _ENDING_PT) for each in said)

    def halves(self) -> tuple[_Cell, _Cell]:
        """Add two columns that stay on one page, and return their cells."""
        table = self.grid(1, 2, lines=False)
        put(table.rows[0]._tr.get_or_add_trPr(), element("w:cantSplit"))
        left, right = table.rows[0].cells
        return left, right

    def write_front(self, front: Front) -> None:
        """Write the title and the lines below it, on a band in the brand's colour. With the house's styles, there is no
        band."""
        with nullcontext() if self.brief.template else self.inside(self.box(self.brand, self.brand, pad=12.0)):
            parts = (front.kicker, front.byline) if not self.brief.template else (front.kicker,)
            kicker = self.paragraph("Brief Kicker", [Run("\t".join(map(str, filter(None, parts))))])
            kicker.paragraph_format.tab_stops.add_tab_stop(self.width, WD_TAB_ALIGNMENT.RIGHT)
            self.write_title(closed(runs_of(front.title)))
            if front.subtitle:
                self.paragraph("Subtitle", closed(runs_of(front.subtitle)))
            if front.origin:
                tag = self.paragraph("Brief Origin", [Run(front.origin)])
                if not self.brief.template:
                    self.set_ground(tag, text_width(front.origin, _TAG_PT) * _BOLD)
            if front.byline and self.brief.template:
                self.paragraph("Brief Note", runs_of(front.byline))
        self.write_notes(self.view.title_notes)
        if not self.brief.template:
            self.gap()

    def write_title(self, runs: tuple[Run, ...]) -> None:
        """Write the title, in smaller type if that saves a line. The lines of a Japanese title end between phrases."""
        if self.brief.template:
            self.paragraph("Title", runs)
            return
        text = "".join(run.text for run in runs)
        lines = {size: lines_of(text, self.width.pt, size, bold=True) for size in _TITLE_SIZES}
        points = max(size for size in _TITLE_SIZES if lines[size] == min(lines.values()))
        title = self.paragraph("Title", broken(runs, self.width.pt, points))
        if points < _TITLE_SIZES[0]:
            _set_size(title, points)

    def set_ground(self, tag: Any, wide: float) -> None:
        """Give the text of a line a background, with a little room at its ends. The text is about `wide` points wide
        and gets smaller if that is more than the line has."""
        for run in tag.runs:
            run.text = f"{_TAG_PAD}{run.text}{_TAG_PAD}"
            look = run._r.get_or_add_rPr()
            shade(look, _TAG)
            look.find(qn("w:shd")).addprevious(line("bdr", _TAG, 24))
            run.font.size = Pt(_TAG_PT - 1) if wide > self.width.pt else None

    def write_limits(self, said: Iterable[Said]) -> None:
        """Write the line about limits, which ends with a link to the full list."""
        for each in said:
            last = each.runs[-1:]
            if not (self.view.disclosed and last and last[0].text.endswith(self.view.limits_line)):
                self.write_paragraphs([each], "Brief Limits")
                continue
            before = replace(last[0], text=last[0].text.removesuffix(self.view.limits_line))
            line = self.paragraph("Brief Limits", (*each.runs[:-1], before))
            add_jump(line, _LIMITS, f"{self.view.limits_line}{self.words['at_the_end']}", "Brief Link")

    def write_chapter(self, chapter: Chapter, *, last: bool, coded: bool = False) -> None:
        """Write a part of the ending. With `coded`, leave out the lines that stand beside the disclosure's QR code. A
        short part stays on one page, and the legal lines follow the `last` part on its page."""
        head = self.heading(chapter.head, 2)
        if chapter.numbered:
            mark(head, _LIMITS)
        in_column = self.cell is not None
        whole = not in_column and len(chapter.said) <= _KEPT_ROWS
        said = self.write_paragraphs(chapter.said_alone if coded else chapter.said, "Brief Ending", leads=whole)
        for each in said if not self.brief.template else ():
            _set_size(each, _ENDING_PT)  # also of lists, whose style is that of running text
        if said and not coded:
            said[-1].paragraph_format.keep_with_next = last and bool(self.view.legal) and not in_column

    def write_coded(self, chapter: Chapter, code: bytes) -> None:
        """Write the lines of a part, and the legal lines, to the right of the QR code that leads to the disclosure. So
        no page begins with legal lines."""
        self.gap().paragraph_format.space_after = Pt(0)
        table = self.grid(1, 2, lines=False)
        put(table.rows[0]._tr.get_or_add_trPr(), element("w:cantSplit"))
        left, right = table.rows[0].cells
        wide = Emu(_QR + Pt(2 * _CELL_GAP))
        for place, width in ((left, wide), (right, Emu(self.width - wide))):
            place.width = width
        for column, width in zip(table.columns, (wide, Emu(self.width - wide)), strict=True):
            column.width = width
        self.add_code(self.paragraph("Brief Figure", (), left, first=True), code)
        with self.inside(right):
            self.write_paragraphs(said_of(chapter.items, chapter.colon), "Brief Ending")
            if not self.view.legal_notes:  # a cell has no footnotes
                for each in self.write_paragraphs(paragraphs(self.view.legal), "Brief Legal"):
                    each.paragraph_format.space_before = Pt(2)

    def add_code(self, place: Any, code: bytes) -> None:
        """Add the picture of the disclosure's QR code to a paragraph."""
        place.paragraph_format.left_indent = -Emu(int(_QR * _QUIET))
        place.paragraph_format.space_before = Pt(2)
        place.paragraph_format.keep_with_next = True
        other = self.view.companion
        name = f"{self.words['full_disclosure']} (QR)"
        add_picture(place, code, _QR, name, f"{name}: {other and (other.address or other.file)}")

    def write_paragraphs(self, said: Iterable[Said], style: str = "Normal", *, leads: bool = False) -> list[Any]:
        """Write paragraphs in a style and return them. List items get the list style, with our own marks if that style
        has none. Paragraphs that introduce a figure or a table (`leads`) stay on its page, and the items of a short
        list stay together.
        """
        lists = {"bullet": "List Bullet", "number": "List Number"}
        numbering, count, written = None, 0, []
        said = tuple(said)
        short = sum(bool(each.item) for each in said) <= _SHORT_LIST
        for each, following in zip_longest(said, said[1:]):
            count = count + 1 if each.item == "number" else 0
            own = self.document.styles[lists.get(each.item, style)]
            marked = not each.item or has_marks(own)
            mark = "" if marked else f"{count}. " if count else "\N{BULLET} "
            made = self.paragraph(own.name, (Run(mark), *each.runs) if mark else each.runs)
            if count and marked:
                numbering = number_anew(self.document, own) if count == 1 else numbering
                set_numbering(made, numbering)
            if each.level:
                made.paragraph_format.left_indent = Pt(_LIST_PT * (1 + each.level))
            made.paragraph_format.keep_together = True if each.item and short else None
            if leads or (each.item and short and following and following.item):
                made.paragraph_format.keep_with_next = True
            written.append(made)
        return written

    # --- the blocks --------------------------------------------------------------------------------------------------

    def write_blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            match block:
                case TextView():
                    said = paragraphs(block.html)
                    self.write_paragraphs(said, leads=block.leads and not self.fills_lines(said))
                case SectionView():
                    self.heading(block.title_html or block.title, block.level)
                    self.write_blocks(block.blocks)
                case HeadlineView():
                    self.write_headline(block)
                case CalloutView():
                    self.write_callout(block)
                case TableView():
                    self.write_table(block)
                case FigureView():
                    self.write_figures((block,))
                case FigureRow():
                    self.write_figures(block.figures)
                case FormulaView():
                    self.write_formula(block)
                case FactsView():
                    self.write_facts(block)
                case DisclosureView():
                    self.write_disclosure(block)

    def fills_lines(self, said: Iterable[Said]) -> bool:
        """Return whether a text is long enough to be at the foot of a page if its figure is on the next page."""
        wide = sum(text_width(run.text, _TEXT_PT) for each in said for run in each.runs)
        return wide > 2 * float(self.width.pt)

    def write_headline(self, block: HeadlineView) -> None:
        table = self.grid(1, len(block.numbers), lines=False)
        room = self.width.pt / len(block.numbers) - _CELL_GAP - _BOX_PAD
        widest = max(text_width(plain_text(number.value), _HEADLINE_PT) for number in block.numbers) * _BOLD
        points = max(14, int(_HEADLINE_PT * min(1.0, room / widest)))
        for cell, number in zip(table.rows[0].cells, block.numbers, strict=True):
            value = self.paragraph("Brief Headline", runs_of(number.value), cell, first=True)
            for run in value.runs:
                run.font.size = Pt(points) if points < _HEADLINE_PT else None
                if number.shows_none and not self.brief.template:
                    run.font.color.rgb = RGBColor.from_string(SOFT.lstrip("#").upper())
            text = closed(runs_of(number.text))
            self.paragraph("Brief Headline Text", broken(text, room, _STYLES["Brief Headline Text"].points), cell)
            if not self.brief.template:
                _shade(cell, _SHADED)
                _border(cell, SOFT if number.shows_none else self.accent)
        if not self.brief.template:
            _pad(table, _BOX_PAD)
            self.gap()
        self.write_notes(block.notes)

    def write_callout(self, block: CalloutView) -> None:
        widest = max((text_width(plain_text(card.html), _CARD_PT) for card in block.cards), default=0.0)
        beside = (widest * 1.2 + 14) * len(block.cards) <= self.width.pt
        said = joined((Markup("<b>{}</b>").format(block.title_html or block.title), block.column))
        with self.inside(self.box(_SHADED, self.accent)):
            self.paragraph("Brief Box", runs_of(said, block.marks))
            each_wide = int(self.width / max(1, len(block.cards)))
            if beside and block.cards:
                lines = [
                    ("Brief Box Number", [runs_of(card.html) for card in block.cards]),
                    ("Brief Box", [runs_of(card.label, card.marks) for card in block.cards]),
                ]
                stops = [Emu(each_wide * place) for place in range(1, len(block.cards))]
            else:
                bold = [tuple(replace(run, bold=True) for run in runs_of(card.html)) for card in block.cards]
                named = zip((runs_of(card.label, card.marks) for card in block.cards), bold, strict=True)
                lines = [("Brief Box Line", list(pair)) for pair in named]
                stops = [Emu(int(self.width * 0.5))]
            for style, cells in lines if block.cards else ():
                runs = [run for place, cell in enumerate(cells) for run in ((Run("\t"), *cell) if place else cell)]
                line_ = self.paragraph(style, runs)
                for stop in stops:
                    line_.paragraph_format.tab_stops.add_tab_stop(stop)
            text = Markup("{}<p>{}</p>").format(block.html or "", block.note or "")
            self.write_paragraphs(paragraphs(text), "Brief Box")
        self.gap()
        if block.table:
            self.write_grid(grid_of(block.table))
        self.write_notes(block.notes)

    def write_table(self, block: TableView) -> None:
        unit = f" ({block.unit})" if block.unit else ""
        title = Markup("{}{}").format(block.title_html or block.title, unit)
        if block.number:  # a table in a text has none
            self.caption("table", block.number, title, block.marks)
        below = [text for text in (block.heat, block.compared, code_in_backticks(block.note or "")) if text]
        self.write_grid(grid_of(block), noted=bool(below or block.notes))
        for text in below:
            self.paragraph("Brief Note", runs_of(text))
        self.write_notes(block.notes)

    def write_figures(self, figures: Sequence[FigureView]) -> None:
        """Write a figure, or several side by side: its message, its drawing, and its notes."""
        keys = dict(zip((figure.number for figure in figures[1:]), (figure.key for figure in figures), strict=False))
        parts: tuple[Callable[[FigureView], None], ...] = (
            self.write_message,
            self.write_drawing,
            lambda figure: self.write_below(figure, keys.get(figure.number, "")),
        )[: 3 if any(figure.key or figure.note or figure.notes for figure in figures) else 2]
        if len(figures) == 1:
            for part in parts:
                part(figures[0])
            return
        table = self.grid(len(parts), len(figures), lines=False)
        for part, row in zip(parts, table.rows, strict=True):
            put(row._tr.get_or_add_trPr(), element("w:cantSplit"))
            for cell, figure in zip(row.cells, figures, strict=True):
                with self.inside(cell):
                    part(figure)
                for each in cell.paragraphs if row is not table.rows[-1] else ():
                    each.paragraph_format.keep_with_next = True
        self.gap()

    def write_message(self, block: FigureView) -> None:
        if block.claim:
            claim = closed(runs_of(block.claim))
            self.paragraph("Brief Claim", broken(claim, self.width.pt, _STYLES["Brief Claim"].points))
        caption = self.caption("figure", block.number, block.title_html or block.title, block.marks)
        if block.claim:
            caption.paragraph_format.space_before = Pt(2)

    def write_drawing(self, block: FigureView) -> None:
        picture = self.picture(block)
        if picture is None:
            reason = self.words["undrawn_figure"].format(reason=block.undrawn) if block.undrawn else ""
            self.paragraph("Normal", runs_of(reason or self.words["empty_figure"]))
        elif block.key or block.note or block.notes:
            picture.paragraph_format.keep_with_next = True

    def write_below(self, block: FigureView, beside: str = "") -> None:
        """Write the texts below a figure. Its key is left out if it is `beside`, the key of the figure next to it."""
        if block.key and block.key != beside:
            self.paragraph("Brief Note", runs_of(block.key))
        if block.note:
            self.paragraph("Brief Note", runs_of(code_in_backticks(block.note)))
        self.write_notes(block.notes)

    def picture(self, block: FigureView) -> Any:
        """Add a paragraph for a figure's drawing and return it, or None if the figure has none."""
        if not block.svg:
            return None
        paragraph = self.paragraph("Brief Figure", ())
        self.drawings.append((paragraph, block, self.width))
        return paragraph

    def draw_figures(self) -> None:
        """Add the drawings of all figures. Without a house's template, their heights are chosen to fill the pages."""
        sizes = [_size_of(block) for _, block, _ in self.drawings]
        wide = [Emu(min(room, Pt(size[0] * _PIXEL))) for size, (_, _, room) in zip(sizes, self.drawings, strict=True)]
        drawn = [
            Drawn(place, block.id, width.pt * size[1] / size[0])
            for (place, block, _), width, size in zip(self.drawings, wide, sizes, strict=True)
            if block.redrawn
        ]
        rigid = any(block.is_rigid for _, block, _ in self.drawings)
        shares = shares_of(self.document, drawn, 1.0 if rigid else 0.0) if drawn and not self.brief.template else {}
        for (place, block, _), width, size in zip(self.drawings, wide, sizes, strict=True):
            svg = block.redrawn(shares[block.id]) if block.redrawn and block.id in shares else block.svg
            try:
                content = self.brief.converter.png(svg, width.inches * _DPI / size[0])
            except NotDrawn as error:
                self.brief.faults.append(f"figure {block.number} is missing from the file for Word: {error}")
                self.add_runs(place, runs_of(self.words["undrawn_figure"].format(reason=error)))
                continue
            add_picture(place, content, width, f"{self.words['figure']} {block.number}", block.alt)

    @contextmanager
    def inside(self, cell: _Cell) -> Iterator[None]:
        """Write into a cell, replacing its empty paragraph."""
        self.cell, self.width = cell, Emu((cell.width or self.width) - Pt(_CELL_GAP))
        try:
            yield
        finally:
            self.cell, self.width = None, self.text_width
            if len(cell.paragraphs) > 1 and not cell.paragraphs[0].text:
                cell._tc.remove(cell.paragraphs[0]._p)

    def write_formula(self, block: FormulaView) -> None:
        """Write a worked example in a box that is never divided by a page break."""
        title = Markup("{}{}<b>{}</b>").format(self.words["formula"], self.words["colon"], block.title)
        with self.inside(self.box(_SHADED, self.accent)):
            self.paragraph("Brief Box", runs_of(title, block.marks))
            *steps, found = block.steps
            steps.append(Markup("<b>{}</b>").format(found))
            self.paragraph("Brief Box Line", (Run("= "), *runs_of(Markup(" = ").join(steps))))
        self.gap()
        self.write_notes(block.notes)

    def write_facts(self, block: FactsView) -> None:
        grid = None if block.common and not block.beside else grid_of_facts(block, self.words)
        if told := told_facts(block, self.words):
            title = block.title_html or Markup.escape(block.title)
            if plain_text(title) != self.last_heading:
                self.heading(title, 2)
            self.write_told(told)
            if grid:
                self.caption("table", block.number, "")
                self.write_grid(grid, noted=bool(block.notes))
        elif grid is None:
            title = Markup("<b>{}</b>").format(block.title_html or block.title)
            said = self.paragraph("Normal", runs_of(joined((title, block.common or self.words["no_facts"]))))
            said.paragraph_format.keep_together = True
        else:
            title = block.title_html or Markup.escape(block.title)
            if title and plain_text(title) != self.last_heading:
                self.heading(title, 2)
                title = Markup()
            self.caption("table", block.number, block.common or title)
            self.write_grid(grid, noted=bool(block.notes))
        self.write_notes(block.notes)

    def write_told(self, told: Sequence[tuple[str, Markup]]) -> None:
        """Write facts, each on a line with its name before it. Many facts are in two columns or, if they are in a
        column already, run on in one paragraph."""
        if len(told) <= _FEW_FACTS or self.brief.template:
            self.write_lines(told)
        elif self.cell is not None:
            self.paragraph("Brief Ending", runs_of(run_on(told, self.words)))
        else:
            middle, halves = (len(told) + 1) // 2, self.halves()
            for cell, part in zip(halves, (told[:middle], told[middle:]), strict=True):
                with self.inside(cell):
                    self.write_lines(part)
            self.gap()

    def write_lines(self, told: Sequence[tuple[str, Markup]]) -> None:
        """Write facts, each on a line of its own."""
        colon = self.words["colon"].rstrip()
        wide = max(text_width(f"{name}{colon}", _ENDING_PT) for name, _ in told) * _BOLD + _TERM_GAP
        for name, value in told:
            line = self.paragraph("Brief Ending", (Run(f"{name}{colon}", bold=True), Run("\t"), *runs_of(value)))
            layout = line.paragraph_format
            layout.left_indent, layout.first_line_indent = Pt(wide), Pt(-wide)
            layout.tab_stops.add_tab_stop(Pt(wide))
            layout.keep_together = layout.keep_with_next = True
        line.paragraph_format.keep_with_next = None

    def write_disclosure(self, block: DisclosureView) -> None:
        self.heading(self.words["disclosure"], 2)
        self.heading(self.words["d_cells"], 3)
        self.write_paragraphs(said_of(block.bad_cells or (Item("", block.all_ok),), self.words["colon"]))
        for group in block.groups:
            self.heading(group.title, 3)
            self.write_paragraphs(said_of(group.items, self.words["colon"]))
            for table in group.tables:
                self.write_grid(grid_of_levels(table))

    # --- parts of them -----------------------------------------------------------------------------------------------

    def heading(self, text: str | Markup, level: int) -> Any:
        self.last_heading = plain_text(Markup.escape(text))
        return self.paragraph(f"Heading {min(3, max(1, level - 1))}", runs_of(text))

    def caption(
        self, kind: Literal["table", "figure"], number: int, title: str | Markup, marks: Sequence[int] = ()
    ) -> Any:
        paragraph = self.paragraph("Caption", ())
        paragraph.add_run(f"{self.words[kind]} ").bold = True
        add_field(paragraph, f"SEQ {kind.capitalize()} \\* ARABIC", str(number), bold=True)
        self.add_runs(paragraph, (Run(self.words["colon"] if title else ""), *closed(runs_of(title, marks))))
        return paragraph

    def write_notes(self, notes: Iterable[Footnote]) -> None:
        for note in notes:
            self.paragraph("Brief Note", note_runs(note))

    @property
    def brand(self) -> str:
        return self.brief.report.theme.brand or _BAND

    @property
    def accent(self) -> str:
        return self.brief.report.theme.accent or ACCENT

    def box(self, ground: str, bar: str = "", pad: float = _BOX_PAD) -> _Cell:
        """Add a box as wide as the text, keep it on one page, and return its cell."""
        table = self.grid(1, 1, lines=False)
        put(table.rows[0]._tr.get_or_add_trPr(), element("w:cantSplit"))
        _pad(table, pad)
        cell: _Cell = table.rows[0].cells[0]
        cell.width = Emu(self.width - Pt(pad))
        _shade(cell, ground)
        _border(cell, bar)
        return cell

    def grid(self, rows: int, columns: int, *, lines: bool = True) -> Any:
        """Add a table as wide as the text."""
        table = self.document.add_table(rows, columns)
        wanted = "Table Grid" if lines and self.brief.template else "Normal Table"
        if any(style.name == wanted for style in self.document.styles):
            table.style = self.document.styles[wanted]
        table.alignment = WD_TABLE_ALIGNMENT.LEFT
        table.autofit = False
        if not lines:  # not a table to its reader, so aligned with the text
            margins = element("w:tblCellMar")
            for side, twips in (("left", 0), ("right", int(_CELL_GAP * 20))):
                margins.append(element(f"w:{side}", w=twips, type="dxa"))
            put(table._tbl.tblPr, margins)
        for column in table.columns:
            column.width = Emu(int(self.width / columns))
        return table

    def write_grid(self, grid: Grid, *, noted: bool = False) -> None:
        """Write a table. A short table stays on one page, together with the notes below it (`noted`)."""
        table, grid = self.grid(grid.rows, grid.columns), aligned(grid, "\N{THREE-PER-EM SPACE}")
        widths = column_widths(grid, self.width.pt, _TABLE_PT, _CELL_GAP)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = Pt(width)
        for cell in grid.cells:
            place = table.cell(cell.row, cell.column)
            if cell.rows > 1 or cell.columns > 1:
                place = place.merge(table.cell(cell.row + cell.rows - 1, cell.column + cell.columns - 1))
            runs = tuple(replace(run, bold=run.bold or cell.bold) for run in cell.runs)
            text = self.paragraph("Brief Table", runs, place, first=True)
            if cell.numeric:
                text.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            elif cell.row < grid.heads and cell.columns > 1:
                text.alignment = WD_ALIGN_PARAGRAPH.CENTER
            if cell.heat:
                _shade(place, _HEAT[cell.heat])
            elif cell.row < grid.heads and not self.brief.template:
                _shade(place, _SHADED)
            text.paragraph_format.keep_with_next = (noted or cell.row < grid.rows - 1) and grid.rows <= _KEPT_ROWS
        for at, row in enumerate(table.rows):
            properties = row._tr.get_or_add_trPr()
            put(properties, element("w:cantSplit"))
            if at < grid.heads:
                put(properties, element("w:tblHeader"))
            for width, cell_ in zip(widths, row.cells, strict=True):
                cell_.width = Pt(width)
        if not self.brief.template or table.style is None or table.style.name != "Table Grid":
            _rule(table)
        self.gap().paragraph_format.keep_with_next = noted

    def gap(self) -> Any:
        """Leave a small gap below a table."""
        made = self.paragraph("Brief Figure", ())
        made.paragraph_format.line_spacing = Pt(4)
        return made

    def paragraph(self, style: str, runs: Iterable[Run], place: _Cell | None = None, *, first: bool = False) -> Any:
        """Add a paragraph to the document or to a cell. The `first` paragraph of a cell already exists."""
        place = place or self.cell
        made = place.paragraphs[0] if place and first else (place or self.document).add_paragraph()
        made.style = self.document.styles[style]
        self.add_runs(made, runs, notes=place is None)
        return made

    def add_runs(self, paragraph: Paragraph, runs: Iterable[Run], *, notes: bool = True) -> None:
        """Add runs to a paragraph, with footnotes (`notes`) unless the paragraph is in a table's cell."""
        for run in (replace(run, text=writable(run.text)) for run in runs):
            if run.note in self.notes and notes:
                note = self.notes[run.note]
                text = runs_of(code_in_backticks(note.text))
                write = partial(self.add_runs, runs=text, notes=False)
                self.footnotes.add(paragraph, note.number, run.text, (_MARK, _NOTE), write)
            elif run.link:
                add_link(paragraph, run.link, run.text, "Brief Link")
            else:
                made = paragraph.add_run(run.text, style="Brief Code" if run.code else None)
                made.bold, made.italic = run.bold or None, run.italic or None
                made.font.superscript = run.raised or None

    # --- the look ----------------------------------------------------------------------------------------------------

    @property
    def text_width(self) -> Emu:
        page = self.document.sections[-1]
        return Emu((page.page_width or 0) - (page.left_margin or 0) - (page.right_margin or 0))

    def set_styles(self) -> None:
        """Add the styles that the template lacks. Without a template, add all of our own styles."""
        styles, family = self.document.styles, typeface_of(self.brief.report)
        usual = {name.casefold(): name for name in (*_STYLES, *_BASES)}
        for style in styles:
            if name := usual.get((style.name or "").casefold()):
                style.name = BabelFish.ui2internal(
                    name
                )  # LibreOffice writes some as `Heading 1` that Word and the library call `heading 1`
        known = {style.name for style in styles}
        if "Normal" not in known:
            styles.add_style("Normal", WD_STYLE_TYPE.PARAGRAPH)
        if not self.brief.template:
            _set_font(styles["Normal"], family)
            normal = styles["Normal"].font
            normal.size, normal.color.rgb = Pt(_TEXT_PT), RGBColor.from_string(INK.lstrip("#").upper())
            styles["Normal"].paragraph_format.space_after = Pt(4)
            styles["Normal"].paragraph_format.line_spacing = 1.1
        language = element("w:lang", val=_LANGUAGES.get(self.view.language, self.view.language))
        language.set(qn("w:eastAsia"), "ja-JP")
        put(styles["Normal"].element.get_or_add_rPr(), language)
        for name, look in _STYLES.items():
            if name in known and self.brief.template:
                continue
            kind = WD_STYLE_TYPE.CHARACTER if look.of == "character" else WD_STYLE_TYPE.PARAGRAPH
            own: Any = styles[name] if name in known else styles.add_style(name, kind)
            if name not in known and look.based in known:
                own.base_style = styles[look.based]
            self.set_look(own, look, family)

    def set_look(self, style: Any, look: _Style, family: str) -> None:
        if not self.brief.template:
            _set_font(style, "Consolas" if style.name == "Brief Code" else family)
        if look.points:
            style.font.size = Pt(look.points)
        style.font.bold = look.bold
        for spacing in style.element.findall(f"{qn('w:rPr')}/{qn('w:spacing')}"):
            spacing.getparent().remove(spacing)
        style.font.italic = False if look.of == "paragraph" else None
        style.font.superscript = True if style.name == _MARK else None
        colour = {_BAND: self.brand, _ON_BAND: ink_on(self.brand)}.get(look.colour, look.colour)
        if colour and not (self.brief.template and look.colour in (_BAND, _ON_BAND, INK)):
            style.font.color.rgb = RGBColor.from_string(colour.lstrip("#").upper())
        if look.of == "paragraph":
            layout = style.paragraph_format
            layout.space_before, layout.space_after = Pt(look.before), Pt(look.after)
            if style.name.startswith("List"):
                layout.space_after = Pt(3)
            layout.keep_with_next = look.next_to or None
        for border in style.element.iter(qn("w:pBdr")):
            border.getparent().remove(border)
            break

    def set_page(self, origin: str) -> None:
        """Set up the page, with the title in the header from the second page on, and the origin and the page number in
        the footer."""
        section = self.document.sections[0]
        feet = [section.footer]
        if not self.brief.template:
            size = (Mm(215.9), Mm(279.4)) if self.brief.report.paper == "letter" else (Mm(210), Mm(297))
            section.page_width, section.page_height = size
            section.left_margin = section.right_margin = Mm(20)
            section.top_margin, section.bottom_margin = Mm(16), Mm(15.5)
            section.different_first_page_header_footer = True
            feet.append(section.first_page_footer)
            for mode in self.document.settings.element.iter(qn("w:compatSetting")):
                if mode.get(qn("w:name")) == "compatibilityMode":  # the mode of Word since 2013
                    mode.set(qn("w:val"), "15")
            for spacing in self.document.settings.element.iter(qn("w:characterSpacingControl")):
                spacing.set(qn("w:val"), "compressPunctuation")  # without it, Japanese has gaps between 」 and 、
        for place in ("header_distance", "footer_distance"):  # that LibreOffice's templates may lack
            if not self.brief.template or (getattr(section, place) or 0) < Mm(5):
                setattr(section, place, Mm(8))
        self.width = self.text_width
        self.running(section.header, (Run(plain_text(Markup.escape(self.view.title))),))
        for place in feet:
            foot = self.running(place, (Run(origin), Run("\t")))
            if not self.brief.template:
                foot.paragraph_format.tab_stops.add_tab_stop(self.width, WD_TAB_ALIGNMENT.RIGHT)
            add_field(foot, "PAGE", "1")
            foot.add_run(" / ")
            add_field(foot, "NUMPAGES", "1")

    def running(self, place: Any, runs: Iterable[Run]) -> Any:
        """Write a header or a footer below the content that the house's template has there."""
        own = place.paragraphs[-1] if not place.paragraphs[-1].text else place.add_paragraph()
        own.style = self.document.styles["Brief Note"]
        self.add_runs(own, runs)
        return own


def _notes_of_texts(blocks: Iterable[Block]) -> Iterator[Footnote]:
    for block in blocks:
        if isinstance(block, TextView):
            yield from block.notes
        elif isinstance(block, SectionView):
            yield from _notes_of_texts(block.blocks)


def _size_of(block: FigureView) -> tuple[float, float]:
    """Return the width and the height of a figure's drawing in pixels."""
    size = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', block.svg)
    return (float(size[1]), float(size[2])) if size else (float(block.width), float(block.width) / 2)


def _thin(paragraph: Any, after: float) -> Any:
    """Make an empty paragraph so thin that nobody sees it, and return it. `after` is the space below it, in points."""
    paragraph.paragraph_format.line_spacing, paragraph.paragraph_format.space_after = Pt(1), Pt(after)
    return paragraph


def _set_size(paragraph: Any, points: float) -> None:
    """Set the type size of a paragraph, with the sign of its list."""
    for run in paragraph.runs:
        run.font.size = Pt(points)
    look = element("w:rPr")
    look.append(element("w:sz", val=int(points * 2)))
    paragraph._p.get_or_add_pPr().append(look)


def _set_font(style: Any, family: str) -> None:
    """Set a style's typeface for all scripts."""
    style.font.name = family
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for kind in list(fonts.attrib):
        if kind.endswith("Theme"):
            del fonts.attrib[kind]
    for kind in ("ascii", "hAnsi", "eastAsia", "cs"):
        fonts.set(qn(f"w:{kind}"), family)


def _empty_body(document: Any) -> None:
    """Remove a template's texts, but keep its page setup."""
    body = document.element.body
    for child in list(body):
        if child.tag != qn("w:sectPr"):
            body.remove(child)


def _shade(cell: _Cell, colour: str) -> None:
    shade(cell._tc.get_or_add_tcPr(), colour)


def _border(cell: _Cell, left: str) -> None:
    """Draw a line at the left side of a box."""
    if left:
        borders = element("w:tcBorders")
        borders.append(line("left", left, 24))
        put(cell._tc.get_or_add_tcPr(), borders)


def _pad(table: Any, points: float) -> None:
    """Set the padding of a table's cells."""
    margins = element("w:tblCellMar")
    for side, share in (("top", 0.5), ("left", 1.0), ("bottom", 0.5), ("right", 1.0)):
        margins.append(element(f"w:{side}", w=int(points * share * 20), type="dxa"))
    put(table._tbl.tblPr, margins)


def _rule(table: Any) -> None:
    """Draw thin lines between the rows of a table, and thicker lines above and below it."""
    borders = element("w:tblBorders")
    for side, eighths in (("top", 8), ("bottom", 8), ("insideH", 4)):
        borders.append(line(side, _RULE, eighths))
    put(table._tbl.tblPr, borders)
