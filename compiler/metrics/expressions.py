"""Types expressions: names become measures, indices become keys, and every part gets dimensions and a unit.

Mistakes go to the findings. A wrong expression becomes None, and the expressions around it report nothing further.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import TypeAlias, TypeVar, cast

from benchbrief.compiler.frontend.declarations import dotted, names_in, text_of
from benchbrief.compiler.frontend.name_errors import UnknownName, UnusableExtension
from benchbrief.compiler.frontend.scope import ExperimentKey, FactorKey, Scope
from benchbrief.compiler.frontend.value_errors import NotFinite, UnknownUnit
from benchbrief.compiler.measure_catalogue import (
    FAMILIAR_FACTS,
    FAMILIES,
    KINDS,
    SAMPLED,
    MeasureKind,
    family_of,
    find_measure,
)
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.curves import (
    CURVES,
    SPREADS,
    curve,
    field_of,
    holds_percentiles,
    p_value,
    spread,
    steady,
    with_keys_of,
)
from benchbrief.compiler.metrics.indexing import index, point_text, yet_to_be_found
from benchbrief.compiler.metrics.metric_errors import (
    DeclaredNotSampled,
    NeedsEvent,
    NeedsProbe,
    NeedsPromise,
    NeedsTool,
)
from benchbrief.compiler.metrics.planned_points import Runs, planned_runs
from benchbrief.compiler.metrics.terms import (
    AxisValue,
    Demanded,
    FactTerm,
    Measure,
    NumberTerm,
    OperationTerm,
    Reduction,
    SpreadTerm,
    Term,
    Typed,
    along,
    has_repeats,
    leaves,
    left_out,
    matching,
    mention,
    offered_keys,
    parts,
    planned_keys,
    unit_of,
    without_points,
)
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.registry import PROBE_SPECS, TOOL_SPECS, RefusedExtension, known_operations
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, Quantity
from benchbrief.model.points import POINT
from benchbrief.model.units import DIMENSIONLESS, Amount, Unit, UnknownUnitError, divide, multiply, parse_unit
from benchbrief.model.units import Dimension as UnitDimension

Apart: TypeAlias = tuple[Dimension, tuple[DimKey, ...], tuple[DimKey, ...]]


def disjoint_parts(term: Term) -> Apart | None:
    """Find a dimension along which two parts of a term share no point. Return it with the points of each part, or None
    if there is no such dimension.

    A term with such parts never has a value. Points that are known only from results (those of searches, nodes and
    times) count as shared.
    """
    return next(_apart(term), None) if _may_be_apart(term) else None


def _may_be_apart(term: Term) -> bool:
    """Return False if all leaves of a term share keys. This quick check settles most terms."""
    if len(found_leaves := leaves(term)) < 2:
        return False
    found: dict[Dimension, tuple[DimKey, ...]] = {}
    for leaf in found_leaves:
        for dim in leaf.dims:
            if keys := planned_keys(leaf, dim):
                before = found.setdefault(dim, keys)
                if before != keys:
                    found[dim] = tuple({*before}.intersection(keys))
                    if not found[dim]:
                        return True
    return False


def _apart(term: Term) -> Iterator[Apart]:
    joined = parts(term)
    for part in joined:
        yield from _apart(part)
    for left, right in pairwise(joined):
        for dim in left.dims:
            if dim in right.dims:
                one, other = planned_keys(left, dim), planned_keys(right, dim)
                if one and other and not set(one).intersection(other):
                    yield dim, one, other


def of_other_lengths(term: Term, experiments: Sequence[ExperimentKey]) -> tuple[ExperimentKey, ...]:
    """Return the experiments of different lengths that the term combines in one operation, or () if there are none.

    The length of an experiment is its warm-up and its measured time.
    """
    used = {name for leaf in leaves(term) if isinstance(leaf, Measure) for name in leaf.runs.keys("experiment")}
    if len(used) < 2:
        return ()
    by_name: dict[DimKey, ExperimentKey] = {each.key: each for each in experiments}
    if len({by_name[name].length for name in used}) < 2:
        return ()
    for operation in _operations(term):
        sides = [[(leaf, leaf.runs) for leaf in leaves(o) if isinstance(leaf, Measure)] for o in operation.operands]
        if len(sides) < 2 or not all(sides):
            continue
        dims = [dim for dim in operation.dims if dim in POINT or dim not in DIMENSIONS]
        for at_point in _at_each_point(sides, dims):
            named = [{run.experiment for _, runs in side for run in runs} for side in at_point]
            if len({frozenset(by_name[name].length for name in names) for names in named}) > 1:
                return tuple(each for each in experiments if any(each.key in names for names in named))
    return ()


_Side: TypeAlias = list[tuple[Measure, Runs]]


def _operations(term: Term) -> Iterator[OperationTerm]:
    if isinstance(term, OperationTerm):
        yield term
    for part in parts(term)[:1] if isinstance(term, Reduction) else parts(term):
        yield from _operations(part)


def _at_each_point(sides: list[_Side], dims: Sequence[Dimension]) -> Iterator[list[_Side]]:
    """Yield the sides of a comparison once for each point along `dims`, with only the runs at that point. Points at
    which a measure has no runs are left out."""
    if not dims:
        yield sides
        return
    dim, *others = dims
    for key in dict.fromkeys(k for side in sides for part, runs in side if dim in part.dims for k in runs.keys(dim)):
        kept = [[(part, runs.at(dim, key) if dim in part.dims else runs) for part, runs in side] for side in sides]
        if all(runs for side in kept for _, runs in side):
            yield from _at_each_point(kept, others)


FUNCTIONS = (
    *("max", "min", "mean", "sum", "median", "first", "last", "count"),
    *("cv", "ci", "p_value"),
    *("knee", "saturation", "usl", "time_to_steady"),
)
"""Functions that reduce a dimension. `range` returns two numbers, for the texts of a report."""

_PERCENTILE = re.compile(r"p[0-9]{2,}")  # `p9` is more likely a typing mistake

_ALONG: Mapping[str, Dimension] = {"saturation": "target", "time_to_steady": "phase", "ci": "repeat", "cv": "repeat"}
_MOST_METRICS = 1_000
"""The most metrics that a misspelt word is compared with."""


def reserved_for(name: str) -> str:
    """Return what a metric's name is reserved for, such as "a measure", or "" if a metric may have this name."""
    if name in KINDS or (name in FAMILIES and name not in FAMILIAR_FACTS) or name == "nodes":
        return "a measure"
    if name == "steady":
        return "a condition"
    if name == "claim":
        return "what `bench trend` calls the claims"
    return "a dimension" if name in DIMENSIONS else ""


