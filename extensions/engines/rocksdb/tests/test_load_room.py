"""Tests that RocksDB is not loaded if there is too little room for the data, for a snapshot, or for the writes of
cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.extensions.engines.rocksdb.rocksdb import room_for

SPEC = """
hardware box {{ hosts = "box"  path = "/data" }}
database rocks {{ engine = rocksdb  path = "{{path}}/rocks"  reset = {reset} }}
workload w from db_bench.{workload} {{ records = 1M  key_size = 20 B  value_size = 80 B }}
experiment e {{ hardware = box  workloads = w  threads = 1  measure = 1 s }}
"""
SPARE = 64 << 20


@pytest.mark.parametrize(
    ("reset", "workload", "times", "text"),
    [
        ("after_writes", "overwrite", 1, "compactions, and"),
        ("links", "readrandom", 1, "compactions, and"),
        ("links", "overwrite", 2, "compactions, all of it twice for what cells write, and"),
        ("lvm_thin", "overwrite", 2, "compactions, all of it twice for what cells write, and"),
        ("snapshot", "readrandom", 2, "compactions, all of it twice for the snapshot, and"),
    ],
)
def test_a_load_needs_room_for_what_is_kept_beside_it(
    reset: str, workload: str, times: int, text: str, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text(SPEC.format(reset=reset, workload=workload))
    plan = check(spec).plan
    assert plan is not None
    room = room_for(plan, plan.cells[0])
    assert room.needed == times * 125_000_000 + SPARE
    assert text in room.why
