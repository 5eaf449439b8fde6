"""What a run's journal says of one cell: its attempts, verdicts and time, and how far an interrupted attempt got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from benchbrief.model import events as j
from benchbrief.model.events import Place
from benchbrief.model.plan import StepKind
from benchbrief.model.text import Text

KINDS: tuple[StepKind, ...] = ("prepare", "load", "warm_up", "measure", "collect")
"""The steps of a cell in their order."""

TURN = "wait_for_turn"
"""A step beside those of the plan: the data set is there, and another hardware group is measured."""

Kept = j.JobCollected | j.Counters | j.ClockRead | j.DatabaseSize | j.EventRan | j.MeasuringEnded
"""An attempt's records that may be large. Readers find them again by their places in the journal."""
Progressed = j.StepStarted | j.StepEnded | j.CounterReading | Kept
"""An attempt's records that say how far it got."""


def is_candidate_left_out(reason: str | None) -> bool:
    """Return whether a cell was skipped as that of a candidate that its adaptive ramp or search did not choose."""
    return isinstance(reason, Text) and reason.code in ("point_not_needed", "rate_not_needed", "rate_unanswered")


def is_refused(reason: str | None) -> bool:
    """Return whether a cell of a search failed, as its numbers were refused, and the search goes on by that."""
    return isinstance(reason, Text) and reason.code in ("rate_refused", "rate_broken")


class Started(NamedTuple):
    """The start of an attempt, with the threads and the target that a search has found for it.

    `nodes` are those that a scheduler had given until then, by the hosts that stand for them.
    """

    at: float
    threads: int | None
    target: float | None
    nodes: Mapping[str, str]


@dataclass(slots=True)
class CellHistory:
    """A cell's attempts and verdicts.

    `good` has the definitions of the cell, as hashes, for which it is good or not needed. `skipped` is the reason why
    it was not needed, or, with `no_room`, left out. `kept` has the places of each attempt's `Kept` records.
    """

    started: dict[int, Started] = field(default_factory=dict)
    ended: j.CellEnded | None = None
    skipped: str | None = None
    no_room: j.NoRoom = ""
    good: set[str] = field(default_factory=set)
    kept: dict[int, list[Place]] = field(default_factory=dict)
    step: str = ""
    """The last step that began."""

    @property
    def attempt(self) -> int:
        """Return the number of the last attempt that began; 0 before the first."""
        return max(self.started, default=0)

    def start(self, record: j.CellStarted, nodes: Mapping[str, str]) -> None:
        self.started[record.attempt] = Started(record.at, record.threads, record.target, nodes)

    def end(self, record: j.CellEnded) -> None:
        self.ended = record
        self.good = {record.hash} if record.status == "ok" else set()

    def skip(self, record: j.CellSkipped) -> None:
        self.skipped, self.no_room = record.reason, record.no_room
        if record.no_room != "point":
            self.good.add(record.hash)


@dataclass
class Left:
    """An attempt without a verdict: how far its controller got before it was killed or stopped.

    `start` is that of the controller that began it. `over` are the steps that ended, `collected` the outputs that were
    kept, by job and host, `readings` those of server counters, and `said` the texts of its remarks.
    """

    cell: str
    attempt: int
    start: j.RunStarted | None
    until: float = 0.0
    """The last sign of life of the last controller that drove it: its last record, or a later sign."""
    step: j.StepStarted | None = None
    """The step that began last."""
    over: set[str] = field(default_factory=set)
    collected: dict[tuple[str, str, str], j.JobCollected] = field(default_factory=dict)
    readings: list[j.CounterReading] = field(default_factory=list)
    counted: bool = False
    """Whether its counters have been summed up."""
    clocks: dict[str, j.ClockRead] = field(default_factory=dict)
    """The hosts' clocks before the measurement."""
    clocks_after: dict[str, j.ClockRead] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    events: list[j.EventRan] = field(default_factory=list)
    ended: bool = False
    """Whether the journal says how its measurement ended by itself."""

    @property
    def current(self) -> StepKind | None:
        """Return the step in progress; `collect` while there is no verdict on it. None between two other steps."""
        if self.step is None or self.step.step == TURN:
            return None
        if self.step.step not in self.over:
            return next(kind for kind in KINDS if kind == self.step.step)
        return "collect" if self.step.step in ("measure", "collect") else None

    def output(self, step: str, job: str, host: str) -> j.JobCollected | None:
        return self.collected.get((step, job, host))

    def add(self, record: Progressed) -> None:
        """Note a record of this attempt."""
        match record:
            case j.StepStarted():
                self.step = record
            case j.StepEnded():
                self.over.add(record.step)
            case j.JobCollected():
                self.collected[record.step, record.job, record.host] = record
            case j.CounterReading():
                self.readings.append(record)
            case j.Counters():
                self.counted = True
            case j.ClockRead():
                (self.clocks if record.when == "before" else self.clocks_after)[record.host] = record
            case j.EventRan():
                self.events.append(record)
            case j.MeasuringEnded():
                self.ended = True
            case j.DatabaseSize():
                pass


