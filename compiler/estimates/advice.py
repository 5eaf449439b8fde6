"""What would make a plan shorter: changes of the spec, each with the time that it saves by itself.

Each change is made to the model, and the plan is estimated with it. Only changes that keep cells comparable are
considered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import estimate_some
from benchbrief.compiler.estimates.other_resets import USERS_OWN, WAYS, best_reset, with_reset
from benchbrief.compiler.frontend.resolve import Model
from benchbrief.compiler.planning.expand import expand
from benchbrief.compiler.planning.plan import DatabaseKey, Plan, Reset

MOST_CELLS = 5000
"""A larger plan gets no advice: each change would be planned and estimated anew."""
_MOST = 3
_LEAST_SHARE = 0.02
"""A change that saves a smaller share of the time is not worth a line."""
Estimate = Callable[[Plan], Plan]
"""Puts what was seen in earlier runs in the place of a plan's built-in estimates."""


@dataclass(frozen=True)
class Advice:
    """A change of the spec: `change` in its words, `of` the block it is for, and the seconds that it saves."""

    change: str
    of: str
    why: str
    saves_s: float

    def as_dict(self) -> dict[str, object]:
        return {"change": self.change, "of": self.of, "why": self.why, "saves_s": round(self.saves_s, 3)}


def advice(model: Model, plan: Plan, learned: Estimate) -> tuple[Advice, ...]:
    """Return the changes that save the most, the best first. `plan` is the model's, `learned` for its estimates."""
    if len(plan.cells) > MOST_CELLS:
        return ()
    now_s = learned(plan).estimate_s

    def saves_s(matrices: tuple[Matrix, ...]) -> float:
        databases = {
            DatabaseKey.of(matrix.database.name, key): database
            for matrix in matrices
            for key, database in matrix.databases.items()
        }
        cells = expand(matrices, model.hosts)
        estimate_s = estimate_some(cells, counted_cells(cells, plan.experiments))
        changed = {"cells": cells, "databases": databases, "estimate_s": estimate_s}
        return now_s - learned(plan.model_copy(update=changed)).estimate_s

    found = (*_resets(model.matrices, saves_s), *_orders(model.matrices, saves_s))
    worthy = [each for each in found if each.saves_s >= _LEAST_SHARE * now_s]
    return tuple(sorted(worthy, key=lambda each: -each.saves_s)[:_MOST])


_Saves = Callable[[tuple[Matrix, ...]], float]


def _resets(matrices: tuple[Matrix, ...], saves_s: _Saves) -> Iterator[Advice]:
    """Yield the best way to reset each database whose data are reset in a way that we know."""
    for name in dict.fromkeys(matrix.database.name for matrix in matrices):
        database = next(matrix.database for matrix in matrices if matrix.database.name == name)
        if database.reset.how in USERS_OWN:
            continue

        def saved(how: Reset, name: str = name) -> float:
            return saves_s(with_reset(matrices, name, how))

        if found := best_reset(database, saved):
            how, saved_s = found
            yield Advice(f"`reset = {how}`", f"database {name}", WAYS[how], saved_s)


def _orders(matrices: tuple[Matrix, ...], saves_s: _Saves) -> Iterator[Advice]:
    """Yield the experiments that load more often because their hardware takes turns, or because they are shuffled."""
    for at, matrix in enumerate(matrices):
        experiment = matrix.experiment
        if experiment.order != "grouped":
            grouped = replace(matrix, experiment=experiment.model_copy(update={"order": "grouped", "seed": None}))
            yield Advice(
                f"`grouped` in place of `{experiment.order}` in `repeats`",
                f"experiment {experiment.name}",
                "one hardware after the other; but then drift may fall on one of them",
                saves_s((*matrices[:at], grouped, *matrices[at + 1 :])),
            )
