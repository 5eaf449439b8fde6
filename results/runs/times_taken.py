"""What the time of a run was spent on, as its journal says: seconds by activity for each attempt at a cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from benchbrief.compiler.estimates.time_spent import ACTIVITIES, Activity
from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.cell_history import TURN, Pauses
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.line_sums import record_in
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
"""The records that tell of times. A journal has many others, which are not parsed."""
_HEAD = 80
"""The bytes at a line's beginning that hold its type."""


@dataclass
class Attempt:
    """One attempt at a cell. `steps` has the seconds of the steps that ended, `ends` when they ended, and `paused_s` is
    how long nothing of it ran as its controller was away. `whole`: one controller drove it."""

    cell: str
    started_at: float
    ended_at: float | None = None
    good: bool = False
    whole: bool = True
    loaded: bool = False
    """Whether its data set was loaded. Otherwise a step `load` brought the data back."""
    steps: dict[str, float] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    paused_s: float = 0.0
    lasted_s: float | None = None
    """How long it was measured, where that ended by itself."""

    def spent(self, cell: Cell) -> dict[Activity, float]:
        """Return the seconds of each activity.

        A tool that warms up and measures in one process has the warm-up in its step `measure`. What a tool takes
        beyond the declared times is its start-up.
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
        """Take the time of the pauses out of the steps and the whole."""
        for step, ended_at in self.ends.items():
            self.steps[step] -= pauses.within(ended_at - self.steps[step], ended_at)
        if self.ended_at is not None:
            self.paused_s = pauses.within(self.started_at, self.ended_at)


@dataclass
class TimesTaken:
    """The attempts of a run at its cells, without those that were reused from other runs.

    `hostnames` are what the hosts call themselves. `reports` has the seconds that each report took when it was first
    made, where they are known. `estimated` is what was expected when the run began. `wall_s` is the time that the run
    went on, without pauses: the times between an interruption and the resume in which no job ran.
    """

    attempts: dict[tuple[str, int], Attempt] = field(default_factory=dict)
    hostnames: dict[str, str] = field(default_factory=dict)
    reports: dict[str, float] = field(default_factory=dict)
    estimated: j.TimeEstimated | None = None
    wall_s: float = 0.0

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
    """Read a run's journal. Raises OSError, and ValueError for a line that is no record."""
    found = TimesTaken()
    reused: set[tuple[str, int]] = set()
    began = last_at = None
    pauses = Pauses()
    for record in _records(run_dir / JOURNAL):
        if isinstance(record, j.RunStarted):
            if began is not None and last_at is not None:  # what earlier runs measured stands before the first start
                pauses.away(last_at, record.at)
            began = record.at if began is None else began
        if not isinstance(record, j.ReportMade) and not (isinstance(record, j.RunEnded) and record.gone):
            last_at = record.at
        match record:
            case j.CellReused():
                reused.add((record.cell, record.attempt))
            case j.HostFacts():
                if name := record.facts.get("hostname"):
                    found.hostnames[record.host] = str(name)
            case j.CellStarted() if (record.cell, record.attempt) not in reused:
                found.attempts[record.cell, record.attempt] = Attempt(record.cell, record.at)
            case j.ClockRead():
                pauses.read(record)
            case j.TimeEstimated():
                found.estimated = record
            case j.ReportMade() if record.seconds is not None:
                found.reports.setdefault(record.report, record.seconds)
            case j.CellResumed() | j.StepEnded() | j.JobCollected() | j.MeasuringEnded() | j.CellEnded():
                if attempt := found.attempts.get((record.cell, record.attempt)):
                    _note(attempt, record)
                if isinstance(record, j.JobCollected):
                    pauses.collected(record)
            case _:
                pass
    if began is not None and last_at is not None:
        for attempt in found.attempts.values() if pauses.spans else ():
            attempt.leave_out(pauses)
        found.wall_s = last_at - began - pauses.seconds
    return found


def _note(
    attempt: Attempt, record: j.CellResumed | j.StepEnded | j.JobCollected | j.MeasuringEnded | j.CellEnded
) -> None:
    match record:
        case j.CellResumed():
            attempt.whole = False
        case j.StepEnded():
            attempt.steps[record.step] = 0.0 if record.skipped else record.seconds
            attempt.ends[record.step] = record.at
        case j.JobCollected():
            attempt.loaded = attempt.loaded or (record.step, record.job) == ("load", "load")
        case j.MeasuringEnded():
            attempt.lasted_s = record.lasted_s
        case j.CellEnded():
            attempt.ended_at, attempt.good = record.at, record.status == "ok"


def _records(journal: Path) -> Iterator[j.AnyRecord]:
    with open_plain(journal) as file:
        for line in BufferedReader(file):
            if line.endswith(b"\n") and any(kind in line[:_HEAD] for kind in _READ):
                yield record_in(line)
