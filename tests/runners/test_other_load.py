"""What else keeps a host busy, by processes of our own that do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchbrief.compiler.plan import Host
from benchbrief.runners.other_load import other_load
from benchbrief.runners.tasks import Command, Job
from benchbrief.runners.transports import open_transport
from tests.support.waiting import until

HERE = open_transport(Host(id="local", transport="local", name="local"))


@contextmanager
def busy(program: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that takes a core, and before others, where that is allowed, those of other tests."""
    program.symlink_to("/bin/sh")
    with subprocess.Popen([program, "-c", "while :; do :; done"]) as process:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, process.pid, -15)
        try:
            yield process
        finally:
            process.kill()


def test_the_process_that_takes_the_most_is_named_whatever_it_is_called(tmp_path: Path) -> None:
    with busy(tmp_path / "a) (b 7") as process:
        named = f"a) (b 7 (process {process.pid} of "
        until(lambda: other_load(HERE).startswith(named), 60)
        assert not other_load(HERE, process.pid).startswith(named), "it is to be left out"
    assert not other_load(HERE).startswith(named)


def test_a_job_of_the_run_s_own_is_no_other_load(tmp_path: Path) -> None:
    program = tmp_path / "own server"
    program.symlink_to("/bin/sh")
    running = HERE.start(Job("server", Command(("nice", "-n", "-15", str(program), "-c", "while :; do :; done")), 60))
    try:
        until(lambda: other_load(HERE).startswith("own server (process "), 60)
        assert not other_load(HERE, ours="anyone").startswith("own server")
    finally:
        running.stop()
        running.discard()
        HERE.end_leftovers()
