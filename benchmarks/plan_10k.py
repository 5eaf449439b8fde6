"""Compares checking and planning a spec of 10,000 cells with a bare `python -c pass`."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.figures import record
from benchmarks.timing import BARE, BENCH, interleaved, spread, verdict

HARDWARE, WORKLOADS, THREADS, REPEATS = 10, 10, 20, 5


def spec() -> str:
    """Return a spec with 10 hardware groups x 10 workloads x 20 thread counts x 5 repeats = 10,000 cells."""
    hardware = "\n".join(
        f'hardware h{i} "Group {i}" {{ hosts = "h{i}-[1-3].lab"  memory = {i + 1} GiB }}' for i in range(HARDWARE)
    )
    workloads = "\n".join(
        f"workload w{i} from ycsb.{'abcdf'[i % 5]} {{ records = {i + 1}M }}" for i in range(WORKLOADS)
    )
    return f"""{hardware}
client load {{ hosts = "load.lab"  tool = ycsb("/opt/ycsb") }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
{workloads}
experiment all {{
  hardware  = [{", ".join(f"h{i}" for i in range(HARDWARE))}]
  workloads = [{", ".join(f"w{i}" for i in range(WORKLOADS))}]
  threads   = [{", ".join(str(8 * (i + 1)) for i in range(THREADS))}]
  warm_up   = 1 min
  measure   = 10 min
  repeats   = {REPEATS}, interleaved
}}
metric ratio = throughput[h1] / throughput[h0]
"""


def main(pairs: int = 5) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.bench"
        path.write_text(spec())
        command = (BENCH, "plan", str(path), "--json")
        planned = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        cells = len(planned["cells"])
        assert cells == 10_000, cells
        ours, bare = interleaved(command, BARE, pairs)
    record(f"`bench plan --json` of {cells:,} cells", spread(ours, "s"), f"`python -c pass`: {spread(bare, 's')}")
    return verdict("check and plan of 10,000 cells", statistics.median(ours), 3.0, "s")
