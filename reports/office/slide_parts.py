"""Puts texts, tables and pictures on a slide, in type of 12 points or more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from benchbrief.reports.charts.chart import INK
from benchbrief.reports.office.rich_text import Paragraph, Run
from benchbrief.reports.office.slide_masters import LEAST_PT, Area, area_of, placeholder, rgb
from benchbrief.reports.office.table_grid import Grid
from benchbrief.reports.office.text_fit import height_of, lines_of, row_heights
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.line_ends import keep_units_beside_numbers

CELL_GAP, CELL_PAD = 12.0, 3.0
"""The space beside a cell's text, and the space above it."""
_PLAIN_TABLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
"""PowerPoint's table style `No Style, No Grid`."""
_HEAD, _RULE = "#f2f6f9", "C9D3DA"
HEAT = ("#ffffff", "#eef5fa", "#d0e5f2", "#a9d0e8", "#7fb8da", "#57a0cb")
_BESIDE_LATIN = re.compile(
    r"(?<=[A-Za-z0-9)%]) (?=[\u3041-\u30fa\u4e00-\u9fff])|(?<=[\u3041-\u30fa\u4e00-\u9fff]) (?=[A-Za-z0-9(])"
)
_HYPHEN = re.compile(r"(?<=\d)-(?=\d)|(?<=SHA)-(?=256)")
_MARK_PT, _MARK_MORE = 18.0, 4.0
"""The type size of a raised mark, which programs draw at two thirds of that size, and the most by which it may exceed
the size of the text before it."""
INSET = 7.2
"""The space that PowerPoint leaves by default between the edge of a placeholder and its text. It applies to a house's
placeholders."""
_BETWEEN, _INDENT = 0.45, 1.3
"""The space between paragraphs, and the indent of list items, as multiples of the type size."""
_SIGNS = {
    "number": '<a:buAutoNum {} type="arabicPeriod"/>',
    "bullet": '<a:buChar {} char="•"/>',
    "": "<a:buNone {}/>",
}


def height_of_all(paragraphs: Iterable[Paragraph], width: float, points: float) -> float:
    """Return the total height of paragraphs."""
    return sum(
        height_of(each.text.rpartition("\t")[2], width - indent_of(each, points), points)
        + _BETWEEN * points
        + each.above
        for each in paragraphs
    )


def indent_of(paragraph: Paragraph, points: float) -> float:
    return points * (_INDENT * (paragraph.level + 1) if paragraph.item else paragraph.hang)


def add_text(
    slide: Any,
    area: Area,
    paragraphs: Sequence[Paragraph],
    points: float,
    colour: str = INK,
    *,
    bold: bool = False,
    anchor: Any = MSO_ANCHOR.TOP,
    align: Any = PP_ALIGN.LEFT,
) -> Any:
    """Add a box with paragraphs. If the texts begin at the top of their area, the box is only as high as they are."""
    high = area.height if anchor != MSO_ANCHOR.TOP else min(area.height, height_of_all(paragraphs, area.width, points))
    box = slide.shapes.add_textbox(Pt(area.left), Pt(area.top), Pt(area.width), Pt(max(high, points)))
    frame = box.text_frame
    frame.word_wrap, frame.vertical_anchor = True, anchor
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    for place, each in enumerate(paragraphs):
        made = frame.paragraphs[0] if place == 0 else frame.add_paragraph()
        made.alignment, made.space_before, made.space_after = align, Pt(each.above), Pt(_BETWEEN * points)
        if each.item or each.hang:
            properties = made._p.get_or_add_pPr()
            properties.set("marL", str(Pt(indent_of(each, points))))
            properties.set("indent", str(-Pt((each.hang or _INDENT) * points)))
            properties.append(parse_xml(_SIGNS[each.item].format(nsdecls("a"))))
        fill(made, each.runs, points, colour, bold=bold)
    return box


def add_body(slide: Any, area: Area, paragraphs: Sequence[Paragraph], points: float) -> Any:
    """Add a box with paragraphs. They look like those of the placeholder that the box replaces. Without `points`, they
    also get the placeholder's type size."""
    box = slide.shapes.add_textbox(Pt(area.left), Pt(area.top), Pt(area.width), Pt(area.height))
    box._element.nvSpPr.cNvSpPr.attrib.pop("txBox", None)
    frame = box.text_frame
    frame._txBody.replace(frame._txBody.bodyPr, parse_xml(f"<a:bodyPr {nsdecls('a')}><a:normAutofit/></a:bodyPr>"))
    for place, each in enumerate(paragraphs):
        made = frame.paragraphs[0] if place == 0 else frame.add_paragraph()
        if each.item:
            made.level = each.level
        properties = made._p.get_or_add_pPr()
        if each.item == "number":
            properties.append(parse_xml(f'<a:buAutoNum {nsdecls("a")} type="arabicPeriod"/>'))
        elif not each.item:  # or else it would have the house's sign of lists
            properties.set("marL", "0")
            properties.set("indent", "0")
            properties.append(parse_xml(f"<a:buNone {nsdecls('a')}/>"))
        fill(made, each.runs, points)
    return box


def closed_up(text: str) -> str:
    """Return a text without blanks between Latin letters and Japanese, because presentation programs add space there
    themselves."""
    return _BESIDE_LATIN.sub("", text)


def unbroken(text: str) -> str:
    """Return a text with no line break within dates and between numbers and their units."""
    return keep_units_beside_numbers(_HYPHEN.sub("\N{NON-BREAKING HYPHEN}", text))


