"""A simulated fleet: 1,000 hosts and 10,000 cells, and what they cost the controller.

Each step is a process of its own, so that its peak memory is its own: the run itself, the store, the brief. CPU is user
and system time, all of the process included, as the spec that is checked and the plan that is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.timing import BENCH, verdict

HOSTS, WORKLOADS, THREADS = 1000, ("read", "mixed"), (1, 4, 16, 64, 256)

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


def spec(hosts: int = HOSTS, threads: Sequence[int] = THREADS, workloads: Sequence[str] = WORKLOADS) -> str:
    """So many hosts, each a hardware group and a lane of its own."""
    groups = [HEAD.format(index=index, cores=8 + index % 8) for index in range(hosts)]
    return SPEC.format(
        hardware="\n".join(groups),
        groups=", ".join(f"h{index}" for index in range(hosts)),
        workloads=", ".join(workloads),
        threads=", ".join(map(str, threads)),
    )


@dataclass(frozen=True)
class Cost:
    """Of one process. Seconds, and bytes of resident memory at the most."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def cost(*words: str, cwd: Path) -> tuple[Cost, str]:
    """Of a `bench` command, with what it printed. Raises CalledProcessError."""
    return process_cost(BENCH, *words, cwd=cwd)


def process_cost(*words: str, cwd: Path) -> tuple[Cost, str]:
    """Of any process, with what it printed. Raises CalledProcessError."""
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


def main(hosts: int = HOSTS) -> bool:
    cells = hosts * len(WORKLOADS) * len(THREADS)

    def told(what: str, used: Cost) -> Cost:
        print(
            f"  {what:<13} {used.wall_s:6.1f} s, CPU {used.cpu_s:6.1f} s ({used.cpu_s / cells * 1e3:5.2f} ms a cell), "
            f"peak {used.peak_bytes / 1e6:4.0f} MB",
            flush=True,
        )
        return used

    print(f"  {hosts:,} simulated hosts, {cells:,} cells", flush=True)
    with tempfile.TemporaryDirectory(prefix="benchbrief-fleet-") as name:
        folder = Path(name)
        (folder / "fleet.bench").write_text(spec(hosts))
        told("plan", cost("plan", "fleet.bench", "--json", cwd=folder)[0])
        used, said = cost("run", "fleet.bench", "--simulate", "--no-report", "--quiet", "--json", cwd=folder)
        ran, run = told("run and store", used), json.loads(said)
        assert (run["status"], run["simulated"]) == ("done", True), run["message"]
        told("store", cost("rebuild", run["run"], cwd=folder)[0])
        told("brief as HTML", cost("report", run["run"], "--html-only", cwd=folder)[0])
    held = verdict("CPU of the run with its store, a cell", ran.cpu_s / cells * 1e3, 5.0, "ms")
    return verdict("peak memory of the run with its store", ran.peak_bytes / 1e6, 500.0, "MB") and held


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
