"""Estimates how long a plan takes. Cells on shared hosts or equipment run one after another, and all others run side by
side.

Searches, and repeats that may end early, count in full, so that the estimate is an upper bound. The last cell of a
group of hosts has no cool-down.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Literal, Protocol, get_args

from benchbrief.compiler.planning.plan_lanes import ONE_BY_ONE, join_groups
from benchbrief.dsl.diagnostics.plain_amounts import duration
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.held_out import held_out_s, numbers_held_out
from benchbrief.model.plan import Cell, Experiment, Plan, Promise, ResetWork, Step, StepKind
from benchbrief.model.planned_cells import planned_cells
from benchbrief.model.points import AtPoint, Curve
from benchbrief.model.rate_search import NONE, SearchRule, SearchStep, Tally, Vote, next_step, walk

MOST_CHECKED_CELLS = 2000
"""The most cells whose times a check estimates. If there are more, only `bench plan` estimates them, since making the
cells takes too long at each keystroke in an editor."""


class _Cell(AtPoint, Protocol):
    """The attributes of a cell that `counted_cells` uses."""

    @property
    def id(self) -> str: ...
    @property
    def repeat(self) -> int: ...


def spread(points: Sequence[float], count: int) -> tuple[float, ...]:
    """Return `count` of the points, evenly spaced, including both ends if there are two or more."""
    if count >= len(points):
        return tuple(points)
    return tuple(points[round(i * (len(points) - 1) / max(1, count - 1))] for i in range(max(0, count)))


def _point_on(experiment: Experiment, cell: _Cell) -> float | None:
    """Return the cell's point on its experiment's axis, or None before a search has found it."""
    return cell.target if experiment.axis == "target" else cell.threads


def counted_cells(
    cells: Iterable[_Cell],
    experiments: Mapping[str, Experiment],
    begun: Collection[str] = (),
    votes: Mapping[str, Vote] | None = None,
) -> set[str]:
    """Return the ids of the cells that an estimate counts: the points that each adaptive curve measures, the usual
    number of cells for each search for a promise, and all other cells.

    `begun` are the ids of cells that have started or finished. Their points are among those that count. For a search
    that has begun, the `votes` of its cells show which rates are still possible. The estimate assumes that the middle
    one will be the answer.
    """
    cells = list(cells)
    searches = {name for name, each in experiments.items() if each.promise}
    searched: dict[Curve, list[_Cell]] = {}
    for cell in cells:
        if cell.experiment in searches:
            searched.setdefault(Curve.of(cell), []).append(cell)
    likely = {id_ for curve, of in searched.items() for id_ in _searched(of, experiments[curve[0]], begun, votes or {})}
    return likely | _chosen([cell for cell in cells if cell.experiment not in searches], experiments, begun)


def _searched(
    cells: Sequence[_Cell], experiment: Experiment, begun: Collection[str], votes: Mapping[str, Vote]
) -> set[str]:
    """Return the ids of one search's cells: those that have begun, and those that the search will probably ask for.
    Before the first vote, all of them together are limited to the usual number."""
    rule = experiment.promise
    found = {cell.id for cell in cells if cell.id in begun}
    if rule is None:
        return found
    if any(cell.id in votes for cell in cells):
        return found | _still_asked(cells, experiment.points, rule, votes)
    by_run = {(cell.target, cell.repeat): cell.id for cell in cells}
    likely = (by_run.get(run) for run in _likely(experiment.points, rule))
    others = [id_ for id_ in likely if id_ is not None and id_ not in found]
    return found | set(others[: max(0, rule.usual - len(found))])


def _still_asked(
    cells: Sequence[_Cell], rates: tuple[float, ...], promise: Promise, votes: Mapping[str, Vote]
) -> set[str]:
    """Return the cells that a search with these votes would ask for next, assuming that its answer is the middle one of
    the remaining rates."""
    tallies: dict[float, Tally] = {}
    held: dict[float, Tally] = {}
    waiting: dict[tuple[float, bool], list[str]] = {}
    number = Counter[float | None]()
    for cell in sorted(cells, key=lambda cell: cell.repeat):
        number[cell.target] += 1
        if cell.target is None:
            continue
        is_held = number[cell.target] > promise.judged
        if cell.id in votes:
            of = held if is_held else tallies
            of[cell.target] = of.get(cell.target, NONE).and_one(votes[cell.id])
        else:
            waiting.setdefault((cell.target, is_held), []).append(cell.id)
    under = max((n for n, rate in enumerate(rates) if tallies.get(rate, NONE).lead > 0), default=-1)
    over = min((n for n, rate in enumerate(rates) if rate in tallies and tallies[rate].lead <= 0), default=len(rates))
    middle = (min(under, over) + over) // 2
    highest = rates[middle] if middle >= 0 else 0.0
    found: set[str] = set()
    rule = SearchRule(promise.judged, promise.held_out, promise.most)
    while isinstance(step := next_step(rates, tallies, held, rule), SearchStep):
        is_held = step.why == "held_out"
        left = waiting.get((step.rate, is_held))
        if not left:
            break
        found.add(left.pop(0))
        of = held if is_held else tallies
        of[step.rate] = of.get(step.rate, NONE).and_one("met" if step.rate <= highest else "broken")
    return found


@lru_cache(maxsize=64)
def _likely(rates: tuple[float, ...], promise: Promise) -> tuple[tuple[float, int], ...]:
    """Return the runs (rate and repeat) of a search whose answer is the middle rate."""
    rule = SearchRule(promise.judged, promise.held_out, promise.most)
    seen: Counter[tuple[float, bool]] = Counter()
    runs: list[tuple[float, int]] = []
    for rate, held in walk(rates, rule, lambda rate: rate <= rates[len(rates) // 2]):
        seen[rate, held] += 1
        runs.append((rate, seen[rate, held] + (promise.judged if held else 0)))
    return tuple(runs)


def _chosen(cells: list[_Cell], experiments: Mapping[str, Experiment], begun: Collection[str]) -> set[str]:
    if not any(each.adaptive for each in experiments.values()):
        return {cell.id for cell in cells}
    points: dict[Curve, dict[float | None, bool]] = {}
    """The points of each adaptive curve, and whether each point has begun."""
    for cell in cells:
        experiment = experiments[cell.experiment]
        if experiment.adaptive:
            of_curve, point = points.setdefault(Curve.of(cell), {}), _point_on(experiment, cell)
            of_curve[point] = of_curve.get(point, False) or cell.id in begun
    counted = {curve: _counted(of_curve, experiments[curve[0]]) for curve, of_curve in points.items()}
    return {
        cell.id
        for cell in cells
        if Curve.of(cell) not in counted or _point_on(experiments[cell.experiment], cell) in counted[Curve.of(cell)]
    }


def _counted(points: Mapping[float | None, bool], experiment: Experiment) -> set[float | None]:
    begun = {point for point, has in points.items() if has}
    others = sorted(point for point in points if point not in begun and point is not None)
    count = experiment.adaptive.points if experiment.adaptive else len(points)
    return begun | set(spread(others, count - len(begun)))


def of_which(plan: Plan) -> str:
    """Return the end of a sentence that says how many of a plan's cells an estimate counts, or "" if it counts all of
    them."""
    count = len(counted_cells(plan.cells, plan.experiments))
    return f" for the {count:,} that a search usually measures" if count < planned_cells(plan) else ""


def up_to(e: Experiment, budget_s: float | None = None) -> str:
    """Return "up to " for an experiment that may end before its last point or repeat, or else "". `budget_s` is the
    run's budget."""
    return "up to " if e.search or e.confident or e.budget_s or budget_s else ""


