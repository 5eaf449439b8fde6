"""Tests names that are too long for their place: whole words are left out. Headings of panels first get a second
line."""

from __future__ import annotations

import pytest

from benchbrief.reports.charts.chart import TEXT, text_width
from benchbrief.reports.charts.chart_layout import heading_lines, shorten

LONG = "Recommendations for returning customers with an empty basket in winter"


def test_a_heading_takes_two_lines_before_anything_is_left_out() -> None:
    assert heading_lines("Recommendations for customers", 130) == ["Recommendations", "for customers"]
    assert heading_lines("Short", 130) == ["Short"]


def test_a_shortened_heading_leaves_out_whole_words() -> None:
    for width in range(160, 400, 10):
        pieces = shorten(LONG, width).split()
        assert set(pieces) <= {*LONG.split(), "…"}, width
        assert (pieces[0], pieces[-1]) == ("Recommendations", "winter")
        assert text_width(" ".join(pieces), TEXT) <= width
        assert all(word in (*LONG.split(), "…") for line in heading_lines(LONG, width) for word in line.split()), width


def test_a_single_long_word_still_fits() -> None:
    assert text_width(shorten("Donaudampfschifffahrtsgesellschaft", 80), TEXT) <= 80


@pytest.mark.parametrize("width", [60, 90, 120, 150])
@pytest.mark.parametrize(
    "name",
    ["StandardnodeskonfigurationMitNamen", "Node Mittelgrosseverteilungsinfrastruktur", "two-socket_server/rev-b"],
)
def test_a_word_that_is_wider_than_a_panel_goes_on_in_the_next_line_and_loses_nothing(name: str, width: int) -> None:
    lines = heading_lines(name, width)
    if len(lines) < 3:
        assert "".join(lines).replace("-", "").replace(" ", "") == name.replace("-", "").replace(" ", "")
    assert all(text_width(line, TEXT) <= width for line in lines)


def test_a_long_name_is_parted_at_its_own_strokes() -> None:
    assert heading_lines("standard-nodes_configuration", 110) == ["standard-nodes_", "configuration"]
    assert heading_lines("Mittelgrosseverteilung", 110)[0].endswith("-")
