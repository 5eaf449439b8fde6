"""Expands the matrix into cells with their ids, content hashes, locks, data sets, and steps with
times and time-outs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import NamedTuple

from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.blocks.ramps import Axis
from benchbrief.compiler.blocks.shared_equipment import SharedEquipment
from benchbrief.compiler.blocks.workloads import ReadWorkload
from benchbrief.compiler.planning.data_states import DataStates, ResetStep, changes_of
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.model.budgets import chooses
from benchbrief.model.fingerprint import (
    Known,
    Parts,
    cell_hash,
    database_parts,
    digest,
    machines,
    place_of,
    searched,
    shared_parts,
    size_parts,
)
from benchbrief.model.plan import (
    Cell,
    Database,
    DatabaseKey,
    Dataset,
    Event,
    Experiment,
    Hardware,
    Host,
    Knee,
    KneeSearch,
    Levels,
    Probe,
    Step,
)
from benchbrief.model.planned_cells import usual_cells_of_curve
from benchbrief.model.points import Curve
from benchbrief.model.steadiness import usual_length
from benchbrief.model.tool_spec import CHANGES, Change, ToolSpec

_Shape = tuple[object, ...]


Pair = tuple[str, Levels]
"""A workload and the levels at which it runs."""


def pairs_in_order(matrix: Matrix) -> tuple[Pair, ...]:
    """Return each workload at each combination of levels, in running order for one hardware group.

    Usually, this is the order of the spec: all workloads at one combination come before those at the next. Another
    order is used if it needs fewer loads, or as many loads and fewer other resets. The other orders go data set by data
    set. The last of them also sorts the workloads on a data set: those that only read come first, then those that
    update, and then those that insert.
    """
    pairs = tuple((workload, levels) for levels, workload in product(matrix.levels, matrix.experiment.workloads))
    if matrix.experiment.order == "random" or len(pairs) == 1:
        return pairs
    uses = {pair: _use(matrix, *pair) for pair in pairs}
    first = {data: at for at, data in reversed([(at, use.data) for at, use in enumerate(uses.values())])}
    together = sorted(pairs, key=lambda pair: first[uses[pair].data])
    by_change = sorted(
        together, key=lambda pair: (first[uses[pair].data], CHANGES.index(uses[pair].load.workload.changes))
    )
    orders = (pairs, together, by_change) if matrix.experiment.levels else (pairs, by_change)
    return tuple(min(orders, key=lambda each: _resets([uses[pair] for pair in each])))


class _Use(NamedTuple):
    """A workload, its database, and the place and shape of the workload's data set."""

    load: ReadWorkload
    database: Database
    place: str
    data: str


def _use(matrix: Matrix, workload: str, levels: Levels) -> _Use:
    load = matrix.load_at(workload, levels)
    database = matrix.databases[matrix.database_key(matrix.experiment.hardware[0], levels)]
    place = f"{database.uri} {database.path}"
    return _Use(load, database, place, f"{_data_parts(matrix, database)[0]} {_shape(load)}")


def _shape(load: ReadWorkload) -> _Shape:
    properties = load.workload.properties
    return tuple(properties.get(key) for key, each in load.family.attributes.items() if each.shapes_data)


def _data_parts(matrix: Matrix, database: Database) -> tuple[str, Parts]:
    """Return the properties of a matrix's database that affect its data, as a text and as a mapping."""
    found = matrix.data_parts.get(id(database))
    if found is None:
        options, word = matrix.database.engine.options, matrix.database.reads_options.word
        not_in_data = {word(key) for key, option in options.items() if not option.shapes_data}
        parts = {key: value for key, value in database_parts(database).items() if key not in _NOT_OF_THE_DATA}
        parts["reset"] = None
        parts["options"] = {key: value for key, value in database.options.items() if key not in not_in_data}
        matrix.data_parts[id(database)] = found = repr(parts), parts
    return found


class DataAt(NamedTuple):
    """A place for data, and the data in it (None if the place is empty). If two of these are equal, so is their
    `Dataset.hash`, which takes longer to compute."""

    place: tuple[object, ...]
    data: tuple[object, ...] | None

    @classmethod
    def of(cls, matrix: Matrix, unit: HardwareUnit, workload: str, levels: Levels, hosts: Mapping[str, Host]) -> DataAt:
        hardware, load = unit.hardware, matrix.load_at(workload, levels)
        database = matrix.databases[matrix.database_key(hardware.key, levels)]
        place = matrix.data_places.get((hardware.key, id(database)))
        if place is None:
            given = tuple(host for host in hardware.hosts if hosts[host].asked)
            on_hosts = tuple(machines(hardware.hosts, hosts))
            place = (on_hosts, given, database.engine, database.server, str(database.uri), database.path)
            matrix.data_places[hardware.key, id(database)] = place
        if not load.existing:
            return cls(place, None)
        on, (text, _) = place[0], _data_parts(matrix, database)
        size = tuple(size_parts(database, load.workload).items())
        return cls(place, (text, on, hardware.prepare, matrix.tool.driver, _shape(load), size))


