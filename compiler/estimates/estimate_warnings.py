"""Warnings based on estimates: databases that replace each other's data, and resets that take longer than the
measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import product
from typing import NamedTuple

from benchbrief.compiler.blocks.databases import DatabaseSpec
from benchbrief.compiler.blocks.equipment_errors import CostlyReset, ReplacedData
from benchbrief.compiler.blocks.experiments import Matrix, databases_of
from benchbrief.compiler.blocks.factor_errors import TurnsNeedLoads
from benchbrief.compiler.estimates.budget_fit import check_budgets
from benchbrief.compiler.estimates.estimate import counted_cells
from benchbrief.compiler.expand import DataAt, DatasetUse, ordered, resets_in_order, uses_in_order
from benchbrief.compiler.planning.data_states import changes_of, tolerated
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import EVERYWHERE, Reset
from benchbrief.model.fingerprint import place_of
from benchbrief.model.plan import Cell, Database, DatabaseKey, Dataset, Hardware, Host, Workload
from benchbrief.model.tool_spec import Change

_WORTH_S = 60.0
"""Loads or resets are worth a warning if they take at least this many seconds in all."""


def warn_by_estimates(model: Model, findings: Findings) -> None:
    if not findings.failed:
        _check_turns(model, findings)
    if not findings.failed:
        _warn_of_replaced_data(model, findings)
        _warn_of_costly_resets(model, findings)
        check_budgets(model, findings)


def _check_turns(model: Model, findings: Findings) -> None:
    """Report experiments whose levels take turns although each level needs other data in the same storage place."""
    for matrix in model.matrices:
        if matrix.experiment.order == "interleaved" and (factors := _reloading(matrix, model.hosts)):
            loads = [
                step.seconds
                for experiment, step in resets_in_order(model.matrices, model.hosts)
                if experiment.name == matrix.experiment.name and step.work == "load"
            ]
            where, words = (
                "path" if matrix.database.path else "uri",
                tuple(matrix.factors[f].told_apart for f in factors),
            )
            at, name = matrix.places["repeats"], matrix.experiment.name
            findings.add(TurnsNeedLoads(at, name, factors, words, len(loads), sum(loads), where))


def _reloading(matrix: Matrix, hosts: Mapping[str, Host]) -> tuple[str, ...]:
    """Return the factors whose levels make cells load other data into the same storage place, if all other levels stay
    the same."""
    unit = matrix.units[0]
    found: dict[str, None] = {}
    for workload in matrix.experiment.workloads:
        held = {levels: DataAt.of(matrix, unit, workload, levels, hosts) for levels in matrix.levels}
        for factor in matrix.levels[0].keys:
            seen: dict[object, object] = {}
            for levels, (place, data) in held.items():
                others = levels.only([name for name in levels.keys if name != factor])
                if seen.setdefault((others, place), data) != data:
                    found[factor] = None
    return tuple(found)


def _warn_of_replaced_data(model: Model, findings: Findings) -> None:
    matrices, hosts = model.matrices, model.hosts
    if not _data_return(matrices, hosts):
        return
    specs = {matrix.database.name: matrix.database for matrix in matrices}
    hardware = {unit.hardware.key: unit.hardware for matrix in matrices for unit in matrix.units}
    uses: Iterable[DatasetUse] = uses_in_order(matrices, hosts)
    if any(matrix.experiment.adaptive or matrix.experiment.promise for matrix in matrices):
        uses = list(uses)
        counted = counted_cells(uses, {matrix.experiment.name: matrix.experiment for matrix in matrices})
        uses = [use for use in uses if use.id in counted]
    for found in shared_places(uses, hardware, databases_of(matrices), hosts):
        spec = specs[found.database]
        if found.seconds >= _WORTH_S and not spec.imported:
            span = spec.places.get("path") or spec.places.get("uri") or spec.span
            findings.add(ReplacedData(span, spec.name, tuple(found.hardware), tuple(found.cells), found.seconds))


def _data_return(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> bool:
    """Return whether a data set comes back to a storage place after another one was there. Few specs need that."""
    there: dict[int, int] = {}
    left: set[tuple[int, int]] = set()
    numbers: dict[object, int] = {}  # of each place and each content, since numbers are compared faster

    def numbered(found: DataAt) -> tuple[int, int]:
        place, content = (numbers.setdefault(each, len(numbers)) for each in found)
        return place, content

    for matrix in matrices:
        contents = {
            (unit.hardware.key, workload, levels): numbered(DataAt.of(matrix, unit, workload, levels, hosts))
            for unit, workload, levels in product(matrix.units, matrix.experiment.workloads, matrix.levels)
        }
        found = dict.fromkeys(contents.values())
        in_turn: Iterable[tuple[int, int]] = found
        if len({place for place, _ in found}) < len(found):  # two data sets share a place, so the order counts
            in_turn = (contents[hardware, workload, levels] for hardware, workload, levels, _, _ in ordered(matrix))
        for place, content in in_turn:
            if (before := there.get(place, content)) != content:
                if (place, content) in left:
                    return True
                left.add((place, before))
            there[place] = content
    return False


@dataclass
class SharedPlace:
    """Cells of a database that must load their data again because other data have replaced them, and the seconds of
    these loads. `hardware` are the keys of the groups with data in that storage place."""

    database: str
    hardware: dict[str, None] = field(default_factory=dict)
    cells: list[str] = field(default_factory=list)
    seconds: float = 0.0


class PlannedUse(NamedTuple):
    """What warnings need to know about a planned cell's data set: how the cell changes it, and how many seconds its
    load takes."""

    id: str
    hardware: str
    database: DatabaseKey
    dataset: Dataset | None
    changes: Change
    load_s: float

    @classmethod
    def of(cls, cell: Cell, workloads: Mapping[str, Workload]) -> PlannedUse:
        load_s = sum(step.seconds for step in cell.steps if step.reset == "load")
        changes = changes_of(workloads[cell.workload_key or cell.workload], cell.events)
        return cls(cell.id, cell.hardware, cell.database, cell.dataset, changes, load_s)


def shared_places(
    uses: Iterable[PlannedUse | DatasetUse],
    hardware: Mapping[str, Hardware],
    databases: Mapping[DatabaseKey, Database],
    hosts: Mapping[str, Host],
) -> list[SharedPlace]:
    """Return the shared places in the order of the cells. A load does not count if the cell's own `reset` needs it, or
    if it comes after a cell that makes its own data."""
    places: dict[str, str] = {}
    there: dict[str, str] = {}
    """The hash of the data set at each place, or "" for data that a benchmark has made itself."""
    intact: dict[tuple[str, str], bool] = {}
    """For each data set that was loaded at a place, whether the next cell could have used the data set if nothing had
    replaced it."""
    users: dict[str, dict[str, None]] = {}
    found: dict[tuple[str, str], SharedPlace] = {}
    for use in uses:
        database, dataset = databases[use.database], use.dataset
        if use.database not in places:
            places[use.database] = place_of(hardware[use.hardware], database, hosts)
        place = places[use.database]
        users.setdefault(place, {})[use.hardware] = None
        content = dataset.hash if dataset else ""
        if dataset and dataset.reuse and (load_s := use.load_s):
            replaced = there.get(place) not in (content, "") and intact.get((place, content), False)
            if replaced:
                shared = found.setdefault((database.name, place), SharedPlace(database.name))
                shared.cells.append(use.id)
                shared.seconds += load_s
        there[place] = content
        intact[place, content] = use.changes in tolerated(database.reset, database.engine)
    for (_, place), shared in found.items():
        shared.hardware |= users[place]
    return list(found.values())


def _warn_of_costly_resets(model: Model, findings: Findings) -> None:
    """Warn of each declared reset whose estimate is above the measured time. A reset that costs no more than the
    default gets no warning, since the declaration is not to blame."""
    matrices, hosts = model.matrices, model.hosts
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
    """The seconds of a database's resets, the seconds of its measurements, and how many cells reset it."""

    spent_s: float
    measured_s: float
    cells: int


