"""The cells that an estimate counts: of what chooses its points while it runs, as many as it measures.

Until they are chosen, candidates at equal distances stand for those of an adaptive ramp. For those of a search for a
promise, the ones stand that lead to the rate in the middle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from benchbrief.compiler.planning.plan import Experiment, Plan, Promise
from benchbrief.compiler.planning.planned_cells import planned_cells
from benchbrief.compiler.searches.rate_search import NONE, Rule, Step, Tally, Vote, next_step, walk

MOST_CHECKED_CELLS = 2000
"""With more cells, a check leaves their times to `bench plan`: an editor checks with each keystroke, and to make them
takes longer than to check the spec."""
_Curve = tuple[str, str, str]
"""An experiment, on one hardware and with one workload."""


class _Cell(Protocol):
    """What counts of a cell here."""

    @property
    def id(self) -> str: ...
    @property
    def experiment(self) -> str: ...
    @property
    def hardware(self) -> str: ...
    @property
    def workload(self) -> str: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def target(self) -> float | None: ...
    @property
    def repeat(self) -> int: ...


def spread(points: Sequence[float], count: int) -> tuple[float, ...]:
    """Return so many of the points, at equal distances, with both ends if there are two or more."""
    if count >= len(points):
        return tuple(points)
    return tuple(points[round(i * (len(points) - 1) / max(1, count - 1))] for i in range(max(0, count)))


def _point_on(experiment: Experiment, cell: _Cell) -> float | None:
    """Return the cell's point on the axis of its experiment; None before a search has found it."""
    return cell.target if experiment.axis == "target" else cell.threads


def _curve_of(cell: _Cell) -> _Curve:
    return cell.experiment, cell.hardware, cell.workload


def counted_cells(
    cells: Iterable[_Cell],
    experiments: Mapping[str, Experiment],
    begun: Collection[str] = (),
    votes: Mapping[str, Vote] | None = None,
) -> set[str]:
    """Return the ids of the cells that an estimate counts: all, but of each adaptive curve as many points as it has,
    and of each search for a promise as many cells as usual.

    `begun` are the ids of cells that have been measured or begun. Their points are among those that count. By the
    `votes` of its cells, a search that goes on counts the runs that lead it to the rate in the middle of those that it
    has not excluded.
    """
    cells = list(cells)
    searches = {name for name, each in experiments.items() if each.promise}
    searched: dict[_Curve, list[_Cell]] = {}
    for cell in cells:
        if cell.experiment in searches:
            searched.setdefault(_curve_of(cell), []).append(cell)
    likely = {id_ for curve, of in searched.items() for id_ in _searched(of, experiments[curve[0]], begun, votes or {})}
    return likely | _chosen([cell for cell in cells if cell.experiment not in searches], experiments, begun)


def _searched(
    cells: Sequence[_Cell], experiment: Experiment, begun: Collection[str], votes: Mapping[str, Vote]
) -> set[str]:
    """Return the ids of the cells of one search: those that have begun, and others that it will ask for. Before its
    first vote, these are up to the usual number."""
    rule = experiment.promise
    found = {cell.id for cell in cells if cell.id in begun}
    if rule is None:
        return found
    if any(cell.id in votes for cell in cells):
        return found | _still_asked(cells, experiment.points, rule, votes)
    by_run = {(cell.target, cell.repeat): cell.id for cell in cells}
    likely = (by_run.get(run) for run in _likely(experiment.points, rule))
    others = [id_ for id_ in likely if id_ is not None and id_ not in found]
    return found | set(others[: max(0, rule.usual - len(found))])


def _still_asked(
    cells: Sequence[_Cell], rates: tuple[float, ...], promise: Promise, votes: Mapping[str, Vote]
) -> set[str]:
    """Return the cells that a search with these votes asks for next, if it ends in the middle of what is open."""
    tallies: dict[float, Tally] = {}
    held: dict[float, Tally] = {}
    waiting: dict[tuple[float, bool], list[str]] = {}
    number = Counter[float | None]()
    for cell in sorted(cells, key=lambda cell: cell.repeat):
        number[cell.target] += 1
        if cell.target is None:
            continue
        is_held = number[cell.target] > promise.judged
        if cell.id in votes:
            of = held if is_held else tallies
            of[cell.target] = of.get(cell.target, NONE).and_one(votes[cell.id])
        else:
            waiting.setdefault((cell.target, is_held), []).append(cell.id)
    under = max((n for n, rate in enumerate(rates) if tallies.get(rate, NONE).lead > 0), default=-1)
    over = min((n for n, rate in enumerate(rates) if rate in tallies and tallies[rate].lead <= 0), default=len(rates))
    middle = (min(under, over) + over) // 2
    highest = rates[middle] if middle >= 0 else 0.0
    found: set[str] = set()
    rule = Rule(promise.judged, promise.held_out, promise.most)
    while isinstance(step := next_step(rates, tallies, held, rule), Step):
        is_held = step.why == "held_out"
        left = waiting.get((step.rate, is_held))
        if not left:
            break
        found.add(left.pop(0))
        of = held if is_held else tallies
        of[step.rate] = of.get(step.rate, NONE).and_one("met" if step.rate <= highest else "broken")
    return found


@lru_cache(maxsize=64)
def _likely(rates: tuple[float, ...], promise: Promise) -> tuple[tuple[float, int], ...]:
    """Return the runs of a search that ends in the middle, each a rate and a repeat."""
    rule = Rule(promise.judged, promise.held_out, promise.most)
    seen: Counter[tuple[float, bool]] = Counter()
    runs: list[tuple[float, int]] = []
    for rate, held in walk(rates, rule, lambda rate: rate <= rates[len(rates) // 2]):
        seen[rate, held] += 1
        runs.append((rate, seen[rate, held] + (promise.judged if held else 0)))
    return tuple(runs)


def _chosen(cells: list[_Cell], experiments: Mapping[str, Experiment], begun: Collection[str]) -> set[str]:
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


def of_which(plan: Plan) -> str:
    """Return how many of a plan's cells an estimate counts, as the end of it; "" where that is all of them."""
    count = len(counted_cells(plan.cells, plan.experiments))
    return f" for the {count:,} that a search usually measures" if count < planned_cells(plan) else ""


def up_to(e: Experiment, budget_s: float | None = None) -> str:
    """Return "up to " for an experiment that may end before its last point or repeat. `budget_s` is the run's."""
    return "up to " if e.search or e.confident or e.budget_s or budget_s else ""