def _resets(uses: Sequence[_Use]) -> tuple[int, int]:
    """Return how many loads, and how many other resets, the uses need on a hardware group if each use has two cells."""
    states, count, others = DataStates(), 0, 0
    for use in (each for each in uses for _ in range(2)):
        if not use.load.existing:
            states.without(use.place)
            continue
        found = states.reset(use.place, use.data, use.database.reset, use.database.engine, bytes_=0.0, load_s=0.0)
        states.changed(use.place, use.load.workload.changes, 0.0)
        count += found.work == "load"
        others += found.work not in ("", "load")
    return count, others


# Estimates for steps without a declared length. The time-outs suit hosts that are ten times slower.
_START_S, _SERVER_START_S, _COLLECT_S = 0.5, 3.0, 0.5
_NOT_OF_THE_DATA = ("drop_caches", "max_lag_s", "version")
"""Attributes of a database that affect the measurement but not the data."""


def expand(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host], budget_s: float | None = None) -> tuple[Cell, ...]:
    """Return every cell of every experiment, in running order.

    With a budget for all experiments together, every point is measured once before any is repeated. Experiments that
    choose their own points are measured in that first pass, with all their repeats.
    """
    up: dict[str, DatabaseKey] = {}
    """The server that each lane last used."""
    states = DataStates()
    cells: list[Cell] = []
    searches = _Searches()
    places = list(_places(matrices, hosts))
    if budget_s is not None:
        places.sort(key=lambda each: 1 if chooses(each[0].experiment) else each[2][-1])
    for matrix, block, (*_, point, repeat) in places:
        cells.append(block.cell(point, repeat, (up, states), searches))
        if matrix.experiment.search:
            searches.add(matrix.experiment.search, cells[-1])
    return tuple(cells)


class DatasetUse(NamedTuple):
    """A cell of a block, and how it gets its data set. Warnings need no more of a cell than this."""

    block: _Block
    point: float | None
    repeat: int
    reset: ResetStep

    @property
    def id(self) -> str:
        return self.block.id(self.point, self.repeat)

    @property
    def experiment(self) -> str:
        return self.block.matrix.experiment.name

    @property
    def hardware(self) -> str:
        return self.block.unit.hardware.key

    @property
    def database(self) -> DatabaseKey:
        return self.block.database

    @property
    def workload(self) -> str:
        return self.block.load.workload.name

    @property
    def levels(self) -> Levels:
        return self.block.levels

    @property
    def dataset(self) -> Dataset | None:
        return self.block.dataset

    @property
    def changes(self) -> Change:
        return self.block.changes

    @property
    def threads(self) -> int | None:
        return self.block.threads(self.point)

    @property
    def target(self) -> float | None:
        return self.block.target(self.point)

    @property
    def load_s(self) -> float:
        return self.reset.seconds if self.reset.work == "load" else 0.0


