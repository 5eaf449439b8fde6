"""Tests the head of a brief: computed numbers in its title and subtitle, and numbers in large type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markupsafe import Markup
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import HeadlineNumberView
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.verify_brief import read_brief
from benchbrief.reports.view.arrange_elements import headline_size
from tests.reports import world as w

MOST = p.Value(query=w.reduce("max", w.throughput("threads", hardware="disk", workload="a"), "threads"), format=",.0f")
NONE = p.Value(query=w.query("SELECT NULL::DOUBLE AS value", (), "ops/s", "throughput[none]"), format=",.0f")
BAD = "<script>\N{RIGHT-TO-LEFT OVERRIDE}*x*</script>"


def made(tmp_path: Path, *parts: str | p.Value, template: str = "technical_brief", pdf: bool = False) -> Rendered:
    words = p.Prose(parts=parts)
    number = p.HeadlineNumber(value=w.text(MOST, " ops/s"), text=w.text("**at** the most", BAD))
    report = w.report(
        "Up to … ops/s",
        p.HeadlineElement(numbers=(number,)),
        p.CalloutElement(title="Lead", prose=w.text("Words.")),
        heading=words,
        subheading=words,
        subtitle="Up to … ops/s",
        template=template,
    )
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=lambda _hardware, _workload, threads: 1000.0 * threads)
    return render(world.plan(report), world.store(), "brief", tmp_path, formats=("html", "pdf" if pdf else "markdown"))


@pytest.mark.long
def test_titles_have_their_numbers_and_plain_text_where_there_is_no_markup(tmp_path: Path) -> None:
    found = made(tmp_path, "Up to ", MOST, " ops/s, *all* told", pdf=True)
    html = found.html.read_text("utf-8")
    assert "<title>Up to 4,000 ops/s, *all* told</title>" in html
    assert re.search(r'<h1[^>]*>Up to <a class="num" id="n1" [^>]*>4,000</a> ops/s, \*all\* told</h1>', html)
    assert re.search(r'<p class="subtitle">Up to <a class="num" id="n2" [^>]*>4,000</a> ops/s', html)
    assert found.pdf is not None
    metadata = PdfReader(found.pdf).metadata
    assert metadata is not None
    assert metadata.title == "Up to 4,000 ops/s, *all* told"
    for brief in map(read_brief, (found.html, found.pdf)):
        assert [number.shown for number in brief.numbers.numbers] == ["4,000"] * 3
        assert brief.edited == ()


def test_a_number_that_is_missing_in_a_title_has_its_reason_under_the_title(tmp_path: Path) -> None:
    html = made(tmp_path, NONE, " ops/s").html.read_text("utf-8")
    band = html[html.index("<header") : html.index("</header>")]
    assert re.search(r'<h1[^>]*><a class="num missing"[^>]*>[^<]*</a> ?</h1>', band), "a title has no marks"
    assert '<p class="title-note">' in band


def test_a_headline_is_on_the_first_page_before_the_lead_box(tmp_path: Path) -> None:
    html = made(tmp_path, "T").html.read_text("utf-8")
    assert html.index('<div class="headline') < html.index('<aside class="callout">')
    assert re.search(r'<p class="value"><a class="num" [^>]*>4,000</a> ops/s</p>', html)
    assert '<p class="of"><strong>at</strong> the most' in html


@pytest.mark.parametrize("numbers", [1, 3])
def test_words_in_place_of_a_number_wrap_where_they_are_longer_than_the_page(numbers: int) -> None:
    for text, wraps in (("7.9X", False), ("No finding in any of the many workloads that were run here", True)):
        view = HeadlineNumberView(Markup(text), Markup("of all"))  # noqa: S704  # ours
        assert headline_size([view] * numbers)[2] == wraps


def test_in_markdown_a_title_has_no_links_and_a_headline_is_a_bold_number(tmp_path: Path) -> None:
    text = made(tmp_path, "Up to ", MOST, " ops/s").html.with_suffix(".md").read_text("utf-8")
    assert "# Up to 4,000 ops/s\n" in text
    assert re.search(r"^\*\*.*4,000.* ops/s\*\* \*\*at\*\* the most", text, re.MULTILINE)


@pytest.mark.parametrize("template", ["technical_brief", "white_paper", "blog", "slide"])
def test_nothing_in_a_title_or_a_headline_becomes_markup(tmp_path: Path, template: str) -> None:
    html = made(tmp_path, BAD, MOST, BAD, template=template).html.read_text("utf-8")
    assert html.count('<div class="headline') == 1
    assert "<script>\N{RIGHT-TO-LEFT OVERRIDE}" not in html
    assert html.count("&lt;script&gt;\N{RIGHT-TO-LEFT OVERRIDE}") >= 5
