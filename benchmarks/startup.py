"""Compares `bench --help` and `bench check examples/quickstart.bench` with a bare `python -c pass`."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.figures import record
from benchmarks.timing import BARE, BENCH, interleaved, spread, verdict

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart.bench"


def main(pairs: int = 15) -> bool:
    held = True
    for name, command, limit in (
        ("bench --help", (BENCH, "--help"), 0.3),
        ("bench check examples/quickstart.bench", (BENCH, "check", str(QUICKSTART)), 0.6),
    ):
        ours, bare = interleaved(command, BARE, pairs)
        added = statistics.median(ours) - statistics.median(bare)
        record(f"`{name}`", f"{spread(ours, 's')}, {added:.3f} s beyond", f"`python -c pass`: {spread(bare, 's')}")
        held &= verdict(f"{name} beyond a bare interpreter", added, limit, "s")
    return held
