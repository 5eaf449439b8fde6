"""Tests how the records of an earlier run's cell are written to the journal of a run that reuses its result."""

from __future__ import annotations

from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Cell
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.measurement_versions import Recorded
from benchbrief.runners.reuse import Carried, carry
from tests.results.making import a_cell, a_plan

WAS = a_cell(threads=1)
CALLED = {"old-load": "load-1", "old-1": "nvme-1"}


def collected(job: str) -> j.JobCollected:
    return j.JobCollected(
        at=11.0, cell=WAS.id, attempt=3, step="measure", job=job, host="old-load", directory="raw/x/3/tool",
        exit_code=0, started_at=1.0, ended_at=2.0, files={"stdout": "00"},
    )  # fmt: skip


def carried(run_dir: Path, cell: Cell, measured_at: float, *records: j.AnyRecord) -> Carried:
    facts = (j.HostFacts(at=measured_at, host="old-1", facts={"kernel": f"of {measured_at:g}"}),)
    return Carried(cell, WAS, run_dir, "first", "its/cell", measured_at, Recorded(3, 4), 3, records, facts, CALLED)


def test_records_are_of_the_new_cell_s_first_attempt_on_the_new_hosts(tmp_path: Path) -> None:
    cell = a_cell(threads=2)
    taken = carried(
        tmp_path,
        cell,
        5.0,
        j.CellStarted(at=10.0, cell=WAS.id, hash=WAS.hash, attempt=3),
        collected("measure"),
        collected("probe:cpu,disk:old-1"),
        j.Counters(at=12.0, cell=WAS.id, attempt=3, node="old-1", before={}, after={}),
        j.ClockRead(
            at=12.0,
            cell=WAS.id,
            attempt=3,
            host="old-load",
            when="before",
            offset_s=0.0,
            uncertainty_s=0.0,
            booted=None,
        ),
    )
    began, tool, probe, counters, clock = taken.own_records()
    assert isinstance(began, j.CellStarted)
    assert (began.cell, began.attempt, began.at) == (cell.id, 1, 10.0)
    for job, name in ((tool, "measure"), (probe, "probe:cpu,disk:nvme-1")):
        assert isinstance(job, j.JobCollected)
        assert (job.cell, job.attempt, job.host, job.job) == (cell.id, 1, "load-1", name)
        assert job.directory == str(taken.directory_of(job))
        assert job.directory != "raw/x/3/tool"
    assert isinstance(counters, j.Counters)
    assert counters.node == "nvme-1"
    assert isinstance(clock, j.ClockRead)
    assert clock.host == "load-1"


def test_the_latest_facts_come_last_and_each_result_says_where_it_was_measured(tmp_path: Path) -> None:
    one, two = a_cell(threads=1), a_cell(threads=2)
    results = []
    for cell, measured_at in ((one, 20.0), (two, 10.0)):
        results.append(
            carried(tmp_path / "second", cell, measured_at, j.CellStarted(at=1.0, cell=WAS.id, hash="h", attempt=3))
        )
    carry(tmp_path, a_plan([one, two]), results, ())
    records = read_journal(tmp_path / JOURNAL)
    reused = [record for record in records if isinstance(record, j.CellReused)]
    assert [(each.cell, each.reused_from, each.as_cell, each.measured_at) for each in reused] == [
        (two.id, "first", "its/cell", 10.0),
        (one.id, "first", "its/cell", 20.0),
    ]
    facts = [record.facts["kernel"] for record in records if isinstance(record, j.HostFacts)]
    assert facts == ["of 10", "of 20"]
