"""Writes a brief as an Excel workbook: its text, its claims, a sheet for each figure and table, all points of the run,
and the origin of the numbers. Numbers are real numbers, and no text is a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

import xlsxwriter
from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.charts.chart import text_width
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.claims_sheet import sheet_of
from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.data.report_data import NOT_PUBLISHED, Results
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    FactsView,
    FigureRow,
    FigureView,
    Footnote,
    FormulaView,
    HeadlineView,
    SectionView,
    TableCell,
    TableView,
    TextView,
)
from benchbrief.reports.office.brief_frame import endings_of, front_of, properties_of
from benchbrief.reports.office.long_sheets import LongRows, with_long_rows
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import settled
from benchbrief.reports.office.points_table import PointsTable, labels_of, measured_points, probed_means
from benchbrief.reports.office.rich_text import paragraphs
from benchbrief.reports.office.sheet_values import (
    MOST_ROWS,
    cell_text,
    looks_like_a_formula,
    sheet_names,
    shown_number,
)
from benchbrief.reports.text.html_markup import note_letter
from benchbrief.reports.text.number_format import decimals_for, written_as
from benchbrief.reports.view.house_style import typeface_of
from benchbrief.reports.view.said_claims import claims_of
from benchbrief.reports.words.brief_words import counted

_LONGEST, _MOST_OF_A_FOOT = 255, 180
"""The most characters of a series' name, and of the line on the origin at the foot of a printed sheet."""
_NARROWEST, _WIDEST = 12, 60
"""The least and the greatest width of a column, in characters."""
_SIDES, _WRAPPED = 1.0, 1.05
"""The space beside a text, in characters, and the factor by which a text gets longer if it is broken between words."""
_ROW, _HIGHEST = 15.0, 409.0
"""The height of a row with one line, and the greatest height of a row, in points."""
_NO_FORMULAS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": False,
}
_MOST_LABELS = 8
"""The most bars of a series whose values are written beside them."""
_LONG_NAME, _LONG_TEXT, _FIGURES = 48, 20, 13
"""The widths of a long sheet's columns: for names of measurements, for other texts, and for numbers."""
_PRINTED, _PRINT_SCALE = 205, 65
"""The most characters in a printed row of a long sheet, and the scale in per cent that makes them fit."""
_PICTURE_WIDTH, _PICTURE_HEIGHT, _PICTURE_ROWS = 720, 400, 24


def written(brief: HandOver) -> bytes:
    """Return the workbook. If rows or pictures are missing from it, this is added to the `faults` of the brief."""
    out = io.BytesIO()
    with TemporaryDirectory() as folder:
        usual = {"font_name": typeface_of(brief.report), "font_size": 11}  # of the cells of long sheets
        options = {"constant_memory": True, "tmpdir": folder, "default_format_properties": usual, **_NO_FORMULAS}
        book = xlsxwriter.Workbook(out, options)
        results = Results(brief.plan, brief.store, brief.words)
        with written_as(brief.words.locale):
            writer = _Workbook(book, brief, results)
            writer.write()
            book.close()
            return with_long_rows(settled(out.getvalue(), brief.view.made), writer.long)


