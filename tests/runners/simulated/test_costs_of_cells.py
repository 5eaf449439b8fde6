"""Tests what a simulated cell costs with its tables. Costs are counted, not timed. For times, see `python -m benchmarks
fleet`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COUNT = """
import json, os, sys, threading
from pathlib import Path
from benchmarks.fleet import spec
from benchbrief.compiler.compile import check
from benchbrief.results.build_store import rebuild
from benchbrief.runners.execution.executor import execute
from benchbrief.model.events import Simulated
from benchbrief.runners.journal.run_folder import create_run

folder = Path(sys.argv[1])
counted = {"calls": 0, "opens": 0, "flushes": 0}

def call(*_):
    counted["calls"] += 1

def opened(event, _):
    counted["opens"] += event == "open"

def flush(descriptor, fsync=os.fsync):
    counted["flushes"] += 1
    fsync(descriptor)

sys.addaudithook(opened)
os.fsync = flush

def of(cells):
    path = folder / f"{cells}.bench"
    path.write_text(spec(cells // 10))
    plan = check(path).plan
    assert len(plan.cells) == cells
    run_dir = create_run(folder / "out", plan, {}, simulated=Simulated())
    counted.update(dict.fromkeys(counted, 0))
    threading.setprofile(call)
    sys.setprofile(call)
    outcome = execute(plan, "", run_dir)
    rebuild(run_dir, plan)
    sys.setprofile(None)
    threading.setprofile(None)
    assert outcome.status == "done", outcome
    return dict(counted, records=len((run_dir / "journal.jsonl").read_bytes().splitlines()))

of(10)  # what is imported and kept
print(json.dumps([of(10), of(20), of(40)]))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, int]]:
    """Return the counts of runs with 10, 20 and 40 cells, ten on each host."""
    words = [sys.executable, "-c", COUNT, str(tmp_path_factory.mktemp("costs"))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.mark.long
def test_the_work_grows_with_the_cells_and_no_faster(counts: list[dict[str, int]]) -> None:
    small, middle, large = (each["calls"] for each in counts)
    assert large - middle == pytest.approx(2 * (middle - small), rel=0.15)


@pytest.mark.parametrize(("what", "most"), [("calls", 33_000), ("opens", 40), ("records", 16), ("flushes", 0)])
def test_a_cell_costs_no_more_than_it_did(counts: list[dict[str, int]], what: str, most: int) -> None:
    """The test counts function calls (twice each, because returns count), opened files, and records of the journal."""
    _, middle, large = counts
    assert (large[what] - middle[what]) / 20 <= most
