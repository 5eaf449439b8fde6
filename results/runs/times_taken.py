"""Computes from a run's journal how long the run took, in seconds by activity for each attempt at a cell."""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from io import BufferedReader
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchbrief.compiler.estimates.estimate import ACTIVITIES, Activity, alone, estimate, time_spent
from benchbrief.compiler.estimates.learned import Keys, SeenStep, rendering_key, with_history
from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.dsl.bench_error import BenchError
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.plan import Cell, Plan, Step
from benchbrief.model.run_record import TURN, Pauses, RunRecord
from benchbrief.results.runs.find_runs import is_simulated, list_real_runs
from benchbrief.runners.journal.journal_file import JOURNAL, record_in
from benchbrief.runners.journal.run_folder import load_plan
from benchbrief.runners.plain_files import open_plain

_READ = tuple(
    f'"type":"{kind}"'.encode()
    for kind in (
        *("cell_started", "cell_resumed", "cell_reused", "cell_ended", "step_ended", "job_collected"),
        "measuring_ended",
        "clock_read",
        *("host_facts", "report_made", "run_started", "run_ended", "time_estimated"),
    )
)
"""The types of records with times. A journal has many records of other types, which are not parsed."""
_HEAD = 80
"""At most this many bytes at the start of a line are searched for the record's type."""


@dataclass
class AttemptTimes:
    """One attempt at a cell. `steps` has the seconds of the steps that ended, and `ends` has the times when they ended.

    `paused_s` is how long the attempt made no progress because its controller was away. `whole` is whether a single
    controller drove the attempt.
    """

    cell: str
    started_at: float
    ended_at: float | None = None
    good: bool = False
    whole: bool = True
    loaded: bool = False
    """Whether the data set was loaded. If not, the step `load` restored data from earlier."""
    steps: dict[str, float] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    paused_s: float = 0.0
    lasted_s: float | None = None
    """How many seconds the measurement lasted, if it ended by itself."""

    def spent(self, cell: Cell) -> dict[Activity, float]:
        """Return the seconds of each activity.

        If a tool warms up and measures in one process, the step `measure` includes the warm-up. The time that a tool
        needs beyond the declared times counts as its start-up.
        """
        ran, measure_s = self.steps.get("measure", 0.0), cell.measure_s if self.lasted_s is None else self.lasted_s
        inside = min(cell.warm_up_s, max(0.0, ran - measure_s)) if "warm_up" not in self.steps else 0.0
        data = self.steps.get("load", 0.0)
        found: dict[Activity, float] = {
            **dict.fromkeys(ACTIVITIES, 0.0),
            "loading": data if self.loaded else 0.0,
            "resets": 0.0 if self.loaded else data,
            "warm_up": min(cell.warm_up_s, self.steps.get("warm_up", inside)),
            "measuring": min(measure_s, ran - inside),
            "cooling": self.steps.get("cool_down", 0.0),
        }
        if self.ended_at is not None:
            whole = self.ended_at - self.started_at - self.paused_s
        else:
            whole = sum(seconds for step, seconds in self.steps.items() if step != "cool_down")
        before = sum(found[each] for each in ("loading", "resets", "warm_up", "measuring")) + self.steps.get(TURN, 0.0)
        return {**found, "start_up": max(0.0, whole - before)}

    def leave_out(self, pauses: Pauses) -> None:
        """Subtract the time of pauses from the steps and from the whole attempt."""
        for step, ended_at in self.ends.items():
            self.steps[step] -= pauses.within(ended_at - self.steps[step], ended_at)
        if self.ended_at is not None:
            self.paused_s = pauses.within(self.started_at, self.ended_at)


