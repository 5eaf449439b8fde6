"""What may run beside a cell's measurement: an earlier result is no result of a plan that lets less run beside it."""

from __future__ import annotations

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.runners.scheduling.parallel_lanes import lanes

_NOTHING, _LOADS, _MEASUREMENTS = range(3)
_RANKS = {"none": _NOTHING, "loading": _LOADS, "measuring": _MEASUREMENTS}
_Unit = tuple[str, str]
"""An experiment and its hardware, whose cells all hold the same."""
_Group = tuple[str, bool]
"""Other hardware, and whether it is of the same experiment."""


class Beside:
    """What may run beside the cells of a plan, by the hardware that it runs on."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._cells: dict[_Unit, Cell] = {}
        for cell in plan.cells:
            self._cells.setdefault(_unit(cell), cell)
        self._lane = {_unit(cell): number for number, lane in enumerate(lanes(plan.cells)) for cell in lane}
        self._found: dict[tuple[_Unit, bool], dict[_Group, int]] = {}

    def rank(self, cell: Cell) -> int:
        """Return what the cell's experiment lets run on its other hardware."""
        return _RANKS[self._plan.experiments[cell.experiment].overlap]

    def of(self, cell: Cell, *, by_lane: bool) -> dict[_Group, int]:
        """Return how much may run on each other hardware. `by_lane`: what could run, also where two groups share a
        lane only by a third one. Otherwise by what the two hold themselves."""
        unit = _unit(cell)
        if (unit, by_lane) not in self._found:
            found: dict[_Group, int] = {}
            held = set(cell.holds)
            for of, other in self._cells.items():
                if other.hardware == cell.hardware:
                    continue
                apart = self._lane[of] != self._lane[unit] if by_lane else held.isdisjoint(other.holds)
                takes_turns = bool(cell.turn) and other.turn == cell.turn
                level = (_LOADS if takes_turns else _MEASUREMENTS) if apart else _NOTHING
                group = other.hardware, other.experiment == cell.experiment
                found[group] = max(level, found.get(group, _NOTHING))
            self._found[unit, by_lane] = found
        return self._found[unit, by_lane]


def ran_beside(earlier: Beside, was: Cell, now: Beside, cell: Cell, *, reused: bool) -> str:
    """Return what may have run beside an earlier cell, and may not beside the cell that it would stand for; "" when
    there is nothing.

    `reused`: the earlier run had taken the result itself, from a run of which only as much is known as that its plan
    let no more run beside the cell.
    """
    before, allowed = earlier.of(was, by_lane=not reused), now.of(cell, by_lane=False)
    if reused:
        before = {group: earlier.rank(was) for group in allowed if group[1]} | before
    for (hardware, same), level in before.items():
        if level > allowed.get((hardware, same), now.rank(cell) if same else level):
            what = "a measurement" if level == _MEASUREMENTS else "a load"
            return f"{what} on {hardware} may have run beside {was.id}, which is not allowed now"
    return ""


def _unit(cell: Cell) -> _Unit:
    return cell.experiment, cell.hardware
