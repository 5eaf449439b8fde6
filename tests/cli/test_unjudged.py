"""Tests a run whose lane ends without verdicts on all cells. To simulate such a bug, a lane skips a cell. A run with
missing cells is never called done."""

from __future__ import annotations

import pytest

from tests.support.bench import Bench

SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload w from db_bench.fillrandom
experiment e { hardware = box  workloads = w  threads = [1, 2, 4]  measure = 1 min }
"""
FORGETFUL = """
from benchbrief.runners.execution.lane import Lane
whole = Lane.run_cell
def run_cell(self, cell, left=None):
    if cell.threads != 4:
        whole(self, cell, left)
Lane.run_cell = run_cell
"""
"""Code that makes the lanes skip the cell with four threads."""


@pytest.mark.long
def test_a_run_with_a_cell_that_nobody_judged_is_interrupted_and_can_be_resumed(bench: Bench) -> None:
    bench.spec(SPEC)
    ended = bench("run", "brief.bench", "--simulate", "--junit", "verdicts.xml", before=FORGETFUL)
    assert ended.code == 130, ended.text
    assert "interrupted, stopped before every cell was run" in ended.out
    assert "2 ok, 1 not run" in ended.out
    assert f"go on with: bench resume {bench.run_dir.name}" in ended.out
    assert "PDF" not in ended.out
    assert "1 cell was not run" in (bench.folder / "verdicts.xml").read_text("utf-8")
    assert bench.journal("run_ended")[-1]["status"] == "interrupted"
    status = bench("status", bench.run_dir.name, "--json").json
    assert (status["status"], status["done"], status["total"]) == ("interrupted", 2, 3)

    again = bench("resume", bench.run_dir.name)
    assert again.code == 0, again.text
    assert "done, 3 cells" in again.out
    assert bench.journal("run_ended")[-1]["status"] == "done"
