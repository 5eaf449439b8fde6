"""Writes a brief as a presentation for PowerPoint: a message a slide, with charts, tables and texts that can be
edited, and where their numbers come from in the notes."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from markupsafe import Markup, escape
from pptx.util import Pt

from benchbrief.compiler.briefs.colours import ACCENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import INK, text_width
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureView,
    FormulaView,
    HeadlineView,
    Item,
    NumberSource,
    TableView,
)
from benchbrief.reports.office.brief_frame import Front, endings_of, front_of, noted, properties_of, said_of
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_charts import add_charts, can_draw, simplified
from benchbrief.reports.office.slide_masters import (
    CONTENTS,
    LEAST_PT,
    TITLES,
    Area,
    area_of,
    masters_of,
    placeholder,
    title_size,
)
from benchbrief.reports.office.slide_parts import (
    CELL_GAP,
    CELL_PAD,
    add_foot,
    add_grid,
    add_text,
    fill_placeholder,
    height_of_all,
)
from benchbrief.reports.office.table_grid import Grid, grid_of, grid_of_facts, grid_of_levels, plain_grid
from benchbrief.reports.office.text_fit import (
    column_widths,
    least_widths,
    lines_of,
    pages_of,
    row_heights,
    shortened,
    stands_on_lines,
)
from benchbrief.reports.text.html_markup import code_in_backticks, plain_text, writable
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide, headline_of, slides_of
from benchbrief.reports.view.house_style import typeface_of

_BRAND = "#0b3a5b"
_TEXT_PT, _READ_PT, _LARGE_PT, _STATED_PT = 14.0, 16.0, 24.0, 28.0
"""The type of texts beside a figure and beside a table, and the largest ones of texts and of a paragraph alone."""
_TITLE_PT = 16.0
"""The smallest type of a title."""
_TEXT_SHARE, _NOTES_SHARE = 0.35, 0.3
"""The most of a slide that texts take above a figure or a table, and its notes below."""
_TABLE_PT = (18.0, 16.0, 14.0, 13.0, LEAST_PT)
_FACT_ROWS, _BESIDE = 11, 24.0
"""The most rows of a table of facts that a line says, too; and the room between a picture and its data."""
_TABLE_SHARE, _MOST_PAD = 0.85, 7.0
"""The share of its place up to which rows of a short table get more room, and how much above and below at the most."""
_CARDS, _LEAST_CARD = 4, 24.0
"""The most numbers of a box side by side, and the least type that they should have there."""
_DPI = 220
_MOST_SCALE = 1.6
"""The most points of a slide that a pixel of a drawing takes: its texts then have about 16."""
_SMALLEST_SHARE = 0.55
"""The least share of its height that a picture is drawn again at."""
_AIR, _WIDEST, _WIDEST_OF_HOUSES = 8.0, 1.22, 1.4
"""The room between parts of a slide; and how much wider than thought a large number may be in another typeface."""


def written(brief: HandOver) -> bytes:
    """Return the presentation. Raises ReportError where the house's template can't be used."""
    deck = _Deck(brief)
    with written_as(brief.words.locale):
        deck.write()
    out = io.BytesIO()
    deck.masters.presentation.save(out)
    return settled(out.getvalue(), brief.view.made)


@dataclass
class _Deck:
    brief: HandOver
    shown: list[str] = field(default_factory=list)
    """The numbers of the slide that is written, by their ids."""
    sources: list[str] = field(default_factory=list)
    """The expressions of its figures and tables."""
    aside: list[str] = field(default_factory=list)
    """What its notes say beside the origin of its numbers: texts that were shortened, and why a figure is a picture."""

    used: float = math.inf
    """The height that texts alone take on the last slide."""

    def __post_init__(self) -> None:
        brief = self.brief
        self.view, self.words = brief.view, brief.words
        self.brand = brief.report.theme.brand or _BRAND
        self.accent = brief.report.theme.accent or ACCENT
        self.masters = masters_of(brief.template, typeface_of(brief.report), self.brand, self.accent)
        self.slide: Any = None
        self.ink = INK if self.masters.is_ours else ""
        self.numbers = {number.id: number for number in self.view.numbers.numbers}
        self.queries = {query.id: query.expression for query in self.view.numbers.queries}

    # --- the whole ---------------------------------------------------------------------------------------------------

    def write(self) -> None:
        front = front_of(self.view, self.brief.report, self.words)
        for name, value in properties_of(self.view).items():
            setattr(self.masters.presentation.core_properties, name, value)
        headline, blocks = headline_of(self.view.blocks)
        self.write_front(front, headline)
        if not self.view.disclosed:
            self.flow(self.words["limits"], front.warnings)
        for slide in slides_of(blocks):
            self.write_slide(slide)
        if not self.view.blocks:
            self.flow(self.view.title, paragraphs(self.words["empty_report"]))
        legal = [*paragraphs(self.view.legal), *noted(self.view.legal_notes)]
        small = height_of_all(legal, self.masters.content.width, LEAST_PT)
        for chapter in endings_of(self.view, self.words) if self.view.disclosed else ():
            self.flow(chapter.head, chapter.said, spare=small + 2 * _AIR)
        self.write_legal(legal, small)
        self.close()

    def write_front(self, front: Front, headline: HeadlineView | None) -> None:
        view, masters = self.view, self.masters
        self.slide = masters.presentation.slides.add_slide(masters.first)
        self.entitle(placeholder(self.slide, TITLES), escape(front.title))
        byline = " · ".join(filter(None, (front.kicker, front.byline)))
        below = [(Run(text, bold=text == front.origin),) for text in (front.origin, byline) if text]
        subtitle = next((each for each in self.slide.placeholders if each.placeholder_format.type not in TITLES), None)
        self.write_subtitle(subtitle, self.seen(runs_of(front.subtitle)), below)
        said = [*(front.warnings if view.disclosed else ()), *noted(view.title_notes)]
        if masters.is_ours:
            self.write_headline(headline, Area(44, 306, 872, 232 - 44), said)
        elif headline:
            self.open(escape(view.title))
            self.write_headline(headline, masters.content, said)
        else:
            self.flow(escape(view.title), said)

    def write_subtitle(self, shape: Any, subtitle: tuple[Run, ...], below: Sequence[tuple[Run, ...]]) -> None:
        """Write the subtitle and the lines below it. One that is too long is shortened, and whole in the notes."""
        area = area_of(shape)
        width = max(200.0, area.width - 15)
        own = "".join(run.text for run in subtitle)
        others = ["".join(run.text for run in line) for line in below]

        def left(points: float) -> int:
            """Return the lines that the others leave."""
            return int(area.height / (points * 1.25)) - sum(lines_of(text, width, points) for text in others)

        points = next((size for size in (16.0, 14.0) if lines_of(own, width, size) <= left(size)), LEAST_PT)
        if lines_of(own, width, points) > max(1, left(points)):
            self.aside.append(own)
            subtitle = (Run(shortened(own, width, points, max(1, left(points)))),)
        fill_placeholder(shape, [subtitle, *below] if own else below, points)

    def write_headline(self, headline: HeadlineView | None, area: Area, below: Sequence[Paragraph]) -> None:
        below = [*below, *noted(headline.notes if headline else ())]
        least = min(area.height * 0.5, height_of_all(below, area.width, LEAST_PT)) if below else 0.0
        if headline:
            numbers = [(number.value, number.text, ()) for number in headline.numbers]
            self.write_cards(numbers, replace(area, height=area.height - least - _AIR), 54.0)
        if below:
            points = 14.0 if height_of_all(below, area.width, 14.0) <= area.height - 0.6 * area.height else LEAST_PT
            self.put(below, area.below(area.height - least) if headline else area, points)

    def write_legal(self, said: Sequence[Paragraph], height: float) -> None:
        """Write the small print at the foot of the last slide, or on one of its own."""
        area = self.masters.content
        if said and self.used + 2 * _AIR + height <= area.height:
            self.put(said, area.below(area.height - height), LEAST_PT)
        elif said:
            self.flow(self.view.title, said, most=LEAST_PT)

    # --- slides ------------------------------------------------------------------------------------------------------

    def open(self, head: str | Markup, part: str = "") -> Any:
        """Begin a slide under its claim."""
        self.close()
        masters, self.used = self.masters, math.inf
        self.slide = masters.presentation.slides.add_slide(masters.others)
        said = Markup("{} {}").format(head, part) if part else escape(head)
        self.entitle(placeholder(self.slide, TITLES), said)
        content = placeholder(self.slide, CONTENTS)
        if content is not None:
            content._element.getparent().remove(content._element)
        add_foot(self.slide, masters.others, " · ".join(tag.text for tag in self.view.origin), masters.content)
        return self.slide

    def entitle(self, shape: Any, title: Markup) -> None:
        """Write a title in the largest type in which it fits its place, at most that of the layout; one that fits in
        none is shortened, and whole in the notes."""
        runs = self.seen(runs_of(title))
        text, area, most = "".join(run.text for run in runs), area_of(shape), title_size(self.slide)
        sizes = [most, *(size for size in range(math.ceil(most) - 2, int(_TITLE_PT) - 1, -2) if size < most)]

        def room(size: float) -> int:
            return max(1, int(area.height / (size * 1.2)))

        fits = (size for size in sizes if lines_of(text, area.width, size, bold=True) <= room(size))
        points = next(fits, 0.0)
        if not points:
            points = sizes[-1]
            self.aside.append(text)
            runs = (Run(shortened(text, area.width, points, room(points), bold=True)),)
        fill_placeholder(shape, [runs], points if points < most else 0.0)

    def close(self) -> None:
        """Write where the numbers of the slide come from into its notes."""
        if self.slide is None:
            return
        view, words = self.view, self.words
        lines = [*self.aside]
        known = [self.numbers[each] for each in dict.fromkeys(self.shown) if each in self.numbers]
        lines += [f"{number.shown}{words['colon']}{self.queries.get(number.query, '')}" for number in known]
        lines += [f"{words['expression']}{words['colon']}{each}" for each in dict.fromkeys(self.sources)]
        if lines or not view.blocks:
            origin = f"{words['provenance']}{words['colon']}{words['d_run_id']} {view.run_id}; {view.side_file}"
            lines += [f"{origin}; plan SHA-256 {view.numbers.plan_sha256[:16]}"]
            self.slide.notes_slide.notes_text_frame.text = writable("\n".join(lines))
        self.shown, self.sources, self.aside = [], [], []

    def seen(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        self.shown += [run.number for run in runs if run.number]
        return runs

    def put(self, said: Sequence[Paragraph], area: Area, points: float, *, bold: bool = False) -> None:
        for each in said:
            self.seen(each.runs)
        add_text(self.slide, area, said, points, self.ink, bold=bold)

    def flow(self, head: str | Markup, said: Sequence[Paragraph], most: float = 0.0, spare: float = 0.0) -> None:
        """Write texts alone, on as many slides as they need. They leave `spare` points free where one has room."""
        if not said:
            return
        area, most = self.masters.content, most or (_STATED_PT if len(said) == 1 else _LARGE_PT)
        if height_of_all(said, area.width, _TEXT_PT) + spare <= area.height:
            area = replace(area, height=area.height - spare)
        sizes = [size for size in (most, _LARGE_PT, 20.0, 18.0, 16.0, _TEXT_PT) if size <= most]
        points = next((size for size in sizes if height_of_all(said, area.width, size) <= area.height), sizes[-1])
        pages = _paged(said, area.width, area.height, points)
        for place, page in enumerate(pages):
            self.open(head, f"({place + 1}/{len(pages)})" if len(pages) > 1 else "")
            self.put(page, area, points)
            self.used = height_of_all(page, area.width, points)

    def write_slide(self, slide: Slide) -> None:
        head = slide.head or escape(self.view.title)
        texts = [each for text in slide.texts for each in (*paragraphs(text.html), *noted(text.notes))]
        after = [each for text in slide.after for each in (*paragraphs(text.html), *noted(text.notes))]
        if slide.topics:
            for topic in slide.topics:
                own = [each for text in topic.texts for each in (*paragraphs(text.html), *noted(text.notes))]
                self.flow(topic.head or head, own)
            return
        if not slide.blocks:
            self.flow(head, [*texts, *after])
            return
        area = self.masters.content
        if height_of_all(texts, area.width, _TEXT_PT) > area.height * _TEXT_SHARE:
            self.flow(head, texts)
            texts = []
        for block in slide.blocks:
            self.write_block(head, block, texts, after)
            texts, after = [], []

    def write_block(self, head: Markup, block: Block, texts: Sequence[Paragraph], after: Sequence[Paragraph]) -> None:
        if isinstance(block, DisclosureView):
            self.write_disclosure(block)
            return
        self.open(head)
        area = self.masters.content
        if texts:
            points = _TEXT_PT if isinstance(block, FigureView) else _READ_PT
            if height_of_all(texts, area.width, points) > area.height * _TEXT_SHARE:
                points = _TEXT_PT
            self.put(texts, area, points)
            area = area.below(height_of_all(texts, area.width, points) + _AIR)
        below = [*_below(block), *after]
        height = height_of_all(below, area.width, LEAST_PT)
        apart = height > self.masters.content.height * _NOTES_SHARE
        room = area if apart or not below else replace(area, height=area.height - height - _AIR)
        self.sources += [source.expression for source in _sources(block)]
        if below and not apart and isinstance(block, FigureView):  # its data may stand on slides after it
            self.put(below, Area(area.left, room.top + room.height + _AIR, area.width, height), LEAST_PT)
            below = []
        used = self.draw(head, block, room)
        if below and not apart:
            self.put(below, Area(area.left, room.top + used + _AIR, area.width, height), LEAST_PT)
        elif below:
            self.flow(head, below, most=_TEXT_PT)

    # --- blocks: each returns the height that it takes on the last slide ---------------------------------------------

    def draw(self, head: Markup, block: Block, area: Area) -> float:
        match block:
            case FigureView():
                return self.draw_figure(block, area)
            case TableView():
                return self.draw_grid(head, grid_of(block), area)
            case FactsView():
                return self.draw_facts(head, block, area)
            case FormulaView():
                return self.draw_formula(block, area)
            case CalloutView():
                return self.draw_callout(head, block, area)
            case _:  # those of which `slides_of` makes slides
                raise TypeError(block.kind)

    def draw_figure(self, block: FigureView, area: Area) -> float:
        if not block.svg and not block.native:
            reason = self.words["undrawn_figure"].format(reason=block.undrawn) if block.undrawn else ""
            self.put(paragraphs(reason or self.words["empty_figure"]), area, _TEXT_PT)
            return area.height
        name = f"{self.words['figure']} {block.number}"
        caption = runs_of(Markup("<b>{}</b>{}{}").format(name, self.words["colon"], block.title), block.marks)
        said = [Paragraph(caption)] if block.title else []
        whole = can_draw(block.native)
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        too_small = not whole and self.picture_of(block, room)[1] * _least_type(block.svg) < LEAST_PT - 0.5
        native = simplified(block.native) if whole or too_small else ()
        if native and not whole:
            said += paragraphs(self.words["office_simplified"].format(program="PowerPoint"))
        elif not native:
            self.aside.append(self.words["office_picture"].format(program="PowerPoint"))
        self.put(said, area, LEAST_PT)
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        if native:
            add_charts(self.slide, native, room, block.alt, name, self.ink)
        if whole:
            return area.height
        data = plain_grid((block.data_head, *block.data), len(block.data_head), numbers=True) if block.data else None
        used = room.width if native else self.add_picture(block, room, name, data)
        beside = Area(room.left + used + _BESIDE, room.top, room.width - used - _BESIDE, room.height)
        if data and _fits(data, beside):
            self.draw_grid(escape(name), data, beside)
        elif data:
            self.draw_grid(escape(self.words["office_data"].format(number=block.number)), data, None)
        return area.height

    def picture_of(self, block: FigureView, area: Area) -> tuple[str, float]:
        """Return the drawing of a figure for an area, and the points of a pixel of it."""
        svg = block.svg
        wide, high = _size(svg)
        needed = min(area.width / wide, _MOST_SCALE) * high
        if needed > area.height and block.redrawn:
            svg = block.redrawn(max(_SMALLEST_SHARE, area.height / needed))
            wide, high = _size(svg)
        return svg, min(area.width / wide, _MOST_SCALE, area.height / high)

    def add_picture(self, block: FigureView, area: Area, name: str, data: Grid | None) -> float:
        """Add the drawing of a figure, at the left where it leaves room for its data. Returns its width."""
        svg, scale = self.picture_of(block, area)
        wide, high = _size(svg)
        try:
            content = self.brief.converter.png(svg, scale * _DPI / 72)
        except NotDrawn as error:
            self.brief.faults.append(f"{name} is missing from the file for PowerPoint: {error}")
            return 0.0
        spare = area.width - wide * scale
        alone = data is None or not _fits(data, replace(area, width=spare - _BESIDE))
        left = area.left + (spare / 2 if alone else 0.0)
        box = (Pt(left), Pt(area.top), Pt(wide * scale), Pt(high * scale))
        picture = self.slide.shapes.add_picture(io.BytesIO(content), *box)
        picture.name = name
        picture._element.nvPicPr.cNvPr.set("descr", writable(block.alt))
        return wide * scale

    def draw_facts(self, head: Markup, block: FactsView, area: Area) -> float:
        grid, common = grid_of_facts(block, self.words), block.common
        if common and not block.beside:  # which is all of the rows in a line
            grid, common = (grid, "") if grid and grid.rows <= _FACT_ROWS else (None, common)
        said = paragraphs(escape(common or ("" if grid else self.words["no_facts"])))
        if grid is None:
            points = _LARGE_PT if height_of_all(said, area.width, _LARGE_PT) <= area.height else _TEXT_PT
            self.put(said, area, points)
            return height_of_all(said, area.width, points)
        height = height_of_all(said, area.width, _TEXT_PT)
        if said:
            self.put(said, area, _TEXT_PT)
        return height + self.draw_grid(head, grid, area.below(height + (_AIR if said else 0)))

    def draw_formula(self, block: FormulaView, area: Area) -> float:
        *steps, found = (Paragraph((Run("= "), *runs_of(step))) for step in block.steps)
        said = [*steps, Paragraph(tuple(replace(run, bold=True) for run in found.runs))]
        points = next(
            (
                size
                for size in (_STATED_PT, _LARGE_PT, 20.0, 16.0)
                if height_of_all(said, area.width, size) <= area.height
            ),
            LEAST_PT,
        )
        self.put(said, area, points)
        return height_of_all(said, area.width, points)

    def draw_callout(self, head: Markup, block: CalloutView, area: Area) -> float:
        said = [*paragraphs(Markup("<b>{}</b>").format(block.column) if block.column else ""), *paragraphs(block.html)]
        height = height_of_all(said, area.width, _TEXT_PT)
        if said:
            self.put(said, area, _TEXT_PT)
        area = area.below(height)
        if block.table:
            return height + self.draw_grid(head, grid_of(block.table), area)
        if not block.cards:
            return height
        if len(block.cards) <= 2 * _CARDS:
            cards = [(card.html, escape(card.label), card.marks) for card in block.cards]
            return height + self.write_cards(cards, area, 44.0)
        texts = [(block.title, block.column), *((card.label, plain_text(card.html)) for card in block.cards)]
        for card in block.cards:
            self.seen(runs_of(card.html))
        return height + self.draw_grid(head, plain_grid(texts, 2), area)

    def write_cards(self, cards: Sequence[tuple[Markup, Markup, tuple[int, ...]]], area: Area, most: float) -> float:
        """Set numbers large, each above what it is of, in one row or two. Returns their height."""
        widest = max(text_width(plain_text(value), 1.0) for value, _, _ in cards)
        widest *= _WIDEST if self.masters.is_ours else _WIDEST_OF_HOUSES
        texts = [Paragraph(runs_of(text, marks)) for _, text, marks in cards]
        across = len(cards)
        if across > _CARDS or (across > 2 and (area.width / across - 24.0) / widest < _LEAST_CARD):
            across = math.ceil(across / 2)
        rows = math.ceil(len(cards) / across)
        width = (area.width - 24.0 * (across - 1)) / across
        pitch = area.height / rows
        points, of = LEAST_PT, LEAST_PT
        for large in (16.0, 14.0, LEAST_PT):
            label = max(height_of_all([text], width, large) for text in texts)
            points, of = max(LEAST_PT, min(most, width / widest, (pitch - label - 14) / 1.3)), large
            if points >= _LEAST_CARD:
                break
        label = max(height_of_all([text], width, of) for text in texts)
        for place, (value, _, _) in enumerate(cards):
            left, top = area.left + (place % across) * (width + 24), area.top + (place // across) * pitch
            number = Area(left, top, width, points * 1.25)
            runs = self.seen(runs_of(value))
            colour = self.brand if self.masters.is_ours else ""
            add_text(self.slide, number, [Paragraph(runs)], points, colour, bold=True)
            self.put([texts[place]], Area(left, number.bottom + 2, width, label), of)
        return rows * pitch if rows > 1 else points * 1.25 + label + 4

    def write_disclosure(self, block: DisclosureView) -> None:
        words = self.words
        cells = block.bad_cells or (Item("", block.all_ok),)
        self.flow(f"{words['disclosure']}{words['colon']}{words['d_cells']}", said_of(cells), _TEXT_PT)
        for group in block.groups:
            head = escape(f"{words['disclosure']}{words['colon']}{group.title}")
            self.flow(head, said_of(group.items), _TEXT_PT)
            for table in group.tables:
                self.draw_grid(head, grid_of_levels(table), None)

    def draw_grid(self, head: Markup, grid: Grid, area: Area | None) -> float:
        """Draw a table in the largest type in which it fits, or on several slides, of which those after the first one,
        and all without an `area`, are new ones. Returns the height of the last piece."""
        for cell in grid.cells:
            self.seen(cell.runs)
        whole = self.masters.content
        first = area or whole
        used = 0.0
        for number, piece in enumerate(_across(grid, whole.width)):
            if number:
                first, area = whole, None
            points, widths, heights = _fitted(piece, first)
            pages = pages_of(heights, piece.heads, first.height)
            if len(pages) > 1:  # of all rows that a new slide has room for
                pages = pages_of(heights, piece.heads, min(first.height, whole.height))
            for place, (begin, end) in enumerate(pages):
                part = f"({place + 1}/{len(pages)})" if len(pages) > 1 else ""
                if area is None or place:
                    self.open(head, part)
                at = first if area is not None and not place else whole
                plain = self.masters.is_ours
                name = plain_text(head)
                rows = piece.within(begin, end)
                spare = at.height * _TABLE_SHARE - sum(row_heights(rows, widths, points, CELL_GAP, CELL_PAD))
                pad = CELL_PAD + max(0.0, min(_MOST_PAD, spare / rows.rows / 2)) if len(pages) == 1 else CELL_PAD
                used = add_grid(self.slide, rows, at, widths, points, name, plain=plain, pad=pad)
        return used


def _fits(grid: Grid, area: Area) -> bool:
    """Return whether a table has room in an area, in the smallest type."""
    widths = least_widths(grid, LEAST_PT, CELL_GAP)
    if sum(widths) > area.width:
        return False
    columns = column_widths(grid, area.width, LEAST_PT, CELL_GAP)
    return sum(row_heights(grid, columns, LEAST_PT, CELL_GAP, CELL_PAD)) <= area.height


def _fitted(grid: Grid, area: Area) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return the largest type in which a table fits, the widths of its columns, and the heights of its rows."""
    for points in _TABLE_PT:
        widths = column_widths(grid, area.width, points, CELL_GAP)
        heights = row_heights(grid, widths, points, CELL_GAP, CELL_PAD)
        fits = sum(least_widths(grid, points, CELL_GAP)) <= area.width and sum(heights) <= area.height
        if points == LEAST_PT or (fits and (points <= _TEXT_PT or stands_on_lines(grid, area.width, points, CELL_GAP))):
            break
    return points, widths, heights