def look_up(typer: Typer, name: ast.Name, demanded: Demanded) -> Typed | None:
    word = name.text
    if word in typer.metrics:
        return typer.metric(word, demanded)
    if word in KINDS:
        return _measure(typer, name.span, KINDS[word], demanded)
    if word == "steady":
        return steady(typer, name.span, demanded)
    if word in typer.scope.axis_units:
        unit, points = parse_unit(typer.scope.axis_units[word]), typer.runs.keys(word)
        shown = unit if word not in DIMENSIONS and unit.text else None
        return Typed(AxisValue(word, unit.dimension, cast("tuple[float, ...]", points)), shown)
    fact = _fact(typer, word)
    if fact is not None:
        return fact
    if word in typer.scope.params:
        return typer.typed(typer.scope.params[word], demanded)
    hardware = typer.scope.hardware
    if any(word in hw.units for hw in hardware) and not any(word in hw.facts for hw in hardware):
        return None  # its declaration has a mistake, which is reported there
    _explain(typer, name)
    return None


def look_up_dotted(typer: Typer, expr: ast.Attr, demanded: Demanded) -> Typed | None:
    word = dotted(expr)
    if kind := find_measure(word):
        return _measure(typer, expr.span, kind, demanded)
    factor = typer.scope.factors_by_name.get(word.partition(".")[0])
    if factor is not None:
        return _of_levels(typer, expr, factor)
    _explain_dotted(typer, expr)
    return None


def _explain_dotted(typer: Typer, expr: ast.Attr) -> None:
    """Report why a dotted name is not a number."""
    word = dotted(expr)
    family = word.partition(".")[0]
    known = tuple(kind for kind in KINDS if kind.startswith(f"{family}.")) or family_of(family)
    meant = None if known else f"{did_you_mean(family, FAMILIES)}.{expr.field.text}"
    if meant in KINDS:
        typer.report(wrong.UnknownQuantity(expr.span, "measure", word, (str(meant),)))
    elif (refused := _refused(family)) and family not in described_names(typer):
        typer.report(UnusableExtension.of(expr.span, refused))
    elif expr.field.text == "knee" and any(family == experiment.key for experiment in typer.scope.experiments):
        what, instead = "a point that is found while the spec runs", f"write `knee(throughput[{family}] over threads)`"
        typer.report(wrong.NotANumber(expr.span, word, what, instead))
    elif (base := word.rpartition(".")[0]) in KINDS and expr.field.text in _keys(typer):
        what, instead = "a measure with a name behind a dot", f"write `{base}[{expr.field.text}]`"
        typer.report(wrong.NotANumber(expr.span, word, what, instead))
    elif expr.field.text in FUNCTIONS and expr.field.text not in {kind.rpartition(".")[2] for kind in known}:
        what, instead = "a function written after its value", f"write `{expr.field.text}({family} over threads)`"
        typer.report(wrong.NotANumber(expr.span, word, what, instead))
    elif known and _PERCENTILE.fullmatch(expr.field.text):
        percentiles = tuple(kind for kind in known if _PERCENTILE.fullmatch(kind.removeprefix(f"{family}.")))
        typer.report(wrong.UnknownPercentile(expr.span, "measure", word, percentiles or known))
    elif known:
        typer.report(wrong.UnknownQuantity(expr.span, "measure", word, known))
    elif did_you_mean(word, KINDS):
        typer.report(wrong.UnknownQuantity(expr.span, "measure", word, tuple(KINDS)))
    elif family in DIMENSIONS and _fact(typer, expr.field.text) is not None:
        fact = expr.field.text
        key = next((hw.key for hw in typer.scope.hardware if fact == "nodes" or fact in hw.facts), family)
        what, instead = "a dimension with a fact", f"write `{fact}[{key}]`, or `{fact}` for each hardware"
        typer.report(wrong.NotANumber(expr.span, word, what, instead))
    elif isinstance(expr.base, ast.Name) and did_you_mean(family, names := described_names(typer)):
        typer.report(UnknownName(expr.base.span, "name", family, names))
    else:
        typer.report(wrong.NotAnExpression(expr.span, f"`{word}`"))


