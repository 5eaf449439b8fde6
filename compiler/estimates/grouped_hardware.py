"""Which hardware of an experiment runs one after another, and what it shares.

Groups in one lane share a host, a client or other equipment. Those in several lanes are measured side by side, or by
turns with `overlap = loading`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchbrief.compiler.estimates.estimate import lanes
from benchbrief.compiler.lanes.joined_groups import ONE_BY_ONE
from benchbrief.compiler.planning.plan import Cell, Plan


@dataclass(frozen=True)
class HardwareLane:
    """Hardware of an experiment that runs one after another, and what it shares; nothing when others join it."""

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
    """Return whether an adaptive ramp has the same points on all hardware: in turns, on common hosts or equipment. As
    in a run, the experiment's own cells decide: others may join hardware in a lane, but not its ramps."""
    own = plan.model_copy(update={"cells": tuple(cell for cell in plan.cells if cell.experiment == experiment)})
    return plan.experiments[experiment].order == "interleaved" and len(grouped_hardware(own, experiment)) == 1


def _common(cells: Iterable[Cell], plan: Plan) -> tuple[str, ...]:
    """Return what all of these cells hold, or else what the first two do, as messages say it."""
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
