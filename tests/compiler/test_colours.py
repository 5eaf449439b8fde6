"""Tests the colours of a house style: parsing, visibility on white, and distinguishability."""

from __future__ import annotations

from itertools import combinations

import pytest

from benchbrief.compiler.briefs.colours import NEAR, colour_of, contrast_on_white, darker, distance, greys
from tests.compiler.metrics.lowering import report


@pytest.mark.parametrize(
    ("written", "read"),
    [("#0A7", "#00aa77"), ("#0B3a5B", "#0b3a5b"), ("#0a7f", None), ("0a7", None), ("navy", None), ("#0a7\n", None)],
)
def test_colours_are_written_in_hexadecimal(written: str, read: str | None) -> None:
    assert colour_of(written) == read


def test_a_darker_colour_has_the_contrast_that_is_wanted() -> None:
    assert contrast_on_white("#ffffee") < 1.1
    assert contrast_on_white(darker("#ffffee", 2.0)) == pytest.approx(2.0, abs=0.1)
    assert darker("#000000", 4.5) == "#000000"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_up_to_three_greys_are_told_apart_and_show_on_white(count: int) -> None:
    shades = greys(count)
    assert all(distance(one, other) > NEAR for one, other in combinations(shades, 2))
    assert all(contrast_on_white(each) > 2 for each in shades)


def test_colours_that_only_some_readers_tell_apart_are_near() -> None:
    assert distance("#c0392b", "#4d7a1f") < NEAR < distance("#c0392b", "#0072b2")
    assert distance("#123456", "#123456") == 0
    assert distance("#000000", "#ffffff") > 0.9


def palette(body: str, warns: tuple[str, ...] = ()) -> dict[str, str]:
    return report(f'theme {{ accent = "#0072b2"  palette {{ {body} }} }}  text = "x"', warns=warns).theme.palette


def test_a_palette_has_colours_by_keys() -> None:
    assert palette('eco = accent  color "Old" = grey  a = "#0a7"') == {
        "eco": "#0072b2",
        "old": "#7a7a7a",
        "a": "#00aa77",
    }
    assert palette("eco = grey  old = grey  third = accent") == {
        "eco": "#8f8f8f",
        "old": "#5c5c5c",
        "third": "#0072b2",
    }


def test_more_than_three_greys_are_not_told_apart() -> None:
    assert len(set(palette("eco = grey  old = grey  third = grey  a = grey", ("W0731",)).values())) == 3