@dataclass
class TimesTaken(RunRecord):
    """A run's record with its attempts at cells, except those reused from other runs.

    `reports` has the seconds that each report took when it was first made, if known.
    """

    attempts: dict[tuple[str, int], AttemptTimes] = field(default_factory=dict)
    reports: dict[str, float] = field(default_factory=dict)

    @property
    def wall_s(self) -> float:
        """Return the run's duration in seconds, without times in which no job ran."""
        return self.elapsed_s(self.last_at) if self.last_at is not None else 0.0

    @property
    def hostnames(self) -> dict[str, str]:
        """Return the names that hosts report for themselves, by host, as far as they are known."""
        return {host: name for host, known in self.hosts.items() if (name := known.facts.get("hostname"))}

    def _on_cell_started(self, record: j.CellStarted) -> None:
        super()._on_cell_started(record)
        reused = self.reused.get(record.cell)
        if reused is None or reused.attempt != record.attempt:
            self.attempts[record.cell, record.attempt] = AttemptTimes(record.cell, record.at)

    def _on_cell_resumed(self, record: j.CellResumed) -> None:
        super()._on_cell_resumed(record)
        if attempt := self._attempt(record):
            attempt.whole = False

    def _on_step_ended(self, record: j.StepEnded) -> None:
        super()._on_step_ended(record)
        if attempt := self._attempt(record):
            attempt.steps[record.step] = 0.0 if record.skipped else record.seconds
            attempt.ends[record.step] = record.at

    def _on_job_collected(self, record: j.JobCollected) -> None:
        super()._on_job_collected(record)
        if (attempt := self._attempt(record)) and (record.step, record.job) == ("load", "load"):
            attempt.loaded = True

    def _on_measuring_ended(self, record: j.MeasuringEnded) -> None:
        if attempt := self._attempt(record):
            attempt.lasted_s = record.lasted_s

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        super()._on_cell_ended(record)
        if attempt := self._attempt(record):
            attempt.ended_at, attempt.good = record.at, record.status == "ok"

    def _on_report_made(self, record: j.ReportMade) -> None:
        if record.seconds is not None:
            self.reports.setdefault(record.report, record.seconds)

    def _attempt(
        self, record: j.CellResumed | j.StepEnded | j.JobCollected | j.MeasuringEnded | j.CellEnded
    ) -> AttemptTimes | None:
        return self.attempts.get((record.cell, record.attempt))

    def spent(self, plan: Plan) -> dict[str, dict[Activity, float]]:
        """Return the seconds of each activity, by experiment."""
        found: dict[str, dict[Activity, float]] = {}
        cells = {cell.id: cell for cell in plan.cells}
        for attempt in self.attempts.values():
            if cell := cells.get(attempt.cell):
                of = found.setdefault(cell.experiment, dict.fromkeys(ACTIVITIES, 0.0))
                for activity, seconds in attempt.spent(cell).items():
                    of[activity] += seconds
        return found


def times_taken(run_dir: Path) -> TimesTaken:
    """Read the times from a run's journal. Raises OSError, and ValueError for a line that is not a record."""
    found = TimesTaken.of(_records(run_dir / JOURNAL))
    for attempt in found.attempts.values() if found.pauses.spans else ():
        attempt.leave_out(found.pauses)
    return found


def _records(journal: Path) -> Iterator[j.AnyRecord]:
    with open_plain(journal) as file:
        for line in BufferedReader(file):
            if line.endswith(b"\n") and any(kind in line[:_HEAD] for kind in _READ):
                yield record_in(line)


_RUNS = 20
"""How many of a folder's last runs to read."""
_UNREADABLE = (BenchError, OSError, ValueError)
_RESETS = {"snapshot": "copy"}
"""The name that a plan's steps have for a database's `reset`, if the two names differ."""


def timed_plan(plan: Plan, run_dir: Path) -> Plan:
    """Return a run's plan with the times that `bench plan` would have estimated from earlier runs in the same folder.

    A simulated run's plan is returned unchanged.
    """
    if is_simulated(run_dir):
        return plan
    history = learned_times(run_dir.parent, before=run_dir)
    return with_history(plan, history).plan if history else plan


def learned_times(out: Path, before: Path | None = None) -> dict[str, SeenStep]:
    """Return how long steps took in earlier runs, by the keys of `compiler/estimates/learned.py`. Each time is from the
    last run that had such a step.

    With `before`, only runs earlier than this one are read. A run that can't be read is ignored, because `bench status`
    reports the problem.
    """
    found: dict[str, SeenStep] = {}
    try:
        runs = list_real_runs(out)
    except _UNREADABLE:
        return found
    older = [run_dir for run_dir in runs if before is None or run_dir.name < before.name]
    for run_dir in reversed(older[-_RUNS:]):
        try:
            of_run = _of_run(run_dir)
        except _UNREADABLE:
            continue
        for key, seen in of_run.items():
            found.setdefault(key, seen)
    return found


