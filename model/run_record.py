"""The summary of a run's journal: the state of the run and its cells. Each further record updates it. A large fleet's
journal does not fit into memory, so only the positions of possibly large records are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import field, replace
from pathlib import Path
from typing import NamedTuple, Self

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import JournalPlace
from benchbrief.model.message import Message
from benchbrief.model.plan import Knee, Levels, Plan, StepKind
from benchbrief.model.points import Curve

KINDS: tuple[StepKind, ...] = ("prepare", "load", "warm_up", "measure", "collect")
"""The kinds of a cell's steps, in order."""

TURN = "wait_for_turn"
"""A step that no plan has: after loading its data set, the cell waits for its turn while another hardware group is
measured."""

Kept = j.JobCollected | j.Counters | j.ClockRead | j.DatabaseSize | j.EventRan | j.MeasuringEnded
"""Records of an attempt that may be large. Memory holds only their positions in the journal."""
Progressed = j.StepStarted | j.StepEnded | j.CounterReading | Kept
"""Records of an attempt that show how far it got."""


def is_candidate_left_out(reason: str | None) -> bool:
    """Return whether a cell was skipped because its adaptive ramp or search did not choose it."""
    return isinstance(reason, Message) and reason.code in ("point_not_needed", "rate_not_needed", "rate_unanswered")


def is_refused(reason: str | None) -> bool:
    """Return whether a search's cell failed because its numbers were refused, which the search takes as an answer."""
    return isinstance(reason, Message) and reason.code in ("rate_refused", "rate_broken")


class Started(NamedTuple):
    """The start of an attempt, with the threads and the target that a search had found for it.

    `nodes` maps each host to the node that a scheduler had assigned by then.
    """

    at: float
    threads: int | None
    target: float | None
    nodes: Mapping[str, str]


@dataclass(slots=True)
class CellHistory:
    """A cell's attempts and verdicts.

    `good` has the hashes of the definitions for which the cell is good or not needed. `skipped` is the reason why the
    cell was not needed or, if there was `no_room`, why it was left out. `kept` has the positions of each attempt's
    `Kept` records.
    """

    started: dict[int, Started] = field(default_factory=dict)
    ended: j.CellEnded | None = None
    skipped: str | None = None
    no_room: j.NoRoom = ""
    good: set[str] = field(default_factory=set)
    kept: dict[int, list[JournalPlace]] = field(default_factory=dict)
    step: str = ""
    """The last step that started."""

    @property
    def attempt(self) -> int:
        """Return the number of the last attempt that started, or 0 if none has started."""
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
    """An attempt without a verdict, and how far its controller got before it was killed or stopped.

    `start` is the record that the controller wrote when it started. `over` has the steps that have ended. `collected`
    has the stored outputs, by job and host. `readings` has the readings of server counters, and `said` has the texts of
    the attempt's remarks.
    """

    cell: str
    attempt: int
    start: j.RunStarted | None
    until: float = 0.0
    """The last sign of life of the last controller that drove the attempt: its last record, or a later sign."""
    step: j.StepStarted | None = None
    """The step that was started last."""
    over: set[str] = field(default_factory=set)
    collected: dict[tuple[str, str, str], j.JobCollected] = field(default_factory=dict)
    readings: list[j.CounterReading] = field(default_factory=list)
    counted: bool = False
    """Whether the attempt's server counters have been summed up."""
    clocks: dict[str, j.ClockRead] = field(default_factory=dict)
    """The readings of the hosts' clocks before the measurement."""
    clocks_after: dict[str, j.ClockRead] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    events: list[j.EventRan] = field(default_factory=list)
    ended: bool = False
    """Whether the journal has the end of a measurement that ends by itself."""

    @property
    def current(self) -> StepKind | None:
        """Return the step in progress, or None between two steps. Between the end of the measurement and the verdict,
        it is `collect`."""
        if self.step is None or self.step.step == TURN:
            return None
        if self.step.step not in self.over:
            return next(kind for kind in KINDS if kind == self.step.step)
        return "collect" if self.step.step in ("measure", "collect") else None

    def output(self, step: str, job: str, host: str) -> j.JobCollected | None:
        return self.collected.get((step, job, host))

    def add(self, record: Progressed) -> None:
        """Process a record of this attempt."""
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
    """The duration of a cell's last step `load`, which restores its data set by loading it or in another way."""

    seconds: float
    loaded: bool
    skipped: bool


