"""Warnings of percentiles that will rest on too few operations, where the offered load says how many there will be."""

from __future__ import annotations

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
        by_phase = "phase" in leaf.dims or "phase" in fixed
        for run in leaf.runs:
            rate, operation = _rate(run, fixed.get("target")), fixed.get("operation")
            share = shares.get(run.workload, {}).get(str(operation))
            if not rate or not share:
                continue
            seconds = run.phase_s * (1 if by_phase else run.phases)
            if are_few(rate * share * seconds * run.repeats * beyond):
                place = experiments[run.experiment]
                span, measure = place.measured_at or place.span, f"{leaf.kind.name}[{operation}]"
                found = (measure, run.workload, leaf.kind.statistic, rate, share, seconds, run.repeats)
                typer.report(FewBeyond(span, *found))


def _rate(run: Run, fixed: object) -> float | None:
    if run.axis != "target" or run.promise or not run.points:
        return None
    return float(fixed) if isinstance(fixed, int | float) else min(run.points)
