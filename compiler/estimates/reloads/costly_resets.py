"""Warnings of declared resets that take longer than the measuring, where another one takes less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.estimates.estimate_errors import CostlyReset
from benchbrief.compiler.estimates.reloads.other_resets import ALIKE, USERS_OWN, WAYS, best_reset, with_reset
from benchbrief.compiler.matrix.expand import resets_in_order
from benchbrief.compiler.model.resolve import Model
from benchbrief.compiler.planning.plan import Host, Reset
from benchbrief.compiler.problems import Findings

_WORTH_S = 60.0
"""The total time of resets that is worth a warning."""


def warn_of_costly_resets(model: Model, findings: Findings) -> None:
    """Warn of each declared reset whose estimate is above the measured time. One that costs no more than the default
    is not the cause, and gets no warning."""
    matrices, hosts = model.matrices, model.hosts
    if findings.failed:
        return
    for database in {matrix.database.name: matrix.database for matrix in matrices}.values():
        default = _default(database)
        if "reset" not in database.places or database.imported or database.reset.how in (*USERS_OWN, default):
            continue
        found = _of_database(database.name, matrices, hosts)
        if found.spent_s < _WORTH_S or found.spent_s <= found.measured_s:
            continue

        def saved(how: Reset, name: str = database.name, now_s: float = found.spent_s) -> float:
            return now_s - _of_database(name, with_reset(matrices, name, how), hosts).spent_s

        if saved(default) <= ALIKE * found.spent_s or (best := best_reset(database, saved)) is None:
            continue
        how, saved_s = best
        findings.add(
            CostlyReset(
                database.places["reset"],
                database.name,
                found.cells,
                found.spent_s,
                found.measured_s,
                how,
                WAYS[how],
                found.spent_s - saved_s,
            )
        )


class _Resets(NamedTuple):
    """The seconds of a database's resets and of its measuring, and how many cells reset."""

    spent_s: float
    measured_s: float
    cells: int


def _of_database(name: str, matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> _Resets:
    theirs = {matrix.experiment.name for matrix in matrices if matrix.database.name == name}
    found = [(each, step) for each, step in resets_in_order(matrices, hosts) if each.name in theirs]
    taken = [step.seconds for _, step in found if step.work]
    return _Resets(sum(taken), sum(experiment.measure_s for experiment, _ in found), len(taken))


def _default(database: DatabaseSpec) -> Reset:
    """Return the default, as `read_reset` understands it."""
    default = database.engine.default_reset
    return "after_writes" if default == "as_needed" and not database.engine.updates_in_place else default
