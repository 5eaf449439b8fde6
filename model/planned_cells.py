"""Counts a plan's cells, in the same way for every total. If a run chooses its cells as it goes, the count is the most
that it may measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from benchbrief.model.plan import Cell, Experiment, Plan
from benchbrief.model.points import Curve


def most_cells_of_curve(experiment: Experiment) -> int:
    """Return the largest number of a curve's cells that a run measures. Adaptive ramps and searches for a promise
    measure only some of their candidates."""
    points = max(1, len(experiment.points))
    if experiment.promise:
        return min(points * experiment.repeats, experiment.promise.most)
    if experiment.adaptive:
        points = min(points, experiment.adaptive.points)
    return points * experiment.repeats


def most_cells(experiment: Experiment) -> int:
    """Return the largest number of an experiment's cells that a run measures."""
    curves = len(experiment.hardware) * len(experiment.workloads) * max(1, len(experiment.levels))
    return curves * most_cells_of_curve(experiment)


def usual_cells_of_curve(experiment: Experiment) -> int:
    """Return how many cells of one curve an estimate assumes."""
    points = max(1, len(experiment.points))
    if experiment.promise:
        return min(points * experiment.repeats, experiment.promise.usual)
    return (min(points, experiment.adaptive.points) if experiment.adaptive else points) * experiment.repeats


class UncountedCandidates:
    """The number of candidate cells that no total counts. While a ramp or a search goes on, only as many candidates are
    counted as it can measure at most. After its end, all candidates that it left out are uncounted."""

    def __init__(self, plan: Plan, left_out: Iterable[str] = ()) -> None:
        """Start with the cells that ramps and searches have `left_out` so far."""
        adaptive = {each.name: each for each in plan.experiments.values() if each.adaptive or each.promise}
        self._curve = (
            {cell.id: Curve.of(cell) for cell in plan.cells if cell.experiment in adaptive} if adaptive else {}
        )
        of_all = Counter(self._curve.values())
        self._beyond = {curve: max(0, n - most_cells_of_curve(adaptive[curve[0]])) for curve, n in of_all.items()}
        self._left_out: Counter[Curve] = Counter()
        for cell in left_out:
            self.leave_out(cell)

    def leave_out(self, cell_id: str, by: int = 1) -> None:
        """Count a cell that its ramp or search leaves out or, with `by` = -1, no longer leaves out."""
        if (curve := self._curve.get(cell_id)) is not None:
            self._left_out[curve] += by

    @property
    def count(self) -> int:
        return sum(max(beyond, self._left_out[curve]) for curve, beyond in self._beyond.items())


def planned_cells(plan: Plan, left_out: Iterable[str] = ()) -> int:
    """Return the number of a plan's cells for use in every total. This is the most that a run measures, without the
    cells that its ramps and searches have `left_out`."""
    return len(plan.cells) - UncountedCandidates(plan, left_out).count


def most_of(plan: Plan, cells: Iterable[Cell]) -> int:
    """Return the largest number of these cells that a run measures."""
    return planned_cells(plan.model_copy(update={"cells": tuple(cells)}))
