"""Runs the load generator of loadgen/, and checks what its README promises about its records."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tests.support.tools import built_tool

# Where a test is about what a run writes: other work on this machine may make it late.
JUDGED_GENTLY = "--accept-lag 1e6 --accept-pauses 1 --accept-stalls 1"


class Ended:
    """The result of a program: its exit code, its errors, and the JSON objects that it printed, one per line. `final`
    is the last of them."""

    def __init__(self, code: int, errors: str, output: str) -> None:
        self.code = code
        self.errors = errors
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines()]

    @property
    def final(self) -> dict[str, Any]:
        assert self.lines, self.errors
        return self.lines[-1]


def command(arguments: str, program: str = "openload-mongodb") -> list[str]:
    return [str(built_tool(f"openload/bin/{program}")), *shlex.split(arguments)]


def openload(arguments: str, program: str = "openload-mongodb") -> Ended:
    done = subprocess.run(command(arguments, program), capture_output=True, text=True, timeout=60, check=False)
    return Ended(done.returncode, done.stderr, done.stdout)


def counts_hold(counts: dict[str, Any]) -> None:
    assert counts["offered"] == counts["started"] + counts["dropped"] + counts["abandoned"]
    assert counts["started"] == counts["completed"] + counts["failed"] + counts["unfinished"]


def invariants_hold(final: dict[str, Any], output: Path) -> None:
    """Check what loadgen/README.md promises about each final record and its log."""
    assert final == json.loads((output / "record.json").read_text())
    names = ("offered", "started", "dropped", "abandoned", "completed", "failed", "unfinished")
    for counts in (final, final["warm_up"], *final["operations"].values()):
        counts_hold(counts)
    for name in names:
        assert final[name] == sum(operation[name] for operation in final["operations"].values())
    if final["complete"]:
        assert final["abandoned"] == final["unfinished"] == 0
    logged = logged_histograms(output / "histograms.hlog")
    for name, operation in final["operations"].items():
        for tag, latency in ((name, "intended_us"), (f"{name}-service", "service_us")):
            histogram = logged.get(tag)
            assert operation["completed"] == (histogram.get_total_count() if histogram else 0)
            if histogram:
                assert operation[latency]["count"] == operation["completed"]
                for figure, percentile in (("p50", 50), ("max", 100)):
                    read = histogram.get_value_at_percentile(percentile)
                    assert operation[latency][figure] * 1000 == pytest.approx(read, rel=0.001)


def logged_histograms(log: Path) -> dict[str, HdrHistogram]:
    """Return the log's histograms, added up by tag. They are read by another implementation of HdrHistogram."""
    sums: dict[str, HdrHistogram] = {}
    reader = HistogramLogReader(str(log), HdrHistogram(1, 3_600_000_000_000, 3))
    while (histogram := reader.get_next_interval_histogram()) is not None:
        total = sums.setdefault(histogram.get_tag(), HdrHistogram(1, 3_600_000_000_000, 3))
        total.add(histogram)
    reader.close()
    return sums
