"""Tests a controller that is killed at every point of a run: no measurement is lost or made twice."""

from __future__ import annotations

import random
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import wrapped
from tests.support.bench import Bench, fresh_bench
from tests.support.mongo import as_mongod
from tests.support.ports import free_port
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool
from tests.support.waiting import until
from tests.support.warm import warm

ROCKS = """\
hardware here { hosts = @HOST@ }
database rocks { engine = rocksdb  tool = @TOOL@  path = "@DATA@/rocks"  reset = drop_and_load }
workload rr from db_bench.readrandom { records = 2k  value_size = 100 B }
experiment e {
  hardware = here  workloads = [rr]  threads = [1, 2]  warm_up = 1 s  measure = 1 s  probes = [cpu every 1 s]
}
"""
FIRST, SECOND = (f"e/here/rr/threads={number}/r1" for number in (1, 2))

MONGO = """\
hardware here { hosts = local }
client load { hosts = local  tool = @TOOL@ }
database mongo { engine = mongodb  server = embedded  reset = reuse }
workload c from ycsb.c { records = 500 }
experiment e { hardware = here  database = mongo  workloads = [c]  threads = [1, 2]  warm_up = 0 s  measure = 2 s }
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        fresh.tool = f'db_bench("{wrapped.db_bench(fresh.folder / "tool")}")'
        yield fresh


@pytest.fixture
def by_ssh(bench: Bench) -> Iterator[Path]:
    """Let `bench` reach `box` through a real sshd, and yield the folder of jobs there."""
    system_tool("sshd")
    there = bench.folder / "there"
    there.mkdir()
    there.chmod(0o777)
    with sshd(config=f"SetEnv TMPDIR={there} BENCHBRIEF_TEST={bench.mark}") as server:
        bench.env["HOME"] = str(server.home)
        yield there


def until_killed(bench: Bench, point: dict[str, str], *words: str) -> None:
    """Run `bench` until it is killed at a point (see `tests/support/killed.py`)."""
    done = warm().run(words, bench.folder, bench.env, 60, killed_at=point)
    assert done.returncode == -signal.SIGKILL, f"{point} was not reached: {done.stdout + done.stderr!r}"


@dataclass(frozen=True)
class Controllers:
    """The journal, divided among the controllers that wrote it."""

    each: tuple[list[dict[str, Any]], ...]

    def did_with(self, cell: str) -> list[str]:
        """For each controller, return how it began with the cell: `goes on` (it continued the attempt), `again` (it
        started a new attempt) or `` (it did not begin the cell)."""
        found = []
        for records in self.each:
            kinds = [r["type"] for r in records if r.get("cell") == cell]
            first = next((kind for kind in kinds if kind in ("cell_resumed", "cell_started")), "")
            found.append({"cell_resumed": "goes on", "cell_started": "again"}.get(first, ""))
        return found


def written(bench: Bench) -> int:
    """Return the number of lines in the journal."""
    return sum(path.read_bytes().count(b"\n") for path in bench.folder.glob("bench-out/*/journal.jsonl"))


def controllers(bench: Bench) -> Controllers:
    found: list[list[dict[str, Any]]] = []
    for record in bench.journal():
        if record["type"] == "run_started":
            found.append([])
        found[-1].append(record)
    return Controllers(tuple(found))


def assert_whole(bench: Bench, cells: tuple[str, ...]) -> None:
    """Check that each cell has one good verdict with its tool's output, and that the cell's jobs were collected
    once."""
    verdicts = bench.journal("cell_ended")
    assert sorted(verdict["cell"] for verdict in verdicts) == sorted(cells), "a finished cell is not run again"
    assert {verdict["status"] for verdict in verdicts} == {"ok"}
    attempts = {verdict["cell"]: verdict["attempt"] for verdict in verdicts}
    jobs = [job for job in bench.journal("job_collected") if job["attempt"] == attempts[job["cell"]]]
    assert len({(job["cell"], job["step"], job["job"]) for job in jobs}) == len(jobs)
    counts = {
        row["cell_id"]: row["count"]
        for row in bench("query", "SELECT cell_id, count FROM throughput WHERE operation = 'all'", "--json").json
    }
    for job in jobs:
        if job["job"] == "measure":
            printed = (bench.run_dir / job["directory"] / "stdout").read_text()
            if "operations;" in printed:
                assert counts[job["cell"]] == operations(printed), printed[-500:]
            else:
                # Of YCSB, whole intervals count: not the first and the last one, in which it begins and ends.
                assert 0 < counts[job["cell"]] <= operations(printed), printed[-500:]
    assert bench.journal("run_ended")[-1]["status"] == "done"
    assert bench.strays() == {}


def operations(printed: str) -> int:
    """Return the number of operations that db_bench, go-ycsb or YCSB printed."""
    if found := re.search(r"(\d+) operations;", printed) or re.search(
        r"^READ +- .* Count: (\d+),", _last(printed), re.MULTILINE
    ):
        return int(found[1])
    return sum(int(count) for count in re.findall(r"^\[READ\], Return=OK, (\d+)", printed, re.MULTILINE))


def _last(printed: str) -> str:
    """Return the summary of go-ycsb."""
    return printed.partition("Run finished")[2]


POINTS: tuple[tuple[dict[str, str], str], ...] = (
    ({"type": "cell_ended"}, ""),
    ({"type": "run_started"}, ""),
    ({"type": "host_facts"}, ""),
    ({"type": "cell_started"}, "again"),
    ({"type": "step_started", "step": "prepare"}, "again"),
    ({"type": "engine_facts"}, "again"),
    ({"type": "tool_found"}, "again"),
    ({"type": "step_ended", "step": "prepare"}, "again"),
    ({"type": "step_started", "step": "load"}, "again"),
    ({"waits_in": "load"}, "goes on"),
    ({"type": "job_collected", "job": "load"}, "goes on"),
    ({"type": "step_ended", "step": "load"}, "again"),
    ({"type": "step_started", "step": "warm_up"}, "again"),
    ({"waits_in": "warm_up"}, "goes on"),
    ({"type": "job_collected", "job": "warm_up"}, "goes on"),
    ({"type": "step_ended", "step": "warm_up"}, "again"),
    ({"type": "step_started", "step": "measure"}, "again"),
    ({"type": "clock_read", "when": "before"}, "again"),
    ({"waits_in": "measure"}, "goes on"),
    ({"type": "job_collected", "job": "measure"}, "goes on"),
    ({"type": "job_collected", "job": "probe:cpu:box"}, "goes on"),
    ({"type": "step_ended", "step": "measure"}, "goes on"),
    ({"type": "step_started", "step": "collect"}, "goes on"),
    ({"type": "cell_resumed"}, "goes on"),
    ({"type": "step_ended", "step": "collect"}, "goes on"),
    ({"type": "cell_ended"}, ""),
)
"""The points at which a controller is killed, in order of time. Each comes with what the next controller does with the
cell in progress."""
SOME_POINTS = tuple(POINTS[at] for at in (0, 2, 3, 8, 9, 11, 14, 17, 18, 19, 21, 23, 24, 25))
"""At least one point before, in and after each job, and each point at which the next controller's behaviour changes."""


