"""A run's world, real or simulated. It is chosen once, when the run is made."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import Simulated
from benchbrief.model.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import plugins
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import host_facts, tool_discovery
from benchbrief.runners.hosts.host_clocks import ClockReading, read_clock
from benchbrief.runners.hosts.host_connections import HostPool, is_on_controller
from benchbrief.runners.hosts.quiet_host import other_load
from benchbrief.runners.journal.run_folder import simulation_of
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import Driver, Engine, Hosts, ProbeKind, Stopping, Transport
from benchbrief.runners.session import Session
from benchbrief.runners.transports.transport_base import JobTransport
from benchbrief.runners.world import unsupported
from benchbrief.runners.world.server_counters import CounterReadings, Counters
from benchbrief.runners.world.simulated_world import SimulatedWorld
from benchbrief.runners.world.world_seams import Meter, OpenHosts, ReadsCounters, World

_SLICE_S = 0.5
"""How often a pause checks whether the run must end, in seconds."""


@dataclass(frozen=True)
class RealWorld:
    """Real hosts. `config` is an SSH client configuration that replaces ~/.ssh/config."""

    config: Path | None = None
    at_once: int | None = None
    simulated: Simulated | None = None
    session: Session = field(default_factory=Session, compare=False)

    def refuse(self, plan: Plan) -> None:
        unsupported.refuse_unsupported(plan)

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        return HostPool(plan, self.config, run_name, self.session)

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        return unsupported.silent_meters(plan, cells, hosts)

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        return host_facts.observe(transport, paths)

    def other_load(self, transport: Transport) -> str:
        ours = transport.run_name.owner if isinstance(transport, JobTransport) else ""
        return other_load(transport, os.getpid() if is_on_controller(transport.host) else None, ours)

    def driver(self, name: str) -> Driver:
        return plugins.driver(name)

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tool_discovery.FoundTool:
        return tool_discovery.find(transport, driver, configured)

    def digest(self, transport: Transport, path: str) -> str:
        return tool_discovery.digest(transport, path)

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine:
        return plugins.engine_class(database.engine)(plan, database, hardware, hosts)

    def probe_kind(self, name: str) -> ProbeKind:
        return plugins.probe_kind(name)

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> ReadsCounters:
        return CounterReadings(engine.counters, seconds, keep)

    def clock(self, transport: Transport) -> ClockReading | None:
        return read_clock(transport)

    def pause(self, seconds: float, ending: Stopping) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if ending.is_set():
                return True
            threading.Event().wait(min(left, _SLICE_S))
        return ending.is_set()


def world_for(simulated: j.Simulated | None, again: int = 0, session: Session | None = None) -> World:
    """Return the real or the simulated world. `again` is how often the run was started before."""
    return SimulatedWorld(simulated, again) if simulated else RealWorld(session=session or Session())


def world_of(run_dir: Path, starts: Sequence[j.RunStarted], session: Session | None = None) -> World:
    """Return the world of a run that continues. Raises RunnerError if the journal names the other world."""
    simulated = simulation_of(run_dir)
    if any(start.simulated != simulated for start in starts):
        raise RunnerError(
            f"the journal of {run_dir} is of a {'real' if simulated else 'simulated'} run, or of another simulation",
            "measured and simulated results are never mixed: run the spec again",
        )
    return world_for(simulated, len(starts), session)
