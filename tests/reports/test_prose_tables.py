"""Tests that a table in a text is a table in files to edit."""

from __future__ import annotations

from pathlib import Path

import docx
import pptx
from docx.oxml.ns import qn

from benchbrief.model import plan as p
from benchbrief.reports.verify_brief import read_brief
from tests.reports import world as w
from tests.reports.test_files_to_edit import file_of, made

TABLE = "It is fast.\n\n| Disk | Reads |\n| :--- | ---: |\n| NVMe | "


def test_a_table_in_a_text_is_a_native_table_whose_numbers_are_found(tmp_path: Path) -> None:
    most = w.reduce("max", w.throughput("threads", hardware="disk", workload="a"), "threads")
    number = p.Value(query=most, format=",.0f")
    text = p.TextElement(prose=w.text(TABLE, number, " |\n| Disk | none |\n\nAll of it."))
    section = p.SectionElement(title="Results", elements=(text,))
    rendered = made(tmp_path, "pptx", "docx", elements=(section,))
    slides = pptx.Presentation(str(file_of(rendered, "pptx"))).slides
    shown = [shape.table for slide in slides for shape in slide.shapes if shape.has_table]
    document = docx.Document(str(file_of(rendered, "docx")))
    table = next(each for each in document.tables if each.cell(0, 0).text == "Disk")
    heads = [row.cells[0].text for row in table.rows if row._tr.find(f"{qn('w:trPr')}/{qn('w:tblHeader')}") is not None]
    assert heads == ["Disk"]
    assert [cell.text for cell in table.columns[1].cells][::2] == ["Reads", "none"]
    assert [[cell.text for cell in row.cells] for row in shown[0].rows] == [
        [cell.text for cell in row.cells] for row in table.rows
    ]
    for kind in ("pptx", "docx"):
        found = read_brief(file_of(rendered, kind))
        assert (list(found.edited or ()), found.unread) == ([], ())