@pytest.mark.timeout(300)
@pytest.mark.long
@pytest.mark.parametrize("points", [SOME_POINTS, POINTS], ids=["some", "every"])
def test_a_run_killed_at_one_point_after_another_over_ssh_is_whole_in_the_end(
    points: tuple[tuple[dict[str, str], str], ...], bench: Bench, by_ssh: Path
) -> None:
    bench.spec(ROCKS, HOST='"box"')
    words: tuple[str, ...] = ("run", "brief.bench")
    for point, _ in points:
        until_killed(bench, point, *words, "--no-report")
        words = ("resume",)
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    did = controllers(bench).did_with(SECOND)
    seen = [(point, then) for (point, _), then in zip(points, did[1:], strict=True)]
    # A controller that was itself killed before it came to the cell shows what it would have done in the next one.
    began = points.index(POINTS[3])
    assert seen[began - 1][1] == "again"
    assert seen[began:] == list(points[began:])
    assert_whole(bench, (FIRST, SECOND))
    (measured,) = [
        job
        for job in bench.journal("job_collected")
        if job["cell"] == SECOND and job["job"] == "measure" and job["attempt"] == bench.verdicts()[SECOND][1]
    ]
    resumed = [each for each in bench.journal("cell_resumed") if each["step"] == "measure"]
    assert all(measured["started_at"] < each["at"] for each in resumed), "it is the one that was started before"
    assert list(by_ssh.iterdir()) == []
    again = bench("resume", bench.run_dir.name, "--no-report")
    assert again.code == 0, again.text
    assert len(controllers(bench).each) == len(points) + 1, "a whole run stays as it is"


