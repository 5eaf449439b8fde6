"""Compares the wall time of one campaign on two hardware groups with `overlap = loading` and with `overlap = none`.

Both groups are real hosts with an sshd each, but on this one machine. A load therefore takes processor time and disk
bandwidth from the measurement beside it, which it would not do on two machines. For this reason, the throughputs of
both variants are compared, too.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import spread, verdict
from tests.support.two_hosts import two_hosts

SPEC = """\
hardware one { hosts = "one"  path = "@DATA@/one" }
hardware two { hosts = "two"  path = "@DATA@/two" }
database rocks { engine = rocksdb  tool = @TOOL@  path = "{path}"  reset = drop_and_load }
workload reads from db_bench.readrandom { records = 2M  value_size = 400 B }
experiment e {
  hardware = [one, two]  workloads = reads  threads = [1, 2, 4]  warm_up = 0 s  measure = 5 s  overlap = @OVERLAP@
}
report brief "Brief" { table "T" { rows = hardware  columns = throughput by threads } }
"""
CELLS, PAIRS = 6, 3


@dataclass(frozen=True)
class Campaign:
    """The wall seconds of a run, the seconds of its loads, and the mean operations per second of its cells."""

    wall_s: float
    loading_s: float
    ops_per_s: float


def campaign(overlap: str) -> Campaign:
    """Make one run with its own folder and its own data."""
    with tempfile.TemporaryDirectory() as folder, two_hosts(Path(folder)) as bench:
        bench.spec(SPEC, TOOL=bench.tool, OVERLAP=overlap)
        began = time.perf_counter()
        done = bench("run", "brief.bench", "--no-report", timeout=600)
        wall_s = time.perf_counter() - began
        assert done.code == 0, done.text
        ended = bench.journal("cell_ended")
        assert len(ended) == CELLS
        loads = [each for each in bench.journal("step_ended") if each["step"] == "load"]
        return Campaign(
            wall_s, sum(each["seconds"] for each in loads), statistics.mean(each["ops_per_s"] for each in ended)
        )


def main() -> bool:
    sides: dict[str, list[Campaign]] = {"none": [], "loading": []}
    for number in range(PAIRS):
        for overlap in sorted(sides, reverse=number % 2 == 1):
            sides[overlap].append(campaign(overlap))
    for overlap, runs in sides.items():
        walls = spread([run.wall_s for run in runs], "s", 1)
        loads = spread([run.loading_s for run in runs], "s", 1)
        print(f"  overlap = {overlap}: {CELLS} cells in {walls}; loads {loads}")
    pairs = list(zip(sides["loading"], sides["none"], strict=True))
    throughput = statistics.median(over.ops_per_s / alone.ops_per_s for over, alone in pairs)
    print(f"  throughput beside loads / alone, on one machine: {throughput:.2f}")
    ratio = statistics.median(over.wall_s / alone.wall_s for over, alone in pairs)
    return verdict("wall time by overlap = loading / none", ratio, 1.0, "")
