"""Tests which parts of a plan separate processes can run, and the names of these parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.planning.plan_lanes import lane_named, lane_part, lanes_of, only_lane
from benchbrief.model.plan import Plan
from tests.support.plans import compile_text

APART = """\
hardware a { hosts = "a[1-2]"  @A@ }
hardware b { hosts = "b"  @B@ }
hardware c { hosts = "c" }
client ca { hosts = "la"  tool = ycsb }
client cb { hosts = "lb"  tool = ycsb }
client cc { hosts = "lc"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.a { records = 1k }
experiment ea { hardware = a  client = ca  workloads = w  threads = [1, 2]  measure = 1 s  repeats = 2  @EA@ }
experiment eb { hardware = b  client = @CLIENT@  workloads = w  threads = [1]  measure = 1 s  repeats = 2 }
experiment ec { hardware = c  client = cc  workloads = w  threads = [1]  measure = 1 s }
@MORE@
"""
ALONE = [["a"], ["b"], ["c"]]


def planned(folder: Path, **values: str) -> Plan:
    text = APART
    for name, value in {"A": "", "B": "", "EA": "", "CLIENT": "cb", "MORE": "", **values}.items():
        text = text.replace(f"@{name}@", value)
    return compile_text(text, folder)


def hardware(plan: Plan) -> list[list[str]]:
    return [list(lane.hardware) for lane in lanes_of(plan)]


def test_hardware_that_shares_nothing_is_a_lane_each(tmp_path: Path) -> None:
    lanes = lanes_of(planned(tmp_path))
    assert [lane.number for lane in lanes] == [1, 2, 3]
    assert [list(lane.hardware) for lane in lanes] == ALONE
    assert sorted(lanes[0].hosts) == ["a1", "a2", "la"]


@pytest.mark.parametrize(
    ("values", "lanes"),
    [
        ({"CLIENT": "ca"}, [["a", "b"], ["c"]]),
        ({"A": 'switch = "rack 4"', "B": 'switch = "rack 4"'}, [["a", "b"], ["c"]]),
        ({"EA": "on_failure = stop"}, [["a", "b", "c"]]),
        ({"EA": "budget = 1 h"}, ALONE),
    ],
)
def test_what_is_shared_joins_lanes(tmp_path: Path, values: dict[str, str], lanes: list[list[str]]) -> None:
    assert hardware(planned(tmp_path, **values)) == lanes


TURNS = """\
hardware one { hosts = "one" }
hardware two { hosts = "two" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 1k }
experiment e { hardware = [one, two]  workloads = rr  threads = [1]  measure = 1 s  overlap = @OVERLAP@ }
"""


@pytest.mark.parametrize(
    ("overlap", "lanes"),
    [("measuring", [["one"], ["two"]]), ("loading", [["one", "two"]]), ("none", [["one", "two"]])],
)
def test_hardware_that_waits_for_its_turn_is_in_one_lane(tmp_path: Path, overlap: str, lanes: list[list[str]]) -> None:
    assert hardware(compile_text(TURNS.replace("@OVERLAP@", overlap), tmp_path)) == lanes


def test_a_budget_that_goes_by_expectations_joins_its_hardware(tmp_path: Path) -> None:
    budgets = APART.replace("repeats = 2 }", "repeats = 2  budget = 1 h }").replace("@EA@", "budget = 1 h")
    (tmp_path / "without").mkdir()
    text = budgets.replace("@CLIENT@", "cb").replace("@A@", "").replace("@B@", "")
    assert hardware(compile_text(text.replace("@MORE@", ""), tmp_path / "without")) == ALONE
    text = text.replace("@MORE@", "expect throughput[ea, threads: 1] > 1 ops/s")
    assert hardware(compile_text(text, tmp_path)) == [["a", "b"], ["c"]]


def test_a_cell_is_in_the_lane_of_the_search_that_it_waits_for(tmp_path: Path) -> None:
    """Today, no spec can ask for a search on other hardware, but a plan can."""
    plan = planned(tmp_path)
    knee = {"experiment": "eb", "hardware": "b", "workload": "w"}
    cells = [
        cell.model_dump() | ({"threads": None, "threads_from": knee} if cell.hardware == "c" else {})
        for cell in plan.cells
    ]
    assert hardware(Plan.model_validate(plan.model_dump() | {"cells": cells})) == [["a"], ["b", "c"]]


def test_a_lane_is_named_by_its_number_or_by_its_hardware(tmp_path: Path) -> None:
    lanes = hardware(planned(tmp_path, CLIENT="ca"))
    named = {name: lane_named(lanes, name) for name in ("1", "2", "a", "b", "c", "3", "0", "01", "", "A")}
    assert {name: number for name, number in named.items() if number} == {"1": 1, "a": 1, "b": 1, "2": 2, "c": 2}


def test_the_part_of_a_lane_has_what_its_cells_use_and_is_one_lane(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    for lane in lanes_of(plan):
        part = lane_part(plan, lane)
        assert (part.cells, tuple(part.hardware)) == (lane.cells, lane.hardware)
        assert sorted(part.hosts) == sorted(lane.hosts)
        assert {cell.database for cell in lane.cells} == set(part.databases)
        assert {cell.client for cell in lane.cells} == set(part.clients)
        assert [each.cells for each in lanes_of(part)] == [lane.cells]
        assert (part.experiments, part.workloads, part.spec) == (plan.experiments, plan.workloads, plan.spec)


def test_the_part_of_a_lane_keeps_what_its_budget_asks_of(tmp_path: Path) -> None:
    more = "metric m in ops/s = max(throughput over threads, workload), higher is better\nexpect m[b] > m[a]"
    plan = planned(tmp_path, EA="budget = 1 h", MORE=more)
    parts = [lane_part(plan, lane) for lane in lanes_of(plan)]
    assert all((part.hardware, part.databases) == (plan.hardware, plan.databases) for part in parts)


def test_the_lanes_have_each_cell_once_in_the_order_of_the_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, CLIENT="ca")
    found = [only_lane(plan, lane) for lane in lanes_of(plan)]
    order = [cell.id for cell in plan.cells]
    assert sorted((cell.id for each in found for cell in each.cells), key=order.index) == order
    assert all(
        [cell.id for cell in each.cells] == sorted((c.id for c in each.cells), key=order.index) for each in found
    )
