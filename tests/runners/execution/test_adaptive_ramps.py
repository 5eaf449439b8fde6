"""Tests adaptive ramps with runs in memory: which points they measure, and how a resumed run continues."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.parallel_lanes import lanes_left
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from tests.support.plans import compile_spec

HEAD = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload w from db_bench.fillrandom
"""
Rate = Callable[[Cell], float | None]


def plan_of(tmp_path: Path, more: str = "", hardware: str = "box.one", points: int = 7) -> Plan:
    path = tmp_path / "spec.bench"
    ramp = f"threads = adaptive(1..256, points: {points})"
    text = f"experiment e {{ hardware = {hardware}  workloads = w  {ramp}  measure = 1 s\n  {more} }}\n"
    path.write_text(HEAD + text, encoding="utf-8")
    return compile_spec(path)


def saturating(cell: Cell) -> float:
    """Return a throughput that grows up to 40 threads, or up to 8 for variant two."""
    return 100.0 * min(cell.threads or 0, 8 if cell.hardware == "two" else 40) + cell.repeat


class Run:
    """A run in memory. A resumed run continues from the records of another run."""

    def __init__(self, plan: Plan, rate: Rate = saturating, before: list[j.AnyRecord] | None = None) -> None:
        self.plan, self.rate, self.now = plan, rate, 0.0
        self.records: list[j.AnyRecord] = []
        self.record = RunRecord()
        for each in before or ():
            self._write(each)
        done = self.record.finished(plan)
        self.repeats = RepeatsUntil(plan, self.record, done, self._write)
        self.ramps = AdaptiveRamps(plan, self.record, self._write)

    def _write(self, record: j.AnyRecord) -> None:
        record = record.model_copy(update={"at": self.now})
        self.now += 1.0
        self.records.append(record)
        self.record.add(NOWHERE, record)

    def go(self, most: int = 1000) -> Run:
        """Measure at most this many cells. Then begin one more cell without ending it, like a controller that is
        killed."""
        done, count = self.record.finished(self.plan), 0
        for cell in self.ramps.in_order([cell for cell in self.plan.cells if cell.id not in done], threading.Event()):
            if reason := self.ramps.not_needed(cell) or self.repeats.not_needed(cell):
                self._write(j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason=reason))
                self.repeats.skipped(cell)
                continue
            history = self.record.cells.get(cell.id)
            attempt = history.attempt + 1 if history else 1
            self._write(j.CellStarted(at=0, cell=cell.id, hash=cell.hash, attempt=attempt))
            if count == most:
                break
            count += 1
            rate = self.rate(cell)
            status = "ok" if rate is not None else "failed"
            verdict = j.CellEnded(at=0, cell=cell.id, hash=cell.hash, attempt=attempt, status=status, ops_per_s=rate)
            self._write(verdict)
            self.repeats.ended(cell, verdict)
        return self

    @property
    def chosen(self) -> dict[tuple[tuple[str, ...], float], str]:
        """Return the reason for each chosen point, in order."""
        return {(each.hardware, each.point): str(each.why) for each in self.records if isinstance(each, j.PointChosen)}

    def points(self, hardware: str = "one") -> list[float]:
        return [point for keys, point in self.chosen if hardware in keys]

    @property
    def measured(self) -> list[str]:
        return [each.cell for each in self.records if isinstance(each, j.CellEnded)]

    @property
    def skipped(self) -> set[str]:
        return {str(each.reason) for each in self.records if isinstance(each, j.CellSkipped)}


def test_as_many_points_are_measured_as_the_ramp_has_and_no_other(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "repeats = 2")
    run = Run(plan).go()
    assert len(run.measured) == 14
    assert run.points()[:3] == [1, 256, 16]
    assert list(run.chosen.values())[:3] == ["the lower end", "the upper end", "the middle of 1 thread and 256 threads"]
    (why,) = run.skipped
    assert why == "not chosen for its adaptive ramp: 7 of 28 candidates are measured"
    assert run.record.finished(plan) == {cell.id for cell in plan.cells}


def test_a_point_has_all_its_repeats_before_the_next_is_chosen(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "repeats = 2")).go()
    chosen_or_ended = [each for each in run.records if isinstance(each, j.PointChosen | j.CellEnded)]
    kinds = "".join("p" if isinstance(each, j.PointChosen) else "c" for each in chosen_or_ended)
    assert kinds == "pcc" * 7


@pytest.mark.parametrize("killed_after", range(15))
@pytest.mark.parametrize("order", ["grouped", "interleaved"])
def test_a_resumed_run_decides_alike(tmp_path: Path, killed_after: int, order: str) -> None:
    plan = plan_of(tmp_path, f"repeats = 2, {order}", "box.variants")
    whole = Run(plan).go()
    resumed = Run(plan, before=Run(plan).go(killed_after).records).go()
    assert resumed.chosen == whole.chosen
    assert sorted(resumed.measured) == sorted(whole.measured), "nothing is lost, and nothing is measured twice"


