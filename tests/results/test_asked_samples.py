"""Tests how a budget takes probes into account: in metrics that are computed from them, and in measures that a report
shows without a metric."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.model.points import Point
from benchbrief.model.run_record import RunRecord
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.interim_results import AskedSamples, AskedSoFar
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, each_record, read_run
from benchbrief.runners.journal.run_folder import create_run
from tests.support.plans import compile_text

SPEC = """
hardware box {
  hosts = "box.lab"  power = command("watts")
  variant one { path = "/one" }  variant two { path = "/two" }
}
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom { records = 10k }
workload ow from db_bench.overwrite { records = 10k }
experiment ramp {
  hardware = box.variants  workloads = [rr, ow]  threads = [1, 4]  measure = 1 min
  repeats = 3, interleaved  budget = 1 h  probes = [power every 10 s, disk every 10 s]
}
metric efficiency in ops/s/W = throughput / mean(power over node), higher is better
metric gain in % = efficiency[two] / efficiency[one] - 1, higher is better
"""
FIGURE = """
report brief "Power" {{
  each workload {{
    figure "{{workload.label}}" {{
      {marks}
    }}
  }}
  disclosure = automatic
}}
"""


def plan_of(tmp_path: Path, marks: str) -> Plan:
    return compile_text(SPEC + (FIGURE.format(marks=marks) if marks else ""), tmp_path)


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sampled")
    plan = plan_of(folder, "")
    made = create_run(folder / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", made)
    rebuild(made, plan)
    return made


def test_a_metric_over_power_counts_by_its_values_of_each_repeat(tmp_path: Path, run_dir: Path) -> None:
    plan = plan_of(tmp_path, "line = efficiency by threads, color hardware")
    found = AskedSoFar(run_dir, plan).read(read_run(run_dir)).sampled
    assert set(found) == {Point.of(cell) for cell in plan.cells}
    (metric,) = plan.metrics[:1]
    assert metric.repeats is not None
    with open_store(run_dir) as store:
        known = {tuple(row.keys): row.value for row in store.query(metric.repeats)}
    for cell in plan.cells:
        (each,) = found[Point.of(cell)]
        assert each.of == "efficiency"
        assert len(each.values) == 3
        assert known[cell.hardware, cell.workload, cell.threads, cell.repeat] in each.values
        assert each.least <= 0.01 * max(known.values())  # type: ignore[type-var, operator]


def test_a_measure_counts_where_a_report_reads_it_without_a_metric(tmp_path: Path, run_dir: Path) -> None:
    marks = "line = disk.write[two] by threads\n      line = throughput[two] by threads, axis right"
    plan = plan_of(tmp_path, marks)
    found = AskedSoFar(run_dir, plan).read(read_run(run_dir)).sampled
    assert set(found) == {Point.of(each) for each in plan.cells if each.hardware == "two"}
    assert {each.of for theirs in found.values() for each in theirs} == {"disk.write"}
    spreads = [statistics.stdev(each.values) for theirs in found.values() for each in theirs]
    assert any(spread > 0 for spread in spreads), "the disk of the writes"


def test_a_share_is_as_wide_as_its_interval_in_points_of_a_hundred(tmp_path: Path, run_dir: Path) -> None:
    plan = plan_of(tmp_path, "line = gain by threads")
    found = AskedSoFar(run_dir, plan).read(read_run(run_dir)).sampled
    assert set(found) == {Point.of(each) for each in plan.cells}, "both sides of the comparison"
    assert {each.least for theirs in found.values() for each in theirs} == {100.0}


def test_an_expectation_over_power_is_judged_by_the_repeats_so_far(tmp_path: Path, run_dir: Path) -> None:
    plan = compile_text(SPEC + "expect gain > -99 %\nexpect gain < 0.0001 %\n", tmp_path)
    record, ended, asked = RunRecord(), 0, AskedSoFar(run_dir, plan)
    for place, each in each_record(run_dir / JOURNAL):
        record.add(place, each)
        ended += isinstance(each, j.CellEnded)
        if isinstance(each, j.CellEnded) and ended in (8, 16):
            found = asked.read(record)
            assert set(found.open) == {Point.of(cell) for cell in plan.cells}, "a whole look has three repeats"
            assert not found.decided
    alone = compile_text(SPEC + "expect gain > -9999 %\n", tmp_path)
    found = AskedSoFar(run_dir, alone).read(record)
    assert (found.open, set(found.decided)) == ({}, {Point.of(cell) for cell in plan.cells})


def test_without_a_report_the_metrics_are_asked_for_and_another_metric_asks_anew(tmp_path: Path) -> None:
    every = AskedSamples(plan_of(tmp_path, ""))
    cell = plan_of(tmp_path, "").cells[0]
    assert len(every.of(cell)) == 2
    one = AskedSamples(plan_of(tmp_path, "line = efficiency by threads, color hardware"))
    assert one.of(cell) < every.of(cell)
    none = AskedSamples(plan_of(tmp_path, "line = throughput by threads, color hardware"))
    assert not none
    assert none.of(cell) == set()
