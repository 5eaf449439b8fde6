"""Tests detached jobs, on every transport."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model.plan import Host
from benchbrief.runners.errors import DiskFull, HostError, HostFull, RunnerError
from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.jobs import detached_jobs
from benchbrief.runners.jobs.detached_jobs import job_span
from benchbrief.runners.jobs.tasks import Command, Completed, Job, JobFile, JobOutput
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import RunningJob, Transport
from tests.runners.transports.conftest import LOCAL_FIRST
from tests.support.longer import one_in
from tests.support.sshd import sshd
from tests.support.waiting import until


def job(line: str, **more: object) -> Job:
    return Job(name="test", command=Command(("sh", "-c", line)), timeout_s=30, **more)  # type: ignore[arg-type]  # named fields of Job


def finished(running: RunningJob, into: Path) -> JobOutput:
    assert running.wait(20)
    output = running.collect(into)
    running.discard()
    return output


def job_directories(root: Path) -> list[Path]:
    return [path for path in root.glob("*") if path.is_dir()]


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_a_job_gives_its_outputs_code_and_times_by_the_hosts_clock(transport: Transport, tmp_path: Path) -> None:
    before = time.time()
    line = "date +%s.%N; echo err >&2; sleep 0.25; date +%s.%N; exit 3"
    output = finished(transport.start(job(line)), tmp_path / "kept")
    began, over = map(float, output.stdout.read_text().split())
    assert output.stderr.read_text() == "err\n"
    assert output.exit_code == 3
    assert before <= output.started_at <= began < over <= output.ended_at <= time.time()
    assert output.host == transport.host.id


def test_a_job_counts_as_under_way_before_its_host_has_answered(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller may be killed before the host has answered. Even then, the job is listed among those left behind."""
    run, underway = transport.run, transport.session.underway
    heard: list[list[str]] = []

    def late(*words: Any, **more: Any) -> Completed:
        done = run(*words, **more)
        heard.append(underway.jobs())
        return done

    monkeypatch.setattr(transport, "run", late)
    running = transport.start(job("sleep 60"))
    assert heard == [[f"test on {transport.host.id}"]]
    running.stop()
    running.discard()
    assert underway.jobs() == []