def _of_levels(typer: Typer, expr: ast.Attr, factor: FactorKey) -> Typed | None:
    """Return an attribute of a bundle, such as `tuning.cache`, as a number for each measured level."""
    name = expr.field.text
    measured = frozenset(typer.runs.keys(factor.key))
    said = {level.key: level.facts[name] for level in factor.levels if name in level.facts and level.key in measured}
    numbers = {key: fact for key, fact in said.items() if isinstance(fact, Quantity)}
    units = {parse_unit(fact.unit).dimension for fact in numbers.values()}
    if len(units) == 1 and len(numbers) == len(said):
        written = {level.units.get(name, "") for level in factor.levels if level.key in said}
        display = parse_unit(written.pop()) if len(written) == 1 else None
        values = tuple((key, fact.value) for key, fact in numbers.items())
        term = FactTerm(f"{factor.key}.{name}", units.pop(), values, factor.key)
        return Typed(term, display if display and display.text else None)
    known = tuple(f"{factor.key}.{each}" for each in dict.fromkeys(n for level in factor.levels for n in level.facts))
    if name not in {each.partition(".")[2] for each in known}:
        return typer.refuse(wrong.UnknownQuantity(expr.span, "measure", dotted(expr), known))
    if not said:
        return typer.refuse(wrong.NothingPlanned(expr.span, dotted(expr), ""))
    what, instead = "a declared text", f"in prose inside `each {factor.key} {{ }}`, write `{{{dotted(expr)}}}`"
    if numbers:
        what, instead = "an attribute in units of different kinds", "give it a number of one kind at every level"
    return typer.refuse(wrong.NotANumber(expr.span, dotted(expr), what, instead))


def _refused(family: str) -> RefusedExtension | None:
    found = (PROBE_SPECS.find(family), TOOL_SPECS.find(family))
    return next((each for each in found if isinstance(each, RefusedExtension)), None)


def _fact(typer: Typer, word: str) -> Typed | None:
    """Return a fact that hardware declares. It has its declared unit, if that is the same for all hardware."""
    if word not in typer.facts:
        typer.facts[word] = _declared(typer, word)
    return typer.facts[word]


def _declared(typer: Typer, word: str) -> Typed | None:
    if word == "nodes":
        unit = parse_unit("nodes").dimension
        return Typed(FactTerm(word, unit, tuple((hw.key, float(hw.nodes)) for hw in typer.scope.hardware)))
    found = {hw.key: hw.facts[word] for hw in typer.scope.hardware if word in hw.facts}
    units = {parse_unit(quantity.unit).dimension for quantity in found.values()}
    if len(units) != 1:  # undeclared, or has two kinds of units, which `_explain` reports
        return None
    written = {hw.units.get(word, "") for hw in typer.scope.hardware if word in hw.facts}
    display = parse_unit(written.pop()) if len(written) == 1 else None
    term = FactTerm(word, units.pop(), tuple((key, quantity.value) for key, quantity in found.items()))
    return Typed(term, display if display and display.text else None)


def _measure(typer: Typer, span: Span, kind: MeasureKind, demanded: Demanded) -> Typed | None:
    name, runs = kind.name, typer.runs
    if kind.probe:
        runs = runs.probed(kind.probe)
        declared = None if runs else _fact(typer, name)
        if declared is not None:  # `power = 250 W`
            declaring = tuple(hardware.key for hardware in typer.scope.hardware if name in hardware.facts)
            typer.report(DeclaredNotSampled(span, name, kind.probe, declaring))
            return declared
        if not runs:
            return typer.refuse(NeedsProbe(span, name, kind.probe, tuple(typer.scope.experiments_by_name)))
    if kind.tool and not (runs := runs.driven_by(kind.tool)):
        tools = tuple(dict.fromkeys(run.tool for run in typer.runs))
        return typer.refuse(NeedsTool(span, name, kind.tool, tools))
    if kind.of_events and not (runs := runs.with_events):
        return typer.refuse(NeedsEvent(span, name, tuple(typer.scope.experiments_by_name)))
    if kind.view == "sustained" and not (runs := runs.with_promise):
        return typer.refuse(NeedsPromise(span, name, tuple(typer.scope.experiments_by_name)))
    if "phase" in demanded:
        if kind.view == "sample":
            return typer.refuse(wrong.NotByPhase(span, name))
        runs = runs.in_phases or runs
        if not runs.in_phases:
            demanded = demanded - {"phase"}
    return Typed(Measure(kind, runs).keeping(demanded))


