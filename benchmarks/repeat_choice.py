"""Measures the time to judge the expectations before a repeat is chosen, in a run of 200 cells with a budget.

The run is simulated, and its raw outputs are read like those of a real run. Its journal grows cell by cell, as in a run
in progress, and only the last looks are timed. For comparison, the tables are built from nothing once. All times are
processor time, since wall time grows on a busy machine.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchbrief.compiler.compile import check
from benchbrief.model import events as j
from benchbrief.model.run_record import RunRecord
from benchbrief.results.open_store import rebuilt_store
from benchbrief.results.runs.interim_results import AskedSoFar
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, each_record
from benchbrief.runners.journal.run_folder import create_run
from benchmarks.timing import spread, verdict

LIMIT = 0.25
"""The most that one look at the expectations may take, as a share of the time to build the tables from nothing."""
LAST = 20
SPEC = """\
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload rr from db_bench.readrandom { records = 10k }
workload ow from db_bench.overwrite { records = 10k }
experiment ramp {
  hardware = box.variants  workloads = [rr, ow]  threads = [1, 2, 4, 8, 16]  measure = 10 min
  repeats = 10, interleaved  budget = 1000 h  probes = [cpu every 10 s, disk every 10 s, memory every 10 s]
}
metric gain in % = throughput[two] / throughput[one] - 1, higher is better
expect gain > -50 %
"""


def main() -> bool:
    with tempfile.TemporaryDirectory(prefix="benchbrief-choice-") as folder:
        path = Path(folder) / "campaign.bench"
        path.write_text(SPEC, encoding="utf-8")
        plan = check(path).plan
        if plan is None:
            raise SystemExit("the spec of the campaign is wrong")
        run_dir = create_run(Path(folder) / "out", plan, {}, simulated=j.Simulated())
        execute(plan, "", run_dir)
        looks, record, ended = AskedSoFar(run_dir, plan), RunRecord(), 0
        grown: list[float] = []
        for place, each in each_record(run_dir / JOURNAL):
            record.add(place, each)
            ended += isinstance(each, j.CellEnded)
            if isinstance(each, j.CellEnded) and ended % 2 == 0:  # a turn of both variants
                grown.append(_processor_s(lambda: looks.read(record)))

        def anew() -> None:
            with rebuilt_store(run_dir) as store:
                for expect in plan.expects:
                    for side in expect.repeats:
                        store.query(side)

        built = [_processor_s(anew) for _ in range(3)]
    last = grown[-LAST:]
    print(f"  {len(plan.cells)} cells, the last {LAST} looks: {spread(last, 's')}; from nothing: {spread(built, 's')}")
    share = statistics.median(last) / statistics.median(built)
    return verdict("a look, of what tables from nothing take", share, LIMIT, "")


def _processor_s(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began
