"""Tests that a percentile of few operations is marked beside the number."""

from __future__ import annotations

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import TableView, TextView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w


@pytest.mark.parametrize(
    ("statistic", "operations", "repeats", "has_note"),
    [
        ("p99", 253, 1, True),
        ("p99", 999, 1, True),
        ("p99", 1000, 1, False),
        ("p99", 500, 2, False),  # both repeats of the point together
        ("p99.9", 1000, 1, True),
        ("mean", 253, 1, False),
    ],
)
def test_a_percentile_with_fewer_than_ten_operations_beyond_it_has_a_footnote(
    statistic: str, operations: int, repeats: int, has_note: bool
) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, threads=(1,), repeats=repeats)
    latency = w.latency("workload")
    read = p.Read(measure="latency", view="latency", statistic=statistic, keys={"operation": ("read",)})
    lines = (p.Line(label="Latency", unit="s", query=latency.model_copy(update={"reads": (read,)})),)
    report = w.report(
        "R", p.TableElement(title="T", dim="workload", dim_label="", keys=w.keys({"a": "A"}), lines=lines)
    )
    rows = [row._replace(count=operations) if isinstance(row, s.OperationRow) else row for row in world.rows()]
    (table,) = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"]).blocks
    assert isinstance(table, TableView)
    assert [note.text.partition(" lie")[0] for note in table.notes] == ["Fewer than 10 operations"] * has_note


@pytest.mark.parametrize(("operations", "has_note"), [(253, True), (1000, False)])
def test_a_percentile_in_a_running_text_has_that_footnote_too(operations: int, has_note: bool) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, threads=(1,), repeats=1)
    read = p.Read(measure="latency", view="latency", statistic="p99", keys={"operation": ("read",)})
    slowest = w.latency(hardware="disk", workload="a", threads=1).model_copy(update={"reads": (read,)})
    report = w.report("R", p.TextElement(prose=w.text("It takes ", p.Value(query=slowest, format=""), " at the most.")))
    rows = [row._replace(count=operations) if isinstance(row, s.OperationRow) else row for row in world.rows()]
    (text,) = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"]).blocks
    assert isinstance(text, TextView)
    assert [note.text.partition(" lie")[0] for note in text.notes] == ["Fewer than 10 operations"] * has_note
    assert ('href="#note-1"' in text.html) is has_note
    assert "missing" not in text.html
