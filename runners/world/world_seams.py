"""Everything that a run reaches: its hosts, the software found and run on them, and their time.

The executor reaches all of this through a world, so that a plan runs in the same way on real hosts
(`runners/world/world_choice.py`) and on simulated ones (`runners/world/simulated_world.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from benchbrief.model.events import Simulated
from benchbrief.model.plan import Cell, Database, Hardware, Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_clocks import ClockReading
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.seams import Driver, Engine, Hosts, ProbeKind, Stopping, Transport
from benchbrief.runners.world.server_counters import Counters

Meter = tuple[str, str]
"""A host's meter, given by the key of its hardware and the host's id."""


class OpenHosts(Hosts, AbstractContextManager["OpenHosts"], Protocol):
    """The transports of a run, which are closed together at the run's end."""

    def reachable(self, host_id: str) -> bool:
        """Return whether the host can run a command now."""
        ...


class ReadsCounters(AbstractContextManager["ReadsCounters"], Protocol):
    """A server's counters, read during a measurement: see `runners/world/server_counters.py`."""

    before: Counters
    after: Counters

    @property
    def samples(self) -> tuple[tuple[float, Counters], ...]: ...

    @property
    def problem(self) -> str: ...


class World(Protocol):
    """Everything that a run reaches. Every method raises RunnerError if something is missing."""

    def __hash__(self) -> int: ...

    @property
    def simulated(self) -> Simulated | None:
        """Return how this world is simulated, or None if it is real."""
        ...

    @property
    def at_once(self) -> int | None:
        """Return how many lanes may work at the same time, or None for all."""
        ...

    def refuse(self, plan: Plan) -> None:
        """Raise RunnerError if a plan can't run as written."""
        ...

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        """Return the hosts of a plan, with their transports. `run_name` is the run that owns the jobs on them."""
        ...

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        """Return the power meters of these cells that do not answer, each with the reason."""
        ...

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        """Return facts about a host, and about the file systems of these paths."""
        ...

    def other_load(self, transport: Transport) -> str:
        """Return which other process keeps a host busy, or "" if none does."""
        ...

    def driver(self, name: str) -> Driver: ...

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tool_discovery.FoundTool: ...

    def digest(self, transport: Transport, path: str) -> str:
        """Return the SHA-256 of a tool, or "" if it is unknown."""
        ...

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine: ...

    def probe_kind(self, name: str) -> ProbeKind: ...

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> ReadsCounters:
        """Return an object that reads the engine's counters during a measurement of `seconds`. It passes some readings,
        with their times, to `keep`."""
        ...

    def clock(self, transport: Transport) -> ClockReading | None:
        """Return how far a host's clock is ahead. Returns None if that is unknown or always 0."""
        ...

    def pause(self, seconds: float, ending: Stopping) -> bool:
        """Wait for this many seconds. Returns True if the run must end earlier."""
        ...
