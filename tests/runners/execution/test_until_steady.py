"""Tests cells that are really measured until they are steady, over a real sshd: an early end, a killed controller, and
the longest time."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bench import Bench, fresh_bench
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool
from tests.support.warm import warm

# A constant rate has no noise of its own. Latencies of a machine that does other work have, so the interval is wide.
SPEC = """\
hardware here { hosts = "box" }
database rocks { engine = rocksdb  tool = openload  path = "@DATA@/rocks"  reset = links }
workload a from ycsb.c { records = 1k  fields = 1 }
experiment e {
  hardware = here  workloads = a  threads = 4  target = 50 ops/s
  arrivals = @ARRIVALS@
  measure  = until_steady(within: @WITHIN@, from: 50 s, to: @MOST@)
}
metric median "Median" in ms = latency.p50[read]
report r "Ends" { table "T" { rows = hardware  column "Median" = median }  disclosure = automatic }
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    built_tool("openload/bin/openload-rocksdb")
    system_tool("sshd")
    with fresh_bench(tmp_path) as fresh:
        there = fresh.folder / "there"
        there.mkdir()
        there.chmod(0o777)
        with sshd(config=f"SetEnv TMPDIR={there} XDG_DATA_HOME={there} BENCHBRIEF_TEST={fresh.mark}") as server:
            fresh.env["HOME"] = str(server.home)
            yield fresh


def recorded(bench: Bench) -> dict[str, Any]:
    """Return what openload itself recorded about the only cell."""
    (measured,) = [job for job in bench.journal("job_collected") if job["job"] == "measure"]
    found: dict[str, Any] = json.loads((bench.run_dir / measured["directory"] / "record.json").read_text())
    return found


def numbers(bench: Bench) -> list[dict[str, Any]]:
    rows = "SELECT operation, ops_per_s, count, duration_s FROM throughput ORDER BY ALL"
    queries = (rows, "SELECT * FROM latency ORDER BY ALL", "SELECT * FROM steady_ends")
    return [row for query in queries for row in bench("query", query, "--json").json]


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_killed_controller_takes_the_end_and_the_numbers_that_openload_found_without_it(bench: Bench) -> None:
    bench.spec(SPEC, ARRIVALS="constant(lag: 100 %)", WITHIN="50 %", MOST="3 min")
    words: tuple[str, ...] = ("run", "brief.bench")
    for _ in range(2):
        ended = warm().run((*words, "--no-report"), bench.folder, bench.env, 90, killed_at={"waits_in": "measure"})
        assert ended.returncode == -signal.SIGKILL, ended.stdout + ended.stderr
        assert bench.strays(), "openload goes on without its controller"
        words = ("resume",)
    done = bench("resume", "--no-report", timeout=240)
    assert done.code == 0, done.text
    assert "It was not steady" not in done.text
    (verdict,) = bench.journal("cell_ended")
    assert (verdict["status"], verdict["attempt"]) == ("ok", 1)
    (record,), final = bench.journal("measuring_ended"), recorded(bench)
    steady = final["steady"]
    assert steady["steady"]
    assert record["steady"]
    assert record["lasted_s"] == pytest.approx(final["window_s"], abs=0.01)
    assert 50 <= record["lasted_s"] < 180, "it ended by itself"
    assert (record["cut_s"], record["throughput_half_width"], record["latency_half_width"]) == (
        steady["cut_s"],
        pytest.approx(steady["throughput_per_s"]["half_width_share"]),
        pytest.approx(steady["intended_us"]["half_width_share"]),
    )
    kept = numbers(bench)
    total = next(row for row in kept if row.get("operation") == "all" and "ops_per_s" in row)
    assert total["duration_s"] == pytest.approx(record["lasted_s"] - record["cut_s"], abs=0.1)
    assert total["count"] == pytest.approx(50 * total["duration_s"], abs=2), "what is after the transient, and it alone"
    assert bench("rebuild", bench.run_dir).code == 0
    assert numbers(bench) == kept
    assert bench.strays() == {}


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_load_that_is_never_steady_ends_after_its_longest_time_and_is_marked(bench: Bench) -> None:
    """Arrivals are random and at a low rate. After the longest time, the mean is known to a few per cent, but not to a
    thousandth."""
    bench.spec(SPEC, ARRIVALS="poisson(lag: 100 %)", WITHIN="0.1 %", MOST="52 s")
    done = bench("run", "brief.bench", timeout=240)
    assert done.code == 0, done.text
    assert "It was not steady within 0.1 % after 52 s" in done.text
    (record,), final = bench.journal("measuring_ended"), recorded(bench)
    assert (record["steady"], final["steady"]["steady"]) == (False, False)
    assert record["lasted_s"] == pytest.approx(52, abs=0.01)
    (row,) = bench("query", "SELECT steady, lasted_s, most_s FROM steady_ends", "--json").json
    assert row == {"steady": False, "lasted_s": record["lasted_s"], "most_s": 52}
    assert "NOT steady after 52 s" in bench("status").out
    assert "not steady within 0.1 %" in " ".join(bench.page().split())