def fill(paragraph: Any, runs: Iterable[Run], points: float, colour: str = "", *, bold: bool = False) -> None:
    """Write runs into a paragraph. Without `points`, they get the type size of the placeholder."""
    for run in runs:
        for place, line in enumerate(run.text.replace("\v", "\n").split("\n")):
            if place:
                paragraph.add_line_break()
            made = paragraph.add_run()
            text = line if run.number or run.code else unbroken(closed_up(line))
            made.text = writable(text if text == "\t" else text.replace("\t", " "))
            font = made.font
            if points:
                font.size = Pt(points)
            if run.colour or colour:
                font.color.rgb = rgb(run.colour or colour)
            if run.bold or bold:
                font.bold = True
            if run.italic:
                font.italic = True
            if run.code:
                font.name = "Consolas"
            if run.raised:
                made._r.get_or_add_rPr().set("baseline", "30000")
                if points:
                    font.size = Pt(min(max(points, _MARK_PT), points + _MARK_MORE))
            if run.link and not run.raised:
                made.hyperlink.address = run.link


def fill_placeholder(shape: Any, lines: Sequence[Sequence[Run]], points: float = 0.0) -> None:
    frame = shape.text_frame
    for place, runs in enumerate(lines):
        fill(frame.paragraphs[0] if place == 0 else frame.add_paragraph(), runs, points)


def add_foot(slide: Any, layout: Any, text: str, content: Area) -> None:
    """Give a slide the foot and the number of its layout. If the foot is too narrow for its text, it gets the width of
    the content and moves above the number."""
    for kind in (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER):
        source = placeholder(layout, (kind,))
        if source is None or (kind == PP_PLACEHOLDER.FOOTER and not text):
            continue
        own = deepcopy(source._element)
        slide.shapes._spTree.append(own)
        own.nvSpPr.cNvPr.set("id", str(1 + max(shape.shape_id for shape in slide.shapes)))
        made, place = next(shape for shape in slide.placeholders if shape._element is own), area_of(source)
        if kind == PP_PLACEHOLDER.FOOTER:
            made.text_frame.text = writable(text)
            made.text_frame.paragraphs[0].runs[0].font.name = "+mn-lt"
            if lines_of(text, place.width - 15, LEAST_PT) > 1:
                place = Area(content.left, content.bottom, content.width, place.height)
        made.left, made.top, made.width, made.height = (
            Pt(each) for each in (place.left, place.top, place.width, place.height)
        )


def add_chart(slide: Any, kind: Any, data: Any, area: Area, name: str, alt: str) -> Any:
    """Add a chart. It has no legend of its own, because its key is a text above it."""
    frame = slide.shapes.add_chart(kind, Pt(area.left), Pt(area.top), Pt(area.width), Pt(area.height), data)
    frame.name = writable(name)
    frame._element.nvGraphicFramePr.cNvPr.set("descr", writable(alt))
    frame.chart.has_legend = False
    return frame.chart


def add_grid(
    slide: Any, grid: Grid, area: Area, widths: Sequence[float], points: float, name: str, style: str, pad: float
) -> float:
    """Add a table and return its height. Each text has a `pad` above and below it. The table has the house's table
    `style` or, if there is none, our look."""
    plain = not style
    heights = row_heights(grid, widths, points, CELL_GAP, pad)
    box = (Pt(area.left), Pt(area.top), Pt(sum(widths)), Pt(sum(heights)))
    frame = slide.shapes.add_table(grid.rows, grid.columns, *box)
    frame.name = writable(name[:200])
    frame._element.nvGraphicFramePr.cNvPr.set("descr", writable(name[:2000]))
    table = frame.table
    table.horz_banding = not plain
    table._tbl.tblPr.find(qn("a:tableStyleId")).text = style or _PLAIN_TABLE
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width)
    for row, height in zip(table.rows, heights, strict=True):
        row.height = Pt(height)
    for cell in grid.cells:
        place = table.cell(cell.row, cell.column)
        if cell.rows > 1 or cell.columns > 1:
            place.merge(table.cell(cell.row + cell.rows - 1, cell.column + cell.columns - 1))
        place.margin_left = place.margin_right = Pt(CELL_GAP / 2)
        place.margin_top = place.margin_bottom = Pt(pad)
        place.vertical_anchor = MSO_ANCHOR.BOTTOM if cell.row < grid.heads else MSO_ANCHOR.MIDDLE
        text = place.text_frame.paragraphs[0]
        spanning = cell.row < grid.heads and cell.columns > 1
        text.alignment = PP_ALIGN.RIGHT if cell.numeric else PP_ALIGN.CENTER if spanning else PP_ALIGN.LEFT
        colour = INK if plain else ""
        fill(text, (replace(run, bold=run.bold or cell.bold) for run in cell.runs), points, colour)
        if not cell.runs:
            text.font.size = Pt(points)
    if plain:
        _rule(table, grid)
    _shade(table, grid, plain=plain)
    return sum(heights)


def _shade(table: Any, grid: Grid, *, plain: bool) -> None:
    for cell in grid.cells:
        colour = HEAT[cell.heat] if cell.heat else _HEAD if plain and cell.row < grid.heads else ""
        if colour:
            shape = table.cell(cell.row, cell.column).fill
            shape.solid()
            shape.fore_color.rgb = rgb(colour)


def _rule(table: Any, grid: Grid) -> None:
    """Draw a thin line below each row."""
    for row in range(grid.rows):
        width = 12700 if row in (grid.heads - 1, grid.rows - 1) else 6350
        for column in range(grid.columns):
            properties = table.cell(row, column)._tc.get_or_add_tcPr()
            properties.insert(
                0,
                parse_xml(
                    f'<a:lnB {nsdecls("a")} w="{width}"><a:solidFill><a:srgbClr val="{_RULE}"/></a:solidFill></a:lnB>'
                ),
            )
