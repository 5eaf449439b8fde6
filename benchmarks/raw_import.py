"""Compares importing raw latencies of YCSB (`measurementtype=raw`) with the same aggregation by pandas.

Both read one generated file with the lines `READ,<ms>,<us>` and `UPDATE,<ms>,<us>`. For each operation, both compute
the count, the mean, the extremes, and the same percentiles. Each runs as its own process, so that its time includes its
imports and its peak memory can be measured. In addition, `bench import` keeps the file, hashes it, and builds the
tables.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.fleet import process_cost
from benchmarks.timing import BENCH, verdict

REPOSITORY = Path(__file__).resolve().parents[1]
PEERS = REPOSITORY / ".tools" / "peers" / "bin" / "python"
PERCENTILES = (50, 95, 99, 99.9)

SPEC = """\
hardware nvme { hosts = "db.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
experiment raw { hardware = nvme  workloads = a  threads = 8  measure = 30 min }
"""
OURS = """\
import json, sys
from pathlib import Path
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.model import histogram as h
measured = read_output("ycsb", {"raw": Path(sys.argv[1])}, "a")
told = {}
for each in measured.operations:
    told[each.operation.upper()] = {
        "count": each.count, "mean": each.mean_s * 1e6, "min": each.min_s * 1e6, "max": each.max_s * 1e6,
        **{str(p): h.percentile(each.histogram, p) * 1e6 for p in %r},
    }
print(json.dumps(told))
"""
THEIRS = """\
import json, sys
import pandas as pd
frame = pd.read_csv(sys.argv[1], names=["op", "ms", "us"], skiprows=1)
told = {}
for op, us in frame.groupby("op")["us"]:
    told[op] = {
        "count": int(us.count()), "mean": float(us.mean()), "min": float(us.min()), "max": float(us.max()),
        **{str(p): float(us.quantile(p / 100)) for p in %r},
    }
print(json.dumps(told))
"""


def write_latencies(path: Path, size: int) -> int:
    """Write about `size` bytes of lines, with 20 operations per millisecond, and return the number of lines."""
    chance = random.Random(1)  # noqa: S311  # made-up latencies
    block = [
        ("READ" if chance.random() < 0.5 else "UPDATE", max(1, int(chance.lognormvariate(6.5, 0.9))))
        for _ in range(200_000)
    ]
    written, count = 0, 0
    with path.open("w", encoding="ascii") as file:
        written += file.write("READ latency raw data: op, timestamp(ms), latency(us)\n")
        while written < size:
            start = 1_700_000_000_000 + count // 20
            text = "".join(f"{op},{start + i // 20},{us}\n" for i, (op, us) in enumerate(block))
            written += file.write(text)
            count += len(block)
    return count


def agrees(ours: dict[str, dict[str, float]], theirs: dict[str, dict[str, float]]) -> bool:
    """Return whether counts and extremes are equal, and percentiles equal to within a thousandth, the width of a
    bucket."""
    return ours.keys() == theirs.keys() and all(
        abs(value - theirs[op][name]) <= (0 if name in ("count", "min", "max") else 2e-3) * theirs[op][name] + 1e-6
        for op, told in ours.items()
        for name, value in told.items()
    )


def main(megabytes: int = 1000) -> bool:
    python = str(PEERS) if PEERS.exists() else os.environ.get("PANDAS_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory(prefix="benchbrief-raw-") as name:
        folder = Path(name)
        path = folder / "raw.txt"
        count = write_latencies(path, megabytes * 10**6)
        print(f"  {count:,} latencies, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        (folder / "raw.bench").write_text(SPEC)
        runs = {
            "aggregated": process_cost(sys.executable, "-c", OURS % (PERCENTILES,), str(path), cwd=folder),
            "pandas": process_cost(python, "-c", THEIRS % (PERCENTILES,), str(path), cwd=folder),
            "bench import": process_cost(
                *(BENCH, "import", "ycsb", str(path), "--spec", "raw.bench", "--cell", "threads=8", "--json"),
                *("--title", "made up", "--publisher", "nobody", "--document", "none", "--licence", "none"),
                cwd=folder,
            ),
        }
    for what, (used, _) in runs.items():
        took = f"{used.wall_s:6.1f} s, CPU {used.cpu_s:6.1f} s, peak {used.peak_bytes / 1e6:,.0f} MB"
        print(f"  {what:<13} {took}", flush=True)
    (ours, ours_said), (theirs, theirs_said) = runs["aggregated"], runs["pandas"]
    assert agrees(json.loads(ours_said), json.loads(theirs_said)), (ours_said, theirs_said)
    print(f"  the same numbers, {theirs.wall_s / ours.wall_s:.2f} times as fast as pandas")
    return verdict("peak memory of the import", runs["bench import"][0].peak_bytes / 1e6, 500.0, "MB")


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
