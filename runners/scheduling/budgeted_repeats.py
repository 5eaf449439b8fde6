"""Spends budgets during a run: each point is measured once, and then the budget's rule chooses the points to repeat.

All decisions follow from the journal: from verdicts, and from the time that cells have taken. A resumed run therefore
decides like the interrupted run, and counts the time that was spent before. Each lane has the whole budget for itself,
as lanes work independently. In a simulated run, each cell takes as long as planned.
"""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import field
from functools import partial

from benchbrief.compiler.planning.data_states import DataStates, changes_of
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.budgets import budgeted_cells, chooses, first_look, first_pass, is_budgeted, level
from benchbrief.model.fingerprint import place_of
from benchbrief.model.held_out import held_out_s, numbers_held_out
from benchbrief.model.measurement import Measurement
from benchbrief.model.message import Message, duration_figure, figure
from benchbrief.model.plan import Cell, DatabaseKey, Plan, ResetWork
from benchbrief.model.points import Point
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, RunRecord
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.scheduling.confidence_interval import half_width, t_interval
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.scheduling.reported_statistics import THROUGHPUT, AskedStatistics


@dataclass(frozen=True)
class RepeatValues:
    """The values of a probe at a point, or of a metric computed from such values. There is one value per repeat, in any
    unit.

    The width of the values' confidence interval is a share of the mean, or of `least` if the mean is smaller, because a
    share near 0 %, or an idle disk, is no reason to repeat.
    """

    of: str
    values: Sequence[float]
    least: float


@dataclass(frozen=True)
class UndecidedPoints:
    """The points that expectations read, with their repeats' results so far.

    `open` has the points that can't be decided yet. Each has its distance from a decision. This is half the width of
    the mean difference's interval, as a share of the difference. `decided` has the points at which every expectation
    that reads them is decided. `compared` has the points that open expectations read together, by point. `sampled` has
    the wanted values from probes.
    """

    open: Mapping[Point, float] = field(default_factory=dict)
    decided: Collection[Point] = frozenset()
    sampled: Mapping[Point, Sequence[RepeatValues]] = field(default_factory=dict)
    compared: Mapping[Point, Collection[Point]] = field(default_factory=dict)


ReadTables = Callable[[RunRecord], UndecidedPoints]


def nothing_read(_record: RunRecord) -> UndecidedPoints:
    """Return no open points, for a spec without expectations or probes."""
    return UndecidedPoints()


@dataclass(frozen=True)
class _Reset:
    """A reset during the run: its cell, how the cell got its data set, and the seconds that it took."""

    cell: Cell
    work: ResetWork
    seconds: float


