"""What lies on a host that no living run looks after: jobs and claims of controllers that are gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchbrief.runners import job_scripts as scripts
from benchbrief.runners.jobs import JobHost, persistently, printable, sh
from benchbrief.runners.journal_io import is_being_written
from benchbrief.runners.locks import VOID_AFTER_S, about, at, named

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
    """A job or a claim; `folder` is its run's on the controller, when that is this machine and has it, else ""."""

    host: str
    owner: str
    what: str
    folder: str


def strays(host: JobHost, controller: str) -> list[Stray]:
    """Those on a host, looked for from `controller`. Raises HostError.

    The run of this controller is alive when a process drives it; another's for as long as it gives signs of life.
    """
    found = []
    for line in persistently(lambda: sh(host, scripts.LIST)).stdout.splitlines()[:_MOST]:
        kind, owner, silent, since, state, *rest = [*line.split("\t", 5), "", "", "", "", ""]
        told = about(rest[0])
        folder = str(told.get("folder") or "")
        ours = bool(folder) and told.get("controller") == controller and Path(folder).is_dir()
        if is_being_written(Path(folder)) if ours else silent.isdigit() and int(silent) <= VOID_AFTER_S:
            continue
        job = "its claim" if kind == "claim" else f"job {printable(str(told.get('job') or '?'))[:200]}"
        found.append(
            Stray(
                host.host.id,
                owner,
                f"{job} of {named(told)} {_STATES.get(state, 'is there')}, since {at(since)}",
                folder if ours else "",
            )
        )
    return found
