"""What a run reaches: its hosts, what is found and runs on them, and their time.

The executor goes through a world for all of it, so that a plan runs in the same way against real hosts and against
simulated ones (`runners/simulated/world.py`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import facts, plugins, supported, tools
from benchbrief.runners.clock import ClockReading, read_clock
from benchbrief.runners.counters import CounterReadings, Counters
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import HostPool
from benchbrief.runners.journal import Simulated
from benchbrief.runners.other_load import other_load
from benchbrief.runners.seams import Driver, Engine, Hosts, ProbeKind, Transport
from benchbrief.runners.searches import Flag
from benchbrief.runners.supported import Meter
from benchbrief.runners.tasks import RunName
from benchbrief.runners.transports.base import JobTransport

_SLICE_S = 0.5
"""How often a pause looks whether the run is to end."""


class OpenHosts(Hosts, AbstractContextManager["OpenHosts"], Protocol):
    """The transports of a run, closed together at its end."""

    def reachable(self, host_id: str) -> bool:
        """Whether a command runs on the host now."""
        ...


class Readings(AbstractContextManager["Readings"], Protocol):
    """A server's counters, read beside a measurement: see `runners/counters.py`."""

    before: Counters
    after: Counters

    @property
    def samples(self) -> tuple[tuple[float, Counters], ...]: ...

    @property
    def problem(self) -> str: ...


class World(Protocol):
    """Every method raises RunnerError for what is not there."""

    def __hash__(self) -> int: ...

    @property
    def simulated(self) -> Simulated | None:
        """How what is reached is simulated; None: it is real."""
        ...

    @property
    def at_once(self) -> int | None:
        """How many lanes may work at the same time; None: all."""
        ...

    def refuse(self, plan: Plan) -> None:
        """Raises RunnerError for a plan that can't be run as it says."""
        ...

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        """The hosts of a plan; `run_name` is whose jobs are started on them."""
        ...

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        """The power meters of these cells that say nothing, each with the reason."""
        ...

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        """What a host is, and the file systems of these paths."""
        ...

    def other_load(self, transport: Transport) -> str:
        """What else keeps a host busy; "" when nothing does."""
        ...

    def driver(self, name: str) -> Driver: ...

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tools.Found: ...

    def digest(self, transport: Transport, path: str) -> str:
        """The SHA-256 of a tool; "" where it is not known."""
        ...

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine: ...

    def probe_kind(self, name: str) -> ProbeKind: ...

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> Readings:
        """Reads the engine's counters beside a measurement of so many seconds. `keep` is told some, with their time."""
        ...

    def clock(self, transport: Transport) -> ClockReading | None:
        """How far a host's clock is ahead; None when it does not tell, or can't be off."""
        ...

    def pause(self, seconds: float, ending: Flag) -> bool:
        """Let so many seconds pass; True when the run is to end before."""
        ...


@dataclass(frozen=True)
class RealWorld:
    """`config` is an SSH client configuration to use in place of ~/.ssh/config."""

    config: Path | None = None
    at_once: int | None = None
    simulated: Simulated | None = None

    def refuse(self, plan: Plan) -> None:
        supported.refuse_unsupported(plan)

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        return HostPool(plan, self.config, run_name)

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        return supported.silent_meters(plan, cells, hosts)

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        return facts.observe(transport, paths)

    def other_load(self, transport: Transport) -> str:
        ours = transport.run_name.owner if isinstance(transport, JobTransport) else ""
        return other_load(transport, os.getpid() if transport.host.transport == "local" else None, ours)

    def driver(self, name: str) -> Driver:
        return plugins.driver(name)

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tools.Found:
        return tools.find(transport, driver, configured)

    def digest(self, transport: Transport, path: str) -> str:
        return tools.digest(transport, path)

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine:
        return plugins.engine_class(database.engine)(plan, database, hardware, hosts)

    def probe_kind(self, name: str) -> ProbeKind:
        return plugins.probe_kind(name)

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> Readings:
        return CounterReadings(engine.counters, seconds, keep)

    def clock(self, transport: Transport) -> ClockReading | None:
        return read_clock(transport)

    def pause(self, seconds: float, ending: Flag) -> bool:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if ending.is_set():
                return True
            threading.Event().wait(min(left, _SLICE_S))
        return ending.is_set()
