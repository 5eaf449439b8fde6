"""Tests searches for promises with runs in memory: which rates they measure, and how a resumed run continues."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Cell, Knee, Plan
from benchbrief.model.rate_search import SearchAnswer, Vote
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.results.runs.reusable_results import find_reusable
from benchbrief.runners.scheduling.promise_search import PromiseSearches, ended_of, searches_of, served_of, values_of
from tests.results.making import RunMaker, measurement
from tests.support.longer import longer
from tests.support.plans import compile_text

SPEC = """
hardware box { hosts = "box.lab"  variant one { storage = "one" }  variant two { storage = "two" } }
client load { hosts = "load.lab"  tool = @LOADER@ }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = drop_and_load }
workload a from ycsb.a { records = 1k }
experiment e {
  hardware = @HARDWARE@  workloads = a  threads = 8  measure = 60 s
  target   = highest(1k ops/s..20k ops/s, where: @WHERE@, within: @WITHIN@)
  @MORE@
}
"""
LATENCY = "latency.p99[read] < 5 ms and latency.p99[update] < 8 ms and errors < 0.1 %"
KEY = Knee(experiment="e", hardware="one", workload="a")


def plan_of(
    tmp_path: Path,
    more: str = "",
    hardware: str = "box.one",
    where: str = LATENCY,
    within: str = "5 %",
    tool: str = "ycsb",
) -> Plan:
    text = SPEC.replace("@MORE@", more).replace("@HARDWARE@", hardware).replace("@WHERE@", where)
    text = text.replace("@WITHIN@", within).replace("@LOADER@", tool)
    return compile_text(text, tmp_path)


Asked = dict[str, float] | str
"""What becomes of a cell: the values that its limits apply to, or the cause of its failure. With "generator" and
"system", its numbers are refused because of the load generator or the system under test. "failed" is any other cause.
"""


def up_to(highest: float) -> Callable[[Cell], Asked]:
    def asked(cell: Cell) -> Asked:
        kept = (cell.target or 0) <= highest * (1.2 if cell.hardware == "two" else 1)
        return {"p99 read": 0.004 if kept else 0.006, "p99 update": 0.004, "errors": 0.0}

    return asked


class Run:
    """A run in memory. A resumed run continues from the records of another run."""

    def __init__(
        self,
        plan: Plan,
        gives: Callable[[Cell], Asked],
        before: Sequence[j.AnyRecord] | None = None,
        served: float = 1.0,
    ) -> None:
        self.plan, self.gives, self.served, self.now = plan, gives, served, 0.0
        self.records: list[j.AnyRecord] = []
        self.record = RunRecord()
        for each in before or ():
            self._write(each)
        self.searches = PromiseSearches(plan, self.record, self._write)

    def _write(self, record: j.AnyRecord) -> None:
        record = record.model_copy(update={"at": self.now})
        self.now += 1.0
        self.records.append(record)
        self.record.add(NOWHERE, record)

    def go(self, most: int = 1000) -> Run:
        """Measure at most this many cells. Then begin one more cell without ending it, like a controller that is
        killed."""
        done, count = self.record.finished(self.plan), 0
        left = [cell for cell in self.plan.cells if cell.id not in done]
        for cell in self.searches.in_order(left, threading.Event()):
            if reason := self.searches.not_needed(cell):
                self._write(j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason=reason))
                continue
            history = self.record.cells.get(cell.id)
            attempt = history.attempt + 1 if history else 1
            self._write(j.CellStarted(at=0, cell=cell.id, hash=cell.hash, attempt=attempt))
            if count == most:
                break
            count += 1
            self._end(cell, attempt, self.gives(cell))
        return self

    def _end(self, cell: Cell, attempt: int, given: Asked) -> None:
        ended = j.CellEnded(at=0, cell=cell.id, hash=cell.hash, attempt=attempt, status="failed")
        if isinstance(given, dict):
            asked = {"served": self.served, **given}
            self._write(ended.model_copy(update={"status": "ok", "asked": asked, "ops_per_s": cell.target}))
            return
        self._write(ended.model_copy(update={"refused": "" if given == "failed" else given}))
        if given != "failed":
            self._write(j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason=say.rate_refused(said="late")))

    @property
    def choices(self) -> list[tuple[float, str, str]]:
        choices = (each for each in self.records if isinstance(each, j.PointChosen))
        return sorted((each.point, str(each.why), each.hardware[0]) for each in choices)

    @property
    def measured(self) -> list[str]:
        return [each.cell for each in self.records if isinstance(each, j.CellEnded)]

    @property
    def found(self) -> j.PromiseEnded:
        return self.record.promises[KEY]

    @property
    def remarks(self) -> list[str]:
        return [str(each.text) for each in self.records if isinstance(each, j.Remark)]


def test_the_highest_rate_that_keeps_each_limit_is_found_and_confirmed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    run = Run(plan, up_to(7_000)).go()
    found = run.found
    assert found.kind == "found"
    assert found.rate is not None
    assert found.above is not None
    assert found.rate <= 7_000 < found.above <= found.rate * 1.051
    assert (found.sure, found.confirmed, found.sustained) == (True, True, found.rate)
    assert (found.held_met, found.held_out) == (3, 3)
    assert len(run.measured) < 25
    assert not run.remarks
    assert run.record.finished(plan) == {cell.id for cell in plan.cells}


def test_each_operation_has_its_own_limit(tmp_path: Path) -> None:
    """The latency of updates breaks the promise at a far lower rate than the latency of reads does."""

    def asked(cell: Cell) -> Asked:
        return {"p99 read": 0.004, "p99 update": 0.004 if (cell.target or 0) <= 3_000 else 0.008, "errors": 0.0}

    found = Run(plan_of(tmp_path), asked).go().found
    assert found.rate is not None
    assert 2_850 < found.rate <= 3_000, "the limit itself breaks a promise of `<`"


def test_a_promise_of_errors_alone_is_broken_where_the_load_is_not_served(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, where="errors <= 0 %")
    assert Run(plan, lambda _: {"errors": 0.0}).go().found.kind == "at_least"
    slow = Run(plan, lambda _: {"errors": 0.0}, served=0.9).go()
    assert slow.found.kind == "none"
    assert Run(plan, lambda cell: {"errors": 0.0 if (cell.target or 0) < 4_000 else 0.01}).go().found.rate is not None


@pytest.mark.long
@pytest.mark.parametrize(("within", "served", "kind"), [("1 %", 0.985, "none"), ("5 %", 0.955, "at_least")])
def test_a_rate_is_served_as_exactly_as_the_next_one_is_near(
    tmp_path: Path, within: str, served: float, kind: str
) -> None:
    plan = plan_of(tmp_path, where="errors <= 0 %", within=within)
    assert Run(plan, lambda _: {"errors": 0.0}, served=served).go().found.kind == kind
    kept_up = Run(plan, lambda _: {"errors": 0.0}, served=0.995).go()
    assert kept_up.found.kind == "at_least"


def test_what_is_served_is_of_the_operations_that_were_due(tmp_path: Path) -> None:
    """With bursts, operations are due both in the bursts and between them. If the load generator reports how many were
    due, this number counts. It includes operations that were never sent."""
    bursts = plan_of(
        tmp_path, "warm_up = 20 s  arrivals = burst(60k ops/s, every: 20 s, lasting: 2 s)", tool="openload"
    )
    (search, *_), cell = searches_of(bursts), bursts.cells[0]
    due = 54 * 1_000 + 6 * 60_000
    slow = measurement([Operation("read", 60_000)], seconds=60.0)
    assert served_of(search.experiment, cell, slow) == pytest.approx(60_000 / due)
    counted = replace(slow, due=61_000, dropped=1_000)
    assert values_of(search.experiment, cell, counted)["served"] == pytest.approx(60 / 61)
    assert values_of(search.experiment, cell, counted)["errors"] == pytest.approx(1 / 61)


def test_a_promise_that_the_lowest_rate_breaks_is_met_at_no_rate(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path), up_to(10)).go()
    assert (run.found.kind, run.found.sustained, run.found.rate) == ("none", None, None)
    assert run.remarks == [
        (
            "e keeps its promise at no rate: it is broken at 1,000 ops/s, the lowest (on one, with a); "
            "search from a lower rate"
        )
    ]


def test_a_promise_that_the_highest_rate_keeps_is_met_there_at_least(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path), up_to(1e9)).go()
    assert (run.found.kind, run.found.sustained) == ("at_least", 20_000.0)
    assert run.remarks == [
        "e keeps its promise at 20,000 ops/s at least, the highest rate of its search (on one, with a); search further"
    ]


def test_a_rate_beyond_the_generator_is_distinguished_from_a_broken_promise(tmp_path: Path) -> None:
    def gives(by: str) -> Callable[[Cell], Asked]:
        return lambda cell: up_to(1e9)(cell) if (cell.target or 0) <= 7_000 else by

    late, lost = (Run(plan_of(tmp_path), gives(by)).go() for by in ("generator", "system"))
    assert late.found.rate == lost.found.rate
    assert (late.found.by_generator, lost.found.by_generator) == (True, False)
    assert "the load generator was too late to tell at" in late.remarks[0]
    assert not lost.remarks
    plan = late.plan
    assert late.record.finished(plan) == {cell.id for cell in plan.cells}, "and the run lacks nothing"


@pytest.mark.parametrize(
    ("by", "above"), [("generator", "at which the load generator was too late to tell"), ("system", "which did not")]
)
def test_a_halved_rate_says_what_the_higher_one_showed(tmp_path: Path, by: str, above: str) -> None:
    run = Run(plan_of(tmp_path), lambda cell: up_to(1e9)(cell) if (cell.target or 0) <= 7_000 else by).go()
    halved = {why for _, why, _ in run.choices if why.startswith("between ")}
    assert halved
    assert all(why.endswith(f", {above}") for why in halved)


@pytest.mark.parametrize(("by", "why"), [("generator", say.rate_judged_late()), ("system", say.rate_judged())])
def test_a_resumed_run_says_how_a_rate_was_judged_before(tmp_path: Path, by: str, why: str) -> None:
    plan = plan_of(tmp_path)
    ended = Run(plan, lambda cell: up_to(1e9)(cell) if (cell.target or 0) <= 7_000 else by).go()
    killed = [each for each in ended.records if not isinstance(each, j.CellSkipped)]
    resumed = Run(plan, up_to(7_000), killed).go()
    judged = {each.cell for each in killed if isinstance(each, j.CellEnded) and each.refused}
    assert judged
    assert {resumed.searches.not_needed(cell) for cell in plan.cells if cell.id in judged} == {why}


def test_held_out_runs_that_break_the_promise_take_the_rate_back(tmp_path: Path) -> None:
    def lucky(cell: Cell) -> Asked:
        return up_to(7_000 if cell.repeat <= 5 else 10)(cell)

    run = Run(plan_of(tmp_path), lucky).go()
    assert run.found.rate is not None
    assert (run.found.sustained, run.found.held_met, run.found.held_out) == (None, 0, 1)
    assert "0 of 1 held-out runs there kept the promise, where all must" in run.remarks[0]


def test_the_rate_is_lowered_until_held_out_runs_keep_the_promise(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path), lambda cell: up_to(7_000 if cell.repeat <= 5 else 6_400)(cell)).go()
    assert run.found.sustained is not None
    assert run.found.sustained <= 6_400 < 1.051 * run.found.sustained
    assert run.found.lowered
    assert not Run(run.plan, up_to(7_000)).go().found.lowered


def test_failed_held_out_runs_leave_the_search_undecided_until_a_resumed_run_measures_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    failing = Run(plan, lambda cell: "failed" if cell.repeat in (6, 7) else up_to(7_000)(cell)).go()
    assert (failing.found.kind, failing.found.sustained, failing.found.lowered) == ("undecided", None, False)
    assert "too many of its runs at 6," in failing.remarks[0]
    whole = Run(plan, up_to(7_000)).go()
    again = Run(plan, up_to(7_000), failing.records).go()
    assert again.found == whole.found.model_copy(update={"at": again.found.at})

    one = Run(plan, lambda cell: "failed" if cell.repeat == 7 else up_to(7_000)(cell)).go()
    assert (one.found.sustained, one.found.held_met, one.found.held_out) == (whole.found.rate, 2, 2)


def test_a_rate_that_the_generator_could_not_hold_out_is_reported_as_its_limit(tmp_path: Path) -> None:
    def tired(cell: Cell) -> Asked:
        return "generator" if cell.repeat > 5 and (cell.target or 0) > 6_400 else up_to(7_000)(cell)

    run = Run(plan_of(tmp_path), tired).go()
    assert run.found.lowered
    assert run.found.by_generator
    assert not run.found.sure, "held-out runs are no test of the edge"
    assert f"the load generator was too late to tell at {run.found.above:,.0f} ops/s" in run.remarks[0]


def test_a_broken_run_caps_the_rate_and_a_warning_says_up_to_which_rate_most_runs_kept_it(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    third = next(each.point for each in Run(plan, up_to(12_000)).go().records if getattr(each, "number", 0) == 3)  # type: ignore[union-attr]  # points alone have numbers
    unlucky: set[str] = set()

    def gives(cell: Cell) -> Asked:
        if cell.target == third and not unlucky:
            unlucky.add(cell.id)
            return {"p99 read": 0.006, "p99 update": 0.004, "errors": 0.0}
        return up_to(12_000)(cell)

    run = Run(plan, gives).go()
    assert run.found.sustained == third
    assert not run.found.sure
    kept = run.found.kept_above
    assert kept is not None
    assert 11_000 < kept <= 12_000
    text = (
        f"e keeps its promise at {third:,.0f} ops/s: most runs at up to {kept:,.0f} ops/s kept it, too, but a run at "
    )
    assert [text in each for each in run.remarks] == [True]
    later = [why for rate, why, _ in run.choices if "held out" in why]
    assert later == ["held out: the rate that was found, once more"]


def test_an_edge_that_held_out_runs_moved_is_not_sure(tmp_path: Path) -> None:
    """This holds even if all runs that decided the edge agreed at both of its rates."""
    plan = plan_of(tmp_path)
    (search,) = searches_of(plan)
    low, middle, high = search.experiment.points[20:23]
    votes: dict[str, Vote] = {cell.id: "met" for rate in (low, middle) for cell in search.judging(rate)[:3]}
    votes |= {cell.id: "broken" for cell in (*search.judging(high)[:3], *search.held_out(middle))}
    votes |= {cell.id: "met" for cell in search.held_out(low)}
    answer, _ = search.next(votes)
    assert answer == SearchAnswer("found", low, middle)
    assert not ended_of(search, answer, votes).sure


def test_a_failed_cell_is_followed_by_the_next_repeat_and_tried_again_by_a_resumed_run(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    (first,) = [cell for cell in plan.cells if (cell.target, cell.repeat) == (1_000, 1)]
    failing = Run(plan, lambda cell: "failed" if cell.id == first.id else up_to(7_000)(cell)).go()
    assert failing.measured[:2] == [first.id, first.id.replace("/r1", "/r2")]
    assert failing.found.rate == Run(plan, up_to(7_000)).go().found.rate
    assert plan.cells[0].id not in failing.record.finished(plan)
    again = Run(plan, up_to(7_000), failing.records).go()
    assert again.found == failing.found.model_copy(update={"at": again.found.at, "rates": again.found.rates})


def test_a_verdict_that_another_attempt_was_to_replace_does_not_count(tmp_path: Path) -> None:
    """This happens in a run that is killed during the other attempt."""
    plan = plan_of(tmp_path)
    refused = Run(plan, lambda _: "system").go(1)
    before = [
        each.model_copy(update={"retried": True}) if isinstance(each, j.CellEnded) else each
        for each in refused.records
        if not isinstance(each, j.CellSkipped)
    ]
    resumed = Run(plan, up_to(7_000), before).go()
    assert resumed.measured[:2] == [plan.cells[0].id] * 2
    assert resumed.found.rates[0] == j.RateJudged(rate=1_000, met=1, broken=0)


def test_runs_that_all_fail_leave_the_search_undecided(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path), lambda cell: up_to(1e9)(cell) if (cell.target or 0) < 3_000 else "failed").go()
    assert (run.found.kind, run.found.sustained) == ("undecided", None)
    assert "runs at 3," in run.remarks[0]


@pytest.mark.parametrize(
    ("by", "reason"),
    [
        ("generator", "the search ended without an answer after 3 cells"),
        ("system", "the search found its answer after 3 cells"),
    ],
)
def test_the_candidates_that_a_search_leaves_out_say_whether_it_found_an_answer(
    tmp_path: Path, by: str, reason: str
) -> None:
    """The search has found an answer even if no rate keeps the promise. It has found none if the load generator was too
    late."""
    run = Run(plan_of(tmp_path), lambda _: by).go()
    left_out = {reason for each in run.plan.cells if (reason := run.searches.not_needed(each))}
    assert left_out == {reason}
    assert (run.record.refused, run.record.skipped) == (3, 0)


@pytest.mark.parametrize("killed_after", [12, *longer(0, 3, 6, 9, 15, 18, 21)])
@pytest.mark.parametrize("order", ["", "repeats = 5, interleaved"])
def test_a_resumed_run_decides_alike(tmp_path: Path, killed_after: int, order: str) -> None:
    plan = plan_of(tmp_path, order, "box.variants")
    whole = Run(plan, up_to(7_000)).go()
    resumed = Run(plan, up_to(7_000), Run(plan, up_to(7_000)).go(killed_after).records).go()
    assert resumed.choices == whole.choices, "each is recorded once for each reason"
    assert sorted(resumed.measured) == sorted(whole.measured), "nothing is lost, and nothing is measured twice"
    found = {key: (each.rate, each.rates) for key, each in resumed.record.promises.items()}
    assert found == {key: (each.rate, each.rates) for key, each in whole.record.promises.items()}


def test_hardware_that_takes_turns_has_searches_of_its_own_run_by_run(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path, "repeats = 5, interleaved", "box.variants"), up_to(7_000)).go()
    assert [cell.split("/")[1] for cell in run.measured[:12]] == ["one", "two"] * 6
    one, two = (run.record.promises[Knee(experiment="e", hardware=key, workload="a")] for key in ("one", "two"))
    assert one.rate is not None
    assert two.rate is not None
    assert two.rate == pytest.approx(1.2 * one.rate, rel=0.06)


def test_nothing_is_chosen_once_the_run_ends(tmp_path: Path) -> None:
    run = Run(plan_of(tmp_path), up_to(7_000))
    ending = threading.Event()
    for _ in run.searches.in_order(run.plan.cells, ending):
        ending.set()
    assert [each.point for each in run.records if isinstance(each, j.PointChosen)] == [1_000]
    assert KEY not in run.record.promises


def test_a_later_search_takes_what_its_rule_asks_for_and_nothing_that_was_left_out(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, within="20 %")
    made = RunMaker(tmp_path / "out" / "old", plan)
    first = Run(plan, up_to(7_000)).go()
    by_id = {cell.id: cell for cell in plan.cells}
    for ended in (each for each in first.records if isinstance(each, j.CellEnded)):
        cell = by_id[ended.cell]
        made.ok(cell, {"load.lab": measurement([Operation("read", int(10 * (cell.target or 0)))])}, asked=ended.asked)
    for record in first.records:
        if isinstance(record, j.CellSkipped):
            made.write(record.model_copy(update={"at": made.now}))
    made.end("done")
    again = find_reusable(plan, tmp_path / "out")
    assert sorted(each.cell.id for each in again.carried) == sorted(first.measured)

    stricter = plan_of(tmp_path, where=LATENCY.replace("5 ms", "3 ms"), within="20 %")
    taken = find_reusable(stricter, tmp_path / "out")
    assert {each.cell.target for each in taken.carried} == {1_000}, "its lowest rate breaks this promise"

    other = plan_of(tmp_path, where="latency.p95[read] < 5 ms", within="20 %")
    assert not find_reusable(other, tmp_path / "out").carried, "their verdicts do not tell this latency"


def test_what_a_search_found_is_a_measure_without_a_load(tmp_path: Path) -> None:
    other = "experiment other { hardware = box.one  workloads = a  threads = [1, 2]  measure = 1 min"
    plan = plan_of(tmp_path, f"}}\nmetric best in ops/s = sustained\n{other}", "box.variants")
    (metric,) = plan.metrics
    assert metric.query.dims == ("hardware", "workload")
    assert [read.view for read in metric.query.reads or ()] == ["sustained"]
