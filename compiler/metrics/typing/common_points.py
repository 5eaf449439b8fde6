"""Checks that the parts of an expression have common points and measurements of one length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from benchbrief.compiler.frontend.scope import ExperimentKey
from benchbrief.compiler.measure_catalogue import Key
from benchbrief.compiler.metrics.typing.planned_points import Runs
from benchbrief.compiler.metrics.typing.terms import Measure, Operation, Reduction, Term, leaves, parts, planned_keys
from benchbrief.compiler.planning.plan import Dimension

Apart: TypeAlias = tuple[Dimension, tuple[Key, ...], tuple[Key, ...]]


def disjoint_parts(term: Term) -> Apart | None:
    """Return the dimension along which two parts of a term share no point, with the points of each. Such a term never
    has a value. Points that only the results have (of a search, nodes, times) count as common."""
    return next(_apart(term), None) if _may_be_apart(term) else None


def _may_be_apart(term: Term) -> bool:
    """Return whether some leaves of a term share no key. Most terms need no further check."""
    found: dict[Dimension, set[Key]] = {}
    for leaf in leaves(term):
        for dim in leaf.dims:
            keys = set(planned_keys(leaf, dim) or ())
            if keys:
                found[dim] = found.get(dim, keys) & keys
    return any(not common for common in found.values())


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
    """Return the experiments of an operation in the term whose lengths differ; () without any. A length is the warm-up
    and the measured time."""
    by_name = {each.key: each for each in experiments}
    used = {run.experiment for leaf in leaves(term) if isinstance(leaf, Measure) for run in leaf.runs}
    if len({by_name[name].length for name in used}) < 2:
        return ()
    for operation in _operations(term):
        sides = [[(leaf, leaf.runs) for leaf in leaves(o) if isinstance(leaf, Measure)] for o in operation.operands]
        if len(sides) < 2 or not all(sides):
            continue
        dims = [dim for dim in _OF_RUNS if dim in operation.dims]
        for at_point in _at_each_point(sides, dims):
            named = [{run.experiment for _, runs in side for run in runs} for side in at_point]
            if len({frozenset(by_name[name].length for name in names) for names in named}) > 1:
                return tuple(each for each in experiments if any(each.key in names for names in named))
    return ()


_Side: TypeAlias = list[tuple[Measure, Runs]]
_OF_RUNS: tuple[Dimension, ...] = ("experiment", "hardware", "workload", "threads", "target")


def _operations(term: Term) -> Iterator[Operation]:
    if isinstance(term, Operation):
        yield term
    for part in parts(term)[:1] if isinstance(term, Reduction) else parts(term):
        yield from _operations(part)


def _at_each_point(sides: list[_Side], dims: Sequence[Dimension]) -> Iterator[list[_Side]]:
    """Yield the sides with their measures' runs at each point along `dims` where every measure has runs."""
    if not dims:
        yield sides
        return
    dim, *others = dims
    for key in dict.fromkeys(k for side in sides for part, runs in side if dim in part.dims for k in runs.keys(dim)):
        kept = [[(part, runs.at(dim, key) if dim in part.dims else runs) for part, runs in side] for side in sides]
        if all(runs for side in kept for _, runs in side):
            yield from _at_each_point(kept, others)