@dataclass
class _Sheet:
    """A sheet that is written from top to bottom. `name` is the name on its tab."""

    name: str
    sheet: Any
    styles: _Styles
    row: int = 0
    widths: dict[int, float] = field(default_factory=dict)

    def columns(self, *widths: float, rest: float = 0.0, up_to: int = 0) -> None:
        """Set the widths of columns in characters. `rest` is the width of all further columns."""
        for column in range(max(len(widths), up_to)):
            width = widths[column] if column < len(widths) else rest
            self.widths[column] = width
            self.sheet.set_column(column, column, width)

    def line(self, *cells: object, style: str = "", styles: Mapping[int, str] | None = None) -> int:
        """Write a row, and return its number, counted from 0. A text is written as a text, and a missing value as an
        empty cell."""
        chosen = [(styles or {}).get(column, style) for column in range(len(cells))]
        height = max((self._height(*each) for each in zip(cells, chosen, count())), default=0.0)
        if height > _ROW:  # programs that do not look at texts would cut it
            self.sheet.set_row(self.row, min(height, _HIGHEST))
        for column, cell in enumerate(cells):
            self.cell(column, cell, chosen[column])
        self.row += 1
        return self.row - 1

    def band(self, text: str, height: float, style: str) -> None:
        """Write a line across both columns at the head of the first sheet."""
        self.sheet.set_row(self.row, height, self.styles.of(style))
        self.sheet.write_string(self.row, 0, cell_text(text), self.styles.of(style))
        self.row += 1

    def across(self, text: str, columns: int) -> None:
        """Write a line in a soft colour below a table with this many columns. It spans the columns unless they are
        narrow."""
        wide = sum(self.widths.get(column, 0.0) for column in range(columns))
        if wide < _WIDEST or columns < 2:
            self.line("", text, style="note")
            return
        self.sheet.merge_range(self.row, 0, self.row, columns - 1, "", self.styles.of("soft"))
        self.sheet.set_row(self.row, min(_HIGHEST, max(_ROW, self._height(text, "soft", 0, wide))))
        self.text(0, cell_text(text), "soft")
        self.row += 1

    def _height(self, cell: object, style: str, column: int, wide: float = 0.0) -> float:
        """Return the height in points that a cell needs. If `wide` is given, it replaces the width of the cell's
        column."""
        look = _LOOKS[style]
        size = float(str(look.get("font_size", 11))) * 1.36
        if not isinstance(cell, str) or "text_wrap" not in look:
            return size if cell not in ("", None) else 0.0
        room = max(1.0, (wide or self.widths.get(column, 8.43)) - _SIDES)
        long = map(_characters, cell.split("\n"))
        lines = sum(1 if each <= room else math.ceil(each * _WRAPPED / room) for each in long)
        return lines * size

    def cell(self, column: int, cell: object, style: str = "") -> None:
        sheet, row = self.sheet, self.row
        match cell:
            case None | "":
                return
            case _Number(value=value, format=form):
                sheet.write_number(row, column, value, self.styles.of(style, form))
            case bool():
                sheet.write_boolean(row, column, cell, self.styles.of(style))
            case int() | float():
                if math.isfinite(cell):
                    sheet.write_number(row, column, cell, self.styles.of(style))
            case _:
                self.text(column, cell_text(str(cell)), style)

    def text(self, column: int, text: str, style: str) -> None:
        if text.startswith("<r>") and text.endswith("</r>"):  # XlsxWriter would take it for its own markup
            text += " "
        quoted = looks_like_a_formula(text)
        self.sheet.write_string(self.row, column, text, self.styles.of(style, quoted=quoted))


@dataclass(frozen=True)
class _Number:
    value: float
    format: str


_BAND = "#0B3A5B"
_LOOKS: Mapping[str, Mapping[str, object]] = {
    "": {},
    "title": {"bold": True, "font_size": 20, "font_color": "#FFFFFF", "bg_color": _BAND, "valign": "vcenter"},
    "subtitle": {"font_size": 11, "font_color": "#FFFFFF", "bg_color": _BAND, "valign": "vcenter"},
    "heading": {"bold": True, "font_size": 14, "font_color": _BAND},
    "origin": {"bold": True, "font_color": "#9C2A00"},
    "large": {"bold": True, "font_size": 20, "align": "left", "font_color": _BAND},
    "strong": {"bold": True, "align": "left"},
    "said": {"font_size": 11, "font_color": "#55626E"},
    "number": {"align": "right", "valign": "top"},
    "best": {"align": "right", "valign": "top", "bold": True},
    "soft": {"font_color": "#55626E", "text_wrap": True, "valign": "top"},
    "note": {"font_color": "#55626E"},
    "wrap": {"text_wrap": True, "valign": "top"},
    "wrap_apart": {"text_wrap": True, "valign": "top", "align": "left", "indent": 1},
    "top": {"valign": "top"},
    "head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "bg_color": "#EEF1F4"},
    "head_right": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "align": "right",
                   "bg_color": "#EEF1F4"},
    "link": {"font_color": "#0B5CAD", "underline": 1},
}  # fmt: skip


@dataclass
class _Styles:
    """The formats of cells. Each is created only once."""

    book: Any
    font: str
    made: dict[tuple[str, str, bool], Any] = field(default_factory=dict)

    def of(self, style: str, form: str = "", *, quoted: bool = False) -> Any:
        key = (style, form, quoted)
        if key not in self.made:
            look = {"font_name": self.font, "font_size": 11, **_LOOKS[style]}
            self.made[key] = self.book.add_format(
                {**look, **({"num_format": form} if form else {}), **({"quote_prefix": True} if quoted else {})}
            )
        return self.made[key]


@dataclass(frozen=True)
class _Planned:
    """A planned sheet: its desired name, its description, and the function that writes it."""

    name: str
    title: str
    write: Callable[[_Sheet], None]


