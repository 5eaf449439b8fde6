"""Checks the PDFs of every layout against PDF/UA-1 with veraPDF, and as a screen reader sees them. Java is started only
once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import weasyprint
from pypdf import PdfReader
from pypdf.generic import Destination

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.page_html import TEMPLATES, to_html
from benchbrief.reports.render.page_pdf import to_pdf
from benchbrief.reports.render.render_report import render
from benchbrief.reports.render.watermark import draw_sheet
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import briefs, test_heat
from tests.reports import world as w
from tests.support import paging
from tests.support.longer import longer
from tests.support.made_once import returned_once
from tests.support.tools import built_tool

NAMES = {
    "technical_brief": "three_ssds",
    "white_paper": "quickstart",
    "blog": "cluster_shrink",
    "slide": "cluster_shrink",
}
"""The name of a brief for each layout. The first one is in Japanese."""
PDF: tuple[Format, ...] = ("pdf",)
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="12"><rect width="40" height="12" fill="#0a7"/></svg>'
A4, LETTER, WIDE = (595, 842), (612, 792), (960, 540)


def sheet_once(factory: pytest.TempPathFactory, template: str) -> Path:
    """Return the PDF of a layout, for the tests of several modules. It has a logo. The layout `white_paper` is on US
    letter paper, and the slides have no appendix."""

    def made(folder: Path) -> Path:
        (folder / "logo.svg").write_text(LOGO)
        world, report = briefs.made(NAMES[template])
        changes = {
            "template": template,
            "theme": p.Theme(logo=p.Asset(file=str(folder / "logo.svg"), sha256="0" * 64)),
            "provenance": {"blog": "compact", "slide": "none"}.get(template, "full"),
            "paper": "letter" if template == "white_paper" else "a4",
        }
        report = report.model_copy(update=changes)
        pdf = render(world.plan(report), world.store(), report.name, folder, formats=PDF).pdf
        assert pdf is not None
        return pdf

    return returned_once(factory, f"sheet-{template}", made)


@pytest.fixture(scope="module", params=[["technical_brief", "slide"], *longer([*TEMPLATES])], ids=len)
def sheets(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the PDF of each layout that a test asks for, as `sheet_once` makes it."""
    return {template: sheet_once(tmp_path_factory, template) for template in request.param}


def test_every_layout_and_a_heat_table_is_pdf_ua_1_and_what_is_not_is_reported(
    sheets: dict[str, Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.pdf"
    weasyprint.HTML(string="<p>no title, no language, no tags</p>").write_pdf(bad)
    marked = tmp_path / "marked.pdf"
    marked.write_bytes(simulated())
    heat = test_heat.made(tmp_path, "table", paper=True).pdf
    assert heat
    right = (*sheets.values(), marked, heat)
    command = (built_tool("verapdf/bin/pdf-check"), *right, bad)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    good, faults = done.stdout.split(f"bad {bad}\n")
    assert good.splitlines() == [f"ok {path}" for path in right], done.stdout + done.stderr
    assert "7.1-10 The document catalog dictionary" in faults
    assert done.returncode == 1


def test_every_layout_is_on_its_paper(sheets: dict[str, Path]) -> None:
    sizes = {"white_paper": LETTER, "slide": WIDE}
    most = {"technical_brief": 5, "white_paper": 8, "blog": 3, "slide": 9}
    for name, path in sheets.items():
        pages = read(path).pages
        expected = sizes.get(name, A4)
        assert {tuple(round(float(side)) for side in page.mediabox[2:]) for page in pages} == {expected}, name
        assert len(pages) <= most[name], name


def test_documents_say_what_they_are(sheets: dict[str, Path]) -> None:
    for path in sheets.values():
        reader = read(path)
        assert reader.metadata is not None
        assert reader.metadata.title
        assert reader.metadata.creation_date is not None
        assert {"mongodb", "rocksdb"} & set(str(reader.metadata["/Keywords"]).split(", "))
        assert reader.root_object["/Lang"] in ("en", "ja")
        assert reader.root_object["/ViewerPreferences"]["/DisplayDocTitle"]


def test_every_section_has_a_bookmark(sheets: dict[str, Path]) -> None:
    for name, path in sheets.items():
        marks = list(titles(read(path).outline))
        assert len(marks) >= 3, (name, marks)
    if "white_paper" in sheets:
        numbered = [mark for mark in titles(read(sheets["white_paper"]).outline) if mark[:1].isdigit()]
        assert numbered == sorted(numbered)
        assert numbered[0].startswith("1 ")


def test_every_typeface_is_embedded(sheets: dict[str, Path]) -> None:
    for name, path in sheets.items():
        fonts = list(fonts_of(read(path)))
        assert fonts, name
        assert [font["/FontName"] for font in fonts if not {"/FontFile", "/FontFile2", "/FontFile3"} & set(font)] == []


def test_no_page_is_left_half_empty(sheets: dict[str, Path]) -> None:
    """The last page is exempt. Slides are exempt, too, because each shows one thing, however small."""
    for name, path in sheets.items():
        if name != "slide":
            assert [share for share in paging.blank_shares(path)[:-1] if share > 0.35] == [], name


def test_each_note_stands_on_the_page_of_its_mark(sheets: dict[str, Path]) -> None:
    for name, path in sheets.items():
        assert [mark for mark in paging.marks(path) if mark.page != mark.note_page] == [], name


@pytest.mark.long
def test_no_text_stands_outside_of_its_page(sheets: dict[str, Path]) -> None:
    for name, path in sheets.items():
        for number, page in enumerate(read(path).pages, 1):
            width, height = (float(side) for side in page.mediabox[2:])
            places: list[tuple[float, float, str]] = []

            def visit(text: str, cm: list[float], tm: list[float], *_: Any, found: Any = places) -> None:
                if text.strip():
                    x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
                    found.append((x, y, text))

            page.extract_text(visitor_text=visit)
            outside = [place for place in places if not (-1 <= place[0] <= width and -1 <= place[1] <= height)]
            assert outside == [], (name, number)


def simulated() -> bytes:
    """Return a short brief of a simulated run. Each sheet is marked as simulated."""
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("A report", p.CalloutElement(title="Lead", prose=w.text("Words.")))
    words = CATALOGUES["en"]
    view = replace(build(world.plan(report), world.store(), report, words), simulated=True)
    return to_pdf(to_html(view, "technical_brief", words, "paper"), over=draw_sheet(view, words))


def read(path: Path) -> Any:
    """Return the document without a type, because pypdf's own types are incomplete."""
    return PdfReader(path)


def titles(outline: Any) -> Iterator[str]:
    for item in outline:
        if isinstance(item, Destination):
            yield str(item.title)
        else:
            yield from titles(item)


def fonts_of(reader: Any) -> Iterator[Any]:
    """Return the descriptors of all fonts of the document."""
    for item in range(1, len(reader.xref_objStm) + sum(map(len, reader.xref.values())) + 1):
        found = reader.get_object(item)
        if isinstance(found, dict) and found.get("/Type") == "/FontDescriptor":
            yield found
