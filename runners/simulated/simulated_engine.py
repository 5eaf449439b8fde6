"""The simulated database, which replaces any real one: see `seams.Engine`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.messages.text import figure
from benchbrief.compiler.planning.plan import Cell, Database, DatabaseKey, Hardware, Plan
from benchbrief.compiler.resets.tolerated_changes import changes_of, tolerated, worse
from benchbrief.runners.errors import LoadShort
from benchbrief.runners.execution.driver_contexts import Endpoint, loading_hosts
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.seams import GoesOn, Size, Stopping
from benchbrief.runners.simulated.simulated_hosts import SimulatedHosts

_READINGS = 20
_SPACE_LOADED, _SPACE_WRITTEN = 1.05, 1.2
"""Bytes of files for each byte of records: invented, like the service times."""
_COUNTED = {"read": ("query",), "scan": ("query",), "update": ("update",), "insert": ("insert",), "delete": ("delete",)}
_BOTH = ("query", "update")
"""The names of the operations in MongoDB's `opcounters`."""

Counters = dict[str, float]


class SimulatedEngine:
    name: ClassVar[str] = "simulated"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: SimulatedHosts) -> None:
        self._plan = plan
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._database = database
        self._key = DatabaseKey.of(database.name, hardware.key)
        self._hosts = hosts
        self._machine = hosts.machine(hardware.hosts[0])

    def start(self) -> Endpoint:
        return Endpoint(path=self._database.path)

    def look(self) -> None:
        """Does nothing: there is no server."""

    def describe(self) -> dict[str, str]:
        return {"server": say.simulated_server(engine=self._database.engine), "version": say.simulated()}

    def build(self) -> str:
        return ""

    def holds(self, cell: Cell) -> bool:
        dataset = cell.dataset
        found, changes = self._hosts.datasets.get(self._key, ("", "nothing"))
        if dataset is None or not dataset.reuse or found != dataset.hash:
            return False
        return changes in tolerated(self._database.reset, self._database.engine)

    def can_undo(self, cell: Cell) -> bool:
        """Implement `data_seams.Undoes`."""
        return cell.dataset is not None and self._hosts.datasets.get(self._key) == (cell.dataset.hash, "inserts")

    def undo(self, cell: Cell) -> tuple[bool, str]:
        """Implement `data_seams.Undoes`."""
        records = cell.dataset.records if cell.dataset else 0
        self._hosts.datasets[self._key] = self._hosts.datasets[self._key][0], "updates"
        deleted = figure(self._machine.done_by(self.now).get("insert", 0.0), ",.0f")
        return True, say.undone(
            deleted=deleted, n=figure(records, ","), sent=say.sent_by_hosts(hosts=", ".join(loading_hosts(cell)))
        )

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `data_seams.CountsWriters`."""
        found, changes = self._hosts.datasets.get(self._key, ("", "nothing"))
        if cell.dataset and found:
            self._hosts.datasets[self._key] = (
                found,
                worse(changes, changes_of(self._plan.workloads[cell.workload], cell.events)),
            )
        return ()

    def reset(self, cell: Cell) -> None:
        del cell
        self._hosts.datasets.pop(self._key, None)

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise LoadShort(say.simulated_short(n=records, asked=cell.dataset.records))
        self._hosts.datasets[self._key] = cell.dataset.hash, "nothing"

    @property
    def now(self) -> float:
        return self._machine.now

    def size(self, cell: Cell) -> Size:
        """Return the size after a load, plus a little when the cell has written. See `seams.TellsSize`."""
        workload = self._plan.workloads[cell.workload]
        spec = TOOL_SPECS.usable(workload.family)
        record = spec.record_bytes(workload.properties) if spec else 0.0
        records = cell.dataset.records if cell.dataset else float(workload.properties.get("records", 0))
        written = bool(self._machine.done_by(self.now)) and workload.writes
        return Size(records * record * (_SPACE_WRITTEN if written else _SPACE_LOADED), records * record)

    def counters(self) -> Counters:
        return self.counters_at(self.now)

    def counters_at(self, time: float) -> Counters:
        """Return a server's counters since its start; a library has none."""
        if self._database.server == "none":
            return {}
        found: Counters = dict.fromkeys(("opcounters.query", "opcounters.update", "opcounters.insert"), 0.0)
        for operation, count in self._machine.done_by(time).items():
            for name in _COUNTED.get(operation, _BOTH):
                found[f"opcounters.{name}"] = found.get(f"opcounters.{name}", 0.0) + count
        return found

    def healthy(self) -> None:
        return None

    def stop(self) -> None:
        return None


class SimulatedReadings:
    """The counters before, during and after a simulated measurement, by its clock; see `real_world.Readings`."""

    def __init__(self, engine: SimulatedEngine) -> None:
        self._engine = engine
        self._began_at = 0.0
        self.before: Counters = {}
        self.after: Counters = {}
        self.samples: tuple[tuple[float, Counters], ...] = ()
        self.problem = ""

    def __enter__(self) -> Self:
        self._began_at = self._engine.now
        self.before = self._engine.counters()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or not self.before:
            return
        self.after = self._engine.counters()
        step = (self._engine.now - self._began_at) / _READINGS
        times = [self._began_at + i * step for i in range(_READINGS + 1)]
        self.samples = tuple((time, self._engine.counters_at(time)) for time in times)
