"""Measures the time and memory needed to write a workbook with 100,000 points.

The points come from a simulated run of the quickstart, each repeated many times. Here the store's tables are in memory,
whereas those of a large run are read from their files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.office.kept_ledger import with_ledger
from benchbrief.reports.office.office_formats import OFFICE_FORMATS, HandOver
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import words_of
from benchbrief.results.open_store import open_store
from benchbrief.results.store.store import Store
from benchbrief.runners.journal.run_folder import load_plan
from benchmarks.figures import record
from benchmarks.startup import QUICKSTART
from benchmarks.timing import BENCH, verdict

POINTS = 100_000
LIMIT_S, LIMIT_MB = 20.0, 500.0


def main() -> bool:
    with tempfile.TemporaryDirectory(prefix="benchbrief-workbook-") as folder:
        simulate = (BENCH, "run", str(QUICKSTART), "--simulate", "--out", folder, "--quiet", "--no-report")
        subprocess.run(simulate, check=True, capture_output=True)
        (run,) = (path for path in Path(folder).iterdir() if path.is_dir() and not path.name.startswith("."))
        own = (sys.executable, "-m", "benchmarks.workbook", str(run))
        told = subprocess.run(own, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    seconds, processor, megabytes, tables, size = map(float, told)
    what = f"a workbook of {POINTS:,} points"
    record(
        f"processor time of {what}", f"{processor:.1f} s; wall {seconds:.1f} s; {size:.1f} MB large", f"{LIMIT_S:.0f} s"
    )
    most = f"{megabytes:.0f} MB, beside {tables:.0f} MB of the process with the tables"
    record(f"memory that writing {what} takes", most, f"{LIMIT_MB:.0f} MB")
    held = verdict(what, processor, LIMIT_S, "s")
    return verdict(f"the memory for {what}", megabytes, LIMIT_MB, "MB") and held


def _write(run: Path) -> None:
    """Print the wall and processor seconds of writing a workbook, its peak memory, the memory before, and the file's
    size, all sizes in MB."""
    plan = load_plan(run)
    report, words = plan.reports[0], words_of(plan.reports[0])
    with open_store(run) as store, Converter().running() as converter:
        view = build(plan, store, report, words, None, converter)
        _multiply(store)
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
        tables = _memory("VmRSS")
        began, spent = time.monotonic(), time.process_time()
        content = OFFICE_FORMATS["xlsx"].write(HandOver(view, plan, report, words, store, converter))
        content = with_ledger(content, view.numbers.numbers, view.numbers.written(view.cells()))
        taken = time.monotonic() - began, time.process_time() - spent
    print(*taken, _memory("VmHWM") - tables, tables, len(content) / 1e6)


def _memory(name: str) -> float:
    """Return one of Linux's memory figures for this process, in MB. VmRSS is the current memory, and VmHWM is the peak
    since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name))


def _multiply(store: Store) -> None:
    """Copy each measurement in the tables many times, as additional repeats."""
    connection = store._connection
    cells = connection.execute("SELECT count(*) FROM cells").fetchall()[0][0]
    copies = f"range(1, {-(-POINTS // cells)}) AS copies(n)"
    changed = {
        "cells": "cell_id || '/' || n AS cell_id, 1000 + n AS repeat",
        "throughput": "cell_id || '/' || n AS cell_id",
        "latency": "1000 + n AS repeat",
    }
    for table, changes in changed.items():
        wanted = "repeat IS NOT NULL AND source IS NULL AND phase IS NULL" if table == "latency" else "true"
        text = f"SELECT * EXCLUDE (n) REPLACE ({changes}) FROM {table}, {copies} WHERE {wanted}"  # noqa: S608  # names
        connection.execute(f"INSERT INTO {table} {text}")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
