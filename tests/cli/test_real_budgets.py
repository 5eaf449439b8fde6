"""Tests budgets in real runs of db_bench: points that exceed the budget, a later run, and a killed controller."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchbrief.model import events as j
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.results.runs.interim_results import AskedSoFar
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal, read_run
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.runners.scheduling.budgeted_repeats import Budgets
from tests.support.bench import Bench, fresh_bench, records_of
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = """\
hardware here { hosts = local }
database rocks { engine = rocksdb  path = "@DB@"  reset = @RESET@  options { compression = "none" } }
workload ow "Overwrites" from db_bench.@WORK@ { records = 1k }
experiment e "Ramp" { hardware = here  workloads = ow  threads = [1, 2]  measure = 1 s  repeats = @REPEATS@ }
"""
SLOW = 'command("sleep 3.2 && @DB_BENCH@ --benchmarks=fillseq --num=1000 --db=@DB@ --compression_type=none")'


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


def spec(bench: Bench, tmp_path: Path, reset: str, work: str, repeats: int) -> None:
    reset = reset.replace("@DB_BENCH@", str(system_tool("db_bench")))
    holes = {"RESET": reset, "DB": str(tmp_path / "db"), "WORK": work, "REPEATS": str(repeats)}
    text = SPEC
    for hole, filled in holes.items():
        text = text.replace(f"@{hole}@", filled)
    bench.spec(text)


@pytest.mark.long
def test_a_point_without_room_fails_the_run_and_a_later_run_measures_it_alone(bench: Bench, tmp_path: Path) -> None:
    spec(bench, tmp_path, SLOW, "overwrite", repeats=1)
    done = bench("run", "brief.bench", "--no-report", "--budget", "8s", "--junit", "j.xml", "--markdown", "m.md")
    assert done.code == 3, done.text
    assert "failed, 1 of 2 cells had no room in the budget" in done.out
    assert "cells   1 ok, 1 without room" in done.out
    assert re.search(r"no room e/here/ow/threads=2/r1: no room in the budget of 8 s: .* s are spent", done.out)
    assert done.out.rstrip().endswith("with: bench run brief.bench --budget 8s")

    suite = ET.parse(bench.folder / "j.xml").getroot()  # noqa: S314  # our own
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    (case,) = (each for each in suite.iter("testcase") if each.find("error") is not None)
    assert case.get("name") == "e/here/ow/threads=2/r1"
    assert "| cell without room in the budget | reason |" in (bench.folder / "m.md").read_text()
    first = bench.run_dir
    assert bench("resume", first.name, "--no-report").code == 3, "decided as before"
    assert len([each for each in records_of(first) if each["type"] == "cell_ended"]) == 1

    again = bench("run", "brief.bench", "--no-report", "--budget", "10min")
    assert again.code == 0, again.text
    assert f"1 of 2 cells is taken from run {first.name}" in again.err
    second = next(run for run in bench.run_dirs() if run != first)
    ended = [each["cell"] for each in records_of(second) if each["type"] == "cell_ended"]
    assert ended == ["e/here/ow/threads=1/r1", "e/here/ow/threads=2/r1"]


@pytest.mark.long
def test_a_killed_run_goes_on_within_its_budget_and_decides_by_its_journal(bench: Bench, tmp_path: Path) -> None:
    spec(bench, tmp_path, "drop_and_load", "fillrandom", repeats=8)
    with bench.started("run", "brief.bench", "--no-report", "--budget", "10s") as going:
        until(lambda: any(bench.folder.glob(f"bench-out/*/{JOURNAL}")) and bool(bench.journal("cell_ended")), 60)
        going.signal(signal.SIGKILL)
        going.wait(60)
    done = bench("resume", bench.run_dir.name, "--no-report", timeout=120)
    assert done.code == 0, done.text
    record = read_run(bench.run_dir)
    assert sum(record.times.seconds.values()) < 10 + 10, "one cell may take longer than expected"
    assert len([each for each in bench.journal("cell_ended") if each["status"] == "ok"]) >= 2
    assert {each["no_room"] for each in bench.journal("cell_skipped")} == {"repeat"}
    assert next_by_the_journal(bench.run_dir) == []


@pytest.mark.long
def test_a_killed_run_ends_its_repeats_early_as_it_would_have_done(bench: Bench, tmp_path: Path) -> None:
    """Both points are far from the limit. The first look at their repeats is therefore enough to decide, even though
    the budget would allow all repeats."""
    spec(bench, tmp_path, "links", "readrandom", repeats=8)
    text = (bench.folder / "brief.bench").read_text(encoding="utf-8")
    bench.spec(text + "\nexpect throughput > 10 ops/s\n")
    with bench.started("run", "brief.bench", "--no-report", "--budget", "10min") as going:
        until(lambda: any(bench.folder.glob(f"bench-out/*/{JOURNAL}")) and len(bench.journal("cell_ended")) >= 4, 120)
        going.signal(signal.SIGKILL)
        going.wait(60)
    assert bench.journal("cell_skipped") == []
    done = bench("resume", bench.run_dir.name, "--no-report", timeout=240)
    assert done.code == 0, done.text
    assert "10 of them not needed" in done.out
    points = [each["cell"].rpartition("/")[0] for each in bench.journal("cell_ended") if each["status"] == "ok"]
    assert {point: points.count(point) for point in points} == {"e/here/ow/threads=1": 3, "e/here/ow/threads=2": 3}
    skipped = bench.journal("cell_skipped")
    assert len(skipped) == 10
    assert {(each["no_room"], each["reason"]) for each in skipped} == {("", say.budget_decided())}
    assert next_by_the_journal(bench.run_dir) == []


def next_by_the_journal(run_dir: Path) -> list[str]:
    """Return the cells that were begun although a new controller, knowing only the journal, would have begun a
    different cell."""
    plan, record = load_plan(run_dir), RunRecord()
    others = []
    for each in read_journal(run_dir / JOURNAL):
        if isinstance(each, j.CellStarted) and each.attempt == 1:
            done = record.finished(plan)
            budgets = Budgets(plan, record, lambda _: None, read_tables=AskedSoFar(run_dir, plan).read)
            order = budgets.in_order([cell for cell in plan.cells if cell.id not in done])
            chosen = next(cell.id for cell in order if not budgets.not_needed(cell))
            if chosen != each.cell:
                others.append(each.cell)
        record.add(NOWHERE, each)
    return others
