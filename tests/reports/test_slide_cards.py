"""Tests large numbers on cards, and lists with several levels, on slides."""

from __future__ import annotations

from typing import Any

import pptx
import pytest
from markupsafe import Markup

from benchbrief.reports.office.rich_text import Run, paragraphs
from benchbrief.reports.office.slide_cards import Card, CardLook, add_cards
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.office.slide_parts import add_body, add_text

_AREA = Area(40, 100, 800, 380)
_LOOK = CardLook("#0b3a5b", "#222222", "", "#eef3f7", 1.1)
_LISTS = Markup("<p>Said.</p><ul><li>One<ul><li>Within</li></ul></li></ul><ol><li>First</li></ol>")


def empty_slide() -> Any:
    made = pptx.Presentation()
    return made.slides.add_slide(made.slide_layouts[6])


@pytest.mark.parametrize(("count", "rows"), [(2, 1), (4, 2), (5, 2), (8, 2)])
def test_cards_of_a_slide_stand_apart_with_numbers_of_one_size(count: int, rows: int) -> None:
    slide = empty_slide()
    cards = [Card((Run("19X to 69X"),), (Run(f"the throughput of disk {at}"),)) for at in range(count)]
    height = add_cards(slide, cards, _AREA, 60.0, _LOOK)
    grounds = [each for each in slide.shapes if not each.text_frame.text]
    numbers = [each for each in slide.shapes if each.text_frame.text == "19X to 69X"]
    assert len(grounds) == len(numbers) == count
    assert len({each.top for each in grounds}) == rows
    assert max(each.top + each.height for each in grounds) <= int((_AREA.top + height) * 12_700) + 1
    assert height <= _AREA.height
    for at, each in enumerate(grounds):
        assert all(
            each.left + each.width < other.left or each.top + each.height < other.top for other in grounds[at + 1 :]
        )
    assert len({each.text_frame.paragraphs[0].runs[0].font.size for each in numbers}) == 1


def test_numbers_of_cards_stand_on_one_line_however_long_their_texts_are() -> None:
    slide = empty_slide()
    cards = [Card((Run("2.7X"),), (Run("the inserts of other disks " * times),)) for times in (1, 4, 2)]
    assert add_cards(slide, cards, _AREA, 60.0, _LOOK, fills=True) == _AREA.height
    assert len({each.top for each in slide.shapes if each.text_frame.text == "2.7X"}) == 1


def test_an_item_within_another_is_indented_more() -> None:
    said, slide = paragraphs(_LISTS), empty_slide()
    texts = add_text(slide, _AREA, said, 20.0).text_frame.paragraphs
    indents = [int(each._p.pPr.get("marL", "0")) for each in texts]
    assert indents[0] == 0 < indents[1] == indents[3] < indents[2]


def test_items_have_the_levels_and_the_signs_of_a_house() -> None:
    body = add_body(empty_slide(), _AREA, paragraphs(_LISTS), 0.0).text_frame.paragraphs
    signs = [[each.tag.split("}")[1] for each in paragraph._p.pPr] for paragraph in body]
    assert [each.level for each in body] == [0, 0, 1, 0]
    assert signs == [["buNone"], [], [], ["buAutoNum"]]
    assert body[1].runs[0].font.size is None
