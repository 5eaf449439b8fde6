"""Tests that the footnotes of each slide are lettered from a, and that topics share slides in the largest type that
fits."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from benchbrief.reports.data.view_model import Footnote, TextView
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.office.slide_notes import SlideNotes, marks_in
from benchbrief.reports.office.slide_texts import claim_of
from benchbrief.reports.office.slide_topics import Topic, shared

AREAS = [Area(0.0, 0.0, 800.0, height) for height in (400.0, 160.0, 20.0)]
_THIRD = Markup('Saturated<sup><a href="#note-3">c</a></sup>')


def test_the_first_mark_of_a_slide_is_a() -> None:
    notes = SlideNotes({3: Footnote(3, "about")})
    said = notes.lettered(runs_of(_THIRD))
    below = notes.lettered(notes.told(marks_in(_THIRD))[0].runs)
    assert [run.text for run in said] == ["Saturated", "a"]
    assert "".join(run.text for run in below) == "a about"


def test_topics_share_slides_in_the_largest_type_and_the_last_slide_is_the_fullest() -> None:
    first, second, third = (Topic(head, (Paragraph((Run("word " * 60),)),)) for head in "ABC")
    shares = [[(points, len(group)) for points, group in shared([first, second, third], area)] for area in AREAS]
    assert shares == [[(19.0, 3)], [(20.0, 1), (14.0, 2)], [(0.0, 1)] * 3]


def test_a_text_begins_with_a_title_of_one_sentence() -> None:
    said = TextView(Markup("<p>Disks do <b>8.7X</b> the work, at 4.0 W. More is unknown.</p><p>See.</p>"))
    claim, rest = claim_of([said])
    assert claim == "Disks do <b>8.7X</b> the work, at 4.0 W"
    assert [each.html for each in rest] == ["<p>More is unknown.</p><p>See.</p>"]
    assert claim_of([TextView(Markup("<p>One sentence that has nothing after it.</p>"))]) == ("", ())
    listed = TextView(Markup("<ul><li>All disks are equally fast here. None failed.</li><li>More</li></ul>"))
    claim, rest = claim_of([listed])
    assert claim == "All disks are equally fast here"
    assert [each.html for each in rest] == ["<ul><li>None failed.</li><li>More</li></ul>"]


@pytest.mark.parametrize(
    ("html", "claim"),
    [
        ("<p>A short one.</p><p>Then the second goes on for long. And on.</p>", ""),
        ("<p>The disks that we measured:</p><ul><li>One</li></ul><p>All are new. So it is.</p>", ""),
        ("<p>They do approx. 5 times vs. HDDs in a row. None failed.</p>", "They do approx. 5 times vs. HDDs in a row"),
        ("<p>Measured on an Intel Corp. Xeon by J. Doe. More.</p>", "Measured on an Intel Corp. Xeon by J. Doe"),
        ("<p>All disks are of Example Inc.</p><p>More.</p>", "All disks are of Example Inc"),
    ],
)
def test_a_title_of_a_text_stays_in_its_paragraph_and_ends_at_no_abbreviation(html: str, claim: str) -> None:
    assert claim_of([TextView(Markup(html))])[0] == claim  # noqa: S704  # made up above


@pytest.mark.parametrize(
    "said",
    [
        "<em>Random reads</em>: all threads read keys at random. <em>Mixed</em>: one of them writes.",
        "Client threads were raised until the p99 rose. Then operations are offered at a fixed rate.",
        "スレッドは p99 が上がるまで段階的に増やしていきました。その後、負荷を一定に保ちました。",
    ],
)
def test_a_sentence_that_does_not_stand_alone_is_no_title(said: str) -> None:
    assert claim_of([TextView(Markup("<p>{}</p>").format(Markup(said)))]) == ("", ())  # noqa: S704  # from this file
