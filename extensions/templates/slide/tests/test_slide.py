"""Tests the slide template: which elements become slides, which headings slides have, and that one slide is shown at a
time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.render.render_report import render
from tests.reports import briefs
from tests.reports import world as w
from tests.reports.test_figures_give_way import word
from tests.reports.test_footnotes import page
from tests.reports.test_pages import HARDWARE, WORKLOADS, figure, page_of, pdf, text
from tests.support import paging
from tests.support.drawn_once import CONVERTER


def said(words: str) -> p.TextElement:
    return p.TextElement(prose=w.text(words))


def table(title: str) -> p.TableElement:
    line = p.Line(label="Highest", query=w.throughput("workload", hardware="disk", threads=4))
    return p.TableElement(title=title, dim="workload", dim_label="Workload", keys=w.keys(WORKLOADS), lines=(line,))


def heads(*elements: p.Element) -> list[str]:
    """Return the headings of the slides between the title slide and the slides about the method."""
    page = page_of(w.report("R", *elements, template="slide", disclosure="separate"))
    return re.findall(r'<section class="slide[^>]*>.*?<h2[^>]*>(.*?)\s*</h2>', page, re.DOTALL)


def test_each_figure_table_and_box_is_a_slide_under_what_it_claims() -> None:
    claimed = figure("Throughput").model_copy(update={"claim": w.text("RAM is faster")})
    box = p.CalloutElement(title="In short", prose=w.text("Words."))
    assert heads(figure("By threads"), table("Highest"), box) == ["By threads", "Highest", "In short"]
    assert heads(claimed, said("It is faster."), table("Highest")) == ["RAM is faster", "It is faster."]
    section = p.SectionElement(title="Part", elements=(said("A first text. " * 60), table("Highest"), said("Last.")))
    assert heads(section) == ["Highest", "Part"], "a long text has a slide, and a short one stands with the table"


def test_it_begins_with_its_title_and_ends_with_how_it_was_measured() -> None:
    page = page_of(w.report("The title", table("Highest"), template="slide", disclosure="separate"))
    slides = re.findall(r'<(?:section|div) class="(front|slide[^"]*)', page)
    assert (slides[0].split()[0], slides[-1].split()[:2]) == ("front", ["slide", "closing"])
    front = page[page.index('<div class="front') : page.index("<main>")]
    assert ("The title" in front, "Highest" in front) == (True, False)


@pytest.mark.long
def test_on_slides_the_appendix_has_its_own_and_captions_can_be_read(tmp_path: Path) -> None:
    world, report = briefs.quickstart(failed=False)
    found = pdf(tmp_path, world, report.model_copy(update={"template": "slide"}))
    first = next(word for word in found if word.text == "Provenance")
    assert not any(word.page == first.page and word.bottom < first.top for word in found if word.top > 20)
    captions = [word for word in found if word.text == "Figure" and word.left < 60]
    assert captions
    assert all(word.bottom - word.top > 12 for word in captions)


@pytest.mark.long
def test_the_only_figure_of_a_slide_fills_it(tmp_path: Path) -> None:
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    elements = (figure("First"), figure("Alone"), text(40), figure("Under"), text(1))
    report = w.report("R", *elements, template="slide", provenance="none")
    pdf = render(world.plan(report), world.store(), report.name, tmp_path, converter=CONVERTER).pdf
    assert pdf
    shares = paging.blank_shares(pdf)
    assert max(shares[word(pdf, "Alone").page - 1], shares[word(pdf, "Under").page - 1]) < 0.1


def test_slides_are_seen_one_by_one_and_each_has_its_footnote(tmp_path: Path) -> None:
    texts = [p.TextElement(prose=w.text(f"{number}.[^a]")) for number in ("One", "Two")]
    sections = [p.SectionElement(title=f"S{at}", elements=(text,)) for at, text in enumerate(texts)]
    html = page(tmp_path, *sections, template="slide", a=w.text("A note"))
    assert html.count("</sup> A note</p>") == 2
