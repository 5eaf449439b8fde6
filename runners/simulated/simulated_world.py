"""The simulated world, which replaces the real one: see `runners/worlds/real_world.py`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from benchbrief.compiler.planning.plan import Cell, Database, Hardware, Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.driver_contexts import CellContext
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_clocks import ClockReading
from benchbrief.runners.journal.events import Simulated
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.measurement.server_counters import Counters
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.scheduling.knee_search import Flag
from benchbrief.runners.seams import Driver, Engine, Hosts, ProbeKind, Transport
from benchbrief.runners.simulated.simulated_driver import SimulatedDriver
from benchbrief.runners.simulated.simulated_engine import SimulatedEngine, SimulatedReadings
from benchbrief.runners.simulated.simulated_hosts import LOAD, SimulatedHosts, choose_failing
from benchbrief.runners.simulated.simulated_probe import SimulatedProbe
from benchbrief.runners.world_seams import Meter, OpenHosts, Readings

_AT_ONCE = 1
"""How many lanes work at the same time. They only compute, and more would take turns at the same processor."""


class SimulatedWorld:
    """The simulated world. `again` is how often the run started before, so that a chance failure may pass then."""

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
        return {"os": say.simulated_host()}

    def other_load(self, transport: Transport) -> str:
        del transport
        return ""

    def driver(self, name: str) -> Driver:
        return SimulatedDriver(name, self.simulated.seed, self.simulated.errors, self._fails)

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tool_discovery.Found:
        del transport, driver, configured
        return tool_discovery.Found(LOAD, say.simulated())

    def digest(self, transport: Transport, path: str) -> str:
        del transport, path
        return ""

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine:
        if not isinstance(hosts, SimulatedHosts):
            raise RunnerError("a simulated database needs simulated hosts")
        return SimulatedEngine(plan, database, hardware, hosts)

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
        del seconds  # simulated time costs no real time
        return ending.is_set()

    def _fails(self, context: CellContext) -> tuple[str, ...]:
        """Return whether this load generator fails. Hosts under test fail the cell on its first load generator."""
        cell = context.cell
        first = cell.load_hosts[0]
        own = context.load_host or first
        hosts = dict.fromkeys((own, *(context.hardware.hosts if own == first else ())))
        with self._lock:
            self._tried[cell.id, own] += 1
            again = self._again * 1000 + self._tried[cell.id, own]
        return choose_failing(self.simulated.failing, tuple(hosts), self.simulated.seed, cell.id, again)