@pytest.mark.parametrize("number", range(7))
def test_a_point_that_was_chosen_is_measured_by_a_resumed_run_also_if_no_cell_had_begun(
    tmp_path: Path, number: int
) -> None:
    plan = plan_of(tmp_path)
    whole = Run(plan).go()
    chosen = [place for place, each in enumerate(whole.records) if isinstance(each, j.PointChosen)]
    resumed = Run(plan, before=whole.records[: chosen[number] + 1]).go()
    assert resumed.chosen == whole.chosen
    assert sorted(resumed.measured) == sorted(whole.measured)


@pytest.mark.parametrize("number", range(3, 7))
def test_what_was_chosen_stands_when_a_failed_cell_is_good_on_resume(tmp_path: Path, number: int) -> None:
    plan = plan_of(tmp_path)
    failing = Run(plan, lambda cell: None if cell.threads == 16 else saturating(cell)).go()
    chosen = [place for place, each in enumerate(failing.records) if isinstance(each, j.PointChosen)]
    before = failing.records[: chosen[number] + 1]
    resumed = Run(plan, before=before).go()
    assert len(resumed.chosen) == 7
    assert resumed.points()[: number + 1] == failing.points()[: number + 1]
    assert {f"e/one/w/threads={point:g}/r1" for point in resumed.points()} == set(resumed.measured)


def test_a_point_whose_cells_may_not_begin_does_not_end_the_ramp(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    skipped = [
        j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason="left out")
        for cell in plan.cells
        if cell.threads == 16
    ]
    run = Run(plan, before=[*skipped]).go()
    assert len(run.measured) == 7
    assert run.points()[:3] == [1, 256, 16]
    assert run.record.finished(plan) == {cell.id for cell in plan.cells}


def test_nothing_is_chosen_once_the_run_ends(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path))
    ending = threading.Event()
    for _ in run.ramps.in_order(run.plan.cells, ending):
        ending.set()
    assert run.points() == [1]


def test_each_hardware_has_its_own_points(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "", "box.variants")).go()
    assert run.points("one") != run.points("two")
    assert {keys for keys, _ in run.chosen} == {("one",), ("two",)}


def test_hardware_that_takes_turns_shares_its_points(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "repeats = 2, interleaved", "box.variants")).go()
    assert {keys for keys, _ in run.chosen} == {("one", "two")}
    assert [cell.split("/")[1] for cell in run.measured] == ["one", "two"] * 14


def test_a_failed_point_counts_and_is_tried_first_by_a_resumed_run(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    failing = Run(plan, lambda cell: None if cell.threads == 16 else saturating(cell)).go()
    assert len(failing.measured) == 7
    assert failing.measured.count("e/one/w/threads=16/r1") == 1
    again = Run(plan, before=failing.records).go()
    assert again.measured[7:] == ["e/one/w/threads=16/r1"]


def test_repeats_that_end_early_leave_the_mean_of_those_that_were_made(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "repeats = confident(within: 5 %, from: 3, to: 6)")
    run = Run(plan, lambda cell: 100.0 * min(cell.threads or 0, 40)).go()
    assert len(run.measured) == 21
    assert len(run.chosen) == 7


def test_more_points_go_on_where_a_smaller_ramp_ended(tmp_path: Path) -> None:
    few, many = Run(plan_of(tmp_path, points=5)).go(), Run(plan_of(tmp_path, points=9)).go()
    assert many.points()[:5] == few.points()


def test_groups_that_a_finished_one_joins_stay_in_one_lane_and_run_each_cell_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(
        'hardware middle { hosts = "m.lab"  switch = "s"  shared_storage = "san" }\n'
        'hardware left { hosts = "l.lab"  switch = "s" }\n'
        'hardware right { hosts = "r.lab"  shared_storage = "san" }\n'
        'database rocks { engine = rocksdb  path = "/data/db" }\n'
        "workload w from db_bench.fillrandom\n"
        "experiment e { hardware = [middle, left, right]  workloads = w  threads = adaptive(1..64, points: 3)\n"
        "  measure = 1 s  repeats = 2, interleaved }\n",
        encoding="utf-8",
    )
    plan = compile_spec(path)
    first = Run(plan, lambda cell: 100.0 if cell.hardware == "middle" or cell.threads != 8 else None).go()
    resumed = Run(plan, before=first.records)
    done = resumed.record.finished(plan)
    found = lanes_left(plan.cells, done)
    assert {cell.hardware for lane in found for cell in lane} == {"left", "right"}, "the middle one is done"
    runs = [cell.id for lane in found for cell in resumed.ramps.in_order(lane, threading.Event())]
    assert sorted(set(runs)) == sorted(runs)
    assert {cell.id for lane in found for cell in lane} <= set(runs)
    assert lanes_left(plan.cells, {cell.id for cell in plan.cells}) == []
