"""Resolves each `other.knee` to a search, and puts every search before its use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from benchbrief.compiler.blocks.experiments import experiment_errors
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.blocks.experiments.ramps import KneeReference
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.planning import plan
from benchbrief.dsl.source import Span


def in_running_order(matrices: tuple[Matrix, ...], declared: tuple[str, ...], reader: Reader) -> tuple[Matrix, ...]:
    """Return the experiments in running order, each with the searches that its cells wait for. `declared` names every
    experiment. One without a matrix has a mistake that is reported already."""
    by_name = {matrix.experiment.name: matrix for matrix in matrices}
    order, circles = _in_order(by_name, reader)
    return tuple(
        _linked(by_name[name], by_name, declared, reader) if name not in circles else by_name[name] for name in order
    )


def _linked(matrix: Matrix, by_name: Mapping[str, Matrix], declared: tuple[str, ...], reader: Reader) -> Matrix:
    knees = {}
    for key, knee_of in matrix.awaits.items():
        other = by_name.get(knee_of.experiment)
        if knee_of.experiment not in declared:
            reader.report(name_errors.UnknownName(_base(knee_of), "experiment", knee_of.experiment, declared))
        elif other is not None:
            knees[key] = _knees(key, knee_of, matrix, other, reader)
            if knees[key]:
                _hold_to_hosts(key, knee_of, matrix, other.experiment, reader)
    return replace(matrix, knees=knees)


def _base(knee_of: KneeReference) -> Span:
    return replace(knee_of.span, end=knee_of.span.start + len(knee_of.experiment))


def _knees(
    key: str, knee_of: KneeReference, matrix: Matrix, other: Matrix, reader: Reader
) -> Mapping[tuple[str, str], plan.Knee]:
    """Return the search for each hardware and workload of the matrix; none after a mistake."""
    experiment = other.experiment
    if experiment.search is None or experiment.axis != key:
        searched = f"it searches for that of `{experiment.axis}`" if experiment.search else "it does not search"
        reader.report(experiment_errors.NoSearch(knee_of.span, experiment.name, key, searched))
        return {}
    knees = {}
    for unit, load in product(matrix.units, matrix.loads):
        hardware = _same(unit.hardware.key, (), experiment.hardware)
        workload = _same(load.workload.name, (load.of,), experiment.workloads)
        for kind, wanted, chosen, known in (
            ("hardware", unit.hardware.key, hardware, experiment.hardware),
            ("workload", load.workload.name, workload, experiment.workloads),
        ):
            if chosen is None:
                reader.report(experiment_errors.ManyKnees(knee_of.span, experiment.name, kind, wanted, known))
        if hardware is not None and workload is not None:
            pair = (unit.hardware.key, load.workload.name)
            knees[pair] = plan.Knee(experiment=experiment.name, hardware=hardware, workload=workload)
    return knees


def _hold_to_hosts(key: str, knee_of: KneeReference, matrix: Matrix, searched: plan.Experiment, reader: Reader) -> None:
    """Report a search that may find less than the client's hosts can share."""
    if not matrix.clients:
        return
    hosts, client = max(
        (len(matrix.load_hosts(unit, load)), matrix.clients[unit.hardware.key].name)
        for unit, load in product(matrix.units, matrix.loads)
    )
    least = [(searched.points[0], searched.name)]
    if searched.search and searched.search.otherwise is not None:
        least.append((searched.search.otherwise, ""))
    for point, name in least:
        if point >= hosts:
            continue
        if key == "threads":
            reader.report(experiment_errors.FewThreads(knee_of.span, int(point), client, hosts, name))
        else:
            reader.report(experiment_errors.SmallTarget(knee_of.span, point, client, hosts, name))


def _same(key: str, otherwise: tuple[str, ...], known: tuple[str, ...]) -> str | None:
    """Return the same key of the searched ones, else the next best, or the only one."""
    wanted = next((name for name in (key, *otherwise) if name in known), None)
    return known[0] if wanted is None and len(known) == 1 else wanted


def _in_order(by_name: Mapping[str, Matrix], reader: Reader) -> tuple[list[str], set[str]]:
    """Keep the written order, but put awaited experiments first. Reports circles."""
    order: dict[str, None] = {}
    circles: set[str] = set()
    for root in by_name:
        chain: dict[
            str, Iterator[KneeReference]
        ] = {}  # each waiting experiment: the next one, and the others that it awaits
        if root not in order:
            chain[root] = iter(by_name[root].awaits.values())
        while chain:
            name, awaited = next(reversed(chain.items()))
            other = next((knee_of.experiment for knee_of in awaited), None)
            if other is None:
                order[name] = None
                del chain[name]
            elif other in chain:
                circle = tuple(chain)[list(chain).index(other) :]
                first = min(range(len(circle)), key=lambda i: by_name[circle[i]].span.start)
                reader.report(name_errors.KneeCycle(_closing(circle, by_name), circle[first:] + circle[:first]))
                circles.update(circle)
            elif other in by_name and other not in order:
                chain[other] = iter(by_name[other].awaits.values())
    return list(order), circles


def _closing(circle: tuple[str, ...], by_name: Mapping[str, Matrix]) -> Span:
    """Return the place, in the first experiment of a circle, that waits for another one of it."""
    spans = [
        knee_of.span for name in circle for knee_of in by_name[name].awaits.values() if knee_of.experiment in circle
    ]
    return min(spans, key=lambda span: span.start)
