"""The hosts of a run: their transports, opened on first use, kept open, and closed together."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.model.plan import Host, Plan
from benchbrief.runners.errors import HostError, NoHost
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.session.session import Session
from benchbrief.runners.transports.transport_factory import RealTransport, open_transport

_NAMED = 5
CONTROLLER = Host(id="local", transport="local", name="127.0.0.1")
"""This machine. It is there whether or not the plan measures on it."""


def is_on_controller(host: Host) -> bool:
    """Return whether a host has the processes and the clock of this machine, by the spec of its transport."""
    spec = TRANSPORT_SPECS.usable(host.transport)
    return spec is not None and spec.on_controller


class HostPool:
    """The transports by host id. Safe to use from several threads.

    `config` is an SSH client configuration that replaces ~/.ssh/config. `run_name` is the run whose jobs are
    started.
    """

    def __init__(
        self,
        plan: Plan,
        config: Path | None = None,
        run_name: RunName | None = None,
        session: Session | None = None,
    ) -> None:
        """Raises NoHost for a plan with hosts that a scheduler has not given yet."""
        if waiting := [host for host in plan.hosts.values() if host.is_open and host.asked is not None]:
            on = waiting[0].asked.scheduler if waiting[0].asked else ""
            some = ", ".join(host.id for host in waiting[:_NAMED]) + (", ..." if waiting[_NAMED:] else "")
            raise NoHost(
                f"the spec asks {on} for its hosts ({some}), and no job has them yet",
                f"run it with `bench run SPEC --on {on}`; `bench plan SPEC --on {on}` shows what is there",
            )
        self._hosts = {CONTROLLER.id: CONTROLLER, **plan.hosts}
        self._config = config
        self._run_name = run_name
        self._session = session or Session()
        self._open: dict[str, RealTransport] = {}
        self._lock = threading.Lock()

    def __getitem__(self, host_id: str) -> RealTransport:
        """Raises HostError for a host that the plan does not have."""
        with self._lock:
            if host_id not in self._open:
                if host_id not in self._hosts:
                    raise HostError(f"no host {host_id!r} in the plan")
                self._open[host_id] = open_transport(self._hosts[host_id], self._config, self._run_name, self._session)
            return self._open[host_id]

    def reachable(self, host_id: str) -> bool:
        """Return whether a command runs on the host now."""
        try:
            return self[host_id].run(Command(("true",)), timeout_s=15).exit_code == 0
        except HostError:
            return False

    def close(self) -> None:
        with self._lock:
            transports, self._open = self._open, {}
        # Each waits for its connection's thread to end.
        fan_out(transports, lambda host_id: transports[host_id].close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
