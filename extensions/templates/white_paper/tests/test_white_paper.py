"""Tests the template for white papers: a cover with the first figure, a table of contents with page numbers, and
numbered sections."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.reports.render.render_report import render
from tests.reports import world as w
from tests.reports.test_pages import HARDWARE, PDF, WORKLOADS, figure, page_of, text
from tests.support.drawn_once import CONVERTER

CONTENTS = '<nav class="contents">'


def section(title: str, *elements: p.Element) -> p.SectionElement:
    return p.SectionElement(title=title, elements=(text(5), *elements))


def paper(*elements: p.Element, **more: object) -> p.Report:
    return w.report("R", *elements, template="white_paper", provenance="none", **more)


PARTS = (section("First", section("Inside")), section("Second"), p.DisclosureElement())


def test_its_contents_lead_to_sections_those_inside_them_and_the_disclosure() -> None:
    page = page_of(paper(*PARTS))
    listed = page[page.index(CONTENTS) : page.index("</nav>")]
    lines = re.findall(r'<li( class="unnumbered")?><a href="#(.*?)">(.*?)</a>', listed)
    assert [(title, bool(unnumbered)) for unnumbered, _, title in lines] == [
        ("First", False),
        ("Inside", False),
        ("Second", False),
        ("Test disclosure", True),
    ]
    assert re.search(r"First</a>\s*<ol>\s*<li>.*Inside", listed), "one inside another is inside its line"
    assert all(f'id="{anchor}"' in page.partition("</nav>")[2] for _, anchor, _ in lines)
    assert CONTENTS not in page_of(paper(text(20), disclosure="separate"))


@pytest.mark.parametrize(
    ("elements", "head"),
    [
        ((text(20), figure("By threads")), False),
        ((section("First", figure("By threads")),), False),
        ((p.SectionElement(title="First", elements=(figure("By threads"),)),), True),
    ],
    ids=["after a text", "of a section", "all of a section"],
)
def test_its_cover_has_the_first_figure_with_the_head_of_a_section_that_has_nothing_else(
    elements: tuple[p.Element, ...], head: bool
) -> None:
    cover = page_of(paper(*elements, section("Last"))).partition(CONTENTS)[0]
    assert "By threads" in cover
    assert ("First</h2>" in cover) == head


@pytest.mark.long
def test_on_paper_its_sections_are_numbered_and_its_contents_have_their_pages(tmp_path: Path) -> None:
    report = paper(section("First", section("Inside")), section("Second", text(600)), section("Third"))
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    made = render(world.plan(report), world.store(), report.name, tmp_path, formats=PDF, converter=CONVERTER).pdf
    assert made
    pages = [" ".join(page.extract_text().split()) for page in PdfReader(made).pages]
    for number, title in (("1", "First"), ("1.1", "Inside"), ("2", "Second"), ("3", "Third")):
        (at,) = re.findall(rf"{re.escape(number)} ?{title}[ .]*(\d+)", pages[1])
        assert re.search(rf"{re.escape(number)} ?{title}", pages[int(at) - 1]), (title, at)
