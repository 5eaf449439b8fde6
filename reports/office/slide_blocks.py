"""Draws the elements of a brief on slides: figures, tables, facts, worked examples and boxes."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup, escape
from pptx.util import Pt

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureView,
    FormulaView,
    Item,
    NumberSource,
    TableView,
)
from benchbrief.reports.office.brief_frame import said_of
from benchbrief.reports.office.rich_text import Paragraph, Run, paragraphs, runs_of
from benchbrief.reports.office.slide_cards import Card
from benchbrief.reports.office.slide_charts import add_charts, can_draw, simplified
from benchbrief.reports.office.slide_look import AIR, LARGE_PT, READ_PT, STATED_PT, TEXT_PT, TEXT_SHARE
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
    Kind,
)
from benchbrief.reports.office.slide_notes import marks_in
from benchbrief.reports.office.slide_parts import (
    CELL_GAP,
    CELL_PAD,
    add_grid,
    add_text,
    height_of_all,
)
from benchbrief.reports.office.slide_tables import MOST_TABLE_PT, across, fits, fitted, height_within, marked_in
from benchbrief.reports.office.slide_writer import SlideWriter
from benchbrief.reports.office.table_grid import (
    Grid,
    aligned,
    by_series,
    grid_of,
    grid_of_facts,
    grid_of_levels,
    plain_grid,
)
from benchbrief.reports.office.text_fit import pages_of, row_heights
from benchbrief.reports.text.html_markup import code_in_backticks, plain_text, writable

_NOTES_SHARE, _CALLOUT_NOTES = 0.3, 0.38
"""The largest share of a slide's height that notes may take below a figure or a table, and below a box."""
_FACT_ROWS, _BESIDE = 11, 24.0
"""The most rows of a table of facts that is shown in place of a line with all facts, and the space between a picture
and its data."""
_TABLE_SHARE, _MOST_PAD = 0.96, 18.0
"""The share of the available height that a short table may fill by adding space to its rows, and the most space to add
above and below a text."""
_MOST_CARDS = 8
"""The most numbers of a box to set in large type."""
_LINES_SHARE, _DATA_SHARE = 0.16, 0.28
"""The largest share of a slide's height for texts in larger type above a figure, and for the figure's data below it."""
_DPI = 220
_MOST_SCALE = 1.6
"""The largest size, in points, of a drawing's pixel on a slide. At this size, the drawing's texts have about 16 points.
"""
_SMALLEST_SHARE = 0.55
"""The smallest height at which a picture is redrawn, as a share of its original height."""


