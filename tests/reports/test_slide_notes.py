"""Tests that the footnotes of each slide are lettered from a, and that topics are side by side in the largest type that
fits."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from benchbrief.reports.data.view_model import Footnote, SectionView, TableView, TextView
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_notes import SlideNotes, marks_in
from benchbrief.reports.office.slide_texts import claim_of
from benchbrief.reports.office.slide_topics import Topic, side_by_side
from benchbrief.reports.view.arrange_elements import single_slides_of

_THIRD = Markup('Saturated<sup><a href="#note-3">c</a></sup>')


def test_the_first_mark_of_a_slide_is_a() -> None:
    notes = SlideNotes({3: Footnote(3, "about")})
    said = notes.lettered(runs_of(_THIRD))
    below = notes.lettered(notes.told(marks_in(_THIRD))[0].runs)
    assert [run.text for run in said] == ["Saturated", "a"]
    assert "".join(run.text for run in below) == "a about"


def test_a_longer_topic_has_the_wider_column() -> None:
    short, long = (Topic(head, (Paragraph((Run("word " * count),)),)) for head, count in (("A", 20), ("B", 120)))
    columns = side_by_side([short, long], 800.0, 300.0)
    assert columns is not None
    assert columns.share < 0.5
    assert side_by_side([short, long], 800.0, 20.0) is None


def test_a_text_begins_with_a_title_of_one_sentence() -> None:
    said = TextView(Markup("<p>Disks do <b>8.7X</b> the work, at 4.0 W. That is all.</p><p>See.</p>"))
    claim, rest = claim_of([said])
    assert claim == "Disks do <b>8.7X</b> the work, at 4.0 W"
    assert [each.text for each in rest] == ["That is all.", "See."]
    assert claim_of([TextView(Markup("<p>One sentence that has nothing after it.</p>"))]) == ("", ())
    assert claim_of([TextView(Markup("<ul><li>A list. Of two sentences.</li></ul>"))]) == ("", ())


@pytest.mark.parametrize(
    ("html", "claim"),
    [
        ("<p>A short one.</p><p>Then the second goes on for long. And on.</p>", ""),
        ("<p>The disks that we measured:</p><ul><li>One</li></ul><p>All are new. So it is.</p>", ""),
        ("<p>They do approx. 5 times vs. HDDs in a row. That is all.</p>", "They do approx. 5 times vs. HDDs in a row"),
        ("<p>Measured on an Intel Corp. Xeon by J. Doe. More.</p>", "Measured on an Intel Corp. Xeon by J. Doe"),
        ("<p>All disks are of Example Inc.</p><p>More.</p>", "All disks are of Example Inc"),
    ],
)
def test_a_title_of_a_text_stays_in_its_paragraph_and_ends_at_no_abbreviation(html: str, claim: str) -> None:
    assert claim_of([TextView(Markup(html))])[0] == claim  # noqa: S704  # made up above


def test_a_line_about_a_table_stands_below_it_and_a_longer_text_does_not() -> None:
    table = TableView(1, "Rates", "", (), (), (), None, (), (), ())
    short, long = (
        SectionView("Why", 2, "why", (TextView(Markup("<p>{}</p>").format("So it is. " * n)),)) for n in (3, 60)
    )
    (slide,) = single_slides_of([table, short])
    assert [text.html for text in slide.after] == ["<p><b>Why</b></p>", f"<p>{'So it is. ' * 3}</p>"]
    said = TextView(Markup("<ul><li>One</li><li>Two</li></ul>"))
    (slide,) = single_slides_of([table, SectionView("Why <not>", 2, "why", (said,))])
    assert slide.after == (TextView(Markup("<p><b>Why &lt;not&gt;</b></p>")), said), "a list has its heading, too"
    (slide,) = single_slides_of([table, SectionView("", 2, "why", (said,))])
    assert slide.after == (said,), "no empty heading"
    assert [slide.after for slide in single_slides_of([table, long])] == [(), ()]


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