_BEFORE_TURN: tuple[StepKind, ...] = ("prepare", "load")
_IN_TURN: tuple[StepKind, ...] = ("warm_up", "measure")


@dataclass(frozen=True)
class Slot:
    """The times at which a cell should run, in seconds since the beginning.

    The cell's preparation starts at `begin`, and its data set is ready at `ready`. `measured` has the beginning and end
    of its warm-up and measurement. The cell ends at `end`, and its hosts cool down until `free`.
    """

    cell: Cell
    begin: float
    ready: float
    measured: tuple[float, float]
    end: float
    free: float

    @property
    def loading(self) -> tuple[float, float]:
        """Return the beginning and end of the cell's load, or of the reset that brings back its data."""
        return self.ready - seconds_of(self.cell, ("load",)), self.ready


@dataclass
class _Lane:
    cells: Sequence[Cell]
    done: int = 0
    begun: float = 0.0

    @property
    def cell(self) -> Cell:
        return self.cells[self.done]


@dataclass
class _Timetable:
    """Simulates the lanes of a plan. Each entry in `_events` is a time, the lane's index in the plan, and the lane's
    next event."""

    lanes: Sequence[_Lane]
    slots: dict[str, Slot] = field(default_factory=dict)
    _events: list[tuple[float, int, Literal["free", "ready"]]] = field(default_factory=list)
    _taken_until: dict[str, float] = field(default_factory=dict)
    _left: Counter[Curve] = field(default_factory=Counter)
    _waiting: dict[Curve, list[int]] = field(default_factory=dict)

    def fill(self) -> dict[str, Slot]:
        self._left.update(Curve.of(cell) for lane in self.lanes for cell in lane.cells)
        self._events = [(0.0, place, "free") for place in range(len(self.lanes))]
        heapq.heapify(self._events)
        while self._events:
            at, place, what = heapq.heappop(self._events)
            lane = self.lanes[place]
            if what == "ready":
                self._measure(at, place)
            elif lane.done < len(lane.cells):
                self._begin(at, place)
        return self.slots

    def _begin(self, at: float, place: int) -> None:
        lane = self.lanes[place]
        knees = [knee for knee in (lane.cell.threads_from, lane.cell.target_from) if knee]
        for knee in knees:
            awaited = Curve.of(knee)
            if self._left[awaited]:
                self._waiting.setdefault(awaited, []).append(place)
                return
        lane.begun = at
        heapq.heappush(self._events, (at + seconds_of(lane.cell, _BEFORE_TURN), place, "ready"))

    def _measure(self, at: float, place: int) -> None:
        lane = self.lanes[place]
        cell = lane.cell
        begin = max(at, self._taken_until.get(cell.turn, 0.0)) if cell.turn else at
        measured = begin, begin + seconds_of(cell, _IN_TURN)
        if cell.turn:
            self._taken_until[cell.turn] = measured[1]
        end = measured[1] + seconds_of(cell, ("collect",))
        free = end + seconds_of(cell, ("cool_down",))
        self.slots[cell.id] = Slot(cell, lane.begun, at, measured, end, free)
        lane.done += 1
        heapq.heappush(self._events, (free, place, "free"))
        self._left[Curve.of(cell)] -= 1
        if not self._left[Curve.of(cell)]:
            for waiting in self._waiting.pop(Curve.of(cell), ()):
                heapq.heappush(self._events, (end, waiting, "free"))


