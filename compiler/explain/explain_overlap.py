"""What runs beside a measurement, in words: hardware that is worked on side by side, and loads that cost no time."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.estimates.grouped_hardware import Together, grouped_hardware
from benchbrief.compiler.estimates.overlapped_loads import hidden_loads, loading_s, one_by_one_s
from benchbrief.compiler.explain.plain_text import Page
from benchbrief.compiler.planning.plan import Experiment, Plan
from benchbrief.dsl.diagnostics.plain_amounts import about, duration

_MOST = 12
"""More loads than these are counted only."""
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


def _as_shared(lane: Together) -> str:
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
    page.table(
        (
            f"  {each.cell}",
            f"{duration(each.hidden_s)} of {duration(each.seconds)}",
            f"beside {some(each.beside)}",
        )
        for each in found[:_MOST]
    )
    if len(found) > _MOST:
        page.paragraph(f"  and {len(found) - _MOST} more, which `bench plan --json` has")


def some(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