def uses_in_order(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> Iterator[DatasetUse]:
    """Yield how each cell gets its data set, in running order. This is faster than `expand`, which makes whole
    cells."""
    states = DataStates()
    for _, block, (*_, point, repeat) in _places(matrices, hosts):
        yield DatasetUse(block, point, repeat, block.reset(states))


def resets_in_order(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> Iterator[tuple[Experiment, ResetStep]]:
    """Yield each cell's experiment and how the cell gets its data set, in running order.

    Experiments that choose their points count with their usual number of cells.
    """
    states = DataStates()
    counts: Counter[Curve] = Counter()
    for matrix, block, (hardware, workload, levels, _, _) in _places(matrices, hosts):
        curve = Curve(matrix.experiment.name, hardware, workload, levels)
        if counts[curve] < usual_cells_of_curve(matrix.experiment):
            counts[curve] += 1
            yield matrix.experiment, block.reset(states)


def _places(matrices: tuple[Matrix, ...], hosts: Mapping[str, Host]) -> Iterator[tuple[Matrix, _Block, _Place]]:
    shared = SharedEquipment(matrices, hosts)
    for matrix in matrices:
        blocks = {
            (unit.hardware.key, workload, levels): _Block.of(matrix, unit, workload, levels, hosts, shared)
            for unit, workload, levels in product(matrix.units, matrix.experiment.workloads, matrix.levels)
        }
        yield from ((matrix, blocks[place[:3]], place) for place in ordered(matrix))


class _Searches:
    """The searches for unknown knees. Each knee has its criterion and the cells that its search may try."""

    def __init__(self) -> None:
        self._content: dict[Knee, tuple[KneeSearch, list[str]]] = {}

    def add(self, search: KneeSearch, cell: Cell) -> None:
        knee = Knee(**Curve.of(cell)._asdict())
        self._content.setdefault(knee, (search, []))[1].append(cell.hash)

    def of(self, knee: Knee) -> Parts:
        search, hashes = self._content[knee]
        return searched(search, hashes)


_Place = tuple[str, str, Levels, float | None, int]
_Before = tuple[dict[str, DatabaseKey], DataStates]
"""The servers and data sets that earlier cells left behind."""


def ordered(matrix: Matrix) -> list[_Place]:
    """Return (hardware, workload, levels, point, repeat) in the experiment's order."""
    e = matrix.experiment
    repeats, pairs = range(1, e.repeats + 1), pairs_in_order(matrix)
    if e.order == "interleaved":
        # A beside B at each repeat, so that drift affects both sides
        workloads = dict.fromkeys(workload for workload, _ in pairs)
        turns = product(workloads, matrix.points, repeats, e.hardware, matrix.levels)
        places = [(hardware, workload, levels, point, repeat) for workload, point, repeat, hardware, levels in turns]
    else:
        each = product(e.hardware, pairs, matrix.points, repeats)
        places = [(hardware, *pair, point, repeat) for hardware, pair, point, repeat in each]
    if e.order == "random":
        random.Random(e.seed).shuffle(places)  # noqa: S311  # an order that can be had again, not a secret
    if e.budget_s is not None:  # measure each point once before repeating any
        places.sort(key=lambda place: place[-1])
    return places


@dataclass
class _Block:
    """The properties that the cells of one hardware group and one workload share at one combination of levels."""

    matrix: Matrix
    unit: HardwareUnit
    load: ReadWorkload
    levels: Levels
    database: DatabaseKey
    shared: str
    """The digest of everything that can change a result, except point and repeat."""
    place: str
    """The place of the data, which two variants may share."""
    dataset: Dataset | None
    load_s: float
    load_timeout_s: float
    warm_up_s: float
    """The seconds of warm-up, which are 0 for a load."""
    probes: tuple[Probe, ...]
    load_hosts: tuple[str, ...]
    locks: tuple[str, ...]
    shares: tuple[str, ...]
    turn: str
    """The name of a turn, or "" for cells without one. Of the cells with the same turn, one is measured at a time,
    while others may load."""
    steps: dict[tuple[bool, ResetStep], tuple[Step, ...]] = field(default_factory=dict)
    """The steps of a cell, which depend on whether it starts its server and on how it gets its data."""

    @classmethod
    def of(
        cls,
        matrix: Matrix,
        unit: HardwareUnit,
        workload: str,
        levels: Levels,
        hosts: Mapping[str, Host],
        equipment: SharedEquipment,
    ) -> _Block:
        hardware, load = unit.hardware, matrix.load_at(workload, levels)
        key = matrix.database_key(hardware.key, levels)
        database = matrix.databases[key]
        load_hosts = matrix.load_hosts(unit, load)
        probes = matrix.probes[hardware.key]
        shared = shared_parts(
            hosts,
            hardware,
            database,
            load_hosts,
            matrix.tool,
            load.workload,
            probes,
            matrix.experiment,
            matrix.events.get(hardware.key, ()),
        )
        by_turns = matrix.experiment.overlap == "loading" and len(matrix.units) > 1
        return cls(
            matrix=matrix,
            unit=unit,
            load=load,
            levels=levels,
            database=key,
            shared=digest(shared),
            place=place_of(hardware, database, hosts),
            dataset=dataset_of(hardware, database, load, matrix, hosts),
            load_s=_whole(_load_s(load, database, len(load_hosts), matrix.tool_spec)),
            # The server may be slower with more threads than is estimated, so they don't shorten the time-out.
            load_timeout_s=300
            + 10 * max(_whole(_load_s(load, database, n, load.family)) for n in (len(load_hosts), 0)),
            warm_up_s=0.0 if load.of else matrix.experiment.warm_up_s,
            probes=probes,
            load_hosts=load_hosts,
            locks=tuple(dict.fromkeys((*hardware.hosts, *load_hosts))),
            shares=equipment.held(matrix, unit),
            turn=matrix.experiment.name if by_turns else "",
        )

    def cell(self, point: float | None, repeat: int, before: _Before, searches: _Searches) -> Cell:
        """Return one cell. `point` is None if a search has yet to find it."""
        threads, target = self.threads(point), self.target(point)
        known: dict[Axis, Known] = {"threads": threads, "target": target}
        if self.knees:
            known |= {key: searches.of(knee) for key, knee in self.knees.items()}
        return self._first.model_copy(
            update={
                "id": self.id(point, repeat),
                "hash": cell_hash(self.shared, known["threads"], known["target"], repeat),
                "threads": threads,
                "target": target,
                "repeat": repeat,
                "steps": self._steps(before) if not self.load.of else self._loading_steps(before, target),
            }
        )

    @cached_property
    def _first(self) -> Cell:
        """The cell that all cells of the block are copied from, so that shared parts are validated once."""
        e, client = self.matrix.experiment, self.matrix.clients.get(self.unit.hardware.key)
        return Cell(
            id="",
            hash="",
            experiment=e.name,
            hardware=self.unit.hardware.key,
            database=self.database,
            workload=self.load.workload.name,
            levels=self.levels,
            workload_key="" if self._workload_key == self.load.workload.name else self._workload_key,
            client=client.name if client else None,
            load_hosts=self.load_hosts,
            tool=self.matrix.tool,
            threads=None,
            target=None,
            threads_from=self.knees.get("threads"),
            target_from=self.knees.get("target"),
            repeat=1,
            warm_up_s=self.warm_up_s,
            measure_s=e.measure_s,
            phases=e.phases,
            dataset=self.dataset,
            steps=(),
            probes=self.probes,
            events=self.events,
            locks=self.locks,
            shares=self.shares,
            turn=self.turn,
            origin=e.origin,
        )

    def threads(self, point: float | None) -> int | None:
        if self.matrix.experiment.axis == "target":
            return self.matrix.threads
        return None if point is None else int(point)

    def target(self, point: float | None) -> float | None:
        return None if point is None or self.matrix.experiment.axis != "target" else float(point)

    def id(self, point: float | None, repeat: int) -> str:
        known: dict[Axis, float | None] = {"threads": self.threads(point), "target": self.target(point)}
        shown = [
            f"{key}={self.knees[key].experiment}.knee" if key in self.knees else f"{key}={value:.0f}"
            for key, value in known.items()
            if key in self.knees or value is not None
        ]
        return f"{self._path}/{'/'.join(shown)}/r{repeat}"

    @cached_property
    def _path(self) -> str:
        levels = f"/{self.levels}" if self.levels else ""
        return f"{self.matrix.experiment.name}/{self.unit.hardware.key}/{self.load.workload.name}{levels}"

    @cached_property
    def _workload_key(self) -> str:
        return self.matrix.workload_key(self.load.workload.name, self.levels)

    @cached_property
    def knees(self) -> Mapping[Axis, Knee]:
        """The unknown knees that give the cell its points, by axis."""
        place = self.unit.hardware.key, self.load.workload.name, self.levels
        return {key: by_pair[place] for key, by_pair in self.matrix.knees.items()}

    @cached_property
    def changes(self) -> Change:
        """How a cell changes its data set."""
        return changes_of(self.load.workload, self.events)

    @cached_property
    def _reset_bytes(self) -> float:
        records = self.dataset.records if self.dataset else 0
        found = records * self.load.family.record_bytes(self.load.workload.properties)
        return found or self.matrix.databases[self.database].size_bytes or 0.0

    @cached_property
    def _insert_s(self) -> float:
        """Return how many seconds a cell inserts records."""
        properties = self.load.workload.properties
        inserts = sum(float(properties.get(name, 0.0)) for name in self.load.family.inserting)
        return inserts * (self.warm_up_s + self.matrix.experiment.measure_s)

    @property
    def events(self) -> tuple[Event, ...]:
        return self.matrix.events.get(self.unit.hardware.key, ())

    def reset(self, states: DataStates) -> ResetStep:
        """Return how the cell gets its data set, given the servers and data that earlier cells left."""
        if self.dataset is None:
            states.without(self.place)
            return ResetStep()
        database = self.matrix.databases[self.database]
        found = states.reset(
            self.place,
            self.dataset.hash,
            database.reset,
            database.engine,
            bytes_=self._reset_bytes,
            load_s=self.load_s,
        )
        states.changed(self.place, self.changes, self._insert_s)
        return found

    def _starts(self, up: dict[str, DatabaseKey]) -> bool:
        """Return whether the cell starts its server. It does not if the server from the cell before can be used."""
        if self.matrix.database.server not in ("embedded", "start"):
            return False
        lane = f"server on {' '.join(self.locks)}"
        before = up.get(lane)
        up[lane] = self.database
        return before != self.database

    def _steps(self, before: _Before) -> tuple[Step, ...]:
        up, states = before
        key = starts, reset = self._starts(up), self.reset(states)
        if key not in self.steps:
            self.steps[key] = tuple(self._made_steps(starts, reset))
        return self.steps[key]

    def _loading_steps(self, before: _Before, target: float | None) -> tuple[Step, ...]:
        """Return the steps of a measured load. The load ends with its last record or with the measured time."""
        records = float(self.load.workload.properties["records"])
        seconds = max(self.load_s, _whole(1 + records / target) if target else 0.0)
        return tuple(
            step.model_copy(update={"seconds": min(step.seconds, seconds)}) if step.kind == "measure" else step
            for step in self._steps(before)
        )

    def _made_steps(self, starts: bool, reset: ResetStep) -> Iterator[Step]:
        e = self.matrix.experiment
        commands = len(self.unit.hardware.prepare) * len(self.unit.hardware.hosts)
        start = _SERVER_START_S if starts else _START_S
        start += self.matrix.tool_spec.start_s
        yield Step(kind="prepare", seconds=start, timeout_s=120 + 600 * commands)
        if self.dataset is not None:
            yield Step(kind="load", seconds=reset.seconds, timeout_s=self.load_timeout_s, reset=reset.work)
        if self.warm_up_s > 0:
            yield Step(kind="warm_up", seconds=self.warm_up_s, timeout_s=_with_slack(self.warm_up_s, e.slack_s))
        runs = 2 if self.matrix.tool_spec.counted else 1  # a run that ends too early is repeated
        timeout = _with_slack(runs * (self.warm_up_s + e.measure_s), e.slack_s)
        seconds = _whole(usual_length(e.until_steady.from_s, e.measure_s)) if e.until_steady else e.measure_s
        yield Step(kind="measure", seconds=seconds, timeout_s=timeout)
        yield Step(kind="collect", seconds=_COLLECT_S, timeout_s=_whole(300 + 0.1 * e.measure_s))
        if e.cool_down_s > 0:
            yield Step(kind="cool_down", seconds=e.cool_down_s, timeout_s=e.cool_down_s)


def _load_s(load: ReadWorkload, database: Database, hosts: int, tool: ToolSpec) -> float:
    """Estimate the seconds that a tool takes to load the data from a number of hosts.

    A measured load uses its cell's threads, so the number of load threads that the workload sets does not count.
    Neither does it count if `hosts` is 0.
    """
    threads, settings = load.family.load_threads, load.workload.properties
    if threads and (load.of or not hosts):
        settings = {name: value for name, value in settings.items() if name != threads[0]}
    return load.family.load_seconds(settings, database.size_bytes, hosts, tool)


def _with_slack(seconds: float, slack: float | None) -> float:
    return _whole(seconds + (max(60.0, 0.1 * seconds) if slack is None else slack))


def _whole(seconds: float) -> float:
    return float(-(-seconds // 1))


def dataset_of(
    hardware: Hardware, database: Database, load: ReadWorkload, matrix: Matrix, hosts: Mapping[str, Host]
) -> Dataset | None:
    """Return the data set that a load leaves behind, or None for a workload without one.

    It has the properties that the spec determines. `Equipment.with_data_set` adds those that only the hosts know.
    """
    if not load.existing:
        return None
    p = load.workload.properties
    shape = [key for key, each in load.family.attributes.items() if each.shapes_data and not each.product_of]
    content = {
        "hosts": machines(hardware.hosts, hosts),
        "prepare": list(hardware.prepare),
        "database": _data_parts(matrix, database)[1],
        "tool": matrix.tool.driver,  # tools may differ in keys; only the host knows the build
        "shape": {key: p[key] for key in shape if key in p},
        **size_parts(database, load.workload),
    }
    records = int(float(p.get("records", 0)))
    return Dataset(hash=digest(content), records=records, reuse=database.reset != "drop_and_load")
