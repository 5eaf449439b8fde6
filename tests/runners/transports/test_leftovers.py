"""What a killed controller left on a host is ended by the next one of the same run, and by no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import RunningJob, Transport
from benchbrief.runners.transports.transport_factory import open_transport
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


def test_without_leftovers_nothing_is_done(transport: Transport) -> None:
    with closing(open_transport(transport.host, run_name=RunName("fresh"))) as fresh:
        assert fresh.end_leftovers() == 0
