"""Refusing to drive a run that another controller drives: its folder may have been copied, or be shared.

The journal's lock keeps off other processes of this machine in the same folder. A controller of another folder with
the same identity, or on another machine, is found by its process, and by its signs of life on the hosts.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.hosts.orphans import Listed, list_leftovers
from benchbrief.runners.jobs.claim_holders import describe_holder
from benchbrief.runners.seams import Hosts
from benchbrief.runners.session.live_controllers import driver_of, is_this_machine
from benchbrief.runners.transports.transport_base import JobTransport

QUIET_S = 150
"""In seconds. A live controller sends each host more heartbeats than this, even when one of its hosts is lost."""


def refuse_driven_here(owner: str, run_dir: Path) -> None:
    """Raises RunnerError when another process of this machine drives a run with this identity, or makes its brief."""
    found = driver_of(owner)
    if found is not None:
        pid, folder = found
        same = folder.resolve() == run_dir.resolve()
        raise RunnerError(
            f"process {pid} still makes the brief of this run"
            if same
            else f"process {pid} drives this run in {folder}: this folder is a copy, or that one was",
            f"wait for it, or end it with: bench stop {shlex.quote(str(folder))}",
        )


def refuse_driven_elsewhere(hosts: Hosts, ids: Iterable[str], owner: str) -> None:
    """Raises HostBusy when a controller on another machine has lately shown a sign of life for this run."""

    def look(host_id: str) -> None:
        host = hosts[host_id]
        if isinstance(host, JobTransport):
            refuse_alive(host_id, list_leftovers(host), owner)

    for result in fan_out(ids, look).values():
        if isinstance(result, HostBusy):
            raise result


def refuse_alive(host_id: str, found: Iterable[Listed], owner: str) -> None:
    """Raises HostBusy for one host, by its list of jobs and claims."""
    for each in found:
        fresh = each.silent_s is not None and each.silent_s <= QUIET_S
        if each.owner == owner and fresh and not is_this_machine(each.claim):
            left_s = QUIET_S - (each.silent_s or 0)
            raise HostBusy(
                f"{host_id} is held by {describe_holder(each.claim)}, which has this run's identity and gave a sign of "
                f"life {each.silent_s} s ago: this folder is a copy of a run that is driven there",
                f"end it there with `bench stop`; if that controller is gone, try again in {left_s} s",
            )
