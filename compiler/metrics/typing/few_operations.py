"""Warnings of percentiles that will rest on too few operations, where the offered load says how many there will be."""

from __future__ import annotations

from benchbrief.compiler.frontend.scope import ExperimentKey
from benchbrief.compiler.metrics.evidence_errors import FewBeyond
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.planned_points import Run
from benchbrief.compiler.metrics.typing.terms import Measure, Term, leaves
from benchbrief.compiler.tail_operations import are_few, share_beyond


def warn_of_few_operations(typer: Typer, term: Term) -> None:
    """Warn once for each measure, experiment and workload, at the lowest load that the term reads. A search for a
    promise has a warning of its own, and a closed loop does as many operations as it can."""
    experiments = {experiment.key: experiment for experiment in typer.scope.experiments}
    shares = {workload.key: dict(workload.shares) for workload in typer.scope.workloads}
    for leaf in leaves(term):
        beyond = share_beyond(leaf.kind.statistic) if isinstance(leaf, Measure) and leaf.kind.is_percentile else None
        if not isinstance(leaf, Measure) or beyond is None:
            continue
        fixed = dict(leaf.fixed)
        asked = {*leaf.dims, *fixed}
        operation = fixed.get("operation")
        for run in leaf.runs:
            place = experiments[run.experiment]
            share = shares.get(run.workload, {}).get(str(operation))
            target = _target(run, place, fixed.get("target"))
            if target is None or not share:
                continue
            phase = fixed.get("phase")
            phases = (phase,) if isinstance(phase, int | float) else range(1, run.phases + 1)
            windows = [((n - 1) * run.phase_s, n * run.phase_s) for n in phases]
            if "phase" not in asked:
                windows = [(0.0, place.length[1])]
            due, seconds = min((place.schedule.due(target, begin, end), end - begin) for begin, end in windows)
            repeats = 1 if "repeat" in asked else run.repeats
            if due and are_few(due * share * repeats * beyond):
                span, measure = place.measured_at or place.span, f"{leaf.kind.name}[{operation}]"
                found = (measure, run.workload, leaf.kind.statistic, due / seconds, share, seconds, repeats)
                typer.report(FewBeyond(span, *found, even=place.schedule.is_even))


def _target(run: Run, place: ExperimentKey, fixed: object) -> float | None:
    """Return the lowest offered rate; 0 for arrivals that have rates of their own, and None without a schedule."""
    arrivals = place.schedule.arrivals
    if arrivals and arrivals.own_rates:
        return 0.0
    if run.axis != "target" or run.promise or not run.points:
        return None
    return float(fixed) if isinstance(fixed, int | float) else min(run.points)
