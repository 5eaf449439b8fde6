"""The state of one execution, which its lanes share, and how it ended."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from benchbrief.model.cell_history import Left, is_candidate_left_out, is_refused
from benchbrief.model.events import NoRoom
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.run_messages import say
from benchbrief.model.text import Text, mapped
from benchbrief.runners.errors import HostError, RunnerError
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.hosts.tool_discovery import Found
from benchbrief.runners.journal.journal_writer import Journal
from benchbrief.runners.journal.run_folder import cell_directory
from benchbrief.runners.scheduling.budgeted_repeats import Budgets
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.knee_search import Searches
from benchbrief.runners.scheduling.measuring_turns import MeasuringTurns
from benchbrief.runners.scheduling.parallel_lanes import LaneWorkers
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from benchbrief.runners.scheduling.promise_search import PromiseSearches
from benchbrief.runners.world_seams import Meter, World

ALIKE = 3
"""So many cells, and so many points where there are as many, do not fail alike by chance."""


class NotTried(RunnerError):
    """A cell is not tried, as those of its workload before it on its hardware all failed for one reason."""

    code = "not_tried"


class _Point(NamedTuple):
    """The load of a cell: its threads, and the operations per second that it offers (infinite: as fast as it can)."""

    threads: float
    target: float

    @classmethod
    def of(cls, cell: Cell) -> _Point:
        target = cell.target if cell.target is not None else math.inf
        return cls(cell.threads or 0, target)

    def is_within(self, other: _Point) -> bool:
        """Return whether this load is nowhere above the other."""
        return self.threads <= other.threads and self.target <= other.target


@dataclass
class _Failures:
    reason: str
    shape: Hashable
    by_plan: bool
    by_host: bool
    cells: int = 0
    points: set[_Point] = field(default_factory=set)


class FirstFailures:
    """The failures of each workload on each hardware whose first cells there all fail for one reason."""

    def __init__(self, planned: Iterable[Cell], done: Iterable[Cell]) -> None:
        self._planned: dict[Hashable, set[_Point]] = {}
        for cell in planned:
            self._planned.setdefault(_place(cell), set()).add(_Point.of(cell))
        self._over = {_place(cell) for cell in done}
        """Where a cell was good, or where cells failed for several reasons."""
        self._failures: dict[Hashable, _Failures] = {}
        self._lock = threading.Lock()

    def good(self, cell: Cell) -> None:
        with self._lock:
            self._over.add(_place(cell))

    def failed(self, cell: Cell, error: RunnerError, reason: str) -> None:
        """Count a cell that failed for good. A lost host says nothing about others, and is waited for elsewhere."""
        if isinstance(error, HostError | NotTried):
            return
        shape = shape_of_failure(cell.id, reason)
        with self._lock:
            known = self._failures.setdefault(_place(cell), _Failures(reason, shape, error.by_plan, error.by_host))
            known.cells += 1
            known.points.add(_Point.of(cell))
            if shape != known.shape:
                self._over.add(_place(cell))

    def why_not(self, cell: Cell) -> NotTried | None:
        """Return an error when the first cells of its workload on its hardware failed alike, one with no more load."""
        place, load = _place(cell), _Point.of(cell)
        with self._lock:
            known = self._failures.get(place)
            if known is None or known.cells < ALIKE or place in self._over:
                return None
            few = len(known.points) < min(ALIKE, len(self._planned.get(place, ())))
            if few or not any(point.is_within(load) for point in known.points):
                return None
            error = NotTried(say.not_tried(n=ALIKE, said=known.reason))
            error.by_plan, error.by_host = known.by_plan, known.by_host
        return error


def _place(cell: Cell) -> Hashable:
    return cell.experiment, cell.hardware, cell.workload


def shape_of_failure(cell: str, reason: str) -> Hashable:
    """Return what a cell's reason has in common with others that differ in their numbers and the cell's name only."""
    folder = cell_directory(cell, 1).parent.name
    common = mapped(reason, lambda text: text.replace(cell, "@").replace(folder, "@"))
    return common.shape if isinstance(common, Text) else common


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `failed` pairs each failed cell with its reason, `without_room` each that no budget had room
    for."""

    status: Literal["done", "failed", "interrupted"]
    message: str
    failed: tuple[tuple[str, str], ...]
    without_room: tuple[tuple[str, str], ...] = ()


