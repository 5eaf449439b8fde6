"""Tests the numbers of running tools, which are read from the ends of recorded outputs (cut anywhere), and from real
jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchbrief.extensions.tools.db_bench import db_bench_output
from benchbrief.extensions.tools.go_ycsb import go_ycsb_output
from benchbrief.extensions.tools.ycsb import ycsb_output
from benchbrief.model.plan import Host
from benchbrief.runners.execution.live_numbers import LIVE, JobReading, Live, Monitor, load_of, read_live
from benchbrief.runners.jobs.tasks import Command, Job, JobOutput
from benchbrief.runners.sampling import parse_recent
from benchbrief.runners.seams import Interim
from benchbrief.runners.transports.local_transport import LocalTransport
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.waiting import until

OUTPUTS = RECORDED_OUTPUTS


def ycsb(text: str) -> Interim | None:
    return ycsb_output.interim(text)


def go_ycsb(text: str) -> Interim | None:
    return go_ycsb_output.interim(text)


def db_bench(text: str) -> Interim | None:
    return db_bench_output.interim(text, background=False)


@pytest.mark.parametrize(
    ("read", "file"),
    [
        (ycsb, "ycsb/read-modify-write/stderr"),
        (go_ycsb, "go_ycsb/timed/stdout"),
        (db_bench, "db_bench/readrandom-6/stderr"),
    ],
)
def test_an_output_cut_anywhere_gives_a_sensible_number_or_none(read: object, file: str) -> None:
    assert callable(read)
    text = (OUTPUTS / file).read_text()
    seen = 0
    step = max(1, len(text) // 400)
    for end in range(0, len(text), step):
        said = read(text[max(0, end - 3000) : end])
        if said is not None:
            seen += 1
            assert 0 <= said.ops_per_s < 10e6
            assert said.latency_s is None or 0 < said.latency_s < 10
    assert seen > 100


def test_ycsb_says_the_rate_and_the_p99_of_the_operation_that_it_has_most_of() -> None:
    text = (OUTPUTS / "ycsb/read-modify-write/stderr").read_text()
    third = text.index("3 sec: 6644 operations")
    said = ycsb(text[: text.index("\n", third) + 1])
    assert said is not None
    assert (said.ops_per_s, said.latency_of) == (3590.18, "p99 read")
    assert said.latency_s == pytest.approx(0.005535)
    assert said.done == 6644


def test_an_idle_second_of_ycsb_has_a_rate_and_no_latency() -> None:
    idle = "2026-11-20 14:26:10:128 9 sec: 735 operations; 0 current ops/sec; [READ: Count=0, Avg=NaN, 99=0, 9=0]\n"
    assert ycsb(idle) == Interim(0.0, done=735, elapsed_s=9.0)
    assert ycsb(idle.replace("; 0 current", "; ∞ current")) is None


def test_db_bench_leaves_its_background_writer_out() -> None:
    text = (OUTPUTS / "db_bench/readwhilewriting/stderr").read_text()
    whole = db_bench_output.interim(text, background=False)
    readers = db_bench_output.interim(text, background=True)
    assert whole is not None
    assert readers is not None
    assert 0 < readers.ops_per_s < whole.ops_per_s


def test_the_operations_so_far_are_those_of_all_load_generators_or_unknown() -> None:
    one = JobReading(cell="c", host="a", at=0.0, ops_per_s=2.0, done=30)
    other = JobReading(cell="c", host="b", at=0.0, ops_per_s=3.0, done=50)
    both = load_of("c", (one, other))
    assert both is not None
    assert (both.ops_per_s, both.done) == (5.0, 80)
    silent = load_of("c", (one, other.model_copy(update={"done": None})))
    assert silent is not None
    assert silent.done is None


def test_db_bench_and_go_ycsb_tell_how_much_is_done() -> None:
    for read, file in ((go_ycsb, "go_ycsb/timed/stdout"), (db_bench, "db_bench/readrandom-6/stderr")):
        said = read((OUTPUTS / file).read_text())
        assert said is not None
        assert said.done is not None
        assert said.done > said.ops_per_s > 0


def test_only_whole_readings_of_a_probe_count() -> None:
    text = "5 6\n.\n= 10.5\ncpu 1\n.\n= 11.5\ncpu 2\n.\n= 12.5\ncpu"
    assert [(each.time, each.lines) for each in parse_recent(text)] == [(10.5, ("cpu 1",)), (11.5, ("cpu 2",))]


def count(text: str) -> JobReading | None:
    lines = text.split()
    return JobReading(cell="c", host="h", at=time.time(), ops_per_s=float(lines[-1])) if lines else None


def test_a_monitor_follows_a_real_job_and_keeps_the_file_until_the_end(tmp_path: Path) -> None:
    transport = LocalTransport(Host(id="local", transport="local", name="127.0.0.1"))
    line = "n=0; while [ $n -lt 600 ]; do n=$((n+1)); echo $n; sleep 0.05; done"
    running = transport.start(Job("count", Command(("sh", "-c", line)), timeout_s=60))
    try:
        with Monitor(tmp_path, poll_s=0.1) as monitor:
            monitor.watch(running, count)
            assert read_live(tmp_path) is None, "the run may be another controller's yet"
            monitor.begin()
            until(lambda: bool((live := read_live(tmp_path)) and live.readings), 60)
            first = monitor.now()[0].ops_per_s or 0
            until(lambda: (monitor.now()[0].ops_per_s or 0) > first, 60)
            live = read_live(tmp_path)
            assert live is not None
            assert live.phase == "running"
            assert live.controller_lives(time.time())
            monitor.forget(running)
            assert monitor.now() == ()
        assert not (tmp_path / LIVE).exists(), "an interrupted command leaves no claim behind"
        with Monitor(tmp_path) as monitor:
            monitor.begin()
            monitor.ended(4)
        assert json.loads((tmp_path / LIVE).read_text())["exit_code"] == 4
        assert not list(tmp_path.glob(f".{LIVE}*"))
    finally:
        running.stop()
        running.collect(tmp_path / "out")


class Hangs:
    """A job on a host that does not answer."""

    out_of_touch = True

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = threading.Event()

    def wait(self, timeout_s: float) -> bool:
        return False

    def stop(self) -> None: ...

    def discard(self) -> None: ...

    def collect(self, into: Path) -> JobOutput:
        raise AssertionError

    def tail(self, limit: int = 2000) -> str:
        self.asked.set()
        self.over.wait(30)
        return ""


class Speaks(Hangs):
    def tail(self, limit: int = 2000) -> str:
        return "7\n"


def test_a_host_that_does_not_answer_holds_up_neither_the_others_nor_the_end() -> None:
    hangs, speaks = Hangs(), Speaks()
    started = time.monotonic()
    with Monitor(poll_s=0.05) as monitor:
        monitor.watch(hangs, count)
        monitor.watch(speaks, count)
        assert hangs.asked.wait(10)
        until(lambda: len(monitor.now()) == 1, 60)
        monitor.forget(hangs)
    hangs.over.set()
    assert time.monotonic() - started < 10


def test_a_controller_that_was_killed_is_known_to_have_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    here = Live(pid=child.pid, controller=os.uname().nodename, at=0.0, phase="running")
    assert here.controller_lives(time.time()), "it is asked for itself, not for its file's age"
    child.kill()
    until(lambda: not here.controller_lives(time.time()), 60)
    child.communicate()
    elsewhere = Live(pid=1, controller="another.host", at=100.0, phase="running")
    assert elsewhere.controller_lives(105.0)
    assert not elsewhere.controller_lives(111.0)
