"""Functions of a whole curve (`knee`, `saturation`, `usl`, `time_to_steady`), functions of repeats, and the condition
`steady`.

If a result is unknown, it is missing. `compiler/metrics/lower_to_sql.py` computes the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.measure_catalogue import KINDS, SAMPLED
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.indexing import yet_to_be_found
from benchbrief.compiler.metrics.terms import (
    Demanded,
    Dims,
    Measure,
    NumberTerm,
    OperationTerm,
    Reduction,
    SteadyTerm,
    Term,
    Typed,
    along,
    fix,
    leaves,
    matching,
    offered_keys,
    parts,
    with_parts,
)
from benchbrief.dsl.diagnostics.plain_amounts import duration
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.achieved_load import KEEPS_UP
from benchbrief.model.plan import Dimension
from benchbrief.model.steadiness import FEWEST_PHASES
from benchbrief.model.units import DIMENSIONLESS, parse_unit

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.expressions import Typer

CURVES: Mapping[str, tuple[Dimension, ...]] = {
    "knee": ("threads", "target"),
    "saturation": ("target",),
    "usl": ("threads",),
    "time_to_steady": ("phase",),
}
"""The functions, each with the possible axes of its curve. `knee` also accepts a factor of numbers."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "saturation": ("target",),
    "usl": ("lambda", "sigma", "kappa", "lambda_se", "sigma_se", "kappa_se", "r2", "peak", "peak_load"),
}
"""The fields that may follow a function's dot: `usl(throughput over threads).peak`."""

FEWEST_POINTS = 3
"""The fewest points of a curve with a knee: one before the knee, one at it, and one behind it."""

