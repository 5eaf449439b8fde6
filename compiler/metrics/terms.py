"""The result of typing an expression, and the text of an expression for messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import prod
from operator import is_
from typing import ClassVar, Literal, TypeAlias, cast

from benchbrief.compiler.frontend.declarations import dotted
from benchbrief.compiler.measure_catalogue import MeasureKind
from benchbrief.compiler.metrics.planned_points import PlannedRun, Runs, unique
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import DIMENSIONS, Dimension, DimKey, LatencyKind
from benchbrief.model.units import DIMENSIONLESS, Unit, base_unit
from benchbrief.model.units import Dimension as UnitDimension

Dims = tuple[Dimension, ...]
Fixed = tuple[tuple[Dimension, DimKey], ...]


_RANKS = {dim: rank for rank, dim in enumerate(DIMENSIONS)}
_FACTORS = _RANKS["workload"] + 0.5


def rank(dim: Dimension) -> float:
    """Return a dimension's position in the order of the columns of results. All factors share one position, between
    `workload` and `threads`."""
    return _RANKS.get(dim, _FACTORS)


def in_order(dims: Iterable[Dimension]) -> Dims:
    """Return each dimension once, in the order of results, with factors in the given order."""
    found = tuple(dict.fromkeys(dims))
    return found if len(found) < 2 else tuple(sorted(found, key=rank))


class _Leaf:
    """A term without parts."""

    size: ClassVar[int] = 1
    depth: ClassVar[int] = 1


class _Whole:
    """A term with parts. `size` counts the parts and the term itself."""

    @cached_property
    def size(self) -> int:
        return 1 + sum(part.size for part in parts(cast("Term", self)))

    @cached_property
    def depth(self) -> int:
        return 1 + max(part.depth for part in parts(cast("Term", self)))

    @cached_property
    def leaves(self) -> tuple[Measure | FactTerm | AxisValue, ...]:
        return tuple(leaf for part in parts(cast("Term", self)) for leaf in leaves(part))


@dataclass(frozen=True)
class NumberTerm(_Leaf):
    value: float
    unit: UnitDimension
    dims: ClassVar[Dims] = ()


@dataclass(frozen=True)
class Measure(_Leaf):
    """A base measure over its planned `runs`, with some dimensions fixed.

    `demanded` are dimensions that are kept only on demand: phase, node, and a factor with a single level. `counted` is
    the kind of latency: "intended" (from when an operation was due), "service" (from when it was sent), or "" (the kind
    that `latency` means for the cell).
    """

    kind: MeasureKind
    runs: Runs
    demanded: frozenset[Dimension] = frozenset()
    fixed: Fixed = ()
    counted: LatencyKind | Literal[""] = ""

    @property
    def unit(self) -> UnitDimension:
        return self.kind.unit

    @property
    def text(self) -> str:
        """The measure with its operation: `latency.p99[read]`."""
        operation = dict(self.fixed).get("operation")
        return f"{self.kind.name}[{operation}]" if operation else self.kind.name

    @cached_property
    def dims(self) -> Dims:
        fixed = dict(self.fixed)
        asked = [dim for dim in self._on_demand if dim in self.demanded] if self.demanded else ()
        return in_order(dim for dim in (*self.runs.told_apart_by, *asked) if dim not in fixed)

    @cached_property
    def offers(self) -> frozenset[Dimension]:
        """The dimensions that an index can still fix."""
        return frozenset({"experiment", *self.runs.told_apart_by, *self._on_demand} - dict(self.fixed).keys())

    @property
    def _on_demand(self) -> list[Dimension]:
        several = ["experiment"] if len(self.runs.keys("experiment")) > 1 else []
        return [*self.runs.factors, *several, *self.kind.on_demand]

    def keeping(self, dims: Iterable[Dimension]) -> Measure:
        """Return the measure with the dimensions in `dims` that it has only on request."""
        kept = self.offers.intersection(dims, self._on_demand)
        if kept <= self.demanded:
            return self
        return Measure(self.kind, self.runs, self.demanded | kept, self.fixed, self.counted)

    def at(self, dim: Dimension, key: DimKey) -> Measure:
        runs = self.runs.at(dim, key)
        if not runs and (dim in ("threads", "target") or dim not in DIMENSIONS):
            # A point that this profile does not measure is a point with a missing value.
            runs = self.runs.along((dim,))
        fixed = tuple(sorted((*self.fixed, (dim, key)), key=lambda pair: (rank(pair[0]), pair[0])))
        return Measure(self.kind, runs, self.demanded, fixed, self.counted)


@dataclass(frozen=True)
class FactTerm(_Leaf):
    """A declared quantity of the hardware groups that have it, or of the levels of a factor."""

    name: str
    unit: UnitDimension
    values: tuple[tuple[DimKey, float], ...]
    dim: Dimension = "hardware"

    @property
    def dims(self) -> Dims:
        return (self.dim,)

    @cached_property
    def keys(self) -> tuple[DimKey, ...]:
        return tuple(key for key, _ in self.values)


@dataclass(frozen=True)
class AxisValue(_Leaf):
    """A dimension's own keys as numbers: `threads`, `target`, `phase`, `repeat`, `time` (whose keys are unknown), or a
    factor whose levels are numbers."""

    dim: Dimension
    unit: UnitDimension
    points: tuple[float, ...]

    @property
    def dims(self) -> Dims:
        return (self.dim,)


@dataclass(frozen=True)
class OperationTerm(_Whole):
    """An operator over one or two operands, joined on their common dimensions."""

    operator: str
    operands: tuple[Term, ...]
    unit: UnitDimension | None

    @cached_property
    def dims(self) -> Dims:
        return in_order(dim for operand in self.operands for dim in operand.dims)

    @cached_property
    def offers(self) -> frozenset[Dimension]:
        return frozenset().union(*map(offers, self.operands))


@dataclass(frozen=True)
class SteadyTerm(_Whole):
    """Whether the operand is steady, at each phase or only at the phase `at` (see `model/steadiness.py`).

    The steady state begins at the first phase from which the rule holds through the last phase.
    """

    operand: Term
    at: DimKey | None = None
    unit: ClassVar[UnitDimension | None] = None

    @cached_property
    def dims(self) -> Dims:
        return tuple(dim for dim in self.operand.dims if dim != "phase" or self.at is None)


@dataclass(frozen=True)
class Reduction(_Whole):
    """`function` of the operand over some of its dimensions, at the points where `when` holds.

    A function of a curve (`curves.py`) goes over one dimension. These functions are `knee`, `saturation` and
    `saturation.target` (with their ratio in `at`), the fields of `usl` such as `usl.peak`, and `onset`. `onset` is the
    first phase where the operand is true. `list` keeps the values apart, for functions that need all of them. If a
    function returns a point of the dimension, `axis` is the dimension's unit. `ragged` are the factors whose
    combinations are not all measured, so that the reduction covers different points at different keys.
    """

    function: str
    operand: Term
    over: Dims
    when: Term | None
    at: float | None = None
    axis: UnitDimension = DIMENSIONLESS
    ragged: Dims = ()

    @property
    def unit(self) -> UnitDimension | None:
        match self.function:
            case "count" | "onset":
                return DIMENSIONLESS
            case "usl.sigma" | "usl.kappa" | "usl.sigma_se" | "usl.kappa_se" | "usl.r2":
                return DIMENSIONLESS
            case "knee" | "saturation.target" | "usl.peak_load":
                return self.axis
            case _:
                return self.operand.unit

    @cached_property
    def dims(self) -> Dims:
        return tuple(dim for dim in self.operand.dims if dim not in self.over)


@dataclass(frozen=True)
class SpreadTerm(_Whole):
    """A term without the dimension `dim` that is repeated for each key of `dim`, such as a constant line across a
    figure.

    If the keys are known only from results (node, time), they are the keys at which the terms in `beside` have values.
    """

    operand: Term
    dim: Dimension
    keys: tuple[DimKey, ...]
    beside: tuple[Term, ...] = ()

    @property
    def unit(self) -> UnitDimension | None:
        return self.operand.unit

    @cached_property
    def dims(self) -> Dims:
        return in_order((*self.operand.dims, self.dim))


Term: TypeAlias = NumberTerm | Measure | FactTerm | AxisValue | OperationTerm | SteadyTerm | Reduction | SpreadTerm


def parts(term: Term) -> tuple[Term, ...]:
    """Return the direct parts of a term, in the order of the text."""
    match term:
        case OperationTerm():
            return term.operands
        case Reduction():
            return (term.operand, term.when) if term.when else (term.operand,)
        case SteadyTerm() | SpreadTerm():
            return (term.operand,)
        case _:
            return ()


def with_parts(term: Term, change: Callable[[Term], Term]) -> Term:
    """Return the term with `change` applied to each of its parts."""
    old = parts(term)
    new = tuple(map(change, old))
    if all(map(is_, old, new)):
        return term
    match term:
        case OperationTerm():
            return OperationTerm(term.operator, new, term.unit)
        case Reduction():
            return Reduction(
                term.function, new[0], term.over, new[1] if term.when else None, term.at, term.axis, term.ragged
            )
        case SteadyTerm() | SpreadTerm():
            return replace(term, operand=new[0])
        case _:
            return term


def offers(term: Term) -> frozenset[Dimension]:
    """Return the dimensions that an index may fix: the term's own, and those that its measures have on demand."""
    match term:
        case NumberTerm():
            return frozenset()
        case Measure():
            return term.offers
        case FactTerm() | AxisValue():
            return frozenset(term.dims)
        case OperationTerm():
            return term.offers
        case SteadyTerm():
            return offers(term.operand) - {"phase"} if term.at is not None else offers(term.operand)
        case Reduction():
            return offers(term.operand) - set(term.over)
        case SpreadTerm():
            return offers(term.operand) | {term.dim}


