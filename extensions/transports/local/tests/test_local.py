"""Tests cases that only this machine can have, such as a lack of processes, programs or files in memory."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from benchbrief.runners.errors import ConnectionLost, HostError
from benchbrief.runners.jobs.tasks import Command, Job
from benchbrief.runners.seams import Transport
from tests.support.tools import system_tool

TRUE = Job("test", Command(("true",)), 30)


def test_a_system_without_files_in_memory_runs_commands_too(here: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    assert here.run(Command(("cat",)), stdin="in").stdout == "in"


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.EAGAIN, ConnectionLost), (errno.EMFILE, ConnectionLost), (errno.ENOENT, HostError)]
)
def test_a_machine_that_can_start_no_process_is_a_failure_of_the_host(
    here: Transport, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[HostError]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", refuse)
        with pytest.raises(kind, match=os.strerror(number)) as refused:
            here.run(Command(("true",)))
    assert type(refused.value) is kind, "one that may pass is tried again"


@pytest.mark.parametrize("missing", ["setsid", "flock"])
def test_a_machine_without_the_programs_that_jobs_need_is_said(
    here: Transport, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in {"sh", "id", "mkdir", "chmod", "head", "rm", "date", "cat", "setsid", "flock"} - {missing}:
        (tmp_path / "bin" / name).symlink_to(system_tool(name))
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "bin"))
        with pytest.raises(HostError, match=f"local: can't start test: the host has no {missing}$") as raised:
            here.start(TRUE)
    assert "Linux" in raised.value.hint
    assert here.session.underway.jobs() == []


def test_a_state_directory_of_someone_else_is_not_trusted(here: Transport, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    state = tmp_path / f"benchbrief-{os.getuid()}"
    state.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostError, match="is not a directory of"):
        here.start(TRUE)
    assert not list((tmp_path / "elsewhere").iterdir())
    state.unlink()


def test_a_port_of_this_machine_is_reached_as_it_is(here: Transport) -> None:
    with here.forward("127.0.0.1", 27017) as address:
        assert address == ("127.0.0.1", 27017)
