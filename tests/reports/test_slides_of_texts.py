"""Tests which texts share a slide, and that no slide loses a block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from benchbrief.reports.data.view_model import (
    FactsView,
    FormulaView,
    HeadCell,
    TableCell,
    TableHead,
    TableRow,
    TableView,
)
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.presentation import _Deck
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.arrange_elements import Slide
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import briefs
from tests.support.drawn_once import CONVERTER

RATE = TableHead("Rate")
ROWS = (TableRow(TableHead("Reads"), (TableCell(Markup("6"), numeric=True),)),)
TABLE = TableView(1, "Rates", "", (RATE,), ROWS, (), None, (), ((HeadCell(RATE, 1, 1),),), ())
FACTS = FactsView(1, "Hosts", (), common="All have 8 processors.")


def example(title: str) -> FormulaView:
    return FormulaView(title, title, "", ("a / b", "6 / 2", "3"), (), "", ())


def deck(**changes: Any) -> _Deck:
    """Return an empty presentation of a brief without any element."""
    world, report = briefs.quickstart()
    report = report.model_copy(update={"elements": (), "disclosure": "separate"})
    plan, store, words = world.plan(report), world.store(), CATALOGUES["en"]
    view = replace(build(plan, store, report, words), **changes)
    return _Deck(HandOver(view, plan, report, words, store, CONVERTER))


def slides(of: _Deck) -> list[str]:
    """Return the texts of each slide."""
    made = of.masters.presentation.slides
    return ["\n".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame) for slide in made]


def test_a_block_that_is_no_example_is_not_lost_beside_one() -> None:
    own = deck()
    with written_as(own.words.locale):
        own.write_slide(Slide("", Markup("Rates"), (), (TABLE, example("Gain"), FACTS)))
        own.close()
    said = "\n".join(slides(own))
    assert "6 / 2" in said
    assert "All have 8 processors." in said
