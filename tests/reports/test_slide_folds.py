"""Tests that a short text, or a table that says nothing new, has no slide of its own."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup, escape

from benchbrief.reports.data.native_chart import NativeChart, NativeSeries
from benchbrief.reports.data.view_model import FigureView, HeadCell, TableCell, TableHead, TableRow, TableView, TextView
from benchbrief.reports.office.line_breaks import lines_of_title
from benchbrief.reports.office.slide_folds import folded, has_column, has_room
from benchbrief.reports.office.slide_look import LINE_LESS
from benchbrief.reports.office.slide_masters import Area
from benchbrief.reports.office.slide_texts import lead_of
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


def figure(topic: str, above: str, *bars: str) -> Slide:
    """Return a slide with a bar chart of these numbers."""
    names = tuple("ABCD"[: len(bars)])
    data = tuple(("Rate", name, number) for name, number in zip(names, bars, strict=True))
    series = NativeSeries("Rate", "bar", "#0072b2", tuple(map(float, bars)))
    chart = NativeChart("", "", "Rate", "", (series,), names)
    svg = "<svg>{}</svg>".format("".join(f"<text>{number}</text>" for number in bars))
    made = FigureView(1, "", svg, "", True, 1, ("", "", "Rate"), data, (), None, "", (), native=(chart,))
    texts = (TextView(Markup(above)),) if above else ()  # noqa: S704  # made up below
    return Slide(topic, Markup("A claim"), texts, (made,))


def test_a_short_text_goes_below_the_table_before_it_or_beside_the_method() -> None:
    long = said("Method", 300)
    fold = folded([TABLE, said("Load", 20), long, said("Keys", 9)], AREA)
    assert [text.html[:12] for text in fold.slides[0].after] == ["<p><b>Load:<"]
    assert fold.slides[1:] == (long,)
    assert [each.topic for each in fold.asides] == ["Keys"]
    head = "A list"
    items = TextView(Markup("<ul><li>One</li><li>Two</li></ul>"))
    (table,) = folded([TABLE, replace(said(head, 1), texts=(items,))], AREA).slides
    assert table.after[0].html.startswith("<p><b>A list</b> </p><ul>"), "a list has its heading, too"


def test_a_conclusion_is_the_title_of_the_table_above_it() -> None:
    claim = TextView(Markup('<p>The disks do <a class="num">8.7X</a> the work of the others. That is all.</p>'))
    numbers = TextView(Markup('<p>The disks do <a class="num">8.7X</a> the work of the others. None failed.</p>'))
    for text, head, caption in ((claim, "Rates", ""), (numbers, str(numbers.html)[3:-18], "Rates")):
        (slide,) = folded([TABLE, replace(said("Conclusion", 1), texts=(text,))], AREA).slides
        (table,) = slide.blocks
        assert isinstance(table, TableView)
        assert (slide.head, table.title) == (head, caption)


def test_a_table_that_repeats_a_figure_is_in_the_notes_and_definitions_belong_to_the_method() -> None:
    items = "".join(f"<li><em>Load {name}</em>: All threads read keys.</li>" for name in "ABC")
    fold = folded([figure("Loads", f"<ul>{items}</ul>", "7", "8"), TABLE, said("Conclusion", 20)], AREA)
    (slide,) = fold.slides
    assert [block.kind for block in slide.noted] == ["table"]
    assert [text.html[:12] for text in slide.after] == ["<p><b>Conclu"]
    assert slide.texts == ()
    assert fold.terms[0].html.startswith("<p><b>Load A:</b> All threads read keys.</p>")
    assert [block.kind for each in folded([figure("", "", "6", "8"), TABLE], AREA).slides for block in each.blocks] == [
        "figure",
        "table",
    ], "another number"


def test_only_the_first_lines_of_a_text_are_above_a_figure() -> None:
    long = TextView(Markup("<p>{}</p>").format("This is a sentence of a text, which goes on. " * 12))
    shown, noted = lead_of([long], AREA.width)
    assert shown[0].html.count("sentence") in range(2, 7)
    assert noted == (long,)
    assert lead_of(shown, AREA.width) == (shown, ())


def test_a_chart_is_never_flattened_by_a_text_and_two_bars_share_a_slide() -> None:
    chart, short, long, longest = (
        figure("Loads", "", "7", "8", "9"),
        said("Why", 20),
        said("Why", 150),
        said("Why", 400),
    )
    room = [
        (len(fold.slides), has_room(fold.slides[0], AREA), has_column(fold.slides[0], AREA))
        for fold in (folded([chart, text], AREA) for text in (short, long, longest))
    ]
    assert room == [(1, True, True), (1, False, True), (2, True, True)], "below, beside, or on a slide of its own"
    (slide,) = folded([chart, figure("Loads", "", "5", "6"), said("Why", 20)], AREA).slides
    assert [block.kind for block in slide.blocks] == ["figure", "figure"]
    assert (slide.head, len(slide.after)) == ("A claim<br>A claim", 1)
    assert len(folded([chart, figure("Others", "", "5", "6")], AREA).slides) == 2, "another section"
    assert len(folded([chart, chart], AREA).slides) == 2, "each is enough for a slide"


def test_a_title_of_two_short_claims_has_two_lines_and_leaves_less_room() -> None:
    one, two = Markup("A claim, a claim"), Markup("A claim<br>A claim")
    assert [lines_of_title(each, AREA.width, 24.0) for each in (one, two)] == [1, 2]
    chart = replace(figure("Loads", "", "7", "8", "9"), head=one)
    heights = range(200, 500)
    slides = (chart, replace(chart, head=two))
    least = [next(at for at in heights if has_room(each, replace(AREA, height=at))) for each in slides]
    assert least[1] - least[0] == LINE_LESS


def test_a_table_of_the_same_digits_in_another_unit_repeats_nothing() -> None:
    drawn = figure("", "", "7", "8")
    for unit, kinds in (("", ["figure"]), ("ms", ["figure", "table"])):
        made = TABLE.blocks[0]
        assert isinstance(made, TableView)
        table = replace(TABLE, blocks=(replace(made, unit=unit),))
        assert [block.kind for each in folded([drawn, table], AREA).slides for block in each.blocks] == kinds
