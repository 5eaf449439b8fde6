"""Which expectations the repeats of a run can't decide yet, and which points they read."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.planning.budgets import point_of
from benchbrief.results.analysis.open_expectations import OpenExpectations
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.run_folder import create_run
from benchbrief.runners.journal.run_record import RunRecord, read_run
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom { records = 10k }
experiment ramp {
  hardware = box.variants  workloads = rr  threads = [1, 4]  measure = 1 min  repeats = 4, interleaved  budget = 1 h
}
metric gain in % = throughput[two] / throughput[one] - 1, higher is better
"""


def test_an_expectation_is_open_until_the_repeats_decide_it(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(
        SPEC + "expect gain > -50 %\nexpect throughput[two, threads: 4] > 1.0 * throughput[one, threads: 4]\n"
    )
    plan = compile_spec(tmp_path / "a.bench")
    assert [len(expect.repeats) for expect in plan.expects] == [2, 2]
    run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", run_dir)
    found = OpenExpectations(run_dir, plan).points(read_run(run_dir))
    assert set(found) == {point_of(cell) for cell in plan.cells if cell.threads == 4}, "the first is decided"
    assert all(distance >= 1 for distance in found.values())


def test_without_repeats_to_compare_nothing_is_open(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(SPEC)
    assert OpenExpectations(tmp_path, compile_spec(tmp_path / "a.bench")).points(RunRecord()) == {}
