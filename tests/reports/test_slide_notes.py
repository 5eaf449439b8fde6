"""Tests that the footnotes of each slide are lettered from a, and that topics are side by side in the largest type that
fits."""

from __future__ import annotations

from markupsafe import Markup

from benchbrief.reports.data.view_model import Footnote
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_notes import SlideNotes, marks_in
from benchbrief.reports.office.slide_topics import Topic, side_by_side

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