def _of_database(name: str, matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> _Resets:
    theirs = {matrix.experiment.name for matrix in matrices if matrix.database.name == name}
    found = [(each, step) for each, step in resets_in_order(matrices, hosts) if each.name in theirs]
    taken = [step.seconds for _, step in found if step.work]
    return _Resets(sum(taken), sum(experiment.measure_s for experiment, _ in found), len(taken))


def _default(database: DatabaseSpec) -> Reset:
    """Return the database's default reset, in the form that `read_reset` returns."""
    default = database.engine.default_reset
    return "after_writes" if default == "as_needed" and not database.engine.updates_in_place else default


WAYS: Mapping[Reset, str] = {
    "links": "the files of the loaded data are linked back, in place of a load",
    "snapshot": "the loaded data are copied back, in place of a load",
    "after_writes": "data are loaded only before a cell that follows one that wrote",
    "as_needed": "data are loaded only before a cell that would notice what the cells before it changed",
    "undo": "what cells insert is deleted, in place of a load",
}
"""Ways to reset that keep cells comparable, each with a phrase for its effect. The way that restores the most comes
first.

A snapshot by the file system is not listed, since `links` restores the same files in less time on any file system. A
snapshot also needs a directory that is a subvolume, a dataset or a volume, and a user who may remove these. No plan can
know whether that is the case.
"""
USERS_OWN: tuple[Reset, ...] = ("reuse", "command")
"""Ways to reset whose effect only the user knows. No other way is ever advised instead of them."""
ALIKE = 0.05
"""A way to reset that restores more is preferred to the one that saves the most time, unless it saves less by more than
this share."""


def best_reset(database: DatabaseSpec, saves_s: Callable[[Reset], float]) -> tuple[Reset, float] | None:
    """Return the best alternative for resetting the database, with the seconds that it saves, or None if none saves
    time."""
    found = {how: saves_s(how) for how in _ways(database)}
    most = max(found.values(), default=0.0)
    return next(((how, saved) for how, saved in found.items() if 0 < (1 - ALIKE) * most <= saved), None)


def _ways(database: DatabaseSpec) -> Iterator[Reset]:
    """Yield the alternatives for resetting this database. There are no alternatives to `links`, since it restores the
    most and takes almost no time."""
    if database.reset.how == "links":
        return
    for how in WAYS:
        known = how in (*EVERYWHERE, *database.engine.resets)
        if known and how != database.reset.how and (how != "snapshot" or database.server in ("start", "none")):
            yield how


def with_reset(matrices: tuple[Matrix, ...], name: str, how: Reset) -> tuple[Matrix, ...]:
    """Return the matrices with the given reset for the database called `name`."""
    return tuple(
        replace(
            matrix, databases={key: each.model_copy(update={"reset": how}) for key, each in matrix.databases.items()}
        )
        if matrix.database.name == name
        else matrix
        for matrix in matrices
    )
