"""Tests how the brief describes the limits of a run's measurements."""

from __future__ import annotations

import re
from pathlib import Path

from benchbrief.model import plan as p
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.notices.number_marks import Cautions
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import Footnotes
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import PromiseRow, RateRow
from tests.reports import world as w

WORLD = w.World(hardware={"disk": "Disk"}, workloads={"rr": "Reads"}, repeats=3)
REPORT = w.report("Brief", p.DisclosureElement())


def page_of(plan: p.Plan, rows: list[tuple[object, ...]], folder: Path, language: str = "en") -> str:
    report = REPORT.model_copy(update={"language": language})
    plan = plan.model_copy(update={"reports": (report,)})
    return read(render(plan, w.make_store(rows), "brief", folder, html_only=True).html)


def read(page: Path) -> str:
    """Return a page's HTML without the markup for line breaks."""
    html = page.read_text("utf-8").replace("\u00a0", " ")
    return re.sub('<bdi class="whole">(.*?)</bdi>', r"\1", html)


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
    html = page_of(WORLD.plan(), rows, tmp_path)
    text = (
        "In 2 of 9 measurements the throughput is not steady at the beginning (MSER-5), and the mean would differ by "
        "more than 2% without it; the longest is 300 s of 1200 s (ramp/disk/rr/threads=4/1)."
    )
    short = (
        "In 2 of 9 measurements the throughput is not steady at the beginning, at the most for 300 s of 1200 s "
        "(ramp/disk/rr/threads=4/1)."
    )
    places = [html.index(said) for said in ("Measurements that begin unsteadily", short, 'id="disclosure"', text)]
    assert places == sorted(places)
    assert html.count(text) == 1


def test_steady_beginnings_and_unknown_ones_give_no_notice(tmp_path: Path) -> None:
    for value in (0.0, None):
        rows = [row._replace(transient_s=value) if isinstance(row, s.CellRow) else row for row in WORLD.rows()]
        assert "MSER-5" not in page_of(WORLD.plan(), rows, tmp_path)


def offering(load: float) -> tuple[p.Plan, list[tuple[object, ...]]]:
    """Return the plan and the rows with offered loads in place of threads. Each thread becomes `load` ops/s."""
    plan = WORLD.plan()
    cells = tuple(cell.model_copy(update={"target": load * (cell.threads or 0)}) for cell in plan.cells)
    rows: list[tuple[object, ...]] = [
        row._replace(target=load * (row.threads or 0)) if isinstance(row, s.CellRow | s.LatencyRow) else row
        for row in WORLD.rows()
    ]
    return experiment(plan.model_copy(update={"cells": cells}), axis="target"), rows


