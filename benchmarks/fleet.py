"""Measures how the controller's cost for simulated fleets grows with the number of cells.

Each host is a separate lane. The run itself, the store and the brief are made in separate processes, so that the peak
memory of each can be measured. CPU is the user and system time of the whole process, including checking the spec and
reading the plan. A second table is for lanes that are run by separate processes and merged afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import BENCH, verdict

CELLS, LANES = (1000, 10_000), (10, 100)
"""The sizes to measure unless the command line names others."""
WORKLOADS, THREADS = ("read", "mixed"), (1, 4, 16, 64, 256)
HUNDRED = tuple(range(1, 251, 5))
"""The number of threads that gives a lane a hundred cells."""

HEAD = """\
hardware h{index} "Group {index}" {{ hosts = "db-{index}.lab"  cores = {cores} }}"""
SPEC = """\
{hardware}
database rocks {{ engine = rocksdb  path = "/data/bench"  reset = reuse }}
workload read  "Random reads"     from db_bench.readrandom            {{ records = 10M }}
workload mixed "Reads and writes" from db_bench.readrandomwriterandom {{ records = 10M }}
experiment ramp {{
  hardware  = [{groups}]
  workloads = [{workloads}]
  threads   = [{threads}]
  measure   = 10 min
  probes    = [cpu every 1 s]
}}
metric best in ops/s = max(throughput over threads), higher is better
report brief "A fleet" {{
  callout "Throughput" {{ rows = workload  column "Highest" = "{{max(throughput over threads, hardware):,.0fu}}" }}
  figure "Throughput of the first group" {{ line = throughput[h0] by threads, color workload }}
  table "Median" {{ rows = workload  columns = "{{median(best over hardware):,.0fu}}" }}
  disclosure = automatic
}}
"""


def spec(hosts: int, threads: Sequence[int] = THREADS, workloads: Sequence[str] = WORKLOADS) -> str:
    """Return a spec with this many hosts, each of which is a hardware group with its own lane."""
    groups = [HEAD.format(index=index, cores=8 + index % 8) for index in range(hosts)]
    return SPEC.format(
        hardware="\n".join(groups),
        groups=", ".join(f"h{index}" for index in range(hosts)),
        workloads=", ".join(workloads),
        threads=", ".join(map(str, threads)),
    )


@dataclass(frozen=True)
class Cost:
    """The cost of one process: its times in seconds, and its peak resident memory in bytes."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def cost(*words: str, cwd: Path) -> tuple[Cost, str]:
    """Return the cost of a `bench` command, and its output. Raises CalledProcessError."""
    return process_cost(BENCH, *words, cwd=cwd)


def process_cost(*words: str, cwd: Path) -> tuple[Cost, str]:
    """Return the cost of any process, and its output. Raises CalledProcessError."""
    started = time.perf_counter()
    # Modules are compiled once on a user's machine, and not by each process.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(words, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.read()
        # The resources of this very process, and not the most that any child has taken.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words, said)
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024), said


def of_cells(cells: int) -> list[tuple[str, Cost]]:
    """Return the cost of each step of a run with this many cells, split into lanes of 100 cells."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-fleet-") as name:
        folder = Path(name)
        (folder / "fleet.bench").write_text(spec(cells // 100, HUNDRED))
        planned, _ = cost("plan", "fleet.bench", "--json", cwd=folder)
        ran, said = cost("run", "fleet.bench", "--simulate", "--no-report", "--quiet", "--json", cwd=folder)
        run = json.loads(said)
        assert (run["status"], run["simulated"]) == ("done", True), run["message"]
        stored, _ = cost("rebuild", run["run"], cwd=folder)
        briefed, _ = cost("report", run["run"], "--html-only", cwd=folder)
        looked, _ = cost("status", run["run"], cwd=folder)
    steps = ("plan", planned), ("run with its store", ran), ("store alone", stored), ("brief as HTML", briefed)
    return [*steps, ("status", looked)]


def of_lanes(lanes: int, each: int = 10) -> list[tuple[str, Cost]]:
    """Return the cost of each step if a separate process runs each lane. A lane has ten or a hundred cells."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-fleet-") as name:
        folder = Path(name)
        (folder / "fleet.bench").write_text(spec(lanes, HUNDRED if each == 100 else THREADS))
        planned, _ = cost("plan", "fleet.bench", "--into", "run", "--simulate", cwd=folder)
        print(f"  planned in {planned.cpu_s:.1f} s of CPU, peak {planned.peak_bytes / 1e6:.0f} MB", flush=True)
        began = time.perf_counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            numbers = map(str, range(1, lanes + 1))
            costs = [ran for ran, _ in pool.map(lambda n: cost("lane", "run", n, "--quiet", cwd=folder), numbers)]
        whole = Cost(time.perf_counter() - began, sum(c.cpu_s for c in costs), max(c.peak_bytes for c in costs))
        print(f"  lanes: {whole.cpu_s:.1f} s of CPU, peak {whole.peak_bytes / 1e6:.0f} MB", flush=True)
        merged, _ = cost("merge", "run", "--no-report", "--quiet", cwd=folder)
        briefed, _ = cost("report", "run", "--html-only", cwd=folder)
    return [("plan", planned), ("the lanes", whole), ("merge with its store", merged), ("brief as HTML", briefed)]


def shown(cells: int, steps: Sequence[tuple[str, Cost]]) -> None:
    for what, used in steps:
        print(
            f"  {cells:>7,} cells, {what:<20} {used.wall_s:6.1f} s, CPU {used.cpu_s:6.1f} s "
            f"({used.cpu_s / cells * 1e3:5.2f} ms a cell), peak {used.peak_bytes / 1e6:5.0f} MB",
            flush=True,
        )


def main(cells: Sequence[int] = CELLS, lanes: Sequence[int] = LANES, each: int = 10) -> bool:
    held = True
    for size in cells:
        steps = dict(of_cells(size))
        shown(size, list(steps.items()))
        ran, briefed = steps["run with its store"], steps["brief as HTML"]
        if size >= 10_000:  # starting up is most of a smaller one
            held &= verdict("CPU of the run with its store, a cell", ran.cpu_s / size * 1e3, 5.0, "ms")
        if size <= 10_000:
            held &= verdict("peak memory of the run with its store", ran.peak_bytes / 1e6, 500.0, "MB")
        held &= verdict("CPU of the brief", briefed.cpu_s, 60.0, "s")
        held &= verdict("peak memory of the brief", briefed.peak_bytes / 1e6, 2000.0, "MB")
    for number in lanes:
        print(f"  {number:,} lanes, a process each", flush=True)
        shown(each * number, of_lanes(number, each))
    return held


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__)
    parser.add_argument("cells", type=int, nargs="*", help="how many cells, each in hundreds (1000 10000)")
    parser.add_argument("--lanes", type=int, nargs="*", default=[], help="how many lanes to run and merge")
    parser.add_argument("--each", type=int, choices=(10, 100), default=10, help="how many cells a lane has")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(not main(_asked().cells, _asked().lanes, _asked().each))
