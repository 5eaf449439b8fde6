"""How long a checked spec would take, as `bench plan --no-history` says it, without the queries of a whole plan."""

from __future__ import annotations

from benchbrief.compiler.compile import Examined, assemble
from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import MOST_CHECKED_CELLS, RENDERING_S, alone, counted_cells, up_to
from benchbrief.dsl.diagnostics.plain_amounts import about, plural
from benchbrief.dsl.lazy_dataclass import dataclass


@dataclass(frozen=True)
class CheckedTime:
    """The wall time of a run in seconds with its brief, by the built-in estimates, and how often data are loaded.

    `at_most`: whether the run may end before its last point or repeat."""

    total_s: float
    loads: int
    at_most: bool

    @property
    def text(self) -> str:
        """Return `8 loads, about 2 min 35 s`."""
        takes = f"{'up to ' if self.at_most else ''}{about(self.total_s)}"
        return f"{plural(self.loads, 'load')}, {takes}" if self.loads else takes

    def as_dict(self) -> dict[str, object]:
        return {"total_s": round(self.total_s, 3), "loads": self.loads, "at_most": self.at_most}


def checked_time(examined: Examined) -> CheckedTime | None:
    """Return the time; None for a spec with an error, or with too many cells."""
    if examined.cells is None or examined.cells > MOST_CHECKED_CELLS:
        return None
    plan = assemble("", examined, profile=None, params={})
    if plan is None:
        return None
    cells = alone(plan.cells, counted_cells(plan.cells, plan.experiments))
    loads = sum(step.kind == "load" and step.reset == "load" for cell in cells for step in cell.steps)
    at_most = any(up_to(each) for each in plan.experiments.values())
    return CheckedTime(most_s(plan) + RENDERING_S * len(plan.reports), loads, at_most)
