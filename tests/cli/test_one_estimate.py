"""Tests that a run's estimate is the same wherever it is shown, and that with a budget, progress never goes
backwards."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.cli.terminal import duration as readable
from benchbrief.dsl.diagnostics.plain_amounts import about
from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.progress.run_view import KnownOfRun, LiveRun
from benchbrief.results.runs.times_taken import Pace
from tests.support.bench import Bench
from tests.support.plans import compile_text
from tests.support.tools import system_tool

SPEC = """\
hardware box { hosts = local }
database rocks { engine = rocksdb  path = "@DATA@/rocks"  reset = after_writes  options { compression = "none" } }
workload rr from db_bench.readrandom { records = 2k }
experiment e { hardware = box  workloads = rr  threads = [1, 2]  measure = 1 s }
report brief "Brief" { table "Each point" { rows = threads  columns = throughput } }
"""


@pytest.mark.long
def test_plan_run_journal_and_end_tell_one_estimate_which_is_learned_from_earlier_runs(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    estimates = []
    for _ in range(2):
        planned = re.search(
            r"2 cells, (about .*, 10 s of it for the brief|about .*)\n", bench("plan", "brief.bench").out
        )
        assert planned
        done = bench("run", "brief.bench", "--fresh")
        assert done.code == 0, done.text
        assert f": 2 cells, {planned[1]}\n" in done.err
        run = bench.run_dirs()[-1].name
        wall_s = bench("status", run, "--json").json["time"]["estimated_s"]
        assert planned[1].startswith(about(wall_s))
        assert f", estimated {readable(wall_s)}" in done.out
        estimates.append(wall_s)
    assert estimates[1] != estimates[0], "the second one is learned from the first run"


BUDGETED = """\
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = box  workloads = rr  threads = [1, 2, 4]  measure = 60 s  repeats = 4  budget = @BUDGET@ }
"""


def records(plan: Plan, slower: list[float]) -> list[list[j.AnyRecord]]:
    """Return the records of each cell for measurements that take `slower` times as long as planned."""
    found: list[list[j.AnyRecord]] = []
    at = 1000.0
    for cell, factor in zip(plan.cells, slower, strict=False):
        one: list[j.AnyRecord] = [j.CellStarted(at=at, cell=cell.id, hash=cell.hash, attempt=1)]
        for step in cell.steps:
            took = step.seconds * factor
            at += took
            one.append(j.StepEnded(at=at, cell=cell.id, attempt=1, step=step.kind, seconds=took))
        one.append(j.CellEnded(at=at, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=1.0))
        found.append(one)
    return found


def viewed(plan: Plan, slower: list[float], monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, str]]:
    """Return the time left, the share done, and the texts for both, at the beginning and after each cell."""
    monkeypatch.setattr("benchbrief.progress.run_view._ESTIMATE_SHARE", float("inf"))  # each look is an estimate
    view = LiveRun(plan, KnownOfRun(plan, {}, Pace()))
    started = j.RunStarted(
        at=1000.0, run_id="r", plan_sha256="", benchbrief="", spec="", profile=None, controller_pid=1
    )
    view.apply(started)
    found = [(view.remaining_s(1000.0) or 0.0, view.share_done(1000.0), view.left_text(1000.0))]
    for cell in records(plan, slower):
        for record in cell:
            view.apply(record)
        at = cell[-1].at
        found.append((view.remaining_s(at) or 0.0, view.share_done(at), view.left_text(at)))
    return found


@pytest.mark.parametrize("slower", [[1.0] * 8, [0.5, 0.5, 2.0, 0.5, 2.0, 2.0], [2.0, 0.2, 2.0, 0.2]])
@pytest.mark.parametrize("budget", ["8 min", "2 h"])
def test_with_a_budget_the_time_left_never_grows_and_the_share_never_falls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slower: list[float], budget: str
) -> None:
    plan = compile_text(BUDGETED.replace("@BUDGET@", budget), tmp_path)
    seen = viewed(plan, slower, monkeypatch)
    assert all(later[0] <= before[0] for before, later in pairwise(seen)), seen
    assert all(later[1] >= before[1] for before, later in pairwise(seen)), seen
    assert seen[0][1] == 0
    assert 0 < seen[-1][1] <= 1
    if budget == "8 min":  # of 12 cells, eight fit
        assert seen[0][2] == "at most 8 min 00 s left, by the budget"
    else:
        assert all("about" in printed and "budget" not in printed for _, _, printed in seen)


def test_without_a_budget_the_share_is_that_of_the_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compile_text(BUDGETED.replace("budget = @BUDGET@", ""), tmp_path)
    assert [share for _, share, _ in viewed(plan, [2.0, 0.2, 1.0], monkeypatch)] == [0, 1 / 12, 2 / 12, 3 / 12]
