"""Tests runs at the levels of factors, with real db_bench: loading, display, resuming, reuse and comparison."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchbrief.runners.journal.run_folder import load_plan
from tests.support.bench import Bench, records_of
from tests.support.mongo import running_stand_in
from tests.support.sshd import Sshd, sshd, system_user
from tests.support.tools import built_tool, system_tool, tools_dir
from tests.support.warm import warm

SPEC = """\
hardware box { hosts = @HOST@ }
factor codec "Compression" { none "No compression" = "none"  zstd "Zstandard" = "zstd" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
database rocks {
  engine = rocksdb
  tool   = @TOOL@
  path   = "@DATA@/{codec}-{vsize}"
  options { compression = codec  cache = 1 MiB }
}
workload rr from db_bench.readrandom { records = 2k  value_size = vsize }
experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = [codec, vsize]  measure = 1 s }
"""
LEVELS = [f"codec={codec},vsize={size}" for codec in ("none", "zstd") for size in (100, 1000)]
CELLS = [f"matrix/box/rr/{levels}/threads={threads}/r1" for levels in LEVELS for threads in (1, 2)]


@pytest.fixture
def levels(bench: Bench) -> Bench:
    system_tool("db_bench")
    bench.spec(SPEC, HOST="local")
    return bench


def loads(run: Path) -> Counter[str]:
    """Count how often each cell loaded its data set."""
    return Counter(record["cell"] for record in records_of(run) if record.get("job") == "load")


@pytest.mark.long
def test_each_combination_of_levels_has_a_data_set_that_is_loaded_once(levels: Bench) -> None:
    ran = levels("run", "brief.bench", "--no-report")
    assert ran.code == 0, ran.text
    assert [record["cell"] for record in levels.journal("cell_ended")] == CELLS
    assert loads(levels.run_dir) == Counter(cell for cell in CELLS if "threads=1" in cell)
    assert sorted(path.name for path in levels.data.iterdir()) == ["none-100", "none-1000", "zstd-100", "zstd-1000"]
    sql = "SELECT levels, value FROM sizes JOIN cells USING (cell_id) WHERE measure = 'database.size_loaded'"
    sizes = {row["levels"]: row["value"] for row in levels("query", sql, "--json").json}
    assert set(sizes) == set(LEVELS)
    assert sizes["codec=zstd,vsize=1000"] < sizes["codec=none,vsize=1000"] > sizes["codec=none,vsize=100"]
    assert f"[1/8] {CELLS[0]}" in ran.err


@pytest.mark.long
def test_other_names_labels_and_orders_of_levels_measure_nothing_again(levels: Bench) -> None:
    assert levels("run", "brief.bench", "--no-report").code == 0
    text = SPEC.replace('zstd "Zstandard" = "zstd"', "").replace('{ none "No', '{ strong = "zstd"  off "No')
    text = text.replace("[100 B, 1 kB]", "[1 kB, 0.1 kB]").replace("codec", "squeeze")
    levels.spec(text, HOST="local")
    again = levels("run", "brief.bench", "--no-report")
    assert again.code == 0, again.text
    assert "done, 8 cells, all taken from earlier runs" in again.out, again.out
    assert {record["cell"] for record in records_of(levels.run_dirs()[-1]) if record["type"] == "cell_reused"} == {
        cell.replace("codec=none", "squeeze=off").replace("codec=zstd", "squeeze=strong") for cell in CELLS
    }
    compared = levels("compare", "last:squeeze=off", "last:squeeze=strong")
    assert compared.code == 0, compared.text


@pytest.fixture
def plain_users_host() -> Iterator[Sshd]:
    """Yield a server. If the tests run as root, its user is another one."""
    system_tool("db_bench")
    system_tool("sshd")
    with ExitStack() as stack:
        user = stack.enter_context(system_user()) if os.getuid() == 0 else None
        yield stack.enter_context(sshd(user=user))


@pytest.mark.timeout(240)
@pytest.mark.long
def test_a_run_over_ssh_that_is_killed_goes_on_at_the_level_where_it_was(bench: Bench, plain_users_host: Sshd) -> None:
    host, cell = plain_users_host, CELLS[4]
    host.write_config(name="127.0.0.1")
    bench.env["HOME"] = str(host.home)
    data = Path(f"/var/tmp/benchbrief-{host.user}-{os.getpid()}")  # the user of the host may write there
    bench.spec(SPEC, HOST='"127.0.0.1"', DATA=data)
    point = {"type": "step_started", "step": "measure", "cell": cell}
    try:
        words = ["run", "brief.bench", "--no-report"]
        warm().run(words, bench.folder, bench.env, timeout=200, paper=False, killed_at=point)
        assert [record["cell"] for record in bench.journal("cell_ended")] == CELLS[:4]
        assert "interrupted  4/8 cells done" in " ".join(bench("status").out.split()).replace("d 4", "d  4")
        resumed = bench("resume", "--no-report", timeout=200)
        assert resumed.code == 0, resumed.text
    finally:
        shutil.rmtree(data, ignore_errors=True)
    assert list(bench.verdicts()) == CELLS
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}
    assert loads(bench.run_dir) == Counter(each for each in CELLS if "threads=1" in each)
    assert {record["host"] for record in bench.journal("job_collected")} == {"127.0.0.1"}


@pytest.mark.long
def test_doctor_tries_the_options_of_each_level(bench: Bench) -> None:
    text = SPEC.replace(
        '{ none "No compression" = "none"  zstd "Zstandard" = "zstd" }', '{ skip = "skip_list"  odd = "odd" }'
    )
    bench.spec(text.replace("compression = codec", "memtablerep = codec"), HOST="local")
    found = bench("doctor", "brief.bench", "--json")
    assert found.code == 3
    tried = {each["what"]: (each["ok"], each["detail"]) for each in found.json if "memtablerep" in each["what"]}
    good, bad = (f"--memtablerep={name} --cache_size=1048576" for name in ("skip_list", "odd"))
    assert tried[good] == (True, "one key was written")
    assert not tried[bad][0]
    assert "odd" in tried[bad][1]
    assert not bench.data.exists(), "doctor changes nothing"
    assert not list(bench.folder.glob(".benchbrief-trial*"))


SEARCHES = """\
hardware box { hosts = "box.lab" }
factor codec { none = "none"  zstd = "zstd" }
database rocks { engine = rocksdb  path = "/b/{codec}"  options { compression = codec } }
workload rr from db_bench.readrandom
experiment ramp { hardware = box  workloads = rr  threads = adaptive(1..64, points: 4)  vary = codec  measure = 1 s }
experiment find {
  hardware = box  workloads = rr  threads = knee(from: 1, factor: 2, to: 256)  vary = codec  measure = 1 s
}
"""


@pytest.mark.long
def test_progress_status_and_metrics_name_the_levels(bench: Bench) -> None:
    bench.spec(SEARCHES)
    bench.spec(SEARCHES.replace("codec", "cell"), "other.bench")
    metrics = bench.folder / "run.prom"
    ran = bench("run", "brief.bench", "--simulate", "--no-report", "--openmetrics", metrics)
    assert ran.code == 0, ran.text
    assert "next point of ramp (on box, with rr, codec=zstd): 64 threads, the upper end" in ran.err
    assert "knee of find (on box, with rr, codec=none): " in ran.err
    assert "points of ramp on box with rr, codec=none:" in bench("status", bench.run_dir).out
    choices = bench("status", bench.run_dir, "--json").json["choices"]
    assert [each["levels"] for each in choices] == ["codec=none"] * 4 + ["codec=zstd"] * 4
    lines = [line for line in metrics.read_text().splitlines() if line.startswith("benchbrief_cell_throughput")]
    assert len(lines) > 8
    assert all('workload="rr",codec="none"' in line or 'workload="rr",codec="zstd"' in line for line in lines)
    assert bench("run", "other.bench", "--simulate", "--no-report", "--openmetrics", metrics).code == 0
    assert '/cell=zstd/threads=64/r1",hardware="box",workload="rr",cell_="zstd"}' in metrics.read_text()


COMMANDS = """\
hardware box { hosts = local }
factor codec { plain = "none"  hostile = "@HOSTILE@" }
factor depth { levels = [4 kB, 1.5 MB] }
database rocks {
  engine   = rocksdb
  tool     = @TOOL@
  path     = "@DATA@/{depth}"
  prepare  = command("echo prepare \\"$BENCH_CODEC\\" [$BENCH_DEPTH] >> @SAID@", with: codec)
  teardown = command("echo teardown $BENCH_DEPTH >> @SAID@", with: depth)
}
workload fill from db_bench.fillrandom { records = 2k }
experiment matrix { hardware = box  workloads = fill  threads = 1  vary = [codec, depth]  measure = 1 s }
"""


@pytest.mark.long
def test_commands_get_the_levels_that_they_name_and_no_word_of_them_runs(bench: Bench) -> None:
    said, hacked = bench.folder / "said", bench.folder / "hacked"
    hostile = f"$(touch {hacked}); x' `touch {hacked}`"
    bench.spec(COMMANDS, SAID=said, HOSTILE=hostile)
    ran = bench("run", "brief.bench", "--no-report")
    assert ran.code == 0, ran.text
    started = [(codec, depth) for codec in ("none", hostile) for depth in ("4000", "1500000")]
    assert said.read_text().splitlines() == [
        line for codec, depth in started for line in (f"prepare {codec} []", f"teardown {depth}")
    ]
    assert not hacked.exists()


FLEET = """\
hardware one { hosts = "one" }
hardware two { hosts = "two" }
factor codec { none = "none"  zstd = "zstd" }
database rocks { engine = rocksdb  path = "/b/{codec}"  options { compression = codec } }
workload rr from db_bench.readrandom
experiment find {
  hardware = [one, two]  workloads = rr  vary = codec  measure = 1 s  threads = knee(from: 1, factor: 2, to: 256)
}
experiment hold { hardware = [one, two]  workloads = rr  vary = codec  measure = 1 s  threads = find.knee }
"""


@pytest.mark.long
def test_lanes_that_are_run_apart_find_for_each_level_what_one_controller_finds(bench: Bench) -> None:
    bench.spec(FLEET)
    assert bench("plan", "brief.bench", "--simulate", "--into", "fleet").code == 0
    for lane in ("two", "1"):
        assert bench("lane", "fleet", lane).code == 0
    assert bench("merge", "fleet", "--no-report").code == 0
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    merged, whole = records_of(bench.folder / "fleet"), records_of(bench.run_dir)

    def decided(records: list[dict[str, Any]]) -> dict[str, Any]:
        knees = {f"{r['hardware']} {r['levels']}": r["knee"] for r in records if r["type"] == "search_ended"}
        return knees | {r["cell"]: r["ops_per_s"] for r in records if r["type"] == "cell_ended"}

    assert decided(merged) == decided(whole)
    assert sum(name.startswith("hold/") for name in decided(whole)) == 4


ATTACHED = """\
hardware box { hosts = local }
client load { hosts = local  tool = ycsb }
factor ack "Write concern" { one "w: 1" = 1  all "w: majority" = majority }
database mongo { engine = mongodb  uri = "mongodb://@AT@/ycsb"  options { write_concern = ack } }
workload a from ycsb.a { records = 100 }
experiment matrix { hardware = box  workloads = a  threads = 1  vary = ack  measure = 1 s }
"""


@pytest.mark.long
def test_an_attached_server_is_looked_at_and_left_for_each_level_of_its_clients(bench: Bench) -> None:
    built_tool("ycsb")
    bench.env["BENCHBRIEF_TOOLS"] = f"{bench.env['BENCHBRIEF_TOOLS']}:{tools_dir()}"
    with running_stand_in(tools_dir()) as (host, port):
        bench.spec(ATTACHED, AT=f"{host}:{port}")
        looked = bench("doctor", "brief.bench", "--json")
        tried = {each["what"]: each["ok"] for each in looked.json if each["what"].startswith("database mongo")}
        assert tried == {"database mongo, ack=one": True, "database mongo, ack=all": True}
        ran = bench("run", "brief.bench", "--no-report")
        assert ran.code == 0, ran.text
    assert [record["database"] for record in bench.journal("engine_facts")] == [
        "mongo@box?ack=one",
        "mongo@box?ack=all",
    ]
    assert {status for status, _ in bench.verdicts().values()} == {"ok"}
    plan = load_plan(bench.run_dir)
    assert {key: database.options for key, database in plan.databases.items()} == {
        "mongo@box?ack=one": {"w": 1},
        "mongo@box?ack=all": {"w": "majority"},
    }
