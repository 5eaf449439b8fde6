"""A run on a cluster of four nodes: its spec, and what its folder says about jobs and cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.support.bench import Bench, records_of

NODES = {"one": "nvme", "two": "nvme", "three": "nvme,load", "four": "load"}
"""The nodes, each with its features."""
SPEC = """\
hardware one { hosts = "one"  path = "@DATA@/one" }
hardware two { hosts = "two"  path = "@DATA@/two" }
database rocks { engine = rocksdb  tool = @TOOL@  path = "{path}"  reset = drop_and_load }
workload rr from db_bench.readrandom { records = 2k  value_size = 100 B }
experiment e {
  hardware = [one, two]  workloads = rr  threads = [1, 2]  warm_up = 0 s  measure = @MEASURE@  probes = [cpu every 1 s]
}
report brief "Brief" { table "T" { rows = hardware  columns = throughput by threads } }
"""
CELLS = [f"e/{hardware}/rr/threads={threads}/r1" for hardware in ("one", "two") for threads in (1, 2)]
SAME = {
    "cells": ["cell_id", "cell_hash", "status", "threads"],
    "operations": ["cell_id", "operation", "kind", "errors"],
    "facts": ["subject", "name"],
    "properties": ["cell_id", "name"],
    "coverage": ["cell_id", "probe", "node"],
    "files": ["cell_id", "path"],
}
"""The columns that are equal in two runs of one plan, by table. These are all columns except times, measured values,
and numbers of tries."""


ROLES = (
    SPEC.replace('hosts = "one"', 'hosts = slurm("nvme", 1)').replace('hosts = "two"', 'hosts = slurm("nvme", 1)')
    + 'scheduler slurm { partition = "bench" }\n'
)
"""The same spec for any nodes that have the feature `nvme`."""


def spec(bench: Bench, measure: str = "1 s", text: str = SPEC) -> None:
    bench.spec(text, MEASURE=measure)


def said(bench: Bench, number: int, **wanted: object) -> bool:
    """Return whether the journal of a lane has a record with these fields."""
    return any(
        wanted.items() <= record.items()
        for path in bench.folder.glob(f"bench-out/*/lanes/*-lane-{number}/journal.jsonl")
        for record in records_of(path.parent)
    )


def ended_cells(run_dir: Path) -> list[str]:
    return sorted(
        each["cell"] for each in records_of(run_dir) if each["type"] == "cell_ended" and each["status"] == "ok"
    )


def submitted(run_dir: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run_dir / "scheduler.json").read_text())["jobs"]
    return found


def rows(run_dir: Path, table: str) -> list[str]:
    path = run_dir / "store" / f"{table}.parquet"
    names = [name for name in SAME[table] if name in pq.read_schema(path).names]
    assert names
    found = pq.read_table(path, columns=names).to_pylist()
    if table == "files":  # of how many attempts, depends on when a lane was killed
        return sorted({re.sub(r"/\d+/", "/ATTEMPT/", repr(row)) for row in found})
    return sorted(map(repr, found))


def nodes_of(bench: Bench, *, lane: int) -> list[dict[str, str]]:
    """Return the nodes of each job of a lane, in order of time."""
    return [
        record["nodes"]
        for path in bench.folder.glob(f"bench-out/*/lanes/*-lane-{lane}/journal.jsonl")
        for record in records_of(path.parent)
        if record["type"] == "hosts_given"
    ]
