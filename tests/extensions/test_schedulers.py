"""Tests that another package's scheduler runs the lanes of a run: `examples/extensions/queue`, with one place for two
hosts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.installed import bench as forked
from tests.support.bench import Bench, records_of
from tests.support.environment import Environment
from tests.support.slurm_runs import CELLS, SPEC, ended_cells, said, spec, submitted
from tests.support.two_hosts import two_hosts
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def bench(tmp_path: Path, installed: Environment) -> Iterator[Bench]:
    with two_hosts(tmp_path) as fresh:
        fresh.env.update(BENCH_QUEUE=str(tmp_path / "queue"), PROGRAM=str(installed.bin / "bench"))
        spec(fresh)
        yield fresh


def called(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the `bench` that is installed beside the package, by forking. Each lane is a process of the installed
    program."""
    return forked(Environment(Path(bench.env["PROGRAM"]).parents[1]), bench.folder, *words, env=bench.env)


@contextmanager
def started(bench: Bench, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a running `bench`. The processes that it has started remain after the block."""
    process = subprocess.Popen(
        [bench.env["PROGRAM"], *words], cwd=bench.folder, env=bench.env, stderr=subprocess.DEVNULL
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def lanes(bench: Bench) -> list[tuple[float, float]]:
    """Return when each lane began and ended."""
    journals = bench.folder.glob("bench-out/*/lanes/*/journal.jsonl")
    found: list[list[dict[str, Any]]] = [records_of(path.parent) for path in journals]
    return sorted((records[0]["at"], records[-1]["at"]) for records in found)


@pytest.mark.long
def test_lanes_wait_for_a_place_and_make_one_run(bench: Bench) -> None:
    spec(bench, text=SPEC + "scheduler queue { places = 1 }\n")
    planned = called(bench, "plan", "brief.bench", "--on", "queue", "--json")
    assert planned.returncode == 0, planned.stderr
    assert json.dumps(json.loads(planned.stdout)["jobs"]).count("one of 1 places") == 2
    done = called(bench, "run", "brief.bench", "--on", "queue", "--no-report", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ended_cells(bench.run_dir) == CELLS
    (_, first_ended), (second_began, _) = lanes(bench)
    assert first_ended < second_began
    assert bench.strays() == {}


@pytest.mark.long
def test_a_killed_controller_leaves_jobs_that_another_one_takes_over(bench: Bench) -> None:
    spec(bench, measure="6 s", text=SPEC + "scheduler queue { places = 2 }\n")
    with started(bench, "run", "brief.bench", "--on", "queue") as run:
        until(lambda: said(bench, 1, type="step_started", step="measure"), 90)
        run.kill()
    assert json.loads(called(bench, "status", "--json").stdout)["status"] == "running"
    resumed = called(bench, "resume", bench.run_dir.name, "--no-report", "--json")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert len(submitted(bench.run_dir)) == 2, "no job was submitted again"
    assert ended_cells(bench.run_dir) == CELLS
    assert called(bench, "watch", bench.run_dir.name).returncode == 0
    assert bench.strays() == {}


@pytest.mark.long
def test_a_run_that_is_stopped_leaves_nothing_and_goes_on_later(bench: Bench) -> None:
    """There is one place, so one job measures while the other waits."""
    spec(bench, measure="6 s", text=SPEC + "scheduler queue { places = 1 }\n")
    with started(bench, "run", "brief.bench", "--on", "queue") as run:
        until(lambda: any(said(bench, lane, type="step_started", step="measure") for lane in (1, 2)), 90)
        stopped = called(bench, "stop", bench.run_dir.name)
        assert stopped.returncode == 0, stopped.stdout + stopped.stderr
        assert run.wait(60) == 130
    assert bench.strays() == {}
    assert json.loads(called(bench, "status", "--json").stdout)["status"] == "interrupted"
    resumed = called(bench, "resume", bench.run_dir.name, "--no-report")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert ended_cells(bench.run_dir) == CELLS
    assert bench.strays() == {}


def test_what_the_queue_cannot_do_is_refused_before_anything_begins(bench: Bench) -> None:
    for options, message in (
        (("--job-option", "colour=red"), "the queue has no option `colour`"),
        (("--job-option", "places=none"), "`none` is no number of places"),
    ):
        refused = called(bench, "run", "brief.bench", "--on", "queue", *options)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        assert message in refused.stderr
    assert bench.run_dirs() == []
    spec(bench, text=SPEC.replace('hosts = "one"', 'hosts = queue("fast", 1)'))
    assert called(bench, "check", "brief.bench").returncode == 1
