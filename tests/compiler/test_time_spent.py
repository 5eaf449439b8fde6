"""Tests how a plan's time is divided among activities and experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.estimates.estimate import ACTIVITIES, RENDERING_S, Activity, time_spent
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.dsl.source import display_width
from tests.compiler.test_expand import plan_of

SPEC = """
hardware box "箱" { hosts = local }
database rocks "RocksDB" { engine = rocksdb  path = "/data"  reset = after_writes }
workload rr "ランダム読み取り" from db_bench.readrandom { records = 1M }
workload rw "読み書き" from db_bench.readrandomwriterandom { records = 1M }
experiment reads "読み取りの負荷試験、スレッド数を増やしながら性能の限界を調べる長い名前の実験" {
  hardware = box  workloads = rr  threads = [1, 2]  warm_up = 1 min  measure = 10 min  cool_down = 30 s
}
experiment writes "書き込み" {
  hardware = box  workloads = rw  threads = [1, 2]  measure = 20 min
}
report brief "概要" { template = blog  language = ja  text = "速い。" }
"""


def test_each_step_counts_for_its_activity_and_experiment(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC)
    spent = time_spent(plan)
    reads, writes = spent.experiments["reads"], spent.experiments["writes"]
    assert (reads["warm_up"], reads["measuring"], writes["warm_up"], writes["measuring"]) == (120, 1200, 0, 2400)
    kinds_of: tuple[tuple[Activity, set[str]], ...] = (("loading", {"load"}), ("start_up", {"prepare", "collect"}))
    for activity, kinds in kinds_of:
        steps = [step.seconds for cell in plan.cells for step in cell.steps if step.kind in kinds]
        assert spent.in_all[activity] == sum(steps) > 0
    assert spent.in_all["rendering"] == RENDERING_S


def test_the_activities_add_up_to_the_estimate_and_the_rendering(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC)
    spent = time_spent(plan, 7.0)
    assert sum(spent.in_all.values()) == pytest.approx(plan.estimate_s + 7.0)
    told = spent.as_dict()["in_all"]
    assert isinstance(told, dict)
    assert set(told) == {*(f"{name}_s" for name in ACTIVITIES), "total_s"}
    assert told["total_s"] == pytest.approx(plan.estimate_s + 7.0)


def test_the_last_cell_of_a_lane_does_not_cool_down(tmp_path: Path) -> None:
    assert time_spent(plan_of(tmp_path, SPEC)).in_all["cooling"] == 2 * 30
    alone = plan_of(tmp_path, SPEC, (SPEC[SPEC.index("experiment writes") : SPEC.index("report")], ""))
    assert time_spent(alone).in_all["cooling"] == 30


def test_what_brings_loaded_data_back_is_a_reset_and_no_load(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, SPEC, ("after_writes", "snapshot"))
    back = [step for cell in plan.cells for step in cell.steps if step.reset == "copy"]
    spent = time_spent(plan).in_all
    assert spent["resets"] == sum(step.seconds for step in back) > 0
    assert spent["loading"] == sum(s.seconds for c in plan.cells for s in c.steps if s.reset == "load") > 0


def test_a_plan_says_where_the_time_goes_in_80_columns(tmp_path: Path) -> None:
    lines = explain(plan_of(tmp_path, SPEC), 80).splitlines()
    said = lines[lines.index("Where the time goes") :]
    assert max(map(display_width, said)) <= 80
    assert said[1].startswith("  in all: 63.5 min")
    measured = next(line for line in said if "measuring" in line)
    assert "60.0 min" in measured
    assert measured.endswith("#" * round(24 * 60 / 63.5))
    assert any(line.startswith("  書き込み (writes): ") for line in said)
    assert not any("resets" in line for line in said), "what takes no time is left out"