FEWEST_LOADS = 4
"""The fewest points for a fit of the Universal Scalability Law, which is one more than the law has parameters."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {"saturation": ("at",)}

_TOTAL = replace(KINDS["throughput"], on_demand=KINDS["throughput"].on_demand - {"operation"})
_SECONDS = parse_unit("s").dimension


ABSENT = {
    "knee": "no_knee",
    "saturation": "no_saturation",
    "steady": "no_steady",
    "usl": "no_usl",
    "list": "two_repeats",
    "sd": "two_values",
    "when": "none_fulfils",
}
"""For each function, the code of the sentence (`model/message.py`) that explains a missing value."""


def why_absent(term: Term) -> tuple[str, ...]:
    """Return the codes of possible reasons why a term has no value even though all its measures were measured."""
    return tuple(ABSENT[word] for word in dict.fromkeys(_unreached(term)))


def _unreached(term: Term) -> Iterator[str]:
    if isinstance(term, SteadyTerm):
        yield "steady"
        return
    if isinstance(term, Reduction) and (word := term.function.partition(".")[0]) in ABSENT:
        yield word
    for part in parts(term):
        yield from _unreached(part)
    if isinstance(term, Reduction) and term.when is not None and not isinstance(term.when, SteadyTerm):
        yield "when"


def total_throughput(term: Term) -> Term:
    """Return the throughput of all operations together, at the same points as the given throughput."""
    if not isinstance(term, Measure):
        raise TypeError(f"{type(term).__name__} is no throughput")
    fixed = tuple(pair for pair in term.fixed if pair[0] != "operation")
    return replace(term, demanded=term.demanded - {"operation"}, fixed=fixed)


def steady(typer: Typer, span: Span, demanded: Demanded) -> Typed | None:
    """Return the condition `steady`: whether the throughput of all operations is in its steady state."""
    runs = typer.runs.in_phases
    if all(run.phases < FEWEST_PHASES for run in runs):
        _needs_phases(typer, span, "steady")
        return None
    return Typed(SteadyTerm(Measure(_TOTAL, runs).keeping((*demanded, "phase"))))


def with_keys_of(when: Term, operand: Term) -> Term:
    """Fix `steady` in a condition at the keys that all measures of the operand are fixed at. In `mean(throughput[eco]
    over phase, when steady)` the throughput of `eco` has to be steady."""
    if isinstance(when, OperationTerm):
        return with_parts(when, lambda part: with_keys_of(part, operand))
    if isinstance(when, SteadyTerm):
        fixed = [dict(leaf.fixed) for leaf in leaves(operand) if isinstance(leaf, Measure)]
        for dim, key in fixed[0].items() if fixed else ():
            if dim != "phase" and all(keys.get(dim) == key for keys in fixed):
                when = fix(when, dim, key)
    return when


def field_of(typer: Typer, expr: ast.Attr, call: ast.Call, demanded: Demanded) -> Typed | None:
    """Return a field of a curve, such as `usl(throughput over threads).peak`, or None after a mistake."""
    function, name = call.function.text, expr.field
    if name.text not in FIELDS.get(function, ()):
        return typer.refuse(wrong.UnknownField(name.span, function, name.text, FIELDS.get(function, ())))
    return curve(typer, call, demanded, name.text)


def curve(typer: Typer, expr: ast.Call, demanded: Demanded, field: str = "") -> Typed | None:
    """Return a call of one of `CURVES`, with a `field` if wanted, or None after a mistake."""
    function = expr.function.text
    if function == "usl" and not field:
        usage = f"write which one: `{text_of(expr)}.peak`, or another of {', '.join(FIELDS[function])}"
        return typer.refuse(wrong.BadReduction(expr.span, function, "gives several numbers", usage))
    dim = _along(typer, expr)
    at = _at(typer, expr) if dim is not None else None
    if dim is None or at is None:
        return None
    inner = expr.arguments[0].value
    operand = typer.number(inner, demanded | {dim})
    if operand is None:
        return None
    term = along(operand.term, (dim,))
    if function == "time_to_steady":
        return _time_to_steady(typer, expr, term)
    if dim not in term.dims:
        if search := yet_to_be_found(term, dim):
            return typer.refuse(wrong.PointNotKnown(expr.over[0].span, text_of(inner), dim, search))
        return typer.refuse(wrong.DimensionAbsent(expr.over[0].span, text_of(inner), dim, term.dims))
    unit = parse_unit(typer.scope.axis_units[dim])
    if function == "knee":
        _enough(typer, expr, term, dim, FEWEST_POINTS)
        shown = unit if dim in typer.scope.numeric_factors and unit.text else None
        return Typed(Reduction("knee", term, (dim,), None, axis=unit.dimension), shown)
    if function == "usl":
        _enough(typer, expr, term, dim, FEWEST_LOADS)
        display = operand.display if field in ("lambda", "lambda_se", "peak") else None
        return Typed(Reduction(f"usl.{field}", term, (dim,), None), display)
    if not isinstance(term, Measure) or term.kind.name != "throughput":
        why = "takes only `throughput`, which it compares with the offered load"
        usage = "write `saturation(throughput over target)`, or `max(... over target)`"
        return typer.refuse(wrong.BadReduction(inner.span, function, why, usage))
    if field:
        return Typed(Reduction(f"saturation.{field}", term, (dim,), None, at, unit.dimension))
    return Typed(Reduction("saturation", term, (dim,), None, at), operand.display)


def _enough(typer: Typer, expr: ast.Call, term: Term, dim: Dimension, fewest: int) -> None:
    points = len(offered_keys(term, dim))
    if points < fewest:
        what = {"knee": "a knee", "usl": "the Universal Scalability Law"}[expr.function.text]
        typer.report(metric_errors.TooFewPoints(expr.over[0].span, what, dim, fewest, points))


def _along(typer: Typer, expr: ast.Call) -> Dimension | None:
    function = expr.function.text
    dims = (*CURVES[function], *(typer.scope.numeric_factors if function == "knee" else ()))
    usage = f"write `{function}(throughput over {dims[0]})`"
    span, why = expr.span, ""
    if not expr.arguments or expr.arguments[0].key is not None or any(a.key is None for a in expr.arguments[1:]):
        why = "takes one expression"
    elif not expr.over:
        why = "needs a dimension after `over`"
    elif expr.when is not None:
        span, why = expr.when.span, "takes no condition: it needs the whole curve"
        usage = f"leave the condition out: `{function}({text_of(expr.arguments[0].value)} over {dims[0]})`"
    elif len(expr.over) > 1:
        span, why = expr.over[1].span, "takes one dimension"
    elif expr.over[0].text not in dims:
        span, why = expr.over[0].span, f"needs the dimension {' or '.join(f'`{dim}`' for dim in dims)}"
    if why:
        return typer.refuse(wrong.BadReduction(span, function, why, usage))
    return next(dim for dim in dims if dim == expr.over[0].text)


def _at(typer: Typer, expr: ast.Call) -> float | None:
    """Return the ratio in `at: 95 %`, the default ratio if there is no `at`, or None after a mistake."""
    function = expr.function.text
    known = ARGUMENTS.get(function, ())
    ratio: float | None = KEEPS_UP
    for argument in expr.arguments[1:]:
        key = argument.key
        if key is not None and key.text not in known:
            return typer.refuse(wrong.UnknownFunctionArgument(key.span, function, key.text, known))
        typed = typer.number(argument.value)
        if typed is None:
            return None
        term = typed.term
        if not isinstance(term, NumberTerm) or term.unit != DIMENSIONLESS or not 0 < term.value <= 1:
            why = "needs `at:` above 0 and at most 100 %: it is a share of the offered load"
            usage = "write `saturation(throughput over target, at: 95 %)`"
            return typer.refuse(wrong.BadReduction(argument.value.span, function, why, usage))
        ratio = term.value
    return ratio


def _time_to_steady(typer: Typer, expr: ast.Call, term: Term) -> Typed | None:
    """Return the number of phases before the first steady one, times the length of a phase."""
    runs = [run for leaf in leaves(term) if isinstance(leaf, Measure) and "phase" in leaf.dims for run in leaf.runs]
    if "phase" not in term.dims or max((run.phases for run in runs), default=0) < FEWEST_PHASES:
        _needs_phases(typer, expr.function.span, "time_to_steady")
        return None
    lengths = {run.phase_s: run.experiment for run in runs if run.phases >= FEWEST_PHASES}
    if len(lengths) != 1:
        listed = " and ".join(
            f"{duration(seconds)} in `{experiment}`" for seconds, experiment in sorted(lengths.items())
        )
        one = next(iter(lengths.values()))
        usage = f"name the experiment: `time_to_steady(throughput[{one}] over phase)`"
        return typer.refuse(
            wrong.BadReduction(
                expr.span, "time_to_steady", f"needs phases of one length, and these are {listed}", usage
            )
        )
    onset = Reduction("onset", SteadyTerm(term), ("phase",), None)
    before = OperationTerm("-", (onset, NumberTerm(1.0, DIMENSIONLESS)), DIMENSIONLESS)
    return Typed(OperationTerm("*", (before, NumberTerm(next(iter(lengths)), _SECONDS)), _SECONDS))


def _needs_phases(typer: Typer, span: Span, word: str) -> None:
    most = max((run.phases for run in typer.runs), default=1)
    experiments = tuple(experiment.key for experiment in typer.scope.experiments)
    typer.report(metric_errors.NeedsPhases(span, word, FEWEST_PHASES, most, experiments))


SPREADS = ("cv", "ci")


def spread(typer: Typer, expr: ast.Call, operand: Typed, over: Dims, when: Term | None) -> Typed | None:
    """Return `cv` or `ci` of an operand with the dimensions `over`, or None after a mistake."""
    function, inner, term = expr.function.text, text_of(expr.arguments[0].value), operand.term
    why = usage = ""
    if function == "ci" and over != ("repeat",):
        why, usage = (
            "needs `over repeat`: only repeats are independent of each other",
            f"write `ci({inner} over repeat)`",
        )
    elif function == "ci" and when is not None:
        why, usage = "takes no condition: it needs all repeats", f"write `ci({inner} over repeat)`"
    elif SAMPLED.intersection(over) and not SAMPLED.issuperset(over):
        sampled = ", ".join(dim for dim in over if dim in SAMPLED)
        why, usage = "can't go over samples and planned points at once", f"reduce first: `mean(... over {sampled})`"
    if why:
        return typer.refuse(wrong.BadReduction(expr.span, function, why, usage))
    _repeated(typer, expr.function.span, function, term, over)
    if function == "ci":
        return Typed(OperationTerm("half_width", (Reduction("list", term, over, None),), term.unit), operand.display)
    parts = (Reduction("sd", term, over, when), Reduction("mean", term, over, when))
    return Typed(OperationTerm("/", parts, DIMENSIONLESS))


def p_value(typer: Typer, expr: ast.Call, demanded: Demanded) -> Typed | None:
    """Return `p_value(throughput[a], throughput[b])` over the repeats of both, or None after a mistake."""
    usage = "write `p_value(throughput[one], throughput[other])`"
    why = ""
    if len(expr.arguments) != 2 or any(argument.key is not None for argument in expr.arguments):
        why = "takes two expressions"
    elif expr.over:
        why = "takes no `over`: it uses the repeats"
    elif expr.when is not None:
        why = "takes no condition: it needs all repeats"
    if why:
        return typer.refuse(wrong.BadReduction(expr.span, "p_value", why, usage))
    sides = [typer.number(argument.value, demanded | {"repeat"}) for argument in expr.arguments]
    left, right = sides
    if left is None or right is None:
        return None
    if left.term.unit != right.term.unit:
        units = " and ".join(metric_errors.unit_words(side.term.unit or DIMENSIONLESS) for side in (left, right))
        why = f"compares two values of one kind, and these are {units}"
        return typer.refuse(wrong.BadReduction(expr.span, "p_value", why, usage))
    lists: list[Reduction] = []
    repeat: tuple[Dimension, ...] = ("repeat",)
    for side, argument in zip(matching(left.term, right.term), expr.arguments, strict=True):
        term = along(side, repeat)
        if "repeat" not in term.dims:
            why = f"needs measured values, and `{text_of(argument.value)}` has no repeats"
            return typer.refuse(wrong.BadReduction(argument.span, "p_value", why, usage))
        if not any(
            len(offered_keys(each.operand, "repeat")) < 2 for each in lists
        ):  # a single warning is enough for both sides
            _repeated(typer, argument.span, "p_value", term, repeat)
        lists.append(Reduction("list", term, repeat, None))
    percentiles = any(holds_percentiles(side.term) for side in (left, right))
    in_percent = any(side.unit.text == "%" for side in (left, right))
    operator = "p_value of percentiles" if percentiles else "p_value in %" if in_percent else "p_value"
    return Typed(OperationTerm(operator, tuple(lists), DIMENSIONLESS))


def _repeated(typer: Typer, span: Span, function: str, term: Term, over: Dims) -> None:
    if over == ("repeat",) and len(offered_keys(term, "repeat")) < 2:
        typer.report(metric_errors.FewRepeats(span, function))


def holds_percentiles(term: Term) -> bool:
    """Return whether the values of a term are percentiles, or are computed from percentiles."""
    match term:
        case Measure():
            return term.kind.is_percentile
        case OperationTerm():
            return any(holds_percentiles(operand) for operand in term.operands)
        case Reduction(function="max" | "min" | "first" | "last" | "median"):
            return holds_percentiles(term.operand)
        case _:
            return False