class _Workbook:
    def __init__(self, book: Any, brief: HandOver, results: Results) -> None:
        self._book, self._results = book, results
        self._view, self._words, self._converter, self._faults = brief.view, brief.words, brief.converter, brief.faults
        self._report, self._front = brief.report, front_of(brief.view, brief.report, brief.words)
        self._origin = self._front.origin.replace("&", "&&")[:_MOST_OF_A_FOOT]
        self._claims = list(sheet_of(brief.report, claims_of(brief.report, results), results))
        self._styles = _Styles(book, typeface_of(brief.report))
        self.long: list[LongRows] = []
        """The long tables that remain to be written."""

    def write(self) -> None:
        words, view = self._words, self._view
        self._book.set_properties(properties_of(view))
        planned = [_Planned(words["xlsx_brief"], "", self._brief)]
        if self._claims:
            planned.append(_Planned(words["xlsx_claims"], words["xlsx_claims_title"], self._claims_sheet))
        planned += self._of_blocks(view.blocks)
        planned.append(_Planned(words["xlsx_points"], words["xlsx_points_title"], self._points))
        if probed_means(self._results).count:
            planned.append(_Planned(words["xlsx_probes"], words["xlsx_probes_title"], self._probes))
        planned.append(_Planned(words["provenance"], words["xlsx_provenance_title"], self._provenance))
        names = sheet_names(each.name for each in planned)
        self._contents = list(zip(names[1:], (each.title for each in planned[1:]), strict=True))
        look = f'&"{self._styles.font},Regular"&9'
        for name, each in zip(names, planned, strict=True):
            made = self._book.add_worksheet(name)
            made.hide_gridlines(2)
            made.set_landscape()
            made.set_paper(1 if self._report.paper == "letter" else 9)
            made.fit_to_pages(1, 0)
            made.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.7)
            made.set_footer(f"&L{look}{self._origin}&C{look}&A&R{look}&P / &N")
            each.write(_Sheet(name, made, self._styles))

    def _of_blocks(self, blocks: Iterable[Block]) -> Iterator[_Planned]:
        """Yield a sheet for each figure and table."""
        words = self._words
        for block in blocks:
            match block:
                case FigureRow(figures=figures):
                    yield from self._of_blocks(figures)
                case SectionView(blocks=inner):
                    yield from self._of_blocks(inner)
                case FigureView() as figure:
                    name = f"{words['figure']} {figure.number}"
                    yield _Planned(name, _said(figure), lambda sheet, figure=figure: self._figure(sheet, figure))  # type: ignore[misc]  # the default binds it
                case TableView() as table:
                    name = f"{words['table']} {table.number}"
                    yield _Planned(name, table.title, lambda sheet, table=table: self._table_sheet(sheet, table))  # type: ignore[misc]  # the default binds it
                case FactsView(number=number, title=title) as facts if number:
                    name = f"{words['table']} {number}"
                    yield _Planned(name, title, lambda sheet, facts=facts: self._facts(sheet, facts))  # type: ignore[misc]  # the default binds it

    # --- the text of the brief -----------------------------------------------------------------------------------

    def _brief(self, sheet: _Sheet) -> None:
        view, words = self._view, self._words
        front = self._front
        sheet.columns(34, 110)
        sheet.sheet.set_portrait()
        sheet.sheet.fit_to_pages(1, 1)
        sheet.band(_line(front.title), 36.0, "title")
        sheet.band(_line(front.subtitle), 20.0, "subtitle")
        sheet.band(" · ".join(filter(None, (front.kicker, front.byline))), 20.0, "subtitle")
        if front.origin:
            sheet.line(front.origin, style="origin")
        self._notes(sheet, view.title_notes)
        if view.limits:
            sheet.line()
            sheet.line(counted(words, "limits_line", view.limit_count), style="heading")
            for text in filter(None, (*(limit.text for limit in view.limits), view.further_limits)):
                sheet.line("", text, style="wrap")
        sheet.line()
        self._texts(sheet, view.blocks)
        if view.legal:
            sheet.line()
            for text in _lines(view.legal):
                sheet.line("", text, style="soft")
        sheet.line()
        sheet.line(words["xlsx_contents"], style="heading")
        for name, title in self._contents:
            quoted = name.replace("'", "''")
            sheet.sheet.write_url(sheet.row, 0, f"internal:'{quoted}'!A1", self._styles.of("link"), string=name)
            sheet.line(None, title, style="wrap")

    def _texts(self, sheet: _Sheet, blocks: Iterable[Block]) -> None:
        """Write the texts of these blocks. Figures and tables have their own sheets."""
        for block in blocks:
            match block:
                case HeadlineView():
                    for number in block.numbers:
                        self._stated(sheet, _line(number.value), _line(number.text), "large")
                    self._notes(sheet, block.notes)
                case TextView():
                    self._prose(sheet, block.html)
                    self._notes(sheet, block.notes)
                case CalloutView():
                    sheet.line(_line(block.title_html) or block.title, style="heading")
                    for card in block.cards:
                        self._stated(sheet, _line(card.html), card.label, "strong", card.value)
                    if block.table:
                        self._table(sheet, block.table)
                    self._prose(sheet, block.html)
                    self._prose(sheet, block.note)
                    self._notes(sheet, block.notes)
                case FormulaView():
                    sheet.line(block.title, style="heading")
                    for step in block.steps:
                        sheet.line(block.name, _line(step), style="wrap")
                    self._notes(sheet, block.notes)
                case SectionView():
                    sheet.line()
                    sheet.line(_line(block.title_html) or block.title, style="heading")
                    self._texts(sheet, block.blocks)
                case FactsView(number=0, common=common):
                    sheet.line(_line(block.title_html) or block.title, style="heading")
                    sheet.line("", common, style="wrap")
                case _:
                    pass

    def _stated(self, sheet: _Sheet, number: str, text: str, style: str, value: float | None = None) -> None:
        """Write a number and its description."""
        shown = shown_number(number, value)
        sheet.line(_Number(shown.value, shown.format) if shown else number, text, styles={0: style, 1: "wrap"})

    def _prose(self, sheet: _Sheet, html: str | None) -> None:
        for text in _lines(html):
            sheet.line("", text, style="wrap")

    def _notes(self, sheet: _Sheet, notes: Iterable[Footnote], style: str = "soft") -> None:
        for note in notes:
            sheet.line("", _noted(note), style=style)

    # --- claims --------------------------------------------------------------------------------------------------

    def _claims_sheet(self, sheet: _Sheet) -> None:
        words = self._words
        heads = (
            *("xlsx_claim_sentence", "xlsx_claim_number", "xlsx_claim_unit", "xlsx_claim_base", "xlsx_claim_low"),
            *("xlsx_claim_high", "xlsx_claim_judged", "xlsx_claim_repeats", "xlsx_claim_notes", "xlsx_claim_name"),
            "xlsx_claim_digest",
        )
        sheet.columns(34, 9, 8, 14, 10, 10, 18, 14, 36, 11, 13)
        sheet.line(*(words[head] for head in heads), style="head")
        for claim in self._claims:
            found = claim.verdict
            unit = found.claim.points.unit
            sheet.line(
                claim.sentence,
                *_alike(found.value),
                "" if unit == "1" else unit,
                found.claim.base or "",
                *_alike(found.low, found.high),
                claim.judged,
                found.repeats,
                "\n".join(claim.lines),
                found.claim.name,
                claim.digest,
                style="wrap",
                styles={6: "wrap_apart", 8: "wrap_apart"},
            )
        sheet.sheet.freeze_panes(1, 1)
        sheet.sheet.repeat_rows(0)
        sheet.sheet.autofilter(0, 0, sheet.row - 1, len(heads) - 1)

    # --- tables --------------------------------------------------------------------------------------------------

    def _table_sheet(self, sheet: _Sheet, table: TableView) -> None:
        sheet.line(f"{self._words['table']} {table.number}", _line(table.title_html) or table.title, style="heading")
        sheet.line()
        self._table(sheet, table, widths=True)
        sheet.line()
        told = " ".join(filter(None, (table.heat, table.compared)))
        for text in filter(None, (*_lines(table.note), *map(_noted, table.notes), told)):
            sheet.across(text, 1 + len(table.columns))
        self._sources(sheet, (each.expression for each in table.sources))

    def _table(self, sheet: _Sheet, table: TableView, *, widths: bool = False) -> None:
        """Write the head and the rows of a table. Column widths are set if the table has its own sheet."""
        heads = [_with_unit(" · ".join((*head.heads, head.label)), head.unit or table.unit) for head in table.columns]
        if widths:
            texts = [[row.head.label, *(_line(cell.html) for cell in row.cells)] for row in table.rows]
            columns = zip((table.corner, *heads), *texts, strict=True)
            sheet.columns(*(_width((*head.split(" · "), *column)) for head, *column in columns))
        styles = {
            0: "head",
            **{at: "head_right" if head.numeric else "head" for at, head in enumerate(table.columns, 1)},
        }
        top = sheet.line(table.corner or " ", *heads, styles=styles)
        if widths:
            sheet.sheet.freeze_panes(top + 1, 1)
        for row in table.rows:
            if row.group:
                sheet.line(row.group, style="strong")
            name = _with_unit(" · ".join((*row.head.heads, row.head.label)), row.head.unit)
            looks = {at: "best" if cell.best else "number" for at, cell in enumerate(row.cells, 1) if cell.numeric}
            at = sheet.line(name, *map(_table_cell, row.cells), style="wrap", styles=looks)
            for column, cell in enumerate(row.cells, 1):
                reasons = [_line(note.text) for note in table.notes if note.number in cell.notes]
                if cell.numeric and cell.value is None and reasons:
                    sheet.sheet.write_comment(at, column, cell_text("\n".join(reasons)), {"x_scale": 2})

    def _facts(self, sheet: _Sheet, facts: FactsView) -> None:
        title = _line(facts.title_html) or facts.title
        sheet.line(f"{self._words['table']} {facts.number}", title, style="heading")
        sheet.line()
        sheet.columns(30, rest=40, up_to=max(3, len(facts.heads) + 1))
        if facts.beside:
            sheet.line(facts.corner or " ", *facts.heads, style="head")
            for row in facts.beside:
                sheet.line(row.name, *row.cells, style="wrap")
        if facts.common:
            sheet.line("", facts.common, style="wrap")
        if not facts.beside:
            for group in facts.groups:
                sheet.line(group.label, style="strong")
                for line in group.lines:
                    sheet.line(line.name, line.declared, line.observed, style="wrap")
        self._notes(sheet, facts.notes)

    def _below(self, sheet: _Sheet, note: str | None, notes: Iterable[Footnote]) -> None:
        sheet.line()
        for text in _lines(note):
            sheet.line("", text, style="note")
        self._notes(sheet, notes, "note")

    def _sources(self, sheet: _Sheet, expressions: Iterable[str]) -> None:
        if found := "; ".join(dict.fromkeys(expressions)):
            sheet.line()
            sheet.line(self._words["xlsx_from"], found, style="note")

    # --- figures -------------------------------------------------------------------------------------------------

    def _figure(self, sheet: _Sheet, figure: FigureView) -> None:
        words = self._words
        across = max((len(_columns_of(chart)) for chart in figure.native), default=0) + 1
        sheet.columns(26, rest=14, up_to=max(across, len(figure.data_head)))
        sheet.line(f"{words['figure']} {figure.number}", _said(figure), style="heading")
        if figure.claim:
            sheet.line("", _line(figure.title_html) or figure.title, style="said")
        whole = all(chart.whole and chart.series for chart in figure.native)
        if len(figure.native) > 1:  # charts below each other, none of which may be cut by the end of a page
            sheet.sheet.set_portrait()
            sheet.sheet.fit_to_pages(1, 1)
        if figure.native and not whole:
            sheet.line("", words["xlsx_picture"], style="note")
        sheet.line()
        charts = [self._chart_data(sheet, chart, drawn=whole) for chart in figure.native]
        top = 4
        if whole:
            for number, chart in enumerate(filter(None, charts)):
                sheet.sheet.insert_chart(
                    top + 21 * number, across, chart, {"description": cell_text(figure.alt)[:2000]}
                )
            sheet.row = max(sheet.row, top + 21 * len(charts))
        elif figure.svg:
            self._picture(sheet, figure, top, across)
            sheet.row = max(sheet.row, top + _PICTURE_ROWS)
        if not figure.native:
            sheet.line(*figure.data_head, style="head")
            for row in figure.data:
                sheet.line(*row)
        if figure.undrawn:
            sheet.line("", figure.undrawn, style="origin")
        self._below(sheet, figure.note, figure.notes)
        if figure.key:
            sheet.line("", figure.key, style="note")
        self._sources(sheet, (each.expression for each in figure.sources))

    def _picture(self, sheet: _Sheet, figure: FigureView, top: int, column: int) -> None:
        try:
            picture = self._converter.png(figure.svg)
        except NotDrawn as error:
            self._faults.append(f"the workbook lacks the picture of figure {figure.number}: {error}")
            return
        scale = {"x_scale": 0.5, "y_scale": 0.5, "description": cell_text(figure.alt)[:2000]}
        sheet.sheet.insert_image(top, column, f"{figure.id}.png", {"image_data": io.BytesIO(picture), **scale})

    def _chart_data(self, sheet: _Sheet, chart: NativeChart, *, drawn: bool) -> Any:
        """Write the data of a chart, and return the chart, or None if it can't be drawn."""
        columns = _columns_of(chart)
        if chart.heading:
            sheet.line(chart.heading, style="strong")
        titles = dict.fromkeys(filter(None, (chart.left, chart.right)))
        sheet.line("", " / ".join(titles), style="note")
        head = sheet.line(*(column.head for column in columns), styles={
            at: "head_right" if at else "head" for at in range(len(columns))})  # fmt: skip
        first = sheet.row
        for row in range(max((len(column.cells) for column in columns), default=0)):
            sheet.line(*(column.cell(row) for column in columns))
        last = sheet.row - 1
        sheet.line()
        return (
            _drawn(self._book, chart, columns, (sheet.name, head, first, last), self._styles.font)
            if drawn and last >= first
            else None
        )

    # --- all points, and where they come from --------------------------------------------------------------------

    def _points(self, sheet: _Sheet) -> None:
        table = measured_points(self._results)
        if table.left_out:
            self._faults.append(counted(self._words, "xlsx_columns_left_out", table.left_out))
        self._long(sheet, table)

    def _probes(self, sheet: _Sheet) -> None:
        self._long(sheet, probed_means(self._results))

    def _long(self, sheet: _Sheet, table: PointsTable) -> None:
        """Write the head of a long table. Its rows are added after the workbook is finished."""
        room = MOST_ROWS - 2
        left_out = max(0, table.count - room)
        names = self._names()
        texts = {self._words.dimension(dim): labels.values() for dim, labels in labels_of(self._results).items()}
        widths = [
            _FIGURES if each.is_number else min(_LONG_TEXT, _width(texts.get(each.head, (each.head, "x" * 14))))
            for each in table.columns
        ]
        sheet.columns(*([_LONG_NAME] if table.named else []), *widths[table.named :])
        if left_out:
            said = counted(self._words, "xlsx_rows_left_out", left_out, of=f"{table.count:,}")
            sheet.line(*[""] * table.named, said, style="origin")  # in the first column that is printed
            self._faults.append(said)
        head = sheet.line(*(each.head for each in table.columns), styles={
            at: "head_right" if each.is_number else "head" for at, each in enumerate(table.columns)})  # fmt: skip
        in_words = [names.get(each.head) for each in table.columns]
        self.long.append(LongRows(len(self._book.worksheets()), head + 2, table, room, in_words))
        sheet.sheet.freeze_panes(head + 1, 1)
        sheet.sheet.repeat_rows(head)
        sheet.sheet.print_area(0, table.named, head + min(room, max(1, table.printed)), len(table.columns) - 1)
        if sum(widths[table.named :]) > _PRINTED:  # further columns go to pages of their own
            sheet.sheet.set_print_scale(_PRINT_SCALE)
            sheet.sheet.repeat_columns(table.named, table.places - 1)
            sheet.sheet.print_across()
        sheet.sheet.autofilter(head, 0, head + min(room, table.count), len(table.columns) - 1)

    def _names(self) -> dict[str, Callable[[str], str]]:
        words, labels = self._words, labels_of(self._results)
        return {
            words.dimension("hardware"): lambda key: labels["hardware"].get(key, key),
            words.dimension("workload"): lambda key: labels["workload"].get(key, key),
            words["xlsx_state"]: lambda key: words.get(f"status_{key}", key),
            words["xlsx_reason"]: lambda text: words["not_published"] if text == NOT_PUBLISHED else words.said(text),
        }

    def _provenance(self, sheet: _Sheet) -> None:
        view, words = self._view, self._words
        sheet.columns(34, 110)
        sheet.line(words["xlsx_provenance_title"], style="heading")
        for tag in view.origin:
            sheet.line(tag.text, style="origin")
        for term, text in view.numbers.origin:
            sheet.line(term, text, styles={0: "top", 1: "wrap"})
        sheet.line(words["xlsx_side_file"], view.side_file, styles={0: "top", 1: "wrap"})
        for chapter in filter(None, endings_of(view, words)):
            sheet.line()
            sheet.line(chapter.head, style="heading")
            for text in filter(None, (*chapter.numbered, chapter.further)):
                sheet.line("", _line(text), style="wrap")
            for item in chapter.items:
                sheet.line(item.term, _line(item.text), styles={0: "top", 1: "wrap"})
        for gap in view.numbers.not_made:
            sheet.line("", gap, style="origin")
        if view.legal:
            sheet.line()
            for text in _lines(view.legal):
                sheet.line("", text, style="soft")


