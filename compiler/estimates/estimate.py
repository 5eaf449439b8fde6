"""The length of a plan: cells on shared hosts or equipment run one after another, the others side by side.

Searches, and repeats that may end early, count in full, so that the estimate is an upper bound. The last cell of a
group of hosts has no cool-down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from benchbrief.compiler.estimates.timetable import Slot, timetable
from benchbrief.compiler.lanes.joined_groups import join_groups
from benchbrief.compiler.planning.plan import Cell, ResetWork


def lanes(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the lane of each cell, by its id: cells with a common host or equipment, directly or through others, share
    one."""
    cells = list(cells)
    names = join_groups(cell.holds for cell in cells)
    return {cell.id: names[cell.locks[0]] for cell in cells}


def estimate(cells: Iterable[Cell], lane_of: Mapping[str, str] | None = None) -> float:
    """Estimate the wall time in seconds of cells in the order of their plan. `lane_of` has the lanes of the whole plan,
    where the cells are a part of it: others may join two of their lanes."""
    cells = list(cells)
    if lane_of is None:
        lane_of = lanes(cells)
    if any(cell.turn for cell in cells):
        return max((slot.end for slot in slots(cells, lane_of).values()), default=0.0)
    free: dict[str, float] = {}
    """When each group of hosts is free."""
    ends: dict[str, float] = {}
    """When each group of hosts ends, without the last cool-down."""
    over: dict[tuple[str, str, str], float] = {}
    """When the cells of each experiment, hardware and workload end: others may wait for them."""
    taken: dict[int, tuple[float, float]] = {}
    """The seconds of steps that many cells share, by their identity."""
    for cell in cells:
        lane, begin = lane_of[cell.id], 0.0
        for knee in (cell.threads_from, cell.target_from):
            if knee:
                begin = max(begin, over.get((knee.experiment, knee.hardware, knee.workload), 0.0))
        if (times := taken.get(id(cell.steps))) is None:
            times = taken[id(cell.steps)] = seconds(cell), cool_down(cell)
        ends[lane] = end = max(begin, free.get(lane, 0.0)) + times[0]
        over[cell.experiment, cell.hardware, cell.workload] = end
        free[lane] = end + times[1]
    return max(ends.values(), default=0.0)


def slots(cells: Iterable[Cell], lane_of: Mapping[str, str] | None = None) -> dict[str, Slot]:
    """Return when each cell should run, by its id. `lane_of` as in `estimate`."""
    cells = list(cells)
    if lane_of is None:
        lane_of = lanes(cells)
    by_lane: dict[str, list[Cell]] = {}
    for cell in cells:
        by_lane.setdefault(lane_of[cell.id], []).append(cell)
    return timetable(by_lane.values())


def estimate_some(cells: Iterable[Cell], chosen: Collection[str], lane_of: Mapping[str, str] | None = None) -> float:
    """Estimate the wall time in seconds of the cells with these ids. `lane_of` as in `estimate`."""
    return estimate(alone(cells, chosen), lane_of)


def alone(cells: Iterable[Cell], chosen: Collection[str]) -> tuple[Cell, ...]:
    """Return the cells with these ids, as they are when the others are not run. The first of them that needs a data set
    loads it, even if another cell of the plan has that step."""
    owed: dict[str, float] = {}
    """The loading time of each data set that cells outside `ids` would load."""
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
    """Return how many of these cells load or restore their data, and about how many seconds that takes, by kind."""
    found: dict[ResetWork, tuple[int, float]] = {}
    for cell in cells:
        for step in cell.steps:
            if step.reset:
                count, seconds = found.get(step.reset, (0, 0.0))
                found[step.reset] = count + 1, seconds + step.seconds
    return found
