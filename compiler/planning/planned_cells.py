"""How many cells a plan has in every total: of what a run chooses while it measures, as many as it measures at most."""

from __future__ import annotations

from benchbrief.compiler.planning.plan import Experiment, Plan


def most_cells(experiment: Experiment) -> int:
    """Return how many cells of an experiment a run measures at most: of an adaptive ramp, those of its points,
    and of a search for a promise, those of the longest one."""
    points = max(1, len(experiment.points))
    curves = len(experiment.hardware) * len(experiment.workloads)
    if experiment.promise:
        return curves * min(points * experiment.repeats, experiment.promise.most)
    if experiment.adaptive:
        points = min(points, experiment.adaptive.points)
    return curves * points * experiment.repeats


def usual_cells_of_curve(experiment: Experiment) -> int:
    """Return how many cells of one hardware and workload an estimate counts."""
    points = max(1, len(experiment.points))
    if experiment.promise:
        return min(points * experiment.repeats, experiment.promise.usual)
    return (min(points, experiment.adaptive.points) if experiment.adaptive else points) * experiment.repeats


def unneeded_candidates(plan: Plan) -> int:
    """Return how many cells are of candidates that ramps and searches leave out at last: no total counts them."""
    adaptive = [each for each in plan.experiments.values() if each.adaptive or each.promise]
    names = {each.name for each in adaptive}
    of_all = sum(cell.experiment in names for cell in plan.cells) if names else 0
    return max(0, of_all - sum(map(most_cells, adaptive)))


def planned_cells(plan: Plan) -> int:
    """Return the number of cells of a plan in every total: those that a run measures at most."""
    return len(plan.cells) - unneeded_candidates(plan)
