"""Tests cells with real db_bench: cool-downs between them, failed cells, and repeats that end once they agree."""

from __future__ import annotations

import json
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import wrapped
from tests.support.bench import Bench, pages_of

# Writes at a given rate come to the same throughput each time, however busy the machine is.
HEAD = """\
hardware box "This machine" {
  hosts = local
  variant good  { path = "@DATA@/good" }
  variant flaky { path = "@DATA@/flaky" }
  variant bad   { path = "@DATA@/bad" }
}
database rocks "RocksDB" { engine = rocksdb  tool = @TOOL@  path = "{path}"  options { compression = "none" } }
workload fill "Writes" from db_bench.fillrandom { records = 2k  write_rate = 200 kB/s }
"""


def experiment(hardware: str, more: str) -> str:
    return f"experiment e {{ hardware = [{hardware}]  workloads = fill  threads = 1  measure = 1 s\n  {more} }}\n"


def tool(bench: Bench) -> str:
    """Return a db_bench. If its path ends in `flaky`, it exits at once the first time. If its path ends in `bad`, it
    always does."""
    once = bench.folder / "failed-once"
    cases = f"*/flaky\\ *) [ -e {once} ] || {{ touch {once}; echo 'put error: IO error: first' >&2; exit 1; }};;\n"
    cases += "*/bad\\ *) echo 'put error: IO error: always' >&2; exit 1;;"
    return f'db_bench("{wrapped.db_bench(bench.folder / "tool", cases)}")'


def test_a_failed_cell_is_tried_again_and_every_attempt_is_kept(bench: Bench) -> None:
    bench.spec(
        HEAD + experiment("box.flaky, box.bad, box.good", "retries = 1") + "report r { disclosure = automatic }",
        TOOL=tool(bench),
    )
    done = bench("run", "brief.bench", timeout=90)
    assert done.code == 3, done.text
    flaky, bad, good = (f"e/{name}/fill/threads=1/r1" for name in ("flaky", "bad", "good"))
    ended = [(r["cell"], r["attempt"], r["status"], r["retried"]) for r in bench.journal("cell_ended")]
    assert ended == [
        (flaky, 1, "failed", True),
        (flaky, 2, "ok", False),
        (bad, 1, "failed", True),
        (bad, 2, "failed", False),
        (good, 1, "ok", False),
    ]
    for cell, attempts in ((flaky, (1, 2)), (bad, (1, 2)), (good, (1,))):
        kept = [r["attempt"] for r in bench.journal("job_collected") if (r["cell"], r["job"]) == (cell, "measure")]
        assert kept == list(attempts)
        folders = [bench.run_dir / r["directory"] for r in bench.journal("job_collected") if r["cell"] == cell]
        assert all((folder / "stderr").exists() for folder in folders)
    assert "failed, is tried again" in done.err
    assert "1 of 3 cells failed" in done.out
    status = bench("status").out
    assert any(flaky in line and line.endswith("(attempt 2)") for line in status.splitlines()), status
    sql = f"SELECT text FROM notes WHERE cell_id = '{flaky}' AND text LIKE '%tried again%'"  # noqa: S608  # ours
    (note,) = bench("query", sql, "--json").json
    assert note["text"].startswith(f"{flaky}: attempt 1 failed, and the cell was tried again: ")
    assert "IO error: first" in note["text"]
    assert "was tried again" in pages_of(bench.run_dir)


def test_a_missing_tool_is_reported_before_anything_is_tried(bench: Bench) -> None:
    bench.spec(HEAD + experiment("box.good", "retries = 5"), TOOL='db_bench("/nowhere/db_bench")')
    ended = bench("run", "brief.bench")
    assert ended.code == 3
    assert "there is no such program in /nowhere/db_bench" in ended.err
    assert "nothing was measured" in ended.err
    assert bench.run_dirs() == []


@pytest.mark.long
def test_nothing_more_is_begun_when_a_failure_is_to_stop_the_run(bench: Bench) -> None:
    text = HEAD + experiment("box.bad, box.good", "on_failure = stop  repeats = 2")
    bench.spec(text, TOOL=tool(bench))
    done = bench("run", "brief.bench")
    assert done.code == 3, done.text
    assert len(bench.journal("cell_started")) == 1
    (end,) = bench.journal("run_ended")
    assert end["status"] == "failed"
    assert end["message"] == (
        "stopped as e/bad/fill/threads=1/r1 failed (`on_failure = stop`): 3 of 4 cells were not begun, and 1 failed"
    )
    assert end["message"] in done.out
    assert f"bench resume {bench.run_dir.name}" in done.out


def cells_of(bench: Bench, *said: str) -> list[str]:
    """Return the cells whose last attempt ended with a reason that contains these words."""
    return [r["cell"] for r in bench.journal("cell_ended") if all(text in str(r["reason"]) for text in said)]


