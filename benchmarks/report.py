"""Rendering the quickstart's brief, PDF and HTML, from its stored results, imports included."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.startup import QUICKSTART
from benchmarks.timing import BARE, BENCH, interleaved, spread, verdict


def main(pairs: int = 5) -> bool:
    with tempfile.TemporaryDirectory(prefix="benchbrief-report-") as name:
        out = str(Path(name) / "out")
        print("  running the quickstart once (about four minutes) ...")
        subprocess.run((BENCH, "run", str(QUICKSTART), "--out", out, "--quiet", "--no-report"), check=True)
        ours, bare = interleaved((BENCH, "report", "--out", out), BARE, pairs)
    print(f"  bench report, PDF and HTML: {spread(ours, 's')}; python -c pass: {spread(bare, 's')}")
    return verdict("the quickstart's brief from stored results", statistics.median(ours), 5.0, "s")
