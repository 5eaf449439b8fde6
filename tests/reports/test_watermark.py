"""The marks of what was not measured here: nothing that a user brings along takes them away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

import pytest
from pypdf import PdfReader

from benchbrief.compiler import plan as p
from benchbrief.reports.build import build
from benchbrief.reports.errors import ReportError
from benchbrief.reports.house import House
from benchbrief.reports.page import Medium, to_html
from benchbrief.reports.pdf import parsed, to_pdf
from benchbrief.reports.view import ReportView
from benchbrief.reports.watermark import marked_markdown
from benchbrief.reports.words import CATALOGUES, Words
from tests.reports import world as w

KINDS = {"simulated": "SIMULATED", "imported": "Imported: not measured here"}
BLANK = Words("fr", {**CATALOGUES["en"].entries, "watermark": "", "imported_mark": " "})
Page = Callable[..., str]


@pytest.fixture(scope="module")
def view() -> ReportView:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("A report", p.CalloutElement(title="Lead", prose=w.text("Words.")), legal=w.text("Small print."))
    return build(world.plan(report), world.store(), report, CATALOGUES["en"], None)


@pytest.fixture
def page(view: ReportView) -> Page:
    def make(
        kind: str,
        legal: str = "",
        words: Words = CATALOGUES["en"],
        medium: Medium = "screen",
        template: str = "technical_brief",
    ) -> str:
        parts = (("legal.html.j2", "house/legal.html.j2", legal),) if legal else ()
        view_of_kind = replace(view, simulated=kind == "simulated", imported=kind == "imported")
        return to_html(view_of_kind, template, words, medium, House(parts=parts))

    return make


def mark_on(html: str, kind: str) -> str:
    (element,) = parsed(html).findall(f"./body/div[@class='{kind}-mark']")
    return "".join(element.itertext())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "part", ["<!--", "<div hidden>", "<textarea>", "<template>", "<style>", "<noscript>", "<title>", "<b"]
)
def test_a_part_that_would_swallow_the_mark_is_refused(page: Page, kind: str, part: str) -> None:
    with pytest.raises(ReportError, match=r"hide the mark .*: house/legal\.html\.j2"):
        page(kind, part)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_closes_what_it_opens_leaves_the_mark(page: Page, kind: str) -> None:
    assert KINDS[kind] in mark_on(page(kind, "<!-- ours --><p>Small print.</p>"), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_catalogue_without_the_words_of_the_mark_has_ours(page: Page, kind: str) -> None:
    assert KINDS[kind] in mark_on(page(kind, words=BLANK), kind)
    assert KINDS["imported"] in marked_markdown("# A report", BLANK, "imported_mark")


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_ones_own_stand_before_ours(page: Page, kind: str) -> None:
    own = Words("fr", {**CATALOGUES["en"].entries, "watermark": "SIMULÉ", "imported_mark": "Pas mesuré ici"})
    told = mark_on(page(kind, words=own), kind)
    assert told.startswith(own["watermark" if kind == "simulated" else "imported_mark"])
    assert KINDS[kind] in told


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("property_", ["all:initial", "clip:auto", "display:block", "opacity:1", "visibility:visible"])
def test_no_style_sheet_gets_at_the_mark(page: Page, kind: str, property_: str) -> None:
    (element,) = parsed(page(kind)).findall(f"./body/div[@class='{kind}-mark']")
    assert f"{property_} !important" in element.get("style", "")


@pytest.mark.parametrize("template", ["technical_brief", "slide"])
def test_every_sheet_of_an_imported_brief_says_so(page: Page, template: str) -> None:
    pdf = PdfReader(BytesIO(to_pdf(page("imported", medium="paper", template=template))))
    assert pdf.pages
    assert all(KINDS["imported"] in sheet.extract_text() for sheet in pdf.pages)


def test_a_brief_of_measurements_has_no_mark(page: Page) -> None:
    assert "-mark" not in page("measured", "<!--")
