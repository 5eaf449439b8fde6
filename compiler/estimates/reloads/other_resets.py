"""The other ways to reset a database's data that leave cells comparable, and the matrices with one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.extensions.engine_spec import EVERYWHERE
from benchbrief.compiler.planning.plan import Reset

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
