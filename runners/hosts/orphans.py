"""Finds and ends orphans on a host: jobs, processes and claims whose controllers are gone."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import CONTROLLER, HostPool, fan_out, is_on_controller
from benchbrief.runners.jobs import job_scripts as scripts
from benchbrief.runners.jobs.claim_holders import VOID_AFTER_S, describe_holder, format_since, one_line, parse_claim
from benchbrief.runners.jobs.connection_retry import call_persistently
from benchbrief.runners.jobs.detached_jobs import end_leftovers
from benchbrief.runners.jobs.script_host import JobHost, sh
from benchbrief.runners.session import is_gone, is_here, is_ours, makes_brief

Kind = Literal["claim", "job", "process", "foreign"]
_KINDS: dict[str, Kind] = {"claim": "claim", "job": "job", "process": "process", "foreign": "foreign"}
_MOST = 1000
_STATES = {
    "running": "still runs",
    "ended": "had ended, with outputs that nobody fetched",
    "killed": "was killed, or ended itself without its controller",
    "unstarted": "never began to run",
}


@dataclass(frozen=True)
class Listed:
    """Something that was left on a host (a claim, a job, or a process of a job), and its own description of itself.

    `silent_s` is None if it can't be read. A `foreign` claim belongs to another user, whose name is in `state`.
    """

    kind: Kind
    owner: str
    silent_s: int | None
    since: str
    state: str
    claim: dict[str, Any]

    @property
    def is_claim(self) -> bool:
        return self.kind == "claim"

    @property
    def is_alive(self) -> bool:
        """Return whether a controller may still need the leftover. If that can't be seen from here, signs of life
        decide."""
        if self.kind == "foreign":
            return True
        if is_gone(self.claim, self.owner):
            return False
        return is_here(self.claim, self.owner) or (self.silent_s is not None and self.silent_s <= VOID_AFTER_S)

    @property
    def what(self) -> str:
        if self.is_claim:
            return f"the claim of {describe_holder(self.claim)}, since {format_since(self.since)}"
        if self.kind == "process":
            return self._process
        return f"{self._job}, which {_STATES.get(self.state, 'is there')}"

    @property
    def ended(self) -> str:
        """Describe what `bench stop` did with the leftover, as a phrase in the past tense."""
        if self.is_claim:
            return f"released the claim of {describe_holder(self.claim)}, made {format_since(self.since)}"
        if self.kind == "process":
            return f"ended {self._process}"
        if self.state == "running":
            return f"ended {self._job}"
        return f"removed {self._job}, which {_STATES.get(self.state, 'was there')}"

    @property
    def _process(self) -> str:
        name, number = (one_line(self.claim.get(key) or "?") for key in ("name", "process"))
        return f"process {number} ({name}), left by a job of {describe_holder(self.claim)}"

    @property
    def _job(self) -> str:
        name = one_line(self.claim.get("job") or "?")
        return f"job {name} of {describe_holder(self.claim)}, started {format_since(self.since)}"


@dataclass(frozen=True)
class Stray:
    """A job or a claim without a controller. `ended` describes what `end_strays` did with it.

    `folder` is its run's folder on this controller, or "" if there is none. `ours` means that a run of this controller
    left it, even if the run's folder is gone.
    """

    host: str
    owner: str
    what: str
    ended: str
    folder: str
    ours: bool


def end_strays(plan: Plan) -> tuple[list[Stray], dict[str, Exception]]:
    """End and remove the strays on all hosts of a plan, and on this machine.

    Returns the strays, and the hosts on which they could not be ended.
    """
    with HostPool(plan) as hosts:

        def end(host_id: str) -> list[Stray]:
            host = hosts[host_id]
            found = find_strays(host)
            for owner in dict.fromkeys(each.owner for each in found):
                end_leftovers(host, owner=owner, release=True)
            return found

        results = fan_out(hosts_of_plan(plan), end)
    ended = [stray for result in results.values() if not isinstance(result, Exception) for stray in result]
    return ended, {host_id: result for host_id, result in results.items() if isinstance(result, Exception)}


class Holder(NamedTuple):
    """The run that claims this machine, described as text. `is_measuring` is False only while the run makes its
    brief."""

    run: str
    is_measuring: bool


def run_on_this_machine(plan: Plan) -> Holder | None:
    """Return the run that claims this machine now, under any name. Returns None if there is none or it can't be
    seen."""
    with suppress(RunnerError), HostPool(plan.model_copy(update={"hosts": {}})) as hosts:
        for each in list_leftovers(hosts[CONTROLLER.id], foreign=True):
            if each.kind == "foreign":
                return Holder(describe_holder(each.claim), is_measuring=True)
            if each.is_claim and each.is_alive:
                return Holder(describe_holder(each.claim), not makes_brief(each.claim, each.owner))
    return None


def hosts_of_plan(plan: Plan) -> list[str]:
    """Return the hosts of a plan, and the controller, since meters and samplers run there."""
    here = any(is_on_controller(host) for host in plan.hosts.values())
    return [*plan.hosts, *([] if here else [CONTROLLER.id])]


def list_leftovers(host: JobHost, *, foreign: bool = False) -> list[Listed]:
    """Return all our jobs and claims on a host, and the processes that ended jobs left there. Raises HostError.

    With `foreign`, also returns another user's claim if it holds the host.
    """
    found: list[Listed] = []
    for line in call_persistently(host, lambda: sh(host, scripts.LIST)).stdout.splitlines()[:_MOST]:
        kind, owner, silent, since, state, *rest = [*line.split("\t", 5), "", "", "", "", ""]
        silent_s = int(silent) if re.fullmatch(r"\d{1,12}", silent) else None
        found.append(Listed(_KINDS.get(kind, "job"), owner, silent_s, since, state, parse_claim(rest[0])))
    # A process does not name its run, but its owner's claim does.
    said = {each.owner: each.claim for each in found if each.kind in ("claim", "job")}
    return [
        replace(each, claim=said.get(each.owner, {}) | each.claim) if each.kind == "process" else each
        for each in found
        if foreign or each.kind != "foreign"
    ]


def find_strays(host: JobHost) -> list[Stray]:
    """Return the jobs and claims on a host that have no controller. Raises HostError.

    A run counts as a whole. If a run's folder was moved and the run is driven at the new place, jobs that it left
    before are not strays.
    """
    return strays_among(host, list_leftovers(host))


def strays_among(host: JobHost, found: list[Listed]) -> list[Stray]:
    """Return those of a host's jobs and claims that have no controller."""
    alive = {each.owner for each in found if each.is_alive}
    return [
        Stray(
            host.host.id,
            each.owner,
            each.what,
            each.ended,
            str(each.claim["folder"]) if is_here(each.claim, each.owner) else "",
            is_ours(each.claim, each.owner),
        )
        for each in found
        if each.owner not in alive and each.kind != "foreign"
    ]