def broken_at(rate: float, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return the rows of a search that found its promise broken at a rate."""
    run_id = next(row.run_id for row in rows if isinstance(row, s.CellRow))
    place = (run_id, "ramp", "disk", "rr", "")
    found = PromiseRow(*place, "p99 < 5 ms", 0.1, 0.95, "none", None, None, rate, False, True, None, rate, 0, 0, "-")
    return [found, RateRow(*place, rate, met=0, broken=3, beyond=0, failed=0, held_met=0, held_out=0, held_beyond=0)]


def test_rates_that_a_search_broke_do_not_count_as_missed_loads(tmp_path: Path) -> None:
    plan, rows = offering(1100.0)
    html = page_of(plan, [*rows, *broken_at(1100.0, rows)], tmp_path)
    assert "In 4 of 6 measurements less than 95% of the offered load was achieved" in html
    assert "3 measurements at rates above what searches found do not count here" in html


def test_a_number_at_a_missed_load_has_no_note_only_where_a_limit_says_it_of_all() -> None:
    plan, rows = offering(2000.0)
    query = w.throughput("threads")

    def noted(*more: tuple[object, ...]) -> list[int]:
        results = Results(plan, w.make_store([*rows, *more]), CATALOGUES["en"])
        cautions = Cautions(results)
        return [n for n in (1, 2, 4) if results.words["c_short"] in cautions.at(query, threads=n)]

    assert noted() == []
    assert noted(*broken_at(2000.0, rows)) == [1], "the limit leaves out what a search broke"
    assert noted(*(row for rate in (2000.0, 4000.0, 8000.0) for row in broken_at(rate, rows))) == [1, 2, 4]


def test_a_figure_says_of_which_of_its_points_a_caution_is() -> None:
    plan, rows = offering(2000.0)
    series = w.series("bar", w.throughput("threads"), "Throughput", "threads")
    figure: p.FigureElement = w.figure("F", series, by={"threads": w.keys([1, 2, 4])})

    def told(*rates: float) -> tuple[list[str], int]:
        broken = [row for rate in rates for row in broken_at(rate, rows)]
        notes = Footnotes(Results(plan, w.make_store([*rows, *broken]), CATALOGUES["en"]))
        return notes.tell_cautions_of(figure), len(notes.cited)

    assert told(2000.0, 8000.0) == (["at 1, 4: less than 95% of the offered load was achieved"], 0)
    assert told(2000.0, 4000.0, 8000.0) == ([], 1), "a caution on all points is a footnote"


def test_an_offered_load_that_was_not_reached_is_reported_with_its_numbers(tmp_path: Path) -> None:
    html = page_of(*offering(1100.0), tmp_path)
    assert (
        "In 6 of 9 measurements less than 95% of the offered load was achieved; the least is 1,000 ops/s of "
        "1,100 ops/s (91%; ramp/disk/rr/threads=1/1)." in html
    )
    assert (
        "db_bench gave no intended latency: its latencies at an offered load are as measured by a closed loop" in html
    )


def test_an_offered_load_that_was_exceeded_is_reported_with_its_numbers(tmp_path: Path) -> None:
    html = page_of(*offering(800.0), tmp_path)
    assert "more than 105% of the offered load was achieved; the most is" in html
    assert html.index("Offered load exceeded") < html.index('id="disclosure"')
    assert "The offered load was achieved" not in html


def test_a_schedule_that_drew_another_number_of_operations_than_its_rate_says_is_no_missed_load(tmp_path: Path) -> None:
    plan, rows = offering(800.0)
    done = {row.cell_id: row.count or 0 for row in rows if isinstance(row, s.ThroughputRow) and row.operation == "all"}

    def due(share: float) -> str:
        with_due = [
            row._replace(due=round(share * done[row.cell_id])) if isinstance(row, s.CellRow) else row for row in rows
        ]
        return page_of(plan, with_due, tmp_path)

    assert "The offered load was achieved to 95% or more in all 9 measurements that offered one." in due(1.0)
    short = due(1.25)
    assert "less than 95% of the offered load was achieved; the least is 1,000 ops/s of 1,250 ops/s (80%" in short
    assert "Offered load exceeded" not in short


def test_an_offered_load_that_was_reached_is_reported(tmp_path: Path) -> None:
    plan, rows = offering(1050.0)
    intended = [row._replace(kind="intended") for row in rows if isinstance(row, s.OperationRow)]
    html = page_of(plan, [*rows, *intended], tmp_path)
    assert "The offered load was achieved to 95% or more in all 9 measurements that offered one." in html
    assert "no intended latency" not in html


def test_the_rule_that_ended_the_repeats_is_stated_and_where_it_was_not_fulfilled(tmp_path: Path) -> None:
    # The repeats of each point are 1, 1.04 and 1.08 times the first: sd 3.8 %, so that t(2) * sd / sqrt(3) is 9.6 %.
    for within, more in ((0.1, ""), (0.05, " 3 points stayed wider, the widest ±9.6%.")):
        plan = experiment(WORLD.plan(), confident=p.Confident(at_least=3, within=within), cool_down_s=30.0)
        html = page_of(plan, WORLD.rows(), tmp_path)
        rule = f"until the 95% confidence interval of the mean throughput is within ±{100 * within:g}%"
        assert f"repeats: 3 to 3 at each point, {rule}" in html
        assert "30 s of cooling down after each measurement" in html
        sentence = "a fixed number of repeats has no such fault."
        assert f"{sentence}{more}" in html
        assert ("stayed wider" in html) == bool(more)
        assert "反復" in page_of(plan, WORLD.rows(), tmp_path, "ja")


def test_a_search_shows_the_points_that_it_measured_beside_its_knee(tmp_path: Path) -> None:
    search = p.KneeSearch(latency="p99", rise=0.1, gain=0.03)
    plan = experiment(WORLD.plan(), search=search)
    rows = [
        row._replace(status="skipped", reason="found") if isinstance(row, s.CellRow) and row.threads == 4 else row
        for row in WORLD.rows()
    ]
    found = s.SearchRow(w.RUN, "ramp", "disk", "rr", "", "threads", "p99", 0.1, 0.03, 1.0, None)
    assert "Disk, Reads: threads 1 (measured at 1, 2)" in page_of(plan, [*rows, found], tmp_path)


def footnoted(columns: tuple[p.Query, ...], rows: list[tuple[object, ...]], plan: p.Plan, folder: Path) -> str:
    lines = tuple(p.Line(label=f"Line {at}", query=query) for at, query in enumerate(columns))
    table = p.TableElement(title="T", dim="threads", dim_label="Threads", keys=w.keys([1, 2, 4]), lines=lines)
    plan = plan.model_copy(update={"reports": (w.report("Brief", table),)})
    return read(render(plan, w.make_store(rows), "brief", folder, html_only=True).html)


SOURCE = (
    "SELECT c.threads, any_value(m.value) AS value\nFROM measure.cells AS c\nLEFT JOIN measure.{} GROUP BY c.threads"
)
P99 = w.query(
    SOURCE.format("latency AS m ON m.threads = c.threads AND m.reported"),
    ("threads",),
    "s",
    "p99",
    [w.read("latency")],
)
RATE = w.query(
    SOURCE.format("throughput AS m ON m.threads = c.threads"),
    ("threads",),
    "ops/s",
    "throughput",
    [w.read("throughput")],
)
POWER = w.query(
    SOURCE.format("sample AS s ON s.measure = 'power' LEFT JOIN measure.throughput AS m ON m.threads = c.threads"),
    ("threads",),
    "W",
    "power",
    [w.read("sample", probe="power")],
)


def test_a_latency_at_an_offered_load_says_from_when_it_is_counted(tmp_path: Path) -> None:
    plan, rows = offering(1000.0)
    service, intended = "is service time here", "is intended latency"
    assert service in footnoted((P99,), rows, plan, tmp_path)
    from_due = [row._replace(kind="intended") for row in rows if isinstance(row, s.OperationRow)]
    html = footnoted((P99, RATE), [*rows, *from_due], plan, tmp_path)
    assert intended in html
    assert service not in html
    assert html.count('<a href="#note-') == 1, "at the head of the latency's column, and of no other"
    html = footnoted((P99,), WORLD.rows(), WORLD.plan(), tmp_path)
    assert service not in html, "no load was offered"


def test_imported_measurements_of_unlike_length_are_reported_with_their_lengths(tmp_path: Path) -> None:
    source = s.SourceRow(w.RUN, "ycsb", "Runs", "Example Ltd", None, None, None, "cited", "a.txt", "0" * 64, 1)
    for lengths, shown in (((6.0, 12.04, 6.0), 1), ((6.0, 6.3, 6.0), 0)):
        rows = [
            row._replace(measured_s=lengths[row.repeat - 1]) if isinstance(row, s.CellRow) else row
            for row in WORLD.rows()
        ]
        html = footnoted((RATE,), [*rows, source], WORLD.plan(), tmp_path)
        assert ("lasted from 6 s to 12 s: they are not alike in length" in html) == bool(shown)
        assert html.count('<a href="#note-1"') == shown


def test_a_load_that_was_not_reached_is_reported_first_and_at_its_numbers_unless_none_was(tmp_path: Path) -> None:
    plan, rows = offering(2000.0)
    html = footnoted((RATE,), rows, plan, tmp_path)
    assert html.index("Offered load not reached") < html.index("<table")
    assert "In 9 of 9 measurements less than 95% of the offered load was achieved" in html
    assert 'role="doc-noteref"' not in html, "it is said of all"
    plan, rows = offering(1100.0)
    html = footnoted((RATE,), rows, plan, tmp_path)
    assert "In 6 of 9 measurements" in html
    assert html.count('<a href="#note-1" role="doc-noteref">a</a>') == 1, "at the head of their row"
    plan, rows = offering(1000.0)
    assert "not reached" not in footnoted((RATE,), rows, plan, tmp_path)


def test_a_window_that_was_sampled_in_part_is_reported_first_and_at_its_number(tmp_path: Path) -> None:
    shares = {1: 1.0, 2: 0.43, 4: 0.8}
    sampled: list[tuple[object, ...]] = [
        s.CoverageRow(w.RUN, cell.id, "power", "local", shares[cell.threads or 0], 3.0) for cell in WORLD.plan().cells
    ]
    sampled += [s.NoteRow(w.RUN, cell.id, "warning", "a gap", "probe:power:local") for cell in WORLD.plan().cells]
    html = footnoted((POWER, RATE), [*WORLD.rows(), *sampled], WORLD.plan(), tmp_path)
    first_limit = (
        "power was sampled for less than 95% of the measured window in 6 of 9 measurements, for 43% at the least "
        '(<a class="traced" href="#measurement-1">ramp/disk/rr/threads=2/1</a>)'
    )
    assert html.index("Probes that sampled too little") < html.index(first_limit) < html.index("<table")
    assert html.count("power was sampled for 43% of the measured window.") == 1
    assert html.count("power was sampled for 80% of the measured window.") == 1, "each share is a footnote of its own"
    assert html.count('<a href="#note-') == 2
    none = [row._replace(share=0.0) for row in sampled if isinstance(row, s.CoverageRow)]
    html = footnoted((RATE,), [*WORLD.rows(), *none], WORLD.plan(), tmp_path)
    assert re.search(
        r"power was not sampled at all in 9 of 9 measurements \(<a [^>]+>ramp/disk/rr/threads=1/1</a>\)", html
    )
