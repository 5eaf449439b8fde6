"""Names in expressions: metrics, measures, axes, declared facts and parameters. Reports all others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, cast

from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.extensions.own_tools import known_operations
from benchbrief.compiler.extensions.registry import PROBE_SPECS, TOOL_SPECS, Refused
from benchbrief.compiler.frontend.declared_names import dotted
from benchbrief.compiler.frontend.name_errors import UnknownName
from benchbrief.compiler.measure_catalogue import (
    AXIS_UNITS,
    DIMENSIONS,
    FAMILIAR_FACTS,
    FAMILIES,
    KINDS,
    MeasureKind,
    family_of,
    find_measure,
)
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.metric_errors import (
    DeclaredNotSampled,
    NeedsEvent,
    NeedsProbe,
    NeedsPromise,
    NeedsTool,
)
from benchbrief.compiler.metrics.typing.curves import steady
from benchbrief.compiler.metrics.typing.terms import AxisValue, Fact, Measure
from benchbrief.compiler.metrics.typing.typed_expression import Demanded, Typed
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.units import parse_unit
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.typing.expressions import Typer

FUNCTIONS = (
    *("max", "min", "mean", "sum", "median", "first", "last", "count"),
    *("cv", "ci", "p_value"),
    *("knee", "saturation", "usl", "time_to_steady"),
)
"""Functions that reduce a dimension. `range` gives two numbers, for the texts of a report."""

_PERCENTILE = re.compile(r"p[0-9]{2,}")  # a missing digit is a slip

_ALONG: Mapping[str, Dimension] = {"saturation": "target", "time_to_steady": "phase", "ci": "repeat", "cv": "repeat"}
_MOST_METRICS = 1_000
"""The most metrics to compare a misspelt word with."""


def reserved_for(name: str) -> str:
    """Return what a name means in every spec, so that no metric can have it; "" for others."""
    if name in KINDS or (name in FAMILIES and name not in FAMILIAR_FACTS) or name == "nodes":
        return "a measure"
    if name == "steady":
        return "a condition"
    return "a dimension" if name in DIMENSIONS else ""


def look_up(typer: Typer, name: ast.Name, demanded: Demanded) -> Typed | None:
    word = name.text
    if word in typer.metrics:
        return typer.metric(word, demanded)
    if word in KINDS:
        return _measure(typer, name.span, KINDS[word], demanded)
    if word == "steady":
        return steady(typer, name.span, demanded)
    if word in AXIS_UNITS:
        dim = cast(Dimension, word)
        points = typer.runs.keys(dim)
        return Typed(AxisValue(dim, parse_unit(AXIS_UNITS[dim]).dimension, cast("tuple[float, ...]", points)))
    fact = _fact(typer, word)
    if fact is not None:
        return fact
    if word in typer.scope.params:
        return typer.typed(typer.scope.params[word], demanded)
    hardware = typer.scope.hardware
    if any(word in hw.units for hw in hardware) and not any(word in hw.facts for hw in hardware):
        return None  # declared with a mistake, which is reported there
    _explain(typer, name)
    return None


def look_up_dotted(typer: Typer, expr: ast.Attr, demanded: Demanded) -> Typed | None:
    word = dotted(expr)
    if kind := find_measure(word):
        return _measure(typer, expr.span, kind, demanded)
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
    return None


def _refused(family: str) -> Refused | None:
    found = (PROBE_SPECS.find(family), TOOL_SPECS.find(family))
    return next((each for each in found if isinstance(each, Refused)), None)


def _fact(typer: Typer, word: str) -> Typed | None:
    """Return a declared fact in its declared unit, where all hardware has the same."""
    if word not in typer.facts:
        typer.facts[word] = _declared(typer, word)
    return typer.facts[word]


def _declared(typer: Typer, word: str) -> Typed | None:
    if word == "nodes":
        unit = parse_unit("nodes").dimension
        return Typed(Fact(word, unit, tuple((hw.key, float(hw.nodes)) for hw in typer.scope.hardware)))
    found = {hw.key: hw.facts[word] for hw in typer.scope.hardware if word in hw.facts}
    units = {parse_unit(quantity.unit).dimension for quantity in found.values()}
    if len(units) != 1:  # undeclared, or in two kinds of units, which `_explain` names
        return None
    written = {hw.units.get(word, "") for hw in typer.scope.hardware if word in hw.facts}
    display = parse_unit(written.pop()) if len(written) == 1 else None
    term = Fact(word, units.pop(), tuple((key, quantity.value) for key, quantity in found.items()))
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
    return Typed(Measure(kind, runs, typer.scope.experiment_visible, demanded & kind.on_demand))


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
    """Return every name that an expression can have, for suggestions."""
    facts = dict.fromkeys(fact for hardware in typer.scope.hardware for fact in hardware.facts)
    metrics = islice(typer.metrics, _MOST_METRICS)
    own = (*metrics, *KINDS, "nodes", "threads", "target", "steady", *facts, *typer.scope.params)
    return (*own, *described_names(typer))


def _keys(typer: Typer) -> tuple[str, ...]:
    return (*(name for name in described_names(typer) if name not in DIMENSIONS), *known_operations())


def described_names(typer: Typer) -> tuple[str, ...]:
    """Return every name with fields: `{workload.label}`, `{eco.storage}`."""
    scope = typer.scope
    hardware = (name for each in scope.hardware for name in (each.key, *each.aliases))
    workloads, experiments = (each.key for each in scope.workloads), (each.key for each in scope.experiments)
    return tuple(dict.fromkeys(("workload", "hardware", "experiment", *hardware, *workloads, *experiments)))
