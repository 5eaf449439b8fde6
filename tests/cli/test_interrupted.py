"""Tests runs that are stopped by a user or killed, and then resumed."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.specs import ONE_FOLDER
from tests.support import wrapped
from tests.support.bench import PROGRAM, Bench, Started
from tests.support.longer import longer
from tests.support.waiting import until
from tests.support.warm import Forked, warm

SPEC = ONE_FOLDER.replace("[1, 2]", "[1, 2, 3]")
FIRST, SECOND, THIRD = (f"ramp/one/fill/threads={number}/r1" for number in (1, 2, 3))


@pytest.fixture
def slow_bench(bench: Bench) -> Bench:
    """Return a bench whose second cell does not begin to measure until a file `hurry` exists."""
    tool = wrapped.db_bench(
        bench.folder / "slow", f"*--threads=2*) while [ ! -e {bench.folder}/hurry ]; do sleep 0.1; done;;"
    )
    bench.spec(SPEC, TOOL=f'db_bench("{tool}")')
    return bench


def wait_for_the_second_cell(bench: Bench, run: Started) -> None:
    run.until_it_says("[1/3]")
    until(lambda: any("--threads=2" in line for line in bench.strays().values()), 30)


def cells(bench: Bench) -> list[tuple[str, str, int]]:
    return [(cell, *verdict) for cell, verdict in bench.verdicts().items()]


def job_directories(bench: Bench) -> list[Path]:
    return [path for root in bench.tmp.iterdir() for path in root.iterdir()]


def test_ctrl_c_stops_the_tools_and_resume_runs_only_the_rest(slow_bench: Bench) -> None:
    bench = slow_bench
    with bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(bench, run)
        run.signal(signal.SIGINT)
        ended = run.wait(30)
        assert ended.code == 130, ended.text
        assert bench.strays() == {}
    assert job_directories(bench) == []
    assert f"go on with: bench resume {bench.run_dir.name}" in ended.text
    assert "PDF" not in ended.text
    assert cells(bench) == [(FIRST, "ok", 1)]

    status = bench("status")
    assert re.search(r"interrupted +1/3 cells done, 0 failed", status.out)
    assert [line.split()[0] for line in status.out.splitlines()[1:4]] == ["ok", "interrupted", "waiting"]

    (bench.folder / "hurry").touch()
    path = bench.folder / "brief.bench"
    path.write_text(path.read_text(encoding="utf-8").replace("[1, 2, 3]", "[1, 2, 4]"), encoding="utf-8")
    resumed = bench("resume")
    assert resumed.code == 0, resumed.err
    assert "warning: brief.bench changed since the run began, which goes on as it was planned" in resumed.err
    assert "retried" not in resumed.out, "what was interrupted did not fail"
    assert cells(bench) == [(FIRST, "ok", 1), (SECOND, "ok", 2), (THIRD, "ok", 1)]
    assert re.findall(r"^\[(\d/\d)\]", resumed.err, re.MULTILINE) == ["2/3", "3/3"]
    rows = bench("query", "SELECT threads, attempt, status FROM cells ORDER BY threads", "--json").json
    assert [(row["threads"], row["attempt"], row["status"]) for row in rows] == [
        (1, 1, "ok"),
        (2, 2, "ok"),
        (3, 1, "ok"),
    ]


def test_what_a_killed_controller_left_running_is_attached_to(slow_bench: Bench) -> None:
    bench = slow_bench
    with bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(bench, run)
        run.process.kill()
        run.process.wait(60)
        assert bench.strays(), "a job outlives its controller"
        assert cells(bench) == [(FIRST, "ok", 1)]
        assert re.search(r"interrupted +1/3 cells done", bench("status").out)

        with bench.started("resume") as resume:
            resume.until_it_says(f"going on with {SECOND} in its measure step: attached to what began")
            (bench.folder / "hurry").touch()
            resumed = resume.wait(30)
        assert resumed.code == 0, resumed.text
        assert bench.strays() == {}
    assert cells(bench) == [(FIRST, "ok", 1), (SECOND, "ok", 1), (THIRD, "ok", 1)]
    assert job_directories(bench) == []
    (again,) = bench.journal("cell_resumed")
    (measured,) = [job for job in bench.journal("job_collected") if (job["cell"], job["job"]) == (SECOND, "measure")]
    assert again["away_since"] < again["at"]
    assert measured["started_at"] < again["at"], "it is the one that was started before"
    notes = bench("query", "SELECT text FROM notes WHERE cell_id LIKE '%threads=2%'", "--json").json
    assert any(note["text"].startswith("the controller was away in the measure step, from ") for note in notes)


@pytest.mark.long
def test_a_resumption_whose_meter_is_missing_goes_on_with_what_runs_and_fails_what_is_not_begun(
    slow_bench: Bench,
) -> None:
    bench = slow_bench
    text = (bench.folder / "brief.bench").read_text(encoding="utf-8")
    meter = bench.folder / "meter"
    metered = text.replace("hosts = local", f'hosts = local  power = command("cat {meter}")')
    bench.spec(metered.replace("cpu every 200 ms", "power every 1 s"))
    meter.write_text("40\n")
    with bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(bench, run)
        run.process.kill()
        run.process.wait(60)
        meter.unlink()
        with bench.started("resume", "--no-report") as resume:
            resume.until_it_says(f"going on with {SECOND} in its measure step: attached to what began")
            (bench.folder / "hurry").touch()
            failed = resume.wait(60)
        assert failed.code == 3, failed.text
        assert "2 of 2 cells fail for it, unless that is mended by their turn" in failed.err
        assert cells(bench) == [(FIRST, "ok", 1), (SECOND, "ok", 1), (THIRD, "failed", 1)]
        assert f"cat: {meter}" in bench.journal("cell_ended")[-1]["reason"]
        meter.write_text("40\n")
        resumed = bench("resume", bench.run_dir.name, "--no-report")
        assert resumed.code == 0, resumed.text
        assert bench.strays() == {}
    assert cells(bench) == [(FIRST, "ok", 1), (SECOND, "ok", 1), (THIRD, "ok", 2)]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long)], ids=lambda number: number.name
)
def test_a_controller_asked_to_end_stops_its_tools(slow_bench: Bench, number: signal.Signals) -> None:
    with slow_bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(slow_bench, run)
        run.signal(number)
        if number == signal.SIGHUP:  # a terminal that is closed may send it twice
            run.until_it_says("the same again ends at once")
            run.signal(number)
        ended = run.wait(30)
        assert ended.code == 130, ended.text
        assert slow_bench.strays() == {}


@pytest.mark.long
def test_a_terminal_that_is_closed_stops_the_tools_though_nothing_can_be_said_any_more(slow_bench: Bench) -> None:
    bench = slow_bench
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", PROGRAM, "run", "brief.bench"],
        cwd=bench.folder,
        env={**bench.env, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    try:
        os.close(theirs)
        until(lambda: any("--threads=2" in line for line in bench.strays().values()), 60)
        os.close(ours)
        assert process.wait(60) == 130
        assert bench.strays() == {}
    finally:
        process.kill()
        bench.end_strays()
    assert bench.journal("run_ended")[-1]["status"] == "interrupted"
    assert cells(bench) == [(FIRST, "ok", 1)]


def test_a_run_that_goes_on_is_shown_and_not_driven_twice(slow_bench: Bench) -> None:
    bench = slow_bench
    with bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(bench, run)
        status = bench("status")
        assert re.search(r"running +1/3 cells done, 0 failed, \d+ s, about \d+ s left", status.out), status.out
        assert status.out.splitlines()[2].split()[0] == "running"
        assert status.out.splitlines()[2].split()[-1] == "measure"

        rows = bench("query", "SELECT status FROM cells ORDER BY threads", "--json").json
        assert [row["status"] for row in rows] == ["ok", "missing", "missing"]

        twice = bench("resume", bench.run_dir.name)
        assert twice.code == 2
        assert "is being run by another process" in twice.err
        assert "wait for it, or look at it with: bench status" in twice.err
        assert run.process.poll() is None


def test_a_second_ctrl_c_ends_at_once(slow_bench: Bench) -> None:
    with slow_bench.started("run", "brief.bench") as run:
        wait_for_the_second_cell(slow_bench, run)
        run.signal(signal.SIGINT)
        run.until_it_says("the same again ends at once")
        run.signal(signal.SIGINT)
        assert run.wait(15).code == 130
        assert slow_bench.strays(), "which leaves it running"
        (slow_bench.folder / "hurry").touch()
        assert slow_bench("resume").code == 0
    assert [verdict[2] for verdict in cells(slow_bench)] in ([1, 1, 1], [1, 2, 1]), "it may have been stopped by then"


@pytest.mark.long
@pytest.mark.parametrize("errors", ["who has gone", *longer("nobody", "who does not read")])
def test_a_second_ctrl_c_ends_at_once_even_when_nobody_reads_the_message(bench: Bench, errors: str) -> None:
    tool = wrapped.db_bench(bench.folder / "slow", "*--threads=1*) exec sleep 500;;")
    torn_down = SPEC.replace("reset  = reuse", 'teardown = command("sleep 600")')
    bench.spec(torn_down, TOOL=f'db_bench("{tool}")')

    def runs(what: str) -> bool:
        return any(line.startswith(what) for line in bench.strays().values())

    theirs, ours = os.pipe()
    words = ("run", "brief.bench", "--no-report")
    run: subprocess.Popen[bytes] | Forked
    if errors == "nobody":
        line = ["sh", "-c", f'exec {PROGRAM} "$@" 2>&-', "sh", *words]
        run = subprocess.Popen(line, cwd=bench.folder, env=bench.env)
    else:
        run = warm().start(words, bench.folder, bench.env, ours, ours, paper=False)
    try:
        until(lambda: runs("sleep 500"), 60)
        if errors == "who has gone":
            os.close(theirs)
        while select.select([], [ours], [], 0)[1] and errors == "who does not read":
            os.write(ours, bytes(select.PIPE_BUF))
        run.send_signal(signal.SIGINT)
        until(lambda: runs("sleep 600"), 60)
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130
    finally:
        run.kill()
        bench.end_strays()
    assert bench.journal("run_ended") == [], "the teardown was not waited for"


def test_resume_without_anything_to_go_on_with_says_so(copied_run: Bench) -> None:
    done = copied_run("resume")
    assert done.code == 2
    assert done.err.startswith("error: no run in bench-out was interrupted")
    assert copied_run.run_dir.name in done.err


def test_resume_of_a_finished_run_by_name_runs_no_cell_again(copied_run: Bench) -> None:
    before = copied_run.journal("cell_ended")
    done = copied_run("resume", copied_run.run_dir.name, "--no-report")
    assert done.code == 0
    assert copied_run.journal("cell_ended") == before
    assert copied_run.journal("run_ended")[-1]["status"] == "done"


@pytest.mark.long
def test_a_run_whose_folder_is_moved_stops_and_goes_on_from_the_new_place(slow_bench: Bench) -> None:
    bench = slow_bench
    with bench.started("run", "brief.bench", "--no-report") as run:
        wait_for_the_second_cell(bench, run)
        moved = bench.run_dir.rename(bench.folder / "elsewhere")
        (bench.folder / "hurry").touch()
        ended = run.wait(60)
    assert ended.code == 130, ended.text
    assert "was moved or removed while it ran" in ended.err
    assert f"bench resume {moved}" in ended.err
    resumed = bench("resume", moved, "--no-report")
    assert resumed.code == 0, resumed.text
    rows = bench("query", "--run", moved, "--json", "SELECT threads FROM measure.throughput ORDER BY 1").json
    assert {row["threads"] for row in rows} == {1, 2, 3}
    assert bench("rebuild", moved).code == 0
