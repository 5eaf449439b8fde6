"""What the elements of a report share: expressions at a place of the report, as queries, keys and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from benchbrief.compiler import plan
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.indexing import scope_key, word_of
from benchbrief.compiler.metrics.measures import DIMENSIONS, KINDS, NAMED, Key
from benchbrief.compiler.metrics.metric_errors import ServiceLatencyOnly
from benchbrief.compiler.metrics.runs import Runs
from benchbrief.compiler.metrics.sql import lower
from benchbrief.compiler.metrics.terms import Fixed, Measure, Term, along, fix, leaves, offers, planned_keys
from benchbrief.compiler.metrics.typed import Typed, dotted, text_of
from benchbrief.compiler.plan import Dimension
from benchbrief.compiler.units import Unit
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span


@dataclass(frozen=True)
class Place:
    """Where in the report: what the enclosing `each` blocks fix."""

    fixed: Fixed = ()

    def at(self, dim: Dimension, key: Key) -> Place:
        return Place((*(pair for pair in self.fixed if pair[0] != dim), (dim, key)))

    def key(self, dim: str) -> Key | None:
        return dict(self.fixed).get(cast(Dimension, dim))

    @property
    def words(self) -> str:
        """For messages: " for workload `a`"."""
        return "".join(f" for {dim} `{_plain(key)}`" for dim, key in self.fixed)


def dimension(word: str) -> Dimension | None:
    return next((dim for dim in DIMENSIONS if dim == word), None)


def typed_at(typer: Typer, expr: ast.Expr, place: Place, demanded: Iterable[Dimension] = ()) -> Typed | None:
    """The expression where it stands, with what the place fixes; None when a mistake was reported."""
    if typer.full():
        return None
    demanded = frozenset(demanded)
    typed = typer.number(expr, demanded)
    if typed is None:
        return None
    term = along(typed.term, demanded)
    for dim, key in place.fixed:
        term = fix(term, dim, key)
    typed = Typed(term, typed.display)
    return typed if typer.is_complete(typed, expr, place.words) else None


def settled(typed: Typed, keep: Iterable[Dimension]) -> tuple[Typed, tuple[Dimension, ...]]:
    """The term with dimensions of a single planned key fixed to it, but those to keep; and what is left then."""
    term = typed.term
    left: list[Dimension] = []
    for dim in term.dims:
        if dim in keep:
            continue
        keys = planned_keys(term, dim)
        if keys is not None and len(keys) == 1 and dim in offers(term):
            term = fix(term, dim, keys[0])
        else:
            left.append(dim)
    return Typed(term, typed.display), tuple(left)


def query(typer: Typer, term: Term, unit: Unit, text: str) -> plan.Query:
    _warn_of_service_latency(typer, term)
    if not typer.planning:
        return plan.Query(sql="", dims=term.dims, unit=unit.text, text=text)
    return lower(term, unit, text, typer.runs)


def _warn_of_service_latency(typer: Typer, term: Term) -> None:
    """Once for each experiment whose latencies at an offered load leave out the wait for an operation's turn."""
    asked = {
        key
        for leaf in leaves(term)
        if isinstance(leaf, Measure) and leaf.kind.view == "latency"
        for key in leaf.runs.keys("experiment")
    }
    if not asked:
        return
    for experiment in typer.scope.experiments:
        if experiment.service_only and experiment.key in asked:
            span, tool = experiment.service_only
            typer.findings.add(ServiceLatencyOnly(span, experiment.key, tool))


def example_key(typer: Typer, term: Term, dim: Dimension) -> str:
    """An index that would fix `dim`: `nvme`, `threads: 96`."""
    keys = planned_keys(term, dim) or typer.runs.keys(dim) or ("...",)
    return _plain(keys[0]) if dim in NAMED else f"{dim}: {_plain(keys[-1])}"


def examples(typer: Typer, term: Term, dims: Iterable[Dimension]) -> tuple[str, ...]:
    return tuple(example_key(typer, term, dim) for dim in dims)


def runs_at(typer: Typer, place: Place) -> Runs:
    """What is planned within what the place fixes."""
    runs = typer.runs
    for dim, key in place.fixed:
        runs = runs.at(dim, key)
    return runs


def ordered(typer: Typer, dim: Dimension, keys: Iterable[Key]) -> tuple[Key, ...]:
    """Keys in the order of the experiments, each once; numbers rise."""
    ranks = typer.ranks(dim)
    return tuple(sorted({key for key in keys if key in ranks}, key=ranks.__getitem__))


def key_label(typer: Typer, dim: Dimension, key: Key) -> str:
    """The label of a key; of a number, its digits."""
    match dim:
        case "hardware" | "workload" | "experiment":
            return typer.scope.labels[dim].get(str(key), str(key))
        case _:
            return _plain(key)


def plan_keys(typer: Typer, dim: Dimension, keys: Iterable[Key]) -> tuple[plan.Key, ...]:
    return tuple(plan.Key(value=key, label=key_label(typer, dim, key)) for key in keys)


def label_of(typer: Typer, expr: ast.Expr) -> str:
    """What to call an expression: a metric's label, a measure's name, with the labels of the keys it is fixed to."""
    match expr:
        case ast.Name() if expr.text in typer.metrics:
            label = typer.metrics[expr.text].label
            return (label.plain if label else None) or expr.text
        case ast.Index():
            base, operations, keys = label_of(typer, expr.base), [], []
            for argument in expr.arguments:
                found = _labelled_key(typer, argument)
                if found and found[0] == "operation":
                    operations.append(str(found[1]))
                elif found:
                    keys.append(key_label(typer, *found))
            if operations:
                base += f"[{', '.join(operations)}]" if dotted(expr.base) in KINDS else f", {', '.join(operations)}"
            return ", ".join([base, *keys])
        case _:
            return text_of(expr)


def _labelled_key(typer: Typer, argument: ast.Argument) -> tuple[Dimension, Key] | None:
    word = word_of(argument.value)
    if word is None:
        return None
    dims = NAMED if argument.key is None else tuple(dim for dim in NAMED if dim == argument.key.text)
    for dim in dims:
        key = scope_key(typer.scope, dim, word)
        if key is not None:
            return dim, key
    return None


def origin(span: Span) -> plan.Origin:
    return plan.Origin(file=span.source.name, line=span.line, column=span.column)


def _plain(key: Key) -> str:
    return key if isinstance(key, str) else f"{key:.15g}"
