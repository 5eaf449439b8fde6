"""Tests that the number of cells is the same wherever a run is shown. Candidates that an adaptive ramp leaves out never
count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.bench import Bench
from tests.support.longer import longer

SPEC = """\
hardware box "Box" { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload rr "Reads" from db_bench.readrandom { records = 10k }
experiment ramp "Ramp" {
  hardware = box.variants  workloads = rr  threads = adaptive(1..8, points: 4)  measure = 1 min
  repeats  = 2, interleaved  @MORE@
}
"""
MEASURED, CANDIDATES = 16, 16
"""How many cells are measured, and how many candidates the ramp leaves out. Each is 2 variants x 4 points x 2 repeats,
since the ramp measures half of the 8 candidates on each variant."""


def measured_by(run_dir: Path) -> int:
    plan = json.loads((run_dir / "plan.json").read_text("utf-8"))
    return len(plan["cells"]) - CANDIDATES


@pytest.mark.long
@pytest.mark.parametrize("budget", [*longer(((),)), ("--budget", "12h")])
def test_what_checks_plans_and_tells_a_run_counts_the_same_cells(bench: Bench, budget: tuple[str, ...]) -> None:
    bench.spec(SPEC, MORE="")
    assert f", {MEASURED} cells" in bench("check", "brief.bench").out
    assert bench("check", "brief.bench", "--json").json[0]["cells"] == MEASURED
    plan = bench("plan", "brief.bench", *budget)
    assert set(re.findall(r"(\d+) cells", plan.out)) == {str(MEASURED)}
    assert bench("plan", "brief.bench", "--json", *budget).json["time"]["cells"] == MEASURED

    done = bench("run", "brief.bench", "--simulate", "--junit", "verdicts.xml", "--markdown", "said.md", *budget)
    assert done.code == 0, done.text
    assert measured_by(bench.run_dir) == MEASURED
    assert set(re.findall(r"(\d+) cells?\b", done.text)) == {str(MEASURED)}
    (last,) = re.findall(rf"\[{MEASURED}/{MEASURED}\].*", done.err)
    assert not last.endswith("left")
    assert re.search(rf": done, {MEASURED} cells \(simulated", done.out)
    assert "skipped" not in done.text
    assert f'name="all {MEASURED} cells"' in (bench.folder / "verdicts.xml").read_text("utf-8")
    said = (bench.folder / "said.md").read_text("utf-8")
    assert f"{MEASURED} ok" in said
    assert "skipped" not in said

    run = bench.run_dir.name
    assert f"{MEASURED}/{MEASURED} cells done, 0 failed," in bench("status", run).out
    assert re.search(rf"not chosen +{CANDIDATES} cells  not chosen for its adaptive ramp", bench("status", run).out)
    status = bench("status", run, "--json").json
    of_status = {key: status[key] for key in ("total", "done", "skipped", "not_chosen")}
    assert of_status == {"total": MEASURED, "done": MEASURED, "skipped": 0, "not_chosen": CANDIDATES}
    gauges = dict(re.findall(r'benchbrief_cells\{.*state="(\w+)"\} (\d+)', bench("status", run, "--openmetrics").out))
    assert gauges["ok"] == str(MEASURED)
    assert sum(map(int, gauges.values())) == MEASURED
    (*_, present, _end) = [json.loads(line) for line in bench("watch", run, "--json").out.splitlines()]
    assert (present["total"], present["ok"], present["skipped"]) == (MEASURED, MEASURED, 0)

    again = bench("resume", run, "--json")
    assert f"{MEASURED} cells" in again.json["message"]
    assert again.json["cells"]["ok"] == MEASURED
    assert again.json["cells"]["skipped"] == again.json["cells"]["not run"] == 0


def test_a_run_that_a_failure_ends_says_how_many_of_these_cells_are_left(bench: Bench) -> None:
    bench.spec(SPEC, MORE="on_failure = stop  retries = 0")
    done = bench("run", "brief.bench", "--simulate", "--failing", "box.lab=100%", "--json")
    assert done.code == 3, done.text
    said, counts = done.json["message"], done.json["cells"]
    assert f"of {MEASURED}" in said or f"{MEASURED} cells" in said, said
    assert counts["ok"] + counts["failed"] + counts["not run"] == MEASURED
    assert counts["skipped"] == 0
    status = bench("status", bench.run_dir.name, "--json").json
    assert (status["total"], status["failed"]) == (MEASURED, counts["failed"])
    assert status["status"] == "failed"
