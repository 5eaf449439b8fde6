"""Which loads of a plan run while another hardware group is measured (`overlap = loading`), by the estimates."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import takewhile

from benchbrief.compiler.estimates.estimate import alone, counted_cells, estimate, lanes, slots
from benchbrief.compiler.planning.plan_lanes import ONE_BY_ONE
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Cell, Plan

_Span = tuple[float, float]


@dataclass(frozen=True)
class HiddenLoad:
    """A load that runs while other groups are measured: its seconds, those beside a measurement, and which cells' those
    are."""

    cell: str
    seconds: float
    hidden_s: float
    beside: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "cell": self.cell,
            "loading_s": round(self.seconds, 3),
            "hidden_s": round(self.hidden_s, 3),
            "beside": list(self.beside),
        }


def hidden_loads(plan: Plan) -> tuple[HiddenLoad, ...]:
    """Return the loads of experiments with `overlap = loading` that run beside a measurement, by the estimates."""
    if not any(cell.turn for cell in plan.cells):
        return ()
    cells = _counted(plan)
    found = slots(cells)
    lane_of = lanes(cells)
    measured: dict[str, list[tuple[_Span, str]]] = {}
    for cell_id, slot in sorted(found.items(), key=lambda each: each[1].measured):
        measured.setdefault(slot.cell.turn, []).append((slot.measured, cell_id))
    hidden: list[HiddenLoad] = []
    for cell in cells:
        begin, end = found[cell.id].loading
        if not cell.turn or end <= begin:
            continue
        turns = measured[cell.turn]  # one after another, so that few of them are beside a load
        first = max(0, bisect_right(turns, begin, key=lambda each: each[0][0]) - 1)
        beside = {
            other: min(end, until) - max(begin, since)
            for (since, until), other in takewhile(partial(_begins_before, end), turns[first:])
            if lane_of[other] != lane_of[cell.id] and min(end, until) > max(begin, since)
        }
        if beside:
            hidden.append(HiddenLoad(cell.id, end - begin, sum(beside.values()), tuple(beside)))
    return tuple(hidden)


def _begins_before(end: float, measured: tuple[_Span, str]) -> bool:
    return measured[0][0] < end


def one_by_one_s(plan: Plan) -> float:
    """Estimate the wall time in seconds if nothing ran beside a measurement of an experiment that loads meanwhile."""
    return estimate(_alone(cell) if cell.turn else cell for cell in _counted(plan))


def loading_s(plan: Plan) -> float:
    """Return the seconds of all loads and resets of experiments with `overlap = loading`."""
    return sum(step.seconds for cell in _counted(plan) if cell.turn for step in cell.steps if step.kind == "load")


def _counted(plan: Plan) -> tuple[Cell, ...]:
    return alone(plan.cells, counted_cells(plan.cells, plan.experiments))


def _alone(cell: Cell) -> Cell:
    return cell.model_copy(update={"turn": "", "shares": (*cell.shares, f"{ONE_BY_ONE}{cell.turn}")})
