"""What a run has spent of its budgets."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Plan
from benchbrief.results.ingest.run_evidence import Evidence
from benchbrief.runners.scheduling.budgeted_repeats import spent_s
from benchbrief.runners.scheduling.parallel_lanes import lanes


@dataclass(frozen=True)
class BudgetSpent:
    """A budget and what is spent of it, in seconds, on the group of hosts that has spent most. `experiment` is None for
    that of the whole run."""

    experiment: str | None
    budget_s: float
    spent_s: float


def budgets_spent(evidence: Evidence) -> tuple[BudgetSpent, ...]:
    plan = evidence.plan
    found: list[tuple[str | None, float]] = [
        (name, each.budget_s) for name, each in plan.experiments.items() if each.budget_s is not None
    ]
    if plan.budget_s is not None:
        found.append((None, plan.budget_s))
    return tuple(BudgetSpent(name, budget_s, round(_most(evidence, plan, name), 3)) for name, budget_s in found)


def _most(evidence: Evidence, plan: Plan, name: str | None) -> float:
    simulated = evidence.simulated is not None
    sums = (
        sum(spent_s(cell, evidence.record, simulated=simulated) for cell in lane if name in (None, cell.experiment))
        for lane in lanes(plan.cells)
    )
    return max(sums, default=0.0)