class _Step(NamedTuple):
    seconds: float
    amount: float = 0.0


def _of_run(run_dir: Path) -> dict[str, SeenStep]:
    plan, taken = load_plan(run_dir), times_taken(run_dir)
    steps: dict[str, list[_Step]] = defaultdict(list)
    cells = {cell.id: cell for cell in plan.cells}
    for attempt in taken.attempts.values():
        cell = cells.get(attempt.cell)
        if cell is None or not attempt.whole or not _same_machines(plan, cell.locks, taken.hostnames):
            continue
        keys, spent = Keys.of(plan, cell), attempt.spent(cell)
        if attempt.loaded and "load" in attempt.steps:  # a load that ended is whole, whatever came after it
            steps[keys.load].append(_Step(spent["loading"], keys.amount))
        if not attempt.good:
            continue
        steps[keys.start_up].append(_Step(spent["start_up"]))
        if keys.steadied:
            steps[keys.steadied].append(_Step(spent["measuring"]))
        if spent["resets"]:
            how = _RESETS.get(reset := plan.databases[cell.database].reset, reset)
            planned_s = sum(step.seconds for step in cell.steps if step.reset == how)
            steps[keys.reset(how)].append(_Step(spent["resets"], keys.reset_amount(how, planned_s)))
    for report in plan.reports if _same_machines(plan, plan.hosts, taken.hostnames) else ():
        if report.name in taken.reports:
            steps[rendering_key(report.template)].append(_Step(taken.reports[report.name]))
    return {key: _median(each, run_dir.name) for key, each in steps.items()}


def _median(steps: list[_Step], run: str) -> SeenStep:
    """Return the median time of the steps with the largest amount of work."""
    amount = max(step.amount for step in steps)
    return SeenStep(median(step.seconds for step in steps if step.amount == amount), run, amount)


def _same_machines(plan: Plan, hosts: Iterable[str], hostnames: Mapping[str, str]) -> bool:
    """Return whether the `hosts` that were the controller's own machine during the run are this machine. A run's folder
    can be copied, so they may be another one."""
    for key in hosts:
        spec = TRANSPORT_SPECS.usable(plan.hosts[key].transport)
        if spec and spec.on_controller and hostnames.get(key) != socket.gethostname():
            return False
    return True


_Kind = tuple[str, str, str]
"""A database, a kind of step, and how that step restores the data."""


@dataclass
class Pace:
    """How many seconds steps have taken so far, compared with their estimates."""

    _planned: dict[_Kind, float] = field(default_factory=lambda: defaultdict(float))
    _took: dict[_Kind, float] = field(default_factory=lambda: defaultdict(float))
    _cells: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def begin(self, cell_id: str) -> None:
        """Begin a new attempt at a cell, and forget the steps of the previous attempt."""
        self._cells.pop(cell_id, None)

    def note(self, cell: Cell, kind: str, seconds: float) -> None:
        """Add a step that ended. A skipped step took 0 s, and has no effect on the estimates of other steps."""
        self._cells[cell.id] += seconds
        step = next((each for each in cell.steps if each.kind == kind), None)
        if step is not None and seconds and step.seconds:
            self._planned[_kind(cell, step)] += step.seconds
            self._took[_kind(cell, step)] += seconds

    def expected(self, cell: Cell) -> float:
        """Return the expected seconds of a cell without its cool-down, at the pace of its kinds of steps so far."""
        return sum(self._seconds(cell, step) for step in cell.steps if step.kind != "cool_down")

    def measuring(self, cell: Cell) -> float:
        """Return the expected seconds of a cell's warm-up and measurement, at the pace of such steps so far."""
        return sum(self._seconds(cell, step) for step in cell.steps if step.kind in ("warm_up", "measure"))

    def stepped(self, cell: Cell) -> float:
        """Return how many seconds the cell's ended steps took. If none has ended, return the estimate for all its
        steps."""
        return self._cells.get(cell.id) or self.expected(cell)

    def _seconds(self, cell: Cell, step: Step) -> float:
        kind = _kind(cell, step)
        planned = self._planned.get(kind)
        return step.seconds * self._took[kind] / planned if planned else step.seconds


