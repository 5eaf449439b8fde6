"""Tests cells that are measured until they are steady, in simulated runs: what status, the journal and comparisons
show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bench import Bench, fresh_bench
from tests.support.longer import longer

SPEC = """\
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = as_needed }
workload b from ycsb.b { records = 1k }
experiment closed { hardware = eco  workloads = b  threads = 16  measure = @MEASURE@ }
experiment behind {
  hardware = eco  workloads = b  threads = 16  target = 9M ops/s
  measure = until_steady(within: 2 %, from: 1 min, to: 5 min)
}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with fresh_bench(tmp_path) as fresh:
        yield fresh


@pytest.mark.long
def test_status_journal_and_comparison_say_how_measurements_ended(bench: Bench) -> None:
    runs: list[Path] = []
    for measure in ("until_steady(within: 2 %, from: 1 min, to: 20 min)", "2 min"):
        bench.spec(SPEC.replace("@MEASURE@", measure))
        done = bench("run", "brief.bench", "--simulate", "--no-report")
        assert done.code == 0, done.text
        assert "It was not steady within 2 % after 300 s" in done.text
        runs += set(bench.run_dirs()) - set(runs)  # in their order, also of runs that began in one second
    first, second = runs
    printed = json.loads(bench("status", first.name, "--json").out)["cells"]
    closed, behind = (
        next(each for each in printed if each["cell_id"].startswith(name)) for name in ("closed", "behind")
    )
    assert closed["measuring"]["steady"]
    assert 60 <= closed["measuring"]["lasted_s"] < 1200
    assert (behind["measuring"]["steady"], behind["measuring"]["lasted_s"]) == (False, 300)
    assert "NOT steady after 5 min" in bench("status", first.name).out
    compared = bench("compare", first, second).text
    assert "experiment closed is measured for 1 min to 20 min, until steady within 2 % in A, and for 2 min" in compared
    assert "experiment behind is measured" not in compared


@pytest.mark.parametrize(
    ("load", "most"),
    [
        ("target = highest(1k ops/s..20k ops/s, where: latency.p99[read] < 5 ms, within: 20 %)  threads = 16", 66),
        *longer(("target = knee(from: 1k ops/s, factor: 2, to: 64k ops/s)  threads = 16", 7)),
        ("threads = adaptive(1..64, points: 5)", 5),
        *longer(("threads = [1, 16]  repeats = confident(within: 2 %, from: 3, to: 5), interleaved", 10)),
        ("threads = [1, 16]  repeats = confident(within: 2 %, from: 3, to: 5), interleaved  budget = 12 min", 10),
    ],
)
def test_cells_of_searches_and_budgets_end_when_they_are_steady(load: str, most: int, bench: Bench) -> None:
    text = SPEC[: SPEC.index("experiment closed")]
    steady = "measure = until_steady(within: 2 %, from: 1 min, to: 5 min)"
    bench.spec(f"{text}experiment e {{ hardware = eco  workloads = b  {load}  {steady} }}\n")
    done = bench("run", "brief.bench", "--simulate", "--no-report")
    assert done.code == 0, done.text
    measured = [cell for cell, (status, _) in bench.verdicts().items() if status == "ok"]
    ends = {each["cell"]: each for each in bench.journal("measuring_ended")}
    assert ends.keys() == set(measured)
    assert 2 <= len(measured) <= most
    assert all(60 <= each["lasted_s"] <= 300 for each in ends.values())
    assert all(each["steady"] or each["lasted_s"] == 300 for each in ends.values())
