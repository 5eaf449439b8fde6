"""Why a number holds no more, and which numbers a brief's side file has."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler import plan as p
from benchbrief.reports.render import render
from benchbrief.reports.shown import Brief, read_brief
from benchbrief.reports.verify import verify
from benchbrief.results import schema as s
from tests.reports import briefs
from tests.reports import world as w

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Brief]:
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
    made: tuple[Path, Brief], fault: Callable[[Rows], Rows], why: str
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


def test_the_same_results_hold(made: tuple[Path, Brief]) -> None:
    world, report = briefs.quickstart()
    found = verify(made[1], world.plan(report), world.store())
    assert found.holds
    assert (found.differing, found.drawn, found.edited) == ((), (), ())
    assert found.numbers > 20
    assert found.points > 40


def test_every_number_leads_to_a_row_of_the_appendix_that_leads_back(made: tuple[Path, Brief]) -> None:
    page, brief = made
    html = page.read_text()
    rows = {query.id: query.source for query in brief.numbers.queries}
    assert re.findall(r'<a class="num[^"]*" id="(n\d+)"', html) == [number.id for number in brief.numbers.numbers]
    for number in brief.numbers.numbers:
        assert re.search(f'id="{number.id}" href="#{rows[number.query]}"', html)
    for row in set(rows.values()):
        (line,) = re.findall(f'<tr id="{row}">.*?</tr>', html)
        assert re.search('href="#(n|figure-)[0-9]+"', line)


def test_the_side_file_tells_the_cells_and_coordinates_of_a_number(made: tuple[Path, Brief]) -> None:
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


def seven() -> p.Value:
    return p.Value(query=w.constant(7.0, "1", "x"), format=".0f")
