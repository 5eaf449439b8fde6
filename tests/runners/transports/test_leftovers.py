"""Tests that everything left on a host by a killed controller is ended by the next controller of the same run, and by
no controller of another run."""

from __future__ import annotations

import os
import re
import signal
import uuid
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.hosts.orphans import list_leftovers
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import RunningJob, Transport
from benchbrief.runners.transports.transport_base import JobTransport
from tests.runners.transports.conftest import LOCAL_FIRST
from tests.support.waiting import until


def job(line: str) -> Job:
    return Job(name="test", command=Command(("sh", "-c", line)), timeout_s=60)


def exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def of_another_run(transport: Transport, tmp_path: Path) -> Iterator[RunningJob]:
    with closing(open_transport(transport.host, run_name=RunName("another"))) as theirs:
        running = theirs.start(job("sleep 60"))
        yield running
        running.stop()
        running.collect(tmp_path / "theirs")


def test_leftovers_of_the_same_run_are_ended_and_removed(
    transport: Transport, of_another_run: RunningJob, state_root: Path
) -> None:
    with closing(open_transport(transport.host, run_name=RunName("mine"))) as killed:
        killed.start(job("sleep 60 & sleep 60"))
        killed.start(job("echo done"))
        until(lambda: len(list(state_root.glob("mine-*/rc"))) == 1)
        (group,) = [
            int(path.read_text()) for path in state_root.glob("mine-*/pid") if not (path.parent / "rc").exists()
        ]
    with closing(open_transport(transport.host, run_name=RunName("mine"))) as resumed:
        assert resumed.end_leftovers() == 1, "one of the two had ended by itself"
        assert list(state_root.glob("mine-*")) == []
        assert resumed.end_leftovers() == 0
    until(lambda: not exists(group))
    assert not of_another_run.wait(0)


def numbers(mark: str) -> list[int]:
    """Return the ids of the processes that have this mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"MARK={mark}\0".encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
    return found


def processes(mark: str) -> list[str]:
    """Return the names of the processes that have this mark in their environment."""
    return [Path(f"/proc/{pid}/comm").read_text().strip() for pid in numbers(mark)]


def apart(mark: str, line: str = "sleep 60") -> str:
    """Return a line of shell that leaves a process running in its own session."""
    return f"MARK={mark} setsid -f sh -c '{line}'"


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


@LOCAL_FIRST
@pytest.mark.parametrize("line", ["exec sleep 60", "trap : TERM; while :; do sleep 0.1; done"])
def test_what_a_job_left_apart_stays_for_the_run_and_ends_with_it(
    transport: Transport, mark: str, line: str, state_root: Path
) -> None:
    with closing(open_transport(transport.host, run_name=RunName("mine", "first"))) as mine:
        assert isinstance(mine, JobTransport)
        mine.claim()
        done = mine.start(job(apart(mark, line)))
        until(lambda: done.wait(1))
        done.discard()
        until(lambda: numbers(mark) != [])
        left = next(each for each in list_leftovers(mine) if each.kind == "process")
        assert left.owner == "mine"
        assert re.fullmatch(r"process \d+ \((sleep|sh)\), left by a job of run first", left.what)
        running = mine.start(job("sleep 60"))
        running.stop()
        assert numbers(mark), "it may be a server that another job started"
        assert mine.release() >= 1
    until(lambda: numbers(mark) == [])
    assert list(state_root.glob("mine*")) == []


@LOCAL_FIRST
def test_a_job_that_is_stopped_ends_with_all_that_it_started(transport: Transport, mark: str) -> None:
    with closing(open_transport(transport.host, run_name=RunName("mine"))) as mine:
        other = mine.start(job(apart(f"other{mark}")))
        until(lambda: other.wait(1))
        running = mine.start(job(f"{apart(mark)}; sleep 60"))
        until(lambda: numbers(mark) != [])
        running.stop()
        assert numbers(mark) == []
        assert numbers(f"other{mark}")
        assert mine.end_leftovers() >= 1
        assert numbers(f"other{mark}") == []


@LOCAL_FIRST
def test_what_runs_without_the_mark_of_its_job_stays(transport: Transport, mark: str) -> None:
    with closing(open_transport(transport.host, run_name=RunName("mine"))) as mine:
        done = mine.start(job(f"env -u BENCHBRIEF_JOB MARK={mark} setsid -f sleep 60"))
        until(lambda: done.wait(1))
        until(lambda: processes(mark) == ["sleep"])
        assert mine.release() == 0
        (pid,) = numbers(mark)
        os.kill(pid, signal.SIGKILL)


@LOCAL_FIRST
def test_without_leftovers_nothing_is_done(transport: Transport) -> None:
    with closing(open_transport(transport.host, run_name=RunName("fresh"))) as fresh:
        assert fresh.end_leftovers() == 0
