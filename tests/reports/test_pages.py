"""Tests the contents of a page: the result comes before its limits, headings stay with their contents, and slides are
whole."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.charts.draw_chart import with_even_heads
from benchbrief.reports.data.view_model import figures_of
from benchbrief.reports.render.page_html import TEMPLATES, to_html
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import briefs
from tests.reports import world as w
from tests.support import paging
from tests.support.drawn_once import CONVERTER
from tests.support.longer import longer

PDF: tuple[Format, ...] = ("pdf",)
HARDWARE, WORKLOADS = {"disk": "Disk", "ram": "RAM"}, {"a": "A", "b": "B"}
RESULT = p.CalloutElement(title="The result", prose=w.text("It is faster."))
FAILED = {"ramp/disk/a/threads=4/1": "it went away", "ramp/ram/b/threads=4/1": "it went away, too"}


def text(words: int) -> p.TextElement:
    return p.TextElement(prose=w.text("word " * (words - 1) + "end."))


def figure(title: str) -> p.FigureElement:
    lines = w.series(
        "line", w.throughput("threads", "hardware", workload="a"), "Throughput", "threads", color_dim="hardware"
    )
    return w.figure(title, lines, by={"threads": w.keys([1.0, 4.0]), "hardware": w.keys(HARDWARE)})


def pdf(folder: Path, world: w.World, report: p.Report) -> list[paging.Word]:
    made = render(world.plan(report), world.store(), report.name, folder, formats=PDF, converter=CONVERTER).pdf
    assert made
    return paging.words(made)


def page_of(report: p.Report, *, simulated: bool = False) -> str:
    world = w.World(HARDWARE, WORKLOADS, (1, 4), failed=FAILED)
    rows = [row._replace(simulated=simulated) if isinstance(row, s.RunRow) else row for row in world.rows()]
    view = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"], converter=CONVERTER)
    return to_html(view, report.template, CATALOGUES["en"], "screen")


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_result_comes_before_what_limits_it_and_after_that_nothing_was_measured(template: str) -> None:
    report = w.report("R", RESULT, text(90), figure("F"), p.DisclosureElement(), template=template)
    page = page_of(report, simulated=True)
    page = page[page.index("<main>") :]
    places = [page.index(said) for said in ("Simulated: nothing", "It is faster.", "Incomplete results", "Figure 1")]
    assert places == sorted(places)


@pytest.mark.parametrize("template", TEMPLATES)
def test_without_a_result_at_its_head_a_brief_begins_with_its_notices(template: str) -> None:
    page = page_of(w.report("R", text(90), figure("F"), RESULT, template=template))
    page = page[page.index("<main>") :]
    assert page.index("Incomplete results") < page.index("Figure 1")


def test_a_notice_is_one_sentence_with_its_count_and_a_link_to_its_details() -> None:
    report = w.report("R", RESULT, p.DisclosureElement())
    page = page_of(report)
    found = re.search(r"<strong>Incomplete results\. </strong>(.*?)</p>", page)
    assert found
    assert re.sub("<[^>]*>", "", found[1]) == (
        "2 of 8 measurements failed or are missing, and are left out or shown as “–”: "
        "ramp/disk/a/threads=4/1 (it went away); and 1 more. Details"
    )
    assert '<a class="details" href="#disclosure">Details</a>' in found[1]


def test_without_a_disclosure_a_notice_says_all_and_leads_nowhere() -> None:
    page = page_of(w.report("R", RESULT))
    assert "ramp/ram/b/threads=4/1 (it went away, too)" in page
    assert 'class="details"' not in page


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_notice_is_a_single_sentence(language: str) -> None:
    """Texts by other people, which may be inside a notice, are exempt."""
    end = re.compile(r"[.。](?=\s*\S)" if language == "ja" else r"(?<!\d)\. (?=[A-Z])")
    texts = {key: text for key, text in CATALOGUES[language].items() if re.match(r"notice_\w+_body", key)}
    assert len(texts) > 10
    assert [key for key, text in texts.items() if end.search(re.sub(r"\{\w+\}", "x", str(text)))] == []


@pytest.mark.parametrize("filler", [150, *longer(330, 420)])
def test_no_page_ends_with_a_heading_or_a_sentence_that_leads_to_a_figure(filler: int, tmp_path: Path) -> None:
    sections = [
        p.SectionElement(title=f"Part{n}", elements=(text(12), text(9), figure(f"F{n}"), text(filler // 3)))
        for n in range(1, 7)
    ]
    report = w.report("R", text(filler), *sections, provenance="none")
    found = pdf(tmp_path, w.World(HARDWARE, WORKLOADS, (1, 4)), report)
    heads = {word.text: word.page for word in found if re.fullmatch(r"Part\d", word.text)}
    captions = {f"Part{word.text[1:]}": word.page for word in found if re.fullmatch(r"F\d", word.text)}
    assert captions.pop("Part1") == 1, "before the texts, if they fill the first page"
    assert {part: page for part, page in heads.items() if part != "Part1"} == captions


@pytest.mark.parametrize("filler", [640, 680])
def test_no_page_ends_with_a_heading_and_a_sentence(filler: int, tmp_path: Path) -> None:
    section = p.SectionElement(title="Part", elements=(text(9), p.TextElement(prose=w.text("paragraph " * 60))))
    found = pdf(tmp_path, w.World(HARDWARE, WORKLOADS, (1, 4)), w.report("R", text(filler), section, provenance="none"))
    heading = next(word.page for word in found if word.text == "Part")
    assert heading == next(word.page for word in found if word.text == "paragraph")


def test_in_a_row_all_figures_have_a_claim_or_those_of_their_author_alone() -> None:
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    report = w.report("R", figure("F"), figure("G"))
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    one, other = figures_of(view.blocks)
    claimed, bare = replace(one, claim=Markup("It is faster")), replace(other, claim=None)
    for figures, own, shown in (
        ((claimed, bare), [], [False, False]),
        ((claimed, bare), [claimed], [True, False]),
        ((claimed, claimed), [], [True, True]),
    ):
        made = with_even_heads(figures, CATALOGUES["en"], own)
        assert [bool(each.claim) for each in made] == shown


@pytest.mark.parametrize("paper", ["a4", *longer("letter")])
def test_a_disclosure_begins_on_the_page_where_there_is_room_for_some_of_it(paper: str, tmp_path: Path) -> None:
    world, report = briefs.quickstart(failed=True)
    report = report.model_copy(update={"paper": paper, "elements": (text(60), p.DisclosureElement())})
    found = pdf(tmp_path, world, report)
    assert {word.page for word in found if word.text == "disclosure"} == {1}


@pytest.mark.parametrize("template", TEMPLATES)
def test_digests_are_short_on_paper_and_whole_on_a_screen(template: str) -> None:
    world, report = briefs.quickstart(failed=False)
    report = report.model_copy(update={"template": template})
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    screen, paper = (to_html(view, template, CATALOGUES["en"], medium) for medium in ("screen", "paper"))
    whole = "3f" * 32
    assert whole[:12] + "…" in paper
    assert whole[:20] not in paper
    assert whole in screen
