"""Finds the dimension and the key of each argument of an index such as `throughput[eco, threads: 96]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from benchbrief.compiler.frontend.scope import Scope
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.terms import (
    Fixed,
    Measure,
    NumberTerm,
    Term,
    at_unmeasured,
    counted,
    fix,
    leaves,
    may_fix,
    offered_keys,
    offers,
    without_points,
)
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, LatencyKind
from benchbrief.model.units import DIMENSIONLESS, UnknownUnitError, parse_unit

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.expressions import Typer


def index(typer: Typer, base: Term, expr: ast.Index) -> tuple[Term, Fixed] | None:
    """Return `base` with the index's dimensions fixed, and the keys, or None after a mistake.

    Words are looked up before numbers, because the points of a ramp depend on the workload and the hardware.
    """
    base_text = " ".join(expr.base.span.text.split())
    keys: dict[Dimension, DimKey] = {}
    term = base
    failed = False
    numeric = typer.scope.axis_units
    arguments = sorted(expr.arguments, key=lambda each: each.key is not None and each.key.text in numeric)
    kinds = [argument for argument in arguments if _latency_kind(typer, base, argument)]
    if len(kinds) > 1:
        instead = "an index counts latency in one way"
        return typer.refuse(wrong.BadIndex(kinds[1].span, "the kind of latency is fixed twice", instead))
    for argument in arguments:
        if kind := _latency_kind(typer, base, argument):
            term = counted(term, kind)
            continue
        found = None if _is_second(typer, argument, keys) else _argument(typer, term, argument, base_text)
        if found is None:
            failed = True
            continue
        dim, key = found
        sampled = [leaf for leaf in leaves(term) if isinstance(leaf, Measure) and leaf.kind.view == "sample"]
        if dim == "phase" and sampled:
            typer.report(wrong.NotByPhase(argument.span, sampled[0].kind.name))
            failed = True
            continue
        keys[dim] = key
        term = fix(term, dim, key) if dim in offers(term) else at_unmeasured(term, dim, key)
    if failed:
        return None
    if without_points(term) is not None and without_points(base) is None:
        return typer.refuse(wrong.NothingPlanned(expr.span, " ".join(expr.span.text.split()), ""))
    return term, tuple(keys.items())


def _latency_kind(typer: Typer, base: Term, argument: ast.Argument) -> LatencyKind | None:
    """Return `intended` or `service` if the argument selects a kind of latency, or else None. If the spec uses the word
    as a name, the name takes precedence."""
    word = word_of(argument.value) if argument.key is None else None
    found = next((kind for kind in get_args(LatencyKind) if kind == word), None)
    if found is None or any(scope_key(typer.scope, dim, found) is not None for dim in typer.scope.named):
        return None
    latencies = any(isinstance(leaf, Measure) and leaf.kind.view == "latency" for leaf in leaves(base))
    return found if latencies else None


def scope_key(scope: Scope, dim: Dimension, word: str) -> str | None:
    """Return the key that this word names in a dimension of the spec."""
    return scope.names[dim].get(word) if dim in scope.names else None


def word_of(expr: ast.Expr) -> str | None:
    """Return a key as written: a name, a dotted name, `load(f)`, or a quoted text."""
    match expr:
        case ast.Name():
            return expr.text
        case ast.Attr() | ast.Call():
            return "".join(expr.span.text.split())
        case ast.String():
            return expr.plain
        case _:
            return None


def yet_to_be_found(term: Term, dim: str) -> str:
    """Return the experiment that searches for the term's point of a dimension, or "" if no search is needed."""
    runs = (run for leaf in leaves(term) if isinstance(leaf, Measure) for run in leaf.runs)
    return next((search for run in runs for name, search in run.unknown if name == dim), "")


def _is_second(typer: Typer, argument: ast.Argument, before: Mapping[Dimension, DimKey]) -> bool:
    """Return whether an earlier argument fixes the same dimension, and report the argument if so."""
    if argument.key is not None:
        dims = {argument.key.text}
    else:
        word = word_of(argument.value)
        dims = {dim for dim in typer.scope.named if word is not None and scope_key(typer.scope, dim, word) is not None}
    twice = [dim for dim in before if dims == {dim}]
    for dim in twice:
        instead = "an index fixes each dimension once"
        typer.report(wrong.BadIndex(argument.span, f"`{dim}` is fixed twice", instead))
    return bool(twice)


def _argument(typer: Typer, base: Term, argument: ast.Argument, base_text: str) -> tuple[Dimension, DimKey] | None:
    if argument.key is None:
        return _positional(typer, base, argument.value, base_text)
    dim, axes = argument.key.text, typer.scope.axis_units
    if dim not in typer.scope.dimensions:
        return typer.refuse(wrong.UnknownDimension(argument.key.span, "dimension", dim, typer.scope.dimensions))
    if dim not in offers(base) or (dim in axes and dim != "time" and not offered_keys(base, dim)):
        level = scope_key(typer.scope, dim, word_of(argument.value) or "")
        if level is not None and _is_off_the_profile(typer, argument.value, dim, level, ()):
            return dim, level
        if search := yet_to_be_found(base, dim):
            return typer.refuse(wrong.PointNotKnown(argument.span, base_text, dim, search))
        return typer.refuse(wrong.DimensionAbsent(argument.span, base_text, dim, base.dims))
    if dim in axes:
        return point(typer, base, dim, argument.value)
    word = word_of(argument.value)
    if word is None:
        text = " ".join(argument.value.span.text.split())
        return typer.refuse(wrong.BadIndex(argument.value.span, f"`{dim}` takes a name, not `{text}`", "write a name"))
    if dim == "node":  # the nodes are known only from the results
        return dim, word
    key = scope_key(typer.scope, dim, word)
    known = offered_keys(base, dim)
    if key is not None and key not in known and _is_off_the_profile(typer, argument.value, dim, key, known):
        return dim, key
    if key is None or key not in known:
        texts = tuple(str(k) for k in known)
        return typer.refuse(wrong.UnknownKey(argument.value.span, dim, word, texts, base_text))
    return dim, key


