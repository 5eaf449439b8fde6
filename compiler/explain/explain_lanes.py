"""The lanes of a plan, as `bench plan` shows them: what `bench lane` can run by itself."""

from __future__ import annotations

from typing import NamedTuple

from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate
from benchbrief.compiler.explain.explain_overlap import some
from benchbrief.compiler.explain.plain_text import Page
from benchbrief.compiler.lanes.plan_lanes import lanes_of
from benchbrief.compiler.planning.plan import Plan
from benchbrief.dsl.diagnostics.plain_amounts import about

_MOST = 12
"""More lanes than these are counted only."""


class LaneTold(NamedTuple):
    """A lane as `bench plan --json` prints it. `cells` counts those that are measured, `seconds` how long they take."""

    lane: int
    hardware: tuple[str, ...]
    hosts: tuple[str, ...]
    cells: int
    seconds: float


def describe_lanes(plan: Plan) -> list[LaneTold]:
    measured = counted_cells(plan.cells, plan.experiments)
    found = []
    for lane in lanes_of(plan):
        cells = [cell for cell in lane.cells if cell.id in measured]
        found.append(LaneTold(lane.number, lane.hardware, lane.hosts, len(cells), estimate(cells)))
    return found


def explain_lanes(plan: Plan, page: Page) -> None:
    """Add the lanes of a plan that has several."""
    lanes = describe_lanes(plan)
    if len(lanes) < 2:
        return
    page.heading("Lanes")
    page.table(
        (
            (str(each.lane), some(each.hardware), some(each.hosts), str(each.cells), about(each.seconds))
            for each in lanes[:_MOST]
        ),
        ("lane", "hardware", "hosts", "cells", "time"),
    )
    if len(lanes) > _MOST:
        page.paragraph(f"  and {len(lanes) - _MOST} more, which `bench plan --json` has")
