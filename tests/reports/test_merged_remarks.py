"""Tests that equal sentences of a run about several cells are merged."""

from __future__ import annotations

from benchbrief.model.message import Message, figure
from benchbrief.model.run_messages import say
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.reports.words.brief_words import CATALOGUES


def test_a_busy_host_is_reported_once_with_the_number_of_cells() -> None:
    rows = [("warning", say.busy(host="db-1", cell=f"c{n}", what=f"java takes {n}.0 cores"), 1) for n in range(1, 5)]
    rows += [("warning", say.busy_meanwhile(host="db-1", cell=f"c{n}", amount=figure(n, ".1f")), 1) for n in (1, 2, 3)]
    rows += [("warning", say.busy(host="db-2", cell="c1", what="java takes 1.0 cores"), 1)]
    began, meanwhile, other = merge_remarks(rows)
    assert began[1] == "db-1 was busy when 4 cells began, such as c1: java takes 1.0 cores"
    assert meanwhile[1].endswith("while 3 cells were measured, such as c1: other work took 1.0–3.0 cores on average")
    assert other[1] == "db-2 was busy when c1 began: java takes 1.0 cores"
    assert {count for *_, count in (began, meanwhile, other)} == {1}, "the sentence has the number"
    assert isinstance(began[1], Message)
    assert "4 セル（c1 など）" in began[1].in_words(CATALOGUES["ja"])
