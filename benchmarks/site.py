"""Measures making a static site of 1,000 nightly runs: the time and memory of the first build, and of a build that adds
one more night.

The runs are generated (`tests/support/nights.py`), with their plans, journals, raw outputs and tables.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchbrief.history.many_runs import MOST_PROCESSES
from benchmarks.timing import BENCH, verdict
from tests.support.nights import PLUGIN, nights

RUNS = 1_000
LIMIT_S = 60.0
AGAIN_S = 15.0


def main(count: int = RUNS) -> bool:
    sys.path.insert(0, str(PLUGIN))
    with tempfile.TemporaryDirectory(prefix="benchbrief-site-") as folder:
        runs, site = Path(folder) / "runs", Path(folder) / "site"
        nights(runs, count - 1, step_at=count // 2)
        first = _timed(runs, site, f"the first making, of {count - 1:,} runs")
        nights(runs, count, step_at=count // 2, begin=count - 1)
        again = _timed(runs, site, "after one more night")
        pages = sum(1 for _ in site.rglob("*.html"))
        size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
        print(f"  {pages:,} pages, {size / 1e6:.0f} MB; load of the machine {os.getloadavg()[0]:.0f}")
        cores = min(os.cpu_count() or 1, MOST_PROCESSES)
        held = verdict(f"a site of {RUNS:,} runs, on {cores} cores", first * RUNS / count / cores, LIMIT_S, "s")
        return verdict("one night more", again, AGAIN_S, "s of processor time") and held


def _timed(runs: Path, site: Path, what: str) -> float:
    """Return the processor seconds of all processes that build the site. The wall time is printed but not judged, since
    it grows on a busy machine."""
    before, began = os.times(), time.monotonic()
    command = [BENCH, "site", "--from", str(runs), "--to", str(site)]
    subprocess.run(command, check=True, capture_output=True)
    after, wall = os.times(), time.monotonic() - began
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"  {what}: {spent:.1f} s of processor time, {wall:.1f} s of wall time, {memory:.0f} MB in its largest process"
    )
    return spent