def _across(grid: Grid, width: float) -> list[Grid]:
    """Return a table's pieces whose columns fit side by side, each with the first column."""
    least = least_widths(grid, LEAST_PT, CELL_GAP)
    pieces: list[Grid] = []
    first, used = 1, least[0]
    for column in range(1, grid.columns):
        if column > first and used + least[column] > width:
            pieces.append(grid.across(first, column))
            first, used = column, least[0]
        used += least[column]
    return [*pieces, grid.across(first, grid.columns)] if pieces else [grid]


def _below(block: Block) -> list[Paragraph]:
    """Return what stands below a figure, a table or a box. A chart of PowerPoint lacks what a figure's key explains."""
    said: list[Paragraph] = []
    is_chart = isinstance(block, FigureView) and can_draw(block.native)
    for name in ("heat", "compared") if is_chart else ("key", "heat", "compared"):
        said += paragraphs(escape(str(getattr(block, name, "") or "")))
    note = getattr(block, "note", None)
    said += paragraphs(code_in_backticks(note)) if note else ()
    return [*said, *noted(getattr(block, "notes", ()))]


def _sources(block: Block) -> tuple[NumberSource, ...]:
    found: tuple[NumberSource, ...] = getattr(block, "sources", ())
    return found


def _size(svg: str) -> tuple[float, float]:
    """Return the width and height of a drawing in its pixels."""
    found = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    return (float(found[1]), float(found[2])) if found else (657.0, 300.0)


