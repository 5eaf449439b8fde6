"""Lanes as jobs of a real Slurm on the loopback, whose nodes are two real hosts: the run that one controller makes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.bench import Bench, records_of
from tests.support.slurm import Slurm, slurm
from tests.support.two_hosts import two_hosts
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(240)
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
"""What two runs of one plan have in common, by table: all but times, what is measured, and how often it was tried."""


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Slurm]:
    with slurm({"one": "nvme", "two": "nvme", "three": "load", "four": ""}) as fresh:
        yield fresh


@pytest.fixture
def cluster(shared_cluster: Slurm) -> Slurm:
    shared_cluster.until_idle()
    return shared_cluster


@pytest.fixture
def bench(tmp_path: Path, cluster: Slurm) -> Iterator[Bench]:
    with two_hosts(tmp_path) as fresh:
        fresh.env.update(cluster.env)
        spec(fresh)
        yield fresh


def spec(bench: Bench, measure: str = "1 s") -> None:
    bench.spec(SPEC, MEASURE=measure)


def said(bench: Bench, number: int, **wanted: object) -> bool:
    """Whether the journal of a lane has a record with these fields."""
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
    return sorted(map(repr, pq.read_table(path, columns=names).to_pylist()))


def test_a_run_on_slurm_has_the_store_of_one_without(bench: Bench, cluster: Slurm) -> None:
    done = bench("run", "brief.bench", "--on", "slurm", "--json")
    assert done.code == 0, done.text
    assert done.json["cells"]["ok"] == len(CELLS)
    assert done.json["reports"]
    jobs = submitted(bench.run_dir)
    assert sorted(job["lane"] for job in jobs) == [1, 2]
    assert {cluster.jobs()[job["job"]] for job in jobs} == {"COMPLETED"}
    assert ended_cells(bench.run_dir) == CELLS
    alone = bench("run", "brief.bench", "--fresh", "--no-report", "--out", "alone")
    assert alone.code == 0, alone.text
    (single,) = (path.parent for path in (bench.folder / "alone").glob("*/plan.json"))
    for table in SAME:
        assert rows(single, table) == rows(bench.run_dir, table), table
    assert bench.strays() == {}


def test_a_killed_controller_leaves_jobs_that_another_one_takes_over(bench: Bench) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", stays=True) as run:
        until(lambda: said(bench, 1, type="step_started", step="measure"), 60)
        run.signal(signal.SIGKILL)
        run.process.wait(60)
    shown = bench("status", "--json")
    assert shown.json["status"] == "running", shown.text
    assert len(shown.json["cells"]) == len(CELLS)
    beside = bench("resume", bench.run_dir.name, "--json")
    assert beside.code == 0, beside.text
    assert beside.json["cells"]["ok"] == len(CELLS)
    assert len(submitted(bench.run_dir)) == 2
    assert ended_cells(bench.run_dir) == CELLS
    assert bench("watch", bench.run_dir.name).code == 0


def test_results_are_whole_without_a_controller(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", stays=True) as run:
        until(lambda: len(cluster.live()) == 2, 60)
        run.signal(signal.SIGKILL)
        run.process.wait(60)
    watched = bench("watch", bench.run_dir.name)
    assert watched.code == 130
    assert f"go on with: bench resume {bench.run_dir.name}" in watched.err
    merged = bench("merge", bench.run_dir.name, "--no-report", "--json")
    assert merged.code == 0, merged.text
    assert merged.json["cells"]["ok"] == len(CELLS)
    assert bench("watch", bench.run_dir.name).code == 0


def test_a_run_that_is_stopped_leaves_nothing_and_goes_on_later(bench: Bench, cluster: Slurm) -> None:
    spec(bench, "20 s")
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 1, type="step_started", step="measure"), 60)
        stopped = bench("stop", bench.run_dir.name)
        assert stopped.code == 0, stopped.text
        ended = run.wait()
    assert ended.code == 130, ended.text
    assert f"go on with: bench resume {bench.run_dir.name}" in ended.out
    assert cluster.live() == []
    assert bench.strays() == {}
    assert bench("status", "--json").json["status"] == "interrupted"


@pytest.mark.long
def test_a_controller_that_is_asked_to_end_cancels_the_jobs(bench: Bench, cluster: Slurm) -> None:
    spec(bench, "20 s")
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 2, type="step_started", step="measure"), 60)
        run.signal(signal.SIGTERM)
        ended = run.wait()
    assert ended.code == 130, ended.text
    assert cluster.live() == []
    assert bench.strays() == {}


@pytest.mark.long
def test_a_lane_that_is_cancelled_is_not_submitted_again_until_the_run_goes_on(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 2, type="step_started", step="measure"), 60)
        (job,) = [each["job"] for each in submitted(bench.run_dir) if each["lane"] == 2]
        cluster.asked("scancel", job)
        ended = run.wait()
    assert ended.code == 130, ended.text
    assert f"job {job} (CANCELLED) was cancelled" in ended.text
    assert len(ended_cells(bench.run_dir)) in (2, 3)
    resumed = bench("resume", bench.run_dir.name, "--no-report", "--json")
    assert resumed.code == 0, resumed.text
    assert ended_cells(bench.run_dir) == CELLS
    assert bench.strays() == {}


def refused(bench: Bench, *words: str) -> str:
    ended = bench("run", "brief.bench", *words)
    assert ended.code == 2, ended.text
    assert "  help: " in ended.err or words[0] == "--job-option=x"
    assert bench.run_dirs() == []
    return ended.err


def test_what_slurm_cannot_do_is_refused_before_anything_begins(bench: Bench) -> None:
    assert "`sbatch` says:" in refused(bench, "--on", "slurm", "--job-option", "partition=nowhere")
    assert "say --on too" in refused(bench, "--job-option=x")
    bench.spec(SPEC.replace('hosts = "two"', 'hosts = "twelve"'), MEASURE="1 s")
    assert "Slurm has no node for these hosts of the spec: twelve" in refused(bench, "--on", "slurm")
    bench.spec(SPEC.replace('hosts = "two"', "hosts = local"), MEASURE="1 s")
    assert "which is wherever a job of Slurm happens to run" in refused(bench, "--on", "slurm")
    bench.spec(SPEC, MEASURE="1 s")
    bench.env["SLURM_CONF"] = os.devnull
    assert "lurm" in refused(bench, "--on", "slurm")
