"""Loads because of a shared place: a cell finds the data of another database there.

Two variants on one `path` or one server, measured by turns, replace each other's data before each cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchbrief.compiler.planning.fingerprint import place_of
from benchbrief.compiler.planning.plan import Cell, Database, DatabaseKey, Hardware, Host, Workload
from benchbrief.compiler.resets.tolerated_changes import changes_of, tolerated


@dataclass
class SharedPlace:
    """A database's cells that load replaced data again, and the seconds of these loads.

    `hardware` are the keys of the groups with data in that place.
    """

    database: str
    hardware: dict[str, None] = field(default_factory=dict)
    cells: list[str] = field(default_factory=list)
    seconds: float = 0.0


def shared_places(
    cells: Iterable[Cell],
    hardware: Mapping[str, Hardware],
    databases: Mapping[DatabaseKey, Database],
    workloads: Mapping[str, Workload],
    hosts: Mapping[str, Host],
) -> list[SharedPlace]:
    """Return the shared places in the order of the cells.

    Loads that a cell's own `reset` needs do not count, nor those after a cell that makes its own data.
    """
    places: dict[str, str] = {}
    there: dict[str, str] = {}
    """The hash of the data set at each place; "" for data that a benchmark made itself."""
    intact: dict[tuple[str, str], bool] = {}
    """For each data set loaded in a place: whether the next cell could use it, had nothing replaced it."""
    users: dict[str, dict[str, None]] = {}
    found: dict[tuple[str, str], SharedPlace] = {}
    for cell in cells:
        database = databases[cell.database]
        if cell.database not in places:
            places[cell.database] = place_of(hardware[cell.hardware], database, hosts)
        place = places[cell.database]
        users.setdefault(place, {})[cell.hardware] = None
        content = cell.dataset.hash if cell.dataset else ""
        load_s = sum(step.seconds for step in cell.steps if step.reset == "load")
        replaced = there.get(place) not in (content, "") and intact.get((place, content), False)
        if load_s and cell.dataset and cell.dataset.reuse and replaced:
            shared = found.setdefault((database.name, place), SharedPlace(database.name))
            shared.cells.append(cell.id)
            shared.seconds += load_s
        there[place] = content
        intact[place, content] = changes_of(workloads[cell.workload], cell.events) in tolerated(
            database.reset, database.engine
        )
    for (_, place), shared in found.items():
        shared.hardware |= users[place]
    return list(found.values())
