"""Tests adaptive ramps in real runs of db_bench: the choice of points and how it is shown, a killed controller, and a
later run."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.model.run_record import RunRecord
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.runners.scheduling.point_choice import curves, next_point, ramps_of
from tests.support.bench import Bench, fresh_bench, records_of
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = """\
hardware box { hosts = local  variant one "One" { path = "@DB@/one" }  variant two "Two" { path = "@DB@/two" } }
database rocks { engine = rocksdb  path = "{path}"  reset = after_writes  options { compression = "none" } }
workload rr "Random reads" from db_bench.readrandom { records = 2k }
experiment ramp {
  hardware = box.variants  workloads = rr  threads = adaptive(1..16, points: @POINTS@)  measure = 1 s
}
metric gain "Gain" in % = throughput[two] / throughput[one] - 1, higher is better
"""
REPORTS = """\
report en "Points that were chosen" {
  text = "At most {max(throughput[one] over threads):,.0fu}."
  figure "Throughput" { line = throughput by threads, color hardware }
  figure "Gain" { line = gain by threads }
  table "Each point" { rows = threads  columns = throughput by hardware }
  disclosure = automatic
}
report ja "選ばれた点" {
  language = ja
  figure "図" { line = throughput by threads, color hardware }
  disclosure = automatic
}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


def spec(bench: Bench, tmp_path: Path, points: int = 4, more: str = "") -> None:
    bench.spec(SPEC.replace("@DB@", str(tmp_path)).replace("@POINTS@", str(points)) + more)


def chosen(run_dir: Path) -> dict[str, list[float]]:
    """Return the points of each hardware, in order."""
    found: dict[str, list[float]] = {}
    for each in records_of(run_dir):
        if each["type"] == "point_chosen":
            (hardware,) = each["hardware"]
            found.setdefault(hardware, []).append(each["point"])
    return found


def by_the_rule(run_dir: Path, count: int) -> dict[str, list[float]]:
    """Return the points that the rule alone would choose, given a run's verdicts."""
    plan = load_plan(run_dir)
    record = RunRecord.of(read_journal(run_dir / JOURNAL))
    found = {}
    for ramp in ramps_of(plan):
        points: list[float] = []
        while len(points) < count:
            choice = next_point(ramp.experiment.points, list(curves(ramp, points, record).values()))
            assert choice is not None
            points.append(choice.point)
        found[ramp.hardware[0]] = points
    return found


@pytest.mark.long
def test_a_brief_shows_and_tells_the_points_that_were_chosen(bench: Bench, tmp_path: Path) -> None:
    spec(bench, tmp_path, more=REPORTS)
    done = bench("run", "brief.bench", timeout=120)
    assert done.code == 0, done.text
    assert "next point of ramp (on one, with rr): 4 threads, the middle of 1 thread and 16 threads" in done.err
    points = chosen(bench.run_dir)
    assert points == by_the_rule(bench.run_dir, 4)
    assert all(each[:3] == [1, 16, 4] for each in points.values())

    status = bench("status").out
    assert "points of ramp on one with rr:" in status
    assert re.search(r"1\. threads = 1 +the lower end", status)
    assert "not chosen for its adaptive ramp: 4 of 15 candidates are measured" in status
    printed = bench("status", "--json").json["choices"]
    assert [each["number"] for each in printed if each["hardware"] == ["two"]] == [1, 2, 3, 4]

    english, japanese = (
        "".join((bench.run_dir / "reports" / f"{name}{of}.html").read_text("utf-8") for of in ("", "-disclosure"))
        for name in ("en", "ja")
    )
    html = english.replace("\u00a0", " ")
    assert "adaptive ramp: 4 of 15 candidates, chosen while it was measured" in html
    assert "of 15 candidates of an adaptive ramp, at which nothing is drawn" in html
    assert "candidates of the adaptive ramp at which nothing is drawn." in html
    rows = bench("query", "SELECT DISTINCT threads FROM cells WHERE status = 'ok' ORDER BY ALL", "--json").json
    assert [row["threads"] for row in rows] == sorted({point for each in points.values() for point in each})
    assert "適応ランプ：候補 15 点から測定中に 4 点を選択" in japanese
    assert "軸上の短い目盛り" in japanese


@pytest.mark.long
def test_a_killed_run_goes_on_by_the_same_rule(bench: Bench, tmp_path: Path) -> None:
    spec(bench, tmp_path, points=5)
    with bench.started("run", "brief.bench", "--no-report") as going:
        until(lambda: any(bench.folder.glob(f"bench-out/*/{JOURNAL}")) and len(bench.journal("cell_ended")) >= 4, 60)
        going.signal(signal.SIGKILL)
        going.wait(60)
    before = chosen(bench.run_dir)
    done = bench("resume", "--no-report", timeout=120)
    assert done.code == 0, done.text
    points = chosen(bench.run_dir)
    assert points == by_the_rule(bench.run_dir, 5)
    assert all(points[hardware][: len(each)] == each for hardware, each in before.items())
    measured = [each["cell"] for each in bench.journal("cell_ended")]
    assert len(measured) == len(set(measured)) == 10, "nothing is measured twice"


@pytest.mark.long
def test_a_later_run_with_more_points_measures_only_those(bench: Bench, tmp_path: Path) -> None:
    spec(bench, tmp_path, points=4)
    assert bench("run", "brief.bench", "--no-report", timeout=120).code == 0
    earlier = chosen(bench.run_dir)
    spec(bench, tmp_path, points=5)
    done = bench("run", "brief.bench", "--no-report", timeout=120)
    assert done.code == 0, done.text
    assert re.search(r"8 of 10 cells are taken from run .*; 2 are measured", done.err)
    before, later = bench.run_dirs()
    assert {hardware: len(each) for hardware, each in chosen(later).items()} == {"one": 1, "two": 1}
    assert {key: each[:4] for key, each in by_the_rule(later, 5).items()} == earlier
    compared = bench("compare", before.name, later.name)
    assert "note: only B has ramp/one/rr/threads=" in compared.text