@dataclass(frozen=True)
class _Column:
    """A column of a chart's data. `series` is None for the keys of its x axis."""

    head: str
    cells: tuple[object, ...]
    series: NativeSeries | None = None
    role: str = "value"
    """The part of its series that is in the column: value, x, low, high, or the end of a range."""

    @cached_property
    def shown(self) -> list[object]:
        if all(cell is None or isinstance(cell, float) for cell in self.cells):
            return _alike(*(cell for cell in self.cells if cell is None or isinstance(cell, float)))
        return list(self.cells)

    def cell(self, row: int) -> object:
        """Return a cell, or None below the column's end."""
        return self.shown[row] if row < len(self.shown) else None


def _columns_of(chart: NativeChart) -> list[_Column]:
    """Return the columns of a chart's data. The keys have one column or, if the series have different keys, one for
    each series."""
    found: list[_Column] = []
    if chart.categories:
        found.append(_Column(chart.x_name or " ", chart.categories, role="x"))
    shared = None if chart.categories or not chart.series else chart.series[0].xs
    if shared is not None and all(series.xs == shared for series in chart.series):
        found.append(_Column(chart.x_name or " ", shared, role="x"))
    else:
        shared = None
    for series in chart.series:
        if not chart.categories and shared is None:
            found.append(_Column(chart.x_name or " ", series.xs, series, "x"))
        found.append(_Column(series.name, series.values, series))
        if series.ends:
            found[-1] = _Column(f"{series.name} ↓", series.values, series)
            found.append(_Column(f"{series.name} ↑", series.ends, series, "end"))
        if series.has_intervals:
            found.append(_Column(f"{series.name} ↓", series.low, series, "low"))
            found.append(_Column(f"{series.name} ↑", series.high, series, "high"))
    return found


