"""What lies on a host that no living run looks after: jobs and claims of controllers that are gone."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler.plan import Plan
from benchbrief.runners import job_scripts as scripts
from benchbrief.runners.commands import printable
from benchbrief.runners.fan_out import fan_out
from benchbrief.runners.holders import about, at, named
from benchbrief.runners.hosts import CONTROLLER, HostPool
from benchbrief.runners.job_host import JobHost, sh
from benchbrief.runners.jobs import end_leftovers
from benchbrief.runners.journal_io import is_being_written
from benchbrief.runners.locks import VOID_AFTER_S
from benchbrief.runners.patience import persistently

_MOST = 1000
_STATES = {
    "running": "still runs",
    "ended": "has ended, and was not fetched",
    "killed": "was killed, or ended itself without its controller",
    "unstarted": "was never started",
    "held": "holds the host",
}


@dataclass(frozen=True)
class Stray:
    """A job or a claim; `folder` is its run's on the controller, when that is this machine and has it, else "".

    `ours`: of a run of this controller, be its folder gone.
    """

    host: str
    owner: str
    what: str
    folder: str
    ours: bool


def end_strays(plan: Plan, config: Path | None = None) -> tuple[list[Stray], dict[str, Exception]]:
    """End and remove the strays on all hosts of a plan, and on this machine.

    What they were, and the hosts where it could not be done.
    """
    controller = socket.gethostname()
    with HostPool(plan, config) as hosts:

        def end(host_id: str) -> list[Stray]:
            host = hosts[host_id]
            found = strays(host, controller)
            for owner in dict.fromkeys(each.owner for each in found):
                end_leftovers(host, owner=owner, release=True)
            return found

        results = fan_out(places(plan), end)
    ended = [stray for result in results.values() if not isinstance(result, Exception) for stray in result]
    return ended, {host_id: result for host_id, result in results.items() if isinstance(result, Exception)}


def places(plan: Plan) -> list[str]:
    """The hosts of a plan, and the controller, where meters and samplers run."""
    here = any(host.transport == "local" for host in plan.hosts.values())
    return [*plan.hosts, *([] if here else [CONTROLLER.id])]


def strays(host: JobHost, controller: str) -> list[Stray]:
    """Those on a host, looked for from `controller`. Raises HostError.

    The run of this controller is alive when a process drives it; another's for as long as it gives signs of life.
    """
    found = []
    for line in persistently(host, lambda: sh(host, scripts.LIST)).stdout.splitlines()[:_MOST]:
        kind, owner, silent, since, state, *rest = [*line.split("\t", 5), "", "", "", "", ""]
        told = about(rest[0])
        folder = str(told.get("folder") or "")
        ours = told.get("controller") == controller
        here = bool(folder) and ours and Path(folder).is_dir()
        lives = re.fullmatch(r"\d{1,12}", silent) is not None and int(silent) <= VOID_AFTER_S
        if is_being_written(Path(folder)) if here else lives:
            continue
        job = "its claim" if kind == "claim" else f"job {printable(str(told.get('job') or '?'))[:200]}"
        found.append(
            Stray(
                host.host.id,
                owner,
                f"{job} of {named(told)} {_STATES.get(state, 'is there')}, since {at(since)}",
                folder if here else "",
                ours,
            )
        )
    return found