def _least_type(svg: str) -> float:
    """Return the smallest type of a drawing in its pixels."""
    return min((float(size) for size in re.findall(r'font-size[=:]\s*"?([\d.]+)', svg)), default=LEAST_PT)


def _paged(said: Sequence[Paragraph], width: float, height: float, points: float) -> list[list[Paragraph]]:
    """Return texts by slides. A paragraph that is longer than a slide is divided."""
    pages: list[list[Paragraph]] = [[]]
    left = height
    for each in said:
        for piece in _pieces(each, width, height, points):
            own = height_of_all([piece], width, points)
            if pages[-1] and own > left:
                pages.append([])
                left = height
            pages[-1].append(piece)
            left -= own
    return pages


def _pieces(paragraph: Paragraph, width: float, height: float, points: float) -> Iterable[Paragraph]:
    """Yield a paragraph in pieces that fit a slide."""
    if height_of_all([paragraph], width, points) <= height:
        yield paragraph
        return
    lines = max(1, int(height / points / 1.25) - 1)
    text = paragraph.text
    while text:
        piece = shortened(text, width, points, lines)
        taken = len(piece.rstrip("…")) if piece != text else len(text)
        cut = text.rfind(" ", 0, taken)
        taken = cut if piece != text and cut > taken / 2 else max(1, taken)
        yield replace(paragraph, runs=(Run(text[:taken]),))
        text = text[taken:].lstrip()