_Area = tuple[str, int, int, int]
"""A sheet's name, the row of its heads, and the first and the last row of its data."""


def _drawn(book: Any, chart: NativeChart, columns: Sequence[_Column], area: _Area, font: str) -> Any:
    """Return a native chart of data in a sheet, or None if nothing can be drawn."""
    bars = [series for series in chart.series if series.mark == "bar"]
    others = [series for series in chart.series if series.mark != "bar"]
    look, made = {"name": font, "size": 10}, []
    named = {"num_font": look, "name_font": look}
    if bars:
        made.append(_of_kind(book, {"type": "column"}, bars, columns, area, look))
    if others and chart.categories:
        made.append(_of_kind(book, {"type": "line"}, others, columns, area, look))
    elif others:
        made.append(
            _of_kind(book, {"type": "scatter", "subtype": "straight_with_markers"}, others, columns, area, look)
        )
    if not made:
        return None
    first, *rest = made
    for other in rest:
        first.combine(other)
    first.set_title({"name": chart.heading, "name_font": {**look, "size": 11}} if chart.heading else {"none": True})
    first.set_size({"width": _PICTURE_WIDTH, "height": _PICTURE_HEIGHT})
    quiet = {"major_gridlines": {"visible": True, "line": {"color": "#DFE4E8"}}}
    log_x = {"log_base": 2} if chart.log_x and not chart.categories else {}
    xs = [x for series in chart.series for x in series.xs]
    first.set_x_axis({"name": chart.x_title, **named, **log_x, **_grouped(xs)})
    left = [value for series in chart.series if not series.right for value in series.values if value is not None]
    log_left = {"log_base": 10} if chart.log_left else {}
    first.set_y_axis({"name": chart.left or chart.right, **named, **log_left, **_grouped(left), **quiet})
    if any(series.right for series in chart.series):
        owner = next(
            each for each, its in zip(made, filter(None, (bars, others)), strict=True) if any(s.right for s in its)
        )
        owner.set_y2_axis({"name": chart.right, **named, **({"log_base": 10} if chart.log_right else {})})
    if len(chart.series) > 1:
        first.set_legend({"position": "bottom", "font": look})
    else:
        first.set_legend({"none": True})
    first.show_blanks_as("gap")
    return first