class ExpectedTimes:
    """The times that a lane's cells are expected to take, as far as known now. `repeats_of` returns all cells at a
    cell's point."""

    def __init__(
        self, plan: Plan, record: RunRecord, lane: Iterable[Cell], repeats_of: Callable[[Cell], Sequence[Cell]]
    ) -> None:
        self._plan, self._record, self._repeats_of = plan, record, repeats_of
        self._places: dict[str, str] = {}
        self._states = DataStates()
        self._resets: list[_Reset] = []
        self._planned: dict[tuple[str, str, ResetWork], float] = {}
        """The seconds of the longest planned reset, by database, data set and kind of reset."""
        began: list[tuple[float, Cell]] = []
        for cell in lane:
            for step in cell.steps:
                if step.reset:
                    key = self._key(cell, step.reset)
                    self._planned[key] = max(step.seconds, self._planned.get(key, 0.0))
            if cell.id in record.cells and cell.id not in record.reused:
                began += [(start.at, cell) for start in record.cells[cell.id].started.values()]
        for _, cell in sorted(began, key=lambda each: each[0]):
            self._note(cell, self._next(cell, self._states))

    def seconds(self, cells: Sequence[Cell], *, guessed: bool = True) -> float:
        """Return how many seconds the cells take one after another.

        Unless `guessed`, a reset counts only once the run has shown how long similar resets take.
        """
        states = deepcopy(self._states)
        return sum(self._own_s(cell) + self._reset_s(cell, self._next(cell, states), guessed) for cell in cells)

    def _next(self, cell: Cell, states: DataStates) -> ResetWork:
        """Return how the next cell gets its data set, and note in `states` what the cell changes."""
        database = self._plan.databases[cell.database]
        if cell.database not in self._places:
            self._places[cell.database] = place_of(self._plan.hardware[cell.hardware], database, self._plan.hosts)
        place = self._places[cell.database]
        if cell.dataset is None:
            states.without(place)
            return ""
        step = states.reset(place, cell.dataset.hash, database.reset, database.engine, bytes_=0.0, load_s=0.0)
        states.changed(place, changes_of(self._plan.workload_of(cell), cell.events), 0.0)
        return step.work

    def _note(self, cell: Cell, work: ResetWork) -> None:
        took = self._record.times.resets.get(cell.id)
        if took is None:
            verdict = self._record.cells[cell.id].ended
            if work and verdict is not None and verdict.status == "ok":  # its tool has nothing to load
                self._resets.append(_Reset(cell, work, 0.0))
            return
        if took.skipped:  # an earlier run left the data set
            return
        if took.loaded or work not in ("", "load"):
            self._resets.append(_Reset(cell, "load" if took.loaded else work, took.seconds))

    def _own_s(self, cell: Cell) -> float:
        times = self._record.times
        took = [
            # The time of a failed reset stays in, as it is not among the resets.
            times.seconds[each.id]
            - (times.resetting.get(each.id, 0.0) if each.id in times.resets else 0.0)
            # The wait for other groups says nothing about the next repeat.
            - times.waiting.get(each.id, 0.0)
            for each in self._repeats_of(cell)
            if times.seconds.get(each.id)
        ]
        return max(took, default=sum(step.seconds for step in cell.steps if step.kind != "load"))

    def _reset_s(self, cell: Cell, work: ResetWork, guessed: bool) -> float:
        """Estimate the seconds of a reset from the most similar resets in the run. These are resets of the same data
        set or, if there were none, of the same database, or else all resets.

        If there was none yet, returns the planned time if `guessed`, and 0 otherwise.
        """
        planned_s = self._planned.get(self._key(cell, work), 0.0)
        alike = [each for each in self._resets if each.work == work]
        for same in (2, 1, 0):  # the same data set, the same database, any
            key = self._key(cell, work)[:same]
            found = [each for each in alike if self._key(each.cell, work)[:same] == key]
            if found:
                return max(each.seconds * self._larger(planned_s, each) for each in found)
        return planned_s if guessed else 0.0

    def _larger(self, planned_s: float, seen: _Reset) -> float:
        """Return a reset's planned time divided by the planned time of a reset that the run has seen, or 1 if
        unknown."""
        theirs_s = self._planned.get(self._key(seen.cell, seen.work), 0.0)
        return planned_s / theirs_s if planned_s and theirs_s else 1.0

    def _key(self, cell: Cell, work: ResetWork) -> tuple[str, str, ResetWork]:
        # The levels of the database that change its data change the data set's hash.
        database = DatabaseKey.of(cell.database.database, cell.database.hardware)
        return database, cell.dataset.hash if cell.dataset else "", work


_LEAST = 1e-9
"""The need of a group that still wants repeats is at least this, even if its repeats so far are identical."""


@dataclass
class PointSoFar:
    """What is known about a point so far: each statistic's values in its good repeats, and how many repeats have
    `ended`."""

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    ended: int = 0
    sampled: Sequence[RepeatValues] = ()


@dataclass
class Group:
    """Points that are repeated together.

    - `left`: whether there is a repeat left.
    - `open`: how far an open expectation is from its decision, or None if no expectation is open.
    - `decided`: whether expectations judge all points of the group, and no expectation is open.
    - `within`: the target width as a share of the mean, or None if all repeats are wanted.
    - `at_least`: how many repeats an interval needs to count.
    - `level`: the confidence level of each interval.
    - `asked`: whether the spec needs any statistic of these points.
    - `expected`: whether an expectation reads a point.
    - `compared`: the indexes of the groups that open expectations compare with this one.
    """

    points: Sequence[PointSoFar]
    at_least: int
    level: float
    within: float | None = None
    left: bool = True
    open: float | None = None
    decided: bool = False
    asked: bool = True
    expected: bool = False
    compared: Collection[int] = ()

    @property
    def begun(self) -> bool:
        """Return whether a turn has begun and is not over."""
        return len({point.ended for point in self.points}) > 1

    @property
    def repeats(self) -> int:
        return min(point.ended for point in self.points)

    @property
    def nearness(self) -> float:
        """Return how close an open expectation is to its decision. Higher is closer."""
        return -math.inf if self.open is None else -self.open

    def need(self) -> float:
        """Return how much the group needs another repeat: infinity if an interval is missing, 0 if it needs none."""
        if not self.asked:
            return 0.0
        widest = max((self._width(point) for point in self.points), default=0.0)
        if self.within is None:
            return 0.0 if self.decided and not math.isinf(widest) else max(widest, _LEAST)
        return max(widest / self.within, _LEAST) if widest > self.within or self.open is not None else 0.0

    def _width(self, point: PointSoFar) -> float:
        """Return the width of a point's widest interval. It is infinite while a statistic has too few good repeats."""
        widths = [width_so_far(values, self.at_least, self.level) for values in point.values.values()]
        # A probe's sample may be missing, which is no reason to go on.
        widths += [
            width_so_far(each.values, self.at_least, self.level, each.least)
            for each in point.sampled
            if len(each.values) >= self.at_least
        ]
        return max(widths, default=math.inf)


