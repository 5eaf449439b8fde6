"""The lanes of a plan, and what runs beside a measurement, in words, for `bench plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate
from benchbrief.compiler.estimates.grouped_hardware import HardwareLane, grouped_hardware
from benchbrief.compiler.estimates.overlapped_loads import hidden_loads, loading_s, one_by_one_s
from benchbrief.compiler.explain.plain_text import Page
from benchbrief.compiler.lanes.plan_lanes import lanes_of
from benchbrief.compiler.planning.plan import Experiment, Plan
from benchbrief.dsl.diagnostics.plain_amounts import about, duration


class DescribedLane(NamedTuple):
    """A lane as `bench plan --json` prints it. `cells` counts those that are measured, `seconds` how long they take."""

    lane: int
    hardware: tuple[str, ...]
    hosts: tuple[str, ...]
    cells: int
    seconds: float


def describe_lanes(plan: Plan) -> list[DescribedLane]:
    measured = counted_cells(plan.cells, plan.experiments)
    found = []
    for lane in lanes_of(plan):
        cells = [cell for cell in lane.cells if cell.id in measured]
        found.append(DescribedLane(lane.number, lane.hardware, lane.hosts, len(cells), estimate(cells)))
    return found


def explain_lanes(plan: Plan, page: Page) -> None:
    """Add the lanes of a plan that has several."""
    lanes = describe_lanes(plan)
    if len(lanes) < 2:
        return
    page.heading("Lanes")
    rows = (
        (str(each.lane), some(each.hardware), some(each.hosts), str(each.cells), about(each.seconds)) for each in lanes
    )
    page.first_rows(rows, ("lane", "hardware", "hosts", "cells", "time"))


_NAMED = 4


def side_by_side(plan: Plan, e: Experiment) -> str:
    """Return which hardware is worked on at the same time; "" where it is all on the same hosts, as variants are."""
    if len(e.hardware) < 2:
        return ""
    if e.overlap == "none":
        return "nothing runs on other hardware while one is measured"
    lanes = grouped_hardware(plan, e.name)
    alone = [f"{some(lane.hardware)} one after another{_as_shared(lane)}" for lane in lanes if len(lane.hardware) > 1]
    if len(lanes) == 1:
        groups = {plan.hardware[key].group for key in e.hardware}
        return f"no: {alone[0]}" if len(groups) > 1 else ""
    beside = (
        "one is measured at a time, while the others load"
        if e.overlap == "loading"
        else "these share nothing that is declared, and are measured at the same time"
    )
    return "; ".join((f"{', '.join(some(lane.hardware) for lane in lanes)}: {beside}", *alone))


def _as_shared(lane: HardwareLane) -> str:
    return f", as they share {some(lane.shared)}" if lane.shared else ""


def explain_overlap(plan: Plan, page: Page) -> None:
    """Add which loads run while another group is measured, where a spec asks for that."""
    found = hidden_loads(plan)
    if not found:
        return
    page.heading("Loads while another group is measured")
    hidden_s, of_s = sum(each.hidden_s for each in found), one_by_one_s(plan)
    page.paragraph(
        f"{duration(hidden_s)} of {duration(loading_s(plan))} of loading and resets; with `overlap = none`, the cells "
        f"would take {about(of_s)} instead of {duration(plan.estimate_s)}"
    )
    page.first_rows(
        (f"  {each.cell}", f"{duration(each.hidden_s)} of {duration(each.seconds)}", f"beside {some(each.beside)}")
        for each in found
    )


def some(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
