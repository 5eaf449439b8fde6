"""Tests a host that goes away. One cell fails, and the other cells of its lane wait for the host once, or fail at
once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.runners.errors import ConnectionLost
from benchbrief.runners.execution import lost_hosts
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.run_folder import create_run
from benchbrief.runners.world.simulated_hosts import SimulatedHosts, SimulatedTransport
from tests.support.plans import compile_spec

SPEC = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload w from db_bench.fillrandom
experiment e {
  hardware = box  workloads = w  threads = [1, 2, 3, 4, 5]  measure = 1 min  cool_down = 1 min
  retries = @RETRIES@
}
"""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[j.AnyRecord]]:
    """Return a function that runs cells on a host. The host goes away after its first cell, and answers again at the
    check with the number `back_at`."""

    def run(back_at: int, retries: int = 0) -> list[j.AnyRecord]:
        (tmp_path / "a.bench").write_text(SPEC.replace("@RETRIES@", str(retries)))
        plan = compile_spec(tmp_path / "a.bench")
        run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
        looks: list[str] = []
        verdicts: list[str] = []

        def listen(record: j.AnyRecord) -> None:
            if isinstance(record, j.CellEnded):
                verdicts.append(record.status)

        def reachable(_hosts: SimulatedHosts, host_id: str) -> bool:
            looks.append(host_id)
            return len(looks) >= back_at

        def claim(_transport: SimulatedTransport) -> str:
            if verdicts and len(looks) < back_at:
                raise ConnectionLost("box.lab: can't be reached")
            return ""

        monkeypatch.setattr(SimulatedHosts, "reachable", reachable)
        monkeypatch.setattr(SimulatedTransport, "claim", claim)
        monkeypatch.setattr(lost_hosts, "_PATIENCE_S", 0.5)
        execute(plan, "", run_dir, listener=listen)
        return read_journal(run_dir / JOURNAL)

    return run


def verdicts(records: list[j.AnyRecord]) -> list[str]:
    return [each.status for each in records if isinstance(each, j.CellEnded) and not each.retried]


def remarks(records: list[j.AnyRecord], words: str) -> int:
    return sum(isinstance(each, j.Remark) and words in each.text for each in records)


def test_the_cells_after_a_lost_one_wait_once_and_fail_at_once_when_the_host_stays_away(
    ran: Callable[..., list[j.AnyRecord]],
) -> None:
    records = ran(back_at=10**9)
    assert verdicts(records) == ["ok", "failed", "failed", "failed", "failed"]
    assert all(each.reason.startswith("box.lab: ") for each in records if isinstance(each, j.CellEnded) and each.reason)
    assert remarks(records, "waited for up to 0.5 s") == 1
    assert remarks(records, "`bench resume` measures them") == 1
    cooled = [each for each in records if isinstance(each, j.StepEnded) and each.step == "cool_down"]
    assert len(cooled) == 1, "what did not run has nothing to cool down from"


@pytest.mark.parametrize("retries", [0, 1])
def test_the_cells_after_a_lost_one_are_measured_when_the_host_comes_back(
    ran: Callable[..., list[j.AnyRecord]], retries: int
) -> None:
    records = ran(back_at=4, retries=retries)
    assert sorted(verdicts(records)) == ["failed"] * (1 - retries) + ["ok"] * (4 + retries)
    assert remarks(records, "can be reached again") == 1
    assert remarks(records, "did not come back") == 0
