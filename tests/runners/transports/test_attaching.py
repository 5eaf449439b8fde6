"""Tests that a job with a key starts only once, whichever controller asks, and that its host reports its state."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.runners.errors import HostError
from benchbrief.runners.hosts.host_connections import RealTransport, open_transport
from benchbrief.runners.hosts.orphans import find_strays, list_leftovers
from benchbrief.runners.jobs.tasks import Command, Job, JobFile
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.seams import Transport
from tests.runners.transports.conftest import LOCAL_FIRST
from tests.support.longer import longer
from tests.support.waiting import until

MINE = RunName("mine", run="the run")


def job(line: str, key: str, unattended_s: float = 600) -> Job:
    return Job(name="test", command=Command(("sh", "-c", line)), timeout_s=60, key=key, unattended_s=unattended_s)


@contextmanager
def controller(transport: Transport) -> Iterator[RealTransport]:
    """Yield the transport of another controller of the same run. It does not know what the first controller did."""
    with closing(open_transport(transport.host, run_name=MINE)) as opened:
        yield opened


def directory(root: Path) -> Path:
    (found,) = root.glob("mine-*")
    return found


def test_another_controller_attaches_to_a_running_job_by_its_key(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    work = job("echo $$ >>begun; while [ ! -e go ]; do sleep 0.05; done; cat begun; exit 7", "a/1/measure/here")
    with controller(transport) as first:
        assert first.find(work.key) is None
        first.start(work)
        assert first.find(work.key) == "running"
        until((directory(state_root) / "work" / "begun").exists)
    with controller(transport) as second:
        running = second.start(work)
        (directory(state_root) / "work" / "go").write_text("go\n")
        assert running.wait(10)
        output = running.collect(tmp_path / "kept")
        assert output.exit_code == 7
        assert len(output.stdout.read_text().splitlines()) == 1, "it was begun once"
        running.discard()
        assert second.find(work.key) is None
    assert not state_root.exists()


@LOCAL_FIRST
def test_an_ended_job_stays_until_it_is_discarded(transport: Transport, tmp_path: Path) -> None:
    work = job("echo once", "a/1/measure/here")
    with controller(transport) as first:
        running = first.start(work)
        assert running.wait(10)
        first_seen = running.collect(tmp_path / "first")
    with controller(transport) as second:
        assert second.find(work.key) == "ended"
        again = second.start(work)
        assert again.wait(10)
        output = again.collect(tmp_path / "second")
        assert (output.started_at, output.ended_at) == (first_seen.started_at, first_seen.ended_at)
        assert output.stdout.read_text() == "once\n"
        again.discard()
    with controller(transport) as third:
        new = third.start(work)
        assert new.wait(10)
        assert new.collect(tmp_path / "third").started_at > output.started_at
        new.discard()


@LOCAL_FIRST
def test_keys_are_apart_and_those_of_another_run_too(transport: Transport, tmp_path: Path) -> None:
    with controller(transport) as mine, closing(open_transport(transport.host, run_name=RunName("theirs"))) as theirs:
        one = mine.start(job("echo one", "one"))
        two = mine.start(job("echo two", "two"))
        other = theirs.start(job("echo other", "one"))
        for running, text in ((one, "one"), (two, "two"), (other, "other")):
            assert running.wait(10)
            assert running.collect(tmp_path / text).stdout.read_text() == f"{text}\n"
            running.discard()


@LOCAL_FIRST
def test_a_job_that_was_killed_with_its_keeper_is_known_as_killed(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    with controller(transport) as first:
        running = first.start(job("echo so far; sleep 60", "k"))
        until(lambda: "so far" in running.tail())
        os.killpg(int((directory(state_root) / "pid").read_text()), 9)
        until(lambda: first.find("k") == "killed")
        with pytest.raises(HostError, match="was killed from outside"):
            first.start(job("sleep 60", "k")).collect(tmp_path / "kept")
        assert (tmp_path / "kept" / "stdout").read_text() == "so far\n"
        running.discard()


@LOCAL_FIRST
def test_a_job_that_never_began_is_none_and_is_started(transport: Transport, tmp_path: Path, state_root: Path) -> None:
    with controller(transport) as first:
        begun = first.start(job("true", "k"))
        assert begun.wait(10)
        place = directory(state_root)
        begun.discard()
        (place / "work").mkdir(parents=True)
        (place / "work" / "half").write_text("written")
        state_root.chmod(0o700)
        assert first.find("k") is None
        running = first.start(job("ls", "k"))
        assert running.wait(10)
        assert running.collect(tmp_path / "kept").stdout.read_text() == ""
        running.discard()


@LOCAL_FIRST
def test_a_stopped_job_is_stopped_for_the_next_controller_too(transport: Transport, tmp_path: Path) -> None:
    work = job("trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", "k")
    with controller(transport) as first:
        running = first.start(work)
        until(lambda: "up" in running.tail())
        running.stop()
    with controller(transport) as second:
        again = second.start(work)
        assert again.collect(tmp_path / "kept").exit_code is None, "it was cut off, whatever code it ended with"
        again.discard()


@LOCAL_FIRST
@pytest.mark.parametrize(
    "key", ["a b", *longer("quo'te\"s"), "$(touch hacked)", *longer("semi;colon", "new\nline", "-rf", "*"), "../x"]
)
def test_a_key_and_a_run_name_may_hold_anything(
    transport: Transport, tmp_path: Path, state_root: Path, key: str
) -> None:
    named = RunName("odd", run=key, folder=key, controller=key)
    with closing(open_transport(transport.host, run_name=named)) as opened:
        running = opened.start(job("echo in; sleep 60", key))
        assert opened.find(key) == "running"
        assert [path.name[:4] for path in state_root.iterdir() if path.is_dir()] == ["odd-"]
        running.stop()
        assert opened.find(key) == "ended"
        running.collect(tmp_path / "kept")
        running.discard()
    assert not state_root.exists()


# --- jobs without a controller -----------------------------------------------------------------------------------


def test_a_job_whose_controller_is_gone_ends_itself_with_its_grandchildren(
    transport: Transport, tmp_path: Path, state_root: Path
) -> None:
    work = job("(trap '' TERM; sleep 61 & sleep 62) & echo $!; wait", "k", unattended_s=0.4)
    with controller(transport) as first:
        running = first.start(work)
        until(lambda: running.tail().strip())
        group = int((directory(state_root) / "pid").read_text())
    with controller(transport) as second:
        until(lambda: second.find("k") == "killed", 15)
        until(lambda: not _alive(group), 2)
        attached = second.start(work)
        with pytest.raises(HostError, match=r"test stopped itself: no sign of its controller for 0\.4 s"):
            attached.collect(tmp_path / "kept")
        attached.discard()


@LOCAL_FIRST
def test_a_job_that_ends_without_a_controller_leaves_no_secret_behind(transport: Transport, state_root: Path) -> None:
    files = (JobFile("conf/login", ("password=", Secret("hunter2"))), JobFile("plain", ("1",)))
    with controller(transport) as first:
        first.start(replace(job("cat conf/login; echo; sleep 60", "k", unattended_s=0.4), files=files))
        until((directory(state_root) / "work/conf/login").exists)
    until((directory(state_root) / "rc").exists, 15)
    assert (directory(state_root) / "work/conf/login").read_text() == "password=***"
    assert (directory(state_root) / "work/plain").read_text() == "1"
    with controller(transport) as second:
        second.start(job("true", "k")).discard()


@LOCAL_FIRST
@pytest.mark.parametrize("ends", ["by itself", *longer("stopped")])
def test_a_job_whose_lock_was_deleted_is_known_to_run_by_its_process(
    transport: Transport, tmp_path: Path, state_root: Path, ends: str
) -> None:
    with controller(transport) as first:
        running = first.start(job("sleep 3; echo done; [ $(cat ../run | wc -l) -gt 5 ]", "k"))
        place = directory(state_root)
        (place / "lock").unlink()
        assert first.find("k") == "running"
        assert not running.wait(0.5)
        assert [each.state for each in list_leftovers(first) if not each.is_claim] == ["running"]
        with pytest.raises(HostError, match="still running"):
            running.discard()
        with pytest.raises(HostError, match="still running"):
            running.collect(tmp_path / "kept")
        assert not (place / "lock").exists(), "a look makes no file, which would keep a directory that is being removed"
        if ends == "stopped":
            running.stop()
            assert running.collect(tmp_path / "kept").exit_code is None
        else:
            until(lambda: running.wait(1), 15)
            assert running.collect(tmp_path / "kept").exit_code == 0
        running.discard()


NASTY = "a\\b 'q' ä€ %2f\x01"


@pytest.mark.parametrize("ends", ["without a controller", *longer("by itself", "stopped"), "killed"])
def test_what_a_job_printed_holds_no_secret_on_its_host_once_it_has_ended(
    transport: Transport, tmp_path: Path, state_root: Path, ends: str
) -> None:
    files = (JobFile("login", (Secret(NASTY),)),)
    line = f"cat login; echo; cat login >&2; echo 7 W; {'true' if ends == 'by itself' else 'sleep 60'}"
    work = replace(job(line, "k", unattended_s=0.4 if ends == "without a controller" else 600.0), files=files)
    work = replace(work, figures=("[0-9]+ W",), command=replace(work.command, env={"SEVEN": Secret("7")}))

    def has_printed() -> bool:
        return (place / "stdout").exists() and (place / "stdout").read_bytes().endswith(b"W\n")

    with controller(transport) as first:
        running = first.start(work)
        place = directory(state_root)
        if ends == "stopped":
            until(has_printed)
            running.stop()
        elif ends == "killed":
            until(has_printed)
            os.killpg(int((place / "pid").read_text()), 9)
            until(lambda: first.find("k") == "killed")
            find_strays(first)
    until(lambda: not (place / "forget").exists(), 15)
    with controller(transport) as looking:
        until(lambda: looking.find("k") != "running", 15)
    assert (place / "stdout").read_bytes() == b"***\n7 W\n"
    assert (place / "stderr").read_bytes() == b"***"
    assert (place / "work/login").read_bytes() == b"***"
    for path in place.rglob("*"):
        if path.is_file():
            assert NASTY.encode() not in path.read_bytes(), path
    with controller(transport) as second:
        again = second.start(work)
        if ends in ("by itself", "stopped"):
            assert again.collect(tmp_path / "kept").stdout.read_bytes() == b"***\n7 W\n"
        again.discard()


@LOCAL_FIRST
@pytest.mark.parametrize("ends", ["by itself", "killed"])
def test_an_output_that_can_t_be_masked_is_masked_once_it_can_be(
    transport: Transport, state_root: Path, ends: str
) -> None:
    """A directory in the place of the masked output prevents masking, as a full disk would."""
    line = f"echo hunter2; mkdir ../stdout.new; touch up; {'true' if ends == 'by itself' else 'sleep 60'}"
    work = job(line, "k")
    work = replace(work, command=replace(work.command, env={"PASSWORD": Secret("hunter2")}))
    with controller(transport) as first:
        first.start(work)
        place = directory(state_root)
        if ends == "killed":
            until((place / "work/up").exists)
            os.killpg(int((place / "pid").read_text()), 9)
            until(lambda: first.find("k") == "killed")
        else:
            until(lambda: first.find("k") == "ended", 15)
        find_strays(first)
        assert (place / "forget").exists()
        (place / "stdout.new").rmdir()
        find_strays(first)
        assert (place / "stdout").read_bytes() == b"***\n"
        assert not (place / "forget").exists()
        first.start(work).discard()


@LOCAL_FIRST
@pytest.mark.parametrize("looked_at", ["by a run", "by doctor"])
def test_a_job_that_was_killed_with_its_host_leaves_no_secret_once_the_host_is_looked_at(
    transport: Transport, state_root: Path, looked_at: str
) -> None:
    files = (JobFile("login", ("password=", Secret("hunter2"))),)
    with controller(transport) as first:
        first.start(replace(job("echo up; sleep 60", "k"), files=files))
        place = directory(state_root)
        until((place / "work/login").exists)
        running = first.start(replace(job("sleep 60", "other"), files=files))
        os.killpg(int((place / "pid").read_text()), 9)
        (place / "boot").write_text("an earlier one\n")
        until(lambda: first.find("k") == "killed")
        (state_root / "gone-0123").mkdir()
        (state_root / "gone-0123/work").mkdir()
        (state_root / "gone-0123/work/login").write_text("password=hunter2")
        if looked_at == "by a run":
            first.claim()
        else:
            find_strays(first)
        assert (place / "work/login").read_text() == "password=***"
        assert not (state_root / "gone-0123").exists(), "it never began"
        kept = [path.read_text() for path in state_root.glob("*/work/login") if path.parent.parent != place]
        assert kept == ["password=hunter2"], "a job that runs has its own"
        running.stop()
        running.discard()
        first.release()


@LOCAL_FIRST
def test_the_number_of_a_job_that_is_another_s_process_by_now_is_left_alone(
    transport: Transport, state_root: Path
) -> None:
    with controller(transport) as first:
        first.start(job("sleep 60", "k"))
        place = directory(state_root)
        os.killpg(int((place / "pid").read_text()), 9)
        until(lambda: first.find("k") == "killed")
        with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
            try:
                (place / "pid").write_text(f"{stranger.pid}\n")
                first.start(job("true", "k")).stop()
                assert first.find("k") == "killed"
                assert first.end_leftovers() == 0
                assert stranger.poll() is None
            finally:
                stranger.kill()


@LOCAL_FIRST
def test_a_job_with_a_controller_goes_on_past_its_unattended_time(transport: Transport, tmp_path: Path) -> None:
    with controller(transport) as first:
        running = first.start(job("sleep 2.5; echo whole", "k", unattended_s=1.2))
        assert running.wait(10)
        assert running.collect(tmp_path / "kept").stdout.read_text() == "whole\n"
        running.discard()


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
