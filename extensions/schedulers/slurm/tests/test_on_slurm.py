"""Tests that a run is the same whether its lanes are Slurm jobs or one controller drives them. Uses a real Slurm on the
loopback, with four real hosts as nodes."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from benchbrief.extensions.schedulers.slurm.slurm_commands import ask
from benchbrief.runners.fleet.scheduler import SchedulerSilent
from tests.support.bench import Bench
from tests.support.slurm import Slurm
from tests.support.slurm_runs import CELLS, SAME, SPEC, ended_cells, rows, said, spec, submitted
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def bench(slurm_bench: Bench) -> Bench:
    return slurm_bench


def test_a_run_on_slurm_has_the_store_of_one_without(bench: Bench, cluster: Slurm) -> None:
    bench.env["SQUEUE_PARTITION"] = "short"  # a user's usual option, which would hide the jobs
    done = bench("run", "brief.bench", "--on", "slurm", "--json")
    assert done.code == 0, done.text
    assert done.json["cells"]["ok"] == len(CELLS)
    assert done.json["reports"]
    watched = bench("watch", bench.run_dir.name)
    assert f"run {bench.run_dir.name}: done, {len(CELLS)} cells" in watched.out
    (estimated,) = bench.journal("time_estimated")
    assert estimated["rendering_s"] > 0, "no lane renders the brief, and the run does"
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
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
    assert "Slurm has no partition `nowhere`" in refused(bench, "--on", "slurm", "--job-option", "partition=nowhere")
    assert "`sbatch` says:" in refused(bench, "--on", "slurm", "--job-option", "begin=never")
    assert "unrecognized option '--acount=lab'" in refused(bench, "--on", "slurm", "--job-option", "acount=lab")
    assert "the option `wrap` can't be given to jobs" in refused(bench, "--on", "slurm", "--job-option", "wrap=ls")
    assert "the option `nodelist`" in refused(bench, "--on", "slurm", "--job-option", "w=three")
    text = refused(bench, "--on", "slurm", "--job-option", "time=5", "--job-option", "signal=B:USR1@299")
    assert "error: all 2 lanes: its time limit is 5 min, of which 4 min 59 s are kept to stop" in text
    assert "say --on too" in refused(bench, "--job-option=x")
    bench.spec(SPEC.replace('hosts = "two"', 'hosts = "twelve"'), MEASURE="1 s")
    assert "partition `bench` has no node for these hosts of the spec: twelve" in refused(bench, "--on", "slurm")
    bench.spec(SPEC.replace('hosts = "two"', "hosts = local"), MEASURE="1 s")
    assert "which is wherever a job of Slurm happens to run" in refused(bench, "--on", "slurm")
    bench.spec(SPEC, MEASURE="1 s")
    bench.env["SLURM_CONF"] = os.devnull
    assert "lurm" in refused(bench, "--on", "slurm")


@pytest.mark.parametrize("sign", ["%", "\\"])
def test_a_folder_whose_name_slurm_would_read_otherwise_is_refused(bench: Bench, cluster: Slurm, sign: str) -> None:
    before = cluster.jobs()
    ended = bench("run", "brief.bench", "--on", "slurm", "--out", f"50{sign}j")
    assert ended.code == 2, ended.text
    assert re.search(
        rf"Slurm can't write a log to \S+50{re.escape(sign)}j\S+: `{re.escape(sign)}` has a meaning", ended.err
    )
    assert "keep the run in a folder without it: bench run --out FOLDER" in ended.err
    assert cluster.jobs() == before


@contextmanager
def resetting() -> Iterator[int]:
    """Yield a port that resets each connection once data have been sent, as if slurmctld were killed during a
    request."""

    def reset() -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                asking, _ = listener.accept()
                with asking, suppress(OSError):  # it may be gone already
                    asking.recv(1)
                    asking.sendall(struct.pack("!I", 1000))  # an answer of so many bytes begins
                    asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=reset, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_a_slurmctld_that_dies_while_it_is_asked_does_not_answer_and_refuses_nothing(
    cluster: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with resetting() as port:
        conf = (cluster.folder / "slurm.conf").read_text()
        (tmp_path / "slurm.conf").write_text(re.sub(r"(?m)^SlurmctldPort=.*$", f"SlurmctldPort={port}", conf))
        monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
        with pytest.raises(SchedulerSilent, match=r"`squeue` says: .*(Connection reset by peer|Zero Bytes)"):
            ask("squeue", "--noheader")


@pytest.mark.parametrize("what", ["Connection reset by peer", "Broken pipe", "Unable to contact slurm controller"])
def test_what_slurm_says_without_an_answer_is_no_refusal(what: str, tmp_path: Path) -> None:
    program = tmp_path / "squeue"
    program.write_text(f"#!/bin/sh\necho 'slurm_load_jobs error: {what}' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SchedulerSilent, match=what):
        ask(str(program))