def timetable(lanes: Iterable[Sequence[Cell]]) -> dict[str, Slot]:
    """Return the slot of each cell by the cell's id. Lanes and their cells are in the order of the plan."""
    return _Timetable([_Lane(cells) for cells in lanes]).fill()


def seconds_of(cell: Cell, kinds: Sequence[StepKind]) -> float:
    """Return how many seconds the cell's steps of these kinds take."""
    return sum(step.seconds for step in cell.steps if step.kind in kinds)


def lanes(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the lane of each cell by the cell's id. Cells that are linked by a common host or equipment, directly or
    through other cells, share a lane."""
    cells = list(cells)
    names = join_groups(cell.holds for cell in cells)
    return {cell.id: names[cell.locks[0]] for cell in cells}


def estimate(cells: Iterable[Cell], lane_of: Mapping[str, str] | None = None) -> float:
    """Estimate the wall time in seconds of cells in the order of their plan. For a part of a plan's cells, pass the
    whole plan's lanes as `lane_of`, since the missing cells may join two lanes."""
    cells = list(cells)
    if lane_of is None:
        lane_of = lanes(cells)
    if any(cell.turn for cell in cells):
        return max((slot.end for slot in slots(cells, lane_of).values()), default=0.0)
    free: dict[str, float] = {}
    """The time from which each group of hosts is free."""
    ends: dict[str, float] = {}
    """The time at which each group of hosts finishes, without the last cool-down."""
    over: dict[Curve, float] = {}
    """The time at which the cells of each experiment, hardware and workload end, since other cells may wait for them.
    """
    taken: dict[int, tuple[float, float]] = {}
    """The seconds of a cell's steps and of its cool-down, by the `id()` of the steps, since many cells share the same
    steps."""
    for cell in cells:
        lane, begin = lane_of[cell.id], 0.0
        for knee in (cell.threads_from, cell.target_from):
            if knee:
                begin = max(begin, over.get(Curve.of(knee), 0.0))
        if (times := taken.get(id(cell.steps))) is None:
            times = taken[id(cell.steps)] = seconds(cell), cool_down(cell)
        ends[lane] = end = max(begin, free.get(lane, 0.0)) + times[0]
        over[Curve.of(cell)] = end
        free[lane] = end + times[1]
    return max(ends.values(), default=0.0)


def slots(cells: Iterable[Cell], lane_of: Mapping[str, str] | None = None) -> dict[str, Slot]:
    """Return the times at which each cell should run, by the cell's id. `lane_of` is the same as in `estimate`."""
    cells = list(cells)
    if lane_of is None:
        lane_of = lanes(cells)
    by_lane: dict[str, list[Cell]] = {}
    for cell in cells:
        by_lane.setdefault(lane_of[cell.id], []).append(cell)
    return timetable(by_lane.values())


def held_out_times(plan: Plan) -> dict[str, float]:
    """Estimate the seconds of the held-out repeats of each claim that asks for them. Groups of hosts work side by
    side."""
    claims = numbers_held_out(plan)
    by_lane: dict[str, list[Cell]] = {}
    lane_of = lanes(plan.cells) if claims else {}
    for cell in plan.cells if claims else ():
        by_lane.setdefault(lane_of[cell.id], []).append(cell)
    return {
        each.name: max((held_out_s(plan, each, theirs) for theirs in by_lane.values()), default=0.0) for each in claims
    }


def held_out_wall_s(plan: Plan) -> float:
    """Estimate the seconds of all held-out repeats, which run one claim after the other."""
    return sum(held_out_times(plan).values())


def estimate_some(cells: Iterable[Cell], chosen: Collection[str], lane_of: Mapping[str, str] | None = None) -> float:
    """Estimate the wall time in seconds of the cells with these ids. `lane_of` is the same as in `estimate`."""
    return estimate(alone(cells, chosen), lane_of)


def alone(cells: Iterable[Cell], chosen: Collection[str]) -> tuple[Cell, ...]:
    """Return the chosen cells as they would be if no other cells ran. The first of them that needs a data set loads it,
    even if the load is a step of another cell in the plan."""
    owed: dict[str, float] = {}
    """The loading time of each data set that cells outside `chosen` would load."""
    picked: list[Cell] = []
    for cell in cells:
        mine = cell.id in chosen
        load = 0.0
        if cell.dataset:
            load = max(_load_s(cell), owed.get(cell.dataset.hash, 0.0))
            owed[cell.dataset.hash] = 0.0 if mine else load
        if mine:
            picked.append(_with_load(cell, load))
    return tuple(picked)


def _load_s(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps if step.kind == "load")


def _with_load(cell: Cell, load_s: float) -> Cell:
    if _load_s(cell) == load_s:
        return cell
    steps = (s.model_copy(update={"seconds": load_s}) if s.kind == "load" else s for s in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})


