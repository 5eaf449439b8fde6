"""What limits the measurements of a run, as the brief tells it."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler import plan as p
from benchbrief.reports.render import render
from benchbrief.results import schema as s
from tests.reports import world as w

WORLD = w.World(hardware={"disk": "Disk"}, workloads={"rr": "Reads"}, repeats=3)
REPORT = w.report("Brief", p.DisclosureElement())


def told(plan: p.Plan, rows: list[tuple[object, ...]], folder: Path, language: str = "en") -> str:
    report = REPORT.model_copy(update={"language": language})
    plan = plan.model_copy(update={"reports": (report,)})
    html = render(plan, w.make_store(rows), "brief", folder, html_only=True).html.read_text("utf-8")
    return html.replace("\u00a0", " ")


def experiment(plan: p.Plan, **more: object) -> p.Plan:
    ramp = plan.experiments["ramp"].model_copy(update=more)
    return plan.model_copy(update={"experiments": {"ramp": ramp}})


def test_unsteady_beginnings_are_noticed_first_with_the_worst_of_them(tmp_path: Path) -> None:
    beginnings = {WORLD.cell_id("disk", "rr", 1, 2): 150.0, WORLD.cell_id("disk", "rr", 4, 1): 300.0}
    rows = [
        row._replace(transient_s=beginnings.get(row.cell_id, 0.0 if row.repeat < 3 else None))
        if isinstance(row, s.CellRow)
        else row
        for row in WORLD.rows()
    ]
    html = told(WORLD.plan(), rows, tmp_path)
    text = (
        "In 2 of 9 measurements the throughput is not steady at the beginning (MSER-5), and the mean would differ by "
        "more than 2 % without it; the longest is 300 s of 1200 s (ramp/disk/rr/threads=4/1)."
    )
    assert html.index("Measurements that begin unsteadily") < html.index(text) < html.index('id="disclosure"')
    assert html.count(text) == 2, "and again in the disclosure"


def test_steady_beginnings_and_unknown_ones_give_no_notice(tmp_path: Path) -> None:
    for value in (0.0, None):
        rows = [row._replace(transient_s=value) if isinstance(row, s.CellRow) else row for row in WORLD.rows()]
        assert "MSER-5" not in told(WORLD.plan(), rows, tmp_path)


def offering(load: float) -> tuple[p.Plan, list[tuple[object, ...]]]:
    """Threads in the plan become offered loads: so many ops/s for each."""
    plan = WORLD.plan()
    cells = tuple(cell.model_copy(update={"target": load * (cell.threads or 0)}) for cell in plan.cells)
    rows: list[tuple[object, ...]] = [
        row._replace(target=load * (row.threads or 0)) if isinstance(row, s.CellRow | s.LatencyRow) else row
        for row in WORLD.rows()
    ]
    return experiment(plan.model_copy(update={"cells": cells}), axis="target"), rows


def test_an_offered_load_that_was_not_reached_is_told_with_its_numbers(tmp_path: Path) -> None:
    html = told(*offering(1100.0), tmp_path)
    assert (
        "In 6 of 9 measurements less than 95 % of the offered load was achieved; the least is 1,000 ops/s of "
        "1,100 ops/s (91 %; ramp/disk/rr/threads=1/1)." in html
    )
    assert "db_bench has no intended latency: its latencies at an offered load are as measured by a closed loop" in html


def test_an_offered_load_that_was_reached_is_told(tmp_path: Path) -> None:
    plan, rows = offering(1000.0)
    intended = [row._replace(kind="intended") for row in rows if isinstance(row, s.OperationRow)]
    html = told(plan, [*rows, *intended], tmp_path)
    assert "The offered load was achieved to 95 % or more in all 9 measurements that offered one." in html
    assert "has no intended latency" not in html


def test_the_rule_that_ended_the_repeats_is_told_and_where_it_was_not_fulfilled(tmp_path: Path) -> None:
    # The repeats of each point are 1, 1.04 and 1.08 times the first: sd 3.8 %, so that t(2) * sd / sqrt(3) is 9.6 %.
    for within, more in ((0.1, ""), (0.05, " 3 points stayed wider, the widest ±9.6 %.")):
        plan = experiment(WORLD.plan(), confident=p.Confident(at_least=3, within=within), cool_down_s=30.0)
        html = told(plan, WORLD.rows(), tmp_path)
        rule = f"until the 95 % confidence interval of the mean throughput is within ±{100 * within:g} %"
        assert f"repeats: 3 to 3 at each point, {rule}" in html
        assert "30 s of cooling down after each measurement" in html
        sentence = "it covers the mean somewhat less often than in 95 % of all cases."
        assert f"{sentence}{more}" in html
        assert ("stayed wider" in html) == bool(more)
        assert "反復" in told(plan, WORLD.rows(), tmp_path, "ja")


def test_a_search_tells_the_points_that_it_measured_beside_its_knee(tmp_path: Path) -> None:
    search = p.KneeSearch(latency="p99", rise=0.1, gain=0.03)
    plan = experiment(WORLD.plan(), search=search)
    rows = [
        row._replace(status="skipped", reason="found") if isinstance(row, s.CellRow) and row.threads == 4 else row
        for row in WORLD.rows()
    ]
    found = s.SearchRow(w.RUN, "ramp", "disk", "rr", "threads", "p99", 0.1, 0.03, 1.0, None)
    assert "threads = 1 on Disk, Reads (measured at 1, 2)" in told(plan, [*rows, found], tmp_path)
