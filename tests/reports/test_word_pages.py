"""Figures of a document for Word are as high as fills its pages, by an estimate."""

from __future__ import annotations

import docx
import pytest

from benchbrief.reports.office.word_pages import Drawn, shares_of


@pytest.mark.parametrize(
    ("lines", "least", "low", "high"),
    [
        (20, 0.0, 1.3, 1.7),  # alone on its page with a few lines: it grows
        (41, 0.0, 0.7, 0.95),  # a few lines too many for one page: it shrinks
        (41, 1.0, 1.0, 1.7),  # what may not shrink does not
    ],
)
def test_a_figure_is_as_high_as_fills_the_pages(lines: int, least: float, low: float, high: float) -> None:
    made = docx.Document()
    place = made.add_paragraph()
    for at in range(lines):
        made.add_paragraph(f"Line {at}").paragraph_format.space_after = 0
    (share,) = shares_of(made, [Drawn(place, "figure-1", 160.0)], least).values()
    assert low <= share <= high