def seconds(cell: Cell) -> float:
    """Return the seconds of the cell without its cool-down."""
    return sum(step.seconds for step in cell.steps if step.kind != "cool_down")


def cool_down(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps if step.kind == "cool_down")


def resets(cells: Iterable[Cell]) -> dict[ResetWork, tuple[int, float]]:
    """For each kind of reset, return how many of these cells use it to load or restore their data, and about how many
    seconds that takes."""
    found: dict[ResetWork, tuple[int, float]] = {}
    for cell in cells:
        for step in cell.steps:
            if step.reset:
                count, seconds = found.get(step.reset, (0, 0.0))
                found[step.reset] = count + 1, seconds + step.seconds
    return found


Activity = Literal["loading", "resets", "warm_up", "measuring", "cooling", "start_up", "rendering"]
"""The activities of a run. `resets` restore a loaded data set without loading it; `start_up` includes the collection of
outputs."""
ACTIVITIES: tuple[Activity, ...] = get_args(Activity)
ACTIVITY_WORDS: Mapping[Activity, str] = {
    "loading": "loading",
    "resets": "resets",
    "warm_up": "warm-up",
    "measuring": "measuring",
    "cooling": "cooling down",
    "start_up": "start-up",
    "rendering": "rendering",
}
"""The activities in words for users."""
Spent = Mapping[Activity, float]
"""Seconds by activity."""

_SHOWN_SHARE = 0.01
"""An estimate mentions the time of the brief only if it is at least this share of the whole time."""
RENDERING_S = 10.0
"""The built-in estimate for one report with its tables, figures and pages."""

_ACTIVITIES: Mapping[StepKind, Activity] = {
    "prepare": "start_up",
    "load": "loading",
    "warm_up": "warm_up",
    "measure": "measuring",
    "collect": "start_up",
    "cool_down": "cooling",
}


