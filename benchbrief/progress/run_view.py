"""Derives the state of a running run from its plan and its journal records so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from benchbrief.dsl.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from benchbrief.model import events as j
    from benchbrief.model.plan import Plan
    from benchbrief.model.rate_search import Vote
    from benchbrief.results.runs.run_summary import CellState
    from benchbrief.results.runs.times_taken import Pace
    from benchbrief.runners.execution.live_numbers import LiveLoad

_ALIKE_S = 1.0
"""Times that differ by no more than this many seconds count as equal."""
_ESTIMATE_SHARE = 0.02
"""At most this share of the time is spent on estimating the time left, because each estimate looks at every cell of the
plan."""


@dataclass
class CellView:
    """One cell's state. Times are in epoch seconds. `seconds` is how long the cell took, if it has ended.

    `step_s` is the planned time of the current step, and `ops_per_s` is the cell's result.
    """

    state: CellState = "waiting"
    step: str = ""
    step_began: float = 0.0
    step_s: float = 0.0
    started: float | None = None
    seconds: float | None = None
    ops_per_s: float | None = None


@dataclass(frozen=True)
class KnownOfRun:
    """What is known about a run before its next record. `timed` is its plan with estimated times.

    `done` maps each cell that is done to the seconds that it took, or to None if an earlier run measured it. These
    cells count as finished whatever later records say. `wall_s` is how long the whole run is expected to take, as
    estimated at its start.
    """

    timed: Plan
    done: Mapping[str, float | None]
    pace: Pace
    rendering_s: float = 0.0
    wall_s: float | None = None
    spent_s: float = 0.0
    """How many seconds earlier controllers drove the run."""
    votes: Mapping[str, Vote] = field(default_factory=dict)
    """The verdicts of earlier cells on the rates of searches for promises."""
    left_out: Collection[str] = ()
    """The cells of candidates that ramps and searches have already left out."""


def known_by_estimate(plan: Plan, run_dir: Path) -> KnownOfRun:
    """Return what is known about a run before its first record."""
    from benchbrief.results.runs.times_taken import Pace, timed_plan

    return KnownOfRun(timed_plan(plan, run_dir), {}, Pace())


class LiveRun:
    """A live view of a run: its `record` so far, its cells' states, and the time left."""

    def __init__(self, plan: Plan, known: KnownOfRun | None = None, run_id: str = "") -> None:
        """Create a view. `run_id` is the name of a run that has not started."""
        from benchbrief.compiler.estimates.budget_fit import without_budgets
        from benchbrief.model.planned_cells import UncountedCandidates
        from benchbrief.model.run_record import RunRecord
        from benchbrief.results.runs.times_taken import Pace

        self.plan = plan
        self._is_estimated = known is not None
        self._known = known = known or KnownOfRun(plan, {}, Pace())
        done = known.done
        self.cells = {
            cell.id: CellView("ok", seconds=done[cell.id]) if cell.id in done else CellView() for cell in plan.cells
        }
        for name in known.left_out:
            self.cells[name].state = "not_chosen"
        self.counts: Counter[str] = Counter(cell.state for cell in self.cells.values())
        self.running: dict[str, CellView] = {}
        self.votes: dict[str, Vote] = dict(known.votes)
        """The verdicts of cells on the rates of searches for promises."""
        self.record = RunRecord()
        self._run_id = run_id
        self.failures = 0
        self._locks = {cell.id: cell.locks for cell in plan.cells}
        self._hosts = {host: None for cell in plan.cells for host in cell.locks}
        self._records = {cell.id: cell.dataset.records for cell in plan.cells if cell.dataset}
        self._uncounted = UncountedCandidates(plan, known.left_out)
        self._timed = known.timed
        self._planned = {cell.id: cell for cell in self._timed.cells}
        self._pace = known.pace
        self._rendering_s = known.rendering_s
        self._free = without_budgets(self._timed)
        self._budgeted = plan.budget_s is not None or any(e.budget_s is not None for e in plan.experiments.values())
        chooses = any(each.adaptive or each.promise for each in plan.experiments.values())
        self._leaves_out = self._budgeted or chooses
        self._done_before = {name for name, seconds in done.items() if seconds is None}
        self._by_budget = False
        self._spent_before_s = known.spent_s
        self._left: float | None = None
        self._least = known.wall_s if known.wall_s is not None else float("inf")
        self._left_at = 0.0
        self._left_cost = 0.0

    @property
    def start(self) -> j.RunStarted | None:
        """Return the record that the last controller wrote when it started."""
        return self.record.starts[-1] if self.record.starts else None

    @property
    def run_id(self) -> str:
        return self.start.run_id if self.start else self._run_id

    @property
    def attempts(self) -> int:
        """Return how many attempts at the plan's cells have started."""
        return sum(len(history.started) for name, history in self.record.cells.items() if name in self.cells)

    @property
    def rendering_s(self) -> float:
        """Return the expected time for making the brief after the last cell, in seconds."""
        return self.record.estimated.rendering_s if self.record.estimated else self._rendering_s

    @property
    def total(self) -> int:
        return len(self.cells) - self._uncounted.count

    @property
    def finished(self) -> int:
        """The number of cells of the total that have ended."""
        return sum(self.of(state) for state in ("ok", "failed", "refused", "no_room", "skipped"))

    def of(self, state: CellState) -> int:
        """Return how many cells of the total are in a state. Waiting candidates that are not part of the total do not
        count."""
        if state == "waiting":
            return max(0, self.counts["waiting"] - (self._uncounted.count - self.counts["not_chosen"]))
        return self.counts[state]

    def is_answer(self, record: j.CellEnded) -> bool:
        """Return whether a cell's failure is an answer for its search for a promise: the rate is too high."""
        cell = self._planned.get(record.cell)
        return bool(record.refused and cell and self.plan.experiments[cell.experiment].promise)

    def vote(self, record: j.CellEnded) -> Vote | None:
        """Return a cell's verdict on its rate for a search for a promise, or None if the cell does not belong to such a
        search."""
        from benchbrief.runners.scheduling.promise_search import vote_by

        cell = self._planned.get(record.cell)
        promise = self.plan.experiments[cell.experiment].promise if cell else None
        return vote_by(record, cell, promise) if cell and promise else None

    def now(self) -> float:
        """Return the time by the clock of the run's controller, in epoch seconds."""
        from benchbrief.runners.journal.controller_clock import now_in_run

        return now_in_run(self.start)

    def apply(self, record: j.AnyRecord) -> None:
        """Process a record. Cells that are not in the plan are ignored."""
        from benchbrief.model.run_record import NOWHERE

        self.record.add(NOWHERE, record)
        if handler := getattr(self, f"_on_{record.type}", None):
            handler(record)

    def _on_run_started(self, _: j.RunStarted) -> None:
        for cell_id, cell in list(self.running.items()):  # cells that were running when an earlier controller ended
            self._become(cell_id, "waiting" if cell.state == "running" else cell.state)

    def _on_cell_started(self, record: j.CellStarted) -> None:
        if cell := self.cells.get(record.cell):
            cell.started, cell.step = record.at, ""
            self._pace.begin(record.cell)
            self._become(record.cell, "running")

    def _on_cell_resumed(self, record: j.CellResumed) -> None:
        if cell := self.cells.get(record.cell):
            steps = self._planned[record.cell].steps
            cell.started = cell.started or record.began_at
            cell.step, cell.step_began = record.step.replace("_", " "), record.began_at
            cell.step_s = sum(step.seconds for step in steps if step.kind == record.step)
            self._become(record.cell, "running")

    def _on_step_started(self, record: j.StepStarted) -> None:
        if record.step == "cool_down" and record.cell in self.cells:  # it has its verdict, and still keeps its hosts
            self.running[record.cell] = self.cells[record.cell]
        if cell := self.running.get(record.cell):
            cell.step, cell.step_began, cell.step_s = record.step.replace("_", " "), record.at, record.seconds
            if self._is_estimated:  # the time left is estimated, too
                steps = self._planned[record.cell].steps
                cell.step_s = next((each.seconds for each in steps if each.kind == record.step), record.seconds)

    def _on_step_ended(self, record: j.StepEnded) -> None:
        if record.step == "cool_down":
            self.running.pop(record.cell, None)
        elif cell := self._planned.get(record.cell):
            self._pace.note(cell, record.step, 0.0 if record.skipped else record.seconds)

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        if cell := self.cells.get(record.cell):
            cell.seconds = record.at - cell.started if cell.started is not None else None
            cell.ops_per_s = record.ops_per_s
            refused = self.is_answer(record) and not record.retried
            self.failures += record.status == "failed" and not self.is_answer(record)
            if vote := self.vote(record):
                self.votes[record.cell] = vote
            self._become(record.cell, "refused" if refused else record.status)

    def _on_cell_skipped(self, record: j.CellSkipped) -> None:
        from benchbrief.model.run_record import is_candidate_left_out, is_refused

        if record.cell in self.cells:
            skipped: CellState = "not_chosen" if is_candidate_left_out(record.reason) else "skipped"
            skipped = "refused" if is_refused(record.reason) else skipped
            self._become(record.cell, "no_room" if record.no_room == "point" else skipped)

    def _become(self, cell_id: str, state: CellState) -> None:
        cell = self.cells[cell_id]
        self.counts[cell.state] -= 1
        self.counts[state] += 1
        if "not_chosen" in (cell.state, state) and state != cell.state:
            self._uncounted.leave_out(cell_id, 1 if state == "not_chosen" else -1)
        cell.state = state
        if state == "running":
            self.running[cell_id] = cell
        else:
            self.running.pop(cell_id, None)

    def elapsed_s(self, now: float) -> float:
        """Return the seconds since the current controller started, up to now or to the run's end."""
        until = self.record.end.at if self.record.end is not None else now
        return max(0.0, until - self.start.at) if self.start is not None else 0.0

    def remaining_s(self, now: float) -> float | None:
        """Return the estimated seconds left, including held-out repeats and the brief, or None if no cell is left.

        With a budget, the time left never rises: if cells take longer than expected, fewer cells are run. If there are
        many cells, the estimate is updated only now and then.
        """
        if self.finished >= self.total and not self.running:
            return None
        if self.start is not None and self.start.simulated:
            # A simulated run does not take the planned times, so the rest is assumed to be as fast as before.
            ran = self.finished - len(self._known.done)
            return self.elapsed_s(now) * (self.total - self.finished) / ran if ran > 0 else None
        import benchbrief.results.runs.run_summary  # noqa: F401  # so that its import is no cost of the estimate
        from benchbrief.compiler.estimates.estimate import held_out_wall_s

        started = time.monotonic()
        if started - self._left_at < self._left_cost / _ESTIMATE_SHARE:
            return self._never_more(self._left - (started - self._left_at)) if self._left is not None else None
        left = self._cells_left_s(now, self._timed)
        if left is not None:
            self._by_budget = self._budgeted and left < (self._cells_left_s(now, self._free) or 0.0) - _ALIKE_S
            left = self._never_more(left + held_out_wall_s(self._timed) + self.rendering_s)
        self._left = left
        self._left_at = time.monotonic()
        self._left_cost = self._left_at - started
        return self._left

    def _never_more(self, left: float) -> float:
        """Return the time left. With a budget, this is never more than at the last call."""
        if self._budgeted:
            self._least = left = min(left, self._least)
        return max(0.0, left)

    def _cells_left_s(self, now: float, plan: Plan) -> float | None:
        from benchbrief.results.runs.run_summary import remaining_s

        return remaining_s(
            (
                (
                    cell,
                    (view := self.cells[cell.id]).state,
                    now - view.started if view.state == "running" and view.started is not None else view.seconds,
                )
                for cell in plan.cells
            ),
            self._pace,
            plan,
            self._done_before | self.record.reused.keys(),
            self.votes,
        )

    def expected_s(self, now: float) -> float:
        """Return how long the run is expected to take from here. For a simulated run, return how long it would take on
        real hosts."""
        said = self._known.wall_s
        if said is None and self.start is not None and self.start.simulated:
            said = self._cells_left_s(now, self._timed)
        return said if said is not None else self.remaining_s(now) or 0.0

    def left_text(self, now: float) -> str:
        """Return the time left in words, or "" if nothing is left. This is the estimate, or the rest of a budget if
        that is shorter."""
        from benchbrief.cli.terminal import duration

        left = self.remaining_s(now)
        if not left:
            return ""
        return f"at most {duration(left)} left, by the budget" if self._by_budget else f"about {duration(left)} left"

    def share_done(self, now: float) -> float:
        """Return which share of the run is done. This is a share of its cells or, if a budget or a search may leave out
        cells, of its time."""
        if not self._leaves_out:
            return self.finished / self.total if self.total else 1.0
        left, spent_s = self.remaining_s(now), self._spent_before_s + self.elapsed_s(now)
        return 1.0 if left is None else spent_s / (spent_s + left) if spent_s else 0.0

    def load_left_s(self, cell_id: str, load: LiveLoad | None, now: float) -> float | None:
        """The estimated seconds until a data set is loaded, at its average rate so far. None if nothing is being
        loaded, or if the tool reports no progress."""
        cell, records = self.cells[cell_id], self._records.get(cell_id, 0)
        if cell.step != "load" or load is None or not load.done or not records:
            return None
        return max(0.0, now - cell.step_began) * max(0.0, records / load.done - 1)

    def load_rate(self, cell_id: str, load: LiveLoad, now: float) -> str:
        """Return the rate of a cell's load generators. While the cell's data set is being loaded, the rate is in
        records, and is followed by the time left."""
        from benchbrief.cli.terminal import duration, rate

        left = self.load_left_s(cell_id, load, now)
        if left is None:
            return rate(load.ops_per_s)
        return f"{load.ops_per_s:,.0f} records/s, loaded in about {duration(left)}"

    def hosts(self) -> dict[str, str]:
        """Return what each host is used for now: the step of its cell, or "" if it is idle."""
        steps = dict.fromkeys(self._hosts, "")
        for cell_id, cell in self.running.items():
            for host in self._locks[cell_id]:
                steps[host] = cell.step or "prepare"
        return steps