def left_out(operands: Sequence[Term], over: Dims) -> Dims:
    """If some combinations of factors are not measured, a joint reduction of `operands` may cover different points at
    different keys. Return the factors if it does, or () if the points are the same everywhere."""
    measures = [leaf for each in operands for leaf in leaves(each) if isinstance(leaf, Measure)]
    if all(measure.runs.is_whole or not measure.runs.factors for measure in measures):
        return ()
    covered = _joined(_covered(each, over) for each in operands)
    known = {name for measure in measures for name in measure.runs.factors}
    factors = tuple(dim for dim in in_order(covered.dims) if dim in known)
    reduced = [at for at, dim in enumerate(covered.dims) if dim in over]
    if not factors or not reduced:
        return ()
    points: dict[tuple[DimKey, ...], set[tuple[DimKey, ...]]] = {}
    for keys in covered.keys:
        at = tuple(key for place, key in enumerate(keys) if place not in reduced)
        points.setdefault(at, set()).add(tuple(keys[place] for place in reduced))
    everywhere = {frozenset(each) for each in points.values()}
    whole = prod(len({each[at] for keys in everywhere for each in keys}) for at in range(len(reduced)))
    return factors if any(len(keys) < whole for keys in everywhere) else ()


@dataclass(frozen=True)
class _Covered:
    """The combinations of hardware, workload and levels at which a term has values."""

    dims: Dims
    keys: frozenset[tuple[DimKey, ...]]