def _grouped(values: Iterable[float]) -> dict[str, str]:
    """Return the format for an axis with numbers of 1,000 or more."""
    return {"num_format": "#,##0"} if max(map(abs, values), default=0.0) >= 1000 else {}


def _of_kind(
    book: Any, kind: dict[str, str], series: Iterable[NativeSeries], columns: Sequence[_Column], area: _Area, font: Any
) -> Any:
    name, _, first, _ = area
    chart = book.add_chart(kind)

    def place(wanted: NativeSeries | None, role: str) -> int | None:
        return next((at for at, each in enumerate(columns) if each.series is wanted and each.role == role), None)

    for each in series:
        value = place(each, "value")
        keys = place(each, "x")
        keys = place(None, "x") if keys is None else keys
        end = first + len(each.values) - 1
        look: dict[str, Any] = {
            "line": {"color": each.colour, "width": 2, **({"dash_type": "dash"} if each.dashed else {})}
        }
        if each.mark == "bar":
            look = {"fill": {"color": each.colour}, "gap": 60 if len(each.values) > 2 else 140}
            if not each.has_intervals and len(each.values) <= _MOST_LABELS:
                form = next((cell.format for cell in columns[value or 0].shown if isinstance(cell, _Number)), "0")
                look["data_labels"] = {"value": True, "num_format": form, "font": font}
        elif each.mark == "points":
            look["line"] = {"none": True}
        if each.mark != "bar":
            shown = not each.dashed
            fill = {"fill": {"color": each.colour}, "border": {"color": each.colour}}
            look["marker"] = {"type": "circle", "size": 6, **fill} if shown else {"type": "none"}
        if any(each.keys):
            texts = [{"value": key} if key else {"delete": True} for key in map(cell_text, each.keys)]
            look["data_labels"] = {"value": True, "custom": texts, "position": "above", "font": font}
        if each.has_intervals:
            look["y_error_bars"] = _error_bars(each)
        chart.add_series(
            {
                "name": cell_text(each.name)[:_LONGEST],
                "categories": [name, first, keys, end, keys],
                "values": [name, first, value, end, value],
                "y2_axis": each.right,
                **look,
            }
        )
    return chart


