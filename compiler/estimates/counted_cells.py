"""The cells that an estimate counts: of adaptive ramps, whose points a run chooses, as many as it measures.

Until they are chosen, candidates at equal distances stand for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from benchbrief.compiler.planning.plan import Cell, Experiment

_Curve = tuple[str, str, str]
"""An experiment, on one hardware and with one workload."""


def spread(points: Sequence[float], count: int) -> tuple[float, ...]:
    """Return so many of the points, at equal distances, with both ends if there are two or more."""
    if count >= len(points):
        return tuple(points)
    return tuple(points[round(i * (len(points) - 1) / max(1, count - 1))] for i in range(max(0, count)))


def _point_on(experiment: Experiment, cell: Cell) -> float | None:
    """Return the cell's point on the axis of its experiment; None before a search has found it."""
    return cell.target if experiment.axis == "target" else cell.threads


def _curve_of(cell: Cell) -> _Curve:
    return cell.experiment, cell.hardware, cell.workload


def counted_cells(
    cells: Iterable[Cell], experiments: Mapping[str, Experiment], begun: Collection[str] = ()
) -> set[str]:
    """Return the ids of the cells that an estimate counts: all, but of each adaptive curve as many points as it has.

    `begun` are the ids of cells that have been measured or begun. Their points are among those that count.
    """
    cells = list(cells)
    if not any(each.adaptive for each in experiments.values()):
        return {cell.id for cell in cells}
    points: dict[_Curve, dict[float | None, bool]] = {}
    """The points of each adaptive curve, and whether they have begun."""
    for cell in cells:
        experiment = experiments[cell.experiment]
        if experiment.adaptive:
            of_curve, point = points.setdefault(_curve_of(cell), {}), _point_on(experiment, cell)
            of_curve[point] = of_curve.get(point, False) or cell.id in begun
    counted = {curve: _counted(of_curve, experiments[curve[0]]) for curve, of_curve in points.items()}
    return {
        cell.id
        for cell in cells
        if _curve_of(cell) not in counted or _point_on(experiments[cell.experiment], cell) in counted[_curve_of(cell)]
    }


def _counted(points: Mapping[float | None, bool], experiment: Experiment) -> set[float | None]:
    begun = {point for point, has in points.items() if has}
    others = sorted(point for point in points if point not in begun and point is not None)
    count = experiment.adaptive.points if experiment.adaptive else len(points)
    return begun | set(spread(others, count - len(begun)))
