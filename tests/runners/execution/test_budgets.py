"""Tests budgets with runs in memory: each point is measured once, and then repeats are added at the points with the
widest intervals."""

from __future__ import annotations

import errno
import math
import re
import time
from pathlib import Path

import pytest
from scipy import stats

from benchbrief.model import events as j
from benchbrief.model.budgets import level, looks
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.points import Point
from benchbrief.model.run_record import NOWHERE, CellTimes, RunRecord
from benchbrief.runners.scheduling.budgeted_repeats import (
    Budgets,
    ExpectedTimes,
    Group,
    PointSoFar,
    RepeatValues,
    UndecidedPoints,
    next_group,
    spent_s,
    width_so_far,
)
from tests.support.plans import compile_spec

HEAD = """
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
workload calm from db_bench.fillrandom
workload wild from db_bench.overwrite
"""
STEADY = (100.0, 100.1, 99.9, 100.0, 100.1, 99.9, 100.0, 100.0)
NOISY = (100.0, 110.0, 90.0, 104.0, 95.0, 108.0, 93.0, 100.0)
CELL_S = 10.0


def plan_of(
    tmp_path: Path, more: str, after: str = "", hardware: str = "box.one", budget_s: float | None = None
) -> Plan:
    path = tmp_path / "spec.bench"
    text = f"experiment e {{ hardware = {hardware}  workloads = [calm, wild]  threads = 1  measure = 1 s\n  {more} }}\n"
    path.write_text(HEAD + text + after, encoding="utf-8")
    return compile_spec(path, budget_s=budget_s)


class Run:
    """A run in memory. Each cell takes `CELL_S`, and a load takes `load_s` more.

    A resumed run continues from the records of another run.
    """

    def __init__(
        self,
        plan: Plan,
        before: list[j.AnyRecord] | None = None,
        readings: UndecidedPoints | None = None,
        unread: Exception | None = None,
        slow_s: float = 0.0,
        load_s: float = 0.0,
    ) -> None:
        self.plan, self.now, self.load_s = plan, 0.0, load_s
        self.records: list[j.AnyRecord] = []
        self.record = RunRecord()
        for each in [*(before or []), self._start(before)]:
            self._write(each)

        def read(_record: RunRecord) -> UndecidedPoints:
            time.sleep(slow_s)
            if unread:
                raise unread
            return readings or UndecidedPoints()

        self.budgets = Budgets(plan, self.record, self._write, read_tables=read)

    def _start(self, before: list[j.AnyRecord] | None) -> j.RunStarted:
        at = before[-1].at + 100_000.0 if before else 0.0  # resumed a day later
        return j.RunStarted(
            at=at, run_id="r", plan_sha256="", benchbrief="", spec="", profile=None, controller_pid=1, resumed=bool(at)
        )

    def _write(self, record: j.AnyRecord) -> None:
        if not isinstance(record, j.Remark | j.ExpectationsRead):  # these have the time of the clock
            self.now = record.at
        self.records.append(record)
        self.record.add(NOWHERE, record)

    def go(self, most: int = 1000) -> list[str]:
        """Measure at most this many cells, and return them as `hardware workload repeat`."""
        done = self.record.finished(self.plan)
        measured: list[str] = []
        for cell in self.budgets.in_order([cell for cell in self.plan.cells if cell.id not in done]):
            if reason := self.budgets.not_needed(cell):
                room = self.budgets.no_room(cell)
                self._write(j.CellSkipped(at=self.now, cell=cell.id, hash=cell.hash, reason=reason, no_room=room))
                continue
            if len(measured) == most:
                break
            measured.append(f"{cell.hardware} {cell.workload} {cell.repeat}")
            self._write(j.CellStarted(at=self.now, cell=cell.id, hash=cell.hash, attempt=1))
            if self.load_s:
                self._load(cell)
            rate = (NOISY if cell.workload == "wild" else STEADY)[cell.repeat - 1]
            at = self.now + CELL_S
            self._write(j.CellEnded(at=at, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=rate))
        return measured

    def _load(self, cell: Cell) -> None:
        """Load the data set, unless it is still as the last load left it."""
        named = {"cell": cell.id, "attempt": 1, "step": "load"}
        before = [each.cell for each in self.records if isinstance(each, j.CellEnded)]
        if before and "/wild/" not in before[-1]:
            self._write(j.StepEnded(at=self.now, seconds=0, skipped="it is there", **named))
            return
        self._write(j.StepStarted(at=self.now, seconds=1, **named))
        at, files = self.now + self.load_s, {"job": "load", "host": "box.lab", "directory": "", "exit_code": 0}
        self._write(j.JobCollected(at=at, started_at=self.now, ended_at=at, files={}, **named, **files))
        self._write(j.StepEnded(at=at, seconds=self.load_s, **named))

    @property
    def no_room(self) -> dict[str, j.NoRoom]:
        """Return what did not fit in the budget, by `hardware workload repeat`."""
        return {
            f"{cell.hardware} {cell.workload} {cell.repeat}": self.budgets.no_room(cell) for cell in self.plan.cells
        }

    @property
    def repeats_left(self) -> set[str]:
        return {name for name in self.no_room if not name.endswith(" 1")}

    @property
    def spent_s(self) -> float:
        return sum(self.record.times.seconds.values())

    @property
    def reasons(self) -> set[str]:
        return set(self.reason_of.values())

    @property
    def reason_of(self) -> dict[str, str]:
        """Return why cells were not run, by id."""
        return {each.cell: str(each.reason) for each in self.records if isinstance(each, j.CellSkipped)}