@dataclass
class BlockWriter(SlideWriter):
    """Writes slides that each have one element of the brief."""

    def write_block(
        self,
        head: Markup,
        block: Block,
        texts: Sequence[Paragraph],
        after: Sequence[Paragraph],
        others: tuple[Block, ...] = (),
        spare: float = 0.0,
        of_tables: float = MOST_TABLE_PT,
        wide: float = math.inf,
    ) -> Area:
        """Write a block under its claim, with texts above and below it and with its footnotes. The footnotes of the
        blocks in `others`, which are on the same slide, are included. `spare` points stay free at the foot, the type of
        tables has at most `of_tables` points, and the block is at most `wide`. Returns the block's area.
        """
        if isinstance(block, DisclosureView):
            self.write_disclosure(block)
            return self.content
        self.open(head, kind=_kind_of(block))
        area = replace(self.content, height=self.content.height - spare)
        if texts:
            sizes = (MOST_TABLE_PT, READ_PT, TEXT_PT)[isinstance(block, FigureView) :]
            most = area.height * (TEXT_SHARE if not isinstance(block, FigureView) else _LINES_SHARE)
            points = next((size for size in sizes if height_of_all(texts, area.width, size) <= most), TEXT_PT)
            self.put(texts, area, points)
            area, of_tables = area.below(height_of_all(texts, area.width, points) + AIR), min(points, of_tables)
        area = replace(area, width=min(area.width, wide))
        if caption := caption_of(block):
            self.put(caption, area, TEXT_PT)
            area = area.below(height_of_all(caption, area.width, TEXT_PT))
        notes = self.notes.told(marks_in((head, texts, block, after, others)))
        below = [*texts_below(block), *after, *notes]
        large: tuple[float, ...] = () if isinstance(block, FigureView) else (TEXT_PT,)
        most, share = self.content.height * _NOTES_SHARE / 2, _NOTES_SHARE
        if isinstance(block, CalloutView):
            large, most = (READ_PT, TEXT_PT), _CALLOUT_NOTES * self.content.height
            share = _CALLOUT_NOTES
        small = next((size for size in large if height_of_all(below, area.width, size) <= most), LEAST_PT)
        height = height_of_all(below, area.width, small)
        apart = height > self.content.height * share
        room = area if apart or not below else replace(area, height=area.height - height - AIR)
        self.sources += [source.expression for source in sources_of(block)]
        if below and not apart and isinstance(block, FigureView):  # its data may be on the slides after it
            self.put(below, Area(area.left, room.top + room.height + AIR, area.width, height), small)
            below = []
        used = self.draw(head, block, room, of_tables)
        if below and not apart:
            at = area.top if room is area else room.top
            self.put(below, Area(area.left, at + used + 2 * AIR, area.width, height), small)
            used += 2 * AIR + height
        elif below:
            self.flow(head, below, most=TEXT_PT)
        return replace(area, height=used)

    def draw(self, head: Markup, block: Block, area: Area, of_tables: float) -> float:
        """Draw a block and return its height. The type of tables has at most `of_tables` points."""
        match block:
            case FigureView():
                return self.draw_figure(block, area)
            case TableView():
                return self.draw_grid(head, grid_of(block), area, of_tables)
            case FactsView():
                return self.draw_facts(head, block, area)
            case FormulaView():
                return self.draw_formula(block, area)
            case CalloutView():
                return self.draw_callout(head, block, area)
            case _:  # the blocks that `slides_of` turns into slides
                raise TypeError(block.kind)

    def draw_figure(self, block: FigureView, area: Area) -> float:
        if not block.svg and not block.native:
            reason = self.words["undrawn_figure"].format(reason=block.undrawn) if block.undrawn else ""
            self.put(paragraphs(reason or self.words["empty_figure"]), area, TEXT_PT)
            return area.height
        name = f"{self.words['figure']} {block.number}"
        whole = can_draw(block.native)
        of_axis = [re.sub(r" \([^()]*\)$", "", chart.left) for chart in block.native]
        repeats = whole and (block.title in of_axis or not block.title)
        title = block.native[0].left if repeats else block.title
        caption = Markup("<b>{}</b>{}").format(name, f"{self.words['colon']}{title}" if title else "")
        said = [Paragraph(runs_of(caption, block.marks))]
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        too_small = not whole and self.picture_of(block, room)[1] * _least_type(block.svg) < LEAST_PT - 0.5
        native = simplified(block.native) if whole or too_small else ()
        if native and not whole:
            said += paragraphs(self.words["office_simplified"].format(program="PowerPoint"))
        elif not native:
            self.aside.append(self.words["office_picture"].format(program="PowerPoint"))
        room = area.below(height_of_all(said, area.width, LEAST_PT) + 2)
        self.put(said, area, LEAST_PT)
        if whole:
            is_named = repeats or all(chart.left in str(block.title) for chart in native)
            texts = plain_text(Markup("{} {}").format(block.claim or "", block.title))
            add_charts(self.slide, native, room, block.alt, name, self.ink, names_axis=not is_named, said=texts)
            drawn = [series for chart in native for series in chart.series]
            if any(each.mark == "bracket" or any(each.repeats) or any(each.open) for each in drawn):
                self.aside.append(self.words["office_marks"].format(figure=name))
            return area.height
        if not native and says_all(block):
            self.aside += ["\t".join(line) for line in (block.data_head, *block.data)]
            self.add_picture(block, room, name, None)
            return area.height
        data = by_series(block.data_head, block.data) if block.data else None
        flat = by_series(block.data_head, block.data, across=True) if block.data else None
        if flat and (height := height_within(flat, room)) <= room.height * _DATA_SHARE:
            self.draw_grid(escape(name), flat, room.below(room.height - height))
            room, data = replace(room, height=room.height - height - AIR), None
        if native:
            add_charts(self.slide, native, room, block.alt, name, self.ink)
        used = room.width if native else self.add_picture(block, room, name, data)
        beside = Area(room.left + used + _BESIDE, room.top, room.width - used - _BESIDE, room.height)
        if data and fits(data, beside):
            self.draw_grid(escape(name), data, beside)
        elif data:
            self.draw_grid(escape(self.words["office_data"].format(number=block.number)), data, None)
        return area.height

    def picture_of(self, block: FigureView, area: Area) -> tuple[str, float]:
        """Return the drawing of a figure for an area, and the size of one of its pixels in points."""
        svg = block.svg
        wide, high = _size(svg)
        needed = min(area.width / wide, _MOST_SCALE) * high
        if needed > area.height and block.redrawn:
            svg = block.redrawn(max(_SMALLEST_SHARE, area.height / needed))
            wide, high = _size(svg)
        return svg, min(area.width / wide, _MOST_SCALE, area.height / high)

    def add_picture(self, block: FigureView, area: Area, name: str, data: Grid | None) -> float:
        """Add the drawing of a figure and return its width. If that leaves room for the figure's data, the drawing is
        at the left."""
        svg, scale = self.picture_of(block, area)
        wide, high = _size(svg)
        try:
            content = self.brief.converter.png(svg, scale * _DPI / 72)
        except NotDrawn as error:
            self.brief.faults.append(f"{name} is missing from the file for PowerPoint: {error}")
            return 0.0
        spare = area.width - wide * scale
        alone = data is None or not fits(data, replace(area, width=spare - _BESIDE))
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
            points = LARGE_PT if height_of_all(said, area.width, LARGE_PT) <= area.height else TEXT_PT
            self.put(said, area, points)
            return height_of_all(said, area.width, points)
        fits = height_of_all(said, area.width, READ_PT) + height_within(grid, area) <= area.height
        points = READ_PT if fits else TEXT_PT
        height = height_of_all(said, area.width, points)
        if said:
            self.put(said, area, points)
        return height + self.draw_grid(head, grid, area.below(height + (AIR if said else 0)), points)

    def draw_formula(self, block: FormulaView, area: Area) -> float:
        """Draw a worked example in a box: its steps, and its result in large type."""
        *steps, found = (Paragraph((Run("= "), *runs_of(step))) for step in block.steps)
        pad = 20.0 if self.ink else 0.0
        inner = Area(area.left + pad + 4, area.top + pad, area.width - 2 * pad - 4, area.height - 2 * pad)
        large = 2.0 if self.ink else 1.0

        def height(size: float) -> float:
            return height_of_all(steps, inner.width, size) + height_of_all([found], inner.width, size * large)

        sizes = (STATED_PT, LARGE_PT, 20.0, 16.0)
        points = next((size for size in sizes if height(size) <= inner.height), LEAST_PT)
        if self.ink:
            self.add_ground(replace(area, height=height(points) + 2 * pad))
        self.put(steps, inner, points)
        result = inner.below(height_of_all(steps, inner.width, points))
        add_text(self.slide, result, [Paragraph(self.seen(found.runs))], points * large, self.look.number, bold=True)
        return height(points) + 2 * pad

    def draw_callout(self, head: Markup, block: CalloutView, area: Area) -> float:
        said = [*paragraphs(Markup("<b>{}</b>").format(block.column) if block.column else ""), *paragraphs(block.html)]
        height = height_of_all(said, area.width, READ_PT)
        if said:
            self.put(said, area, READ_PT)
            height += AIR
        area = area.below(height)
        if block.table:
            return height + self.draw_grid(head, grid_of(block.table), area)
        if not block.cards:
            return height
        if len(block.cards) <= _MOST_CARDS:
            cards = [Card(runs_of(card.html), runs_of(escape(card.label), card.marks)) for card in block.cards]
            return height + self.write_cards(cards, area, 48.0)
        texts = [(block.title, block.column), *((card.label, plain_text(card.html)) for card in block.cards)]
        for card in block.cards:
            self.seen(runs_of(card.html))
        return height + self.draw_grid(head, plain_grid(texts, 2), area)

    def write_disclosure(self, block: DisclosureView) -> None:
        words = self.words
        cells = block.bad_cells or (Item("", block.all_ok),)
        self.flow(f"{words['disclosure']}{words['colon']}{words['d_cells']}", said_of(cells, words["colon"]), TEXT_PT)
        for group in block.groups:
            head = escape(f"{words['disclosure']}{words['colon']}{group.title}")
            self.flow(head, said_of(group.items, words["colon"]), TEXT_PT)
            for table in group.tables:
                self.draw_grid(head, grid_of_levels(table), None)

    def draw_grid(self, head: Markup, grid: Grid, area: Area | None, most: float = MOST_TABLE_PT) -> float:
        """Draw a table in the largest type up to `most` that fits, or split it over several slides. Each piece gets a
        new slide, except that the first one goes into the `area` if there is one. Returns the height of the last piece.
        """
        lettered = tuple(replace(cell, runs=self.seen(cell.runs)) for cell in grid.cells)
        grid = aligned(replace(grid, cells=lettered), "\N{EN SPACE}")
        whole = self.masters.layout("table").content
        first = area or whole
        used = 0.0
        for number, piece in enumerate(across(grid, whole.width)):
            if number:
                first, area = whole, None
            points, widths, heights = fitted(piece, first, most)
            pages = pages_of(heights, piece.heads, first.height)
            small = 0.0
            if len(pages) > 1:  # of all rows that a new slide has room for, above the footnotes that have marks there
                small = height_of_all(self.notes.told(marked_in(piece)), whole.width, LEAST_PT)
                pages = pages_of(heights, piece.heads, min(first.height, whole.height) - small - AIR)
            for place, (begin, end) in enumerate(pages):
                part = f"({place + 1}/{len(pages)})" if len(pages) > 1 else ""
                if area is None or place:
                    letters = dict(self.notes.letters)
                    self.open(head, part, kind="table")
                    self.notes.letters |= letters
                at = first if area is not None and not place else whole
                name = plain_text(head)
                rows = piece.within(begin, end)
                spare = at.height * _TABLE_SHARE - sum(row_heights(rows, widths, points, CELL_GAP, CELL_PAD))
                pad = CELL_PAD + max(0.0, min(_MOST_PAD, spare / rows.rows / 2)) if len(pages) == 1 else CELL_PAD
                used = add_grid(self.slide, rows, at, widths, points, name, self.masters.table_style, pad)
                if place < len(pages) - 1:
                    self.put(self.notes.told(marked_in(rows)), at.below(at.height - small), LEAST_PT)
        return used


