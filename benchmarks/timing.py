"""Times whole commands, interleaved so that any drift of the machine affects both sides."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

BENCH = str(Path(sys.executable).with_name("bench"))
BARE = (sys.executable, "-c", "pass")


def wall_s(command: Sequence[str], cwd: Path | None = None) -> float:
    """Return the wall seconds of a command. If the command fails, shows its output and raises CalledProcessError."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        done.check_returncode()
    return seconds


def interleaved(first: Sequence[str], second: Sequence[str], pairs: int) -> tuple[list[float], list[float]]:
    """Return the times of both commands in seconds. They take turns after one uncounted round of each."""
    wall_s(first), wall_s(second)
    times = [(wall_s(first), wall_s(second)) for _ in range(pairs)]
    return [a for a, _ in times], [b for _, b in times]


def spread(values: Sequence[float], unit: str, digits: int = 3) -> str:
    """Return the median, lowest and highest value as text."""
    return (
        f"{statistics.median(values):.{digits}f} {unit} "
        f"({min(values):.{digits}f} to {max(values):.{digits}f}, n = {len(values)})"
    )


def verdict(what: str, value: float, limit: float, unit: str) -> bool:
    """Print a figure beside its limit. Returns whether it is within the limit."""
    held = value <= limit
    print(f"  {what}: {value:.3f} {unit}, limit {limit:g} {unit}: {'holds' if held else 'DOES NOT HOLD'}")
    return held
