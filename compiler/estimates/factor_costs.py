"""Computes the cost of each factor: how much longer an experiment takes than with only the factor's first level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbrief.compiler.estimates.estimate import alone, cool_down, counted_cells, seconds
from benchbrief.model.plan import Plan


class FactorCost(NamedTuple):
    """The cost of a factor in an experiment. `levels` is the number of its levels, and `first` is the first level. Of
    the `of_s` seconds that all cells take, `beyond_s` are for cells at other levels."""

    experiment: str
    factor: str
    levels: int
    first: str
    beyond_s: float
    of_s: float

    def as_dict(self) -> dict[str, object]:
        return {**self._asdict(), "beyond_s": round(self.beyond_s, 3), "of_s": round(self.of_s, 3)}


def factor_costs(plan: Plan) -> Iterator[FactorCost]:
    """Yield the cost of each factor in each experiment that varies it. The times of all hardware are added up."""
    if not plan.factors:
        return
    cells = alone(plan.cells, counted_cells(plan.cells, plan.experiments))
    for name, experiment in plan.experiments.items():
        times = [(cell.levels.keys, seconds(cell) + cool_down(cell)) for cell in cells if cell.experiment == name]
        for factor in experiment.levels[0].keys if experiment.levels else ():
            keys = list(dict.fromkeys(levels.keys[factor] for levels in experiment.levels))
            beyond_s = sum(taken for levels, taken in times if levels[factor] != keys[0])
            label = plan.factors[factor].label_of(keys[0])
            yield FactorCost(name, factor, len(keys), label, beyond_s, sum(taken for _, taken in times))