def one_line(error: RunnerError) -> str:
    """Return the message and its hint as one sentence, without line ends."""
    said = say.hinted(said=error.message, hint=error.hint) if error.hint else error.message
    return mapped(said, lambda text: " ".join(text.split()))


def all_done(
    plan: Plan, reused: int, skipped: int, unrepeated: int, not_chosen: Collection[str] = (), refused: int = 0
) -> Text:
    """Return the last line of a run without failures. `skipped` counts the cells that were not needed, and `refused`
    those whose numbers were refused and answer their search. Candidates that were `not_chosen` are no part of it."""
    planned = planned_cells(plan, not_chosen)
    said = say.cells(n=planned)
    if reused:
        said = say.cells_reused(said=said, n=reused) if reused < planned else say.cells_all_reused(said=said)
    said = say.cells_skipped(said=said, n=skipped) if skipped else said
    said = say.cells_refused(said=said, n=refused) if refused else said
    return say.cells_unrepeated(said=said, n=unrepeated) if unrepeated else said


def what_is_missing(plan: Plan, failed: int, short: int, not_chosen: Collection[str] = ()) -> Text:
    """Return what is said of a run whose cells have `failed`, or whose budget had no room for them (`short`)."""
    n = planned_cells(plan, not_chosen)
    no_room = say.cells_without_room(short=short, n=n)
    if not failed:
        return no_room
    said = say.cells_failed(failed=failed, n=n)
    return say.both(first=said, then=no_room) if short else said


@dataclass(frozen=True)
class Ending:
    """A flag that says whether nothing new may begin: the run must stop, or a failure has ended it."""

    run: RunState

    def is_set(self) -> bool:
        return self.run.stopping.is_set() or bool(self.run.halted_by)


