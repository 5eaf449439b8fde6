"""Footnotes: on the page of their marks, and set apart from the numbers that they are on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.render.render_report import Format, render
from benchbrief.reports.render.templating import move_notes_to_foot
from benchbrief.reports.text.html_markup import note_marks
from tests.reports import world as w
from tests.reports.briefs import value
from tests.support import paging
from tests.support.tools import system_tool

FORMATS: tuple[Format, ...] = ("pdf", "html")
WORDS = "A sentence of a few words, as a brief has many. " * 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A brief of four pages of text, each paragraph with a number that is missing, and a table with two."""
    failed = {f"ramp/disk/{key}/threads=4/1": f"reason {key}" for key in "abcdefgh"}
    world = w.World({"disk": "Disk"}, {key: key.upper() for key in "abcdefghi"}, (1, 4), failed=failed)
    texts = [
        p.TextElement(prose=w.text(WORDS, "It reached ", value(_at(key, 4)), " in the end. ", WORDS, WORDS))
        for key in "abcdefgh"
    ]
    table = p.TableElement(
        title="Highest, 4 threads", dim="workload", dim_label="Workload", keys=w.keys({"a": "A", "b": "B", "i": "I"}),
        lines=(p.Line(label="Rate", unit="ops/s", query=w.throughput("workload", threads=4)),),
    )  # fmt: skip
    legal = w.text("No more than ", value(_at("h", 4)), " is promised.")
    report = w.report("Many notes", *texts, table, legal=legal)
    folder = tmp_path_factory.mktemp("notes")
    render(world.plan(report), world.store(), report.name, folder, formats=FORMATS)
    return folder


def _at(workload: str, threads: int) -> p.Query:
    return w.throughput(hardware="disk", workload=workload, threads=threads)


def test_each_note_stands_on_the_page_of_its_mark(folder: Path) -> None:
    found = paging.marks(folder / "brief.pdf")
    assert [mark.note for mark in found] == [f"note-{number}" for number in range(1, 12)]
    assert len({mark.page for mark in found}) >= 3
    assert [mark for mark in found if mark.page != mark.note_page] == []


def test_notes_of_running_text_stand_at_the_foot_of_the_page_and_those_of_a_table_under_it(folder: Path) -> None:
    *of_texts, first, second, _legal = paging.marks(folder / "brief.pdf")
    full = [mark for mark in of_texts if mark.page < first.page]  # pages that text fills
    assert len(full) >= 5
    assert all(mark.height < 842 * 0.2 for mark in full)
    assert 0 < first.height - second.height < 20


def test_a_text_taken_from_the_page_has_the_mark_apart_from_the_number(folder: Path) -> None:
    shown = subprocess.run(
        [system_tool("pdftotext"), "-raw", folder / "brief.pdf", "-"], capture_output=True, check=True, timeout=60
    ).stdout.decode()
    assert "It reached – 1 in the end" in " ".join(shown.split())


def test_on_a_screen_each_note_stands_under_its_text(folder: Path) -> None:
    html = (folder / "brief.html").read_text("utf-8")
    assert '<p id="note-1"><sup>1</sup> the measurement failed: reason a</p>' in html
    assert 'class="footnote"' not in html
    assert '<sup>\N{NO-BREAK SPACE}<a href="#note-1" role="doc-noteref">1</a></sup> in the end' in html
    assert html.count('href="#note-11"') == html.count('id="note-11"') == 1, "the small print has its note, too"


def test_marks_of_several_notes_are_one() -> None:
    one, two = (f'<a href="#note-{n}" role="doc-noteref">{n}</a>' for n in (3, 14))
    assert note_marks((3, 14)) == f"<sup>\N{NO-BREAK SPACE}{one},{two}</sup>"
    assert note_marks(()) == ""


def test_a_note_is_put_behind_the_first_of_its_marks_and_nothing_else_is_taken_for_it() -> None:
    text = Markup("<p>1{} and 12{}</p>").format(note_marks((12,)), note_marks((1,)))
    both = move_notes_to_foot(text, (Footnote(1, "of `one`"), Footnote(12, "<b>")))
    first, second = both.split(" and 12")
    assert first.endswith('12</a></sup><span class="footnote" id="note-12"><sup>12</sup> &lt;b&gt;</span>')
    assert second.endswith('<span class="footnote" id="note-1"><sup>1</sup> of <code>one</code></span></p>')
    assert move_notes_to_foot(Markup("<p>x</p>"), (Footnote(1, "y"),)).endswith(
        '<span class="footnote" id="note-1"><sup>1</sup> y</span>'
    )
    assert move_notes_to_foot("<i>", ()) == "&lt;i&gt;"  # type: ignore[arg-type]  # of a user's part
