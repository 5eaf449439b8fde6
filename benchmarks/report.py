"""Measures the time to render the briefs of the quickstart and the examples as PDF and HTML from stored results,
including imports.

The results are simulated: the time for a brief depends on its figures, tables and pages, and not on where its numbers
come from.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import record
from benchmarks.startup import QUICKSTART
from benchmarks.timing import BENCH, spread, verdict, wall_s

LIMIT_S = 5.0


def main(rounds: int = 5) -> bool:
    specs = (QUICKSTART, *sorted(QUICKSTART.parent.glob("*/*.bench")))
    with tempfile.TemporaryDirectory(prefix="benchbrief-report-") as folder:
        held = [
            _holds(spec, Path(folder) / spec.stem, rounds) for spec in specs
        ]  # each is measured, whatever the others are
        return all(held)


def _holds(spec: Path, out: Path, rounds: int) -> bool:
    """Return whether a brief stays within the limit of processor time, which suffers less from a busy machine than wall
    time.

    On a quiet machine the two are alike, since rendering waits for nothing.
    """
    simulate = (BENCH, "run", str(spec), "--simulate", "--out", str(out), "--quiet", "--no-report")
    subprocess.run(simulate, check=True, capture_output=True)
    (run,) = (path for path in out.iterdir() if path.is_dir() and not path.name.startswith("."))
    render = (BENCH, "report", str(run), "--to", str(out / "brief"))
    wall_s(render)
    taken = [_timed(render) for _ in range(rounds)]
    wall, processor = zip(*taken, strict=True)
    record(
        f"processor time of the brief of {spec.stem}, PDF and HTML",
        f"{spread(processor, 's')}; wall {spread(wall, 's')}",
    )
    return verdict(f"the brief of {spec.stem} from stored results", statistics.median(processor), LIMIT_S, "s")


def _timed(command: Sequence[str]) -> tuple[float, float]:
    """Return the wall and processor seconds of a command, which must succeed."""
    before = os.times()
    wall = wall_s(command)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, spent
