"""Compares a matrix of 180 RocksDB cells with `reset = links` to a plain script that loads before each cell.

Both sides have the same database, workloads, points and repeats (`reloads/`). The variants take turns, and the side
that goes first alternates, so that any drift of the machine affects both. The times of each finished variant are kept
in a folder. After an interruption, the same command continues and measures the interrupted variant again.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.timing import BENCH, verdict

HERE = Path(__file__).parent / "reloads"
FOLDER = Path("/var/tmp/benchbrief-matrix")  # noqa: S108 - the spec names it, and /tmp may be in memory
"""The folder that holds the spec's data and the measured results."""
VARIANTS = ("none", "lz4", "zstd")
WORKLOADS = {
    "overwrite": "overwrite",
    "updaterandom": "update",
    "readrandomwriterandom": "mixed",
    "readwhilewriting": "beside",
    "seekrandomwhilewriting": "scans",
}
"""The names of the workloads in the spec, and in db_bench."""
RECORDS, SECONDS, REPEATS, CELLS = 400_000, 1, 3, 60
_RATE = re.compile(r"^(\w+)\s*:\s+\S+ micros/op (\d+) ops/sec", re.MULTILINE)
_CELL = re.compile(r"matrix/\w+/(\w+)/threads=(\d+)/r(\d+)")


@dataclass(frozen=True)
class Block:
    """One side's cells of a variant: their total wall seconds, and their operations per second by
    workload/threads/repeat."""

    wall_s: float
    ops_per_s: Mapping[str, float]


def by_links(variant: str) -> Block:
    """Measure the cells with `bench run`. Its start and building its store are included."""
    data = FOLDER / variant
    for place in (data, Path(f"{data}.BENCHBRIEF.snapshot")):
        shutil.rmtree(place, ignore_errors=True)
    command = (BENCH, "run", str(HERE / "matrix.bench"), "--profile", variant, "--out", str(FOLDER / "runs"))
    began = time.perf_counter()
    done = subprocess.run(
        (*command, "--fresh", "--no-report", "--quiet", "--json"),
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    wall_s = time.perf_counter() - began
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        done.check_returncode()
    journal = FOLDER / json.loads(done.stdout)["directory"] / "journal.jsonl"
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "cell_ended" and (cell := _CELL.fullmatch(record["cell"])):
            found["/".join(cell.groups())] = float(record["ops_per_s"])
    return _whole(Block(wall_s, found))


def by_reloads(variant: str) -> Block:
    """Measure the same cells with the plain script."""
    output = FOLDER / f"reloads-{variant}"
    shutil.rmtree(output, ignore_errors=True)
    words = (HERE / "reload_each_cell.sh", variant, RECORDS, SECONDS, FOLDER / "reloaded", output)
    began = time.perf_counter()
    subprocess.run([str(word) for word in words], cwd=FOLDER, check=True)
    wall_s = time.perf_counter() - began
    found = {}
    for path in output.iterdir():
        rates = dict(_RATE.findall(path.read_text(encoding="utf-8", errors="replace")))
        workload, _, point = path.name.partition("-")
        if workload in rates and workload in WORKLOADS:
            found[f"{WORKLOADS[workload]}/{point.replace('-', '/')}"] = float(rates[workload])
    return _whole(Block(wall_s, found))


def _whole(block: Block) -> Block:
    assert len(block.ops_per_s) == CELLS, f"{len(block.ops_per_s)} of {CELLS} cells"
    return block


SIDES = {"links": by_links, "reloads": by_reloads}


def measured(variant: str, side: str) -> Block:
    """Return the saved result of the variant on this side. If there is none, measure it now."""
    kept = FOLDER / f"{variant}-{side}.json"
    if kept.exists():
        return Block(**json.loads(kept.read_text(encoding="utf-8")))
    block = SIDES[side](variant)
    kept.write_text(json.dumps(asdict(block)), encoding="utf-8")
    print(f"  {variant} by {side}: {CELLS} cells in {block.wall_s:.0f} s", flush=True)
    return block


def spreads(blocks: Mapping[str, Block]) -> dict[str, float]:
    """Return the standard deviation of each point's repeats, as a share of their mean."""
    points = defaultdict(list)
    for variant, block in blocks.items():
        for cell, rate in block.ops_per_s.items():
            points[f"{variant}/{cell.rpartition('/')[0]}"].append(rate)
    assert all(len(rates) == REPEATS for rates in points.values())
    return {point: statistics.stdev(rates) / statistics.mean(rates) for point, rates in points.items()}


def main() -> bool:
    FOLDER.mkdir(parents=True, exist_ok=True)
    blocks: dict[str, dict[str, Block]] = {side: {} for side in SIDES}
    for number, variant in enumerate(VARIANTS):
        for side in sorted(SIDES, reverse=number % 2 == 1):
            blocks[side][variant] = measured(variant, side)
    wall = {side: sum(block.wall_s for block in of.values()) for side, of in blocks.items()}
    for side, of in blocks.items():
        shares = sorted(spreads(of).values())
        low, middle, high = statistics.quantiles(shares, n=4)
        print(
            f"  by {side}: {CELLS * len(VARIANTS)} cells in {wall[side]:.0f} s; spread of {REPEATS} repeats over "
            f"{len(shares)} points: median {middle:.1%}, quartiles {low:.1%} and {high:.1%}, at most {shares[-1]:.1%}"
        )
    links, reloads = spreads(blocks["links"]), spreads(blocks["reloads"])
    closer = sum(links[point] < reloads[point] for point in links)
    print(f"  the repeats are closer together by links at {closer} of {len(links)} points")
    shutil.rmtree(FOLDER)
    return verdict("wall time by links / by reloads", wall["links"] / wall["reloads"], 1.0, "")
