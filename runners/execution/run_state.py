"""The state of one execution of a run, shared by its lanes, and how the execution ended."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import field
from pathlib import Path
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.message import Message
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import Left, LeftBehind, RunRecord
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.execution.retries import FirstFailures, NotTried
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.scheduling.budgeted_repeats import Budgets, ReadTables
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.knee_search import Searches
from benchbrief.runners.scheduling.parallel_lanes import LaneWorkers, MeasuringTurns
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from benchbrief.runners.scheduling.promise_search import PromiseSearches
from benchbrief.runners.world.unsupported import Tools
from benchbrief.runners.world.world_seams import Meter, World


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `failed` has each failed cell with its reason, and `without_room` has the cells for which no
    budget had room."""

    status: Literal["done", "failed", "interrupted"]
    message: str
    failed: tuple[tuple[str, str], ...]
    without_room: tuple[tuple[str, str], ...] = ()


def all_done(plan: Plan, record: RunRecord, reused: int = 0) -> Message:
    """Return the last line of output for a run without failures. Candidates that were not chosen are not counted."""
    planned = planned_cells(plan, record.not_chosen)
    said = say.cells(n=planned)
    if reused:
        said = say.cells_reused(said=said, n=reused) if reused < planned else say.cells_all_reused(said=said)
    said = say.cells_skipped(said=said, n=record.skipped) if record.skipped else said
    said = say.cells_refused(said=said, n=record.refused) if record.refused else said
    return say.cells_unrepeated(said=said, n=record.unrepeated) if record.unrepeated else said


def what_is_missing(plan: Plan, record: RunRecord, failed: int, short: int) -> Message:
    """Return the sentence about a run's missing cells: how many have `failed`, and for how many (`short`) no budget had
    room."""
    n = planned_cells(plan, record.not_chosen)
    no_room = say.cells_without_room(short=short, n=n)
    if not failed:
        return no_room
    said = say.cells_failed(failed=failed, n=n)
    return say.both(first=said, then=no_room) if short else said


@dataclass(frozen=True)
class Ending:
    """A flag that is set when nothing new may begin, because the run must stop or a failure has ended it."""

    run: RunState

    def is_set(self) -> bool:
        return self.run.stopping.is_set() or bool(self.run.halted_by)


