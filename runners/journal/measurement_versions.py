"""Versions of how cells are measured. A result counts only for cells that are still measured in the same way.

A version number rises if the cells of an unchanged plan are measured in another way, with other steps, commands or
times. A new way of reading outputs needs no new number, because outputs are read again each time. `SHARED` lists the
changes for all tools. A tool's spec lists the changes for that tool alone (`ToolSpec.measured_anew`). Up to version
`ONE_FOR_ALL`, journals had a single number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan

SHARED = (1, 3)
"""The versions that changed how cells of all tools are measured. The last one is the current version."""
ONE_FOR_ALL = 6
"""The last version that still counted every change for all tools."""


class Recorded(NamedTuple):
    """The versions in a journal. In journals of earlier versions, `tool` is None, and `shared` counts the changes of
    all tools."""

    shared: int = 1
    tool: int | None = None


class Way(NamedTuple):
    """How a cell is measured, as the numbers of the last changes: `shared` for all tools, and `tool` for the cell's own
    tool."""

    shared: int
    tool: int


def recorded_at(start: j.RunStarted | None, cell: Cell) -> Recorded:
    """Return the versions that a run's start record has for a cell."""
    return Recorded(start.measurement, start.measurements.get(cell.tool.driver)) if start else Recorded()


def tool_version(tool: str) -> int:
    """Return the number of the tool's last change, or 0 if there was no change."""
    spec = TOOL_SPECS.usable(tool)
    return max((change.version for change in spec.measured_anew), default=0) if spec else 0


def way_now(plan: Plan, cell: Cell) -> Way:
    return way_of(plan, cell, Recorded(SHARED[-1], tool_version(cell.tool.driver)))


def way_of(plan: Plan, cell: Cell, recorded: Recorded) -> Way:
    """Return how a cell was measured, according to the versions in its journal."""
    tool = cell.tool.driver
    spec = TOOL_SPECS.usable(tool)
    arrivals = plan.experiments[cell.experiment].arrivals
    what = plan.workload_of(cell).benchmark, arrivals.kind if arrivals else "", len(cell.load_hosts)
    changes = [change.version for change in spec.measured_anew if change.concerns(*what)] if spec else []
    if recorded.tool is None:  # the tools of other packages had no numbers then
        counted = recorded.shared if tool in TOOL_SPECS.own else 0
        return Way(_last(SHARED, recorded.shared), _last(changes, counted))
    # A later version knows what it changed, and this one does not.
    newer = recorded.tool > tool_version(tool)
    shared = recorded.shared if recorded.shared > SHARED[-1] else _last(SHARED, recorded.shared)
    return Way(shared, recorded.tool if newer else _last(changes, recorded.tool))


def _last(changes: Iterable[int], version: int) -> int:
    return max((change for change in changes if change <= version), default=0)