def _covered(term: Term, over: Dims) -> _Covered:
    """Return the combinations at which a term has values, reduced to the term's own dimensions."""
    if not isinstance(term, Measure):
        found = _joined(_covered(part, over) for part in parts(term))
        kept = [at for at, dim in enumerate(found.dims) if dim in term.dims]
        return _Covered(
            tuple(found.dims[at] for at in kept), frozenset(tuple(keys[at] for at in kept) for keys in found.keys)
        )
    factors = [dim for dim in term.dims if dim in term.runs.factors]
    dims = tuple(dim for dim in term.dims if dim in (*factors, "hardware", "workload"))
    runs: Iterable[PlannedRun] = [run for run in term.runs if run.level_of.keys() >= set(factors)]
    if not runs and factors:  # no experiment varies all factors, so each run lacks some level
        runs = term.runs if set(factors).intersection(over) else ()
    return _Covered(dims, frozenset(tuple((*run.keys(dim), "")[0] for dim in dims) for run in runs))


def _joined(tables: Iterable[_Covered]) -> _Covered:
    """Return the combinations that all tables share, matched as in arithmetic."""
    found = _Covered((), frozenset({()}))
    for table in tables:
        shared = [dim for dim in table.dims if dim in found.dims]
        more = [at for at, dim in enumerate(table.dims) if dim not in shared]
        by_shared: dict[tuple[DimKey, ...], list[tuple[DimKey, ...]]] = {}
        for keys in table.keys:
            key = tuple(keys[table.dims.index(dim)] for dim in shared)
            by_shared.setdefault(key, []).append(tuple(keys[at] for at in more))
        places = [found.dims.index(dim) for dim in shared]
        found = _Covered(
            (*found.dims, *(table.dims[at] for at in more)),
            frozenset(
                keys + rest for keys in found.keys for rest in by_shared.get(tuple(keys[at] for at in places), ())
            ),
        )
    return found


