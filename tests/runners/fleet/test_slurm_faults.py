"""Faults of a real Slurm: whatever is killed, requeued, drained or run twice, each cell is measured and counts once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.runners.fleet.test_on_slurm import CELLS, ended_cells, said, spec, submitted
from tests.support.bench import PROGRAM, Bench, Started
from tests.support.slurm import Slurm, slurm
from tests.support.two_hosts import two_hosts
from tests.support.waiting import until

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Slurm]:
    with slurm(["one", "two", "three", "four"]) as fresh:
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


def measures(bench: Bench, lane: int = 1) -> None:
    until(lambda: said(bench, lane, type="step_started", step="measure"), 90)


def job_of(bench: Bench, lane: int = 1) -> str:
    return [str(each["job"]) for each in submitted(bench.run_dir) if each["lane"] == lane][-1]


def whole(bench: Bench, cluster: Slurm, run: Started) -> None:
    """Wait for the end of a run in which each cell is good, and counts once, and that has left nothing."""
    ended = run.wait(240)
    assert ended.code == 0, ended.text
    assert ended_cells(bench.run_dir) == CELLS
    until(lambda: cluster.live() == [])
    assert bench.strays() == {}


def test_a_job_that_is_run_twice_is_measured_once(bench: Bench, cluster: Slurm) -> None:
    spec(bench, measure="10 s")  # the first job is still at work when the second one looks
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        measures(bench)
        log = bench.folder / "second.log"
        second = cluster.submit("three", f"exec {PROGRAM} lane {bench.run_dir.resolve()} 1", log, bench.env)
        until(lambda: cluster.jobs()[second] == "FAILED", 60)
        assert "is being run by another process" in log.read_text()
        whole(bench, cluster, run)


def test_a_job_that_is_requeued_goes_on_where_it_was(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        measures(bench)
        cluster.asked("scontrol", "requeue", job_of(bench))
        whole(bench, cluster, run)
    assert len(submitted(bench.run_dir)) == 2, "it was Slurm that ran the job again"


def test_a_node_that_is_down_has_its_lane_run_when_it_is_back(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        measures(bench)
        cluster.kill("one")
        cluster.asked("scontrol", "update", "NodeName=one", "State=DOWN", "Reason=test")
        until(lambda: cluster.jobs()[job_of(bench)] == "PENDING", 60)
        cluster.start("one")
        cluster.asked("scontrol", "update", "NodeName=one", "State=RESUME")
        whole(bench, cluster, run)


def test_a_drained_node_has_its_lane_wait(bench: Bench, cluster: Slurm) -> None:
    cluster.asked("scontrol", "update", "NodeName=one", "State=DRAIN", "Reason=test")
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        run.until_it_says("is PENDING")
        measures(bench, 2)
        assert not said(bench, 1, type="run_started")
        cluster.asked("scontrol", "update", "NodeName=one", "State=RESUME")
        whole(bench, cluster, run)


def test_the_controller_waits_for_a_slurmctld_that_was_killed(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        measures(bench)
        cluster.kill("slurmctld")
        run.until_it_says("it is asked again")
        cluster.start("slurmctld")
        whole(bench, cluster, run)


def test_a_lane_that_is_told_of_its_time_limit_is_queued_again_for_the_rest(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 1, type="cell_ended"), 90)
        cluster.asked("scancel", "--batch", "--signal=USR1", job_of(bench))  # as it comes before the limit
        whole(bench, cluster, run)
    log = (bench.run_dir / "jobs" / "lane-1.log").read_text()
    assert "the time limit is near: the job is queued again" in log
    assert len(submitted(bench.run_dir)) == 2, "the job itself went on"


def test_a_lane_whose_jobs_do_nothing_is_given_up_with_the_reason(bench: Bench, cluster: Slurm) -> None:
    done = bench("run", "brief.bench", "--on", "slurm", "--no-report", "--job-option", "export=NIL")  # no HOME, no keys
    assert done.code == 130, done.text
    assert len(submitted(bench.run_dir)) == 6
    assert "is the last of 3 that finished no cell; it says: " in done.err
    assert cluster.live() == []


@pytest.mark.parametrize("seed", [1])
def test_random_kills_lose_no_cell_and_count_none_twice(bench: Bench, cluster: Slurm, seed: int) -> None:
    kills_at_random(bench, cluster, random.Random(seed), kills=2)  # noqa: S311  # moments, not secrets


def kills_at_random(bench: Bench, cluster: Slurm, chance: random.Random, kills: int) -> None:
    """Kill slurmctld, a slurmd, a lane or the controller, at random moments; then go on, and look at the whole."""
    words: tuple[str, ...] = ("run", "brief.bench", "--on", "slurm")
    for _ in range(kills):
        victim = chance.choice(("slurmctld", "one", "lane", "controller"))
        with bench.started(*words, "--no-report", stays=True) as run:
            until(lambda: bool(bench.run_dirs()) and (bench.run_dir / "scheduler.json").exists(), 60)
            until(lambda: bool(submitted(bench.run_dir)), 60)
            time.sleep(chance.uniform(0, 8))
            kill(bench, cluster, victim)
            run.signal(signal.SIGKILL)
            run.process.wait(60)
        words = ("resume", bench.run_dir.name)
    until(cluster.answers, 60)
    with bench.started(*words, "--no-report") as run:
        whole(bench, cluster, run)


def kill(bench: Bench, cluster: Slurm, victim: str) -> None:
    if victim in ("slurmctld", "one"):
        cluster.kill(victim)
        cluster.start(victim)
    elif victim == "lane":
        for pid in [pid for pid, line in bench.strays().items() if " lane " in line and "-c" in line]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
