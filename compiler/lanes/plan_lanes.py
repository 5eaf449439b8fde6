"""The lanes of a plan: the parts of it that can be run apart, by processes that know nothing of each other.

Cells that share a host or equipment belong to one lane. So do cells that decide on each other while they run: those
that take turns at measuring, those that take a number from a search, those whose failure ends the run, and those of a
budget that goes by expectations. A lane has a number, which follows from the plan alone, and the names of its hardware
groups, each of which is in one lane only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.compiler.planning.plan import Cell, Plan

_STOPS = "stop "
_BUDGET = "budget "


@dataclass(frozen=True)
class PlanLane:
    """A lane. `number` counts from 1, in the order of the plan's cells."""

    number: int
    cells: tuple[Cell, ...]

    @property
    def hardware(self) -> tuple[str, ...]:
        """Return the keys of its hardware groups."""
        return tuple(dict.fromkeys(cell.hardware for cell in self.cells))

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(host for cell in self.cells for host in cell.locks))


def lanes_of(plan: Plan) -> tuple[PlanLane, ...]:
    joined: dict[str, str] = {}

    def root(bond: str) -> str:
        while (further := joined.setdefault(bond, bond)) != bond:
            joined[bond] = bond = joined[further]
        return bond

    for cell in plan.cells:
        first = root(_own(cell))
        for bond in _bonds(plan, cell):
            joined[root(bond)] = first
    found: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        found.setdefault(root(_own(cell)), []).append(cell)
    return tuple(PlanLane(number, tuple(cells)) for number, cells in enumerate(found.values(), start=1))


def lane_named(plan: Plan, name: str) -> PlanLane | None:
    """Return the lane with this number, or the one of this hardware group; None when there is none."""
    return next((lane for lane in lanes_of(plan) if name in (str(lane.number), *lane.hardware)), None)


def only_lane(plan: Plan, lane: PlanLane) -> Plan:
    """Return the plan with the cells of one lane alone."""
    return plan.model_copy(update={"cells": lane.cells})


def _own(cell: Cell) -> str:
    return f"hardware {cell.hardware}"


def _bonds(plan: Plan, cell: Cell) -> Iterator[str]:
    """Yield what a cell may share with others. Cells that share one of these belong together."""
    experiment = plan.experiments[cell.experiment]
    yield from (f"holds {held}" for held in cell.holds)
    if cell.turn:
        yield f"turn {cell.turn}"
    for knee in (cell.threads_from, cell.target_from):
        if knee is not None:
            yield f"hardware {knee.hardware}"
    if any(each.on_failure == "stop" for each in plan.experiments.values()):
        yield _STOPS
    if plan.expects and is_budgeted(plan, experiment):
        yield _BUDGET