def at_unmeasured(term: Term, dim: Dimension, key: DimKey) -> Term:
    """Return the term at a level that was never measured, so that its values are missing."""
    if not isinstance(term, Measure):
        return with_parts(term, lambda part: at_unmeasured(part, dim, key))
    return Measure(term.kind, term.runs, term.demanded, (*term.fixed, (dim, key)), term.counted)


def fix(term: Term, dim: Dimension, key: DimKey) -> Term:
    """Return the term at `key` of `dim`. Parts that lack the dimension, fix it, or reduce it stay unchanged."""
    if dim not in offers(term):
        return term
    match term:
        case Measure():
            return term.at(dim, key)
        case FactTerm():
            found = [value for known, value in term.values if known == key]
            return NumberTerm(found[0], term.unit) if found else replace(term, values=())
        case AxisValue():
            return NumberTerm(float(key), term.unit)
        case SteadyTerm() if dim == "phase":  # the later phases decide whether a phase is steady
            return replace(term, at=key)
        case SpreadTerm() if dim == term.dim:
            return term.operand
        case _:
            return with_parts(term, lambda part: fix(part, dim, key))


def counted(term: Term, kind: LatencyKind) -> Term:
    """Return the term with all its latencies of one kind: either from when an operation was due, or from when it was
    sent."""
    if isinstance(term, Measure):
        return replace(term, counted=kind) if term.kind.view == "latency" else term
    return with_parts(term, lambda part: counted(part, kind))


def along(term: Term, dims: Collection[Dimension]) -> Term:
    """Return the term with each measure limited to its runs that have a ramp along one of `dims` and a level of each
    factor in `dims`. Measures without such runs are not limited.

    An index by `target` thus means the experiments that offer a load, even if others measure the same.
    """
    if not dims:
        return term
    if isinstance(term, Measure):
        runs = term.runs.along(dims)
        few = runs and len(runs) < len(term.runs)
        return Measure(term.kind, runs, term.demanded, term.fixed, term.counted) if few else term
    return with_parts(term, lambda part: along(part, dims))


def matching(left: Term, right: Term) -> tuple[Term, Term]:
    """Prepare two terms to be joined, since only values of the same experiment and the same levels belong together.

    If one term has a level of a factor at each of its values, the other term is limited to runs with a level of that
    factor. If one term has a dimension that the other keeps only on request, the other keeps it, too.
    """
    left, right = along(left, _always(right)), along(right, _always(left))
    return _kept(left, right.dims), _kept(right, left.dims)


def _always(term: Term) -> frozenset[Dimension]:
    """Return the factors that have a level at every value of the term."""
    match term:
        case Measure():
            return frozenset(f for f in term.runs.factors if f in term.dims and all(f in r.level_of for r in term.runs))
        case FactTerm() | AxisValue():
            return frozenset(term.dims) - _RANKS.keys()
        case Reduction():
            return frozenset().union(*map(_always, parts(term))) - set(term.over)
        case _:
            return frozenset().union(*map(_always, parts(term)))


def _kept(term: Term, dims: Collection[Dimension]) -> Term:
    """Keep the factors in `dims` as dimensions of the term, and the experiment, too, if it is in `dims`. What the
    term's measures don't have is ignored. A factor is kept even if it has only one level."""
    wanted = frozenset(dim for dim in dims if dim == "experiment" or dim not in _RANKS) - frozenset(term.dims)
    if not wanted:
        return term
    if isinstance(term, Measure):
        return term.keeping(wanted)
    if isinstance(term, Reduction):
        wanted -= frozenset(term.over)
    return with_parts(term, lambda part: _kept(part, wanted))


def offered_keys(term: Term, dim: Dimension) -> tuple[DimKey, ...]:
    """Return the keys of `dim` that an index may name. They are collected from all parts of the term with this
    dimension."""
    if dim not in offers(term):
        return ()
    match term:
        case Measure():
            return term.runs.keys(dim)
        case FactTerm():
            return term.keys
        case AxisValue():
            return unique(term.points)
        case OperationTerm():
            return unique(key for operand in term.operands for key in offered_keys(operand, dim))
        case SteadyTerm() | Reduction():
            return offered_keys(term.operand, dim)
        case SpreadTerm():
            return term.keys if dim == term.dim else offered_keys(term.operand, dim)
        case NumberTerm():
            return ()