def _explain(typer: Typer, name: ast.Name) -> None:
    """Report why a name is not a number."""
    word = name.text
    scope = typer.scope
    what = ""
    indexed = f"write it in an index, as in `throughput[{word}]`"
    if word in FAMILIES:
        what, instead = "a family of measures", f"write one of `{'`, `'.join(FAMILIES[word])}`"
    elif any(word in (hw.key, *hw.aliases) for hw in scope.hardware):
        what, instead = "hardware", indexed
    elif any(word == workload.key for workload in scope.workloads):
        what, instead = "a workload", indexed
    elif any(word == experiment.key for experiment in scope.experiments):
        what, instead = "an experiment", indexed
    elif word in scope.factors_by_name:
        what, instead = "a factor whose levels are words", f"reduce over it, as in `max(throughput over {word})`"
    elif any(word in scope.names[factor] for factor in scope.named if factor in scope.factors_by_name):
        what, instead = "a level of a factor", indexed
    elif word in DIMENSIONS:
        what, instead = "a dimension", f"reduce over it, as in `max(throughput over {word})`"
    elif any(word in hw.texts for hw in scope.hardware):
        what, instead = "a declared text", f"in prose, write `{{{scope.hardware[0].key}.{word}}}`"
    elif word in FUNCTIONS:
        sample = f"{word}(throughput over {_ALONG.get(word, 'threads')})"
        sample = {"usl": f"{sample}.peak", "p_value": "p_value(throughput[one], throughput[other])"}.get(word, sample)
        what, instead = "a function", f"give it a value in brackets, as in `{sample}`"
    elif any(word in hw.facts for hw in scope.hardware):
        what, instead = "a fact in units of different kinds", "declare it in units of one kind for all hardware"
    if what:
        typer.report(wrong.NotANumber(name.span, word, what, instead))
    else:
        typer.report(wrong.UnknownQuantity(name.span, "measure", word, _reachable(typer)))


def _reachable(typer: Typer) -> tuple[str, ...]:
    """Return every name that an expression can use, for suggestions."""
    facts = dict.fromkeys(fact for hardware in typer.scope.hardware for fact in hardware.facts)
    metrics = islice(typer.metrics, _MOST_METRICS)
    own = (*metrics, *KINDS, "nodes", "threads", "target", "steady", *facts, *typer.scope.params)
    return (*own, *described_names(typer))


def _keys(typer: Typer) -> tuple[str, ...]:
    return (*(name for name in described_names(typer) if name not in typer.scope.dimensions), *known_operations())


def described_names(typer: Typer) -> tuple[str, ...]:
    """Return every name that has fields, as in `{workload.label}` or `{eco.storage}`."""
    scope = typer.scope
    hardware = (name for each in scope.hardware for name in (each.key, *each.aliases))
    workloads, experiments = (each.key for each in scope.workloads), (each.key for each in scope.experiments)
    levels = (name for factor in scope.factors_by_name for name in (factor, *scope.names.get(factor, ())))
    return tuple(dict.fromkeys(("workload", "hardware", "experiment", *hardware, *workloads, *experiments, *levels)))


def reduction(typer: Typer, expr: ast.Call, demanded: Demanded) -> Typed | None:
    function = expr.function.text
    if function in CURVES:
        return curve(typer, expr, demanded)
    if function == "p_value":
        return p_value(typer, expr, demanded)
    if function == "range":
        advice = "use `min` and `max`; `range` can be used alone in a hole, as in `{range(gain over threads):.0f}`"
        return typer.refuse(wrong.BadReduction(expr.span, function, "gives two numbers", advice))
    if function not in FUNCTIONS:
        return typer.refuse(wrong.UnknownFunction(expr.function.span, "function", function, (*FUNCTIONS, "range")))
    over = _over(typer, expr)
    if over is None:
        return None
    inner = demanded | set(over)
    operand = typer.number(expr.arguments[0].value, inner)
    when = typer.condition(expr.when, inner) if expr.when else None
    if operand is None or (expr.when and when is None):
        return None
    operand = Typed(along(operand.term, over), operand.display)
    condition = with_keys_of(along(when.term, over), operand.term) if when else None
    if condition is not None:
        matched, condition = matching(operand.term, condition)
        operand = Typed(matched, operand.display)
    if condition is not None and isinstance(operand.term, AxisValue | FactTerm) and set(operand.term.dims) <= set(over):
        operand = Typed(_beside_condition(operand.term, condition), operand.display)
    reduced = _reduced(typer, expr, operand, over, condition)
    return reduced and _over_the_same_points(typer, expr, reduced, operand.term, over)


def _over_the_same_points(
    typer: Typer, expr: ast.Call, reduced: Typed, operand: Term, over: tuple[Dimension, ...]
) -> Typed:
    """Return a reduction. If it covers only some combinations, warn, and record the factors whose combinations are
    incomplete."""
    term = reduced.term
    found = left_out((operand, *((term.when,) if isinstance(term, Reduction) and term.when else ())), over)
    if not found or not isinstance(term, Reduction):
        return reduced
    example = next((dim for dim in found if dim in over), next(iter(found)))
    key = typer.runs.keys(example)[-1]
    index = str(key) if isinstance(key, str) else f"{example}: {point_text(typer.scope, example, key)}"
    typer.report(metric_errors.RaggedPoints(expr.span, text_of(expr), found, index))
    return Typed(replace(term, ragged=found), reduced.display)


def _beside_condition(axis: Term, condition: Term) -> Term:
    """Repeat an axis, or a declared number, for each key of the condition's other dimensions.

    `max(target over target, when latency.p99[read] < 5 ms)` is then the largest offered load that meets the condition,
    for each of those keys.
    """
    for dim in condition.dims:
        if dim not in axis.dims and (keys := planned_keys(condition, dim)):
            axis = SpreadTerm(axis, dim, keys)
    return axis