@LOCAL_FIRST
@pytest.mark.parametrize("stopped", [False, True])
def test_a_job_is_made_of_three_commands_however_long_it_is_waited_for(
    transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    """The commands start the job, wait in the kernel for its end and its exit code, and remove it. If a job is stopped,
    there is no wait."""
    run, calls = transport.run, 0

    def counted(*words: Any, **more: Any) -> Completed:
        nonlocal calls
        calls += 1
        return run(*words, **more)

    monkeypatch.setattr(transport, "run", counted)
    running = transport.start(job(f"until [ -e '{tmp_path}/go' ]; do sleep 0.02; done"))
    if stopped:
        running.stop()
        running.collect(tmp_path / "kept")
        running.discard()
    else:
        for _ in range(20):
            assert not running.wait(0.02)
        (tmp_path / "go").touch()
        finished(running, tmp_path / "kept")
    assert calls == 3


@LOCAL_FIRST
@pytest.mark.parametrize("fault", [ValueError("not of ours"), Completed(127, "", "flock: not found", 0.0)])
def test_waiting_says_so_when_it_goes_wrong_and_does_not_wait_for_ever(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, fault: Exception | Completed
) -> None:
    calls = 0

    def go_wrong(*_: object, **__: object) -> Completed:
        nonlocal calls
        calls += 1
        if isinstance(fault, Completed):
            return fault
        raise fault

    monkeypatch.setattr(detached_jobs, "_ODD_WAIT_S", 0.01)
    running = transport.start(job("sleep 30"))
    with monkeypatch.context() as patched:
        patched.setattr(transport, "run", go_wrong)
        with pytest.raises(HostError, match=r"can't wait for test: (ValueError|flock ends with code 127)"):
            running.wait(10)
    assert calls <= 30
    running.stop()
    assert running.wait(10), "it can be waited for again"
    running.discard()


@LOCAL_FIRST
def test_waiting_ends_in_time_and_says_that_the_job_goes_on(transport: Transport, tmp_path: Path) -> None:
    running = transport.start(job("sleep 30"))
    assert not running.wait(0.2)
    assert not running.wait(0)
    with pytest.raises(HostError, match="still running"):
        running.collect(tmp_path / "early")
    running.stop()
    assert finished(running, tmp_path / "kept").exit_code is None


def test_a_job_ended_by_a_signal_has_a_negative_code(transport: Transport, tmp_path: Path) -> None:
    assert finished(transport.start(job("kill -SEGV $$")), tmp_path / "kept").exit_code == -11


def test_files_are_there_for_the_owner_alone_and_wanted_ones_are_fetched(transport: Transport, tmp_path: Path) -> None:
    running = transport.start(
        job(
            "stat -c '%a %n' settings; mkdir sub; cp settings 'sub/a b.csv'; echo no >other; ln -s /etc/passwd x.csv",
            files=(JobFile("settings", ("a = 'b'\nuri = ", "x;y\n")),),
            collect=("settings", "*.csv"),
        )
    )
    output = finished(running, tmp_path / "kept")
    assert output.stdout.read_text().startswith("600 settings\n")
    names = {str(path.relative_to(output.directory)) for path in output.directory.rglob("*") if path.is_file()}
    assert names == {"stdout", "stderr", "command.txt", "settings", "sub/a b.csv"}
    assert (output.directory / "sub" / "a b.csv").read_text() == "a = 'b'\nuri = x;y\n"


def test_the_directory_on_the_host_is_private_and_gone_afterwards(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    running = transport.start(job("sleep 30", files=(JobFile("f", (Secret("hunter2"),)),)))
    (mine,) = job_directories(state_root)
    until(lambda: (mine / "stdout").exists() and not (mine / "env").exists())
    assert stat.S_IMODE(state_root.stat().st_mode) == 0o711, "others see who holds the host, and no job"
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700
    for path in mine.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    running.stop()
    running.collect(tmp_path / "kept")
    assert mine.exists()
    running.discard()
    running.discard()
    assert not state_root.exists()


def test_the_jobs_own_umask_and_directory_are_those_of_the_host(transport: Transport, tmp_path: Path) -> None:
    there = transport.run(Command(("sh", "-c", "umask"))).stdout
    running = transport.start(Job("test", Command(("sh", "-c", "umask; pwd"), cwd="/usr"), 30))
    assert finished(running, tmp_path / "kept").stdout.read_text() == f"{there}/usr\n"


def test_a_job_does_not_inherit_ignored_signals(transport: Transport, tmp_path: Path) -> None:
    output = finished(transport.start(job("grep SigIgn /proc/self/status")), tmp_path / "kept")
    ignored = int(output.stdout.read_text().split()[1], 16)
    assert ignored & (1 << 14 | 1 << 1 | 1) == 0  # TERM, INT, HUP


@LOCAL_FIRST
@pytest.mark.parametrize(
    "name",
    one_in(3, ["with space", "quo'te\"s", "$(touch hacked)", "semi;colon", "new\nline", "-rf", "*", "sub/dir/file"]),
)
def test_names_that_mean_something_to_a_shell_are_just_names(transport: Transport, tmp_path: Path, name: str) -> None:
    glob = name.replace("*", "[*]")
    running = transport.start(
        Job(name, Command(("cat", f"./{name}")), 30, files=(JobFile(name, ("inside",)),), collect=(glob,))
    )
    output = finished(running, tmp_path / "kept")
    assert output.stdout.read_text() == "inside"
    assert (output.directory / name).read_text() == "inside"


@LOCAL_FIRST
@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
def test_a_file_outside_of_the_jobs_directory_is_refused(transport: Transport, name: str) -> None:
    with pytest.raises(RunnerError, match="not a file of the job's own directory"):
        transport.start(job("true", files=(JobFile(name, ("x",)),)))
    with pytest.raises(RunnerError, match="not a file of the job's own directory"):
        transport.start(job("true", collect=(name,)))


def test_a_working_directory_that_is_missing_is_said_before_anything_runs(transport: Transport) -> None:
    with pytest.raises(HostError, match="can't start test: no directory /no such dir"):
        transport.start(Job("test", Command(("true",), cwd="/no such dir"), 30))


def test_secrets_are_in_no_process_list_file_or_output(transport: Transport, tmp_path: Path, state_root: Path) -> None:
    uri, password = "mongodb://u:sw0rdfish@db/x", "hunter2-$'\"x"
    line = 'echo "pw $PW"; cat settings >&2; cp settings copy; sleep 30'
    running = transport.start(
        Job(
            "test",
            Command(("sh", "-c", line), env={"PW": Secret(password)}),
            30,
            files=(JobFile("settings", ("uri=", Secret(uri), "\n")),),
            collect=("copy", "settings"),
        )
    )
    until(lambda: "pw" in running.tail())
    lists = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert "settings copy; sleep 30" in lists  # the job was seen
    tail = running.tail()
    running.stop()
    output = running.collect(tmp_path / "kept")
    (mine,) = job_directories(state_root)
    left = (mine / "work/settings").read_text()
    about = [(mine / name).read_text() for name in ("about", "run")]
    assert "PW=***" in about[0]
    running.discard()
    texts = [lists, tail, *about, *(path.read_text() for path in output.directory.rglob("*") if path.is_file())]
    assert len(texts) == 2 + 2 + 5
    for text in texts:
        assert "sw0rdfish" not in text
        assert "hunter2" not in text
    assert left == "uri=***\n", "it stays without its secrets"
    assert output.stdout.read_text() == "pw ***\n"
    assert (output.directory / "copy").read_text() == "uri=***\n"
    assert (output.directory / "command.txt").read_text().startswith("PW=*** sh -c ")


@LOCAL_FIRST
def test_stopping_ends_the_whole_group(transport: Transport, tmp_path: Path) -> None:
    running = transport.start(
        job("trap '' TERM; (trap '' TERM; sleep 300) & sh -c 'sleep 301 & wait' & echo $$ $!; wait; sleep 302")
    )
    until(lambda: running.tail().strip())
    group = int(running.tail().split()[0])
    group = os.getpgid(group)
    members = [int(p) for p in subprocess.check_output(["pgrep", "-g", str(group)], text=True).split()]
    assert len(members) >= 4
    running.stop()
    until(lambda: not any(map(alive, members)))
    output = running.collect(tmp_path / "kept")
    assert output.exit_code is None
    assert output.ended_at > output.started_at


@LOCAL_FIRST
def test_stopping_waits_no_longer_than_a_job_takes_to_obey_and_lets_it_finish_its_output(
    transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached_jobs, "STOP_GRACE_S", 3600.0)
    running = transport.start(job("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"))
    until(lambda: "up" in running.tail())
    running.stop()
    output = running.collect(tmp_path / "kept")
    assert output.stdout.read_text() == "up\nbye\n"
    assert output.exit_code is None


def test_stopping_a_job_that_has_ended_changes_nothing(transport: Transport, tmp_path: Path) -> None:
    running = transport.start(job("exit 4"))
    assert running.wait(10)
    running.stop()
    running.stop()
    assert running.collect(tmp_path / "kept").exit_code == 4


def test_what_a_job_leaves_running_is_ended_with_it(transport: Transport, tmp_path: Path) -> None:
    output = finished(transport.start(job("sleep 303 & echo $!")), tmp_path / "kept")
    assert output.exit_code == 0
    left = int(output.stdout.read_text())
    until(lambda: not alive(left))


def test_a_job_killed_with_its_keeper_is_an_error_that_names_the_host_and_keeps_the_output(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    running = transport.start(job("echo so far; sleep 304"))
    until(lambda: "so far" in running.tail())
    (mine,) = job_directories(state_root)
    os.killpg(int((mine / "pid").read_text()), 9)
    assert running.wait(30)
    with pytest.raises(HostError, match=f"{transport.host.id}: test was killed from outside"):
        running.collect(tmp_path / "kept")
    assert (tmp_path / "kept" / "stdout").read_text() == "so far\n"


def test_children_that_outlive_a_killed_keeper_are_ended_by_stop(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    running = transport.start(job("echo $$; sleep 305"))
    until(lambda: running.tail().strip())
    (mine,) = job_directories(state_root)
    keeper = int((mine / "pid").read_text())
    os.kill(keeper, 9)
    until(lambda: not alive(keeper))
    child = int(running.tail())
    assert alive(child)
    running.stop()
    until(lambda: not alive(child))
    with pytest.raises(HostError, match="killed from outside"):
        running.collect(tmp_path / "kept")


def test_a_large_output_is_fetched_whole(transport: Transport, tmp_path: Path) -> None:
    output = finished(transport.start(job("head -c 40000000 /dev/zero; seq 5 >&2")), tmp_path / "kept")
    assert output.stdout.stat().st_size == 40_000_000
    assert output.stderr.read_text() == "1\n2\n3\n4\n5\n"


def test_more_than_may_be_fetched_is_an_error_and_stays_on_the_host(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    running = transport.start(job("head -c 4000 /dev/zero >big", collect=("big",)))
    assert running.wait(10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbrief.runners.jobs.detached_jobs.MAX_FETCH", 3000)
        with pytest.raises(HostError, match=r"work/big is too large to fetch"):
            running.collect(tmp_path / "kept")
    (mine,) = job_directories(state_root)
    assert (mine / "work" / "big").stat().st_size == 4000
    assert running.collect(tmp_path / "again").exit_code == 0


def test_the_tail_is_short_and_can_not_drive_a_terminal(transport: Transport, tmp_path: Path) -> None:
    running = transport.start(job("seq 10000; printf 'the\\033[31m end'"))
    assert running.wait(10)
    tail = running.tail(100)
    assert len(tail) <= 100
    assert tail.endswith("the�[31m end")
    running.collect(tmp_path / "kept")


# --- full disks --------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 512 KiB."""
    path = tmp_path / "small"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=1777", "tmpfs", path], capture_output=True)  # noqa: PLW1510 - judged below
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small file system")
    yield path
    subprocess.run(["umount", "-l", path], check=True)


@pytest.fixture
def on_small_disk(
    request: pytest.FixtureRequest, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Transport]:
    """Yield a transport to a host that keeps its jobs on the small disk."""
    if request.param == "local":
        monkeypatch.setenv("TMPDIR", str(small_disk))
        yield open_transport(Host(id="local", transport="local", name="local"))
        return
    with sshd(config=f"SetEnv TMPDIR={small_disk}") as server:
        monkeypatch.setenv("HOME", str(server.home))
        opened = open_transport(server.host)
        yield opened
        opened.close()


both = pytest.mark.parametrize("on_small_disk", ["local", "ssh"], indirect=True)


@both
def test_a_job_that_fills_the_disk_of_its_host_says_which_host(on_small_disk: Transport, tmp_path: Path) -> None:
    running = on_small_disk.start(job("head -c 2000000 /dev/zero; true"))
    assert running.wait(10)
    with pytest.raises(HostFull, match=f"no space left on {on_small_disk.host.id}") as raised:
        running.collect(tmp_path / "kept")
    assert raised.value.hint
    assert 0 < (tmp_path / "kept" / "stdout").stat().st_size < 600_000


@both
def test_a_job_is_not_started_on_a_full_disk(on_small_disk: Transport, small_disk: Path) -> None:
    subprocess.run(["dd", "if=/dev/zero", f"of={small_disk}/filler"], capture_output=True, check=False)
    with pytest.raises(HostFull, match=f"no space left on {on_small_disk.host.id}"):
        on_small_disk.start(job("true", files=(JobFile("big", ("x" * 100_000,)),)))


def test_a_full_disk_of_the_controller_is_said_and_the_output_can_be_fetched_later(
    transport: Transport, small_disk: Path, tmp_path: Path
) -> None:
    running = transport.start(job("head -c 2000000 /dev/zero"))
    assert running.wait(10)
    with pytest.raises(DiskFull, match="no space left on the controller"):
        running.collect(small_disk / "kept")
    assert not (small_disk / "kept" / "stdout").exists()
    assert running.collect(tmp_path / "kept").stdout.stat().st_size == 2_000_000


@pytest.mark.parametrize(
    ("start", "end", "took", "set_s"),
    [
        ("100.000 50.00 50.00", "110.000 60.00 60.00", 10.0, 0.0),
        ("100.000 50.00 50.00", "112.000 60.00 60.00", 10.0, 2.0),
        ("100.000 50.00 50.00", "108.000 60.00 60.01", 10.0, -2.0),
        ("100.000 50.00 50.00", "111.500 60.00 61.50", 11.5, 0.0),  # a host too busy to look at both at once
        ("100.000 50.00", "110.100 60.00", 10.1, 0.0),  # a job of an earlier version
        ("100.000 50.00", "113.000 60.00", 10.0, 3.0),
        ("100.000", "113.000", 13.0, None),
    ],
)
def test_a_clock_that_is_set_while_a_job_runs_is_known_by_the_time_since_boot(
    start: str, end: str, took: float, set_s: float | None
) -> None:
    started, ended, found = job_span(start, end)
    assert started == 100.0
    assert ended is not None
    assert ended - started == pytest.approx(took, abs=0.15)
    assert found == (None if set_s is None else pytest.approx(set_s, abs=0.15))
