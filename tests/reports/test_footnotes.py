"""Tests the footnotes that an author writes in a brief."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.html_markup import lift_marks, marks_beside_number, note_letter
from tests.reports import world as w
from tests.reports.test_pages import HARDWARE, PDF, WORKLOADS, figure, text
from tests.support import paging

MOST = p.Value(query=w.reduce("max", w.throughput("threads", hardware="disk", workload="a"), "threads"), format=",.0f")
BAD = "<script>x</script>\N{RIGHT-TO-LEFT OVERRIDE}"


def page(tmp_path: Path, *elements: p.Element, template: str = "technical_brief", **footnotes: p.Prose) -> str:
    report = w.report("R", *elements, template=template, footnotes=footnotes)
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, ops=lambda _hardware, _workload, threads: 1000.0 * threads)
    return render(world.plan(report), world.store(), "brief", tmp_path, html_only=True).html.read_text("utf-8")


def test_a_footnote_stands_once_and_each_text_has_its_mark(tmp_path: Path) -> None:
    said = w.text("As *they* say.[^src]")
    number = p.HeadlineNumber(value=w.text(MOST), text=said)
    elements = (
        p.HeadlineElement(numbers=(number,)),
        p.CalloutElement(title="Lead", prose=said),
        p.TextElement(prose=said),
    )
    html = page(tmp_path, *elements, src=w.text("Up to ", MOST, " in **2017**."))
    assert [html.count(f'href="#note-{n}"') for n in (1, 2)] == [3, 0]
    assert html.count('<p id="note-1"><sup class="of-note">a</sup> Up to <a class="num"') == 1
    assert html.count("</a> in <strong>2017</strong>.</p>") == 1


def test_two_marks_in_a_text_have_one_footnote(tmp_path: Path) -> None:
    html = page(tmp_path, p.TextElement(prose=w.text("One.[^a] Two.[^a]")), a=w.text("Up to ", MOST, "."))
    assert html.count("</sup> Up to ") == 1
    assert html.count('href="#note-1"') == 2


def test_a_mark_without_a_footnote_stays_as_it_is_written(tmp_path: Path) -> None:
    html = page(tmp_path, p.TextElement(prose=w.text("A set [^abc], and [^a].")), a=w.text("See [^a]."))
    assert "<p>A set [^abc], and <sup>" in html
    assert "</sup> See [^a].</p>" in html


def test_nothing_in_a_footnote_becomes_markup(tmp_path: Path) -> None:
    html = page(tmp_path, p.TextElement(prose=w.text("One.[^a]")), a=w.text(BAD))
    assert BAD not in html
    assert "&lt;script&gt;x" in html


def test_marks_are_letters_since_limits_have_numbers(tmp_path: Path) -> None:
    texts = [p.TextElement(prose=w.text(f"{name}.[^{name}]")) for name in ("one", "two")]
    html = page(tmp_path, *texts, one=w.text("First"), two=w.text("Second"))
    assert 'href="#note-2" role="doc-noteref">b</a>' in html
    assert '<sup class="of-note">b</sup> Second' in html
    assert [note_letter(number) for number in (1, 26, 27, 52, 53, 703)] == ["a", "z", "aa", "az", "ba", "aaa"]


def test_marks_beside_a_number_are_found_again() -> None:
    assert lift_marks(Markup("27") + marks_beside_number((1, 28))) == ("27", (1, 28))


def test_a_figure_on_a_later_page_has_the_note_once_more_and_leads_to_it(tmp_path: Path) -> None:
    noted = {"note": w.text("As they say.[^src]")}
    first, later = (figure(title).model_copy(update=noted) for title in ("F", "G"))
    elements = (p.SectionElement(title="Part", elements=(first, text(700), later, text(90))),)
    report = w.report("R", *elements, footnotes={"src": w.text("Datasheet")}, provenance="none")
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    pdf = render(world.plan(report), world.store(), report.name, tmp_path, formats=PDF).pdf
    assert pdf
    assert [word.page for word in paging.words(pdf) if word.text == "Datasheet"] == [1, 2]
    assert {(mark.page, mark.note_page) for mark in paging.marks(pdf)} == {(1, 1), (2, 2)}
