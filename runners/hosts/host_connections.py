"""Connects to the hosts of a run. Connections are opened on first use, kept open, and closed together. Many hosts are
called in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, cast

from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.model.plan import Host, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError, NoHost, RunnerError
from benchbrief.runners.jobs.script_host import JobHost
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.plugins import create
from benchbrief.runners.seams import Transport
from benchbrief.runners.session import Session

if TYPE_CHECKING:
    from benchbrief.runners.transports.transport_base import JobTransport

AT_ONCE = 32
"""How many hosts are called in parallel. Opening a connection costs both sides, and sshd refuses some if many are
opened at once (MaxStartups). A host that does not answer occupies its place until its time-out."""

_T = TypeVar("_T")
_Id = TypeVar("_Id", bound=str)


def fan_out(hosts: Iterable[str], call: Callable[[str], _T], at_once: int = AT_ONCE) -> dict[str, _T | RunnerError]:
    """Call `call` for each host, and return the results by host id, in the order of the ids. If `call` raised a
    RunnerError, that error is the host's result.

    Raises any other error once all calls are done.
    """
    return dict(look_at_each(hosts, call, at_once))


def look_at_each(
    hosts: Iterable[_Id], call: Callable[[_Id], _T], at_once: int = AT_ONCE
) -> Iterator[tuple[_Id, _T | RunnerError]]:
    """Yield the same pairs of host id and result as `fan_out`, in the same order, each as soon as it is known."""
    ids = list(dict.fromkeys(hosts))

    def one(host_id: _Id) -> _T | RunnerError:
        try:
            return call(host_id)
        except RunnerError as error:
            return error

    if len(ids) <= 1:
        yield from ((host_id, one(host_id)) for host_id in ids)
        return
    with ThreadPoolExecutor(min(at_once, len(ids)), thread_name_prefix="host") as pool:
        yield from zip(ids, pool.map(one, ids), strict=True)


class RealTransport(Transport, JobHost, Protocol):
    """A transport that reaches a real host, which may hold jobs and claims."""


def open_transport(
    host: Host, ssh_config: Path | None = None, run_name: RunName | None = None, session: Session | None = None
) -> RealTransport:
    """Return the transport to a host, for the jobs of this run. An SSH transport connects on first use.

    Raises RunnerError if the host's kind of transport is not installed here, or is broken.
    """
    from benchbrief.runners.transports.transport_base import JobTransport  # imports what runs jobs

    made = create(TRANSPORT_SPECS, host.transport, JobTransport, host, ssh_config, run_name, session)
    return cast("JobTransport", made)


_NAMED = 5
CONTROLLER = Host(id="local", transport="local", name="127.0.0.1")
"""This machine. It is always available, even if the plan does not measure on it."""


def is_on_controller(host: Host) -> bool:
    """Return whether a host shares this machine's processes and clock, according to the spec of its transport."""
    spec = TRANSPORT_SPECS.usable(host.transport)
    return spec is not None and spec.on_controller


class HostPool:
    """The transports by host id. Safe to use from several threads.

    `config` is an SSH client configuration that replaces ~/.ssh/config. `run_name` names the run that starts jobs.
    """

    def __init__(
        self,
        plan: Plan,
        config: Path | None = None,
        run_name: RunName | None = None,
        session: Session | None = None,
    ) -> None:
        """Raises NoHost if a scheduler has not yet given some of the plan's hosts."""
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
        """Raises HostError if the plan does not have the host."""
        with self._lock:
            if host_id not in self._open:
                if host_id not in self._hosts:
                    raise HostError(say.no_such_host(host=repr(host_id)))
                self._open[host_id] = open_transport(self._hosts[host_id], self._config, self._run_name, self._session)
            return self._open[host_id]

    def reachable(self, host_id: str) -> bool:
        """Return whether the host can run a command now."""
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