@dataclass(frozen=True)
class TimeSpent:
    """The seconds of each activity by experiment, and the seconds for rendering the reports."""

    experiments: Mapping[str, Spent]
    rendering_s: float

    @property
    def in_all(self) -> Spent:
        every: tuple[Spent, ...] = (*self.experiments.values(), {"rendering": self.rendering_s})
        return {each: sum(spent.get(each, 0.0) for spent in every) for each in ACTIVITIES}

    def as_dict(self) -> dict[str, object]:
        return {"in_all": _as_dict(self.in_all), "experiments": {k: _as_dict(v) for k, v in self.experiments.items()}}


def time_spent(plan: Plan, rendering_s: float | None = None) -> TimeSpent:
    """Add up the steps of a plan's cells. `rendering_s` is for all reports. If it is None, the built-in estimate is
    used."""
    found: dict[str, dict[Activity, float]] = {name: dict.fromkeys(ACTIVITIES, 0.0) for name in plan.experiments}
    cells = alone(plan.cells, counted_cells(plan.cells, plan.experiments))
    last = _last_of_lanes(cells)
    for cell in cells:
        for step in cell.steps:
            if step.kind != "cool_down" or cell.id not in last:
                found[cell.experiment][activity_of(step)] += step.seconds
    return TimeSpent(found, RENDERING_S * len(plan.reports) if rendering_s is None else rendering_s)


def rendering_text(rendering_s: float, wall_s: float) -> str:
    """Return the end of a sentence on how much of an estimate is for the brief, or "" if that is very little."""
    return (
        f", {duration(round(rendering_s))} of it for the brief"
        if rendering_s >= max(1.0, _SHOWN_SHARE * wall_s)
        else ""
    )


def activity_of(step: Step) -> Activity:
    return "resets" if step.reset not in ("", "load") else _ACTIVITIES[step.kind]


def _last_of_lanes(cells: Iterable[Cell]) -> set[str]:
    """Return the id of each lane's last cell, which has no cool-down."""
    cells = list(cells)
    lane = lanes(cells)
    return set({lane[cell.id]: cell.id for cell in cells}.values())


def _as_dict(spent: Spent) -> dict[str, float]:
    total = sum(spent.values())
    return {**{f"{name}_s": round(seconds, 3) for name, seconds in spent.items()}, "total_s": round(total, 3)}


@dataclass(frozen=True)
class HardwareLane:
    """Hardware groups of an experiment that are measured one after another. `shared` is the equipment that all of them
    use. It is empty if the groups are in one lane only because of other cells."""

    hardware: tuple[str, ...]
    shared: tuple[str, ...] = ()


def grouped_hardware(plan: Plan, experiment: str) -> tuple[HardwareLane, ...]:
    """Return the hardware of an experiment by lane, in the order of the plan."""
    lane_of = lanes(plan.cells)
    by_lane: dict[str, dict[str, Cell]] = {}
    for cell in plan.cells:
        if cell.experiment == experiment:
            by_lane.setdefault(lane_of[cell.id], {}).setdefault(cell.hardware, cell)
    return tuple(HardwareLane(tuple(found), _common(found.values(), plan)) for found in by_lane.values())


def shares_points(plan: Plan, experiment: str) -> bool:
    """Return whether an adaptive ramp uses the same points on all hardware. It does if the hardware takes turns on
    common hosts or equipment. Only the experiment's own cells count. Cells of other experiments may put the hardware in
    one lane, but then each hardware has a ramp of its own.
    """
    own = plan.model_copy(update={"cells": tuple(cell for cell in plan.cells if cell.experiment == experiment)})
    return plan.experiments[experiment].order == "interleaved" and len(grouped_hardware(own, experiment)) == 1


def _common(cells: Iterable[Cell], plan: Plan) -> tuple[str, ...]:
    """Return a phrase for each host and piece of equipment that all cells share. If there is none, return those that
    the first two cells share."""
    cells = list(cells)
    if len(cells) < 2:
        return ()
    under_test = {host for cell in cells for host in plan.hardware[cell.hardware].hosts}
    for some in (cells, cells[:2]):
        held = [each for each in some[0].holds if all(each in cell.holds for cell in some)]
        if held:
            return tuple(_named(each, some[0], under_test) for each in held if not each.startswith(ONE_BY_ONE))
    return ()


def _named(held: str, cell: Cell, under_test: set[str]) -> str:
    if held not in cell.locks:
        return held
    return f"host {held}" if held in under_test else f"client {held}"
