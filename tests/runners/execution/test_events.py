"""Tests events during real load: a server that is stopped for a known time, and events that fail."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bench import Bench, fresh_bench, pages_of
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool
from tests.support.warm import warm

STOPPED_S = 3
MONGO = """\
hardware here { hosts = @HOST@ }
client load { hosts = local  tool = go_ycsb }
database mongo { engine = mongodb  server = embedded  path = "@DATA@/mongo"  reset = reuse }
workload c from ycsb.c { records = 300 }
experiment e {
  hardware = here  workloads = c  threads = 2  target = 100 ops/s  measure = @SECONDS@ s
  at 6 s "Stopped" {
    command("@COMMAND@", on: first, timeout: 9 s)
    window = 4 s  within = 60 %  steady = 2 s  data = kept
  }
}
metric back "Time to recover" in s = recovery, lower is better
expect recovery.outage < 60 s
report r "Recovery" { figure "Around" { line = timeline.throughput by time }  disclosure = automatic }
"""
STOP = "p=$(cat @DATA@/mongo/server.pid) && kill -STOP $p && sleep 3 && kill -CONT $p"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    built_tool("mongo-stand-in")
    built_tool("go-ycsb/bin/go-ycsb")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


def spec(bench: Bench, command: str = STOP, host: str = "local", seconds: int = 15) -> None:
    bench.spec(MONGO.replace("@COMMAND@", command), HOST=host, SECONDS=seconds)


def event(bench: Bench) -> dict[str, Any]:
    (row,) = bench("query", "FROM events", "--json").json
    assert isinstance(row, dict)
    return row


def assert_outage_is_known(bench: Bench) -> None:
    row = event(bench)
    assert row["outage_s"] == pytest.approx(STOPPED_S, abs=1.0), row
    assert row["lowest"] == 0.0
    assert row["recovery_s"] is not None
    assert row["began_s"] == pytest.approx(6.0, abs=1.0)
    (ran,) = bench.journal("event_ran")[-1:]
    assert ran["exit_code"] == 0
    assert ran["seconds"] == pytest.approx(STOPPED_S, abs=0.5)


OPEN = """hardware here { hosts = local }
client load { hosts = local  tool = openload }
database mongo { engine = mongodb  server = embedded  path = "@DATA@/mongo"  reset = reuse }
workload c from ycsb.c { records = 300 }
experiment e {
  hardware = here  workloads = c  threads = 8  measure = 19 s
  target = 200 ops/s  arrivals = constant(lag: 100 %)
  at 5 s "Stopped" {
    command("@STOP2@", on: first, timeout: 9 s)
    window = 4 s  within = 60 %  steady = 2 s  data = kept
  }
  at 12 s "Stopped for longer" {
    command("@STOP3@", on: first, timeout: 9 s)
    window = 3 s  within = 60 %  steady = 2 s  data = kept
  }
}
metric out   "Time without service"     in s = recovery.outage, lower is better
metric tails "Until latency recovered" in s = recovery.latency, lower is better
report r "Recovery" { figure "Around" { line = out by workload } }
"""


@pytest.mark.long
def test_each_of_two_outages_under_an_offered_load_is_found_within_one_sample(bench: Bench) -> None:
    """openload offers its load all the time, so operations that are due while the server is stopped come late, and are
    counted."""
    built_tool("openload/bin/openload-mongodb")
    stops = {f"STOP{seconds}": STOP.replace("sleep 3", f"sleep {seconds}") for seconds in (2, 3)}
    text = OPEN
    for name, command in stops.items():
        text = text.replace(f"@{name}@", command)
    bench.spec(text)
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 0, done.text
    rows = bench("query", "FROM events ORDER BY began_s", "--json").json
    for row, stopped_s in zip(rows, (2.0, 3.0), strict=True):
        assert stopped_s - 1 <= row["outage_s"] <= stopped_s + 2, (row, "a busy machine wakes the server late")
    assert all(row["recovery_s"] is not None for row in rows)
    assert all((row["latency_s"] is None) == (row["latency_reason"] is not None) for row in rows)
    (longest,) = bench("query", "SELECT max(max_s) AS most FROM operations WHERE kind = 'intended'", "--json").json
    assert 2.5 < longest["most"] < 6, "the first that was due in the longer one; a busy machine wakes the server late"
    (share,) = bench(
        "query", "SELECT count AS n FROM throughput WHERE operation = 'all' AND phase IS NULL", "--json"
    ).json
    assert share["n"] == pytest.approx(200 * 19, rel=0.02), "none of what was due is left out"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo no such primary; exit 3", "ended with code 3: no such primary"),
        pytest.param("sleep 60", "did not end within 9 s", marks=pytest.mark.long),
    ],
)
def test_a_cell_whose_event_failed_is_not_good(command: str, said: str, bench: Bench) -> None:
    spec(bench, command, seconds=12)
    assert bench("run", "brief.bench", "--no-report").code != 0
    (ended,) = bench.journal("cell_ended")
    assert ended["status"] == "failed"
    assert 'the event "Stopped" failed' in ended["reason"]
    assert said in ended["reason"]
    assert bench.strays() == {}


@pytest.mark.long
def test_a_cell_that_is_interrupted_in_its_measurement_is_measured_again(bench: Bench) -> None:
    spec(bench)
    point = {"type": "job_collected", "job": "event:1:local"}
    done = warm().run(("run", "brief.bench", "--no-report"), bench.folder, bench.env, 90, killed_at=point)
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    assert bench("resume", "--no-report").code == 0
    (ended,) = bench.journal("cell_ended")
    assert (ended["status"], ended["attempt"]) == ("ok", 2)
    assert_outage_is_known(bench)
    assert bench.strays() == {}


@pytest.mark.long
def test_the_length_of_a_known_outage_on_a_host_behind_ssh_is_found_within_one_sample(bench: Bench) -> None:
    system_tool("sshd")
    there = bench.folder / "there"
    there.mkdir()
    there.chmod(0o777)
    with sshd(config=f"SetEnv TMPDIR={there} BENCHBRIEF_TEST={bench.mark} PATH={bench.env['PATH']}") as server:
        bench.env["HOME"] = str(server.home)
        spec(bench, host='"box"')
        done = bench("run", "brief.bench")
        assert done.code == 0, done.text
    assert_outage_is_known(bench)
    page = pages_of(bench.run_dir)
    assert "at 6 s: Stopped" in page, "the event is drawn, with its label"


def test_the_beginning_of_a_measurement_ends_before_its_first_event(bench: Bench) -> None:
    """The effect of an event is not a transient. Otherwise, the outage of 3 s would make a transient of 60 of the 120
    s."""
    bench.spec("""\
hardware eco { hosts = "eco-1.lab" }
client load { hosts = "load-1.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload b from ycsb.b { records = 1000 }
experiment e {
  hardware = eco  workloads = b  threads = 64  target = 500 ops/s  arrivals = poisson  measure = 2 min
  at 55 s "Stopped" { command("true", on: first) }
}
""")
    assert bench("run", "brief.bench", "--simulate").code == 0
    (cell,) = bench("query", "--run", "simulated", "SELECT transient_s FROM cells", "--json").json
    assert cell["transient_s"] == 0.0
