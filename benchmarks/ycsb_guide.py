"""Compares the planned hours of YCSB's lab specs with the hours of a script that follows YCSB's guide and measures the
same.

The guide (https://github.com/brianfrankcooper/YCSB/wiki/Core-Workloads, "Running the workloads") keeps the database at
its size by doing things in this order: load; run A, B, C, F and D; delete the data; load again; run E. D and E insert
records, so the script goes through that order for each point and repeat, and loads anew after each D and E. It loads
nowhere else, since A, B, C and F leave the database as large as it was. Times are those of `bench plan`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates.estimate import estimate
from benchbrief.model.plan import Cell, Plan

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("power_efficiency", "cluster_shrink", "price_performance")
ORDER = "abcfde"
_INSERT = ("d", "e")


def by_the_guide(plan: Plan) -> Iterator[Cell]:
    """Yield a plan's cells in the guide's order, with the guide's loads instead of the plan's."""
    full_s = {
        (cell.hardware, cell.dataset.records): step.seconds
        for cell in plan.cells
        if cell.dataset
        for step in cell.steps
        if step.reset == "load"
    }
    clean: set[str] = set()
    """The hardware whose data set has had no inserts since its load."""
    for cell in sorted(plan.cells, key=lambda cell: _place(plan, cell)):
        load_s = 0.0
        if cell.dataset and cell.hardware not in clean:
            load_s = full_s[cell.hardware, cell.dataset.records]
        if cell.dataset:
            clean.add(cell.hardware)
        if not cell.dataset or plan.workloads[cell.workload].benchmark in _INSERT:
            clean.discard(cell.hardware)
        steps = (step.model_copy(update={"seconds": load_s}) if step.kind == "load" else step for step in cell.steps)
        yield cell.model_copy(update={"steps": tuple(steps)})


def _place(plan: Plan, cell: Cell) -> tuple[str, bool, float, int, int]:
    """Return the sort key of a cell. Measured loads sort before all other cells, since they leave a different
    database."""
    workload = plan.workloads[cell.workload]
    point = cell.target if cell.target is not None else cell.threads or 0
    return cell.hardware, cell.dataset is not None, point, cell.repeat, ORDER.index(workload.benchmark)


def hours(name: str) -> tuple[float, float]:
    """Return the hours of a lab spec by the guide and by the plan, without the time to render the brief."""
    plan = check(EXAMPLES / name / f"{name}.bench").plan
    assert plan is not None
    return estimate(tuple(by_the_guide(plan))) / 3600, estimate(plan.cells) / 3600


def main() -> bool:
    for name in NAMES:
        guide_h, planned_h = hours(name)
        print(f"  {name}: by the guide {guide_h:.1f} h, planned {planned_h:.1f} h: ratio {guide_h / planned_h:.2f}")
    return True
