"""`bench --help` and `bench check examples/quickstart.bench` against a bare `python -c pass`."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.timing import BARE, BENCH, interleaved, spread, verdict

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart.bench"


def main(pairs: int = 15) -> bool:
    held = True
    for name, command, limit in (
        ("bench --help", (BENCH, "--help"), 0.3),
        ("bench check", (BENCH, "check", str(QUICKSTART)), 0.6),
    ):
        ours, bare = interleaved(command, BARE, pairs)
        print(f"  {name}: {spread(ours, 's')}; python -c pass: {spread(bare, 's')}")
        added = statistics.median(ours) - statistics.median(bare)
        held &= verdict(f"{name} beyond a bare interpreter", added, limit, "s")
    return held
