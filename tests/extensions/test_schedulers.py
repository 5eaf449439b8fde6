"""A scheduler of another package takes the lanes of a run: `examples/extensions/queue`, one place for two hosts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bench import Bench, records_of
from tests.support.environment import Environment
from tests.support.slurm_runs import CELLS, SPEC, ended_cells, spec
from tests.support.two_hosts import two_hosts

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def bench(tmp_path: Path, installed: Environment) -> Iterator[Bench]:
    with two_hosts(tmp_path) as fresh:
        fresh.env.update(BENCH_QUEUE=str(tmp_path / "queue"), PROGRAM=str(installed.bin / "bench"))
        spec(fresh)
        yield fresh


def called(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    """`bench` as it is installed beside the package. Each lane is such a process, too."""
    command = [bench.env["PROGRAM"], *words]
    return subprocess.run(command, cwd=bench.folder, env=bench.env, capture_output=True, text=True, check=False)


def lanes(bench: Bench) -> list[tuple[float, float]]:
    """When each lane began and ended."""
    journals = bench.folder.glob("bench-out/*/lanes/*/journal.jsonl")
    found: list[list[dict[str, Any]]] = [records_of(path.parent) for path in journals]
    return sorted((records[0]["at"], records[-1]["at"]) for records in found)


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


def test_what_the_queue_cannot_do_is_refused_before_anything_begins(bench: Bench) -> None:
    for options, said in (
        (("--job-option", "colour=red"), "the queue has no option `colour`"),
        (("--job-option", "places=none"), "`none` is no number of places"),
    ):
        refused = called(bench, "run", "brief.bench", "--on", "queue", *options)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        assert said in refused.stderr
    assert bench.run_dirs() == []
    spec(bench, text=SPEC.replace('hosts = "one"', 'hosts = queue("fast", 1)'))
    assert called(bench, "check", "brief.bench").returncode == 1
