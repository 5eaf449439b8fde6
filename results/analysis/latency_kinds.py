"""The kinds of imported latencies: service time, or counted from when an operation was due."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.plan import Plan
from benchbrief.model.run_messages import say


def of_unknown_kind(plan: Plan, latencies: Iterable[tuple[str, str]]) -> set[str]:
    """Return the imported cells whose tool may count latency from when an operation was due, and whose files do not
    tell whether it did. `latencies` are cells with their property `latency`."""
    kinds = [str(kind) for kind in (say.latency_service(), say.latency_intended(), say.latency_both())]
    known = {cell for cell, kind in latencies if kind in kinds}
    able = {name for name in {c.tool.driver for c in plan.cells} if _gives_intended(name)}
    return {cell.id for cell in plan.cells if cell.tool.driver in able and cell.id not in known}


def _gives_intended(tool: str) -> bool:
    spec = TOOL_SPECS.usable(tool)
    return spec is not None and spec.intended_latency