def may_fix(term: Term, dim: Dimension, key: DimKey) -> bool:
    """Return whether an index may fix `dim` to this key in at least one part of a term."""
    if isinstance(term, OperationTerm):
        return any(may_fix(operand, dim, key) for operand in term.operands)
    return key in offered_keys(term, dim)


def leaves(term: Term) -> tuple[Measure | FactTerm | AxisValue, ...]:
    """Return the measures, facts and axes of a term, in the order of the text."""
    if isinstance(term, _Whole):
        return term.leaves
    return () if isinstance(term, NumberTerm) else (term,)


def planned_keys(term: Term, dim: Dimension) -> tuple[DimKey, ...] | None:
    """Return the keys of `dim` with planned values, or None for node and time, whose keys are known only from results.
    If several operands have the dimension, a key counts only if all of them have it, since they are joined."""
    match term:
        case Measure():
            return None if dim in ("node", "time") else term.runs.keys(dim)
        case FactTerm():
            return term.keys
        case AxisValue():
            return None if dim == "time" else unique(term.points)
        case OperationTerm():
            found = [planned_keys(operand, dim) for operand in term.operands if dim in operand.dims]
            known = [keys for keys in found if keys is not None]
            if not known:
                return None
            others = [keys for keys in known[1:] if keys != known[0]]
            shared = set(known[0]).intersection(*others)
            return tuple(key for key in known[0] if key in shared) if others else known[0]
        case SteadyTerm() | Reduction():
            return planned_keys(term.operand, dim)
        case SpreadTerm():
            if dim == term.dim:
                return None if term.beside else term.keys
            return planned_keys(term.operand, dim)
        case NumberTerm():
            return ()


def without_points(term: Term) -> Measure | FactTerm | AxisValue | None:
    """Return the first part of a term that has no planned values, or None. With such a part, the whole term never has a
    value."""
    for leaf in leaves(term):
        match leaf:
            case Measure() if not leaf.runs:
                return leaf
            case FactTerm() if not leaf.values:
                return leaf
            case AxisValue() if not leaf.points and leaf.dim != "time":
                return leaf
            case _:
                pass
    return None


def is_exact(term: Term) -> bool:
    """Return whether the term consists only of sizes, counts and declared values, which do not vary by chance."""
    match term:
        case Measure():
            return term.kind.is_size
        case Reduction(function="count"):
            return True
        case SteadyTerm():
            return False
        case _:
            return all(map(is_exact, parts(term)))


def has_repeats(term: Term) -> bool:
    """Return whether a term has several values along `repeat`."""
    return "repeat" in term.dims and len(offered_keys(term, "repeat")) > 1


Demanded = frozenset[Dimension]
"""Dimensions that are kept because a surrounding expression asks for them."""


@dataclass(frozen=True)
class Typed:
    """A term and its display unit. `display` is None unless the spec gives a unit, as `in unit` does for a metric."""

    term: Term
    display: Unit | None = None

    @property
    def unit(self) -> Unit:
        """The unit in which numbers are shown: the declared one, or the base unit."""
        if self.display is not None:
            return self.display
        dimension = self.term.unit or DIMENSIONLESS
        return Unit(dimension, 1.0, base_unit(dimension))


def unit_of(typed: Typed) -> Unit | None:
    """Return an expression's unit, for use in messages, or None if the expression is a condition."""
    return typed.unit if typed.term.unit is not None else None


def mention(expr: ast.Expr, measure: str) -> Span:
    """Return the span of a measure's name in an expression, or of the whole expression if the measure is named only
    inside a metric."""
    match expr:
        case ast.Attr() if dotted(expr) == measure:
            return expr.span
        case ast.Binary():
            parts: tuple[ast.Expr, ...] = (expr.left, expr.right)
        case ast.Unary():
            parts = (expr.operand,)
        case ast.Call():
            parts = (*(argument.value for argument in expr.arguments), *([expr.when] if expr.when else []))
        case ast.Index():
            parts = (expr.base,)
        case _:
            parts = ()
    for part in parts:
        span = mention(part, measure)
        if span is not part.span or dotted(part) == measure:
            return span
    return expr.span
