"""What is to be said before anything is run of data that are kept: cells that write leave others than they found."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.errors import AgedData
from benchbrief.compiler.expand import dataset_of, ordered, place_of
from benchbrief.compiler.plan import Host
from benchbrief.compiler.problems import Findings


def warn_of_aged_data(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host], findings: Findings) -> None:
    """Of each database with `reset = reuse`, the cells that would follow one that wrote to the same data set."""
    aged: dict[str, tuple[DatabaseSpec, dict[str, None], list[str]]] = {}
    written: dict[str, tuple[str, dict[str, None]]] = {}
    """For each place, the data set that is there, and the workloads that wrote to it."""
    for matrix in matrices:
        if matrix.database.reset.how != "reuse":
            continue
        held: dict[tuple[str, str], tuple[str, str]] = {}
        for unit in matrix.units:
            database = matrix.databases[unit.hardware.key]
            place = place_of(unit.hardware, database, hosts)
            for load in matrix.loads:
                dataset = dataset_of(unit.hardware, database, load, matrix.tool, hosts)
                held[unit.hardware.key, load.workload.name] = place, dataset.hash if dataset else ""
        writes = {load.workload.name: load.workload.writes for load in matrix.loads}
        _, writers, cells = aged.setdefault(matrix.database.name, (matrix.database, {}, []))
        for hardware, workload, point, repeat in ordered(matrix):
            place, dataset_hash = held[hardware, workload]
            there, by = written.get(place, ("", {}))
            if not dataset_hash or there != dataset_hash:  # it is loaded before, or the benchmark makes its own
                written[place] = there, by = dataset_hash, {}
            elif by:
                writers.update(by)
                at = f"{matrix.experiment.axis}={point:.0f}/" if point is not None else ""
                cells.append(f"{matrix.experiment.name}/{hardware}/{workload}/{at}r{repeat}")
            if dataset_hash and writes[workload]:
                by[workload] = None
    for name, (spec, writers, cells) in aged.items():
        if cells and not spec.imported:
            findings.add(AgedData(spec.places.get("reset", spec.span), name, tuple(writers), tuple(cells)))
