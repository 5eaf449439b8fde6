"""Warns of databases that replace each other's data in one place."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.databases.kept_data_errors import ReplacedData
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.reloads.shared_data_places import shared_places
from benchbrief.compiler.matrix.expand import dataset_of, expand
from benchbrief.compiler.model.resolve import Model
from benchbrief.compiler.planning.fingerprint import place_of
from benchbrief.compiler.planning.plan import DatabaseKey, Host
from benchbrief.compiler.problems import Findings

_WORTH_S = 60.0
"""The total loading time that is worth a warning."""


def warn_of_replaced_data(model: Model, findings: Findings) -> None:
    matrices, hosts = model.matrices, model.hosts
    if findings.failed or not _share_a_place(matrices, hosts):
        return
    specs = {matrix.database.name: matrix.database for matrix in matrices}
    hardware = {unit.hardware.key: unit.hardware for matrix in matrices for unit in matrix.units}
    workloads = {load.workload.name: load.workload for matrix in matrices for load in matrix.loads}
    databases = {
        DatabaseKey.of(m.database.name, key): database for m in matrices for key, database in m.databases.items()
    }
    cells = expand(matrices, hosts)
    counted = counted_cells(cells, {matrix.experiment.name: matrix.experiment for matrix in matrices})
    measured = [cell for cell in cells if cell.id in counted]
    for found in shared_places(measured, hardware, databases, workloads, hosts):
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
