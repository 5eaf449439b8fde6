"""The simulated world, in the place of the real one: see `runners/world.py`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import tools
from benchbrief.runners.clock import ClockReading
from benchbrief.runners.contexts import CellContext
from benchbrief.runners.counters import Counters
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal import Simulated
from benchbrief.runners.seams import Driver, Engine, Hosts, ProbeKind, Transport
from benchbrief.runners.searches import Flag
from benchbrief.runners.simulated.driver import VERSION, SimulatedDriver
from benchbrief.runners.simulated.engine import SimulatedEngine, SimulatedReadings
from benchbrief.runners.simulated.hosts import LOAD, SimulatedHosts, failing
from benchbrief.runners.simulated.probe import SimulatedProbe
from benchbrief.runners.supported import Meter
from benchbrief.runners.tasks import RunName
from benchbrief.runners.world import OpenHosts, Readings

_AT_ONCE = 4
"""Lanes that work at the same time: they only compute, so that more would just take each other's turn."""


class SimulatedWorld:
    """`again` is how often the run was started before, so that what failed by chance may go well then."""

    def __init__(self, simulated: Simulated, again: int = 0) -> None:
        self.simulated = simulated
        self.at_once = _AT_ONCE
        self._again = again
        self._tried: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def refuse(self, plan: Plan) -> None:
        del plan  # any plan can be simulated

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        del run_name  # nothing is left anywhere
        return SimulatedHosts(plan)

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        del plan, cells, hosts
        return {}

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        del transport, paths
        return {"os": "none: the host is simulated"}

    def other_load(self, transport: Transport) -> str:
        del transport
        return ""

    def driver(self, name: str) -> Driver:
        return SimulatedDriver(name, self.simulated.seed, self.simulated.errors, self._fails)

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tools.Found:
        del transport, driver, configured
        return tools.Found(LOAD, VERSION)

    def digest(self, transport: Transport, path: str) -> str:
        del transport, path
        return ""

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine:
        del plan
        if not isinstance(hosts, SimulatedHosts):
            raise RunnerError("a simulated database needs simulated hosts")
        return SimulatedEngine(database, hardware, hosts)

    def probe_kind(self, name: str) -> ProbeKind:
        return SimulatedProbe(name, self.simulated.seed)

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> Readings:
        del seconds, keep
        if not isinstance(engine, SimulatedEngine):
            raise RunnerError("only a simulated database has simulated counters")
        return SimulatedReadings(engine)

    def clock(self, transport: Transport) -> ClockReading | None:
        del transport
        return None

    def pause(self, seconds: float, ending: Flag) -> bool:
        del seconds  # of the hosts' time, which is not ours
        return ending.is_set()

    def _fails(self, context: CellContext) -> tuple[str, ...]:
        """The load generator's own part of it: hosts under test fail the cell on its first load generator."""
        cell = context.cell
        first = cell.load_hosts[0]
        own = context.load_host or first
        hosts = dict.fromkeys((own, *(context.hardware.hosts if own == first else ())))
        with self._lock:
            self._tried[cell.id, own] += 1
            again = self._again * 1000 + self._tried[cell.id, own]
        return failing(self.simulated.failing, tuple(hosts), self.simulated.seed, cell.id, again)
