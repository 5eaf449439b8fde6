"""Warns of thin evidence: cells that are measured once or not at all, and percentiles of too few operations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, TypeGuard

from benchbrief.compiler.frontend.scope import ExperimentKey
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.metric_errors import FewBeyond, PassesOver, SingleRun, SizeOfTime
from benchbrief.compiler.metrics.planned_points import PlannedRun, Runs
from benchbrief.compiler.metrics.terms import (
    AxisValue,
    FactTerm,
    Measure,
    NumberTerm,
    OperationTerm,
    Reduction,
    SpreadTerm,
    Term,
    leaves,
    mention,
)
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import Dimension, Unjudged
from benchbrief.model.precision import are_few, share_beyond
from benchbrief.model.units import parse_unit

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.expressions import Typer

Range = tuple[float, float]
ANY: Range = (-math.inf, math.inf)
NEVER_BELOW_0: Range = (0.0, math.inf)
SHARE: Range = (0.0, 1.0)
_AMONG = frozenset({"mean", "median", "min", "max", "first", "last", "list", "saturation"})
"""Reductions whose result lies between the lowest and the highest value that they reduce."""
_SIZES = frozenset({"count", "sd", "onset", "knee", "saturation.target", "usl.peak_load"})
"""Reductions whose result is a number of points, a width, or a place on an axis."""
_TEMPERATURE = parse_unit("degC").dimension


def value_range(term: Term) -> Range:
    """Return the lowest and the highest possible value in base units. Either may be infinite.

    Of benchbrief's own measures, only temperatures may be below 0. For a measure of another package, this is unknown
    here, so the caller looks at its values.
    """
    match term:
        case NumberTerm():
            return term.value, term.value
        case Measure():
            return ANY if term.unit == _TEMPERATURE else SHARE if term.kind.view == "errors" else NEVER_BELOW_0
        case AxisValue():
            return NEVER_BELOW_0
        case FactTerm():
            values = [value for _, value in term.values]
            return (min(values), max(values)) if values else ANY
        case SpreadTerm():
            return value_range(term.operand)
        case Reduction() if term.function in _AMONG:
            return value_range(term.operand)
        case Reduction(function="sum") if value_range(term.operand)[0] >= 0:
            return NEVER_BELOW_0
        case Reduction() if term.function in _SIZES or term.function.endswith("_se"):
            return NEVER_BELOW_0
        case OperationTerm(operator="half_width"):
            return NEVER_BELOW_0
        case OperationTerm(operator="p_value" | "p_value in %" | "p_value of percentiles"):
            return SHARE
        case OperationTerm():
            return _of_operation(term.operator, [value_range(operand) for operand in term.operands])
        case _:
            return ANY


def varies_by_ratio(term: Term) -> bool:
    """Return whether the noise of a term's values is proportional to them. This is so for rates, times and prices,
    which have no upper bound and can't be below 0."""
    return value_range(term) == NEVER_BELOW_0


def _of_operation(operator: str, of: list[Range]) -> Range:
    match operator, of:
        case "-", [(low, high)]:
            return -high, -low
        case "+", [(a, b), (c, d)]:
            return a + c, b + d
        case "-", [(a, b), (c, d)]:
            return a - d, b - c
        case "*", [left, right]:
            return _hull([0.0 if 0.0 in pair else pair[0] * pair[1] for pair in product(left, right)])
        case "/", [left, (low, high)] if low >= 0:  # division by 0 gives a missing value
            return _hull([_quotient(end, divisor) for end in left for divisor in (low, high)])
        case _:
            return ANY


def _quotient(end: float, divisor: float) -> float:
    if divisor == 0:
        return math.copysign(math.inf, end) if end else 0.0
    return 0.0 if math.isinf(divisor) else end / divisor


def _hull(ends: list[float]) -> Range:
    return min(ends), max(ends)


_WHERE: tuple[Dimension, ...] = ("workload", "experiment")


