"""Tests the end of a run that is asked to stop when nothing is left to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from benchbrief.model import events as j
from benchbrief.runners.errors import HostBusy
from benchbrief.runners.execution import held_hosts
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, Journal, read_journal
from benchbrief.runners.journal.run_folder import create_run
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload w from db_bench.fillrandom
experiment e { hardware = box  workloads = w  threads = [1, 2]  measure = 1 min }
"""


def test_a_signal_after_the_last_verdict_leaves_a_run_that_is_done(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(SPEC)
    plan = compile_spec(tmp_path / "a.bench")
    run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
    stopping = threading.Event()

    def listen(record: j.AnyRecord) -> None:
        if isinstance(record, j.CellEnded) and record.cell == plan.cells[-1].id:
            stopping.set()

    assert execute(plan, "", run_dir, listener=listen, stopping=stopping).status == "done"

    # An earlier version called such a run interrupted, for ever.
    journal = Journal(run_dir, lambda _: None)
    journal.write(j.RunEnded(at=time.time(), status="interrupted", message="stopped before every cell was run"))
    journal.close()
    assert execute(plan, "", run_dir).status == "done"
    last = read_journal(run_dir / JOURNAL)[-1]
    assert isinstance(last, j.RunEnded)
    assert last.status == "done"
    records = len(read_journal(run_dir / JOURNAL))
    assert execute(plan, "", run_dir).status == "done"
    assert len(read_journal(run_dir / JOURNAL)) == records


def test_the_wait_for_a_host_that_is_held_ends_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.bench").write_text(SPEC)
    plan = compile_spec(tmp_path / "a.bench")
    run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
    tried: list[int] = []

    def held(_hosts: object, _needed: object, again: Callable[[HostBusy], None]) -> NoReturn:
        while True:
            tried.append(1)
            busy = HostBusy("box.lab is held by run other")
            busy.while_waiting = "bench stop other"
            again(busy)

    monkeypatch.setattr(held_hosts, "claim_all", held)
    monkeypatch.setattr(held_hosts, "_TRY_EVERY_S", 0.01)
    reasons: list[str] = []
    with pytest.raises(HostBusy, match="held by run other"):
        execute(plan, "", run_dir, wait=reasons.append, wait_s=0.1)
    assert len(tried) > 1
    assert reasons == ["box.lab is held by run other: waiting for it; bench stop other"]
