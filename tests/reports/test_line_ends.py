"""Tests where titles and captions break on paper: titles have lines of even length, and no short word is alone on a
line."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from benchbrief.reports.text.line_ends import close_up, keep_last_words
from benchbrief.reports.view.arrange_elements import even_width


@pytest.mark.parametrize(
    ("title", "least", "most"),
    [
        ("0.4 to 1.9 times the work for each watt", 9.0, 14.0),
        ('One RAM disk node for <a class="num" href="#n1">2.4 to 9.8</a> Local disk nodes', 10.0, 15.0),
    ],
)
def test_a_title_of_two_lines_has_even_lines(title: str, least: float, most: float) -> None:
    width = even_width(Markup(title), 42, "en")  # noqa: S704  # made up above
    assert width.endswith("em")
    assert least < float(width.removesuffix("em")) < most


def test_a_title_of_one_line_has_all_of_it() -> None:
    assert even_width(Markup("Twice as fast"), 42, "en") == "none"


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        (
            "<figcaption><b>Table 1:</b> Reads by phase</figcaption>",
            "<figcaption><b>Table 1:</b> Reads by_phase</figcaption>",
        ),
        (
            '<p class="claim">One of <a href="#n" id="n">4 loads</a></p>',
            '<p class="claim">One of <a href="#n" id="n">4_loads</a></p>',
        ),
        ('<h2>By load<sup>_<a href="#note-1">a</a></sup></h2>', '<h2>By_load<sup>_<a href="#note-1">a</a></sup></h2>'),
        ("<h2>A very considerable improvement</h2>", "<h2>A very considerable improvement</h2>"),
        ("<p>A text of a page</p>", "<p>A text of a_page</p>"),
    ],
)
def test_a_short_last_word_keeps_the_one_before(page: str, kept: str) -> None:
    assert keep_last_words(page.replace("_", "\xa0")) == kept.replace("_", "\xa0")


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("速さは 4 倍で、16 スレッド", "速さは4倍で、16スレッド"),
        ("1,200.5\xa0件と <strong>8</strong> 台", "1,200.5件と<strong>8</strong>台"),
        ("MongoDB 8 サーバーと Micron 7450\xa0ドライブ", "MongoDB 8 サーバーと Micron 7450\xa0ドライブ"),
        ("PCIe\xa04.0 接続の E5-2650 2 台", "PCIe\xa04.0 接続の E5-2650 2台"),
    ],
)
def test_a_number_that_counts_is_closed_up_and_one_of_a_product_is_not(text: str, closed: str) -> None:
    assert close_up(text) == closed