ENOUGH = (
    "each interval of what is asked for at the point is within ±2 %, "
    "and the repeats decide every expectation that reads it"
)
DECIDED = "the repeats decide every expectation that reads the point"
ASKED = 'report brief "X" { template = blog  each workload { figure "T" { line = throughput by threads } } }\n'
UNASKED = "no report and no expectation reads the point"
CONFIDENT = "repeats = confident(within: 2 %, from: 3, to: 8)"


def test_each_point_is_measured_once_before_any_is_repeated(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}, interleaved  budget = 1 h", hardware="box.variants")
    assert [(cell.repeat, cell.hardware, cell.workload) for cell in plan.cells[:5]] == [
        (1, "one", "calm"),
        (1, "two", "calm"),
        (1, "one", "wild"),
        (1, "two", "wild"),
        (2, "one", "calm"),
    ]


def test_repeats_go_to_the_widest_interval_until_all_are_narrow(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h"))
    measured = run.go()
    assert measured[:6] == [f"one {workload} {n}" for n in (1, 2, 3) for workload in ("calm", "wild")]
    assert measured[6:] == [f"one wild {n}" for n in (4, 5, 6, 7, 8)], "calm is known after three"
    (reason,) = run.reasons
    assert reason == ENOUGH


def test_no_repeat_begins_that_no_longer_fits(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 75 s"))
    assert len(run.go()) == 7
    over = (
        "the budget of 1 min 15 s has no room for the next repeat: "
        "1 min 10 s are spent, and the next repeat takes about 10 s"
    )
    assert {cell.split("/")[2]: why for cell, why in run.reason_of.items()} == {"wild": over, "calm": ENOUGH}


def test_a_resumed_run_decides_alike_and_counts_what_was_spent_before(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}  budget = 95 s")
    whole = Run(plan).go()
    for most in range(1, len(whole)):
        begun = Run(plan)
        first = begun.go(most)
        assert [*first, *Run(plan, begun.records).go()] == whole, most


def test_turns_of_hardware_are_finished_also_by_a_resumed_run(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}, interleaved  budget = 205 s", hardware="box.variants")
    begun = Run(plan)
    first = begun.go(15)
    measured = [*first, *Run(plan, begun.records).go()]
    for workload in ("calm", "wild"):
        one, two = (sum(each.startswith(f"{key} {workload}") for each in measured) for key in ("one", "two"))
        assert one == two
    assert len(measured) == 20


def test_an_open_expectation_keeps_its_points_going(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h")
    calm = next(Point.of(cell) for cell in plan.cells if cell.workload == "calm")
    assert sum("calm" in each for each in Run(plan, readings=UndecidedPoints({calm: 1.5})).go()) == 8


def test_what_neither_report_nor_expectation_asks_for_is_measured_once(tmp_path: Path) -> None:
    after = "expect throughput[calm] > 1 ops/s\n"
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h", after))
    assert run.go() == ["one calm 1", "one wild 1", "one calm 2", "one calm 3"]


def test_a_plain_number_of_repeats_is_made_as_far_as_the_budget_goes(tmp_path: Path) -> None:
    assert len(Run(plan_of(tmp_path, "repeats = 4  budget = 1 h")).go()) == 8
    measured = Run(plan_of(tmp_path, "repeats = 5  budget = 85 s")).go()
    assert measured[6:] == ["one wild 4", "one wild 5"]


def test_a_plain_number_of_repeats_ends_where_the_expectations_are_decided(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "repeats = 8  budget = 1 h")
    calm, wild = (next(Point.of(cell) for cell in plan.cells if cell.workload == name) for name in ("calm", "wild"))
    run = Run(plan, readings=UndecidedPoints(decided={calm}))
    assert run.go()[6:] == [f"one wild {n}" for n in (4, 5, 6, 7, 8)], "no expectation reads it"
    assert run.reasons == {DECIDED}
    run = Run(plan, readings=UndecidedPoints({wild: 1.5}, decided={calm}))
    assert run.go()[6:] == [f"one wild {n}" for n in (4, 5, 6, 7, 8)], "one that reads it is open"
    assert len(Run(plan, readings=UndecidedPoints(decided={calm, wild})).go()) == 6
    both = plan_of(tmp_path, "repeats = 8, interleaved  budget = 1 h", hardware="box.variants")
    assert len(Run(both, readings=UndecidedPoints(decided={calm, wild})).go()) == 32, (
        "the other hardware is not decided"
    )


def test_repeats_go_where_the_interval_of_a_sample_is_widest(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}  budget = 65 s")
    calm = next(Point.of(cell) for cell in plan.cells if cell.workload == "calm")
    wide = RepeatValues("efficiency", (5.0, 9.0, 2.0), 0.01)
    run = Run(plan, readings=UndecidedPoints(sampled={calm: [wide]}))
    assert Run(plan).go()[6:] == [] == run.go()[6:], "the time is over"
    longer = plan_of(tmp_path, f"{CONFIDENT}  budget = 85 s")
    assert Run(longer).go()[6:] == ["one wild 4", "one wild 5"]
    assert Run(longer, readings=UndecidedPoints(sampled={calm: [wide]})).go()[6:] == ["one calm 4", "one calm 5"]
    small = RepeatValues("disk.read_bandwidth", (5.0, 9.0, 2.0), 5000.0)
    assert Run(longer, readings=UndecidedPoints(sampled={calm: [small]})).go()[6:] == ["one wild 4", "one wild 5"]
    missing = RepeatValues("power", (5.0, 9.0), 0.01)
    assert Run(longer, readings=UndecidedPoints(sampled={calm: [missing]})).go()[6:] == ["one wild 4", "one wild 5"]


def test_expectations_are_read_where_the_points_that_lack_repeats_no_longer_fit(tmp_path: Path) -> None:
    more = f"experiment second {{ hardware = box.one  workloads = calm  threads = 2  measure = 1 s  {CONFIDENT} }}\n"
    five = CONFIDENT.replace("from: 3", "from: 5")
    plan = plan_of(tmp_path, f"{five}, interleaved", more, hardware="box.variants", budget_s=205)
    point = next(Point.of(cell) for cell in plan.cells if cell.experiment == "second")
    measured = Run(plan, readings=UndecidedPoints({point: 1.5})).go()
    assert len(measured) == 20
    assert measured[-1] == "one calm 4", "its interval is narrow, but its expectation is open"


def test_points_that_do_not_fit_are_left_out_with_one_warning(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 10.5 s"))
    assert run.go() == ["one calm 1"]
    (remark,) = (each for each in run.records if isinstance(each, j.Remark))
    assert remark.severity == "warning"
    why = r"no room in the budget of 10.5 s: 10 s are spent, and the point takes about [\d.]+ s"
    assert re.fullmatch(f"e: not every point was measured: {why}", remark.text)
    assert run.no_room == {"one calm 1": "", "one wild 1": "point", **dict.fromkeys(run.repeats_left, "repeat")}


def test_a_point_without_room_is_not_over_and_is_left_out_again_without_another_warning(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}  budget = 10.5 s")
    run = Run(plan)
    run.go()
    (lost,) = (cell for cell in plan.cells if cell.id not in run.record.finished(plan))
    assert (lost.workload, lost.repeat) == ("wild", 1)
    assert (run.record.skipped, run.record.unrepeated) == (0, 14), "not counted as not needed"
    resumed = Run(plan, run.records)
    assert resumed.go() == []
    assert len([each for each in resumed.records if isinstance(each, j.Remark)]) == 1
    assert resumed.reason_of[lost.id] == run.reason_of[lost.id]


def test_expectations_that_cannot_be_read_end_no_run_and_no_repeats(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    for error in (full, ValueError("who knows")):
        run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h"), unread=error)
        assert len(run.go()) == 16, "all count as open, so that none ends early"
        (remark,) = (each for each in run.records if isinstance(each, j.Remark))
        assert remark.severity == "warning"
        assert "the expectations could not be read to choose the next repeat, so all count as open" in remark.text
        assert ("No space left" if error is full else "who knows") in remark.text


def test_the_time_to_read_expectations_counts_against_the_budget(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h"))
    cell = run.plan.cells[-1]
    run._write(j.ExpectationsRead(at=1.0, cell=cell.id, seconds=3550.0))
    assert spent_s(cell, run.record, simulated=False) == 3550
    assert spent_s(cell, run.record, simulated=True) == 0
    assert len(run.go()) == 5, "50 s are left"
    slow = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h"), slow_s=0.02)
    slow.go()
    reads = [each for each in slow.records if isinstance(each, j.ExpectationsRead)]
    assert reads
    assert all(each.seconds >= 0.02 for each in reads)


def test_a_reset_that_failed_is_expected_to_take_as_long_again(tmp_path: Path) -> None:
    plan = loading(tmp_path, "wild", "budget = 1 h")
    run, cell = Run(plan), plan.cells[0]
    named = {"cell": cell.id, "attempt": 1}
    for record in (
        j.CellStarted(at=0, hash=cell.hash, **named),
        j.StepStarted(at=1, step="load", seconds=1, **named),
        j.CellEnded(at=51, hash=cell.hash, status="failed", reason="", **named),
    ):
        run._write(record)
    repeats = [each for each in plan.cells if each.threads == cell.threads]
    times = ExpectedTimes(plan, run.record, plan.cells, lambda _: repeats)
    assert times.seconds([repeats[1]], guessed=False) >= 51


def test_a_whole_runs_budget_goes_over_its_experiments(tmp_path: Path) -> None:
    more = f"experiment second {{ hardware = box.one  workloads = calm  threads = 2  measure = 1 s  {CONFIDENT} }}\n"
    plan = plan_of(tmp_path, CONFIDENT, more, budget_s=95)
    assert [cell.repeat for cell in plan.cells[:6]] == [1, 1, 1, 2, 2, 2]
    assert len(Run(plan).go()) == 9


def test_an_experiments_own_budget_ends_its_own_repeats_alone(tmp_path: Path) -> None:
    more = f"experiment second {{ hardware = box.one  workloads = wild  threads = 2  measure = 1 s  {CONFIDENT} }}\n"
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 45 s", more, budget_s=1000))
    measured = run.go()
    assert len(measured) == 4 + 8, "the second goes on when the first has spent its own"
    assert {each for cell, each in run.reason_of.items() if cell.startswith("second/")} == set()


def test_a_shorter_turn_is_made_where_a_longer_one_no_longer_fits(tmp_path: Path) -> None:
    more = "experiment second { hardware = box.variants  workloads = wild  threads = 2  measure = 1 s  repeats = 4"
    run = Run(plan_of(tmp_path, "repeats = 4", f"{more}, interleaved }}\n", budget_s=105))
    assert len(run.go()) == 10, "the last 15 s have room for one point, and not for both pieces of hardware"


def test_each_point_has_its_own_reason(tmp_path: Path) -> None:
    after = "expect throughput[calm] > 1 ops/s\n"
    run = Run(plan_of(tmp_path, "repeats = 4  budget = 1 h", after))
    run.go()
    assert run.reasons == {UNASKED}, "a plain number of repeats has no target"
    run = Run(plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h", after))
    run.go()
    assert {cell.split("/")[2]: reason for cell, reason in run.reason_of.items()} == {"calm": ENOUGH, "wild": UNASKED}


def test_experiments_that_share_a_budget_name_their_own_targets(tmp_path: Path) -> None:
    other = CONFIDENT.replace("2 %", "4 %")
    more = f"experiment second {{ hardware = box.one  workloads = calm  threads = 2  measure = 1 s  {other} }}\n"
    run = Run(plan_of(tmp_path, CONFIDENT, more, budget_s=10_000))
    run.go()
    assert {cell.split("/")[0]: reason for cell, reason in run.reason_of.items()} == {
        "e": ENOUGH,
        "second": ENOUGH.replace("2 %", "4 %"),
    }


def loading(tmp_path: Path, workloads: str, more: str, records: str = "1M") -> Plan:
    """Return a plan with a workload `calm` that reads and a workload `wild` that writes, so that the cell after `wild`
    must load."""
    data = HEAD.replace('path = "{path}"', 'path = "{path}"  reset = after_writes')
    path = tmp_path / "spec.bench"
    text = data.replace("calm from db_bench.fillrandom", f"calm from db_bench.readrandom {{ records = {records} }}")
    text = text.replace("wild from db_bench.overwrite", f"wild from db_bench.overwrite {{ records = {records} }}")
    body = f"hardware = box.one  workloads = {workloads}  threads = [1, 2]  measure = 1 s\n  repeats = 4  {more}"
    path.write_text(f"{text}experiment e {{ {body} }}\n", encoding="utf-8")
    return compile_spec(path)


def test_a_repeat_is_not_expected_to_load_again_what_is_there(tmp_path: Path) -> None:
    plan = loading(tmp_path, "calm", "budget = 400 s")
    run = Run(plan, load_s=200)
    assert len(run.go()) == 8
    assert run.spent_s == pytest.approx(200 + 8 * CELL_S)


def test_a_repeat_that_must_load_again_is_expected_to(tmp_path: Path) -> None:
    plan = loading(tmp_path, "[calm, wild]", "budget = 220 s")
    run = Run(plan, load_s=80)
    whole = run.go()
    assert run.spent_s <= 220, "the first cells with `wild` found the data there, the next ones do not"
    for most in range(1, len(whole)):
        begun = Run(plan, load_s=80)
        first = begun.go(most)
        resumed = Run(plan, begun.records, load_s=80)
        assert [*first, *resumed.go()] == whole, most


def test_a_guess_of_the_plan_at_loads_leaves_out_no_point(tmp_path: Path) -> None:
    plan = loading(tmp_path, "calm", "budget = 400 s", records="5000M")
    assert sum(step.seconds for step in plan.cells[0].steps if step.kind == "load") > 400
    run = Run(plan, load_s=200)
    assert len(run.go()) == 8, "the check before the run knows better, by earlier runs"


def test_a_load_that_took_too_long_leaves_out_points_that_need_another(tmp_path: Path) -> None:
    run = Run(loading(tmp_path, "wild", "budget = 300 s"), load_s=200)
    assert run.go() == ["one wild 1"]
    assert len(run.reason_of) == 7


def test_a_point_that_was_left_out_is_not_repeated(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}, interleaved  budget = 1 h", hardware="box.variants")
    run = Run(plan)
    first = next(cell for cell in plan.cells if cell.hardware == "two" and cell.workload == "calm")
    run._write(j.CellSkipped(at=run.now, cell=first.id, hash=first.hash, reason="no room"))
    measured = run.go()
    assert not any(each.startswith("two calm") for each in measured)
    assert sum(each.startswith("one calm") for each in measured) == 3, "the other hardware goes on by itself"
    assert {why for cell, why in run.reason_of.items() if "/two/calm/" in cell} == {"no room"}


def test_each_look_has_a_part_of_the_five_per_cent(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"{CONFIDENT}  budget = 1 h")
    assert looks(plan, plan.experiments["e"]) == 6
    assert level(plan, plan.experiments["e"]) == pytest.approx(1 - 0.05 / 6)
    assert level(plan_of(tmp_path, CONFIDENT), plan.experiments["e"].model_copy(update={"budget_s": None})) == 0.95
    low, high = stats.t.interval(0.99, 3, 100.0, stats.sem(NOISY[:4]))
    mean = sum(NOISY[:4]) / 4
    assert width_so_far(NOISY[:4], 3, 0.99) == pytest.approx((high - low) / 2 / mean)


def test_of_equally_wide_groups_the_one_with_fewer_repeats_is_next() -> None:
    def group(*counts: int, **more: object) -> Group:
        return Group([PointSoFar({"throughput": [1.0] * n}, n) for n in counts], 3, 0.95, **more)  # type: ignore[arg-type]

    assert next_group([group(2), group(1)]) == 1
    assert next_group([group(1), group(1)]) == 0
    assert next_group([group(1), group(4, 3)]) == 1, "a turn that has begun comes first"
    assert next_group([group(1, left=False), group(2)]) == 1
    assert next_group([group(4, within=0.05), group(2, asked=False)]) is None
    assert next_group([group(4), group(4, open=3.0), group(4, open=2.0)]) == 2, "the nearest to a decision"
    assert next_group([group(4, open=3.0), group(2)]) == 1, "but those without an interval come first"
    assert next_group([group(1), group(2, expected=True)]) == 1, "of these, those that an expectation reads"
    assert next_group([group(3), group(3, expected=True)]) == 0, "and no others"


def test_of_two_sides_of_an_open_expectation_the_one_with_fewer_repeats_is_next() -> None:
    def side(n: int, other: int, noise: float = 0.0, **more: object) -> Group:
        values = [100.0 + noise * (-1) ** repeat for repeat in range(n)]
        return Group([PointSoFar({"throughput": values}, n)], 3, 0.95, open=math.inf, compared=[other], **more)  # type: ignore[arg-type]

    noisy = 10.0
    assert next_group([side(4, 1, noisy), side(4, 0)]) == 0, "the wider one"
    assert next_group([side(5, 1, noisy), side(4, 0)]) == 1
    assert next_group([side(5, 1, noisy), side(4, 0, left=False)]) == 0, "no repeat of the other side is left"
    assert next_group([side(5, 2, noisy), side(4, 2, 1.0), side(4, 0)]) == 2, "not one of another expectation"


def test_a_grouped_order_repeats_both_sides_of_an_open_expectation_equally_often(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "repeats = 8  budget = 125 s")
    calm, wild = (next(Point.of(cell) for cell in plan.cells if cell.workload == name) for name in ("calm", "wild"))
    both = {calm, wild}
    alone = UndecidedPoints(dict.fromkeys(both, math.inf))
    assert Run(plan, readings=alone).go()[6:] == [f"one wild {n}" for n in (4, 5, 6, 7, 8)] + ["one calm 4"]
    compared = UndecidedPoints(dict.fromkeys(both, math.inf), compared=dict.fromkeys(both, both))
    expected = [f"one {workload} {n}" for n in (4, 5, 6) for workload in ("wild", "calm")]
    assert Run(plan, readings=compared).go()[6:] == expected


def test_a_tight_budget_repeats_points_that_expectations_read_first(tmp_path: Path) -> None:
    after = f"expect throughput[wild] > 1 ops/s\n{ASKED}"
    assert Run(plan_of(tmp_path, "repeats = 4  budget = 45 s", after)).go() == [
        "one calm 1",
        "one wild 1",
        "one wild 2",
        "one wild 3",
    ]


def test_a_repeat_is_not_expected_to_wait_for_its_turn_as_long_again(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "repeats = 2")
    first, second = [cell for cell in plan.cells if cell.workload == "calm"]
    record, of = RunRecord(), {"cell": first.id, "attempt": 1}
    for each in (
        Run._start(Run.__new__(Run), None),
        j.CellStarted(at=0, hash=first.hash, **of),
        j.StepStarted(at=5, step="wait_for_turn", seconds=0, **of),
        j.StepEnded(at=905, step="wait_for_turn", seconds=900, **of),
        j.StepStarted(at=905, step="measure", seconds=1, **of),
        j.StepEnded(at=915, step="measure", seconds=10, **of),
        j.CellEnded(at=916, hash=first.hash, status="ok", **of),
    ):
        record.add(NOWHERE, each)
    times = ExpectedTimes(plan, record, plan.cells, lambda _: (first, second))
    assert record.times.seconds == {first.id: 916.0}
    assert times.seconds([second]) == pytest.approx(16.0)


def test_the_time_of_a_cell_leaves_out_that_between_two_controllers() -> None:
    times = CellTimes()
    start = Run._start  # the same record as there
    named = {"cell": "c", "attempt": 1}
    for record in (
        j.CellStarted(at=1, hash="", **named),  # before the first start: of another run
        j.CellEnded(at=50, hash="", status="ok", **named),
        start(Run.__new__(Run), None).model_copy(update={"at": 100.0}),
        j.CellStarted(at=100, hash="", **named),
        j.StepStarted(at=102, step="measure", seconds=10, **named),
        start(Run.__new__(Run), None).model_copy(update={"at": 1000.0}),
        j.CellResumed(at=1001, hash="", step="measure", began_at=102, away_since=103, **named),
        j.StepEnded(at=1002, step="measure", seconds=900, **named),
        j.CellEnded(at=1003, hash="", status="ok", **named),
        j.StepStarted(at=1003, step="cool_down", seconds=5, **named),
        j.StepEnded(at=1008, step="cool_down", seconds=5, **named),
    ):
        times.add(record)
    assert times.seconds == {"c": pytest.approx(2 + 10 + 2 + 5)}, "the job went on for its 10 s"


@pytest.mark.parametrize(
    ("planned_s", "gone", "seconds"), [(20_000, False, 62), (20, False, 62), (20_000, True, 20_001), (20, True, 21)]
)
def test_an_interrupted_step_counts_up_to_the_end_of_its_run(planned_s: float, gone: bool, seconds: float) -> None:
    times = CellTimes()
    start = Run._start(Run.__new__(Run), None)
    named = {"cell": "c", "attempt": 1}
    for record in (
        start,
        j.CellStarted(at=0, hash="", **named),
        j.StepStarted(at=1, step="load", seconds=planned_s, **named),
        j.RunEnded(at=50_000 if gone else 62, status="interrupted", message="", gone=gone),
        start.model_copy(update={"at": 100_000.0, "resumed": True}),
    ):
        times.add(record)
    assert times.seconds == {"c": pytest.approx(seconds)}