class ResetTook(NamedTuple):
    """The seconds of a cell's last step `load`, which brings back its data set: by a load, or in another way."""

    seconds: float
    loaded: bool
    skipped: bool


@dataclass
class Pauses:
    """The times between an interruption and a resume when no job ran: when each began and ended, by the controller's
    clock. Where a job went on without its controller is known only once its output is collected."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    _ahead_s: dict[str, float] = field(default_factory=dict)
    """By host, how far its clock was ahead when it was last read."""

    def read(self, clock: j.ClockRead) -> None:
        self._ahead_s[clock.host] = clock.offset_s

    def away(self, since: float, until: float) -> None:
        """Take a time without a controller for a pause, until a job proves to have run then."""
        if until > since:
            self.spans.append((since, until))

    def collected(self, job: j.JobCollected) -> None:
        """Take the time of a job out of the pauses, by its host's clock as last read. A probe does no work."""
        if job.job != job.step or not self.spans:
            return
        ahead_s = self._ahead_s.get(job.host, 0.0)
        began, ended = job.started_at - ahead_s, job.ended_at - ahead_s
        left = [part for start, end in self.spans for part in ((start, min(end, began)), (max(start, ended), end))]
        self.spans = [(start, end) for start, end in left if end > start]

    @property
    def seconds(self) -> float:
        return sum(end - start for start, end in self.spans)

    def within(self, began: float, ended: float) -> float:
        """Return how many seconds of a time were pauses."""
        return sum(max(0.0, min(end, ended) - max(start, began)) for start, end in self.spans)


@dataclass
class CellTimes:
    """How long each cell has taken so far, by the records: all its attempts, and its cool-downs.

    The time between two controllers of a run does not count, except for the rest of a step after a controller that
    wrote no end: what was begun on the hosts goes on there by itself. A controller that was asked to stop ends it. What
    comes before the first start was measured in another run, and does not count.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    resetting: dict[str, float] = field(default_factory=dict)
    """The part of `seconds` that the step `load` took."""
    waiting: dict[str, float] = field(default_factory=dict)
    """The part of `seconds` that the cell waited for its turn at measuring."""
    resets: dict[str, ResetTook] = field(default_factory=dict)
    choosing: dict[str, float] = field(default_factory=dict)
    """What it took to choose repeats for a budget, by the cell that was next then; no part of `seconds`."""
    _in_load: set[str] = field(default_factory=set)
    _in_wait: set[str] = field(default_factory=set)
    _loaded: set[str] = field(default_factory=set)
    _since: dict[str, float] = field(default_factory=dict)
    """Up to when the time of each running cell is counted."""
    _until: dict[str, float] = field(default_factory=dict)
    """When the step that each running cell is in should end."""
    _begun: bool = False

    def add(self, record: j.AnyRecord) -> None:
        if isinstance(record, j.RunStarted):
            self._begun = True
            for running in self._since:
                self._count(running, min(record.at, self._until.get(running, 0.0)))
            self._since.clear()
        if isinstance(record, j.RunEnded) and not record.gone:
            for running in self._since:
                self._count(running, record.at)
            self._since.clear()
        cell: str | None = getattr(record, "cell", None)
        if not self._begun or cell is None or isinstance(record, j.Remark | j.CellSkipped):
            return
        if isinstance(record, j.ExpectationsRead):
            self.choosing[cell] = self.choosing.get(cell, 0.0) + record.seconds
            return
        if isinstance(record, j.CellStarted | j.CellResumed) or cell not in self._since:
            self._since[cell] = record.at
        self._count(cell, record.at)
        # A controller that was killed writes no end of its wait.
        if isinstance(record, j.CellStarted | j.CellResumed | j.StepStarted):
            self._in_wait.discard(cell)
        match record:
            case j.CellStarted():
                self._in_load.discard(cell)
                self._loaded.discard(cell)
            case j.StepStarted():
                self._until[cell] = record.at + record.seconds
                if record.step == "load":
                    self._in_load.add(cell)
                elif record.step == TURN:
                    self._in_wait.add(cell)
            case j.JobCollected(step="load"):
                self._loaded.add(cell)
            case j.StepEnded(step="load"):
                self._in_load.discard(cell)
                self.resets[cell] = ResetTook(record.seconds, cell in self._loaded, bool(record.skipped))
            case j.StepEnded(step="wait_for_turn"):
                self._in_wait.discard(cell)
            case j.CellEnded() | j.StepEnded(step="cool_down"):
                self._since.pop(cell, None)
            case _:
                pass

    def _count(self, cell: str, until: float) -> None:
        since = self._since[cell]
        took = max(0.0, until - since)
        self.seconds[cell] = self.seconds.get(cell, 0.0) + took
        if cell in self._in_load:
            self.resetting[cell] = self.resetting.get(cell, 0.0) + took
        if cell in self._in_wait:
            self.waiting[cell] = self.waiting.get(cell, 0.0) + took
        self._since[cell] = max(since, until)
