"""Tests knee searches, and cells that wait for their results, with real db_bench and real YCSB."""

from __future__ import annotations

import re
import signal
from itertools import pairwise

import pytest

from tests.cli.specs import FILL, HARDWARE
from tests.support import wrapped
from tests.support.bench import Bench, pages_of, records_of
from tests.support.tools import built_tool, system_tool
from tests.support.waiting import until

SEARCH = """\
experiment search {
  hardware  = box.one
  workloads = fill
  threads   = knee(from: 1, factor: 2, to: 512, rise: 0.1 %, gain: 100 %)
  measure   = 1 s
}
experiment found { hardware = box.variants  workloads = fill  threads = search.knee  measure = 1 s }
"""
"""Throughput doubles with the threads only while there are free cores, so the knee is far below 512."""

REPORT = """\
metric best = max(throughput[search] over threads)
report brief "Where the knee is" {
  text = "At most {best:,.0fu}; at the knee {throughput[found, two]:,.0fu}."
  figure "The search" { line = throughput[search] by threads }
  table "The search" { rows = threads  columns = throughput[search] }
  disclosure = automatic
}
"""

SPEC = HARDWARE + FILL + SEARCH + REPORT


@pytest.fixture(autouse=True)
def _tools_that_saturate(bench: Bench) -> None:
    bench.at_full_speed()


