"""Tests which cells run in parallel, and the order of the cells in a lane."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.runners.scheduling.parallel_lanes import lanes
from tests.support.plans import compile_spec

HEAD = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
hardware other { hosts = "other.lab"  path = "/other" }
database rocks { engine = rocksdb  path = "{path}" }
workload w from db_bench.fillrandom
"""


def order(tmp_path: Path, repeats: str) -> list[list[str]]:
    """Return `hardware threads repeat` of each cell by lane. The lane of the first variant is first."""
    path = tmp_path / "spec.bench"
    path.write_text(
        f"{HEAD}experiment e {{ hardware = [box.one, other, box.two]  workloads = w  threads = [1, 2]  measure = 1 s\n"
        f"  repeats = {repeats} }}\n",
        encoding="utf-8",
    )
    plan = compile_spec(path)
    found = [[f"{c.hardware} {c.threads} {c.repeat}" for c in lane] for lane in lanes(plan.cells)]
    return sorted(found, key=len, reverse=True)


OTHER = ["other 1 1", "other 1 2", "other 2 1", "other 2 2"]


def test_variants_of_one_host_take_turns_and_another_host_runs_beside_them(tmp_path: Path) -> None:
    box, other = order(tmp_path, "2, interleaved")
    assert box == [f"{name} {threads} {n}" for threads in (1, 2) for n in (1, 2) for name in ("one", "two")]
    assert other == OTHER


def test_grouped_finishes_one_variant_before_the_next(tmp_path: Path) -> None:
    box, other = order(tmp_path, "2")
    assert box == [f"{name} {threads} {n}" for name in ("one", "two") for threads in (1, 2) for n in (1, 2)]
    assert other == OTHER


@pytest.mark.parametrize("seed", [1, 2])
def test_random_shuffles_each_lane_the_same_way_each_time(tmp_path: Path, seed: int) -> None:
    box, other = order(tmp_path, f"2, random(seed: {seed})")
    assert [box, other] == order(tmp_path, f"2, random(seed: {seed})")
    grouped = order(tmp_path, "2")
    assert sorted(box) == sorted(grouped[0])
    assert box != grouped[0]
    assert sorted(other) == OTHER


def test_a_client_that_hardware_shares_puts_it_into_one_lane(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(
        'hardware a { hosts = "a.lab" }\nhardware b { hosts = "b.lab" }\n'
        'client load { hosts = "load.lab"  tool = ycsb }\n'
        'database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }\nworkload w from ycsb.a\n'
        "experiment e { hardware = [a, b]  workloads = w  threads = 1  measure = 1 s  repeats = 2, interleaved }\n",
        encoding="utf-8",
    )
    (lane,) = lanes(compile_spec(path).cells)
    assert [(cell.hardware, cell.repeat) for cell in lane] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