def _error_bars(series: NativeSeries) -> dict[str, object]:
    """Return the distances between values and the ends of their intervals."""
    triples = list(zip(series.values, series.low, series.high, strict=True))
    plus = [0.0 if high is None or value is None else max(0.0, high - value) for value, _, high in triples]
    minus = [0.0 if low is None or value is None else max(0.0, value - low) for value, low, _ in triples]
    return {"type": "custom", "plus_values": plus, "minus_values": minus, "line": {"color": series.colour}}


def _alike(*values: float | None) -> list[object]:
    """Return numbers with a format that shows all of them with the same number of decimals."""
    decimals = decimals_for(values)
    form = "#,##0" + (f".{'0' * decimals}" if decimals else "")
    return [None if value is None or not math.isfinite(value) else _Number(value, form) for value in values]


def _table_cell(cell: TableCell) -> object:
    """Return a cell's number with the format in which the brief prints it, or else the cell's text."""
    text = _line(cell.html)
    if not cell.numeric:
        return text
    shown = shown_number(text, cell.value)
    if shown is None:
        return text if re.search(r"\d", text) else None  # a missing value, whose reason is its comment
    return _Number(shown.value, shown.format)


def _with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit else label


def _width(texts: Iterable[str]) -> float:
    """Return the width in characters of a column with these texts."""
    longest = max(map(_characters, texts), default=0.0)
    return min(_WIDEST, max(_NARROWEST, longest + 2 * _SIDES))


def _characters(text: str) -> float:
    """Return the width of a text in the unit of column widths, which is a character 7 pixels wide at 11 points."""
    return text_width(text, 1.0) * 11 * 96 / 72 / 7


def _said(figure: FigureView) -> str:
    """Return a figure's message, or the figure's title if it has no message."""
    return _line(figure.claim) or _line(figure.title_html) or figure.title


def _lines(html: object) -> list[str]:
    """Return the paragraphs of a text, without the marks of its footnotes."""
    found = []
    for paragraph in paragraphs(html if isinstance(html, Markup) else str(html or "")):
        text = "".join(run.text for run in paragraph.runs if not run.raised).replace("\n", " ").strip()
        found.append(f"• {text}" if paragraph.item else text)
    return found


def _noted(note: Footnote) -> str:
    return f"{note_letter(note.number)}  {_line(note.text)}"


def _line(html: object) -> str:
    return " ".join(_lines(html))
