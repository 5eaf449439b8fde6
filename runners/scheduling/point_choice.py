"""Chooses the points of adaptive ramps during a run: which points of a curve are measured, and in which order.

All decisions follow from the journal's records about the cells, so that a resumed run decides like the interrupted run.
A point has been tried once all its cells have their verdicts. Its value is the mean throughput of its good repeats. It
counts as one of the ramp's points even if no repeat is good. After a resume, the points whose cells failed or were cut
off come first, together with a point that was chosen but not begun. After them, the rule chooses again.

Each hardware group has its own points at each level of a factor. If measured in turns (`interleaved`), the hardware
groups and the levels of one lane share their points, as they are measured side by side.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise, product
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.message import Message, figure
from benchbrief.model.plan import Cell, Experiment, Levels, Plan
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.scheduling.knee_search import load_text, point_of
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.scheduling.promise_search import at_first_cells
from benchbrief.runners.seams import Stopping

EVEN = 0.25
"""The weight of an interval's length when intervals are compared. The change in the scaling exponent is added to it."""
_SAME = 1e-9
"""Scores and distances that differ by less than this share count as equal, since their last digits are rounding
errors."""

Why = Literal["first", "last", "middle", "bend"]
Curve = Mapping[float, float | None]
"""The throughput in ops/s at each point that was tried, or None if no repeat succeeded."""


@dataclass(frozen=True)
class Choice:
    """The next point to measure, and the reason for the choice.

    If the point halves an interval, `low` and `high` are the interval's ends, and `bend` is the larger of the bends at
    both ends.
    """

    point: float
    why: Why
    low: float | None = None
    high: float | None = None
    bend: float = 0.0


def next_point(candidates: Sequence[float], curves: Sequence[Curve]) -> Choice | None:
    """Return the next point of curves that were tried at the same points, or None if no candidate is left.

    `candidates` must be in rising order.
    """
    tried = sorted({point for curve in curves for point in curve})
    first, last = candidates[0], candidates[-1]
    if first not in tried:
        return Choice(first, "first")
    if last not in tried:
        return Choice(last, "last")
    best: Choice | None = None
    highest = 0.0
    for low, high in pairwise(tried):
        point = _middle(low, high, candidates)
        if point is None:
            continue
        bend = max((bend_at(end, curve) for end in (low, high) for curve in curves), default=0.0)
        score = math.log(high / low) * (EVEN + bend)
        if best is None or score > highest * (1 + _SAME):
            best, highest = Choice(point, "middle" if len(tried) == 2 else "bend", low, high, bend), score
    return best


def bend_at(point: float, curve: Curve) -> float:
    """Return how much the scaling exponent changes at a point. Returns 0 at an end of the curve, or if a result is
    missing."""
    known = sorted(each for each, rate in curve.items() if rate)
    if point not in known:
        return 0.0
    place = known.index(point)
    if place in (0, len(known) - 1):
        return 0.0
    before, after = known[place - 1], known[place + 1]
    return abs(_exponent(before, point, curve) - _exponent(point, after, curve))


def _exponent(low: float, high: float, curve: Curve) -> float:
    return math.log((curve[high] or 1.0) / (curve[low] or 1.0)) / math.log(high / low)


def _middle(low: float, high: float, candidates: Sequence[float]) -> float | None:
    """Return the candidate inside an interval that is nearest to its middle, or None if no candidate is inside."""
    middle = math.log(low * high) / 2
    inside = [each for each in candidates if low < each < high]
    if not inside:
        return None
    return min(inside, key=lambda each: (round(abs(math.log(each) - middle), 9), each))


@dataclass
class _Ramp:
    """Curves that share their points. Their cells are grouped by point, in the plan's order."""

    experiment: Experiment
    cells: dict[float, list[Cell]] = field(default_factory=dict)

    @property
    def hardware(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.hardware for cells in self.cells.values() for cell in cells))

    @property
    def levels(self) -> tuple[Levels, ...]:
        return tuple(dict.fromkeys(cell.levels for cells in self.cells.values() for cell in cells))

    @property
    def workload(self) -> str:
        return next(cell.workload for cells in self.cells.values() for cell in cells)


