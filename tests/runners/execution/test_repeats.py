"""Tests repeats that end when the mean is known well enough, with runs in memory: which repeats are not needed, and
when they end."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest
from scipy import stats

from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.scheduling.confidence_interval import half_width
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.knee_search import Searches
from tests.support.plans import compile_spec

CLOSE = (100.0, 101.0, 99.0, 100.0, 100.5, 99.5)
"""Values whose mean is known to within 2.5 % after three repeats."""
FAR = (100.0, 140.0, 60.0, 100.0, 120.0, 80.0)

HEAD = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
hardware other { hosts = "other.lab"  path = "/other" }
database rocks { engine = rocksdb  path = "{path}" }
workload w from db_bench.fillrandom
"""


def plan_of(tmp_path: Path, hardware: str, order: str = "grouped", threads: str = "1", most: int = 6) -> Plan:
    path = tmp_path / "spec.bench"
    path.write_text(
        HEAD + f"experiment e {{ hardware = [{hardware}]  workloads = w  threads = {threads}  measure = 1 s\n"
        f"  repeats = confident(within: 5 %, to: {most}), {order} }}\n",
        encoding="utf-8",
    )
    return compile_spec(path)


Rates = Mapping[str, tuple[float, ...]]


class Run:
    """A run in memory that goes through the plan's cells. The repeats of each hardware have these rates."""

    def __init__(self, plan: Plan, rates: Rates, before: list[j.AnyRecord] | None = None) -> None:
        self.plan, self.rates = plan, rates
        self.records = list(before or [])
        verdicts = {r.cell: r for r in self.records if isinstance(r, j.CellEnded)}
        self.done = {cell for cell, verdict in verdicts.items() if verdict.status == "ok"}
        self.done |= {r.cell for r in self.records if isinstance(r, j.CellSkipped)}
        self.repeats = RepeatsUntil(plan, RunRecord.of(self.records), self.done, self.records.append)
        self.searches = Searches(plan, RunRecord.of(self.records), self.done, self.records.append)

    def go(self, most: int = 1000, failing: tuple[str, ...] = ()) -> list[str]:
        """Measure at most this many cells. Cells in `failing` fail. Returns the names in the form `hardware/r1`."""
        measured: list[str] = []
        for cell in self.plan.cells:
            if cell.id in self.done:
                continue
            if reason := self.searches.not_needed(cell) or self.repeats.not_needed(cell):
                self.records.append(j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason=reason))
                self.repeats.skipped(cell)
                self.searches.skipped(cell)
                continue
            if len(measured) == most:
                break
            measured.append(f"{cell.hardware}/r{cell.repeat}")
            self._measure(cell, failed=measured[-1] in failing)
        return measured

    def _measure(self, cell: Cell, *, failed: bool) -> None:
        rate = self.rates[cell.hardware][cell.repeat - 1]
        verdict = j.CellEnded(
            at=0,
            cell=cell.id,
            hash=cell.hash,
            attempt=1,
            status="failed" if failed else "ok",
            ops_per_s=None if failed else rate * (cell.threads or 1),
            latency_s=0.001,
        )
        self.records.append(verdict)
        self.repeats.ended(cell, verdict)
        self.searches.ended(cell, verdict)

    @property
    def remarks(self) -> list[str]:
        return [record.text for record in self.records if isinstance(record, j.Remark)]


def names(hardware: str, count: int) -> list[str]:
    return [f"{hardware}/r{n}" for n in range(1, count + 1)]


def test_half_the_width_is_that_of_students_interval() -> None:
    for rates in (CLOSE, FAR, CLOSE[:2]):
        low, high = stats.t.interval(0.95, len(rates) - 1, statistics.mean(rates), stats.sem(rates))
        assert half_width(rates) == pytest.approx((high - low) / 2 / statistics.mean(rates))
    assert half_width(CLOSE[:1]) is None
    assert half_width([]) is None
    assert half_width([0.0, 0.0, 0.0]) is None


def test_repeats_end_at_the_first_that_makes_the_mean_known(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "other"), {"other": CLOSE})
    assert run.go() == names("other", 3)
    skipped = [record for record in run.records if isinstance(record, j.CellSkipped)]
    assert [record.cell for record in skipped] == [f"e/other/w/threads=1/r{n}" for n in (4, 5, 6)]
    assert {record.reason for record in skipped} == {
        "after 3 repeats the 95 % confidence interval of the mean throughput was within ±2.5 %, and 5 % was asked for"
    }
    assert run.remarks == []


def test_repeats_that_stay_far_apart_go_on_to_the_last_and_that_is_reported(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "other"), {"other": FAR})
    assert run.go() == names("other", 6)
    (remark,) = run.remarks
    assert remark == (
        "e/other/w/threads=1 on other: after 6 good repeats the 95 % confidence interval of the mean throughput "
        "is within ±29.7 %, and 5 % was asked for"
    )


def test_each_point_has_its_own_repeats(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "other", threads="[1, 2]")
    assert Run(plan, {"other": CLOSE}).go() == names("other", 3) * 2


def test_one_hardware_after_the_other_decides_for_itself(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "box.one, box.two"), {"one": CLOSE, "two": FAR})
    assert run.go() == [*names("one", 3), *names("two", 6)]


