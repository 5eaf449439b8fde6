"""Tests how other load on a host is detected. The tests start processes that are busy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbrief.compiler import registry
from benchbrief.model.plan import Host
from benchbrief.runners.hosts import quiet_host
from benchbrief.runners.hosts.host_clocks import read_clock
from benchbrief.runners.hosts.host_connections import RealTransport, open_transport
from benchbrief.runners.hosts.quiet_host import other_load
from benchbrief.runners.jobs.detached_jobs import other_cores
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput
from benchbrief.runners.world.world_choice import RealWorld
from tests.support.cells import OWN_RUN
from tests.support.waiting import until

HERE = open_transport(Host(id="local", transport="local", name="local"), run_name=OWN_RUN)
REAL = RealWorld()


@contextmanager
def busy(program: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that uses a core. If permitted, it has priority over the processes of other tests."""
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


def test_a_second_bench_is_called_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = SimpleNamespace(stdout="100 dev 150 1.0 7 bench\n")
    monkeypatch.setattr(quiet_host, "run_persistently", lambda *_, **__: ran)
    assert other_load(HERE) == "another bench (process 7 of dev) takes 1.5 cores"


def test_a_job_of_the_run_s_own_is_no_other_load(tmp_path: Path) -> None:
    program = tmp_path / "own server"
    program.symlink_to("/bin/sh")
    running = HERE.start(Job("server", Command(("nice", "-n", "-15", str(program), "-c", "while :; do :; done")), 60))
    try:
        until(lambda: other_load(HERE).startswith("own server (process "), 60)
        assert not other_load(HERE, ours=OWN_RUN.owner).startswith("own server")
    finally:
        running.stop()
        running.discard()
        HERE.end_leftovers()


# --- in a place that a transport of another package enters ---

SPEC = """
from benchbrief.extend.spec import TransportSpec
SPEC = TransportSpec(
    3, "inner", "A place.", "benchbrief.runners.transports.nested_transport:NestedTransport", label="inner",
    address="[a-z]+", address_is="a word", on_controller=ON_CONTROLLER,
)
"""


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[RealTransport]:
    """Yield a transport whose host shares this machine's processes. Its spec may or may not say so."""
    registry.look_again()
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "inner_spec.py").write_text(SPEC.replace("ON_CONTROLLER", str(request.param)))
    info = tmp_path / "bench_inner-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-inner\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[benchbrief.specs.transports]\ninner = inner_spec:SPEC\n")
    yield open_transport(Host(id="inner:a", transport="inner", name="a", package="bench-inner 1.0"))
    sys.modules.pop("inner_spec", None)
    registry.look_again()


@contextmanager
def busy_ourselves() -> Iterator[None]:
    """Keep a core busy with a thread of this process."""
    ended = threading.Event()

    def spin() -> None:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        while not ended.is_set():
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize(("inner", "counts"), [(True, False), (False, True)], indirect=["inner"])
def test_bench_itself_is_no_other_load_where_its_processes_are_the_controller_s(
    inner: RealTransport, counts: bool
) -> None:
    ours = f"(process {os.getpid()} of "
    with busy_ourselves():
        until(lambda: ours in (REAL.other_load(inner) if counts else other_load(HERE)), 60)
        assert counts or ours not in REAL.other_load(inner)


@pytest.mark.parametrize(("inner", "measured"), [(True, False), (False, True)], indirect=["inner"])
def test_the_clock_of_a_place_on_the_controller_is_its_own(inner: RealTransport, measured: bool) -> None:
    reading = read_clock(inner)
    assert reading is not None
    assert (reading.uncertainty_s > 0) is measured


# --- while a job runs ---


def ran(script: str, into: Path) -> JobOutput:
    running = HERE.start(Job("measure", Command(("sh", "-c", script)), 60))
    assert running.wait(60)
    try:
        return running.collect(into)
    finally:
        running.discard()


def test_load_that_begins_during_a_job_and_ends_before_it_is_counted(tmp_path: Path) -> None:
    script = "sleep 0.5; touch here; while [ ! -e stop ]; do sleep 0.1; done; sleep 0.5"
    running = HERE.start(Job("measure", Command(("sh", "-c", script)), 60))
    with busy(tmp_path / "foreign") as process:
        until(lambda: int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11]) > 120, 60)
    running.stop()
    found = running.collect(tmp_path / "out")
    running.discard()
    assert found.other_cores is not None
    assert found.other_cores * (found.ended_at - found.started_at) > 1.0, "it took 1.2 s of a processor"


def test_a_job_s_own_load_and_that_of_its_children_is_not_counted(tmp_path: Path) -> None:
    cores = os.cpu_count() or 1
    burn = 'timeout 1.1 sh -c "while :; do :; done" & '
    found = ran(f"{burn * cores} wait; times", tmp_path / "out")
    times = re.findall(r"(\d+)m([\d.]+)s", found.stdout.read_text())
    own = sum(60 * float(minutes) + float(seconds) for minutes, seconds in times)
    assert own > 0.2
    assert found.other_cores is not None
    elapsed = found.ended_at - found.started_at
    assert found.other_cores * elapsed + own < 1.3 * cores * elapsed


@pytest.mark.parametrize(
    ("text", "seconds", "cores"),
    [
        ("100 1100 0m0.5s 0m0.5s 0m3.00s 0m1.0s 100", 10.0, 0.5),
        ("100 1100 0m0,5s 0m0,5s 1m3.00s 0m1.0s 100", 10.0, 0.0),
        ("100 1100 0m0.5s 0m0.5s 0m3.00s 0m1.0s 100", 0.5, None),
        ("100 1100 0m0.5s 0m0.5s 0m3.00s 0m1.0s 100", None, None),
        ("1100 100 0m0.5s 0m0.5s 0m3.00s 0m1.0s 100", 10.0, None),
        ("100 1100 0m0.5s 0m0.5s 100", 10.0, None),
        ("100", 10.0, None),
        ("", 10.0, None),
    ],
)
def test_other_cores_are_the_busy_ones_less_the_job_s(text: str, seconds: float | None, cores: float | None) -> None:
    assert other_cores(text, seconds) == (None if cores is None else pytest.approx(cores))