def warn_of_cells(typer: Typer, expect: Span, term: Term, warned: set[str]) -> tuple[Unjudged, ...]:
    """Warn of single runs, and of cells that the expectation does not judge. Return the latter.

    `warned` are the experiments without repeats that have already had a warning. Further ones are added to it.
    """
    measures = [leaf for leaf in leaves(term) if isinstance(leaf, Measure)]
    runs = (run for measure in measures for run in measure.runs)
    single = dict.fromkeys(run.experiment for run in runs if run.repeats == 1 and run.experiment not in warned)
    warned.update(single)
    if single:
        typer.report(SingleRun(expect, tuple(single)))
    found = dict.fromkeys(each for measure in measures for each in _passed_over(expect, measure, typer.runs))
    for each in found:
        typer.report(each)
    return tuple(Unjudged(measure=each.measure, dim=each.dim, keys=each.missing_keys) for each in found)


def _passed_over(expect: Span, measure: Measure, runs: Runs) -> Iterator[PassesOver]:
    """Yield a warning if some workloads are not judged because they lack the operation or the probe, and another if
    some experiments are not judged for such a reason. Nothing is said about cells that an index excludes.

    Things that only some experiments can have, such as an event, a phase or a promise, do not count as missing.
    """
    operation = dict(measure.fixed).get("operation", "")
    if not operation and not measure.kind.probe:
        return
    left = runs
    for dim, key in measure.fixed:
        if dim != "operation":
            left = left.at(dim, key)
    for dim in _WHERE:
        judged = tuple(map(str, measure.runs.keys(dim)))
        missing = tuple(str(key) for key in left.keys(dim) if key not in judged)
        if missing:
            yield PassesOver(expect, measure.text, dim, missing, judged, measure.kind.probe)
            left = Runs(run for run in left if run.keys(dim)[0] in judged)


def warn_of_few_operations(typer: Typer, term: Term) -> None:
    """Warn if a percentile depends on too few operations at the lowest load that the term reads. There is one warning
    for each measure, experiment and workload.

    Two kinds of load are left out: searches for a promise, which have their own warning, and closed loops, whose number
    of operations is not known in advance.
    """
    experiments, shares = typer.scope.experiments_by_name, typer.scope.shares
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
                span = place.measured_at or place.span
                found = (leaf.text, run.workload, leaf.kind.statistic, due / seconds, share, seconds, repeats)
                typer.report(FewBeyond(span, *found, even=place.schedule.is_even))


def warn_of_grown_sizes(typer: Typer, expr: ast.Expr, term: Term) -> None:
    """Warn of a comparison that reads the size of a database after a closed loop of writes, since faster writes make it
    larger."""
    sizes = [leaf for leaf in leaves(term) if _is_grown(leaf)]
    if not sizes:
        return
    writing = {workload.key for workload in typer.scope.workloads if workload.writes}
    for measure in dict.fromkeys(leaf.kind.name for leaf in sizes):
        runs = (run for leaf in sizes if leaf.kind.name == measure for run in leaf.runs)
        grown = dict.fromkeys(run.workload for run in runs if run.workload in writing and run.axis != "target")
        if grown:
            typer.report(SizeOfTime(mention(expr, measure), measure, tuple(grown)))


def _is_grown(leaf: Term) -> TypeGuard[Measure]:
    return isinstance(leaf, Measure) and leaf.kind.is_size and leaf.kind.name != "database.size_loaded"


def _target(run: PlannedRun, place: ExperimentKey, fixed: object) -> float | None:
    """Return the lowest offered rate, 0 for arrivals that have rates of their own, or None if no load is offered."""
    arrivals = place.schedule.arrivals
    if arrivals and arrivals.own_rates:
        return 0.0
    if run.axis != "target" or run.promise or not run.points:
        return None
    return float(fixed) if isinstance(fixed, int | float) else min(run.points)
