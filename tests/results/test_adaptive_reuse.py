"""Tests adaptive ramps of a later run with more points: which earlier results are reused, and what else is measured."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.results.runs.reusable_results import find_reusable
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from tests.results.making import RunMaker, measurement
from tests.support.plans import compile_text

SPEC = """
hardware one { hosts = "one.lab" }
hardware two { hosts = "two.lab" }
database rocks { engine = rocksdb  path = "/data/db" }
workload w from db_bench.readrandom { records = 1k }
experiment e {
  hardware = [one, two]  workloads = w  threads = adaptive(1..256, points: @POINTS@)  measure = 1 s
  repeats = 2, interleaved
}
"""


def planned(tmp_path: Path, points: int) -> Plan:
    return compile_text(SPEC.replace("@POINTS@", str(points)), tmp_path)


class Going:
    """A run that chooses its points from what its journal has so far. `saturated` is the number of threads at which
    each hardware is saturated."""

    def __init__(self, plan: Plan, saturated: dict[str, int], made: RunMaker | None = None) -> None:
        self.plan, self.saturated, self.made = plan, saturated, made
        self.record, self.now = RunRecord(), 0.0

    def write(self, record: j.AnyRecord) -> None:
        self.now += 1.0
        self.record.add(NOWHERE, record.model_copy(update={"at": self.now}))

    def go(self) -> None:
        done = self.record.finished(self.plan)
        ramps = AdaptiveRamps(self.plan, self.record, self.write)
        left = [cell for cell in self.plan.cells if cell.id not in done]
        for cell in ramps.in_order(left, threading.Event()):
            if why := ramps.not_needed(cell):
                skipped = j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason=why)
                self.write(skipped)
                if self.made:
                    self.made.write(skipped.model_copy(update={"at": self.made.now}))
            else:
                self._measure(cell)

    def _measure(self, cell: Cell) -> None:
        rate = 100 * min(cell.threads or 0, self.saturated[cell.hardware])
        self.write(j.CellStarted(at=0, cell=cell.id, hash=cell.hash, attempt=1))
        self.write(j.CellEnded(at=0, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=rate / 10))
        if self.made:
            self.made.ok(cell, {f"{cell.hardware}.lab": measurement([Operation("read", rate)])})

    def points(self, hardware: str) -> set[int | None]:
        ended = {key for key, history in self.record.cells.items() if history.ended}
        return {cell.threads for cell in self.plan.cells if cell.hardware == hardware and cell.id in ended}


@pytest.mark.parametrize("few", [4, 5, 6, 7])
@pytest.mark.parametrize("saturated", [{"one": 40, "two": 5}, {"one": 120, "two": 3}, {"one": 60, "two": 30}], ids=str)
def test_each_hardware_of_a_later_run_has_all_its_points(tmp_path: Path, few: int, saturated: dict[str, int]) -> None:
    plan = planned(tmp_path, few)
    made = RunMaker(tmp_path / "out" / "old", plan)
    Going(plan, saturated, made).go()
    made.end("done")
    many = planned(tmp_path, 14)
    reuse = find_reusable(many, tmp_path / "out")
    assert reuse.carried
    assert not [each.cell.id for each in reuse.carried if each.skipped]

    later = Going(many, saturated)
    for each in reuse.carried:
        for record in each.own_records():
            later.write(record)
    later.go()
    assert len(later.points("one")) == len(later.points("two")) == 14
    assert later.record.finished(many) == {cell.id for cell in many.cells}