def _over(typer: Typer, expr: ast.Call) -> tuple[Dimension, ...] | None:
    function = expr.function.text
    why = ""
    named = [argument.key for argument in expr.arguments if argument.key is not None]
    if expr.over and named:
        return typer.refuse(wrong.UnknownFunctionArgument(named[0].span, function, named[0].text, ()))
    if len(expr.arguments) != 1 or named:
        why = "takes one expression"
    elif not expr.over:
        why = "needs a dimension after `over`"
    elif function in ("first", "last") and len(expr.over) > 1:
        why = "takes one dimension"
    if why:
        usage = f"write `{function}(throughput over threads)`"
        return typer.refuse(wrong.BadReduction(expr.span, function, why, usage))
    for name in expr.over:
        if name.text not in typer.scope.dimensions:
            return typer.refuse(wrong.UnknownDimension(name.span, "dimension", name.text, typer.scope.dimensions))
        if function in ("first", "last") and name.text not in typer.scope.axis_units:
            why = f"needs a dimension with an order, and `{name.text}` has none"
            return typer.refuse(wrong.BadReduction(name.span, function, why, "use `min` or `max`"))
    return tuple(dict.fromkeys(name.text for name in expr.over))


def _reduced(
    typer: Typer, expr: ast.Call, operand: Typed, over: tuple[Dimension, ...], when: Term | None
) -> Typed | None:
    function, inner = expr.function.text, expr.arguments[0].value
    term = operand.term
    for name in expr.over:
        if name.text not in term.dims:
            if search := yet_to_be_found(term, name.text):
                return typer.refuse(wrong.PointNotKnown(name.span, text_of(inner), name.text, search))
            return typer.refuse(wrong.DimensionAbsent(name.span, text_of(inner), name.text, term.dims))
    if when is not None and expr.when is not None and set(when.dims) - set(term.dims):
        extra = tuple(dim for dim in when.dims if dim not in term.dims)
        return typer.refuse(wrong.ConditionDimension(expr.when.span, extra, text_of(inner)))
    if function in ("mean", "sum", "median") and holds_percentiles(term):
        typer.report(metric_errors.MeanOfPercentiles(expr.span, function, over, ratios=term.unit == DIMENSIONLESS))
    if function == "mean" and isinstance(term, Measure) and _has_other_counts(typer, term, over):
        operation = dict(term.fixed).get("operation")
        weight = f"throughput[{operation}]" if operation else "throughput"
        condition = f", when {text_of(expr.when)}" if expr.when else ""
        typer.report(metric_errors.MeanOfMeans(expr.span, text_of(expr), text_of(inner), weight, over, condition))
    if function in SPREADS:
        return spread(typer, expr, operand, over, when)
    display = operand.display if function != "count" else None
    sampled, planned = [d for d in over if d in SAMPLED], [d for d in over if d not in SAMPLED]
    if function == "mean" and when is None and sampled == ["time"] and isinstance(term, Measure):
        # The measure itself, a mean of readings, since some seconds have more readings than others.
        term = replace(term, demanded=term.demanded - {"time"})
        return Typed(Reduction(function, term, tuple(planned), None) if planned else term, display)
    if not sampled or not planned:
        return Typed(Reduction(function, term, over, when), display)
    # Samples come first: their gaps are skipped, while a planned point without a value makes the result unknown.
    if function == "median" or when is not None:
        first, then = ", ".join(sampled), ", ".join(planned)
        advice = f"reduce one after the other: `{function}({function}(... over {first}) over {then})`"
        why = "can't reduce samples and planned points at once"
        return typer.refuse(wrong.BadReduction(expr.span, function, why, advice))
    within = Reduction(function, term, tuple(sampled), None)
    return Typed(Reduction("sum" if function == "count" else function, within, tuple(planned), None), display)


def _has_other_counts(typer: Typer, measure: Measure, over: tuple[Dimension, ...]) -> bool:
    """Return whether a mean of latencies along `over` may combine different numbers of operations. The numbers are sure
    to be equal only in the phases of an even offered load."""
    if measure.kind.view != "latency" or measure.kind.statistic != "mean":
        return False
    places = typer.scope.experiments_by_name
    return over != ("phase",) or any(
        run.axis != "target" or not places[run.experiment].schedule.is_even for run in measure.runs
    )


T = TypeVar("T")

_DEEPEST, _LARGEST = 120, 2000
MAX_PARTS, MAX_EXPRESSIONS = 200_000, 4_000  # the limits of a spec with all its reports
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_NOTHING: Demanded = frozenset()


class ReadMetrics(Mapping[str, ast.Metric]):
    """The metrics of a spec by name. `read` are the metrics that were looked up. Merely comparing their names does not
    count."""

    def __init__(self, metrics: Mapping[str, ast.Metric]) -> None:
        self._metrics = metrics
        self.read: dict[str, ast.Metric] = {}

    def __getitem__(self, name: str) -> ast.Metric:
        return self.read.setdefault(name, self._metrics[name])

    def __contains__(self, name: object) -> bool:
        return name in self._metrics

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