def _kind_of(block: Block) -> Kind:
    match block:
        case FigureView():
            return "chart" if can_draw(block.native) else "picture"
        case TableView() | FactsView():
            return "table"
        case _:
            return ""


def with_unit(title: Markup, block: Block) -> Markup:
    """Return a table's title with the unit that all its numbers share."""
    unit = block.unit if isinstance(block, TableView) and not block.title else ""
    return Markup("{} ({})").format(title, unit) if unit and f"({unit})" not in title else title


def caption_of(block: Block) -> tuple[Paragraph, ...]:
    """Return the caption of a table whose title is not the title of its slide."""
    if not isinstance(block, TableView) or not block.title:
        return ()
    title = with_unit(block.title_html or escape(block.title), replace(block, title=""))
    return paragraphs(Markup("<p><b>{}</b></p>").format(title))


def says_all(block: FigureView) -> bool:
    """Return whether a figure's drawing shows every number of its data."""
    texts = "".join(re.findall(r">([^<]+)<", block.svg))
    return all(number in texts for line in block.data for number in re.findall(r"\d[\d,.]*", line[-1]))


def texts_below(block: Block) -> list[Paragraph]:
    """Return the texts below a figure, a table or a box. If PowerPoint draws a figure as a chart, the figure's key is
    kept only if it explains pale bars, repeats, or labels of points. Such a chart shows nothing else that the key
    explains.
    """
    said: list[Paragraph] = []
    names: tuple[str, ...] = ("key", "heat", "compared")
    if isinstance(block, FigureView) and can_draw(block.native):
        drawn = [series for chart in block.native for series in chart.series]
        names = names if any(each.worse or each.is_pale or each.keys or each.repeats for each in drawn) else names[1:]
    for name in names:
        said += paragraphs(escape(str(getattr(block, name, "") or "")))
    note = getattr(block, "note", None)
    said += paragraphs(code_in_backticks(note)) if note else ()
    return said


def sources_of(block: Block) -> tuple[NumberSource, ...]:
    found: tuple[NumberSource, ...] = getattr(block, "sources", ())
    return found


def _size(svg: str) -> tuple[float, float]:
    """Return the width and height of a drawing in its own pixels."""
    found = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    return (float(found[1]), float(found[2])) if found else (657.0, 300.0)


def _least_type(svg: str) -> float:
    """Return the smallest type size of a drawing in its own pixels."""
    return min((float(size) for size in re.findall(r'font-size[=:]\s*"?([\d.]+)', svg)), default=LEAST_PT)
