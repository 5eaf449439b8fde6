"""Transports: how commands, jobs and files reach one host."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from benchbrief.compiler.plan import Host
from benchbrief.runners.job_host import JobHost
from benchbrief.runners.seams import Transport
from benchbrief.runners.tasks import RunName


class RealTransport(Transport, JobHost, Protocol):
    """One that reaches a host, where jobs and claims lie."""


def open_transport(host: Host, ssh_config: Path | None = None, run_name: RunName | None = None) -> RealTransport:
    """The transport of a host, for the jobs of this run. An SSH one connects on first use."""
    if host.transport == "local":
        from benchbrief.runners.transports.local import LocalTransport

        return LocalTransport(host, run_name)
    from benchbrief.runners.transports.ssh import SshTransport

    return SshTransport(host, ssh_config, run_name)
