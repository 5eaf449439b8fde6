"""db_bench under `bench run` against bare db_bench: operations per second, and the wall time a cell adds.

Pairs are interleaved. The bare command is the very one that `bench run` kept beside its raw output, on the same
database. One pair is one cell and one bare run; which goes first alternates, so that a drift falls on both.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.timing import BENCH, spread, verdict

SPEC = """
hardware box {{ hosts = local }}
database rocks {{
  engine = rocksdb  path = "{path}"  reset = reuse
  options {{ compression = "none"  cache = 64 MiB }}
}}
workload read from db_bench.readrandom {{ records = 100k  value_size = 100 B }}
experiment one {{
  hardware = [box]  workloads = [read]  threads = [1]  measure = {seconds} s
  probes = [disk every 1 s, cpu every 1 s]
}}
"""


def under_bench(folder: Path) -> tuple[float, float, Path]:
    """One cell under `bench run`: operations per second, wall seconds of the cell, the job's folder."""
    done = subprocess.run(
        (BENCH, "run", "overhead.bench", "--no-report", "--quiet", "--json"),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    run_dir = folder / json.loads(done.stdout)["directory"]
    records = [json.loads(line) for line in (run_dir / "journal.jsonl").read_text().splitlines()]
    started = next(r for r in records if r["type"] == "cell_started")
    ended = next(r for r in records if r["type"] == "cell_ended")
    measured = next(r for r in records if r["type"] == "job_collected" and r["job"] == "measure")
    return ended["ops_per_s"], ended["at"] - started["at"], run_dir / measured["directory"]


def bare(command: str, folder: Path) -> tuple[float, float]:
    """The same command from a shell: operations per second, wall seconds."""
    started = time.perf_counter()
    done = subprocess.run(("sh", "-c", command), cwd=folder, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    found = re.search(r"^readrandom\s*:.*?(\d+) ops/sec", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found[1]), seconds


def main(pairs: int = 10, seconds: int = 5) -> bool:
    with tempfile.TemporaryDirectory(prefix="benchbrief-overhead-") as name:
        folder = Path(name)
        (folder / "overhead.bench").write_text(SPEC.format(path=folder / "db", seconds=seconds))
        _, _, job = under_bench(folder)  # loads the database, uncounted
        command = (job / "command.txt").read_text().strip()
        print(f"  the bare command: {command}")
        bare(command, folder)
        ratios, added = [], []
        for pair in range(pairs):
            if pair % 2:
                plain, (ops, wall, _) = bare(command, folder), under_bench(folder)
            else:
                (ops, wall, _), plain = under_bench(folder), bare(command, folder)
            ratios.append(ops / plain[0])
            added.append(wall - plain[1])
    print(f"  ops/s under bench / bare: {spread(ratios, '')}")
    print(f"  added wall time a cell: {spread(added, 's')}")
    held = verdict("ops/s off the bare run, median of pairs", abs(statistics.median(ratios) - 1) * 100, 2.0, "%")
    return verdict("added wall time a cell, median of pairs", statistics.median(added), 1.0, "s") and held
