"""Tests why a number no longer holds, and which numbers are in the file beside a brief."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pypdf import PdfReader, PdfWriter

from benchbrief.model import plan as p
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.numbers_file import NumbersFile
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.render.page_html import to_html
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.verify_brief import FinishedBrief, edited_in, marked_in, read_brief, verify
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import briefs
from tests.reports import world as w
from tests.support.longer import longer

Rows = list[tuple[Any, ...]]


class Detailed(NamedTuple):
    """A brief whose appendix has this `detail`."""

    detail: str
    plan: p.Plan
    store: AskedStore
    made: Rendered


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FinishedBrief]:
    world, report = briefs.quickstart()
    out = tmp_path_factory.mktemp("brief")
    page = render(world.plan(report), world.store(), report.name, out, html_only=True).html
    return page, read_brief(page)


def changed(of: type[tuple[Any, ...]], cell: str, **values: Any) -> Callable[[Rows], Rows]:
    return lambda rows: [
        row._replace(**values) if type(row) is of and getattr(row, "cell_id", "") == cell else row  # type: ignore[attr-defined]  # a named tuple
        for row in rows
    ]


CELL = "ramp/ram/a/threads=4/1"
FASTER = changed(s.ThroughputRow, CELL, ops_per_s=99_999.0)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (FASTER, "the stored results were changed"),
        (lambda rows: FASTER(changed(s.CellRow, CELL, cell_hash="other")(rows)), "the spec was changed"),
        (lambda rows: FASTER(changed(s.CellRow, CELL, attempt=2)(rows)), r"was measured again \(attempt 2"),
        (changed(s.CellRow, CELL, status="failed", reason="it broke"), "is failed now, and was ok"),
        (lambda rows: [r for r in rows if getattr(r, "cell_id", "") != CELL], "is not in the store"),
    ],
)
def test_a_number_that_holds_no_more_says_why(
    made: tuple[Path, FinishedBrief], fault: Callable[[Rows], Rows], why: str
) -> None:
    world, report = briefs.quickstart()
    found = verify(made[1], world.plan(report), w.make_store(fault(world.rows())))
    assert found.differing
    assert all(
        CELL in number.cells for number in made[1].numbers.numbers if number.id in {d.id for d in found.differing}
    )
    reasons = [each.why for each in found.differing] + [each.why for each in found.drawn]
    assert [reason for reason in reasons if not re.search(why, reason)] == []
    assert len(found.differing) < found.numbers


def test_a_point_that_holds_no_more_names_its_own_cell(made: tuple[Path, FinishedBrief]) -> None:
    other = "ramp/disk/rww/threads=2/1"
    slower = changed(s.ThroughputRow, other, ops_per_s=1.0)
    world, report = briefs.quickstart()
    twice = changed(s.CellRow, other, attempt=2)(
        changed(s.CellRow, CELL, attempt=2)(slower(FASTER(list(world.rows()))))
    )
    found = verify(made[1], world.plan(report), w.make_store(twice))
    own = {each.at: each.why for each in found.drawn if each.expression == "throughput"}
    assert own["ram", 4.0].startswith(f"{CELL} was measured again")
    assert own["disk", 2.0].startswith(f"{other} was measured again")


def test_the_same_results_hold(made: tuple[Path, FinishedBrief]) -> None:
    world, report = briefs.quickstart()
    found = verify(made[1], world.plan(report), world.store())
    assert found.holds
    assert (found.differing, found.drawn, found.edited) == ((), (), ())
    assert found.numbers > 20
    assert found.points > 40


def without(place: str) -> Callable[[NumbersFile], dict[str, Any]]:
    return lambda file: {"numbers": tuple(number for number in file.numbers if number.place != place)}


def less_some_of_its_texts(count: int, gap: str) -> Callable[[NumbersFile], dict[str, Any]]:
    """Return a function that removes `count` numbers in texts from a file. The function also records in the file that
    this many numbers could not be made."""

    def fault(file: NumbersFile) -> dict[str, Any]:
        gone = [number.id for number in file.numbers if number.place == "text"][:count]
        assert len(gone) == count
        return {"numbers": tuple(n for n in file.numbers if n.id not in gone), "not_made": (f"{gap}: out of range",)}

    return fault


def test_a_part_that_could_not_be_made_excuses_its_own_numbers_alone(made: tuple[Path, FinishedBrief]) -> None:
    world, report = briefs.quickstart()
    plan, store = world.plan(report), world.store()

    def lacking(fault: dict[str, Any]) -> tuple[str, ...]:
        return verify(FinishedBrief(made[1].numbers.model_copy(update=fault), None), plan, store).foreign

    file = made[1].numbers
    assert lacking(less_some_of_its_texts(1, "a number in a text")(file)) == ()
    (said,) = lacking(less_some_of_its_texts(3, "a number in a text")(file))
    assert "lacks 3 of those of its texts" in said
    (said,) = lacking(less_some_of_its_texts(1, "table 1")(file))
    assert "lacks 1 of those of its texts" in said
    less_table = without("Table 1")(file)
    assert lacking({**less_table, "not_made": ("table 1: out of range",)}) == ()
    (said,) = lacking({**less_table, "not_made": ("table 2: out of range",)})
    assert "of those of its tables" in said
    (said,) = lacking({**less_table, "not_made": ("a text: out of range",)})
    assert "of those of its tables" in said


def without_a_point(file: NumbersFile) -> dict[str, Any]:
    figure, *others = file.figures
    series, *more = figure.series
    less = series.model_copy(update={"rows": series.rows[1:]})
    return {"figures": (figure.model_copy(update={"series": (less, *more)}), *others)}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda _: {"kind": "imported"}, "its numbers are imported, and those of .* are measured"),
        (lambda file: {"origin": (*file.origin[:-1], ("", "db_bench 9"))}, r"another origin .*\(db_bench 9\)"),
        (lambda file: {"numbers": file.numbers[:1]}, r"lacks \d+ of those of its texts"),
        (without("Table 1"), r"lacks \d+ of those of its tables, first .* at "),
        (lambda file: {"figures": file.figures[1:]}, r"lacks \d+ points of the figure “"),
        (without_a_point, "lacks 1 point of the figure “"),
        (lambda _: {"report": "other"}, "no report other"),
        (lambda _: {"title": "Twice as fast"}, "is called “Twice as fast”, and its report in the plan “"),
        (lambda _: {"cells": {}}, r"says another thing of \d+ cells than the run, first .*, which it does not have"),
        (
            lambda file: {"cells": file.cells | {CELL: file.cells[CELL].model_copy(update={"files": {"raw/x": "00"}})}},
            f"says another thing of 1 cell than the run, first {CELL}, which has other raw outputs, first raw/x",
        ),
        (
            lambda file: {"numbers": tuple(n.model_copy(update={"cells": ()}) for n in file.numbers)},
            r"names other cells behind \d+ of its numbers and expressions than the plan, first behind ",
        ),
        (
            lambda file: {"queries": tuple(q.model_copy(update={"cells": ()}) for q in file.queries)},
            r"names other cells behind \d+ of its numbers and expressions than the plan, first behind ",
        ),
    ],
)
def test_a_file_that_says_something_else_or_less_than_the_run_does_not_hold(
    made: tuple[Path, FinishedBrief], fault: Callable[[NumbersFile], dict[str, Any]], message: str
) -> None:
    world, report = briefs.quickstart()
    file = made[1].numbers.model_copy(update=fault(made[1].numbers))
    found = verify(FinishedBrief(file, None), world.plan(report), world.store())
    assert re.search(message, "; ".join(found.foreign))
    assert not found.holds


def test_every_number_leads_to_a_row_of_the_appendix_that_leads_back(made: tuple[Path, FinishedBrief]) -> None:
    page, brief = made
    html = page.read_text()
    rows = {query.id: query.source for query in brief.numbers.queries}
    assert re.findall(r'<a class="num[^"]*" id="(n\d+)"', html) == [number.id for number in brief.numbers.numbers]
    for number in brief.numbers.numbers:
        assert re.search(f'id="{number.id}" href="#{rows[number.query]}"', html)
    for row in set(rows.values()):
        (line,) = re.findall(f'<tr id="{row}">.*?</tr>', html)
        assert re.search('href="#(n|figure-)[0-9]+"', line)


def test_the_side_file_has_the_cells_and_coordinates_of_a_number(made: tuple[Path, FinishedBrief]) -> None:
    numbers = made[1].numbers
    inside = [number for number in numbers.numbers if number.at]
    assert inside
    for number in inside:
        assert set(number.at) <= {"hardware", "workload", "threads"}
        assert all(all(str(key) in cell for key in number.at.values() if isinstance(key, str)) for cell in number.cells)
    assert set(numbers.cells) >= {cell for number in numbers.numbers for cell in number.cells}


def test_a_number_within_an_authors_link_is_no_link_itself(tmp_path: Path) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    value = seven()
    report = w.report("A report", p.TextElement(prose=w.text("See [the ", value, " of it](https://example.org).")))
    page = render(world.plan(report), world.store(), report.name, tmp_path, html_only=True).html
    assert re.search(r'>the <span class="num" id="n1" data-expression="x">7</span> of it</a>', page.read_text())
    (number,) = read_brief(page).numbers.numbers
    assert not number.linked
    assert read_brief(page).edited == ()


# --- how much the appendix has ---


@pytest.fixture(scope="module", params=["full", *longer("compact", "none")])
def detailed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Detailed:
    world, report = briefs.quickstart()
    sections = [each for each in report.elements if isinstance(each, p.SectionElement)]
    fewer = tuple(each for each in report.elements if each not in sections[1:-1])  # drawing takes the time
    report = report.model_copy(update={"provenance": request.param, "template": "white_paper", "elements": fewer})
    raw = s.FileRow(w.RUN, CELL, 1, "load", "local", "raw/a/1/stdout", "5f" * 32, None)
    store, out = w.make_store([*world.rows(), raw]), tmp_path_factory.mktemp(request.param)
    return Detailed(request.param, world.plan(report), store, render(world.plan(report), store, "brief", out))


def test_the_side_file_is_whole_and_the_document_is_checked_for_each_detail_of_the_appendix(detailed: Detailed) -> None:
    pdf, page = detailed.made.pdf, detailed.made.html
    assert pdf is not None
    for path in (pdf, page):
        brief = read_brief(path)
        assert verify(brief, detailed.plan, detailed.store).holds
        assert all(number.linked for number in brief.numbers.numbers)
    side = read_brief(pdf).numbers
    assert side.provenance == detailed.detail
    assert len(side.numbers) > 10
    assert side.cells[CELL].files == {"raw/a/1/stdout": "5f" * 32}
    assert {cell for query in side.queries for cell in query.cells} == set(side.cells)
    marked = list(marked_in(PdfReader(pdf), spans=detailed.detail == "none"))
    # What was edited is found by the document's own marks: here, of one number the file has another text.
    for at in (0, -1):
        other = side.numbers[at].model_copy(update={"shown": "4,711"})
        numbers = tuple(other if number.id == other.id else number for number in side.numbers)
        copy = detailed.made.numbers.with_name(f"copy{at}.html")
        copy.write_bytes(page.read_bytes())
        copy.with_suffix(".json").write_text(side.model_copy(update={"numbers": numbers}).json_text())
        assert [each.id for each in read_brief(copy).edited or ()] == [other.id]
        assert [each.id for each in edited_in(marked, side.model_copy(update={"numbers": numbers}))] == [other.id]
    assert list(edited_in(marked, side)) == []
    # A file that lists less than the document marks, or says that it marks none:
    for numbers in (side.numbers[:1], tuple(each.model_copy(update={"linked": False}) for each in side.numbers)):
        less = side.model_copy(update={"numbers": numbers})
        assert [each for each in edited_in(marked, less) if not each.recorded]
    copy.with_suffix(".json").write_text(side.model_copy(update={"numbers": side.numbers[:1]}).json_text())
    assert {each.id for each in read_brief(copy).edited or ()} == {each.id for each in side.numbers[1:]}


def test_a_pdf_that_lost_its_file_or_its_marks_is_one_clear_error(detailed: Detailed, tmp_path: Path) -> None:
    assert detailed.made.pdf
    writer = PdfWriter(clone_from=detailed.made.pdf)
    parts: Any = writer.root_object
    parts["/Names"].pop("/EmbeddedFiles")
    copy = tmp_path / "printed.pdf"
    writer.write(copy)
    with pytest.raises(ReportError, match=r"the PDF has lost the one that was inside"):
        read_brief(copy)
    copy.with_suffix(".json").write_bytes(detailed.made.numbers.read_bytes())
    assert read_brief(copy).edited == ()
    parts["/StructTreeRoot"].pop("/K")  # a program that prints it again tags it in its own way, if at all
    writer.write(copy)
    with pytest.raises(ReportError, match="marks none of its numbers") as error:
        read_brief(copy)
    assert str(copy.with_suffix(".json")) in error.value.hint
    (page := copy.with_suffix(".md")).write_text("The best is 4,711.")
    with pytest.raises(ReportError, match="marks none of its numbers"):
        read_brief(page)


def test_links_lead_to_what_is_there(detailed: Detailed) -> None:
    html = detailed.made.html.read_text("utf-8")
    anchors = set(re.findall(r'\bid="([^"]+)"', html))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= anchors
    assert ('id="provenance"' in html) == (detailed.detail != "none")
    assert ("SHA-256</th>" in html) == ("1 file, SHA-256" in html) == (detailed.detail == "full")
    assert 'class="cover-notices"' in html, "no setting takes a notice away"
    rows = re.findall(r'<tr id="source-\d+">.*?</tr>', html)
    if detailed.detail == "compact":
        places = [re.sub("<[^>]*>", " ", row.rpartition("<td>")[2]).strip() for row in rows]
        assert len(places) == len(set(places))
        assert {"Figure 1", "Table 1", "Gain from the RAM disk", "Read while writing"} <= set(places)


def test_equal_rows_of_the_appendix_are_one() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    lines = tuple(p.Line(label=f"{n}", unit="ops/s", query=w.throughput("workload", threads=n)) for n in (1, 2, 4))
    table = p.TableElement(title="T", dim="workload", dim_label="", keys=w.keys(world.workloads), lines=lines)
    report = w.report("R", table, template="white_paper")
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    (line,) = view.provenance.sources
    assert line.values == 3
    assert len({number.cells for number in view.numbers.numbers}) == 3, "each still knows its own cell"
    page = to_html(view, "white_paper", CATALOGUES["en"], "screen")
    assert '<a href="#provenance">' in re.findall('<nav class="contents">.*?</nav>', page, re.DOTALL)[0]


def test_contents_and_bookmarks_have_the_disclosure_and_the_appendix(detailed: Detailed) -> None:
    html = detailed.made.html.read_text("utf-8")
    contents = re.search('<nav class="contents">.*?</nav>', html, re.DOTALL)
    assert contents
    appendix = [] if detailed.detail == "none" else ["#provenance"]
    assert re.findall('class="unnumbered"><a href="(.*?)"', contents.group()) == ["#disclosure", *appendix]
    assert detailed.made.pdf
    marks: list[Any] = [
        mark for part in PdfReader(detailed.made.pdf).outline if isinstance(part, list) for mark in part
    ]
    titles = [mark.title for mark in marks if not isinstance(mark, list)]
    assert titles[-2:] == ["Test disclosure", "Provenance"] if appendix else titles[-1] == "Test disclosure"


@pytest.mark.parametrize(("detail", "place"), [("full", "a missing number"), ("compact", "Text")])
def test_a_missing_number_of_a_text_is_shown_somewhere(tmp_path: Path, detail: str, place: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    nothing = p.Value(query=w.query("SELECT NULL::DOUBLE AS value", (), "1", "x"), format=".0f")
    report = w.report("A report", p.TextElement(prose=w.text("It is ", nothing, ".")), provenance=detail)
    page = render(world.plan(report), world.store(), report.name, tmp_path, html_only=True).html
    assert f'<a href="#n1">{place}</a></td></tr>' in page.read_text("utf-8")


@pytest.mark.parametrize("detail", ["compact", "none"])
@pytest.mark.parametrize("template", ["technical_brief", "slide", "blog"])
def test_no_setting_hides_that_nothing_was_measured(tmp_path: Path, detail: str, template: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    rows = [row._replace(simulated=True) if isinstance(row, s.RunRow) else row for row in world.rows()]
    text = p.TextElement(prose=w.text("It is ", seven(), "."))
    report = w.report("A report", text, provenance=detail, template=template)
    made = render(world.plan(report), w.make_store(rows), report.name, tmp_path, html_only=True)
    assert made.html.name == "brief-simulated.html"
    assert "simulated" in made.html.read_text("utf-8").partition("<body")[2].lower()
    assert read_brief(made.html).numbers.kind == "simulated"


def test_a_plan_that_does_not_say_what_it_reads_asks_for_its_spec(tmp_path: Path) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    old = w.throughput("threads").model_copy(update={"reads": None})
    value = p.Value(query=old, format=".0f")
    report = w.report("A report", p.TextElement(prose=w.text("It is ", value, ".")))
    with pytest.raises(ReportError, match="an earlier benchbrief") as error:
        render(world.plan(report), world.store(), report.name, tmp_path, html_only=True)
    assert "--spec" in error.value.hint


def seven() -> p.Value:
    return p.Value(query=w.constant(7.0, "1", "x"), format=".0f")
