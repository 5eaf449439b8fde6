"""Tests open loops on RocksDB from a spec to its brief: each spacing of a load, and how each may fail."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import small_disk
from tests.support.bench import Bench, fresh_bench, pages_of
from tests.support.longer import longer
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool
from tests.support.warm import warm

__all__ = ["small_disk"]

# Medians alone are asked for: on a busy machine, higher percentiles are the generator's own lateness, and refused.
HEAD = """\
hardware here { hosts = @HOST@ }
database rocks { engine = rocksdb  tool = openload  path = "@DATA@/rocks"  reset = links }
workload a from ycsb.a { records = 1k  fields = 1 }
"""
SPACED = (
    HEAD
    + """\
experiment bursts {
  hardware = here  workloads = a  threads = 8  target = 100 ops/s  measure = 6 s
  arrivals = burst(600 ops/s, every: 3 s, lasting: 1 s, lag: 100 %)
}
experiment stairs {
  hardware = here  workloads = a  threads = 8
  arrivals = steps(100 ops/s, 300 ops/s, lasting: 3 s, lag: 100 %)
}
experiment recorded {
  hardware = here  workloads = a  threads = 8  measure = 5 s
  arrivals = trace("due.txt", lag: 100 %)
}
metric in_burst "Median"     in ms    = latency.p50[read, bursts]
metric in_steps "Median"     in ms    = latency.p50[read, stairs]
metric in_trace "Median"     in ms    = latency.p50[read, recorded]
metric stairs_t "Throughput" in ops/s = throughput[stairs]
metric of_trace "Throughput" in ops/s = throughput[recorded]
report r "Spaced loads" {
  figure "Stairs"  { line = stairs_t by phase }
  figure "Medians" { line = in_steps by phase }
  text = "Bursts: {in_burst:.1f} ms; trace: {in_trace:.1f} ms, {of_trace:.0f} ops/s."
  disclosure = automatic
}
"""
)
ONE = (
    HEAD
    + """\
