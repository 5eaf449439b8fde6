"""Tests cells that can only be reused together from an earlier run."""

from __future__ import annotations

from pathlib import Path

from benchbrief.results.runs.reusable_results import blocks
from tests.support.plans import compile_spec

SPEC = """
hardware one { hosts = "one.lab" }
hardware two { hosts = "two.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.a
experiment search { hardware = [one, two]  workloads = w  threads = knee(from: 1, factor: 2, to: 8)  measure = 1 s }
experiment found {
  hardware = [one, two]  workloads = [load(w), w]  threads = search.knee  target = [1k ops/s, 2k ops/s]
  measure = 1 s  repeats = 2
}
experiment alone { hardware = one  workloads = w  threads = [1, 2]  measure = 2 s  repeats = 3 }
"""


def test_a_search_belongs_to_the_cells_that_wait_for_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(SPEC, encoding="utf-8")
    plan = compile_spec(path)
    found = [[cell.id for cell in block] for block in blocks(plan)]
    assert sorted(cell for block in found for cell in block) == sorted(cell.id for cell in plan.cells), "each cell once"
    by_size = sorted(found, key=len)
    assert [len(block) for block in by_size] == [3, 3, 12, 12]
    for block, hardware in zip(sorted(by_size[2:]), ("one", "two"), strict=True):
        assert {cell.split("/")[1] for cell in block} == {hardware}
        assert sum(cell.startswith("search/") for cell in block) == 4