def _kind(cell: Cell, step: Step) -> _Kind:
    return cell.database, step.kind, step.reset


def pace_of(plan: Plan, taken: TimesTaken) -> Pace:
    """Return the pace of a run, from the good attempts at its cells."""
    pace, cells = Pace(), {cell.id: cell for cell in plan.cells}
    for attempt in taken.attempts.values():
        if attempt.good and (cell := cells.get(attempt.cell)):
            pace.begin(cell.id)
            for kind, seconds in attempt.steps.items():
                if kind != "cool_down":
                    pace.note(cell, kind, seconds)
    return pace


class ActivityTimes(NamedTuple):
    """The estimated and the actual seconds of one activity."""

    activity: Activity
    estimated_s: float
    taken_s: float


@dataclass(frozen=True)
class TimeCompared:
    """A run's estimated and actual time. `wall_estimated_s` and `wall_taken_s` are from beginning to end.

    `in_all` and `experiments` add up the times of hosts, even if they worked at the same time. `runs` are the earlier
    runs that the estimate was learned from. `of_those_made` means that the estimate covers only the cells that were
    run, because a budget chose some of the planned repeats.
    """

    wall_estimated_s: float
    wall_taken_s: float
    in_all: tuple[ActivityTimes, ...]
    experiments: Mapping[str, tuple[ActivityTimes, ...]]
    runs: tuple[str, ...]
    of_those_made: bool = False

    def as_dict(self) -> dict[str, object]:
        return {
            "estimated_s": round(self.wall_estimated_s, 3),
            "taken_s": round(self.wall_taken_s, 3),
            "in_all": _as_dict(self.in_all),
            "experiments": {name: _as_dict(rows) for name, rows in self.experiments.items()},
            "learned_from": list(self.runs),
        }


def compare_times(run_dir: Path, plan: Plan) -> TimeCompared | None:
    """Compare a run's estimate with its time so far. Returns None if the run's journal has no estimate, or can't be
    read.

    The journal's estimate covers all repeats. If a budget chooses among the repeats, a new estimate is made for only
    the cells that were run, from the folder's earlier runs.
    """
    try:
        taken = times_taken(run_dir)
    except (OSError, ValueError):
        return None
    estimated = taken.estimated
    if estimated is None:
        return None
    spent, wall_s = taken.spent(plan), estimated.wall_s
    of_experiments: Mapping[str, Mapping[str, float]] = estimated.seconds
    budgeted = [name for name, each in plan.experiments.items() if name in of_experiments and is_budgeted(plan, each)]
    if budgeted:
        cells, ran = timed_plan(plan, run_dir).cells, {attempt.cell for attempt in taken.attempts.values()}
        made = plan.model_copy(update={"cells": alone(cells, ran)})
        again = time_spent(made).experiments
        of_made = {name: {str(activity): seconds for activity, seconds in again[name].items()} for name in budgeted}
        of_experiments = {**of_experiments, **of_made}
        wall_s = estimate(made.cells) + estimated.rendering_s
    experiments = {
        name: tuple(
            ActivityTimes(each, of.get(each, 0.0), spent[name][each] if name in spent else 0.0) for each in ACTIVITIES
        )
        for name, of in of_experiments.items()
    }
    rendered_s = sum(taken.reports.values())
    rendering = ActivityTimes("rendering", estimated.rendering_s, rendered_s)
    every = [*(row for rows in experiments.values() for row in rows), rendering]
    return TimeCompared(
        wall_s,
        taken.wall_s + rendered_s,
        tuple(_sum(activity, every) for activity in ACTIVITIES),
        experiments,
        estimated.runs,
        bool(budgeted),
    )


def _sum(activity: Activity, rows: list[ActivityTimes]) -> ActivityTimes:
    mine = [row for row in rows if row.activity == activity]
    return ActivityTimes(activity, sum(row.estimated_s for row in mine), sum(row.taken_s for row in mine))


def _as_dict(rows: tuple[ActivityTimes, ...]) -> dict[str, dict[str, float]]:
    return {row.activity: {"estimated_s": round(row.estimated_s, 3), "taken_s": round(row.taken_s, 3)} for row in rows}
