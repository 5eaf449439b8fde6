"""Tests missing numbers in a text, and the data of figures that were not measured here."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest

from benchbrief.model import plan as p
from benchbrief.model.run_messages import say
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results, asked_cells, find_unasked, name_candidates
from benchbrief.reports.data.view_model import DisclosureView, TableView, TextView, figures_of
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.text.number_format import belonging
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.result_messages import say as not_run
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import EventRow
from tests.reports import briefs
from tests.reports import world as w

SOURCE = s.SourceRow(w.RUN, "table", "A brief", "Example Ltd", None, None, None, "cited", "a.csv", "0" * 64, 1)


@pytest.mark.parametrize("mark", ["simulated", "imported", ""])
def test_the_data_of_a_figure_say_in_each_row_what_was_not_measured_here(mark: str) -> None:
    world, report = briefs.quickstart()
    rows = [row._replace(simulated=mark == "simulated") if isinstance(row, s.RunRow) else row for row in world.rows()]
    rows += [SOURCE] if mark == "imported" else []
    view = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"])
    for figure in figures_of(view.blocks):
        head, *lines = list(csv.reader(StringIO(figure.csv)))
        assert head[-1] == (mark or "cells")
        assert lines
        assert all((line[-1] == "true") == bool(mark) for line in lines)


@pytest.mark.parametrize(
    ("language", "named"),
    [
        ("en", "the rates that the search `load` would still ask for"),
        ("ja", "探索 `load` がまだ測定していないレート"),
    ],
)
def test_the_candidates_of_a_search_that_did_not_end_are_one_line_and_no_missing_measurements(
    language: str, named: str
) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, threads=(1, 2, 3), repeats=2)
    rows = [
        row._replace(status="missing", reason=not_run.not_run_yet())
        if isinstance(row, s.CellRow) and row.threads != 1
        else row
        for row in world.rows()
    ]
    plan = world.plan()
    ((name, experiment),) = plan.experiments.items()
    limit = p.PromiseLimit(measure="errors", most=0.01, text="errors < 1 %")
    promise = p.Promise(limits=(limit,), within=0.1, judged=3, held_out=2, usual=9, most=30)
    search = experiment.model_copy(update={"promise": promise})
    words, named = CATALOGUES[language], named.replace("load", name)
    results = Results(plan.model_copy(update={"experiments": {name: search}}), w.make_store(rows), words)
    assert [cell.threads for cell in asked_cells(results)] == [1, 1]
    assert {name: len(ids) for name, ids in find_unasked(results).items()} == {name: 4}
    assert name_candidates(name, results) == named
    whole = Results(plan, w.make_store(rows), words)
    assert len(asked_cells(whole)) == 6, "those of a list of points are missing"


@pytest.mark.parametrize(
    ("language", "refused", "left_out"),
    [
        ("en", "without a value: the load generator was", "not measured: the search ended without an answer"),
        ("ja", "値なし：負荷生成器", "未測定：探索は 3 件の測定で答えを得られずに終了"),
    ],
)
def test_a_run_of_a_search_whose_numbers_were_refused_has_no_value_and_did_not_fail(
    language: str, refused: str, left_out: str
) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, threads=(1,), repeats=2)
    reasons = (say.rate_refused(said="late"), say.rate_unanswered(n=3))
    rows = [
        row._replace(status="skipped", reason=reasons[row.repeat - 1]) if isinstance(row, s.CellRow) else row
        for row in world.rows()
    ]
    results = Results(world.plan(), w.make_store(rows), CATALOGUES[language])
    query = w.query("SELECT NULL::DOUBLE AS value", (), "ops/s", "throughput", [w.read("throughput")])
    first, second = results.reasons_missing(query)
    assert first.startswith(refused)
    assert second.startswith(left_out)
    assert not build_disclosure(results, Gaps(), facts_of=results.plan.hardware, reports_from=None).bad_cells


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("ok", "no such value"),
        ("missing", "not in what was imported"),
        ("skipped", "not needed: imported as one number for all repeats"),
    ],
)
def test_a_repeat_that_was_not_needed_explains_nothing_where_another_one_was(first: str, reason: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, threads=(1,), repeats=2)
    reasons = {"skipped": "imported as one number for all repeats", "missing": "not in what was imported", "ok": ""}
    rows = [
        row._replace(status=status, reason=reasons[status])
        if isinstance(row, s.CellRow) and (status := first if row.repeat == 1 else "skipped")
        else row
        for row in world.rows()
    ]
    results = Results(world.plan(), w.make_store(rows), CATALOGUES["en"])
    query = w.query("SELECT NULL::DOUBLE AS value", (), "ops/s", "throughput", [w.read("throughput")])
    assert reason in results.why_missing(query)
    assert ("not needed" in results.why_missing(query)) == (first == "skipped")


@pytest.mark.parametrize(
    ("unit", "follows", "found"),
    [
        ("1", "X as many", "X"),
        ("1", "-fold growth", "-fold"),
        ("1", " times", ""),
        ("1", "Xylophones", ""),
        ("ops/s", "\u00a0ops/s at most", "\u00a0ops/s"),
        ("ops/s", " ops/s.", " ops/s"),
        ("ops/s", " ops/s/node", ""),
        ("s", " servers", ""),
    ],
)
def test_a_number_includes_its_unit_and_the_text_joined_to_it(unit: str, follows: str, found: str) -> None:
    assert belonging(unit, follows) == found


def test_a_missing_number_in_a_text_is_a_dash_and_a_footnote_without_its_unit() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    nothing = p.Value(query=w.query("SELECT NULL::DOUBLE AS value", (), "1", "x"), format=".0f")
    report = w.report("A report", p.TextElement(prose=p.Prose(parts=("It is ", nothing, "X as fast."))))
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    (block,) = view.blocks
    assert isinstance(block, TextView)
    assert '\u2013</a> as fast.<sup><a href="#note-1" role="doc-noteref">a</a></sup></p>' in block.html


def test_the_line_of_a_measurement_names_the_points_that_have_results_and_no_others() -> None:
    world, report = briefs.quickstart()
    plan = world.plan(report)
    hardware, *_ = plan.hardware
    rows = [
        row._replace(status="missing", reason="not published")
        if isinstance(row, s.CellRow) and row.hardware == hardware and row.threads != 1
        else row
        for row in world.rows()
    ]
    view = build(plan, w.make_store(rows), report, CATALOGUES["en"])
    label = plan.hardware[hardware].label
    assert {line.points for line in view.provenance.measurements if line.hardware == label} == {"1"}
    assert "1" not in {line.points for line in view.provenance.measurements if line.hardware != label}


def test_an_imported_run_shows_neither_a_search_nor_its_result() -> None:
    world, report = briefs.quickstart()
    plan = world.plan(p.Report.model_validate({**report.model_dump(), "elements": (p.DisclosureElement(),)}))
    (name, experiment), *_ = plan.experiments.items()
    search = p.KneeSearch(latency="p99", rise=0.1, gain=0.03)
    find = experiment.model_copy(update={"name": "find", "label": "Find", "search": search})
    taken = experiment.model_copy(update={"points": (), "threads_from": "find"})
    plan = plan.model_copy(update={"experiments": {name: taken, "find": find}})
    source = SOURCE._replace(kind="ycsb")
    for rows, said in ((world.rows(), True), ([*world.rows(), source], False)):
        view = build(plan, w.make_store(rows), plan.reports[0], CATALOGUES["en"])
        shown = " ".join(
            item.text
            for block in view.blocks
            if isinstance(block, DisclosureView)
            for group in block.groups
            for item in group.items
        )
        assert ("searched upwards for the knee" in shown) == said
        assert ("the knee that “Find” found" in shown) == said


@pytest.mark.parametrize(
    ("measure", "reason"),
    [("recovery.latency", "the tails did not come back"), ("recovery.outage", "nothing before"), ("recovery", "")],
)
def test_a_missing_value_of_an_event_has_the_reason_of_its_measure(measure: str, reason: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"}, threads=(1,))
    (cell,) = (row.cell_id for row in world.rows() if isinstance(row, s.CellRow))
    event = EventRow(
        w.RUN,
        cell,
        1,
        "Stopped",
        "db",
        6.0,
        6.0,
        3.0,
        0,
        None,
        None,
        None,
        4.0,
        None,
        None,
        "nothing before",
        "the tails did not come back",
    )
    results = Results(world.plan(), w.make_store([*world.rows(), event]), CATALOGUES["en"])
    read = w.read("sample").model_copy(update={"measure": measure})
    query = w.query("SELECT NULL::DOUBLE AS value", (), "s", measure, [read])
    said = results.why_missing(query)
    assert (reason or "no such value") in said, "an event with a value explains nothing"


@pytest.mark.parametrize(
    ("language", "named"),
    [("en", "Left out, for lack of values: {}"), ("ja", "値がないため省いたもの：{}")],
)
@pytest.mark.parametrize("transposed", [False, True])
def test_rows_and_columns_without_any_value_are_left_out_and_named_with_the_reason(
    transposed: bool, language: str, named: str
) -> None:
    hardware, workloads = {"disk": "Disk", "ram": "RAM disk"}, {"a": "Sessions", "b": "Tags"}
    world = w.World(hardware, workloads, threads=(4,))
    world.failed = {world.cell_id("disk", load, 4): "it went away" for load in workloads}
    world.failed[world.cell_id("ram", "b", 4)] = "the disk is full"
    lines = [
        p.Line(label=label, unit="ops/s", query=w.throughput("workload", hardware=key, threads=4))
        for key, label in hardware.items()
    ]
    element = p.TableElement(
        title="T", dim="workload", dim_label="", keys=w.keys(workloads), lines=tuple(lines), transposed=transposed
    )
    report = w.report("R", element)
    (table,) = [
        block
        for block in build(world.plan(report), world.store(), report, CATALOGUES[language]).blocks
        if isinstance(block, TableView)
    ]
    assert [head.label for head in table.columns] == (["Sessions"] if transposed else ["RAM disk"])
    assert [row.head.label for row in table.rows] == (["RAM disk"] if transposed else ["Sessions"])
    notes = [note.text for note in table.notes]
    assert any(text.startswith(named.format("Disk")) and "it went away" in text for text in notes)
    assert any(text.startswith(named.format("Tags")) and "the disk is full" in text for text in notes)


def test_a_table_without_any_value_is_a_sentence_with_the_reason() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions", "b": "Tags"}, threads=(4,))
    world.failed = {world.cell_id("disk", load, 4): "it went away" for load in "ab"}
    lines = (p.Line(label="Disk", unit="ops/s", query=w.throughput("workload", hardware="disk", threads=4)),)
    element = p.TableElement(title="T", dim="workload", dim_label="", keys=w.keys(world.workloads), lines=lines)
    report = w.report("R", element)
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    (said,) = view.blocks
    assert isinstance(said, TextView)
    assert re.fullmatch(r'<p class="remark">Left out, for lack of values: T \(.*it went away.*\)\.</p>', said.html)
