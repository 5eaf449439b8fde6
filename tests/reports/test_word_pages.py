"""Tests the pages of a document for Word: the heights of its figures, its sections, and what it says in place of a
figure."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import docx
import pytest
from docx.oxml.ns import qn
from docx.shared import Pt
from docx.text.paragraph import Paragraph
from markupsafe import Markup

from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.view_model import FactRow, FactsView
from benchbrief.reports.office.document import written
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.word_pages import Drawn, shares_of
from benchbrief.reports.office.word_parts import Footnotes
from benchbrief.reports.render.companion import companion_of
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import briefs
from tests.support.drawn_once import CONVERTER


def letter(converter: Converter = CONVERTER, **changes: Any) -> Any:
    """Write the brief of the quickstart example as a document."""
    world, report = briefs.quickstart()
    report = report.model_copy(update={"disclosure": "separate"})
    plan, store, words = world.plan(report), world.store(), CATALOGUES["en"]
    view = replace(build(plan, store, report, words), companion=companion_of("disclosure.pdf", b"pdf", ""), **changes)
    return docx.Document(io.BytesIO(written(HandOver(view, plan, report, words, store, converter))))


@pytest.mark.parametrize(
    ("lines", "least", "low", "high"),
    [
        (20, 0.0, 1.3, 1.7),  # alone on its page with a few lines: it grows
        (41, 0.0, 0.7, 0.95),  # a few lines too many for one page: it shrinks
        (41, 1.0, 1.0, 1.7),  # what may not shrink does not
    ],
)
def test_a_figure_is_as_high_as_fills_the_pages(lines: int, least: float, low: float, high: float) -> None:
    made = docx.Document()
    place = made.add_paragraph()
    for at in range(lines):
        made.add_paragraph(f"Line {at}").paragraph_format.space_after = 0
    (share,) = shares_of(made, [Drawn(place, "figure-1", 160.0)], least).values()
    assert low <= share <= high


def test_a_figure_leaves_room_for_a_last_line_that_keeps_with_the_next() -> None:
    made = docx.Document()
    place = made.add_paragraph()
    for at in range(31):
        made.add_paragraph(f"Line {at}").paragraph_format.space_after = 0
    last = made.paragraphs[-1].paragraph_format
    last.space_before, last.keep_with_next = Pt(150), True
    (share,) = shares_of(made, [Drawn(place, "figure-1", 160.0)], 0.0).values()
    assert share < 1


def share_above(note: str) -> float:
    """Return the factor by which the height of a figure changes on a page with this footnote."""
    made = docx.Document()
    place, said = made.add_paragraph(), made.add_paragraph("Said")

    def write(paragraph: Paragraph) -> None:
        paragraph.add_run(note)

    Footnotes(made).add(said, 1, "a", ("Default Paragraph Font", "Normal"), write)
    (share,) = shares_of(made, [Drawn(place, "figure-1", 360.0)], 0.0).values()
    return share


def test_a_figure_leaves_room_for_the_footnotes_of_its_page() -> None:
    assert 1 < share_above("A note of many words. " * 40) < share_above("A note.") - 0.1


def test_a_figure_that_cannot_be_drawn_has_the_reason_in_its_place() -> None:
    made = letter(Converter(("false",)))
    said = [Paragraph(each, made).text for each in made.element.body.iter(qn("w:p"))]
    captions = [text for text in said if text.startswith("Figure ")]
    reasons = [text for text in said if text.startswith("This figure")]
    assert reasons == ["This figure could not be drawn: the chart converter ended with code 1."] * len(captions)
    assert captions
    assert not [text for text in said if text.startswith("The code")], "it was not drawn, either"


def test_method_and_limits_are_side_by_side_on_one_page_above_the_code() -> None:
    *_, ending, code = letter(legal=Markup("<p>Nothing is promised.</p>"), legal_notes=()).tables
    heads = [cell.paragraphs[0].text for cell in ending.rows[0].cells]
    assert (heads[0].startswith("How it was"), heads[1]) == (True, "Limits")
    assert all(table._tbl.xpath("./w:tr/w:trPr/w:cantSplit") for table in (ending, code))
    beside = [each.text for each in code.rows[0].cells[1].paragraphs]
    assert any("Scan for" in text for text in beside)
    assert beside[-1] == "Nothing is promised.", "legal lines never begin a page"


def test_the_background_of_the_tag_is_as_wide_as_its_text() -> None:
    (tag,) = (
        each for cell in letter().tables[0]._cells for each in cell.paragraphs if each.style.name == "Brief Origin"
    )
    assert [each.tag for run in tag.runs for each in run._r.rPr] == [qn("w:bdr"), qn("w:shd")]
    assert tag._p.pPr.find(qn("w:shd")) is None


def test_the_configuration_is_in_lines_below_the_shorter_column_in_one_type_size() -> None:
    rows = (
        FactRow("Kernel", ("6.1",), told=("6.1",)),
        FactRow("Storage", ("NVMe", "SATA"), told=("Old: NVMe", "New: SATA")),
    )
    facts = FactsView(1, "Hosts", (), common="Kernel 6.1", rows=rows, sides=("Old", "New"))
    *_, ending, _ = letter(blocks=(facts,)).tables
    (lines,) = [own for cell in ending.rows[0].cells if "Hosts" in (own := [each.text for each in cell.paragraphs])]
    assert lines[-3:] == ["Hosts", "Kernel:\t6.1", "Storage:\tOld: NVMe; New: SATA"]
    texts = [
        each for cell in ending.rows[0].cells for each in cell.paragraphs if not each.style.name.startswith("Head")
    ]
    assert {run.font.size or run.style.font.size or each.style.font.size for each in texts for run in each.runs} == {
        Pt(9)
    }


def test_many_facts_of_the_configuration_run_on_in_their_column() -> None:
    rows = [FactRow(name, ("1", "2"), told=("Old: 1", "New: 2")) for name in "ABCDE"]
    facts = FactsView(1, "Hosts", (), common="", rows=tuple(rows), sides=("Old", "New"))
    *_, ending, _ = letter(blocks=(facts,)).tables
    (lines,) = [own for cell in ending.rows[0].cells if "Hosts" in (own := [each.text for each in cell.paragraphs])]
    assert lines[-2:] == ["Hosts", " \N{MIDDLE DOT} ".join(f"{name}: Old: 1; New: 2" for name in "ABCDE")]
