"""Tests which texts share a slide, and that no slide loses a block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from markupsafe import Markup

from benchbrief.reports.data.view_model import (
    FactRow,
    FactsView,
    FormulaView,
    HeadCell,
    Item,
    Method,
    SectionView,
    TableCell,
    TableHead,
    TableRow,
    TableView,
    TextView,
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
HOSTS = FactsView(1, "Hosts", (), common="8 processors", rows=(FactRow("Processors", ("8",), told=("8",)),))
DISKS = FactsView(2, "Disks", (), ("Old", "New"), (FactRow("Size", ("1 TB", "2 TB")),), "Disk")
WHY = TextView(Markup("<p>The disks do twice the work. {}</p>").format("More of it. " * 40))
METHOD = Method((Item("Load", "Reads only."), Item("Time", "60 s each.")))


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
    own, facts = deck(), FactsView(1, "Hosts", (), common="All have 8 processors.")
    with written_as(own.words.locale):
        own.write_slide(Slide("", Markup("Rates"), (), (TABLE, example("Gain"), facts)))
        own.close()
    said = "\n".join(slides(own))
    assert "6 / 2" in said
    assert "All have 8 processors." in said


@pytest.mark.parametrize(
    ("facts", "configuration"),
    [
        ((), []),
        ((HOSTS,), ["Hosts", "Processors:\t8"]),
        ((DISKS,), ["Disks"]),
        ((HOSTS, DISKS), ["Hosts", "Processors:\t8", "Disks"]),
    ],
)
def test_texts_have_their_first_sentence_as_title_and_the_method_has_the_configuration_below_it(
    facts: tuple[FactsView, ...], configuration: list[str]
) -> None:
    blocks = (SectionView("Why", 2, "why", (WHY,)), TABLE, example("Gain"), example("Loss"), *facts)
    own = deck(method=METHOD, blocks=blocks)
    with written_as(own.words.locale):
        own.write()
    _, *made = (slide.split("\n") for slide in slides(own))
    assert [lines[0] for lines in made] == ["The disks do twice the work", "Rates", "How it was measured", "Limits"]
    assert made[0][1] == "Why"
    assert [line for line in made[1] if line.startswith("Worked")] == ["Worked example: Gain", "Worked example: Loss"]
    assert made[2][-2 - len(configuration) :] == ["Load:\tReads only.", "Time:\t60\xa0s each.", *configuration]