def _positional(typer: Typer, base: Term, expr: ast.Expr, base_text: str) -> tuple[Dimension, DimKey] | None:
    word = word_of(expr)
    if word is None:
        _not_a_key(typer, base, expr)
        return None
    everywhere = [(dim, key) for dim in typer.scope.named if (key := scope_key(typer.scope, dim, word)) is not None]
    candidates = [(dim, key) for dim, key in everywhere if may_fix(base, dim, key)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        dims = tuple(dim for dim, _ in candidates)
        typer.report(wrong.AmbiguousKey(expr.span, word, dims))
    elif everywhere:
        dim, key = everywhere[0]
        if dim in offers(base):
            offered_here = offered_keys(base, dim)
            if _is_off_the_profile(typer, expr, dim, key, offered_here):
                return dim, key
            typer.report(wrong.UnknownKey(expr.span, dim, word, tuple(map(str, offered_here)), base_text))
        elif _is_off_the_profile(typer, expr, dim, key, ()):
            return dim, key
        else:
            typer.report(wrong.DimensionAbsent(expr.span, base_text, dim, base.dims))
    else:
        offered = {dim: tuple(str(key) for key in offered_keys(base, dim)) for dim in typer.scope.named}
        known = tuple(dict.fromkeys(key for keys in offered.values() for key in keys))
        by_dimension = tuple((dim, keys) for dim, keys in offered.items() if keys)
        typer.report(wrong.UnknownKey(expr.span, "key", word, known, base_text, by_dimension))
    return None


def _is_off_the_profile(
    typer: Typer, expr: ast.Expr, dim: Dimension, key: DimKey, offered_here: tuple[DimKey, ...]
) -> bool:
    """Return whether the profile leaves out a point or a level, and warn if so."""
    profile, factor = typer.scope.profile, typer.scope.factors_by_name.get(dim)
    if profile is None or not (factor or dim in ("threads", "target")):
        return False
    if factor and all(level.key != key for level in factor.levels):
        return False
    texts = tuple(point_text(typer.scope, dim, each) for each in offered_here)
    typer.report(metric_errors.OffTheProfile(expr.span, profile, dim, point_text(typer.scope, dim, key), texts))
    return True


def point_text(scope: Scope, dim: Dimension, key: DimKey) -> str:
    """Return the text of a key for a message. For a number that is a factor's level, it is the level's label."""
    if isinstance(key, str):
        return key
    return scope.labels.get(dim, {}).get(key) or f"{key:,g}"


def _not_a_key(typer: Typer, base: Term, expr: ast.Expr) -> None:
    text = " ".join(expr.span.text.split())
    number = isinstance(expr, ast.Quantity)
    numeric = ["threads", "target"]
    if isinstance(expr, ast.Quantity) and expr.unit:
        numeric = [dim for dim, unit in typer.scope.axis_units.items() if _fits(expr.unit, unit)] + numeric
    axis = next((dim for dim in numeric if dim in base.dims), "threads")
    why = f"`{text}` alone names no dimension" if number else f"`{text}` is not a name"
    instead = f"write the dimension too: `{axis}: {text}`" if number else "write a name"
    typer.report(wrong.BadIndex(expr.span, why, instead))


def point(typer: Typer, base: Term, dim: Dimension, expr: ast.Expr) -> tuple[Dimension, DimKey] | None:
    """Return a dimension with the key that a number names in it, or None after a mistake."""
    typed = typer.number(expr)
    if typed is None:
        return None
    unit = parse_unit(typer.scope.axis_units[dim])
    if not isinstance(typed.term, NumberTerm):
        why, instead = f"`{dim}` must be a number, not an expression", f"write the number, as in `{dim}: 1`"
        return typer.refuse(wrong.BadIndex(expr.span, why, instead))
    spelled_out = parse_unit(dim).dimension if dim == "threads" else unit.dimension  # `threads: 96 threads`
    if typed.term.unit not in (unit.dimension, spelled_out, DIMENSIONLESS):
        why = f"`{dim}` can't be {metric_errors.unit_words(typed.term.unit)}"
        instead = f"write it in `{unit.text}`" if unit.text else "write a plain number"
        return typer.refuse(wrong.BadIndex(expr.span, why, instead))
    value = typed.term.value
    known = offered_keys(base, dim)
    if value in known or dim == "time":
        return dim, value
    if _is_off_the_profile(typer, expr, dim, value, known):
        return dim, value
    points = tuple(point_text(typer.scope, dim, key) for key in known)
    text = f"{value:,g}" if dim in DIMENSIONS else " ".join(expr.span.text.split())
    return typer.refuse(wrong.PointNotOnRamp(expr.span, dim, text, points))


def _fits(unit: str, axis: str) -> bool:
    """Return whether a number in `unit` may be a point of an axis in the unit `axis`."""
    try:
        return parse_unit(unit).dimension == parse_unit(axis).dimension
    except UnknownUnitError:
        return False
