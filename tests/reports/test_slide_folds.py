"""Tests that a short text has no slide of its own if another slide has room for it."""

from __future__ import annotations

from markupsafe import Markup, escape

from benchbrief.reports.data.view_model import HeadCell, TableCell, TableHead, TableRow, TableView, TextView
from benchbrief.reports.office.slide_folds import filled
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.view.arrange_elements import Slide

AREA = Area(44.0, 108.0, 872.0, 388.0)
COLUMN = TableHead("Rate")
ROW = TableRow(TableHead("Disk"), (TableCell(Markup("7"), numeric=True),))
TABLE = Slide(
    "",
    Markup("Rates"),
    (),
    (TableView(1, "", "", (COLUMN,), (ROW,), (), None, (), ((HeadCell(COLUMN, 1, 1),),), ()),),
)


def said(topic: str, words: int) -> Slide:
    return Slide(topic, escape(topic), (TextView(Markup("<p>{}</p>").format("word " * words)),), ())


def test_a_short_text_goes_below_the_table_before_it_or_shares_a_slide() -> None:
    below, shared, last = filled([TABLE, said("Conclusion", 20), said("Load", 20), said("Keys", 9), TABLE], AREA)
    assert [text.html[:18] for text in below.after] == ["<p><b>Conclusion</"]
    assert [topic.topic for topic in shared.topics] == ["Load", "Keys"]
    assert last == TABLE
    long = said("Method", 150)
    assert [bool(slide.after) for slide in filled([TABLE, long, said("Conclusion", 20)], AREA)] == [True, False]
    assert filled([TABLE, long, long], AREA) == [TABLE, long, long]
