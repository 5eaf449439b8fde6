"""Tests the first and the last page of a brief: a figure, one line of limits before it, sizes of text, full pages, and
PDF/UA."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import Rendered, render
from tests.reports import briefs
from tests.reports import world as w
from tests.reports.test_pages import HARDWARE, WORKLOADS, figure, text
from tests.reports.test_pages_are_full import example_once
from tests.support import paging
from tests.support.longer import longer
from tests.support.tools import built_tool

PDF: tuple[Format, ...] = ("pdf",)
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="12"><rect width="40" height="12" fill="#0a7"/></svg>'
HEADLINE = p.HeadlineElement(numbers=(p.HeadlineNumber(value=w.text("2.1 times"), text=w.text("the throughput")),))
MADE = [
    (template, name, language)
    for template, name in (("technical_brief", "quickstart"), ("white_paper", "three_ssds"), ("blog", "quickstart"))
    for language in ("en", "ja")
]


@pytest.fixture(scope="module", params=[[], *longer(MADE)], ids=len)
def pdfs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """Return briefs with a headline, by template and language. Without a parameter, there is only the quickstart, as
    other tests have drawn it. With one, its briefs are made, and have a logo."""
    if not request.param:
        return {("technical_brief", "en"): example_once(tmp_path_factory, "quickstart", "a4")}
    found = {}
    folder = tmp_path_factory.mktemp("first")
    (folder / "logo.svg").write_text(LOGO)
    theme = p.Theme(logo=p.Asset(file=str(folder / "logo.svg"), sha256="0" * 64))
    for template, name, language in request.param:
        world, report = briefs.made(name)
        changes = {"template": template, "language": language, "theme": theme, "disclosure": "separate"}
        elements = (HEADLINE, *(one for one in report.elements if not isinstance(one, p.DisclosureElement)))
        report = report.model_copy(update={**changes, "elements": elements})
        made = render(world.plan(report), world.store(), report.name, folder / f"{template}-{language}", formats=PDF)
        assert made.pdf
        found[template, language] = made.pdf
    return found


def text_of(pdf: Path, page: int) -> str:
    return PdfReader(pdf).pages[page].extract_text().replace("\xa0", " ")


def test_the_first_page_has_a_figure_and_at_most_one_line_of_limits(pdfs: dict[tuple[str, str], Path]) -> None:
    for (template, language), pdf in pdfs.items():
        said = text_of(pdf, 0)
        assert re.search(r"(Figure|図) ?1\b", said), (template, language)
        limits = re.findall(r"Limits: .*|制約.*ページ", said)
        assert len(limits) == 1, (template, language, said)
        where = int(re.findall(r"\d+", limits[0])[-1])
        assert re.search(r"Limits(?!:)|制約(?!：)", text_of(pdf, where - 1)), (template, language, limits)


def test_pages_are_full_and_no_text_is_smaller_than_seven_points(pdfs: dict[tuple[str, str], Path]) -> None:
    for key, pdf in pdfs.items():
        *shares, last = paging.blank_shares(pdf)
        assert [share for share in shares if share > 1 / 3] == [], key
        assert last < 0.7, key
        assert min(_sizes(pdf)) > 6.9, key


def _sizes(pdf: Path) -> list[float]:
    found: list[float] = []
    for page in PdfReader(pdf).pages:

        def visit(said: str, cm: Any, tm: Any, _font: Any, size: float, found: list[float] = found) -> None:
            if said.strip():
                found.append(size * abs(tm[3] or tm[1]) * abs(cm[3] or cm[1]))

        page.extract_text(visitor_text=visit)
    return found


@pytest.mark.long
def test_each_is_pdf_ua_1_with_its_logo(pdfs: dict[tuple[str, str], Path]) -> None:
    files = [path for pdf in pdfs.values() for path in (pdf, pdf.with_name(f"{pdf.stem}-disclosure.pdf"))]
    command = (built_tool("verapdf/bin/pdf-check"), *files)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout.splitlines() == [f"ok {path}" for path in files], done.stdout + done.stderr


def _made(folder: Path, *elements: p.Element, css: str = "", **changes: object) -> Rendered:
    theme = p.Theme()
    if css:
        folder.mkdir(exist_ok=True)
        (folder / "house.css").write_text(css)
        theme = p.Theme(css=p.Asset(file=str(folder / "house.css"), sha256="0" * 64))
    report = w.report("R", *elements, theme=theme, disclosure="separate").model_copy(update=changes)
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    return render(world.plan(report), world.store(), report.name, folder, formats=PDF)


@pytest.mark.long
def test_a_brief_of_one_page_fits_it_or_says_what_to_do(tmp_path: Path) -> None:
    fits = _made(tmp_path / "fits", text(60), figure("F"), layout="one_page")
    assert fits.pdf
    assert len(PdfReader(fits.pdf).pages) == 1
    assert fits.warnings == ()
    long = _made(tmp_path / "long", text(1400), figure("F"), layout="one_page")
    assert "`layout = one_page`, but it has" in long.warnings[0]
    assert "take out a figure, a table or texts" in long.warnings[0]


def test_a_house_style_that_makes_text_unreadable_is_told_with_its_page(tmp_path: Path) -> None:
    css = ".text { font-size: 5pt } .text + figure figcaption { margin-left: 190mm; white-space: nowrap }"
    made = _made(tmp_path, text(60), figure("Throughput by threads and hardware"), css=css)
    small, beyond = made.warnings[:2]
    assert "house.css sets text in 5.0 pt on page 1 (“word" in small
    assert "house.css sets text beyond the edge of page 1" in beyond
    assert _made(tmp_path / "good", text(60), css=".text { color: #123 }").warnings == ()
