"""Tests the controller of a run with a scheduler that is just a list of jobs. This allows situations that a real
scheduler can't produce on demand."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from benchbrief.compiler.planning.plan_lanes import PlanLane
from benchbrief.extensions.schedulers.slurm import slurm_scheduler
from benchbrief.extensions.schedulers.slurm.slurm_commands import ask
from benchbrief.extensions.schedulers.slurm.slurm_request import request_of
from benchbrief.model.plan import Asked
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.fleet import drive_lanes
from benchbrief.runners.fleet.drive_lanes import LaneDriver
from benchbrief.runners.fleet.lane_folder import usual_folder, write_lane_plans
from benchbrief.runners.fleet.scheduler import (
    Given,
    LaneJob,
    LaneNeeds,
    NodePool,
    PlannedJob,
    ScheduledJob,
    SchedulerRefused,
)
from benchbrief.runners.fleet.submitted_run import SubmittedRun, keep_submitted, name_of_jobs
from benchbrief.runners.jobs.commands import read_script, with_values
from benchbrief.runners.journal.journal_file import read_run
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.runners.stop_run import stop_any_run
from tests.support.bench import Bench, fresh_bench
from tests.support.waiting import until

SPEC = """\
hardware a { hosts = "a" }
hardware b { hosts = "b" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 10k }
experiment e { hardware = [a, b]  workloads = rr  threads = [1, 2]  measure = 1 min }
report brief "Brief" { table "T" { rows = hardware  columns = throughput by threads } }
"""


@dataclass
class Listed:
    """A scheduler with the jobs that a test sets."""

    found: list[ScheduledJob] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    def submit(self, job: LaneJob) -> str:
        self.found.append(ScheduledJob(str(len(self.found) + 1), job.needs.lane.number, "waiting", "PENDING"))
        return self.found[-1].id

    def jobs(self, _name: str) -> list[ScheduledJob]:
        return list(self.found)

    def cancel(self, name: str) -> None:
        self.cancelled.append(name)

    def release(self, job: str) -> None:
        raise AssertionError(job)

    def survey(self, needs: Sequence[LaneNeeds]) -> tuple[list[PlannedJob], list[NodePool]]:
        raise AssertionError(needs)

    def given(self, asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
        raise AssertionError(asked, before, named)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        fresh.spec(SPEC)
        ended = fresh("plan", "brief.bench", "--into", "fleet", "--simulate")
        assert ended.code == 0, ended.text
        yield fresh


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Listed:
    scheduler = Listed()
    monkeypatch.setattr(drive_lanes, "scheduler_named", lambda _: scheduler)
    return scheduler


def driver(run_dir: Path, said: list[str]) -> LaneDriver:
    plan = load_plan(run_dir)
    write_lane_plans(run_dir, plan)
    keep_submitted(run_dir, SubmittedRun(scheduler="slurm"))
    return LaneDriver(run_dir, plan, said.append)


def test_each_reason_why_a_job_waits_is_reported_once(bench: Bench, listed: Listed) -> None:
    said: list[str] = []
    drives = driver(bench.folder / "fleet", said)
    drives.look()
    for described in (
        "PENDING",
        "PENDING (Priority)",
        "PENDING (Priority)",
        "PENDING (ReqNodeNotAvail)",
        "PENDING (Priority)",
    ):
        listed.found[0] = replace(listed.found[0], described=described)
        drives._ask()
    first = [text for text in said if text.startswith("lane 1: ")]
    assert first == [
        f"lane 1: job 1 is {described}" for described in ("PENDING", "PENDING (Priority)", "PENDING (ReqNodeNotAvail)")
    ]


def test_a_job_that_leaves_no_output_makes_one_look_at_what_its_node_sees(bench: Bench, listed: Listed) -> None:
    said: list[str] = []
    drives = driver(bench.folder / "fleet", said)
    for _ in range(4):  # three jobs of each lane, and the look at the last
        drives._asked_at = float("-inf")
        drives.look()
        listed.found = [replace(job, state="ended", described="FAILED", node="db-7") for job in listed.found]
    assert f"does db-7 see {bench.folder / 'fleet'}, and has it space?" in drives.given_up[1]
    assert len(listed.found) == 6


def test_the_journal_of_a_lane_that_is_whole_is_not_read_again(
    bench: Bench, listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = bench.folder / "fleet"
    ended = bench("lane", "fleet", "1")
    assert ended.code == 0, ended.text
    drives = driver(run_dir, [])
    read: list[Path] = []

    def counted(folder: Path) -> RunRecord:
        read.append(folder)
        return read_run(folder)

    monkeypatch.setattr(drive_lanes, "read_run", counted)
    for _ in range(5):
        drives._asked_at = float("-inf")
        drives.look()
    assert [job.lane for job in listed.found] == [2]
    assert read.count(usual_folder(run_dir, 1)) == 1


def test_a_copy_of_a_run_neither_finds_nor_cancels_the_jobs_of_its_original(bench: Bench, listed: Listed) -> None:
    run_dir, copy = bench.folder / "fleet", bench.folder / "copy"
    drives = driver(run_dir, [])
    shutil.copytree(run_dir, copy)
    name = name_of_jobs(run_dir)
    assert name_of_jobs(copy) not in (name, "")
    assert stop_any_run(copy, print).copied_from == str(run_dir)
    driver(copy, []).cancel()
    drives.cancel()
    mine, its = listed.cancelled
    assert its == name
    assert mine not in (name, "bench-")


def test_a_run_that_was_moved_goes_on_with_its_lanes(bench: Bench) -> None:
    assert bench("lane", "fleet", "1").code == 0
    (bench.folder / "fleet").rename(bench.folder / "moved")
    again = bench("lane", "moved", "1", "--json")
    assert again.code == 0, again.text
    assert "done before" in again.json["message"]
    assert bench("lane", "moved", "2").code == 0
    assert bench("merge", "moved", "--no-report").code == 0
    assert sorted(path.name for path in (bench.folder / "moved/lanes").iterdir()) == ["fleet-lane-1", "fleet-lane-2"]


@pytest.mark.parametrize(
    ("option", "named"), [("-Q", "quiet"), ("clusters=far", "clusters"), ("M=far", "clusters"), ("e=/tmp/x", "error")]
)
def test_an_option_that_hides_a_job_or_its_output_is_refused(option: str, named: str) -> None:
    with pytest.raises(SchedulerRefused, match=f"the option `{named}` can't be given to jobs"):
        request_of(LaneNeeds(PlanLane(1, ()), (), {}, (option,)))


def test_a_users_usual_options_reach_slurm_only_where_they_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SBATCH_ACCOUNT", "SBATCH_CLUSTERS", "SBATCH_ERROR", "SLURM_CLUSTERS", "SQUEUE_PARTITION"):
        monkeypatch.setenv(name, "x")
    names = {line.partition("=")[0] for line in ask("env").splitlines()}
    assert {name for name in names if name.startswith(("SBATCH_", "SLURM_CLUSTERS", "SQUEUE_"))} == {
        "SBATCH_ACCOUNT",
        "SLURM_CLUSTERS",
    }


@pytest.mark.parametrize(("status", "says"), [("ok", "is queued again"), ("failed", "error: no cell ended well")])
def test_a_job_whose_cells_only_failed_in_its_time_is_not_queued_again(tmp_path: Path, status: str, says: str) -> None:
    """If it were, cells that fail in each job would be queued for ever."""
    journal, began = tmp_path / "journal.jsonl", tmp_path / "began"
    journal.touch()
    program = tmp_path / "python"
    line = f'{{"at":1.0,"type":"cell_ended","cell":"c","hash":"h","attempt":1,"status":"{status}"}}'
    steps = (
        "#!/bin/sh",
        f'echo "$@" >{tmp_path}/given',
        "trap 'exit 130' TERM",
        f"echo '{line}' >>{journal}",
        f": >{began}",
        "while :; do sleep 0.05; done",
    )
    program.write_text("\n".join(steps))
    (tmp_path / "scontrol").write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\nexit 1\n')
    for each in (program, tmp_path / "scontrol"):
        each.chmod(0o755)
    text = with_values(
        read_script(slurm_scheduler.__file__, "lane_job.sh"),
        python=str(program),
        run="run",
        lane="1",
        journal=str(journal),
        wait="",
    )
    again = {"SLURM_RESTART_COUNT": "1"} if status == "ok" else {}
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7", **again}
    with subprocess.Popen(["/bin/sh", "-c", text], env=env, stdout=subprocess.PIPE, text=True) as job:
        until(began.exists)
        job.send_signal(signal.SIGUSR1)
        said, _ = job.communicate(timeout=60)
    assert says in said
    assert job.returncode == 130
    assert (tmp_path / "asked").exists() == (status == "ok")
    assert ("--requeued" in (tmp_path / "given").read_text().split()) == bool(again), "it waits for the job before it"
