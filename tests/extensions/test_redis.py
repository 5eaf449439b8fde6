"""Tests Redis and redis-benchmark, from a separate package. The real servers are started by the run, or are already
running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from bench_redis.redis_driver import RedisBenchmark
from bench_redis.redis_importer import RedisBenchmarkCsv

from benchbrief.extend.importers import STDOUT, OutputProblem
from tests.extensions.installed import bench, scratch
from tests.support.environment import REPOSITORY, Environment
from tests.support.ports import free_port
from tests.support.redis import count, redis, say
from tests.support.sshd import sshd
from tests.support.tools import system_tool
from tests.support.waiting import until

EXAMPLE = REPOSITORY / "examples" / "extensions" / "redis"
OUTPUT = EXAMPLE / "outputs" / "get.csv"
SPEC = """\
hardware box "This machine" { hosts = @HOST@ }
client load { hosts = @HOST@  tool = redis_benchmark }
database cache "Redis" { engine = redis  @SERVER@ }
workload reads from redis_benchmark.get { records = 1000 }
workload both  from redis_benchmark.mix { records = 1000  pipeline = 4 }
experiment ramp {
  hardware  = box
  workloads = [reads, both]
  threads   = @THREADS@
  measure   = @TIME@
  probes    = [redis_info every 250 ms]
}
report english "Redis" {
  figure "Throughput" { bars = throughput by workload, color threads }
  table "Reads" { rows = threads  column "Hits" = redis_info.hits[reads]  column "p99" = latency.p99[read, reads] }
  disclosure = automatic
}
report japanese "Redis の測定" {
  language = ja
  figure "メモリ" { line = redis_info.memory[both, threads: 2] by time }
  disclosure = automatic
}
"""


def written(folder: Path, server: str, host: str = "local", threads: str = "[1, 2]", time: str = "1 s") -> str:
    text = SPEC.replace("@HOST@", host).replace("@SERVER@", server).replace("@THREADS@", threads)
    (folder / "cache.bench").write_text(text.replace("@TIME@", time))
    return "cache.bench"


def asked(installed: Environment, folder: Path, sql: str, *run: str) -> list[list[object]]:
    done = bench(installed, folder, "query", "--json", *run, sql)
    assert done.returncode == 0, done.stderr
    return [list(row.values()) for row in json.loads(done.stdout)]


def test_the_example_is_right(installed: Environment, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "check", str(EXAMPLE / "redis.bench"))
    assert done.returncode == 0, done.stdout + done.stderr
    spec = written(tmp_path, 'uri = "redis://:{secret(WORD)}@{hosts}:6379"')
    assert "only as an argument" in " ".join(bench(installed, tmp_path, "check", spec).stderr.split())


@pytest.mark.long
def test_a_run_starts_its_server_measures_and_makes_briefs(installed: Environment, tmp_path: Path) -> None:
    system_tool("redis-server")
    system_tool("redis-benchmark")
    options = 'options { save = "never"  maxmemory = 1 GiB  maxmemory_policy = "allkeys-lru" }'
    spec = written(tmp_path, f'server = start  path = "{tmp_path}/data"  port = {free_port()}  {options}')
    done = bench(installed, tmp_path, "run", spec, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    rendered = bench(installed, tmp_path, "report", "--html-only")
    assert rendered.returncode == 0, rendered.stderr
    assert "メモリ上" in next(tmp_path.rglob("japanese-disclosure.html")).read_text()
    assert "in memory" in next(tmp_path.rglob("english-disclosure.html")).read_text()
    facts = asked(installed, tmp_path, "SELECT name, value FROM facts WHERE node LIKE 'cache%'")
    told = {str(name): value for name, value in facts}
    assert told["maxmemory"] == "1073741824 B / allkeys-lru"
    assert told["durability"] == "appendonly no / appendfsync everysec / save (never)"
    done_by = asked(installed, tmp_path, "SELECT DISTINCT operation FROM operations WHERE count > 100 ORDER BY 1")
    assert done_by == [["read"], ["read_modify_write"]]
    hits = asked(installed, tmp_path, "SELECT value FROM samples WHERE measure = 'redis_info.hits'")
    assert hits
    assert all(share == [1.0] for share in hits), "each key was loaded"
    loads = list(tmp_path.glob("bench-out/*/raw/*/*/load-local"))
    assert len(loads) == 2, "one at the beginning, and one after a cell that wrote"


def test_a_server_that_runs_is_reached_over_ssh_and_keeps_the_keys_of_others(
    installed: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_tool("redis-benchmark")
    with redis(tmp_path) as port, sshd() as host:
        monkeypatch.setenv("HOME", str(host.home))
        say(port, "SET mine 1")
        spec = written(tmp_path, f'uri = "redis://127.0.0.1:{port}"', '"box"', threads="2")
        refused = bench(installed, tmp_path, "run", spec, "--no-report")
        assert refused.returncode == 3
        assert "keys that benchbrief did not load: 1" in " ".join(refused.stdout.split())
        written(tmp_path, f'uri = "redis://127.0.0.1:{port}/1"', '"box"', threads="2")
        done = bench(installed, tmp_path, "run", spec, "--no-report")
        assert done.returncode == 0, done.stdout + done.stderr
        assert say(port, "DBSIZE") == ":1"


def test_a_csv_is_read_imported_and_refused(installed: Environment, tmp_path: Path) -> None:
    head, line = OUTPUT.read_text().splitlines()
    read = RedisBenchmarkCsv().read
    measured = read({STDOUT: OUTPUT}, "get", {})
    assert measured.operations[0].operation == "read"
    assert measured.total.ops_per_s == float(line.split(",")[1].strip('"'))
    other = tmp_path / "other.csv"
    for text, benchmark in (
        (f"{head}\n{line}\n{line}\n", "get"),
        (f"{head}\n{line}\n", "set"),
        (f"{head}\n", "get"),
        (f"{line}\n", "get"),
        (f"{head}\n{line[:-30]}\n", "get"),
        (f'{head}\n"GET","10","1","2","3","4","5","6"\n', "get"),
        (f'{head}\n"GET","10","3","2","3","5","4","6"\n', "get"),
        (f'{head}\n"GET","-1","3","2","3","4","5","6"\n', "get"),
        (f'{head}\n"GET","nan","3","2","3","4","5","{"9" * 200_000}"\n', "get"),
    ):
        other.write_text(text)
        with pytest.raises(OutputProblem):
            read({STDOUT: other}, benchmark, {})
    spec = written(tmp_path, 'uri = "redis://box"')
    at = ("--spec", spec, "--cell", "threads=1,workload=reads", "--mine")
    done = bench(installed, tmp_path, "import", "redis_benchmark", str(OUTPUT), *at)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_killed_run_goes_on_with_the_server_that_went_on_and_is_compared(
    installed: Environment, tmp_path: Path
) -> None:
    system_tool("redis-server")
    system_tool("redis-benchmark")
    port = free_port()
    spec = written(tmp_path, f'server = start  path = "{tmp_path}/data"  port = {port}', threads="2", time="8 s")
    said = tmp_path / "said"
    with said.open("w") as output:
        began = subprocess.Popen(
            [str(installed.bin / "bench"), "run", spec, "--no-report"],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(scratch(installed))},
            stdout=output,
            stderr=output,
        )

    def journal() -> list[dict[str, object]]:
        text = "".join(path.read_text() for path in tmp_path.glob("bench-out/*/journal.jsonl"))
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def measured() -> list[object]:
        return [each["attempt"] for each in journal() if each["type"] == "step_started" and each["step"] == "measure"]

    until(lambda: began.poll() is not None or count(port, "keyspace_hits") > 1000, within_s=120)
    assert began.poll() is None, said.read_text()
    began.send_signal(signal.SIGKILL)
    began.wait()
    (folder,) = tmp_path.glob("bench-out/*/journal.jsonl")
    done = bench(installed, tmp_path, "resume", folder.parent.name, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert measured() == [1, 1], "a cell was measured again"
    again = bench(installed, tmp_path, "run", spec, "--no-report", "--fresh")
    assert again.returncode == 0, again.stdout + again.stderr
    compared = bench(installed, tmp_path, "compare", folder.parent.name, "last", "--metric", "throughput", "--json")
    assert len(json.loads(compared.stdout)) > 0, compared.stderr


@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_conforms(installed: Environment, tmp_path: Path) -> None:
    """`bench extensions try` runs the package simulated and for real, with each reset, and killed and resumed. It also
    gives the code bad outputs."""
    system_tool("redis-server")
    system_tool("redis-benchmark")
    env = {**os.environ, "TMPDIR": str(scratch(installed))}
    for name in ("redis", "redis_benchmark", "redis_info"):
        done = bench(installed, tmp_path, "extensions", "try", name, env=env)
        assert done.returncode == 0, done.stdout


def test_the_progress_is_read_from_anywhere() -> None:
    live = (
        "\rGET: rps=0.0 (overall: -nan) avg_msec=-nan (overall: -nan)\rGET: rps=7498.0 (overall: 5225.3) avg_msec=0.455"
    )
    context: object = None
    found = RedisBenchmark().interim(context, live)  # type: ignore[arg-type]
    assert found is not None
    assert found.ops_per_s == 7498.0
    assert RedisBenchmark().interim(context, live[:20]) is None  # type: ignore[arg-type]
