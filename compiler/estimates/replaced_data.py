"""Warns of databases that replace each other's data in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchbrief.compiler.blocks.databases.database_errors import ReplacedData
from benchbrief.compiler.blocks.experiments.experiments import Matrix, databases_of
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.matrix.expand import dataset_of, expand
from benchbrief.compiler.model.resolve import Model
from benchbrief.compiler.planning.fingerprint import place_of
from benchbrief.compiler.planning.plan import Cell, Database, DatabaseKey, Hardware, Host, Workload
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resets.tolerated_changes import changes_of, tolerated

_WORTH_S = 60.0
"""The total loading time that is worth a warning."""


def warn_of_replaced_data(model: Model, findings: Findings) -> None:
    matrices, hosts = model.matrices, model.hosts
    if findings.failed or not _share_a_place(matrices, hosts):
        return
    specs = {matrix.database.name: matrix.database for matrix in matrices}
    hardware = {unit.hardware.key: unit.hardware for matrix in matrices for unit in matrix.units}
    workloads = {load.workload.name: load.workload for matrix in matrices for load in matrix.loads}
    cells = expand(matrices, hosts)
    counted = counted_cells(cells, {matrix.experiment.name: matrix.experiment for matrix in matrices})
    measured = [cell for cell in cells if cell.id in counted]
    for found in shared_places(measured, hardware, databases_of(matrices), workloads, hosts):
        spec = specs[found.database]
        if found.seconds >= _WORTH_S and not spec.imported:
            span = spec.places.get("path") or spec.places.get("uri") or spec.span
            findings.add(ReplacedData(span, spec.name, tuple(found.hardware), tuple(found.cells), found.seconds))


def _share_a_place(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> bool:
    """Return whether a place holds several data sets. Only few specs have such a place."""
    held: dict[str, str] = {}
    for matrix in matrices:
        for unit in matrix.units:
            database = matrix.databases[unit.hardware.key]
            place = place_of(unit.hardware, database, hosts)
            for load in matrix.loads:
                dataset = dataset_of(unit.hardware, database, load, matrix, hosts)
                content = dataset.hash if dataset else ""
                if held.setdefault(place, content) != content:
                    return True
    return False


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