def test_a_search_stops_at_the_knee_and_others_run_there(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    done = bench("run", "brief.bench", timeout=120)
    assert done.code == 0, done.text

    rows = bench(
        "query",
        "SELECT threads, ops_per_s, value_s FROM cells JOIN throughput USING (cell_id) "
        "JOIN latency USING (experiment, hardware, workload, threads) "
        "WHERE experiment = 'search' AND throughput.operation = 'all' AND statistic = 'p99' AND latency.repeat IS NULL "
        "ORDER BY threads",
        "--json",
    ).json
    points = [(row["threads"], row["ops_per_s"], row["value_s"]) for row in rows]
    knees = [a for (a, rate, p99), (_, rate2, p99_2) in pairwise(points) if p99_2 >= 1.001 * p99 and rate2 < 2 * rate]
    assert knees == [points[-2][0]], "the first knee, and nothing was measured beyond the next point"
    knee = knees[0]

    (search,) = bench.journal("search_ended")
    assert (search["knee"], search["axis"]) == (knee, "threads")
    skipped = [record["cell"] for record in bench.journal("cell_skipped")]
    assert len(points) + len(skipped) == 10
    assert skipped[-1] == "search/one/fill/threads=512/r1"
    found = bench("query", "SELECT threads, status FROM cells WHERE experiment = 'found'", "--json").json
    assert found == [{"threads": knee, "status": "ok"}] * 2
    commands = [path.read_text() for path in bench.run_dir.glob("raw/found_*/1/measure-local/command.txt")]
    assert len(commands) == 2
    assert all(f"--threads={knee} " in command for command in commands)

    assert re.search(rf"^knee of search \(on one, with fill\): {knee} thread", done.err, re.MULTILINE)
    assert f"12 cells, {len(skipped)} of them not needed" in done.out
    status = bench("status").out
    assert f"{12 - len(skipped)}/12 cells done, 0 failed, {len(skipped)} not needed" in status
    assert re.search(rf"skipped +search/one/fill/threads=512/r1 +the knee was found at {knee} thread", status)
    html = pages_of(bench.run_dir)
    assert f"threads {knee} (measured at " in html
    assert "not needed: the knee" not in html, "what is not needed is no gap in a figure or a table"

    again = bench("run", "brief.bench", "--no-report")
    assert again.code == 0, again.text
    assert f"{12 - len(skipped)} of 12 cells are taken from run {bench.run_dirs()[0].name}" in again.err
    assert "none is left to measure" in again.err
    records = records_of(bench.run_dirs()[1])
    assert [record["knee"] for record in records if record["type"] == "search_ended"] == [knee]
    assert [record["cell"] for record in records if record["type"] == "cell_skipped"] == skipped
    states = "SELECT cell_id, status, threads, reason FROM cells ORDER BY cell_id"
    first, second = (bench("query", states, "--run", run, "--json").json for run in bench.run_dirs())
    assert first == second

    other = SPEC.partition("experiment found")[0].replace("gain: 100 %", "gain: 99 %")
    bench.spec(other)
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 0, done.text
    assert "cells are taken from" not in done.text, "another rule may stop elsewhere"


@pytest.mark.long
def test_an_interrupted_search_goes_on_where_it_was(bench: Bench) -> None:
    tool = wrapped.db_bench(
        bench.folder / "slow", f'*--threads=4*) [ -e {bench.folder}/hurry ] || set -- "$@" --duration=30;;'
    )
    bench.spec(SPEC.replace("from: 1", "from: 2").replace("rise: 0.1 %", "rise: 0.001 %"), TOOL=f'db_bench("{tool}")')
    with bench.started("run", "brief.bench", "--no-report") as run:
        until(lambda: any("--duration=30" in line for line in bench.strays().values()), 30)
        run.signal(signal.SIGINT)
        assert run.wait(30).code == 130
    assert bench.verdicts() == {"search/one/fill/threads=2/r1": ("ok", 1)}
    (bench.folder / "hurry").touch()
    resumed = bench("resume", "--no-report", timeout=120)
    assert resumed.code == 0, resumed.text
    assert bench.verdicts()["search/one/fill/threads=2/r1"] == ("ok", 1)
    assert bench.verdicts()["search/one/fill/threads=4/r1"] == ("ok", 2)
    (search,) = bench.journal("search_ended")
    assert [point["point"] for point in search["points"]][:2] == [2, 4]
    assert {record["threads"] for record in bench.journal("cell_started")} == {None, search["knee"]}
    again = bench("resume", bench.run_dir.name, "--no-report")
    assert again.code == 0
    assert len(bench.journal("search_ended")) == 1


@pytest.mark.long
def test_a_failed_cell_ends_the_search_and_what_waits_for_it(bench: Bench) -> None:
    # Once mended, it goes on with one thread, whatever it is asked for: no latency rises with the threads, however busy
    # the machine is.
    broken_once = f"*--threads=2*) [ -e {bench.folder}/mended ] || exit 3;;"
    tool = wrapped.db_bench(bench.folder / "broken", f'{broken_once} esac; set -- "$@" --threads=1; case "" in')
    never = SPEC.replace("to: 512, rise: 0.1 %, gain: 100 %", "to: 8, latency: p50, rise: 500 %, gain: 0 %")
    bench.spec(never, TOOL=f'db_bench("{tool}")')
    done = bench("run", "brief.bench", "--no-report")
    assert done.code == 3, done.text
    reasons = {
        record["cell"]: record["reason"] for record in bench.journal("cell_ended") if record["status"] == "failed"
    }
    broken = "search/one/fill/threads=2/r1"
    assert "db_bench" in reasons.pop(broken)
    why = f"as {broken} failed"
    assert reasons == {
        "search/one/fill/threads=4/r1": f"not run: its search can't go on, {why}",
        "search/one/fill/threads=8/r1": f"not run: its search can't go on, {why}",
        **{
            f"found/{hardware}/fill/threads=search.knee/r1": f"the knee of search is not known, {why} "
            "(it is searched for at brief.bench:14:1)"
            for hardware in ("one", "two")
        },
    }
    rows = bench("query", "SELECT threads, status FROM cells WHERE experiment = 'found'", "--json").json
    assert rows == [{"threads": None, "status": "failed"}] * 2

    # Mended, it measures on, and finds that there is no knee: what waits for one still has none, and says so.
    (bench.folder / "mended").touch()
    resumed = bench("resume", bench.run_dir.name, "--no-report")
    assert resumed.code == 3, resumed.text
    assert "search found no knee up to 8 threads (on one, with fill): let it search further" in resumed.err
    assert {cell for cell, (status, _) in bench.verdicts().items() if status == "failed"} == {
        f"found/{hardware}/fill/threads=search.knee/r1" for hardware in ("one", "two")
    }
    assert bench.journal("search_ended")[0]["knee"] is None
    assert "bench resume" not in resumed.out, "the plan has no knee, however often it is run"
    assert "bench doctor" not in resumed.out
    assert "mend the spec, and run what is not measured yet with: bench run brief.bench" in resumed.out


YCSB = """\
hardware box "This machine" { hosts = local }
client load { hosts = local  tool = ycsb }
database mongo { engine = mongodb  server = embedded  reset = reuse }
workload a from ycsb.a { records = 200 }
experiment search {
  hardware  = box
  workloads = a
  threads   = knee(from: 1, factor: 4, to: 256, latency: mean, rise: 1 %, gain: 100 %)
  measure   = 1 s
}
experiment offered {
  hardware  = box
  workloads = [load(a), a]
  threads   = search.knee
  target    = [100 ops/s]
  measure   = 3 s
}
metric loaded = throughput[load(a)]
report brief "Load" {
  text = "{load(a)}: {loaded[target: 100]:,.0fu}, {throughput[insert, load(a), target: 100]:,.0fu}."
}
"""


@pytest.mark.long
def test_ycsb_searches_loads_and_runs_at_what_was_found(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    built_tool("ycsb")
    bench.spec(YCSB)
    done = bench("run", "brief.bench", timeout=180)
    assert done.code == 0, done.text
    (search,) = bench.journal("search_ended")
    assert search["knee"] in (1, 4, 16, 64)
    rows = bench(
        "query",
        "SELECT workload, threads, operation, count, errors, ops_per_s FROM throughput JOIN cells USING (cell_id) "
        "WHERE experiment = 'offered' AND operation IN ('insert', 'read') ORDER BY workload",
        "--json",
    ).json
    read, insert = rows
    assert {row["threads"] for row in rows} == {search["knee"]}
    assert (insert["workload"], insert["operation"], insert["count"], insert["errors"]) == ("load(a)", "insert", 200, 0)
    assert insert["ops_per_s"] == pytest.approx(100, rel=0.35)
    assert (read["workload"], read["operation"]) == ("a", "read")
    assert "Inserts" in pages_of(bench.run_dir)
