"""Tests that the planned time of an adaptive ramp covers the points that it measures, and not all candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import examine
from benchbrief.compiler.estimates.estimate import counted_cells, shares_points, time_spent
from benchbrief.compiler.estimates.learned import with_history
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.model.plan import Plan
from benchbrief.model.planned_cells import most_cells, most_of
from benchbrief.runners.scheduling.point_choice import ramps_of
from tests.support.plans import compile_spec, compile_text

SPEC = """
hardware one { hosts = "one.lab" }
database rocks { engine = rocksdb  path = "/data"  reset = after_writes }
workload calm from db_bench.readrandom { records = 1M }
experiment e { hardware = one  workloads = calm  threads = @  measure = 1 min  repeats = 2 }
"""
ADAPTIVE, LISTED = "adaptive(1..256, points: 5)", "[1, 4, 16, 64, 256]"


def plan_of(tmp_path: Path, threads: str) -> Plan:
    return compile_text(SPEC.replace("@", threads), tmp_path)


def test_it_takes_as_long_as_a_list_of_as_many_points(tmp_path: Path) -> None:
    plan, listed = plan_of(tmp_path, ADAPTIVE), plan_of(tmp_path, LISTED)
    assert len(plan.cells) > 5 * len(listed.cells)
    assert plan.estimate_s == pytest.approx(listed.estimate_s)
    assert sum(most_cells(each) for each in plan.experiments.values()) == len(listed.cells) == 10
    assert examine(Path(plan.spec.name)).cells == 10
    assert with_history(plan, {}).plan.estimate_s == pytest.approx(listed.estimate_s)
    assert dict(time_spent(plan).in_all) == pytest.approx(dict(time_spent(listed).in_all))
    assert "5 of 28 candidates x 2 repeats = 10 cells" in explain(plan)


def test_a_candidate_has_the_hash_of_the_same_point_of_a_list(tmp_path: Path) -> None:
    hashes = {cell.id: cell.hash for cell in plan_of(tmp_path, ADAPTIVE).cells}
    assert {cell.id: hashes[cell.id] for cell in plan_of(tmp_path, LISTED).cells} == {
        cell.id: cell.hash for cell in plan_of(tmp_path, LISTED).cells
    }


def test_points_that_have_begun_count_among_those_of_the_ramp(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ADAPTIVE)
    begun = {cell.id for cell in plan.cells if cell.threads in (1, 2, 3) and cell.repeat == 1}
    counted = counted_cells(plan.cells, plan.experiments, begun)
    assert {cell.threads for cell in plan.cells if cell.id in counted} >= {1, 2, 3}
    assert len(counted) == 10
    assert most_of(plan, plan.cells) == 10, "no more cells fail for a host than a run measures"
    assert most_of(plan, plan.cells[:3]) == 3


def test_a_budget_of_the_run_measures_it_in_full_before_anything_is_repeated(tmp_path: Path) -> None:
    more = "experiment f { hardware = one  workloads = calm  threads = [2, 3]  measure = 1 min  repeats = 3 }"
    (tmp_path / "both.bench").write_text(SPEC.replace("@", ADAPTIVE) + more, encoding="utf-8")
    plan = compile_spec(tmp_path / "both.bench", budget_s=3600.0)
    order = [(cell.experiment, cell.repeat) for cell in plan.cells]
    assert order.index(("f", 2)) > max(place for place, (name, _) in enumerate(order) if name == "e")


@pytest.mark.parametrize(
    ("order", "holds", "shared"),
    [(", interleaved", "", False), (", interleaved", 'switch = "s"', True), ("", 'switch = "s"', False)],
)
def test_hardware_in_turns_has_the_same_points_where_it_shares_something(
    tmp_path: Path, order: str, holds: str, shared: bool
) -> None:
    text = SPEC.replace("@", ADAPTIVE).replace("hardware = one", "hardware = [one, two]")
    text = text.replace("repeats = 2", f"repeats = 2{order}").replace('"one.lab" }', f'"one.lab"  {holds} }}')
    plan = compile_text(f'{text}hardware two {{ hosts = "two.lab"  {holds} }}\n', tmp_path)
    assert shares_points(plan, "e") is shared
    (ramps,) = {len(ramp.hardware) for ramp in ramps_of(plan)}
    assert ramps == (2 if shared else 1), "as the run chooses them"
    assert ("hardware that takes turns is measured at the same points" in " ".join(explain(plan).split())) is shared