def killed_again_and_again(bench: Bench, seed: int, times: int, lines: tuple[int, int]) -> int:
    """Run to the end, and kill the run at most `times` times on the way. `lines` are the fewest and the most lines that
    the journal grows by before each kill. Returns the number of kills."""
    chance = random.Random(seed)  # noqa: S311 - it picks moments, the same each time
    words: tuple[str, ...] = ("run", "brief.bench")
    for killed in range(times):
        enough = written(bench) + chance.randint(*lines)
        with bench.started(*words, "--no-report", stays=True) as run:
            until(lambda p=run.process, n=enough: p.poll() is not None or written(bench) >= n, 60)  # type: ignore[misc]
            run.process.kill()
            ended = run.wait(60)
        if ended.code == 0:
            return killed
        assert ended.code == -signal.SIGKILL, ended.text
        words = ("resume",)
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    return times


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_run_killed_at_random_times_is_whole_in_the_end(bench: Bench) -> None:
    bench.spec(ROCKS, HOST="local")
    killed_again_and_again(bench, seed=4, times=8, lines=(2, 14))
    assert_whole(bench, (FIRST, SECOND))
    assert [path for root in bench.tmp.iterdir() for path in root.iterdir()] == []


LOADERS = """\
hardware box { hosts = local }
client load { hosts = "load-[1-2]"  tool = @TOOL@ }
database mongo { engine = mongodb  server = embedded  reset = reuse }
workload c from ycsb.c { records = 300 }
experiment search {
  hardware = box  database = mongo  workloads = [c]  warm_up = 0 s  measure = 1 s  retries = 1
  threads = knee(from: 2, factor: 2, to: 32, rise: 0.1 %, gain: 100 %)
}
experiment found {
  hardware = box  database = mongo  workloads = [c]  threads = search.knee  warm_up = 0 s  measure = 1 s  retries = 1
  repeats = confident(within: 50 %, from: 3, to: 4)
}
"""


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_search_by_two_load_generators_and_repeats_that_end_by_themselves_survive_random_kills(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    system_tool("sshd")
    once = bench.folder / "failed-once"
    tool = bench.folder / "go-ycsb"
    fails = f"run\\ *) [ -e {once} ] || {{ touch {once}; echo lost; exit 1; }};;"
    known = "# github.com/pingcap/go-ycsb v1.0.1\n"
    real = built_tool("go-ycsb/bin/go-ycsb")
    tool.write_text(f'#!/bin/sh\n{known}case "$*" in\n{fails}\nesac\nexec {real} "$@"\n')
    tool.chmod(0o755)
    bench.spec(LOADERS, TOOL=f'go_ycsb("{tool}")')
    mark = f"SetEnv BENCHBRIEF_TEST={bench.mark} TMPDIR="
    with sshd(config=f"{mark}{bench.folder}/one") as one, sshd(config=f"{mark}{bench.folder}/two") as two:
        for server, folder in ((one, "one"), (two, "two")):
            (bench.folder / folder).mkdir()
            (bench.folder / folder).chmod(0o777)
            server.write_config(f"IdentityFile {server.key}", name="load-1" if server is one else "load-2")
        blocks = [(server.home / ".ssh/config").read_text() for server in (one, two)]
        (one.home / ".ssh/config").write_text("".join(blocks))
        one.write_known_hosts(*(f"[127.0.0.1]:{server.port} {server.host_key}" for server in (one, two)))
        bench.env["HOME"] = str(one.home)
        killed_again_and_again(bench, seed=7, times=4, lines=(8, 30))
    verdicts = bench.journal("cell_ended")
    good = [verdict["cell"] for verdict in verdicts if verdict["status"] == "ok"]
    assert len(set(good)) == len(good), "nothing is measured twice"
    (search,) = bench.journal("search_ended")
    assert [point["point"] for point in search["points"]] == [2, 4, 8, 16, 32][: len(search["points"])]
    skipped = [record["cell"] for record in bench.journal("cell_skipped")]
    assert sum(cell.startswith("found/") for cell in good + skipped) == 4, "each was measured, or not needed"
    assert len(set(skipped)) == len(skipped)
    assert not set(skipped) & set(good)
    attempts = dict(bench.verdicts().items())
    for cell in good:
        measured = [
            job["host"]
            for job in bench.journal("job_collected")
            if (job["cell"], job["job"], job["attempt"]) == (cell, "measure", attempts[cell][1])
        ]
        assert sorted(measured) == ["load-1", "load-2"]
    assert once.exists(), "an attempt failed, and was made again"
    assert bench.journal("run_ended")[-1]["status"] == "done"
    assert bench.strays() == {}
    assert [*(bench.folder / "one").iterdir(), *(bench.folder / "two").iterdir()] == []


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_server_that_was_started_goes_on_with_its_measurement_when_the_controller_is_killed(
    bench: Bench, by_ssh: Path
) -> None:
    built_tool("mongo-stand-in")
    built_tool("go-ycsb/bin/go-ycsb")
    port = free_port()
    server = f'start  port = {port}  binary = "{as_mongod(bench.folder)}"  path = "@DATA@/mongo"'
    there = MONGO.replace("hosts = local", 'hosts = "box"').replace("embedded", server).replace("[1, 2]", "1")
    bench.spec(there, TOOL=f'go_ycsb("{wrapped.PROGRAMS}/go-ycsb/bin/go-ycsb")')
    until_killed(bench, {"waits_in": "measure"}, "run", "brief.bench", "--no-report")
    started = [pid for pid, line in bench.strays().items() if f"--port {port}" in line]
    assert started
    left_at = time.time()
    until_killed(bench, {"type": "job_collected", "job": "measure"}, "resume")
    assert [pid for pid, line in bench.strays().items() if f"--port {port}" in line] == started
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    (cell,) = bench.verdicts()
    assert_whole(bench, (cell,))
    assert controllers(bench).did_with(cell) == ["again", "goes on", "goes on"]
    first, _ = bench.journal("cell_resumed")
    assert abs(first["away_since"] - left_at) < 30
    assert list(by_ssh.iterdir()) == []


@pytest.mark.long
@pytest.mark.timeout(240)
def test_ycsb_and_its_embedded_server_outlive_their_controller(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    bench.spec(MONGO, TOOL=f'ycsb("{wrapped.ycsb(bench.folder / "ycsb")}")')
    until_killed(bench, {"waits_in": "measure"}, "run", "brief.bench", "--no-report")
    (server,) = [pid for pid, line in bench.strays().items() if "benchbrief.MongoStandIn" in line]
    until_killed(bench, {"type": "cell_started", "cell": "e/here/c/threads=2/r1"}, "resume")
    assert server in bench.strays(), "the next cell is run on the same server"
    ended = bench("resume", "--no-report")
    assert ended.code == 0, ended.text
    one, two = (f"e/here/c/threads={number}/r1" for number in (1, 2))
    assert_whole(bench, (one, two))
    assert controllers(bench).did_with(one) == ["again", "goes on", ""]
    loads = [job for job in bench.journal("job_collected") if job["job"] == "load"]
    assert len(loads) == 1, "its data were kept"
    counters = [record for record in bench.journal("counters") if record["cell"] == one]
    (reading,) = [record for record in bench.journal("counter_reading") if record["cell"] == one][:1]
    (record,) = counters
    assert record["before"] == reading["counters"], "of the controller that was killed"
    assert record["samples"][0][0] == reading["at"]
    notes = bench("query", "SELECT text FROM notes WHERE cell_id LIKE '%threads=1%'", "--json").json
    assert any("server counters were not read from" in note["text"] for note in notes)
