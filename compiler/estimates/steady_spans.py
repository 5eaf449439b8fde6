"""Between which times a plan lies whose cells are measured until they are steady."""

from __future__ import annotations

from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate_some
from benchbrief.compiler.planning.plan import Cell, Plan


def steady_span(plan: Plan) -> tuple[float, float] | None:
    """Return the wall seconds when each such cell ends at its first look, and when none is ever steady; None for a plan
    without any."""
    if not any(each.until_steady for each in plan.experiments.values()):
        return None
    return _wall_s(plan, longest=False), _wall_s(plan, longest=True)


def _wall_s(plan: Plan, *, longest: bool) -> float:
    cells = [_lasting(plan, cell, longest=longest) for cell in plan.cells]
    return estimate_some(cells, counted_cells(cells, plan.experiments))


def _lasting(plan: Plan, cell: Cell, *, longest: bool) -> Cell:
    rule = plan.experiments[cell.experiment].until_steady
    if rule is None:
        return cell
    seconds = cell.measure_s if longest else rule.from_s
    steps = (s.model_copy(update={"seconds": seconds}) if s.kind == "measure" else s for s in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})
