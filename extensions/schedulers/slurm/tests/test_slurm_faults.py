"""Tests faults of a real Slurm: even if something is killed, requeued, drained or run twice, each cell is measured and
counts once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.bench import PROGRAM, Bench, Started, records_of
from tests.support.slurm import Slurm
from tests.support.slurm_runs import CELLS, ROLES, ended_cells, nodes_of, said, spec, submitted
from tests.support.waiting import until

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.fixture
def bench(slurm_bench: Bench) -> Bench:
    return slurm_bench


def measures(bench: Bench, lane: int = 1) -> None:
    until(lambda: said(bench, lane, type="step_started", step="measure"), 180)


def job_of(bench: Bench, lane: int = 1) -> str:
    return [str(each["job"]) for each in submitted(bench.run_dir) if each["lane"] == lane][-1]


def whole(bench: Bench, cluster: Slurm, run: Started, within: Collection[str] = ()) -> None:
    """Wait for the end of a run. Check that each cell is good and counts once, and that nothing is left behind."""
    ended = run.wait(240)
    assert ended.code == 0, ended.text
    assert ended_cells(bench.run_dir) == CELLS
    until(lambda: set(cluster.live()) <= set(within))
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


def test_a_lane_that_nears_its_time_limit_is_queued_again_for_the_rest(bench: Bench, cluster: Slurm) -> None:
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


def test_a_job_that_gives_way_to_a_more_urgent_one_goes_on_elsewhere_and_the_brief_says_so(
    bench: Bench, cluster: Slurm
) -> None:
    spec(bench, measure="5 s", text=ROLES.replace('"Brief" {', '"Brief" { disclosure = automatic '))
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 1, type="cell_ended"), 90)
        (node,) = nodes_of(bench, lane=1)[0].values()
        env = {"PATH": "/usr/bin:/bin", **cluster.env}
        urgent = cluster.submit(node, "sleep 45", bench.folder / "urgent.log", env, partition="urgent")
        until(lambda: cluster.jobs().get(urgent) == "RUNNING", 90)
        until(lambda: len(nodes_of(bench, lane=1)) == 2, 90)
        whole(bench, cluster, run, within={urgent})
    cluster.asked("scancel", urgent)
    first, then = (each["one-1.slurm"] for each in nodes_of(bench, lane=1))
    assert (first, then) == (node, then)
    assert then != node
    text = f"one cell was measured on other nodes than those after it: one-1.slurm was {node}, and is {then}"
    assert text in " ".join(bench.page().split())
    asked = bench("query", "SELECT DISTINCT value FROM properties WHERE source = 'one-1.slurm'", "--json")
    assert {row["value"] for row in asked.json} >= {first, then}


def test_a_lane_whose_node_dies_is_run_again_on_another_one(bench: Bench, cluster: Slurm) -> None:
    spec(bench, measure="5 s", text=ROLES)
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        measures(bench)
        (node,) = nodes_of(bench, lane=1)[0].values()
        cluster.kill(node)
        job = f"/spool-{node}/"
        for pid, line in bench.strays().items():  # what runs on the host over SSH stays, and has to be found there
            if job in line or line.endswith(f"{bench.run_dir.resolve()} 1 --quiet"):
                os.kill(pid, signal.SIGKILL)
        cluster.asked("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        try:
            until(lambda: len(nodes_of(bench, lane=1)) == 2, 120)
            whole(bench, cluster, run)
        finally:
            cluster.start(node)
            cluster.asked("scontrol", "update", f"NodeName={node}", "State=RESUME")
    assert len({each["one-1.slurm"] for each in nodes_of(bench, lane=1)}) == 2


def test_jobs_that_end_while_slurmctld_is_down_are_not_run_again(bench: Bench, cluster: Slurm) -> None:
    with bench.started("run", "brief.bench", "--on", "slurm", "--no-report") as run:
        until(lambda: said(bench, 1, type="cell_ended") and said(bench, 2, type="cell_ended"), 90)
        cluster.kill("slurmctld")
        until(lambda: said(bench, 1, type="run_ended") and said(bench, 2, type="run_ended"), 90)
        cluster.start("slurmctld")
        whole(bench, cluster, run)
    started = [each["cell"] for each in records_of(bench.run_dir) if each["type"] == "cell_started"]
    assert sorted(started) == CELLS


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_ten_kills_at_random_lose_no_cell_and_count_none_twice(bench: Bench, cluster: Slurm, seed: int) -> None:
    print(f"seed {seed}")
    Kills(bench, cluster, random.Random(seed)).survive(10)  # noqa: S311  # moments, not secrets


class Kills:
    """Kills slurmctld, a slurmd, a lane or the controller at random moments of runs, which must nevertheless be
    complete."""

    def __init__(self, bench: Bench, cluster: Slurm, chance: random.Random) -> None:
        self.bench, self.cluster, self.chance = bench, cluster, chance
        self.runs = 0
        self.done: list[str] = []

    def survive(self, kills: int) -> None:
        spec(self.bench, measure="3 s", text=ROLES)
        while len(self.done) < kills:
            self.one_run(kills)
        print(f"{len(self.done)} kills in {self.runs} runs: {', '.join(self.done)}")

    def one_run(self, kills: int) -> None:
        """Make a run from beginning to end, with as many controllers as this takes."""
        words: tuple[str, ...] = ("run", "brief.bench", "--on", "slurm")
        ended = False
        while not ended:
            until(self.cluster.answers, 90)
            with self.bench.started(*words, "--no-report", stays=True) as run:
                self.kill_during(run, kills)
                until(lambda: self.over(run), 300)
                code = run.wait().code
            assert code in (0, 130, -signal.SIGKILL), run.wait().text
            ended = code == 0
            words = ("resume", self.bench.run_dir.name) if self.bench.run_dirs() else words
        assert ended_cells(self.bench.run_dir) == CELLS
        until(lambda: self.cluster.live() == [], 60)
        until(lambda: self.bench.strays() == {}, 60)
        left = self.bench("stop", "--strays", str(self.sweep()), "--json")
        assert left.json == {"ended": [], "not_cleaned": []}, left.text
        self.runs += 1
        (self.bench.folder / "bench-out").rename(self.bench.folder / f"run-{self.runs}")

    def over(self, run: Started) -> bool:
        self.cluster.undrain()
        return run.process.poll() is not None

    def kill_during(self, run: Started, kills: int) -> None:
        while len(self.done) < kills and run.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                run.process.wait(self.chance.uniform(0.2, 6))
            self.cluster.undrain()
            if (
                run.process.poll() is None
                and self.bench.run_dirs()
                and (self.bench.run_dir / "scheduler.json").exists()
            ):
                self.kill(run)

    def kill(self, run: Started) -> None:
        victim = self.chance.choice(("slurmctld", "slurmd", "lane", "controller"))
        if victim == "controller":
            run.signal(signal.SIGKILL)
        elif victim == "lane":
            lanes = [pid for pid, line in self.bench.strays().items() if " lane " in line and "-c" in line]
            if not lanes:
                return
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(sorted(lanes)), signal.SIGKILL)
        else:
            name = self.chance.choice(sorted(self.cluster.nodes)) if victim == "slurmd" else victim
            self.cluster.kill(name)
            time.sleep(self.chance.uniform(0, 3))
            self.cluster.start(name)
        self.done.append(victim)

    def sweep(self) -> Path:
        """Return a spec that names all nodes, so that they can be searched for remains."""
        nodes = "\n".join(
            f'hardware {name} {{ hosts = "{name}"  path = "@DATA@/{name}" }}' for name in self.cluster.nodes
        )
        rest = ROLES[ROLES.index("database") :].replace("[one, two]", f"[{', '.join(self.cluster.nodes)}]")
        return self.bench.spec(f"{nodes}\n{rest}", name="sweep.bench", MEASURE="1 s")