def test_hardware_that_takes_turns_goes_on_until_all_of_it_is_confident(tmp_path: Path) -> None:
    slow_to_agree = (100.0, 110.0, 100.0, 105.0, 105.0, 105.0)
    plan = plan_of(tmp_path, "box.one, box.two", "interleaved")
    run = Run(plan, {"one": CLOSE, "two": slow_to_agree})
    widths = [half_width(slow_to_agree[:n]) or 1 for n in range(1, 7)]
    assert [width <= 0.05 for width in widths] == [False, False, False, False, True, True]
    assert run.go() == [f"{name}/r{n}" for n in range(1, 6) for name in ("one", "two")]


def test_hardware_that_is_not_confident_any_more_keeps_the_others_going(tmp_path: Path) -> None:
    """All hardware must satisfy the rule in the same round. It is not enough if each has satisfied it once."""
    outlier = (100.0, 100.0, 100.0, 140.0, 100.0, 100.0)
    run = Run(plan_of(tmp_path, "box.one, box.two", "interleaved"), {"one": outlier, "two": FAR})
    assert len(run.go()) == 12


def test_hardware_on_hosts_of_its_own_does_not_wait_for_others(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "box.one, other", "interleaved"), {"one": FAR, "other": CLOSE})
    measured = run.go()
    assert [name for name in measured if name.startswith("other")] == names("other", 3)
    assert [name for name in measured if name.startswith("one")] == names("one", 6)


def test_in_random_order_the_repeats_count_as_they_come(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "box.one, box.two", "random(seed: 3)")
    in_order = [f"{cell.hardware}/r{cell.repeat}" for cell in plan.cells]
    run = Run(plan, {"one": CLOSE, "two": CLOSE})
    measured = run.go()
    for hardware in ("one", "two"):
        own = [name for name in in_order if name.startswith(hardware)]
        assert [name for name in measured if name.startswith(hardware)] == own[:3]


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_resumed_run_measures_what_the_interrupted_one_would_have(tmp_path: Path, cut: int) -> None:
    plan = plan_of(tmp_path, "box.one, box.two", "interleaved")
    rates = {"one": CLOSE, "two": (100.0, 110.0, 100.0, 105.0, 105.0, 105.0)}
    whole = Run(plan, rates).go()
    first = Run(plan, rates)
    before = first.go(most=cut)
    assert before + Run(plan, rates, first.records).go() == whole


def test_a_failed_repeat_counts_for_nothing_and_is_measured_again_when_resumed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "other")
    first = Run(plan, {"other": CLOSE})
    assert first.go(failing=("other/r2",)) == names("other", 4)
    second = Run(plan, {"other": CLOSE}, first.records)
    assert second.go() == ["other/r2"], "what was not needed stays so"


def test_a_search_goes_on_by_the_repeats_that_there_are(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "other", threads="knee(from: 1, factor: 2, to: 4)")
    run = Run(plan, {"other": CLOSE})
    assert run.go() == names("other", 3) * 3
    (ended,) = [record for record in run.records if isinstance(record, j.SearchEnded)]
    assert [(point.point, point.ops_per_s) for point in ended.points] == [(1, 100), (2, 200), (4, 400)]
    assert ended.knee is None
    again = Run(plan, {"other": CLOSE}, run.records[:5])
    assert again.go() == [*names("other", 3), *names("other", 3)], "cut off amid what was not needed"


def test_hardware_whose_search_is_over_does_not_hold_up_the_others(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "box.one, box.two", "interleaved", threads="knee(from: 1, factor: 2, to: 4)")
    run = Run(plan, {"one": CLOSE, "two": CLOSE})
    for cell in plan.cells:  # of one, nothing but the first point is needed
        if cell.hardware == "one" and cell.threads != 1:
            run.repeats.skipped(cell)
            run.done.add(cell.id)
    assert run.go().count("two/r4") == 0


def test_fewer_good_repeats_than_the_rule_asks_for_decide_nothing(tmp_path: Path) -> None:
    """The first of three repeats failed, so that only two agree."""
    run = Run(plan_of(tmp_path, "other"), {"other": (100.0, 100.0, 100.1, 100.0, 100.1, 100.0)})
    assert run.go(failing=("other/r1",)) == names("other", 4)


def test_the_rate_of_a_failed_repeat_does_not_count(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "other")
    rates = (100.0, 100.1, 100.0, 100.1)
    repeats = RepeatsUntil(plan, RunRecord(), set(), list[j.AnyRecord]().append)
    for cell, rate in zip(plan.cells, rates, strict=False):
        status: Literal["ok", "failed"] = "failed" if cell.repeat == 2 else "ok"
        repeats.ended(
            cell, j.CellEnded(at=0, cell=cell.id, hash=cell.hash, attempt=1, status=status, ops_per_s=rate, reason="")
        )
        if cell.repeat == 3:
            assert repeats.not_needed(plan.cells[3]) == "", "two good repeats are too few"
    assert repeats.not_needed(plan.cells[4]).startswith("after 4 repeats")


def test_a_repeat_that_is_tried_again_is_waited_for(tmp_path: Path) -> None:
    """The repeat failed in the interrupted run, and its new result is judged together with the others."""
    plan = plan_of(tmp_path, "other")
    before: list[j.AnyRecord] = [
        j.CellEnded(
            at=0,
            cell=cell.id,
            hash=cell.hash,
            attempt=1,
            status="failed" if cell.repeat == 3 else "ok",
            ops_per_s=None if cell.repeat == 3 else 100.0 + cell.repeat / 10,
        )
        for cell in plan.cells[:4]
    ]
    run = Run(plan, {"other": (100.0, 100.0, 160.0, 100.0, 100.0, 100.0)}, before)
    assert run.go() == ["other/r3", "other/r5", "other/r6"]