@dataclass
class RunState:
    """The state of one execution. `failed`, `fatal`, `skipped` and `begun` change under the lock.

    `left` holds, by cell, an earlier controller's attempts to resume. `tools_before` holds where it found tools, by
    host and driver. `warm` holds its attempts that no cool-down followed, in order.
    """

    plan: Plan
    run_dir: Path
    journal: Journal
    stopping: threading.Event
    done: set[str]
    attempts: dict[str, int]
    resumed: bool
    reused: int
    searches: Searches
    repeats: RepeatsUntil
    budgets: Budgets
    ramps: AdaptiveRamps
    promises: PromiseSearches
    world: World
    monitor: Monitor = field(default_factory=Monitor)
    left: Mapping[str, Left] = field(default_factory=dict)
    tools_before: Mapping[tuple[str, str], set[str]] = field(default_factory=dict)
    warm: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[tuple[str, str, str | None], Found] = field(default_factory=dict)
    """The load generators that were found before the first cell, by host, name and the path in the spec."""
    last_alive: float = 0.0
    """When an earlier controller last showed a sign of life beside its journal, by the controller's clock."""
    skipped: int = 0
    """Cells that are not needed, without the candidates below. Changed under the lock."""
    not_chosen: set[str] = field(default_factory=set)
    """The cells of candidates that adaptive ramps and searches did not choose. Changed under the lock."""
    unrepeated: int = 0
    """Repeats that a budget had no room for. Changed under the lock."""
    refused: int = 0
    """Cells of searches that failed, as their numbers were refused. Changed under the lock."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    without_room: list[tuple[str, str]] = field(default_factory=list)
    """Cells of points that a budget had no room for, each with the reason. Changed under the lock."""
    fatal: list[RunnerError] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    """Cells that have their final verdict in this execution, or were not needed."""
    claimed: list[str] = field(default_factory=list)
    """Hosts that a lane claimed or claimed again. Changed under the lock."""
    silent_meters: dict[Meter, RunnerError] = field(default_factory=dict)
    """Power meters that did not answer when last tried. Changed under the lock."""
    first_failures: FirstFailures = field(init=False)
    turns: MeasuringTurns = field(init=False)
    workers: LaneWorkers = field(init=False)
    halted_by: str = ""
    """The cell whose failure ends the run, because its experiment says `on_failure = stop`."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.workers = LaneWorkers(self.world.at_once)
        self.resume_turns({})
        self.first_failures = FirstFailures(self.plan.cells, (cell for cell in self.plan.cells if cell.id in self.done))

    def resume_turns(self, left: Mapping[str, Left]) -> None:
        """Take over the attempts that an earlier controller left. No lane may be at work yet."""
        self.left = left
        self.turns = MeasuringTurns(self.plan.cells, left, self.workers.waiting)

    @property
    def ending(self) -> Ending:
        return Ending(self)

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell need not be measured; "" when it must."""
        deciders = (self.searches, self.ramps, self.promises, self.repeats, self.budgets)
        return next((why for decider in deciders if (why := decider.not_needed(cell))), "")

    def taken_over(self, cell: Cell) -> None:
        """Take note of a cell whose attempt was resumed, and has its verdict."""
        self.ramps.taken_over(cell)
        self.promises.taken_over(cell)

    def begin(self, cell: Cell) -> None:
        with self.lock:
            self.begun.add(cell.id)

    def fail(self, cell: Cell, error: RunnerError) -> None:
        reason, on_failure = one_line(error), self.plan.experiments[cell.experiment].on_failure
        if on_failure != "try_all":
            self.first_failures.failed(cell, error, reason)
        with self.lock:
            self.failed.append((cell.id, reason))
            if on_failure == "stop":
                self.halted_by = self.halted_by or cell.id

    def left_out(self, cell: Cell, reason: str, no_room: NoRoom) -> None:
        with self.lock:
            self.judged.add(cell.id)
            if no_room == "point":
                self.without_room.append((cell.id, reason))
            elif no_room:
                self.unrepeated += 1
            elif is_candidate_left_out(reason):
                self.not_chosen.add(cell.id)
            elif is_refused(reason):
                self.refused += 1
            else:
                self.skipped += 1

    def why_not_tried(self, cell: Cell) -> NotTried | None:
        """Return why a cell would fail as the first ones did; None when it may not, or its experiment tries all."""
        try_all = self.plan.experiments[cell.experiment].on_failure == "try_all"
        return None if try_all else self.first_failures.why_not(cell)

    def outcome(self) -> Outcome:
        failed, short = tuple(self.failed), tuple(self.without_room)
        if self.fatal:
            return Outcome("interrupted", one_line(self.fatal[0]), failed, short)
        if self.stopping.is_set() and not self._is_whole():
            return Outcome("interrupted", say.stopped_before_all(), failed, short)
        if self.halted_by:
            n = planned_cells(self.plan, self.not_chosen)
            left = min(n, len(self.plan.cells) - len(self.done | self.begun))
            text = say.halted(cell=self.halted_by, left=left, n=n, failed=len(failed))
            return Outcome("failed", text, failed, short)
        if failed or short:
            return Outcome(
                "failed", what_is_missing(self.plan, len(failed), len(short), self.not_chosen), failed, short
            )
        if not self._is_whole():
            return Outcome("interrupted", say.stopped_before_all(), failed, short)
        said = all_done(self.plan, self.reused, self.skipped, self.unrepeated, self.not_chosen, self.refused)
        return Outcome("done", said, ())

    def _is_whole(self) -> bool:
        """Return whether each cell is done, judged or not needed."""
        known = self.done | self.judged
        return all(cell.id in known for cell in self.plan.cells)

    def stop_all(self, error: RunnerError) -> None:
        with self.lock:
            self.fatal.append(error)
        self.stopping.set()
