"""The order of an experiment's workloads in which data sets are brought back least often."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.blocks.workloads.workloads import Load
from benchbrief.compiler.extensions.tool_spec import CHANGES
from benchbrief.compiler.planning.plan import Database
from benchbrief.compiler.resets.data_states import DataStates

_Shape = tuple[object, ...]


def workloads_in_order(matrix: Matrix) -> tuple[str, ...]:
    """Return the workloads as the spec has them, or data set by data set and the readers first, then those that update,
    then those that insert, where that order takes fewer loads, or as many and fewer other resets."""
    if matrix.experiment.order == "random":
        return matrix.experiment.workloads
    database = next(iter(matrix.databases.values()))
    shapes: dict[_Shape, int] = {}
    for load in matrix.loads:
        shapes.setdefault(_shape(load), len(shapes))
    best = sorted(matrix.loads, key=lambda load: (shapes[_shape(load)], CHANGES.index(load.workload.changes)))
    chosen = best if _resets(best, database) < _resets(matrix.loads, database) else matrix.loads
    return tuple(load.workload.name for load in chosen)


def _shape(load: Load) -> _Shape:
    properties = load.workload.properties
    return tuple(properties.get(key) for key, each in load.family.attributes.items() if each.shapes_data)


def _resets(loads: Sequence[Load], database: Database) -> tuple[int, int]:
    """Return how many loads, and how many other resets, these workloads take on one hardware, with two cells each."""
    states, count, others = DataStates(), 0, 0
    for load in (each for each in loads for _ in range(2)):
        if not load.existing:
            states.without("")
            continue
        found = states.reset("", repr(_shape(load)), database.reset, database.engine, bytes_=0.0, load_s=0.0)
        states.changed("", load.workload.changes, 0.0)
        count += found.work == "load"
        others += found.work not in ("", "load")
    return count, others