def width_so_far(values: Sequence[float], at_least: int, level: float, least: float | None = None) -> float:
    """Return half the width of a mean's interval as a share of the mean, or infinity if there are fewer than `at_least`
    values.

    With `least`, the width is a share of the mean's absolute value, or of `least` if that is larger.
    """
    if len(values) < at_least:
        return math.inf
    if least is None:
        width = half_width(values, level)
        return math.inf if width is None else width
    mean = statistics.fmean(values)
    low, high = t_interval(len(values), mean, statistics.stdev(values) if len(values) > 1 else None, level)
    if low is None or high is None:
        return math.inf
    return (high - low) / 2 / max(abs(mean), least) if high > low else 0.0


def next_group(groups: Sequence[Group]) -> int | None:
    """Return the index of the group to repeat next, or None if no group needs a repeat."""
    found = [
        (group.begun, lacks := math.isinf(need), lacks and group.expected, group.nearness, need, -group.repeats, -place)
        for place, group in enumerate(groups)
        if group.left and ((need := group.need()) > 0 or group.begun)
    ]
    if not found:
        return None
    first = -max(found)[-1]
    sides = [first, *sorted(place for place in groups[first].compared if groups[place].left)]
    return first if groups[first].begun else min(sides, key=lambda place: groups[place].repeats)


_LEAST_S = 0.01
"""A time shorter than this, in seconds, is not recorded."""
_Turn = tuple[Point, ...]
"""The points that are repeated together."""


@dataclass(frozen=True)
class _Over:
    """A budget that is used up, or would be used up by the next cells. The fields are the budget's size, the used time,
    the next cells' time, and the time reserved for held-out repeats, in seconds."""

    budget_s: float
    spent_s: float
    next_s: float
    reserved_s: float = 0.0

    def reason(self, kind: j.NoRoom) -> Message:
        times = {"budget": self.budget_s, "spent": self.spent_s, "next": self.next_s}
        word = say.budget_no_room if kind == "point" else say.budget_over
        said = word(**{key: duration_figure(seconds) for key, seconds in times.items()})
        return say.budget_reserved(said=said, left=duration_figure(self.reserved_s)) if self.reserved_s else said


