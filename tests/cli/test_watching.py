"""Tests watching a run in progress: on its own screen, from other shells, and by a metrics collector."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyte
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from benchbrief.cli.terminal import Stop
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.openmetrics import MetricsFile
from benchbrief.progress.run_progress import Progress
from tests.cli.specs import EXPERIMENT, FILL, HARDWARE, ONE_FOLDER
from tests.support import wrapped
from tests.support.bench import PROGRAM, Bench
from tests.support.longer import longer
from tests.support.tools import system_tool
from tests.support.waiting import until
from tests.support.warm import Forked, starts_alike, warm

SECOND = "ramp/one/fill/threads=2/r1"


@pytest.fixture
def slow_bench(bench: Bench) -> Bench:
    """Return a bench whose second cell takes a quarter of a minute. Its spec has an expectation that does not hold."""
    tool = wrapped.db_bench(bench.folder / "slow", '*--threads=2*) set -- "$@" --duration=15;;')
    limit = "expect max(throughput over threads, hardware) > 900G ops/s\n"
    bench.spec(ONE_FOLDER + limit, TOOL=f'db_bench("{tool}")')
    return bench


@dataclass
class Terminal:
    """A real terminal in which a command runs, and the contents of its screen."""

    process: subprocess.Popen[bytes] | Forked
    fd: int
    screen: pyte.Screen
    said: bytearray = field(default_factory=bytearray)

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def shows(self, pattern: str) -> bool:
        return re.search(pattern, "\n".join(self.lines())) is not None


@contextmanager
def terminal(
    bench: Bench, *words: str, columns: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Run `bench` on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    its = {**bench.env, "TERM": "xterm-256color", **(env or {})}
    process: subprocess.Popen[bytes] | Forked
    if starts_alike(env or {}):
        process = warm().start(words, bench.folder, its, theirs, theirs, paper=False, on_a_terminal=True)
    else:
        process = subprocess.Popen(
            [PROGRAM, *words],
            cwd=bench.folder,
            env=its,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    os.close(theirs)
    shown = Terminal(process, ours, pyte.Screen(columns, rows))
    stream = pyte.ByteStream(shown.screen)

    def read() -> None:
        with suppress(OSError):  # nobody has the terminal open any more
            while piece := os.read(ours, 1 << 16):
                shown.said.extend(piece)
                stream.feed(piece)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield shown
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join(10)
        os.close(ours)


def families(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    return {
        family.name: [(sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    }


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        os.kill(pid, number)


@pytest.mark.timeout(240)
def test_a_run_is_seen_on_its_screen_and_from_other_shells_until_it_ends(slow_bench: Bench) -> None:
    bench = slow_bench
    with terminal(bench, "run", "brief.bench", "--openmetrics", "m/bench.prom", "--no-report") as run:
        until(lambda: run.shows(r"threads=2/r1 +measure +\d+ s of about 1 s|planned 1 s.*ops/s"), 60)
        until(lambda: run.shows(r"measure .* [\d,]+ ops/s"), 20)
        # Halted, its last numbers stand until all have looked, however slow the machine is.
        halted = bench.processes("db_bench")
        signal_all(halted, signal.SIGSTOP)
        until(lambda: run.shows(r"local +measure +cpu +\d+ %"), 60)
        assert run.shows(r"1/2 cells  \d+ s gone")

        run.resize(50, 8)
        until(lambda: run.shows(r"1/2 cells") and all(len(line) <= 50 for line in run.lines()), 30)

        # Watchers from other shells: one that leaves does not touch the run, one that stays ends as the run does.
        with bench.started("watch", "--json", "--every", "1") as stays, bench.started("watch") as leaves:
            leaves.until_it_says("1 of 2 cells finished")
            leaves.signal(signal.SIGINT)
            # The same numbers, asked for once.
            until(lambda: any(cell["now"] for cell in bench("status", "--json").json["cells"]))
            status = bench("status", "--json").json
            (now,) = [cell["now"] for cell in status["cells"] if cell["now"]]
            assert now["ops_per_s"] > 0
            assert 0 < status["hosts"]["local"]["cpu.utilisation"] <= 1
            metrics = families(bench("status", "--openmetrics").out)
            (current,) = metrics["benchbrief_current_throughput_ops_per_second"]
            assert current[0]["cell"] == SECOND
            assert current[1] > 0
            assert {labels["state"]: value for labels, value in metrics["benchbrief_cells"]}["running"] == 1
            left = leaves.wait(60)
            assert left.code == 130
            assert "goes on; look again with: bench watch" in left.err
            signal_all(halted, signal.SIGCONT)
            assert run.process.wait(60) == 4, run.lines()
            ended = stays.wait(60)
        assert ended.code == 4, "an expectation that does not hold is known to who watches"
        printed = [json.loads(line) for line in ended.out.splitlines()]
        assert {"present", "cell_ended", "run_ended", "end"} <= {each["event"] for each in printed}
        assert (printed[-1]["phase"], printed[-1]["exit_code"]) == ("ended", 4)
    kept = families((bench.folder / "m" / "bench.prom").read_text())
    states = {labels["state"]: value for labels, value in kept["benchbrief_run_state"]}
    assert states == {"running": 0, "done": 1, "failed": 0, "interrupted": 0}
    assert len(kept["benchbrief_cell_throughput_ops_per_second"]) == 2
    again = bench("watch")
    assert again.code == 4, "also of a run that has ended"
    assert "done, 2 cells" in again.out


@pytest.mark.timeout(120)
def test_a_watcher_reads_within_seconds_that_the_controller_was_killed(slow_bench: Bench) -> None:
    bench = slow_bench
    with bench.started("run", "brief.bench") as run:
        run.until_it_says("[1/2]")
        with bench.started("watch") as watch:
            watch.until_it_says("cells finished")
            run.signal(signal.SIGKILL)
            ended = watch.wait(20)
    assert ended.code == 130
    assert "its controller is gone" in ended.err
    assert f"go on with: bench resume {bench.run_dir.name}" in ended.err


@pytest.mark.long
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "env", [{"TERM": "dumb"}, *longer({"NO_COLOR": "1", "LC_ALL": "POSIX", "PYTHONUTF8": "0"})], ids=str
)
def test_the_screen_suits_the_terminal(bench: Bench, env: dict[str, str]) -> None:
    bench.spec(ONE_FOLDER.replace("[1, 2]", "1"))
    coerced = {"PYTHONCOERCECLOCALE": "0"} if "LC_ALL" in env else {}
    with terminal(bench, "run", "brief.bench", "--no-report", env={**env, **coerced}) as run:
        assert run.process.wait(60) == 0, run.lines()
        until(lambda: run.shows("done, 1 cell"), 60)
    said = bytes(run.said)
    assert b"[1/1]" in said
    if "TERM" in env:
        assert b"\x1b[" not in said, "a dumb terminal can't move its cursor"
    if "NO_COLOR" in env:
        assert not re.search(rb"\x1b\[(3\d|9\d|\d+;3\d)m", said)
    if "LC_ALL" in env:
        assert said.isascii()
        assert re.search(rb"0/1 cell\b", said)


@pytest.mark.long
def test_many_cells_that_fail_for_one_reason_are_reported_together_with_what_helps(bench: Bench) -> None:
    four = ONE_FOLDER.replace("[1, 2]", "[1, 2, 3, 4]  on_failure = try_all")
    tool = wrapped.db_bench(bench.folder / "broken", '*--benchmarks=*) echo "the disk is sick" >&2; exit 3;;')
    bench.spec(four, TOOL=f'db_bench("{tool}")')
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3
    assert "cells   4 failed" in ended.out or "4 of 4 cells failed" in ended.out
    assert re.search(r"failed  4 cells, from ramp/one/fill/threads=1/r1 to \S*threads=4/r1: .*is sick", ended.out)
    assert ended.out.count("the disk is sick") == 1
    mend = "if the spec is the cause, mend it, and run what is not measured yet with: bench run brief.bench"
    again = f"if a host is the cause, mend it, and try the failed cells again with: bench resume {bench.run_dir.name}"
    assert ended.out.splitlines()[-2:] == [mend, again]


@pytest.mark.long
def test_values_that_the_tool_refuses_are_mended_in_the_spec(bench: Bench) -> None:
    system_tool("db_bench")
    refused = {
        "prefix_size = 100": "prefix size is larger than key size",
        "mmap_read = true  use_direct_reads = true": "open error: Not implemented: If memory mapped reads",
        "min_level_to_compress = 100": "Assertion `FLAGS_min_level_to_compress <= FLAGS_num_levels' failed",
        'memtablerep = "nonsense"': "Could not create memtable factory",
    }
    databases = "".join(
        FILL.partition("workload")[0]
        .replace("rocks ", f"rocks{number} ")
        .replace("{path}", f"{{path}}/{number}")
        .replace("cache = 1 MiB }", f"cache = 1 MiB  {options} }}")
        for number, options in enumerate(refused)
    )
    ramp = EXPERIMENT.replace("box.variants", "box.one").replace("[rr]", "[fill]").replace("[1, 2]", "1")
    ramps = "".join(
        ramp.replace("ramp {", f"ramp{number} {{ database = rocks{number}") for number in range(len(refused))
    )
    bench.spec(HARDWARE + databases + "workload" + FILL.partition("workload")[2] + ramps)
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3
    for said in refused.values():
        assert said in ended.out
    assert ended.out.splitlines()[-1] == "mend the spec, and run what is not measured yet with: bench run brief.bench"
    assert "bench resume" not in ended.out


@pytest.mark.long
def test_a_tool_that_is_absent_is_reported_once_before_anything_is_measured(bench: Bench) -> None:
    bench.spec(ONE_FOLDER.replace("[1, 2]", "[1, 2, 3, 4, 5]"), TOOL='db_bench("/no/such/db_bench")')
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3
    assert ended.err.count("db_bench is not on local: there is no such program in /no/such/db_bench") == 1
    assert 'mend the path in the spec, `tool = db_bench("/no/such/db_bench")`, or install it there' in ended.err
    assert "nothing was measured; `bench doctor brief.bench` looks again" in ended.err
    assert not list((bench.folder / "bench-out").iterdir()), "there is no run of which nothing was measured"
    assert bench("doctor", "brief.bench").code == 3


@pytest.mark.long
def test_an_option_that_the_tool_refuses_is_tried_once_and_no_hint_says_to_resume(bench: Bench) -> None:
    system_tool("db_bench")
    wrong = ONE_FOLDER.replace("cache = 1 MiB }", "cache = 1 MiB  no_such_flag = 3 }")
    bench.spec(wrong.replace("measure ", "retries = 2  measure ", 1))
    ended = bench("run", "brief.bench", "--no-report")
    assert ended.code == 3
    assert "db_bench ended with code 1: ERROR: unknown command line flag 'no_such_flag'" in ended.out
    assert "has gone" not in ended.out, "the database is not what is wrong"
    assert len(bench.journal("cell_ended")) == len({record["cell"] for record in bench.journal("cell_ended")})
    assert "bench resume" not in ended.out
    assert "mend the spec, and run what is not measured yet with: bench run brief.bench" in ended.out


@pytest.mark.long
def test_the_columns_of_status_stand_whatever_the_names_of_cells_are(bench: Bench) -> None:
    long = "a_name_that_is_much_longer_than_the_column_that_was_made_for_it_once"
    bench.spec(ONE_FOLDER.replace("workload fill", f"workload {long}").replace("[fill]", f"[{long}]"))
    assert bench("run", "brief.bench", "--no-report").code == 0
    cells = [line for line in bench("status").out.splitlines()[1:] if "ramp/" in line]
    assert len({line.index("ramp/") for line in cells}) == 1
    with terminal(bench, "status", columns=80) as shown:
        assert shown.process.wait(30) == 0
        until(lambda: any(line.startswith("time: ") for line in shown.lines()), 60)
        assert all("…" in line and line.endswith("/r1") for line in shown.lines()[1:3])


def test_a_run_that_does_not_begin_here_leaves_the_file_of_its_numbers_as_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "bench.prom"
    kept.write_text("# EOF\n")
    with pytest.raises(Stop), MetricsFile(kept, Progress(quiet=True), list):
        raise Stop(ExitCode.CELL_FAILED)
    assert kept.read_text() == "# EOF\n"
    assert list(tmp_path.iterdir()) == [kept]


def test_openmetrics_is_a_format_of_its_own(bench: Bench) -> None:
    ended = bench("status", "--openmetrics", "--json")
    assert ended.code == 2
    assert "leave out --all and --json" in ended.err