@pytest.mark.long
def test_cells_that_all_fail_alike_on_a_hardware_are_not_tried_after_the_first_three(
    bench: Bench,
) -> None:
    cases = """*readrandom*) ;;\n*/bad\\ *) echo 'put error: IO error: always' >&2; exit 1;;"""
    two = 'workload other "Others" from db_bench.overwrite { records = 2k  write_rate = 200 kB/s }\n'
    ramp = experiment("box.bad", "repeats = 4  cool_down = 10 ms").replace("= fill", "= [fill, other]")
    good = experiment("box.good", "").replace(" e ", " good ")
    text = HEAD + two + ramp + good + "report r { disclosure = automatic }"
    bench.spec(text, TOOL=f'db_bench("{wrapped.db_bench(bench.folder / "tool", cases)}")')
    done = bench("run", "brief.bench", timeout=120)
    assert done.code == 3, done.text
    not_tried = cells_of(bench, "not tried: the first 3 cells of its workload", "IO error: always")
    assert not_tried == [f"e/bad/{workload}/threads=1/r4" for workload in ("fill", "other")]
    assert "8 of 9 cells failed" in done.out
    text = (bench.run_dir / "journal.jsonl").read_text(encoding="utf-8")
    cooled = {record["cell"] for record in map(json.loads, text.splitlines()) if record.get("step") == "cool_down"}
    assert not cooled.intersection(not_tried)
    assert "e/bad/fill/threads=1/r3" in cooled
    assert "not tried" in done.out
    assert "bench resume" in done.out
    assert "bench doctor" not in done.out
    assert "not tried" in pages_of(bench.run_dir)
    wrapped.db_bench(bench.folder / "tool")
    resumed = bench("resume", bench.run_dir.name, timeout=120)
    assert resumed.code == 0, resumed.text


@pytest.mark.long
def test_all_cells_are_tried_when_the_spec_says_so(bench: Bench) -> None:
    bench.spec(HEAD + experiment("box.bad", "repeats = 4  on_failure = try_all"), TOOL=tool(bench))
    done = bench("run", "brief.bench", timeout=90)
    assert done.code == 3, done.text
    assert len(cells_of(bench, "IO error: always")) == 4
    assert not cells_of(bench, "not tried")


@pytest.mark.long
def test_hosts_cool_down_between_cells_and_not_after_the_last(bench: Bench) -> None:
    bench.spec(HEAD + experiment("box.good", "cool_down = 1 s  repeats = confident(within: 50 %, to: 5)"))
    assert bench("run", "brief.bench").code == 0
    records = bench.journal()
    coolings = [r for r in records if r["type"] in ("step_started", "step_ended") and r["step"] == "cool_down"]
    assert [(r["type"], r["cell"][-2:]) for r in coolings] == [
        (kind, cell) for cell in ("r1", "r2") for kind in ("step_started", "step_ended")
    ]
    assert all(r["seconds"] >= 1 for r in coolings)
    ended = {r["cell"]: r["at"] for r in records if r["type"] == "cell_ended"}
    started = {r["cell"]: r["at"] for r in records if r["type"] == "cell_started"}
    assert len(ended) == 3, "two more were not needed"
    assert all(started[after] - ended[before] >= 1 for before, after in pairwise(ended))
    assert [r["cell"][-2:] for r in records if r["type"] == "cell_skipped"] == ["r4", "r5"]


@pytest.mark.long
def test_a_cool_down_is_interrupted_and_the_cell_before_it_is_kept(bench: Bench) -> None:
    bench.spec(HEAD + experiment("box.good", "cool_down = 1 h  repeats = 2"))
    with bench.started("run", "brief.bench") as run:
        run.until_it_says("[1/2]")
        run.signal(signal.SIGINT)
        ended = run.wait(30)
    assert "bench resume" in ended.out
    assert [record["status"] for record in bench.journal("cell_ended")] == ["ok"]
    assert len(bench.journal("cell_started")) == 1


def test_a_measurement_beyond_its_time_out_is_stopped(bench: Bench) -> None:
    hang = wrapped.db_bench(bench.folder / "tool", "*--benchmarks=*) sleep 3600;;")
    bench.spec(HEAD + experiment("box.good", "timeout = 1 s"), TOOL=f'db_bench("{hang}")')
    assert bench("run", "brief.bench", timeout=30).code == 3
    (verdict,) = bench.journal("cell_ended")
    assert "did not end within 2 s" in verdict["reason"]


@pytest.mark.long
def test_a_confident_run_stands_for_the_same_rule_again_and_not_for_another(bench: Bench) -> None:
    spec: Path = bench.spec(HEAD + experiment("box.good", "repeats = confident(within: 50 %, to: 5)"))
    assert "up to 5 cells" in bench("run", "brief.bench", "--no-report").err
    again = bench("run", "brief.bench", "--no-report")
    assert again.code == 0
    first, second = bench.run_dirs()
    assert "cell_started" in (first / "journal.jsonl").read_text()
    reused = (second / "journal.jsonl").read_text()
    assert (reused.count('"cell_reused"'), reused.count('"cell_skipped"')) == (3, 2)
    spec.write_text(spec.read_text().replace("50 %", "49 %"))
    with bench.started("run", "brief.bench", "--no-report") as run:
        run.until_it_says("[1/5]")
        run.signal(signal.SIGINT)
        run.wait(30)
    third = (bench.run_dirs()[-1] / "journal.jsonl").read_text()
    assert '"cell_started"' in third
    assert '"cell_reused"' not in third