class Budgets:
    """The budgets of a run, shared by its lanes. `record` is the run so far, and is extended by the journal."""

    def __init__(
        self,
        plan: Plan,
        record: RunRecord,
        tell: Callable[[j.AnyRecord], None],
        *,
        simulated: bool = False,
        read_tables: ReadTables = nothing_read,
    ) -> None:
        self._plan, self._record, self._tell, self._simulated = plan, record, tell, simulated
        self._read_tables = read_tables
        self._lock = threading.Lock()
        self._reasons: dict[str, tuple[str, j.NoRoom]] = {}
        """Why cells are not run, by the cells' ids."""
        self._announced: set[str] = set()
        self._unread = False
        self._of_point: dict[Point, list[Cell]] = {}
        self._turn_of: dict[Point, _Turn] = {}
        self._lane_of: dict[str, int] = {}
        self._cells: dict[str, Cell] = {}
        self._lanes: list[list[Cell]] = []
        self._needed: set[str] = set()
        self._expected_points: set[Point] = set()
        self._held = numbers_held_out(plan)
        self._reserved: dict[tuple[int, str, frozenset[Point]], float] = {}
        """The seconds reserved for held-out repeats, by lane, experiment ("" means all of them) and failed points."""
        self._asked = AskedStatistics(plan)
        if any(is_budgeted(plan, each) for each in plan.experiments.values()) or plan.budget_s is not None:
            self._sort()

    def _sort(self) -> None:
        plan = self._plan
        self._lanes = lanes(plan.cells)
        self._expected_points = {Point.of(cell) for each in plan.expects for cell in budgeted_cells(plan, each.query)}
        first = first_pass(plan.cells)
        turns: dict[tuple[object, ...], dict[Point, None]] = {}
        for number, lane in enumerate(self._lanes):
            for cell in lane:
                self._lane_of[cell.id], self._cells[cell.id] = number, cell
                experiment, point = plan.experiments[cell.experiment], Point.of(cell)
                if not is_budgeted(plan, experiment) or cell.id in first:
                    self._needed.add(cell.id)
                if is_budgeted(plan, experiment):
                    self._of_point.setdefault(point, []).append(cell)
                    by = () if experiment.order == "interleaved" else (cell.hardware, cell.levels)
                    key = (number, cell.experiment, *by, cell.workload, cell.threads, cell.target)
                    turns.setdefault(key, {})[point] = None
        for points in turns.values():
            self._turn_of |= dict.fromkeys(points, tuple(points))

    def asked_values(self, cell: Cell, measurement: Measurement) -> dict[str, float]:
        """Return the latency statistics that the budget's rule needs from a cell, or nothing if the cell has no
        budget."""
        planned = self._cells.get(cell.id)  # as the plan has it, without what a search has found
        budgeted = planned is not None and Point.of(planned) in self._of_point
        return self._asked.values(planned, measurement) if planned and budgeted else {}

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell is not run, or "" if it is run."""
        return self._reasons.get(cell.id, ("", ""))[0]

    def no_room(self, cell: Cell) -> j.NoRoom:
        """Return what the budget had no room for: the cell's `point`, or this `repeat` of it. Returns "" if the cell is
        run."""
        return self._reasons[cell.id][1] if cell.id in self._reasons else ""

    def in_order(self, cells: Sequence[Cell]) -> Iterator[Cell]:
        """Yield a lane's cells in running order. It is the plan's order, except that repeats come as they are chosen.

        Also yields the cells that are not run. For these, `not_needed` returns a reason.
        """
        left = {cell.id: cell for cell in cells}
        for cell in self._without_first(cells):
            yield left.pop(cell.id)
        while left:
            cell = next(iter(left.values()))
            if not self._lane_of or cell.id in self._needed:
                self._hold_first(cell)
                yield left.pop(cell.id)
                for other in self._without_first(left.values()) if cell.id in self._reasons else ():
                    yield left.pop(other.id)
                continue
            for chosen in self._choose(self._pool(cell, left.values())):
                yield left.pop(chosen.id)

    def _hold_first(self, cell: Cell) -> None:
        """Leave out a cell of the first pass that no longer fits in its budget.

        A search is not cut short, as other cells need its knee. Neither is an adaptive ramp, whose points depend on
        each other. The check before the run knew how long loads took in earlier runs, which the plan does not know.
        Therefore, the plan's own guesses of load times do not count here.
        """
        if not self._lane_of or chooses(self._plan.experiments[cell.experiment]):
            return
        history = self._record.cells.get(cell.id)
        if history and history.skipped is not None:  # decided before the run was resumed, with its repeats
            self._leave_out([cell], history.skipped, "point")
            return
        if (over := self._over([cell], self._expected(cell, guessed=False))) is None:
            return
        why = over.reason("point")
        self._leave_out([cell], why, "point")
        with self._lock:
            new = cell.experiment not in self._announced
            self._announced.add(cell.experiment)
        if new:
            origin = str(self._plan.experiments[cell.experiment].origin)
            text = say.budget_short(experiment=cell.experiment, why=why)
            self._tell(j.Remark(at=now(), severity="warning", text=text, origin=origin))

    def _why_left_out(self, point: Point) -> str | None:
        """Return why the first cell of a point was left out, or None if it was not. If it was, later cells have nothing
        to repeat."""
        first = self._record.cells.get(self._of_point[point][0].id)
        return first.skipped if first and first.ended is None else None

    def _without_first(self, cells: Collection[Cell]) -> list[Cell]:
        """Leave out the other cells of points whose first cell was left out, and return them."""
        out: list[Cell] = []
        for cell in cells:
            repeats = Point.of(cell) in self._of_point and cell.id not in self._needed
            if repeats and (why := self._why_left_out(Point.of(cell))) is not None:
                out += self._leave_out([cell], why, "repeat")
        return out

    def _pool(self, cell: Cell, left: Collection[Cell]) -> list[Cell]:
        """Return the repeats that compete for time. These are the repeats of one experiment, or all repeats if the
        budget is the run's."""
        every = self._plan.budget_s is not None
        return [each for each in left if each.id not in self._needed and (every or each.experiment == cell.experiment)]

    def _choose(self, pool: list[Cell]) -> list[Cell]:
        """Return the cells of the next turn from the pool. Before them come the cells that are left out because they no
        longer fit.

        Returns the whole pool if no more of its cells are run.
        """
        left: dict[Point, list[Cell]] = {}
        for cell in pool:
            left.setdefault(Point.of(cell), []).append(cell)
        turns = list(dict.fromkeys(self._turn_of[point] for point in left))
        groups = [self._group(turn, left) for turn in turns]
        out: list[Cell] = []
        expected, are_read = self._expected(pool[0]), False
        while True:
            # Reading the tables takes time, and is of no use until every interval counts.
            if not are_read and not any(group.left and (group.begun or math.isinf(group.need())) for group in groups):
                are_read = True
                self._add_readings(groups, turns, self._readings(pool[0]))
            if (place := next_group(groups)) is None:
                break
            theirs = [point for point in turns[place] if point in left]
            behind = min(len(self._ended(point)) for point in theirs)
            chosen = [left[point][0] for point in theirs if len(self._ended(point)) == behind]
            over = self._over(chosen, expected)
            if over is None:
                return [*out, *chosen]
            groups[place].left = False  # shorter turns, or those of another budget, may still fit
            cells = [cell for point in theirs for cell in left[point]]
            out += self._leave_out(cells, over.reason("repeat"), "repeat")
        for group, turn in zip(groups, turns, strict=True):
            if group.left:
                cells = [cell for point in turn for cell in left.get(point, ())]
                out += self._leave_out(cells, _enough(group), "")
        return out

    def _add_readings(self, groups: Sequence[Group], turns: Sequence[_Turn], known: UndecidedPoints) -> None:
        place_of = {point: place for place, turn in enumerate(turns) for point in turn}
        for place, (group, turn) in enumerate(zip(groups, turns, strict=True)):
            points = self._measured(turn)
            together = {
                place_of[other] for point in points for other in known.compared.get(point, ()) if other in place_of
            }
            group.compared = together - {place}
            group.open = min((known.open[point] for point in points if point in known.open), default=None)
            group.decided = group.open is None and all(point in known.decided for point in points)
            for point, so_far in zip(points, group.points, strict=True):
                so_far.sampled = known.sampled.get(point, ())

    def _readings(self, cell: Cell) -> UndecidedPoints:
        """Return which points are undecided according to the tables. If the tables can't be read, all points count as
        open, so that no repeat is missed.

        The time for reading counts against the budget of `cell`, except in a simulated run.
        """
        began = time.monotonic()
        try:
            found = self._read_tables(self._record)
        except Exception as error:  # a run of hours must not end for this, whatever it is
            said = error.one_line if isinstance(error, RunnerError) else " ".join(repr(error).split())
            found = UndecidedPoints(dict.fromkeys(self._of_point, math.inf))
            with self._lock:
                new, self._unread = not self._unread, True
            if new:
                text = say.budget_unread(said=said)
                self._tell(j.Remark(at=now(), severity="warning", text=text))
        took = time.monotonic() - began
        if took >= _LEAST_S and not self._simulated:
            self._tell(j.ExpectationsRead(at=now(), cell=cell.id, seconds=took))
        return found

    def _group(self, turn: _Turn, left: dict[Point, list[Cell]]) -> Group:
        cell = self._of_point[turn[0]][0]
        experiment = self._plan.experiments[cell.experiment]
        return Group(
            [self._so_far(point) for point in self._measured(turn)],
            first_look(experiment),
            level(self._plan, experiment),
            experiment.confident.within if experiment.confident else None,
            left=any(point in left for point in turn),
            asked=any(self._asked.of(self._of_point[point][0]) for point in turn),
            expected=not self._expected_points.isdisjoint(turn),
        )

    def _measured(self, turn: _Turn) -> list[Point]:
        return [point for point in turn if self._why_left_out(point) is None]

    def _ended(self, point: Point) -> list[CellHistory]:
        found = (self._record.cells.get(cell.id) for cell in self._of_point[point])
        return [each for each in found if each is not None and (each.skipped is not None or _is_over(each))]

    def _so_far(self, point: Point) -> PointSoFar:
        ended = self._ended(point)
        good = [each.ended for each in ended if each.ended is not None and each.ended.status == "ok"]
        values = {}
        for name in self._asked.of(self._of_point[point][0]):
            found = (each.ops_per_s if name == THROUGHPUT else each.asked.get(name) for each in good)
            known = [value for value in found if value is not None]
            if known or name == THROUGHPUT or not good:  # a tool may not tell a statistic at all
                values[name] = known
        return PointSoFar(values, len(ended))

    def _leave_out(self, cells: list[Cell], reason: str, no_room: j.NoRoom) -> list[Cell]:
        self._reasons |= dict.fromkeys((cell.id for cell in cells), (reason, no_room))
        return cells

    # --- time -----------------------------------------------------------------------------------------------------

    def _expected(self, cell: Cell, *, guessed: bool = True) -> Callable[[Sequence[Cell]], float]:
        """Return the expected times of the cells in this cell's lane."""
        if self._simulated:
            return lambda cells: sum(map(_planned_s, cells))
        lane = self._lanes[self._lane_of[cell.id]]
        times = ExpectedTimes(self._plan, self._record, lane, lambda each: self._of_point.get(Point.of(each), ()))
        return partial(times.seconds, guessed=guessed)

    def _over(self, chosen: Sequence[Cell], expected: Callable[[Sequence[Cell]], float]) -> _Over | None:
        """Return the budget that has no room for the cells, or None if they fit."""
        experiment = self._plan.experiments[chosen[0].experiment]
        number = self._lane_of[chosen[0].id]
        lane = self._lanes[number]
        next_s = expected(chosen)
        for budget_s, of, theirs in (
            (experiment.budget_s, experiment.name, [cell for cell in lane if cell.experiment == experiment.name]),
            (self._plan.budget_s, "", lane),
        ):
            if budget_s is not None:
                spent_s, reserved_s = sum(map(self._spent_s, theirs)), self._reserved_s(number, of, theirs)
                if spent_s + next_s + reserved_s > budget_s:
                    return _Over(budget_s, spent_s, next_s, reserved_s)
        return None

    def _reserved_s(self, number: int, of: str, theirs: Sequence[Cell]) -> float:
        """Return how many seconds the held-out repeats of these cells may take. Points with failed cells need none,
        since they can't win."""
        if not self._held:
            return 0.0
        good: dict[Point, bool] = {}
        for cell in theirs:
            history = self._record.cells.get(cell.id)
            if history is not None and history.ended is not None and _is_over(history):
                point = Point.of(cell)
                good[point] = good.get(point, False) or history.ended.status == "ok"
        failed = frozenset(point for point, is_good in good.items() if not is_good)
        key = number, of, failed
        if key not in self._reserved:
            left = [cell for cell in theirs if Point.of(cell) not in failed]
            self._reserved[key] = sum(held_out_s(self._plan, claim, left) for claim in self._held)
        return self._reserved[key]

    def _spent_s(self, cell: Cell) -> float:
        return spent_s(cell, self._record, simulated=self._simulated)


def spent_s(cell: Cell, record: RunRecord, *, simulated: bool) -> float:
    """Return the seconds that a cell has taken so far. In a simulated run, each attempt that ended took as long as
    planned."""
    if simulated:
        history = record.cells.get(cell.id)
        return _planned_s(cell) * len(history.started) if history and history.ended else 0.0
    return record.times.seconds.get(cell.id, 0.0) + record.times.choosing.get(cell.id, 0.0)


def _enough(group: Group) -> Message:
    """Return why a group that has repeats left needs no further repeat."""
    if not group.asked:
        return say.budget_unasked()
    if group.within is None:
        return say.budget_decided()
    return say.budget_enough(wanted=figure(100 * group.within, "g"))


def _is_over(history: CellHistory) -> bool:
    return history.ended is not None and not history.ended.retried


def _planned_s(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps)
