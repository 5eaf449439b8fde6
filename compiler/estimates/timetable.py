"""When the cells of a plan should run, by the estimates: which are worked on side by side, and which wait.

Cells that share hosts or equipment form a lane, and run one after another in the plan's order. Lanes are worked on
side by side. Cells with the same turn (`overlap = loading`) load whenever their lane is free, and are measured one at
a time: the one that has waited longest is next.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchbrief.compiler.planning.plan import Cell, StepKind

_BEFORE_TURN: tuple[StepKind, ...] = ("prepare", "load")
_IN_TURN: tuple[StepKind, ...] = ("warm_up", "measure")

_Awaited = tuple[str, str, str]
"""An experiment, hardware and workload whose cells find a knee that others wait for."""


@dataclass(frozen=True)
class Slot:
    """When a cell should run, in seconds since the beginning.

    `begin` is when it is prepared, `ready` when its data set is there, `measured` the beginning and end of its warm-up
    and measurement. It ends with `end`; its hosts cool down until `free`.
    """

    cell: Cell
    begin: float
    ready: float
    measured: tuple[float, float]
    end: float
    free: float

    @property
    def loading(self) -> tuple[float, float]:
        """Return the beginning and end of its load, or of what else brings back its data."""
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
    """`_events` has what happens next: (time, the lane's place in the plan, what)."""

    lanes: Sequence[_Lane]
    slots: dict[str, Slot] = field(default_factory=dict)
    _events: list[tuple[float, int, Literal["free", "ready"]]] = field(default_factory=list)
    _taken_until: dict[str, float] = field(default_factory=dict)
    _left: Counter[_Awaited] = field(default_factory=Counter)
    _waiting: dict[_Awaited, list[int]] = field(default_factory=dict)

    def fill(self) -> dict[str, Slot]:
        self._left.update(_key(cell) for lane in self.lanes for cell in lane.cells)
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
            awaited = knee.experiment, knee.hardware, knee.workload
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
        self._left[_key(cell)] -= 1
        if not self._left[_key(cell)]:
            for waiting in self._waiting.pop(_key(cell), ()):
                heapq.heappush(self._events, (end, waiting, "free"))


def timetable(lanes: Iterable[Sequence[Cell]]) -> dict[str, Slot]:
    """Return the slot of each cell, by its id. The lanes are in the order of the plan, as their cells are."""
    return _Timetable([_Lane(cells) for cells in lanes]).fill()


def seconds_of(cell: Cell, kinds: Sequence[StepKind]) -> float:
    """Return the seconds of the cell's steps of these kinds."""
    return sum(step.seconds for step in cell.steps if step.kind in kinds)


def _key(cell: Cell) -> _Awaited:
    return cell.experiment, cell.hardware, cell.workload
