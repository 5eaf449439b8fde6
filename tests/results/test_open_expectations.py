"""Tests expectations that a run's repeats can't decide yet, and the points that they read."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.budgets import Looks, looks_at
from benchbrief.model.plan import Plan
from benchbrief.model.points import Point
from benchbrief.model.run_record import RunRecord
from benchbrief.results.analysis.expectation_verdicts import evaluate
from benchbrief.results.runs.interim_results import AskedSoFar, GrowingTables
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, each_record, read_run
from benchbrief.runners.journal.run_folder import create_run
from benchbrief.runners.scheduling.budgeted_repeats import UndecidedPoints
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom { records = 10k }
experiment ramp {
  hardware = box.variants  workloads = rr  threads = [1, 4]  measure = 1 min
  repeats = @REPEATS@, interleaved  budget = 1 h
}
metric gain in % = throughput[two] / throughput[one] - 1, higher is better
"""
# The same with levels of a factor, beside an experiment on the same hardware that varies nothing.
LEVELS = """
factor folder { one = "/one"  two = "/two" }
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "{folder}" }
workload rr from db_bench.readrandom { records = 10k }
experiment ramp {
  hardware = box  workloads = rr  threads = [1, 4]  vary = folder  measure = 1 min
  repeats = 4, interleaved  budget = 1 h
}
experiment plain { hardware = box  workloads = rr  threads = 4  measure = 1 min  repeats = 4  budget = 1 h }
metric gain in % = throughput[two] / throughput[one] - 1, higher is better
"""


def plan_of(tmp_path: Path, expects: str, repeats: str = "4", spec: str = SPEC) -> Plan:
    (tmp_path / "a.bench").write_text(spec.replace("@REPEATS@", repeats) + expects)
    return compile_spec(tmp_path / "a.bench")


def simulated(tmp_path: Path, plan: Plan) -> Path:
    run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", run_dir)
    return run_dir


def measured_ratio(run_dir: Path, plan: Plan, threads: int) -> float:
    """Return the throughput on `two` divided by that on `one`. If this ratio is the limit, no number of repeats can
    decide."""
    with GrowingTables(run_dir, plan, samples=False).store(read_run(run_dir)) as store:
        of = "folder" if plan.factors else "hardware"
        query = f"SELECT {of}, avg(value) FROM measure.throughput WHERE operation = 'all'"  # noqa: S608  # ours
        rates = dict(store.sql(f"{query} AND threads = {threads} GROUP BY ALL").rows)
    return float(rates["two"] / rates["one"])


def points(plan: Plan, *threads: int) -> set[Point]:
    return {Point.of(cell) for cell in plan.cells if cell.threads in threads and cell.experiment == "ramp"}


@pytest.mark.parametrize("spec", [SPEC, LEVELS], ids=["variants", "levels"])
def test_an_expectation_is_open_until_the_repeats_decide_it(tmp_path: Path, spec: str) -> None:
    plan = plan_of(tmp_path, "", spec=spec)
    run_dir = simulated(tmp_path, plan)
    ratio = measured_ratio(run_dir, plan, threads=4)
    limits = f"expect throughput[two, threads: 4] > {ratio:.6f} * throughput[one, threads: 4]\n"
    plan = plan_of(tmp_path, "expect gain > -50 %\n" + limits, spec=spec)
    assert [len(expect.repeats) for expect in plan.expects] == [2, 2]
    readings = AskedSoFar(run_dir, plan).read(read_run(run_dir))
    found = readings.open
    assert set(found) == points(plan, 4), "the first is decided"
    assert readings.compared == dict.fromkeys(points(plan, 4), points(plan, 4))
    assert all(distance >= 1 for distance in found.values())


@pytest.mark.long
@pytest.mark.parametrize(
    "repeats", ["4", pytest.param("confident(within: 0.01 %, from: 3, to: 4)", marks=pytest.mark.long)]
)
def test_an_expectation_is_open_where_its_verdict_is_undecided_after_every_cell(tmp_path: Path, repeats: str) -> None:
    expects = (
        "expect gain > -50 %\n"  # at two places, both of which hold
        "expect gain > 50 %\n"  # both of which fail
        "expect gain > 0 %\n"  # within noise
        "expect throughput[one] > 1.0 * throughput[two]\n"
        "expect throughput[two] == 1 ops/s\n"  # which no interval decides
    )
    plan = plan_of(tmp_path, expects, repeats)
    whole = simulated(tmp_path, plan)
    alone = [plan.model_copy(update={"expects": (expect,)}) for expect in plan.expects]
    tables, record = GrowingTables(whole, plan, samples=False), RunRecord()
    looks = [AskedSoFar(whole, each) for each in alone]
    ended = 0
    seen: set[tuple[int, bool | None]] = set()
    for place, each in each_record(whole / JOURNAL):
        record.add(place, each)
        ended += isinstance(each, j.CellEnded)
        if not isinstance(each, j.CellEnded) or ended % 4:
            continue
        for number, look in enumerate(looks):
            look._tables = tables  # each would read all the raw outputs
            still = look.read(record).open
            with tables.store(record) as store:
                (verdict,) = evaluate(alone[number], store)
            if verdict.decided is not None:
                assert bool(still) == (not verdict.decided), (verdict, still)
            seen.add((number, verdict.decided))
    assert {(0, True), (1, True), (2, False), (4, None)} <= seen
    assert all(looks_at(plan, each) == Looks(3, 4) for each in plan.expects if each.repeats)


def test_without_repeats_to_compare_nothing_is_open(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(SPEC.replace("@REPEATS@", "4"))
    assert AskedSoFar(tmp_path, compile_spec(tmp_path / "a.bench")).read(RunRecord()) == UndecidedPoints()