@dataclass
class Pauses:
    """The periods between an interruption and a resume in which no job ran, by the controller's clock. Whether a job
    continued without its controller is known only after its output is collected."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    _ahead_s: dict[str, float] = field(default_factory=dict)
    """How far each host's clock was ahead of the controller's when it was last read."""

    def read(self, clock: j.ClockRead) -> None:
        self._ahead_s[clock.host] = clock.offset_s

    def away(self, since: float, until: float) -> None:
        """Count a period without a controller as a pause. `collected` later subtracts any time in which a job ran."""
        if until > since:
            self.spans.append((since, until))

    def collected(self, job: j.JobCollected) -> None:
        """Subtract a job's time from the pauses, by the last reading of its host's clock. Probes do not count, since
        they do no work."""
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
        """Return how many seconds of a period were pauses."""
        return sum(max(0.0, min(end, ended) - max(start, began)) for start, end in self.spans)


@dataclass
class CellTimes:
    """The time that each cell has taken so far, according to the records, including all its attempts and cool-downs.

    Time between two controllers of a run does not count, with one exception: if the earlier controller wrote no end,
    the rest of its step counts, because work on the hosts continues by itself. A controller that is asked to stop ends
    that work. Records before the first start come from another run, and do not count.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    resetting: dict[str, float] = field(default_factory=dict)
    """The part of `seconds` that the step `load` took."""
    waiting: dict[str, float] = field(default_factory=dict)
    """The part of `seconds` that the cell spent waiting for its turn to be measured."""
    resets: dict[str, ResetTook] = field(default_factory=dict)
    choosing: dict[str, float] = field(default_factory=dict)
    """The seconds that a budget took to choose a repeat, by the cell that it chose. They are not part of `seconds`."""
    _step: dict[str, str] = field(default_factory=dict)
    """The current step of each running cell."""
    _loaded: set[str] = field(default_factory=set)
    _since: dict[str, float] = field(default_factory=dict)
    """The time up to which each running cell's seconds have been counted."""
    _until: dict[str, float] = field(default_factory=dict)
    """When each running cell's current step should end."""
    _begun: bool = False

    def add(self, record: j.AnyRecord) -> None:
        match record:
            case j.RunStarted():
                self._begun = True
                self._leave_running(lambda cell: min(record.at, self._until.get(cell, 0.0)))
            case j.RunEnded():
                if not record.gone:
                    self._leave_running(lambda _: record.at)
            case j.ExpectationsRead() if self._begun:
                self.choosing[record.cell] = self.choosing.get(record.cell, 0.0) + record.seconds
            case j.CellStarted() | j.CellResumed() | j.CellReused() | j.CellEnded() if self._begun:
                self._add_to_cell(record)
            case _ if self._begun and isinstance(record, Progressed):
                self._add_to_cell(record)

    def _add_to_cell(self, record: j.CellStarted | j.CellResumed | j.CellReused | j.CellEnded | Progressed) -> None:
        cell = record.cell
        if isinstance(record, j.CellStarted | j.CellResumed) or cell not in self._since:
            self._since[cell] = record.at
        self._count(cell, record.at)
        match record:
            case j.CellStarted():
                self._step.pop(cell, None)
                self._loaded.discard(cell)
            case j.CellResumed() if self._step.get(cell) == TURN:
                del self._step[cell]  # a controller that was killed did not record the end of the wait
            case j.StepStarted():
                self._until[cell] = record.at + record.seconds
                self._step[cell] = record.step
            case j.JobCollected(step="load"):
                self._loaded.add(cell)
            case j.StepEnded():
                self._step.pop(cell, None)
                if record.step == "load":
                    self.resets[cell] = ResetTook(record.seconds, cell in self._loaded, bool(record.skipped))
                elif record.step == "cool_down":
                    self._since.pop(cell, None)
            case j.CellEnded():
                self._since.pop(cell, None)

    def _leave_running(self, until: Callable[[str], float]) -> None:
        for cell in self._since:
            self._count(cell, until(cell))
        self._since.clear()

    def _count(self, cell: str, until: float) -> None:
        since = self._since[cell]
        took = max(0.0, until - since)
        self._since[cell] = max(since, until)
        self.seconds[cell] = self.seconds.get(cell, 0.0) + took
        step = self._step.get(cell)
        part = {"load": self.resetting, TURN: self.waiting}.get(step or "")
        if part is not None:
            part[cell] = part.get(cell, 0.0) + took


