"""Gates in a spec that are told in terms of significance and intervals, on numbers made for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchbrief.ci.verdict_files import expect_case
from benchbrief.compiler.compile import check
from benchbrief.results.analysis.expectation_verdicts import evaluate
from benchbrief.results.imports.import_source import Source
from benchbrief.results.imports.importers.table.table_importer import TableOfFigures
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.store.store import open_store

SPEC = """
hardware old { hosts = "old.lab" }
hardware new { hosts = "new.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 1000 }
experiment ramp { hardware = [old, new]  workloads = a  threads = [4, 8]  measure = 1 min  repeats = 5 }
expect "not slower beyond noise" throughput[new] >= throughput[old] or p_value(throughput[new], throughput[old]) > 5 %
expect "apart by more than their intervals"
  throughput[new] - ci(throughput[new] over repeat) > throughput[old] + ci(throughput[old] over repeat)
expect "steady repeats" ci(throughput over repeat) / throughput < 5 %
"""
TOLD = Source({"title": "T", "publisher": "P", "document": "D", "licence": "internal"})
OLD = (1000.0, 1010.0, 990.0, 1005.0, 995.0)
NOISE = (1004.0, 985.0, 1012.0, 993.0, 1001.0)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (tuple(value * 1.1 for value in OLD), ("ok", "ok", "ok")),
        (NOISE, ("ok", "failure", "ok")),
        (tuple(value * 0.9 for value in OLD), ("failure", "failure", "ok")),
        ((1400.0, 600.0, 1000.0, 1300.0, 500.0), ("ok", "failure", "failure")),
    ],
)
def test_a_gate_by_significance_or_by_intervals_is_what_scipy_says(
    tmp_path: Path, new: tuple[float, ...], expected: tuple[str, ...]
) -> None:
    spec = tmp_path / "gate.bench"
    spec.write_text(SPEC)
    plan = check(spec).plan
    assert plan is not None
    rows = [
        f"{hardware},{threads},{repeat},{value!r}"
        for hardware, values in (("old", OLD), ("new", new))
        for threads in (4, 8)
        for repeat, value in enumerate(values, start=1)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["hardware,threads,repeat,throughput (ops/s)", *rows]) + "\n")
    with open_store(keep_run(tmp_path / "out", plan, {}, TableOfFigures().prepare(table, plan, TOLD))) as store:
        cases = [expect_case(verdict) for verdict in evaluate(plan, store)]
    assert tuple(case.state for case in cases) == expected
    significant = stats.ttest_ind(new, OLD, equal_var=False).pvalue < 0.05
    halves = [stats.t.ppf(0.975, 4) * stats.sem(values) for values in (OLD, new)]
    apart = np.mean(new) - halves[1] > np.mean(OLD) + halves[0]
    assert (cases[0].state == "failure") == bool(significant and np.mean(new) < np.mean(OLD))
    assert (cases[1].state == "ok") == bool(apart)
    assert cases[0].name == "not slower beyond noise"
