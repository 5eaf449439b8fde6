"""Warnings of whole experiments: meters that nothing reads, hosts without one, and data that earlier cells wrote."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.databases.database_errors import AgedData
from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.blocks.power import meter_errors
from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.declarations import Declarations
from benchbrief.compiler.matrix.expand import dataset_of, ordered
from benchbrief.compiler.model.profiles import meters_left_behind
from benchbrief.compiler.planning.fingerprint import place_of
from benchbrief.compiler.planning.plan import Boundary, Host
from benchbrief.compiler.problems import Findings


def warn_of_power(found: Declarations, matrices: tuple[Matrix, ...], profile: str | None, findings: Findings) -> None:
    """Warn of meters that nothing reads, and of hosts for which the profile names no meter."""
    taken = {unit.hardware.group: None for m in matrices if "power" in m.asked for unit in m.units if unit.meter_taken}
    behind = meters_left_behind(found, profile, tuple(taken)) if profile else None
    if behind:
        findings.add(behind)
    read = {unit.hardware.group for m in matrices if "power" in m.asked for unit in m.units}
    idle: dict[str, dict[str, None]] = {}
    for m in matrices:
        for unit in m.units:
            if unit.hardware.power and unit.hardware.group not in read:
                idle.setdefault(unit.hardware.group, {})[m.experiment.name] = None
    for group, names in idle.items():
        entry = found.blocks["hardware"][group]
        if not entry.imported:
            span = entry.attributes["power"].values[0].span
            findings.add(name_errors.UnsampledMeter(span, group, tuple(names)))
    _warn_of_boundaries(matrices, findings)


_PARTS: Mapping[Boundary, str] = {
    "wall": "at the wall",
    "node": "of the nodes",
    "cpu": "of CPU packages only",
    "unknown": "of an unknown part",
}


def _warn_of_boundaries(matrices: tuple[Matrix, ...], findings: Findings) -> None:
    """Warn of a comparison of watts at the wall with watts of CPU packages."""
    for m in matrices:
        found: dict[str, Boundary] = {}
        if "power" in m.asked:
            found = {unit.hardware.key: unit.hardware.power[0].boundary for unit in m.units if unit.hardware.power}
        if len(set(found.values())) > 1:
            parts = "; ".join(f"{_PARTS[boundary]} in `{key}`" for key, boundary in found.items())
            findings.add(meter_errors.MixedBoundaries(m.span, m.experiment.name, parts))


def warn_of_aged_data(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host], findings: Findings) -> None:
    """Warn, for each database with `reset = reuse`, of the cells that follow a writing cell on the same data set."""
    aged: dict[str, tuple[DatabaseSpec, dict[str, None], list[str]]] = {}
    written: dict[str, tuple[str, dict[str, None]]] = {}
    """The data set at each place, and the workloads that wrote to it."""
    for matrix in matrices:
        if matrix.database.reset.how != "reuse":
            continue
        held: dict[tuple[str, str], tuple[str, str]] = {}
        for unit in matrix.units:
            database = matrix.databases[unit.hardware.key]
            place = place_of(unit.hardware, database, hosts)
            for load in matrix.loads:
                dataset = dataset_of(unit.hardware, database, load, matrix, hosts)
                held[unit.hardware.key, load.workload.name] = place, dataset.hash if dataset else ""
        writes = {load.workload.name: load.workload.writes for load in matrix.loads}
        _, writers, cells = aged.setdefault(matrix.database.name, (matrix.database, {}, []))
        for hardware, workload, point, repeat in ordered(matrix):
            place, dataset_hash = held[hardware, workload]
            there, by = written.get(place, ("", {}))
            if not dataset_hash or there != dataset_hash:  # loaded before, or made by the benchmark itself
                written[place] = there, by = dataset_hash, {}
            elif by:
                writers.update(by)
                at = f"{matrix.experiment.axis}={point:.0f}/" if point is not None else ""
                cells.append(f"{matrix.experiment.name}/{hardware}/{workload}/{at}r{repeat}")
            if dataset_hash and writes[workload]:
                by[workload] = None
    for name, (spec, writers, cells) in aged.items():
        if cells and not spec.imported:
            said_at = spec.places.get("reset", spec.span)
            findings.add(AgedData(said_at, name, tuple(writers), tuple(cells), _quick(spec)))


def _quick(database: DatabaseSpec) -> str:
    """Return a reset of the engine that is quicker than a load; "" where this database can't be declared with one."""
    default = database.engine.default_reset
    if default in database.engine.resets:
        return default
    return "snapshot" if database.server in ("start", "none") else ""
