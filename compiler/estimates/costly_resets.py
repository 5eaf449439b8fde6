"""Warnings of declared resets that take longer than the measuring, where another one takes less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from benchbrief.compiler.blocks.databases.database_errors import CostlyReset
from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.extensions.engine_spec import EVERYWHERE
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


WAYS: Mapping[Reset, str] = {
    "links": "the files of the loaded data are linked back, in place of a load",
    "snapshot": "the loaded data are copied back, in place of a load",
    "after_writes": "data are loaded only before a cell that follows one that wrote",
    "as_needed": "data are loaded only before a cell that would notice what the cells before it changed",
    "undo": "what cells insert is deleted, in place of a load",
}
"""Ways to reset that leave cells comparable, from the one that restores the most, with what they do.

A snapshot by the file system is none: `links` restores the same files in less time wherever one could be declared, and
on any file system. It needs a directory that is a subvolume, a dataset or a volume, and a user who may remove those,
which no plan knows."""
USERS_OWN: tuple[Reset, ...] = ("reuse", "command")
"""Ways of which only the user knows what they restore. None is better."""
ALIKE = 0.05
"""Of two ways, the one that restores more is better when it saves less by no more than this share of the saving."""


def best_reset(database: DatabaseSpec, saves_s: Callable[[Reset], float]) -> tuple[Reset, float] | None:
    """Return the best other way to reset the database, with the seconds that it saves; None when none saves any."""
    found = {how: saves_s(how) for how in _ways(database)}
    most = max(found.values(), default=0.0)
    return next(((how, saved) for how, saved in found.items() if 0 < (1 - ALIKE) * most <= saved), None)


def _ways(database: DatabaseSpec) -> Iterator[Reset]:
    """Yield the other ways to reset that the database can be declared with. None is better than `links`: it restores
    the most, and next to no time is left to save."""
    if database.reset.how == "links":
        return
    for how in WAYS:
        known = how in (*EVERYWHERE, *database.engine.resets)
        if known and how != database.reset.how and (how != "snapshot" or database.server in ("start", "none")):
            yield how


def with_reset(matrices: tuple[Matrix, ...], name: str, how: Reset) -> tuple[Matrix, ...]:
    """Return the matrices with another reset of the database called `name`."""
    return tuple(
        replace(
            matrix,
            databases={key: each.model_copy(update={"reset": how}) for key, each in matrix.databases.items()},
        )
        if matrix.database.name == name
        else matrix
        for matrix in matrices
    )
