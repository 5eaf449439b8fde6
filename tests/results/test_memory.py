"""Tests that the memory for a run does not grow with the outputs of its cells."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.runners.journal.journal_file import JOURNAL
from tests.results.making import T0, RunMaker, a_cell, a_plan


def test_a_large_journal_is_not_held_in_memory_and_is_read_where_it_is_needed(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    sample = {f"counter {number}": float(number) for number in range(200)}
    samples = tuple((T0 + second, sample) for second in range(100))
    counters = [
        j.Counters(at=T0, cell=cell.id, attempt=1, node=f"n{number}", before={}, after={}, samples=samples)
        for number in range(20)
    ]
    attempt = run.start(cell)
    for record in counters:
        run.write(record)
    run.collect(cell, attempt, "measure", "load-1", {"stdout": b""})
    run.ended(cell, attempt, "ok", ops_per_s=10.0)
    size = (run.run_dir / JOURNAL).stat().st_size
    tracemalloc.start()
    try:
        evidence = read_evidence(run.run_dir)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 4_000_000
    assert peak < size / 2
    (verdict,) = evidence.verdicts
    assert verdict.counters == tuple(counters)
    assert [job.host for job in verdict.jobs] == ["load-1"]
    assert len(list(evidence.records)) == len(counters) + sum(not isinstance(r, j.Counters) for r in evidence.records)