_OF_PLACE = re.compile(r"(?:filesystem|device|disks|mount|free space) of (.+)")


def merge_facts(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """Return the later facts, together with earlier facts of places that were not checked again. Facts have the names
    that `host_facts.py` gives them.

    A run checks only the places of the cells that it has yet to measure. A resumed run, or one with reused results, has
    measured at other places, too.
    """
    again = {found[1] for name in later if (found := _OF_PLACE.fullmatch(name))}
    kept = {
        name: value for name, value in earlier.items() if (found := _OF_PLACE.fullmatch(name)) and found[1] not in again
    }
    if not kept:
        return dict(later)
    disks = {f"disk {disk}" for name, value in kept.items() if name.startswith("disks of ") for disk in value.split()}
    kept = {name: value for name, value in earlier.items() if name in disks} | kept
    facts = {name: value for name, value in (kept | dict(later)).items() if name != "filesystem"}
    types = {value for name, value in facts.items() if name.startswith("filesystem of ")}
    return facts | ({"filesystem": types.pop()} if len(types) == 1 else {})


NOWHERE = JournalPlace(Path(), 0, 0)
"""The position of a record that is not in a file."""


@dataclass(frozen=True)
class LeftBehind:
    """What the last controller of a run may have left on its hosts.

    `attempts` are those without a verdict. `engines` are the databases whose facts that controller read, and `resumed`
    are the cells that it took over from an earlier controller.
    """

    attempts: tuple[Left, ...] = ()
    engines: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()


@dataclass
class RunRecord:
    """The contents of a run's journal. Each further record updates it.

    `hosts` and `engines` have the last facts of each host and engine; a host's facts are kept by place. `tools` has the
    last tool that was found for each host and driver, and `tool_paths` has all places where one was found. `remarks`
    has the remarks on each cell's last attempt, in order of time; remarks on the run itself are under None. `warm` has
    the last attempts that have not been followed by a cool-down, in order. `pauses` are the periods in which nothing
    ran, `last_at` is the time of the last record, and `size` is how many bytes of the journal were read.
    """

    starts: list[j.RunStarted] = field(default_factory=list)
    end: j.RunEnded | None = None
    """The last verdict on the run, unless the run was resumed after it."""
    cells: dict[str, CellHistory] = field(default_factory=dict)
    given: list[j.HostsGiven] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    """The node that was last assigned to each host."""
    hosts: dict[str, j.HostFacts] = field(default_factory=dict)
    engines: dict[str, j.EngineFacts] = field(default_factory=dict)
    tools: dict[tuple[str, str], j.ToolFound] = field(default_factory=dict)
    tool_paths: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    remarks: dict[str | None, list[j.Remark]] = field(default_factory=dict)
    reused: dict[str, j.CellReused] = field(default_factory=dict)
    searches: dict[Knee, j.SearchEnded] = field(default_factory=dict)
    choices: dict[tuple[str, tuple[str, ...], str, Levels], dict[float, j.PointChosen]] = field(default_factory=dict)
    """The points that each ramp or search chose, in order, by experiment, hardware, workload and levels."""
    chosen: set[tuple[tuple[str, tuple[str, ...], str, Levels], float, str]] = field(default_factory=set)
    """Each choice of a ramp or search: its point, and the code of its reason. A search chooses one point for several
    curves."""
    estimated: j.TimeEstimated | None = None
    """The time that the run was expected to take when it started."""
    promises: dict[Knee, j.PromiseEnded] = field(default_factory=dict)
    """The result of each search for a promise."""
    held_out: dict[str, j.HeldOutBegan] = field(default_factory=dict)
    """For each claim, the last record of measuring its extreme again."""
    published: list[j.PublishedValue] = field(default_factory=list)
    warm: dict[str, int] = field(default_factory=dict)
    retried: set[str] = field(default_factory=set)
    """The cells that were tried again after a failed attempt. An interrupted attempt does not count."""
    times: CellTimes = field(default_factory=CellTimes)
    pauses: Pauses = field(default_factory=Pauses)
    last_at: float | None = None
    size: int = 0
    _failed: set[str] = field(default_factory=set)
    _left: dict[str, Left] = field(default_factory=dict)
    _engines_now: set[str] = field(default_factory=set)
    _resumed_now: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, records: Iterable[j.AnyRecord]) -> Self:
        found = cls()
        for record in records:
            found.add(NOWHERE, record)
        return found

    @property
    def knees(self) -> dict[Knee, float | None]:
        """Return the result of each finished search."""
        return {search: record.knee for search, record in self.searches.items()}

    @property
    def skipped(self) -> int:
        """Return how many cells were not needed. Candidates that adaptive ramps and searches did not choose are not
        counted."""
        skipped = (each.skipped for each in self.cells.values() if each.skipped is not None and not each.no_room)
        return sum(not is_candidate_left_out(reason) and not is_refused(reason) for reason in skipped)

    @property
    def refused(self) -> int:
        """Return how many cells of searches failed because their numbers were refused."""
        return sum(is_refused(each.skipped) for each in self.cells.values())

    @property
    def not_chosen(self) -> set[str]:
        """Return the cells of candidates that adaptive ramps and searches did not choose."""
        return {name for name, each in self.cells.items() if is_candidate_left_out(each.skipped)}

    @property
    def unrepeated(self) -> int:
        """Return how many repeats did not fit in a budget."""
        return sum(each.skipped is not None and each.no_room == "repeat" for each in self.cells.values())

    @property
    def left_behind(self) -> LeftBehind:
        """Return what the last controller may have left on its hosts."""
        left = tuple(replace(deepcopy(each), until=self.last_at or 0.0) for each in self._left.values())
        return LeftBehind(left, frozenset(self._engines_now), frozenset(self._resumed_now))

    def finished(self, plan: Plan) -> set[str]:
        """Return the ids of the plan's cells that need no further attempt: cells with a good last verdict, and cells
        that are not needed. A verdict counts only if the cell's definition has not changed since."""
        return {cell.id for cell in plan.cells if cell.id in self.cells and cell.hash in self.cells[cell.id].good}

    def elapsed_s(self, until: float) -> float:
        """Return how many seconds the run has taken, without its pauses."""
        return until - self.starts[0].at - self.pauses.seconds if self.starts else 0.0

    def add(self, place: JournalPlace, record: j.AnyRecord) -> None:
        """Process a record. Each kind of record that matters here has a method, such as `_on_cell_ended`."""
        self.times.add(record)
        if isinstance(record, Kept):
            self._history(record.cell).kept.setdefault(record.attempt, []).append(place)
        if isinstance(record, Progressed):
            left = self._left.get(record.cell)
            if left is not None and left.attempt == record.attempt:
                left.add(record)
        if handler := getattr(self, f"_on_{record.type}", None):
            handler(record)
        if not isinstance(record, j.ReportMade) and not (isinstance(record, j.RunEnded) and record.gone):
            self.last_at = record.at
        self.size = max(self.size, place.at + place.length)

    def _on_run_started(self, record: j.RunStarted) -> None:
        if self.starts and self.last_at is not None:
            self.pauses.away(self.last_at, record.at)
        self.starts.append(record)
        self.end = None
        self.remarks[None] = [remark for remark in self.remarks.get(None, ()) if not remark.passing]
        self._engines_now.clear()
        self._resumed_now.clear()

    def _on_run_ended(self, record: j.RunEnded) -> None:
        self.end = record

    def _on_cell_started(self, record: j.CellStarted) -> None:
        cell = record.cell
        self._history(cell).start(record, self.nodes)
        self.remarks.pop(cell, None)
        if cell in self._failed:
            self.retried.add(cell)
        self.warm.pop(cell, None)
        self.warm[cell] = record.attempt
        self._left[cell] = Left(cell, record.attempt, self.starts[-1] if self.starts else None)

    def _on_cell_reused(self, record: j.CellReused) -> None:
        self.reused[record.cell] = record
        self.warm.pop(record.cell, None)

    def _on_cell_resumed(self, record: j.CellResumed) -> None:
        self._resumed_now.add(record.cell)

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        self._history(record.cell).end(record)
        if record.status == "failed":
            self._failed.add(record.cell)
        self._left.pop(record.cell, None)

    def _on_cell_skipped(self, record: j.CellSkipped) -> None:
        self._history(record.cell).skip(record)
        self._left.pop(record.cell, None)

    def _on_step_started(self, record: j.StepStarted) -> None:
        self._history(record.cell).step = record.step

    def _on_step_ended(self, record: j.StepEnded) -> None:
        if record.step == "cool_down":
            self.warm.pop(record.cell, None)

    def _on_job_collected(self, record: j.JobCollected) -> None:
        self.pauses.collected(record)

    def _on_clock_read(self, record: j.ClockRead) -> None:
        self.pauses.read(record)

    def _on_remark(self, record: j.Remark) -> None:
        self.remarks.setdefault(record.cell, []).append(record)
        if record.cell in self._left:
            self._left[record.cell].said.add(record.text)

    def _on_hosts_given(self, record: j.HostsGiven) -> None:
        self.given.append(record)
        self.nodes = {**self.nodes, **record.nodes}

    def _on_host_facts(self, record: j.HostFacts) -> None:
        before = self.hosts.get(record.host)
        facts = merge_facts(before.facts, record.facts) if before else record.facts
        self.hosts[record.host] = record.model_copy(update={"facts": facts})

    def _on_engine_facts(self, record: j.EngineFacts) -> None:
        self.engines[record.database] = record
        self._engines_now.add(record.database)

    def _on_tool_found(self, record: j.ToolFound) -> None:
        self.tools[record.host, record.driver] = record
        self.tool_paths.setdefault((record.host, record.driver), set()).add(record.path)

    def _on_search_ended(self, record: j.SearchEnded) -> None:
        self.searches[_search_of(record)] = record

    def _on_promise_ended(self, record: j.PromiseEnded) -> None:
        self.promises[_search_of(record)] = record

    def _on_held_out_began(self, record: j.HeldOutBegan) -> None:
        self.held_out[record.claim] = record
        self.end = None

    def _on_point_chosen(self, record: j.PointChosen) -> None:
        self.choices.setdefault(record.ramp, {}).setdefault(record.point, record)
        why = record.why.code if isinstance(record.why, Message) else record.why
        self.chosen.add((record.ramp, record.point, why))

    def _on_time_estimated(self, record: j.TimeEstimated) -> None:
        self.estimated = record

    def _on_published_value(self, record: j.PublishedValue) -> None:
        self.published.append(record)

    def _history(self, cell: str) -> CellHistory:
        return self.cells.setdefault(cell, CellHistory())


def _search_of(record: j.SearchEnded | j.PromiseEnded) -> Knee:
    return Knee(**Curve.of(record)._asdict())
