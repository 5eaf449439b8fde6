"""Tests when the result of an earlier run is reused: only if that run allowed no more work during the measurement than
the new run does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import Host, Plan
from benchbrief.results.runs.reusable_results import Neighbours, find_reusable, ran_beside
from tests.results.making import RunMaker, a_cell
from tests.results.test_reuse import READ, planned, taken

ALONE: dict[str, Any] = {"shares": ("experiment ramp",)}
BY_TURNS: dict[str, Any] = {"turn": "ramp"}
ON_A_SWITCH: dict[str, Any] = {"shares": ("switch r4",)}


def groups(overlap: str, held: dict[str, Any], hardware: Sequence[str] = ("nvme", "ssd")) -> Plan:
    """Return a plan with a client for each hardware, because only such groups may run in parallel."""
    cells = [a_cell(hardware=key, load_hosts=(f"load-{key}",)).model_copy(update=held) for key in hardware]
    plan = planned(cells, overlap=overlap, hardware=tuple(hardware))
    hosts = {f"load-{key}": Host(id=f"load-{key}", transport="ssh", name=f"load-{key}") for key in hardware}
    return plan.model_copy(update={"hosts": {**plan.hosts, **hosts}})


def a_run_of(out: Path, name: str, plan: Plan) -> None:
    run = RunMaker(out / name, plan)
    for cell in plan.cells:
        run.ok(cell, {cell.load_hosts[0]: READ})
    run.end("done")


@pytest.mark.parametrize(
    ("before", "after", "beside"),
    [
        (("measuring", {}), ("measuring", {}), ""),
        (("measuring", {}), ("loading", BY_TURNS), "a measurement"),
        (("measuring", {}), ("none", ALONE), "a measurement"),
        (("measuring", {}), ("measuring", ON_A_SWITCH), "a measurement"),
        (("loading", BY_TURNS), ("measuring", {}), ""),
        (("loading", BY_TURNS), ("loading", BY_TURNS), ""),
        (("loading", BY_TURNS), ("none", ALONE), "a load"),
        (("none", ALONE), ("measuring", {}), ""),
        (("none", ALONE), ("loading", BY_TURNS), ""),
        (("measuring", ON_A_SWITCH), ("none", ALONE), ""),
    ],
)
def test_a_result_beside_which_more_could_run_than_may_now_is_not_taken(
    tmp_path: Path, before: tuple[str, dict[str, Any]], after: tuple[str, dict[str, Any]], beside: str
) -> None:
    a_run_of(tmp_path, "old", groups(*before))
    plan = groups(*after)
    found = find_reusable(plan, tmp_path)
    assert taken(found) == ({} if beside else {cell.id: "old" for cell in plan.cells})
    first, second = (cell.id for cell in plan.cells)
    assert found.passed_over == (
        (
            f"run old: {beside} on ssd may have run beside {first}, which is not allowed now",
            f"run old: {beside} on nvme may have run beside {second}, which is not allowed now",
        )
        if beside
        else ()
    )


def test_hardware_that_the_plan_no_longer_has_counts_where_nothing_may_run_beside(tmp_path: Path) -> None:
    a_run_of(tmp_path, "old", groups("measuring", {}))
    assert taken(find_reusable(groups("none", {}, ["nvme"]), tmp_path)) == {}
    assert len(taken(find_reusable(groups("measuring", {}, ["nvme"]), tmp_path))) == 1


def test_the_experiment_of_a_reused_result_says_which_cells_could_run_beside() -> None:
    was, now = groups("measuring", {}, ["nvme"]), groups("none", ALONE)
    (old,), cell = was.cells, now.cells[0]
    assert ran_beside(Neighbours(was), old, Neighbours(now), cell, reused=False) == "", "it was alone in this run"
    assert ran_beside(Neighbours(was), old, Neighbours(now), cell, reused=True).startswith("a measurement on ssd")
    none = groups("none", {}, ["nvme"])
    assert ran_beside(Neighbours(none), none.cells[0], Neighbours(now), cell, reused=True) == ""
