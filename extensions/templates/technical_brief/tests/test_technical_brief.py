"""Tests the template for technical briefs: the lead box is beside the texts around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model import plan as p
from tests.reports import world as w
from tests.reports.test_pages import HARDWARE, RESULT, WORKLOADS, page_of, pdf, text

LEAD = '<div class="lead">'


def table(columns: int) -> p.TableElement:
    points = [(hardware, threads) for hardware in HARDWARE for threads in (1, 4)]
    lines = tuple(
        p.Line(label=f"{at} {n}", query=w.throughput("workload", hardware=at, threads=n)) for at, n in points[:columns]
    )
    return p.TableElement(title="", dim="workload", dim_label="Workload", keys=w.keys(WORKLOADS), lines=lines)


def box(columns: int) -> p.CalloutElement:
    return p.CalloutElement(title="The result", table=table(columns))


@pytest.mark.parametrize(
    ("elements", "leads"),
    [
        ((RESULT, text(90)), True),
        ((text(45), RESULT, text(45)), True),
        ((box(2), text(90)), True),
        ((box(3), text(90)), False),
        ((RESULT, text(30)), False),
        ((table(2), RESULT, text(90)), False),
    ],
    ids=["a box", "between texts", "a narrow table", "a wide table", "short texts", "after a table"],
)
def test_a_box_before_anything_but_text_leads_beside_long_texts(elements: tuple[p.Element, ...], leads: bool) -> None:
    page = page_of(w.report("R", *elements))
    assert (LEAD in page) == leads
    assert LEAD not in page_of(w.report("R", *elements, template="blog"))
    if leads:
        order = [page.index(said) for said in (LEAD, "The result", "word word")]
        assert order == sorted(order), "the box comes first for who hears the page"


def test_the_box_is_the_right_half_of_the_page_beside_the_first_text(tmp_path: Path) -> None:
    report = w.report("R", text(90), RESULT, text(90))
    found = pdf(tmp_path, w.World(HARDWARE, WORKLOADS, (1, 4)), report)
    first, title = next(each for each in found if each.text == "word"), next(e for e in found if e.text == "result")
    middle = 595.3 / 2
    assert title.left > middle > first.left
    assert abs(title.top - first.top) < 30
    beside = [each for each in found if each.text == "word" and each.top < title.bottom]
    assert beside
    assert max(each.right for each in beside) < title.left