experiment e {
  hardware = here  workloads = a  threads = @THREADS@  target = @TARGET@  measure = @MEASURE@
  arrivals = @ARRIVALS@
}
metric median in ms = latency.p50[read]
report r { text = "{median:.1f} ms" }
"""
)
DUE = "".join(f"{number * 0.02:.2f}\n" for number in range(250))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    built_tool("openload/bin/openload-rocksdb")
    with fresh_bench(tmp_path) as fresh:
        (fresh.folder / "due.txt").write_text("# recorded\n" + DUE)
        yield fresh


def one(bench: Bench, arrivals: str, target: str = "200 ops/s", measure: str = "3 s", **more: str) -> None:
    values = {"HOST": "local", "THREADS": "4", **more}
    bench.spec(ONE, TARGET=target, ARRIVALS=arrivals, MEASURE=measure, **values)


@pytest.mark.timeout(240)
def test_bursts_steps_and_traces_run_whole_and_come_to_a_brief(bench: Bench) -> None:
    bench.spec(SPACED, HOST="local")
    done = bench("run", "brief.bench")
    assert done.code == 0, done.text
    rows = bench(
        "query", "SELECT cell_id, phase, count FROM throughput WHERE operation = 'all' ORDER BY ALL", "--json"
    ).json
    counts = {(row["cell_id"].partition("/")[0], row["phase"]): row for row in rows}
    # Two bursts of a second at 600 a second, and four seconds at 100.
    assert counts["bursts", None]["count"] == pytest.approx(1600, rel=0.15)
    # What is due in the first step may end in the second.
    assert counts["stairs", 1]["count"] == pytest.approx(300, rel=0.3)
    assert counts["stairs", 2]["count"] == pytest.approx(900, rel=0.2)
    assert counts["recorded", None]["count"] == 250
    said = " ".join(re.sub("<[^>]+>", "", pages_of(bench.run_dir)).split())
    for each in (
        "bursts of 600 ops/s every 3 s for 1 s",
        "steps of 100 ops/s, 300 ops/s, each for 3 s",
        "the recorded times of due.txt",
        "Version 7.8.3",
    ):
        assert each in said
    assert "behind its schedule" not in done.text


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_controller_that_is_killed_takes_the_same_measurement_when_it_is_back(bench: Bench) -> None:
    system_tool("sshd")
    there = bench.folder / "there"
    there.mkdir()
    there.chmod(0o777)
    with sshd(config=f"SetEnv TMPDIR={there} XDG_DATA_HOME={there} BENCHBRIEF_TEST={bench.mark}") as server:
        bench.env["HOME"] = str(server.home)
        one(bench, "poisson(lag: 100 %)", measure="6 s", HOST='"box"')
        words: tuple[str, ...] = ("run", "brief.bench")
        for point in ({"waits_in": "load"}, {"waits_in": "measure"}, {"type": "job_collected", "job": "measure"}):
            ended = warm().run((*words, "--no-report"), bench.folder, bench.env, 90, killed_at=point)
            assert ended.returncode == -signal.SIGKILL, f"{point} was not reached: {ended.stdout + ended.stderr!r}"
            words = ("resume",)
        done = bench("resume", "--no-report")
        assert done.code == 0, done.text
    (verdict,) = bench.journal("cell_ended")
    assert verdict["status"] == "ok"
    assert {each["step"] for each in bench.journal("cell_resumed")} >= {"measure"}
    (measured,) = [job for job in bench.journal("job_collected") if job["job"] == "measure"][-1:]
    assert len([each for each in bench.journal("job_collected") if each["job"] == "measure"]) <= 2
    (row,) = bench("query", "SELECT count FROM throughput WHERE operation = 'all'", "--json").json
    assert row["count"] == pytest.approx(1200, rel=0.1)
    assert (bench.run_dir / measured["directory"] / "record.json").exists()
    assert bench.strays() == {}


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("arrivals", "target", "said"),
    [
        ("constant(queue: 20, lag: 100 %)", "300k ops/s", "openload refuses its own numbers (drops)"),
        *longer(("constant(queue: 1M, drops: 100 %, lag: 1 %)", "3M ops/s", "openload refuses its own numbers (")),
    ],
    ids=["a queue that fills", "a rate that can't be offered"],
)
def test_a_load_that_was_not_offered_as_declared_is_no_measurement(
    arrivals: str, target: str, said: str, bench: Bench
) -> None:
    one(bench, arrivals, target, THREADS="1", measure="1 s")
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 3, done.text
    (verdict,) = bench.journal("cell_ended")
    assert verdict["status"] == "failed"
    assert said in str(verdict), verdict
    assert bench("query", "FROM throughput WHERE count IS NOT NULL OR ops_per_s IS NOT NULL", "--json").json == []


def test_a_disk_that_fills_is_named_and_nothing_is_taken_for_good(
    bench: Bench, small_disk: Callable[[str], Path]
) -> None:
    bench.data = small_disk("64m")
    text = ONE.replace("records = 1k  fields = 1", "records = 100  fields = 1  field_length = 100 kB")
    text = text.replace("tool = openload", 'tool = openload  options { compression = "none" }')
    bench.spec(
        text,
        HOST="local",
        THREADS="4",
        TARGET="2k ops/s",
        ARRIVALS="constant(lag: 100 %, drops: 100 %)",
        MEASURE="20 s",
    )
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 3, done.text
    (verdict,) = bench.journal("cell_ended")
    assert verdict["status"] == "failed"
    assert "free" in str(verdict), verdict
    assert bench("query", "FROM throughput WHERE count IS NOT NULL OR ops_per_s IS NOT NULL", "--json").json == []


@pytest.mark.parametrize(
    ("due", "said"),
    [
        ("0.1\n0.3\n0.2\n", "line 3"),
        ("0.1\n0.2\n60\n60.1\n", "nothing is due for"),
    ],
    ids=["out of order", "a hole"],
)
def test_a_trace_that_is_not_one_is_refused_before_anything_runs(due: str, said: str, bench: Bench) -> None:
    (bench.folder / "due.txt").write_text(due)
    bench.spec(
        HEAD
        + 'experiment e { hardware = here  workloads = a  threads = 4  measure = 2 s  arrivals = trace("due.txt") }\n',
        HOST="local",
    )
    done = bench("run", "brief.bench")
    assert done.code == 1, done.text
    assert said in done.text
    assert not (bench.folder / "bench-out").exists()
