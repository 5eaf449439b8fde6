"""The points that were measured of a ramp whose points a run chooses, and the rule that it chose them by."""

from __future__ import annotations

from benchbrief.compiler.estimates.grouped_hardware import shares_points
from benchbrief.compiler.planning import plan as p
from benchbrief.reports.text.number_format import points
from benchbrief.reports.view.report_data import Results, Search


def adaptive_ramp(experiment: p.Experiment, rule: p.Adaptive, results: Results) -> str:
    """Return the rule of an adaptive ramp, with the points that each of its curves was measured at."""
    words, plan = results.words, results.plan
    told = [
        words[f"d_points_on_{experiment.axis}"].format(
            points=points(tried(Search(experiment.name, hardware, workload, None), experiment.axis, results))
            or words["missing"],
            hardware=plan.hardware[hardware].label,
            workload=plan.workloads[workload].label,
        )
        for hardware in experiment.hardware
        for workload in experiment.workloads
    ]
    shared = shares_points(plan, experiment.name)
    return words["d_adaptive"].format(
        n=rule.points,
        candidates=len(experiment.points),
        own=words["d_adaptive_shared" if shared else "d_adaptive_own"],
        measured=words["semicolon"].join(told),
    )


def tried(search: Search, axis: str, results: Results) -> list[float]:
    """Return the points that the search measured."""
    key = (search.experiment, search.hardware, search.workload)
    cells = (c for c in results.cells if (c.experiment, c.hardware, c.workload) == key and c.status == "ok")
    return sorted({float(value) for cell in cells if (value := getattr(cell, axis)) is not None})