class AdaptiveRamps:
    """The adaptive ramps in a run, shared by its lanes. The cells of one ramp are in one lane.

    `record` is the run so far, and is extended by the journal. `tell` writes to the journal.
    """

    def __init__(self, plan: Plan, record: RunRecord, tell: Callable[[j.AnyRecord], None]) -> None:
        self._record, self._tell = record, tell
        self._ramps = ramps_of(plan)
        self._ramp_of = {cell.id: ramp for ramp in self._ramps for cells in ramp.cells.values() for cell in cells}
        self._judged: set[str] = set()
        """The cells that this execution took over from an earlier controller and that have their verdicts."""
        self._left_out: dict[str, str] = {}
        """Why cells are not run, by the cells' ids."""

    def taken_over(self, cell: Cell) -> None:
        """Note that a resumed attempt at the cell has its verdict, so that the cell is not run again."""
        self._judged.add(cell.id)

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell is not run, or "" if it is run."""
        return self._left_out.get(cell.id, "")

    def in_order(self, cells: Iterable[Cell], ending: Stopping) -> Iterator[Cell]:
        """Yield a lane's cells in running order. All cells of an adaptive ramp come in place of its first cell.

        Also yields the cells that are not run. For these, `not_needed` returns a reason. Chooses no more points once
        `ending` is set.
        """
        return at_first_cells(cells, self._ramp_of, lambda ramp: self._measured(ramp, ending))

    def _measured(self, ramp: _Ramp, ending: Stopping) -> Iterator[Cell]:
        """Yield a ramp's remaining cells: first the cells of the chosen points, in the order of the choices, then all
        others."""
        count = ramp.experiment.adaptive.points if ramp.experiment.adaptive else len(ramp.cells)
        for point in dict.fromkeys((*begun(ramp, self._record), *self._chosen(ramp))):
            yield from self._left(ramp.cells[point])
            if ending.is_set():
                return
        passed: list[float] = []
        """The chosen points at which no cell began. They count as tried, so that each is chosen only once."""
        while len(tried := begun(ramp, self._record)) < count:
            tried = [*tried, *passed]
            choice = next_point(ramp.experiment.points, list(curves(ramp, tried, self._record).values()))
            if choice is None:
                break
            self._note(ramp, choice, len(tried) + 1)
            yield from self._left(ramp.cells[choice.point])
            if ending.is_set():
                return
            if choice.point not in begun(ramp, self._record):
                passed.append(choice.point)
        had = set(begun(ramp, self._record))
        others = [cell for point, cells in ramp.cells.items() if point not in had for cell in self._left(cells)]
        why = say.point_not_needed(n=count, candidates=len(ramp.cells))
        self._left_out |= {cell.id: why for cell in others}
        yield from others

    def _left(self, cells: Iterable[Cell]) -> list[Cell]:
        return [cell for cell in cells if cell.id not in self._judged and not _is_over(cell, self._record)]

    def _chosen(self, ramp: _Ramp) -> Iterator[float]:
        for levels in ramp.levels:
            yield from self._record.choices.get((ramp.experiment.name, ramp.hardware, ramp.workload, levels), {})

    def _note(self, ramp: _Ramp, choice: Choice, number: int) -> None:
        """Write a choice to the journal for each of the levels, unless an earlier controller has already done so."""
        for levels in ramp.levels:
            chosen = j.PointChosen(
                at=now(),
                experiment=ramp.experiment.name,
                hardware=ramp.hardware,
                workload=ramp.workload,
                levels=levels,
                axis=ramp.experiment.axis,
                point=choice.point,
                number=number,
                why=_why(choice, ramp.experiment.axis),
            )
            before = self._record.choices.get(chosen.ramp, {}).get(choice.point)
            if before is None:
                self._tell(chosen)


def ramps_of(plan: Plan) -> list[_Ramp]:
    """Return the adaptive ramps of a plan, in the plan's order."""
    if not any(experiment.adaptive for experiment in plan.experiments.values()):
        return []
    found: dict[tuple[object, ...], _Ramp] = {}
    for name, experiment in plan.experiments.items():
        theirs = [cell for cell in plan.cells if cell.experiment == name] if experiment.adaptive else []
        for number, lane in enumerate(lanes(theirs)):
            for cell in lane:
                by = number if experiment.order == "interleaved" else (cell.hardware, cell.levels)
                ramp = found.setdefault((name, by, cell.workload), _Ramp(experiment))
                point = point_of(cell, experiment)
                if point is not None:
                    ramp.cells.setdefault(point, []).append(cell)
    return list(found.values())


def begun(ramp: _Ramp, record: RunRecord) -> list[float]:
    """Return the points at which a cell has begun, the earliest first."""
    since: dict[float, float] = {}
    for point, cells in ramp.cells.items():
        histories = (record.cells.get(cell.id) for cell in cells)
        starts = [start.at for each in histories if each is not None for start in each.started.values()]
        if starts:
            since[point] = min(starts)
    return sorted(since, key=lambda point: (since[point], point))


def curves(ramp: _Ramp, tried: Sequence[float], record: RunRecord) -> dict[tuple[str, Levels], Curve]:
    """Return the mean throughput at each point that was tried, in ops/s, by hardware and levels."""
    rates: dict[tuple[str, Levels], dict[float, list[float]]] = {
        key: {point: [] for point in tried} for key in product(ramp.hardware, ramp.levels)
    }
    for point in tried:
        for cell in ramp.cells[point]:
            history = record.cells.get(cell.id)
            verdict = history.ended if history else None
            if verdict is not None and verdict.status == "ok" and verdict.ops_per_s is not None:
                rates[cell.hardware, cell.levels][point].append(verdict.ops_per_s)
    return {key: _means(of_points) for key, of_points in rates.items()}


def _means(rates: Mapping[float, Sequence[float]]) -> Curve:
    return {point: statistics.fmean(found) if found else None for point, found in rates.items()}


def _is_over(cell: Cell, record: RunRecord) -> bool:
    """Return whether a cell, as the plan now defines it, has succeeded or is not needed."""
    history = record.cells.get(cell.id)
    return history is not None and cell.hash in history.good


def _why(choice: Choice, axis: str) -> Message:
    if choice.low is None or choice.high is None:
        return say.point_first() if choice.why == "first" else say.point_last()
    ends = {"low": load_text(choice.low, axis), "high": load_text(choice.high, axis)}
    if choice.why == "middle":
        return say.point_middle(**ends)
    return say.point_bend(**ends, bend=figure(choice.bend, ".2f"))
