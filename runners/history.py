"""What a run's journal says of its cells: which are done, and what an interrupted attempt had come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler.plan import StepKind
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import JOURNAL, each_record, read_journal


def finished_cells(run_dir: Path) -> set[str]:
    """Cells whose last verdict is good, and those not needed. Raises RunnerError when the journal can't be read."""
    done: set[str] = set()
    journal = run_dir / JOURNAL
    for _, record in each_record(journal) if journal.exists() else ():
        if isinstance(record, j.CellEnded):
            (done.add if record.status == "ok" else done.discard)(record.cell)
        elif isinstance(record, j.CellSkipped):
            done.add(record.cell)
    return done


def attempts_of(records: Sequence[j.AnyRecord]) -> dict[str, int]:
    """How many attempts each cell has had."""
    return {record.cell: record.attempt for record in records if isinstance(record, j.CellStarted)}


def tools_of(records: Iterable[j.AnyRecord]) -> dict[tuple[str, str], set[str]]:
    """Where tools were found, by host and driver."""
    found: dict[tuple[str, str], set[str]] = {}
    for record in records:
        if isinstance(record, j.ToolFound):
            found.setdefault((record.host, record.driver), set()).add(record.path)
    return found


def warm_of(records: Iterable[j.AnyRecord]) -> dict[str, int]:
    """The last attempt of each cell that no cool-down has followed, the last one last."""
    found: dict[str, int] = {}
    for record in records:
        if isinstance(record, j.CellStarted):
            found.pop(record.cell, None)
            found[record.cell] = record.attempt
        elif isinstance(record, j.CellReused) or (isinstance(record, j.StepEnded) and record.step == "cool_down"):
            found.pop(record.cell, None)
    return found


def records_of(run_dir: Path) -> list[j.AnyRecord]:
    journal = run_dir / JOURNAL
    return read_journal(journal) if journal.exists() else []


KINDS: tuple[StepKind, ...] = ("prepare", "load", "warm_up", "measure", "collect")
"""The steps of a cell in their order."""


@dataclass
class Left:
    """An attempt without a verdict: what its controller had come to when it was killed, or stopped.

    `measurement` is the `MEASUREMENT_VERSION` it began under. `over` are the steps that ended, `collected` the outputs
    that were kept, by job and host, `readings` those of server counters, `said` the texts of its remarks.
    """

    cell: str
    attempt: int
    measurement: int
    until: float = 0.0
    """When the controller that was the last to drive it gave its last sign of life: its last record, or a later one."""
    step: j.StepStarted | None = None
    """The step that began last."""
    over: set[str] = field(default_factory=set)
    collected: dict[tuple[str, str, str], j.JobCollected] = field(default_factory=dict)
    readings: list[j.CounterReading] = field(default_factory=list)
    counted: bool = False
    """Whether its counters have been summed up."""
    clocks: dict[str, j.ClockRead] = field(default_factory=dict)
    """The hosts' clocks as they were before the measurement."""
    said: set[str] = field(default_factory=set)

    @property
    def current(self) -> StepKind | None:
        """The step in progress; `collect` as long as there is no verdict of it. None: between two other steps."""
        if self.step is None:
            return None
        if self.step.step not in self.over:
            return next(kind for kind in KINDS if kind == self.step.step)
        return "collect" if self.step.step in ("measure", "collect") else None

    def output(self, step: str, job: str, host: str) -> j.JobCollected | None:
        return self.collected.get((step, job, host))


def left_of(records: Iterable[j.AnyRecord]) -> dict[str, Left]:
    """The attempts that have begun and have no verdict, by cell."""
    found: dict[str, Left] = {}
    measurement, last = 1, 0.0
    for record in records:
        match record:
            case j.RunStarted():
                measurement = record.measurement
            case j.CellStarted():
                found[record.cell] = Left(record.cell, record.attempt, measurement)
            case j.CellEnded() | j.CellSkipped():
                found.pop(record.cell, None)
            case j.StepStarted() | j.StepEnded() | j.JobCollected() | j.CounterReading() | j.Counters() | j.ClockRead():
                left = found.get(record.cell)
                if left is not None and left.attempt == record.attempt:
                    _note(left, record)
            case j.Remark() if record.cell in found:
                found[record.cell].said.add(record.text)
        last = record.at
    for left in found.values():
        left.until = last
    return found


def _note(
    left: Left,
    record: j.StepStarted | j.StepEnded | j.JobCollected | j.CounterReading | j.Counters | j.ClockRead,
) -> None:
    match record:
        case j.StepStarted():
            left.step = record
        case j.StepEnded():
            left.over.add(record.step)
        case j.JobCollected():
            left.collected[record.step, record.job, record.host] = record
        case j.CounterReading():
            left.readings.append(record)
        case j.Counters():
            left.counted = True
        case j.ClockRead() if record.when == "before":
            left.clocks[record.host] = record
