"""Tests that snapshots of real RocksDB are restored only after a cell has written. A cell that only reads gets the data
that the cell before it left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bench import Bench, fresh_bench
from tests.support.tools import system_tool

SPEC = """\
hardware here { hosts = local }
database rocks { engine = rocksdb  path = "@DB@"  reset = @RESET@  options { compression = "none" } }
workload rr from db_bench.readrandom { records = 1k }
workload ow from db_bench.overwrite { records = 1k }
experiment e { hardware = here  workloads = [rr, ow]  threads = 1  measure = 1 s  repeats = 2 }
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@pytest.mark.long
@pytest.mark.parametrize("reset", ["links", pytest.param("snapshot", marks=pytest.mark.long)])
def test_only_a_cell_after_one_that_wrote_gets_the_snapshot(bench: Bench, tmp_path: Path, reset: str) -> None:
    bench.spec(SPEC, DB=str(tmp_path / "db"), RESET=reset)
    done = bench("run", "brief.bench", "--no-report", timeout=180)
    assert done.code == 0, done.text
    loads = {each["cell"]: each for each in bench.journal("step_ended") if each["step"] == "load"}
    reused = {cell for cell, each in loads.items() if each.get("skipped")}
    assert list(loads) == [f"e/here/{name}/threads=1/r{repeat}" for name in ("rr", "ow") for repeat in (1, 2)]
    assert reused == {"e/here/rr/threads=1/r2", "e/here/ow/threads=1/r1"}, "nothing was written before these"
    printed = [each["cell"] for each in bench.journal("remark") if "snapshot taken after its load" in each["text"]]
    assert printed == ["e/here/ow/threads=1/r2"]
