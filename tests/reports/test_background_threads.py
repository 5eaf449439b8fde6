"""Tests that a throughput has a footnote at its first mention if it leaves out the operations of a background
thread."""

from __future__ import annotations

import pytest

from benchbrief.extensions.tools.db_bench.db_bench_output import say
from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import TableView, TextView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

READERS = "Beside: the throughput is that of the readers; what the background thread does is not counted."


def views(operation: str) -> list[TableView | TextView]:
    """Return the views of a text and of two equal tables. The tables have the throughputs of two workloads, one of
    which has a background writer, and the text has only the throughput of the other."""
    world = w.World({"disk": "Disk"}, {"plain": "Plain", "beside": "Beside"}, threads=(1,), repeats=1)
    read = p.Read(measure="throughput", view="throughput", keys={"operation": (operation,)})
    rate = w.throughput("workload").model_copy(update={"reads": (read,)})
    of_plain = read.model_copy(update={"keys": {"operation": (operation,), "workload": ("plain",)}})
    plain = w.throughput(hardware="disk", workload="plain", threads=1).model_copy(update={"reads": (of_plain,)})
    table = p.TableElement(
        title="T",
        dim="workload",
        dim_label="",
        keys=w.keys({"plain": "Plain", "beside": "Beside"}),
        lines=(p.Line(label="Throughput", unit="ops/s", query=rate),),
    )
    text = p.TextElement(prose=w.text("It does ", p.Value(query=plain, format=""), " without a writer."))
    report = w.report("R", text, table, table)
    cell = world.cell_id("disk", "beside", 1)
    rows = [*world.rows(), s.PropertyRow(w.RUN, cell, "db_bench", "background thread", say.background_by_rocksdb())]
    blocks = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"]).blocks
    return [block for block in blocks if isinstance(block, TableView | TextView)]


def test_the_first_block_with_such_a_throughput_has_a_footnote() -> None:
    text, first, second = views("all")
    assert text.notes == ()
    assert [note.text for note in first.notes] == [READERS]
    assert READERS not in [note.text for note in second.notes]


@pytest.mark.parametrize("operation", ["read", "write"])
def test_the_throughput_of_one_operation_has_none(operation: str) -> None:
    assert all(note.text != READERS for view in views(operation) for note in view.notes)