@dataclass
class RunState:
    """The state of one execution. Lanes change it only while they hold the lock.

    `record` is the content of the journal, and is extended by each record that is written. `last_alive` is when an
    earlier controller last showed a sign of life beside its journal, by the controller's clock.
    """

    plan: Plan
    run_dir: Path
    world: World
    journal: Journal
    record: RunRecord
    stopping: threading.Event
    monitor: Monitor
    last_alive: float = 0.0
    resumed: bool = field(init=False)
    done: set[str] = field(init=False)
    """The cells that were good or not needed before this execution."""
    ahead: list[Cell] = field(init=False)
    """The cells that are not in `done`."""
    earlier: LeftBehind = field(init=False)
    """Everything that an earlier controller may have left on the run's hosts."""
    left: Mapping[str, Left] = field(default_factory=dict)
    """The earlier controller's attempts that this execution resumes, by cell."""
    warm: Mapping[str, int] = field(init=False)
    """The earlier controller's attempts that were not followed by a cool-down, in order."""
    tools_before: Mapping[tuple[str, str], set[str]] = field(init=False)
    """Where the earlier controller found tools, by host and driver."""
    tools: Tools = field(init=False)
    """The load generators that were found before the first cell."""
    searches: Searches = field(init=False)
    repeats: RepeatsUntil = field(init=False)
    budgets: Budgets = field(init=False)
    ramps: AdaptiveRamps = field(init=False)
    promises: PromiseSearches = field(init=False)
    failed: list[tuple[str, str]] = field(default_factory=list)
    without_room: list[tuple[str, str]] = field(default_factory=list)
    """The cells of points for which a budget had no room, each with the reason."""
    fatal: list[RunnerError] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    """The cells that have a final verdict in this execution, and those that were not needed."""
    claimed: list[str] = field(default_factory=list)
    """The hosts that a lane claimed, or claimed again."""
    silent_meters: dict[Meter, RunnerError] = field(default_factory=dict)
    """The power meters that did not answer when they were last tried."""
    first_failures: FirstFailures = field(init=False)
    turns: MeasuringTurns = field(init=False)
    workers: LaneWorkers = field(init=False)
    halted_by: str = ""
    """The cell whose failure ends the run, because its experiment says `on_failure = stop`."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        # A journal may begin with results of earlier runs, before its first start.
        self.resumed = bool(self.record.starts)
        self.done = self.record.finished(self.plan)
        self.ahead = [cell for cell in self.plan.cells if cell.id not in self.done]
        self.earlier = self.record.left_behind
        self.warm = dict(self.record.warm) if self.resumed else {}
        self.tools_before = deepcopy(self.record.tool_paths)
        self.workers = LaneWorkers(self.world.at_once)
        self.resume_turns({})
        self.first_failures = FirstFailures(self.plan.cells, (cell for cell in self.plan.cells if cell.id in self.done))

    def begin_deciding(self, tools: Tools, read_tables: ReadTables) -> None:
        """Create the objects that choose cells during the run. They may write to the journal, so this must be called
        after this execution's start is in it."""
        plan, record, write = self.plan, self.record, self.journal.write
        self.tools = tools
        self.searches = Searches(plan, record, self.done, write)
        self.repeats = RepeatsUntil(plan, record, self.done, write)
        simulated = self.world.simulated is not None
        self.budgets = Budgets(plan, record, write, simulated=simulated, read_tables=read_tables)
        self.ramps = AdaptiveRamps(plan, record, write)
        self.promises = PromiseSearches(plan, record, write)

    def resume_turns(self, left: Mapping[str, Left]) -> None:
        """Take over the turns of attempts that an earlier controller left unfinished. Must be called before any lane
        works."""
        self.left = left
        self.turns = MeasuringTurns(self.plan.cells, left, self.workers.waiting)

    @property
    def ending(self) -> Ending:
        return Ending(self)

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell need not be measured, or "" if it must be."""
        deciders = (self.searches, self.ramps, self.promises, self.repeats, self.budgets)
        return next((why for decider in deciders if (why := decider.not_needed(cell))), "")

    def taken_over(self, cell: Cell) -> None:
        """Note that a resumed attempt at this cell has a verdict."""
        self.ramps.taken_over(cell)
        self.promises.taken_over(cell)

    def begin(self, cell: Cell) -> None:
        with self.lock:
            self.begun.add(cell.id)

    def remark(
        self,
        severity: Literal["info", "warning"],
        text: str,
        origin: str = "",
        cell: str | None = None,
        *,
        passing: bool = False,
    ) -> None:
        self.journal.write(j.Remark(at=now(), severity=severity, text=text, origin=origin, cell=cell, passing=passing))

    def fail(self, cell: Cell, error: RunnerError) -> None:
        reason, on_failure = error.one_line, self.plan.experiments[cell.experiment].on_failure
        if on_failure != "try_all":
            self.first_failures.failed(cell, error, reason)
        with self.lock:
            self.failed.append((cell.id, reason))
            if on_failure == "stop":
                self.halted_by = self.halted_by or cell.id

    def left_out(self, cell: Cell, reason: str, no_room: j.NoRoom) -> None:
        with self.lock:
            self.judged.add(cell.id)
            if no_room == "point":
                self.without_room.append((cell.id, reason))

    def why_not_tried(self, cell: Cell) -> NotTried | None:
        """Return why a cell is not tried: it would fail like the first cells of its workload. Return None if it must be
        tried."""
        try_all = self.plan.experiments[cell.experiment].on_failure == "try_all"
        return None if try_all else self.first_failures.why_not(cell)

    def outcome(self) -> Outcome:
        failed, short = tuple(self.failed), tuple(self.without_room)
        if self.fatal:
            return Outcome("interrupted", self.fatal[0].one_line, failed, short)
        if self.stopping.is_set() and not self._is_whole():
            return Outcome("interrupted", say.stopped_before_all(), failed, short)
        if self.halted_by:
            n = planned_cells(self.plan, self.record.not_chosen)
            left = min(n, len(self.plan.cells) - len(self.done | self.begun))
            text = say.halted(cell=self.halted_by, left=left, n=n, failed=len(failed))
            return Outcome("failed", text, failed, short)
        if failed or short:
            text = what_is_missing(self.plan, self.record, len(failed), len(short))
            return Outcome("failed", text, failed, short)
        if not self._is_whole():
            return Outcome("interrupted", say.stopped_before_all(), failed, short)
        return Outcome("done", all_done(self.plan, self.record, len(self.record.reused)), ())

    def _is_whole(self) -> bool:
        """Return whether each cell is done, judged or not needed."""
        known = self.done | self.judged
        return all(cell.id in known for cell in self.plan.cells)

    def stop_all(self, error: RunnerError) -> None:
        with self.lock:
            self.fatal.append(error)
        self.stopping.set()