class Typer:
    """Types the expressions of one spec: finds the dimensions and the unit of each part, and reports what does not
    fit."""

    def __init__(self, scope: Scope, findings: Findings, runs: Runs | None = None, *, planning: bool = True) -> None:
        """`runs` are the planned runs. Several typers that are given the same object share the results computed from
        it."""
        self.scope = scope
        self.planning = planning
        self.findings = findings
        self.runs = planned_runs(scope) if runs is None else runs
        self.metrics = ReadMetrics(
            {metric.name.text: metric for metric in scope.metrics if not reserved_for(metric.name.text)}
        )
        self.facts: dict[str, Typed | None] = {}
        self.amounts: dict[Amount, bool] = {}
        """The amounts in texts that were looked up among the spec's settings, and whether each was found."""
        self._has_lengths = len({each.length for each in scope.experiments}) > 1
        self._ranks: dict[Dimension, Mapping[DimKey, int]] = {}
        self._typed_metrics: dict[tuple[str, Demanded], Typed | None] = {}
        self._known: dict[tuple[type[ast.Expr], str, str, Demanded], Typed] = {}
        """A cache of typed expressions by their text, since many expressions occur in several places. Expressions with
        a mistake or a warning are not cached. The key of a call includes the function, because the two ends of a
        `range` have the same text.
        """
        self._reported = 0
        self._open: list[str] = []
        self._depth = 0
        self.counts = Counter[str](parts=0, expressions=0, unrolled=0)
        """How many parts and expressions the spec has so far, and how many elements all its `each` blocks have made."""

    def report(self, problem: CompileProblem) -> None:
        self._reported += 1
        self.findings.add(problem)

    def refuse(self, problem: CompileProblem) -> T | None:
        """Report a mistake, and return None in place of the spoilt value."""
        self.report(problem)
        return None

    def is_set(self, amount: Amount) -> bool:
        """Return whether the spec sets or expects an amount."""
        return self.amounts.setdefault(amount, amount in self.scope.settings)

    def typed(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression. A measure keeps the `demanded` dimensions that it has on request."""
        function = expr.function.text if isinstance(expr, ast.Call) else ""
        key = (type(expr), function, expr.span.text, demanded)
        if (known := self._known.get(key)) is not None:
            return known
        if self._depth >= _DEEPEST:
            return self.refuse(wrong.TooComplex(expr.span, f"more than {_DEEPEST} levels"))
        before = self._reported
        self._depth += 1
        try:
            typed = self._typed(expr, demanded)
        finally:
            self._depth -= 1
        if typed is not None and (typed.term.size > _LARGEST or typed.term.depth > _DEEPEST):
            what = f"{_LARGEST} parts" if typed.term.size > _LARGEST else f"{_DEEPEST} levels"
            return self.refuse(wrong.TooComplex(expr.span, f"more than {what}"))
        if typed is not None and self._reported == before:
            self._known[key] = typed
        return typed

    def number(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression that has to be a number."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is None:
            advice = "use a condition in `expect`, or after `when` in a reduction"
            return self.refuse(metric_errors.WrongKind(expr.span, "a number", "a condition", advice))
        return typed

    def condition(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression that has to be true or false."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is not None:
            found = metric_errors.unit_words(typed.term.unit).replace("in `", "a number in `")
            advice = f"compare it with something, as in `{text_of(expr)} > 0`"
            return self.refuse(metric_errors.WrongKind(expr.span, "a condition", found, advice))
        return typed

    def metric(self, name: str, demanded: Demanded = _NOTHING) -> Typed | None:
        """Return a metric's expression in its declared unit. The metric's mistakes are reported once."""
        key = (name, demanded)
        if key not in self._typed_metrics:
            metric = self.metrics[name]
            if name in self._open:
                chain = tuple(self._open[self._open.index(name) :])
                start = min(range(len(chain)), key=lambda i: self.metrics[chain[i]].span.start)
                chain = chain[start:] + chain[:start]
                return self.refuse(wrong.CircularMetric(self.metrics[chain[0]].name.span, chain))
            self._open.append(name)
            try:
                typed = self.number(metric.expr, demanded)
            finally:
                self._open.pop()
            if typed is None:
                self._declared_unit(metric)  # so that both mistakes are reported
            self._typed_metrics[key] = typed and self._in_declared_unit(metric, typed, demanded)
        return self._typed_metrics[key]

    def by_repeat(self, name: str) -> Typed | None:
        """Return a metric with a value for each repeat, or None if it has only one value. Mistakes are not reported."""
        typed = self._silently(lambda: self.metric(name, frozenset({"repeat"})))
        return typed if typed and has_repeats(typed.term) else None

    def side_by_repeat(self, expr: ast.Expr, demanded: Iterable[Dimension] = ("repeat",)) -> Typed | None:
        """Return a side of a comparison, with a value for each repeat if it has repeats, or None after a mistake.
        Mistakes are not reported."""
        return self._silently(lambda: self.number(expr, frozenset(demanded)))

    def _silently(self, typing: Callable[[], Typed | None]) -> Typed | None:
        findings, known = self.findings, self._typed_metrics
        self.findings, self._typed_metrics = Findings(), dict(known)
        try:
            return typing()
        finally:
            self.findings, self._typed_metrics = findings, known

    def is_complete(self, typed: Typed, expr: ast.Expr, where: str = "") -> bool:
        """Return whether the term can be computed. If not, report the reason, such as a latency without its operation,
        or a value that nothing measures. `where` is a part of the message about such a value."""
        if self.full():
            return False
        self.counts["parts"] += typed.term.size
        self.counts["expressions"] += 1
        if self.full():
            many = f"{MAX_PARTS:,} parts" if self.counts["parts"] > MAX_PARTS else f"{MAX_EXPRESSIONS:,} expressions"
            help_ = "compute or show less, or split the spec"
            self.report(wrong.TooComplex(expr.span, f"more than {many}", "up to here the spec is", help_))
            return False
        for leaf in leaves(typed.term):
            if isinstance(leaf, Measure) and leaf.kind.needs_operation and "operation" in leaf.offers - set(leaf.dims):
                operations = tuple(str(key) for key in offered_keys(leaf, "operation"))
                span = mention(expr, leaf.kind.name)
                self.report(wrong.NeedsOperation(span, leaf.kind.name, operations))
                return False
        if (empty := without_points(typed.term)) is not None:
            name = empty.text if isinstance(empty, Measure) else text_of(expr)
            self.report(wrong.NothingPlanned(expr.span, name, where))
            return False
        if disjoint := disjoint_parts(typed.term):
            dim, *sides = disjoint
            points = " and ".join(", ".join(_plain(key) for key in keys) for keys in sides)
            why = f"{where}: its parts share no `{dim}` ({points})"
            self.report(wrong.NothingPlanned(expr.span, text_of(expr), why))
            return False
        self._warn_of_lengths(typed.term, expr)
        return True

    def _warn_of_lengths(self, term: Term, expr: ast.Expr) -> None:
        """Warn of a number that combines measurements of several lengths. A metric gets this warning only at its
        declaration."""
        found = of_other_lengths(term, self.scope.experiments) if self._has_lengths else ()
        if not found or any(self._is_of_other_lengths(name) for name in {each.text for each in names_in(expr)}):
            return
        lengths = tuple((each.key, *each.length) for each in found)
        self.report(metric_errors.OtherLengths(expr.span, text_of(expr), lengths))

    def _is_of_other_lengths(self, name: str) -> bool:
        """Return whether a name is a metric that combines measurements of several lengths. Mistakes are not
        reported."""
        typed = self._silently(lambda: self.metric(name)) if name in self.metrics else None
        return typed is not None and bool(of_other_lengths(typed.term, self.scope.experiments))

    def full(self) -> bool:
        """Return whether the spec has more expressions than allowed."""
        return self.counts["parts"] > MAX_PARTS or self.counts["expressions"] > MAX_EXPRESSIONS

    def ranks(self, dim: Dimension) -> Mapping[DimKey, int]:
        """Return the rank of each key of a dimension: hardware, workloads and levels in the order of declaration, and
        others in the order of the experiments."""
        if dim not in self._ranks:
            factor = self.scope.factors_by_name.get(dim)
            of_factor = [level.key for level in factor.levels] if factor and factor.unit is None else []
            hardware = [each.key for each in self.scope.hardware] if dim == "hardware" else []
            workloads = [each.key for each in self.scope.workloads] if dim == "workload" else []
            keys = dict.fromkeys((*of_factor, *hardware, *workloads, *self.runs.keys(dim)))
            self._ranks[dim] = {key: rank for rank, key in enumerate(keys)}
        return self._ranks[dim]

    # --- each kind of expression ---

    def _typed(self, expr: ast.Expr, demanded: Demanded) -> Typed | None:
        match expr:
            case ast.Quantity():
                return self._quantity(expr)
            case ast.Name():
                return look_up(self, expr, demanded)
            case ast.Attr(base=ast.Call() as call):
                return field_of(self, expr, call, demanded)
            case ast.Attr():
                return look_up_dotted(self, expr, demanded)
            case ast.Index():
                base = self.typed(expr.base, demanded)
                at_keys = base and index(self, base.term, expr)
                return Typed(at_keys[0], base.display) if base and at_keys else None
            case ast.Call():
                return reduction(self, expr, demanded)
            case ast.Unary():
                return self._unary(expr, demanded)
            case ast.Binary(operator="+" | "-" | "*" | "/"):
                return self._arithmetic(expr, demanded)
            case ast.Binary(operator="and" | "or"):
                left, right = self.condition(expr.left, demanded), self.condition(expr.right, demanded)
                if left is None or right is None:
                    return None
                return Typed(OperationTerm(expr.operator, matching(left.term, right.term), None))
            case ast.Binary() if expr.operator in _COMPARISONS:
                return self._comparison(expr, demanded)
        found = {ast.String: "a quoted text", ast.List: "a list"}.get(type(expr)) or f"`{text_of(expr)}`"
        return self.refuse(wrong.NotAnExpression(expr.span, found))

    def _quantity(self, expr: ast.Quantity) -> Typed | None:
        try:
            unit = parse_unit(expr.unit)
        except UnknownUnitError as error:
            return self._unknown_unit(expr.unit_span or expr.span, error)
        value = unit.to_base(expr.value)
        if not math.isfinite(value):
            return self.refuse(NotFinite(expr.span))
        return Typed(NumberTerm(value, unit.dimension), unit if unit.text else None)

    def _unknown_unit(self, span: Span, error: UnknownUnitError) -> T | None:
        start = span.start + error.start
        part = Span(span.source, start, start + len(error.part))
        return self.refuse(UnknownUnit(part, error.part, error.hint))

    def _unary(self, expr: ast.Unary, demanded: Demanded) -> Typed | None:
        if expr.operator == "not":
            condition = self.condition(expr.operand, demanded)
            return condition and Typed(OperationTerm("not", (condition.term,), None))
        typed = self.number(expr.operand, demanded)
        if typed is None:
            return None
        if isinstance(typed.term, NumberTerm):
            return Typed(NumberTerm(-typed.term.value, typed.term.unit), typed.display)
        return Typed(OperationTerm("-", (typed.term,), typed.term.unit), typed.display)

    def _arithmetic(self, expr: ast.Binary, demanded: Demanded) -> Typed | None:
        left, right = self.number(expr.left, demanded), self.number(expr.right, demanded)
        if left is None or right is None:
            return None
        left_unit, right_unit = left.term.unit or DIMENSIONLESS, right.term.unit or DIMENSIONLESS
        display: Unit | None = None
        match expr.operator:
            case "*":
                unit = multiply(left_unit, right_unit)
                display = left.display if _is_plain(right) else right.display if _is_plain(left) else None
            case "/":
                unit = divide(left_unit, right_unit)
                display = left.display if _is_plain(right) else None
            case _:
                common = self._common_unit(expr, left, right)
                if common is None:
                    return None
                unit = common
                if expr.operator == "+" and holds_percentiles(right.term) and _unsummed(left.term):
                    ratios = common == DIMENSIONLESS
                    self.report(metric_errors.MeanOfPercentiles(expr.span, "sum", (), ratios))
                if left.display == right.display or isinstance(right.term, NumberTerm):
                    display = left.display
        return Typed(_folded(expr.operator, *matching(left.term, right.term), unit), display)

    def _comparison(self, expr: ast.Binary, demanded: Demanded) -> Typed | None:
        left, right = self.number(expr.left, demanded), self.number(expr.right, demanded)
        if left is None or right is None or self._common_unit(expr, left, right) is None:
            return None
        for side, typed, other in ((expr.left, left, right), (expr.right, right, left)):
            shown_as_share = other.display is not None and other.display.text == "%"
            if shown_as_share and _is_bare(side) and isinstance(typed.term, NumberTerm) and abs(typed.term.value) > 1:
                self.report(metric_errors.BareShare(side.span, text_of(side), 100 * typed.term.value))
        return Typed(OperationTerm(expr.operator, matching(left.term, right.term), None))

    def _common_unit(self, expr: ast.Binary, left: Typed, right: Typed) -> UnitDimension | None:
        """Return the common unit of both sides. `0` fits any unit."""
        if left.term.unit == right.term.unit or _is_zero(right.term):
            return left.term.unit
        if _is_zero(left.term):
            return right.term.unit
        return self.refuse(
            metric_errors.UnitMismatch(
                expr.operator_span, expr.operator, unit_of(left), unit_of(right), expr.left.span, expr.right.span
            )
        )

    def _declared_unit(self, metric: ast.Metric) -> Unit | None:
        """Return the unit that the metric declares, or None if it declares none. An unknown unit is reported, and also
        gives None."""
        if metric.unit is None:
            return None
        try:
            return parse_unit(metric.unit.text)
        except UnknownUnitError as error:
            return self._unknown_unit(metric.unit.span, error)

    def _in_declared_unit(self, metric: ast.Metric, typed: Typed, demanded: Demanded) -> Typed | None:
        if metric.unit is None:
            return typed
        unit = self._declared_unit(metric)
        if unit is None:
            return None
        actual = typed.term.unit or DIMENSIONLESS
        if actual != unit.dimension:
            parts: tuple[tuple[Span, Unit | None], ...] = ()
            if isinstance(metric.expr, ast.Binary) and isinstance(typed.term, OperationTerm):
                sides = (self.typed(side, demanded) for side in (metric.expr.left, metric.expr.right))
                spans = (metric.expr.left.span, metric.expr.right.span)
                parts = tuple((span, unit_of(side)) for span, side in zip(spans, sides, strict=True) if side)
            return self.refuse(
                metric_errors.WrongUnit(
                    metric.expr.span, metric.name.text, metric.unit.text, actual, metric.unit.span, parts
                )
            )
        return Typed(typed.term, unit)


def _plain(key: DimKey) -> str:
    return key if isinstance(key, str) else f"{key:,.15g}"


def _folded(operator: str, left: Term, right: Term, unit: UnitDimension) -> Term:
    if isinstance(left, NumberTerm) and isinstance(right, NumberTerm) and not (operator == "/" and right.value == 0):
        a, b = left.value, right.value
        value = {"+": a + b, "-": a - b, "*": a * b}[operator] if operator != "/" else a / b
        if math.isfinite(value):
            return NumberTerm(value, unit)
    return OperationTerm(operator, (left, right), unit)


def _unsummed(term: Term) -> bool:
    """Return whether the term has percentiles. Return False for a sum of two percentiles, because there has already
    been a warning about it."""
    summed = isinstance(term, OperationTerm) and term.operator == "+" and all(map(holds_percentiles, term.operands))
    return holds_percentiles(term) and not summed


def _is_bare(expr: ast.Expr) -> bool:
    """Return whether the expression is a literal number without a unit."""
    match expr:
        case ast.Unary(operator="-", operand=operand):
            return _is_bare(operand)
        case ast.Quantity():
            return not expr.unit
        case _:
            return False


def _is_plain(typed: Typed) -> bool:
    """Return whether the expression is a number without a unit. Multiplying a value by such a number does not change
    the value's kind."""
    return isinstance(typed.term, NumberTerm) and typed.term.unit == DIMENSIONLESS


def _is_zero(term: Term) -> bool:
    return isinstance(term, NumberTerm) and term.value == 0 and term.unit == DIMENSIONLESS
