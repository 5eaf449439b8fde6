"""Tests the messages about earlier runs that can't be reused, and about runs in renamed folders."""

from __future__ import annotations

from pathlib import Path

from benchbrief.results.runs.find_runs import find_run
from benchbrief.results.runs.reusable_results import why_nothing
from tests.results.making import RunMaker
from tests.support.bench import Bench
from tests.support.plans import compile_text

SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = box  workloads = rr  threads = @THREADS@  measure = 60 s }
"""


def test_a_run_says_why_it_takes_nothing_from_earlier_ones(tmp_path: Path) -> None:
    out = tmp_path / "bench-out"
    plan = compile_text(SPEC.replace("@THREADS@", "1"), tmp_path)
    assert why_nothing(plan, out) == "", "nothing is said of a first run"
    RunMaker(out / "20260101-000000-brief", plan)
    said = why_nothing(plan, out)
    assert said.startswith("run 20260101-000000-brief has no good results of the same cells that could be taken")
    more = compile_text(SPEC.replace("@THREADS@", "1  repeats = 2"), tmp_path)
    lacking = "run 20260101-000000-brief lacks cells that are measured together with those it has, such as e/box/rr/"
    assert why_nothing(more, out) == f"{lacking}threads=1/r2"
    other = compile_text(SPEC.replace("@THREADS@", "2"), tmp_path)
    said = why_nothing(other, out)
    assert said.startswith("no cell of run 20260101-000000-brief, the last one of this spec, is the same: bench plan ")
    elsewhere = tmp_path / "later"
    assert f"20260101-000000-brief of the same cells is in another folder: --out {out}" in why_nothing(plan, elsewhere)
    (tmp_path / "link").symlink_to(out, target_is_directory=True)
    assert why_nothing(plan, out).startswith("run 20260101-000000-brief"), "and no link is followed"


def test_a_renamed_run_is_found_by_the_name_that_status_shows(bench: Bench) -> None:
    bench.spec(SPEC.replace("@THREADS@", "1"))
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    name = bench.run_dir.name
    renamed = bench.run_dir.rename(bench.run_dir.with_name("baseline"))
    shown = bench("status", "baseline").out
    assert shown.startswith(f"{name}  done ")
    assert "its folder is baseline now" in shown
    assert bench("status", name).out == shown
    assert bench("query", "SELECT 1", "--run", name).code == 0
    assert find_run(renamed.parent, name) == renamed
