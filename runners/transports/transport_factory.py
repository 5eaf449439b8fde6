"""Transports: how commands, jobs and files reach one host."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.model.plan import Host
from benchbrief.runners.jobs.script_host import JobHost
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.plugins import create
from benchbrief.runners.seams import Transport
from benchbrief.runners.session.session import Session

if TYPE_CHECKING:
    from benchbrief.runners.transports.transport_base import JobTransport


class RealTransport(Transport, JobHost, Protocol):
    """A transport that reaches a host, which may hold jobs and claims."""


def open_transport(
    host: Host, ssh_config: Path | None = None, run_name: RunName | None = None, session: Session | None = None
) -> RealTransport:
    """Return the transport of a host, for the jobs of this run. One over SSH connects on first use.

    Raises RunnerError when its transport is not installed here, or is broken.
    """
    from benchbrief.runners.transports.transport_base import JobTransport  # imports what runs jobs

    made = create(TRANSPORT_SPECS, host.transport, JobTransport, host, ssh_config, run_name, session)
    return cast("JobTransport", made)
