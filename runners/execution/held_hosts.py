"""Waits for the run's hosts, claims and checks them before the run begins, and releases them at its end."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.message import joined
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import most_of
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import (
    HostBusy,
    HostError,
    NoHost,
    NotKept,
    OneMachine,
    Outdated,
    RunnerError,
)
from benchbrief.runners.execution.kept_claim import KeptClaim
from benchbrief.runners.execution.live_numbers import Monitor
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.execution.takeover import hosts_of
from benchbrief.runners.hosts.host_connections import CONTROLLER, fan_out
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_identity import run_name, settle
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.seams import Hosts
from benchbrief.runners.stop_run import end_all, nodes_ever, refuse_driven_elsewhere, refuse_driven_here
from benchbrief.runners.world.unsupported import Tools, find_tools, metered, refuse_places
from benchbrief.runners.world.world_seams import OpenHosts

_NAMED = 5
"""The most hosts that a message names. Further hosts are only counted."""

_TRY_EVERY_S = 3.0
"""How many seconds to wait before trying again to claim a host that another run holds."""


@dataclass
class HostWait:
    """The wait for hosts that other runs hold. It ends at `until`, by the monotonic clock.

    `tell` is called once for each reason. If `tell` is None, the run does not wait.
    """

    tell: Callable[[str], None] | None
    until: float
    stop: threading.Event
    monitor: Monitor
    said: set[str] = field(default_factory=set)
    """The reasons that were passed to `tell`. The set is empty if the run did not have to wait."""

    def try_again(self, busy: HostBusy) -> None:
        """Wait until the next attempt is due. Raises `busy` if the time for waiting is over, if the run was stopped, or
        if the run does not wait for hosts."""
        if self.tell is None or self.stop.is_set() or time.monotonic() > self.until:
            raise busy
        if str(busy) not in self.said:
            self.said.add(str(busy))
            self.tell(f"{busy}: waiting for it{f'; {busy.while_waiting}' if busy.while_waiting else ''}")
        with self.monitor.waiting(str(busy)):
            self.stop.wait(_TRY_EVERY_S)


class Claimed(NamedTuple):
    """The claimed hosts, and sentences about claims that were taken over. Hosts that could not be claimed are listed
    with the errors."""

    held: list[str]
    taken_over: list[str]
    away: dict[str, RunnerError]

    def remarks(self, plan: Plan, ahead: Sequence[Cell]) -> Iterator[j.Remark]:
        """Yield remarks about claims that were taken over and hosts that could not be claimed. A user may then stop the
        run and fix the hosts."""
        for text in self.taken_over:
            yield j.Remark(at=now(), severity="info", text=text)
        if self.away:
            text = _describe_refused(plan, list(self.away), ahead)
            yield j.Remark(at=now(), severity="warning", text=text, passing=True)


def claim_all(hosts: Hosts, ids: Iterable[str], again: Callable[[HostBusy], None]) -> Claimed:
    """Claim all of these hosts, or none.

    If another run holds a host, releases the hosts already claimed, except those that have jobs of ours. Then calls
    `again`, which either raises the error or returns when it is time for the next attempt. A host that can't be claimed
    for another reason is skipped, and must be claimed before it is used (`runners/execution/lane.py`).
    """
    wanted = list(ids)
    said: list[str] = []
    while True:
        results = fan_out(wanted, lambda host_id: hosts[host_id].claim())
        said += [text for text in results.values() if isinstance(text, str) and text]
        held = next((each for each in results.values() if isinstance(each, HostBusy)), None)
        claimed = [host_id for host_id, result in results.items() if isinstance(result, str)]
        if held is None:
            away = {host_id: result for host_id, result in results.items() if isinstance(result, RunnerError)}
            return Claimed(claimed, said, away)
        fan_out(claimed, lambda host_id: hosts[host_id].release(keep_jobs=True))
        again(held)


def release_all(hosts: Hosts, ids: Iterable[str], *, keep_jobs: bool = False) -> dict[str, int | RunnerError]:
    """Release all of these hosts, except those on which jobs are kept.

    Returns, by host id, how many jobs and processes were still running, or the error that kept the host from being
    cleaned.
    """
    return fan_out(ids, lambda host_id: hosts[host_id].release(keep_jobs=keep_jobs))


def refuse_aliases(plan: Plan, cells: Sequence[Cell], hosts: Hosts, held: Sequence[str]) -> None:
    """Raise OneMachine if two names lead to one machine and their cells may run in parallel. `held` are the claimed
    hosts."""
    lane_of = {host: number for number, lane in enumerate(lanes(cells)) for cell in lane for host in cell.locks}
    if len({lane_of[host] for host in held if host in lane_of}) < 2:
        return
    names = fan_out(held, lambda host_id: hosts[host_id].claimed_as())
    for host, name in names.items():
        if isinstance(name, str) and name != host and name in held and lane_of.get(host) != lane_of.get(name):
            first, second = sorted((host, name), key=list(plan.hosts).index)
            raise OneMachine(
                f"{first} ({_where(plan, first)}) and {second} ({_where(plan, second)}) are one machine under two "
                "names: their cells would be measured at the same time, and disturb each other",
                f"write {first} in both places",
            )


def _where(plan: Plan, host: str) -> str:
    users = [each.origin for each in plan.hardware.values() if host in each.hosts]
    users += [each.origin for each in plan.clients.values() if host in each.hosts]
    return str(users[0]) if users else "no line of the spec"


def needed_hosts(run: RunState) -> list[str]:
    return list(dict.fromkeys(host for cell in run.ahead for host in cell.locks))


def wait_for_other_controllers(run: RunState, hosts: OpenHosts, wait: HostWait) -> None:
    """Wait until no other controller of a resumed run shows signs of life.

    Raises HostBusy at the end of the wait, and RunnerError if another process on this machine drives the run.
    """
    if not run.resumed:
        return None
    owner = run_name(run.run_dir).owner
    refuse_driven_here(owner, run.run_dir)
    while True:
        try:
            return refuse_driven_elsewhere(hosts, needed_hosts(run), owner)
        except HostBusy as busy:
            wait.try_again(busy)


def hold_hosts(run: RunState, hosts: OpenHosts, wait: HostWait, is_outdated: Callable[[], bool]) -> Claimed:
    """Claim the hosts of the cells that are still to run.

    Raises HostBusy at the end of the wait, NoHost if no cell of a new run can be measured, and Outdated if other runs
    ended during the wait and a new run may reuse their results.
    """
    claimed = claim_all(hosts, needed_hosts(run), wait.try_again)
    is_hopeless = all(not claimed.away.keys().isdisjoint(cell.locks) for cell in run.ahead)
    if not claimed.held or (is_hopeless and not run.resumed):
        _refuse_all(claimed.away, claimed.held, hosts, resumed=run.resumed)
    if wait.said and not run.resumed and is_outdated():
        release_all(hosts, claimed.held)
        raise Outdated("other runs have ended meanwhile")
    settle(run.run_dir)
    return claimed


def check_hosts(run: RunState, hosts: Hosts, held: Sequence[str]) -> Tools:
    """Return the load generators found on the claimed hosts. Raises RunnerError if anything is missing that the run
    needs to begin."""
    refuse_aliases(run.plan, run.ahead, hosts, held)
    tools = find_tools(run.plan, run.ahead, hosts, held, run.world)
    refuse_places(run.plan, run.ahead, hosts, held, run.world)
    return tools


def leave_former_nodes(run: RunState, given: j.HostsGiven) -> Iterator[j.Remark]:
    """End the run's jobs and claims on nodes that the run no longer has. Yields remarks about failures and changed
    nodes.

    Raises HostBusy if another process drives the lane on one of these nodes, since a scheduler may run a job twice.
    """
    plan, record, name = run.plan, run.record, run_name(run.run_dir)
    former = {node: host for node, host in nodes_ever(plan, record).items() if node not in given.nodes.values()}
    with run.world.hosts(plan.model_copy(update={"hosts": former}), name) as hosts:
        results = fan_out(list(former), lambda node: end_all(name.owner, _no_other, hosts[node]))
    for error in results.values():
        if isinstance(error, HostBusy):
            raise error
        if isinstance(error, RunnerError):
            yield j.Remark(at=now(), severity="warning", text=say.former_node_unclean(said=error), passing=True)
    moved = [
        say.node_changed(host=host, before=before, after=given.nodes[host])
        for host, before in record.nodes.items()
        if given.nodes.get(host, before) != before
    ]
    if moved:
        measured = len(record.finished(plan))
        severity, text = "info", say.nodes_changed(said=joined(moved, say.both))
        if measured:
            severity, text = "warning", say.nodes_changed_after(n=measured, said=joined(moved, say.both))
        yield j.Remark.model_validate({"at": now(), "severity": severity, "text": text})


def _no_other(_: object) -> bool:
    return False


def _refuse_all(refused: Mapping[str, RunnerError], held: Sequence[str], hosts: OpenHosts, *, resumed: bool) -> None:
    """Raise NoHost if every cell of a new run needs hosts that refuse us, are away or are unfit, since nothing is lost
    by starting later. The hosts in `held` are released first.

    A resumed run may have jobs on its hosts, so it waits for them unless waiting does not help.
    """
    errors = list(refused.values())
    stays = all(isinstance(error, HostError) and (error.lasting or not resumed) for error in errors)
    if not errors or not stays:
        return
    release_all(hosts, held)
    named = "; ".join(map(str, errors[:_NAMED]))
    named += f"; and {len(errors) - _NAMED} more" if len(errors) > _NAMED else ""
    hints = list(dict.fromkeys(error.hint for error in errors if error.hint))
    all_of_them = f"none of the {len(errors)} hosts can be used: " if len(errors) > 1 else ""
    every_cell = "no cell can be measured, as each needs a host that can't be used: "
    raise NoHost(
        f"{every_cell if held else all_of_them}{named}",
        hints[0] if len(hints) == 1 else "`bench doctor` says more of each",
    )


def _describe_refused(plan: Plan, away: Sequence[str], cells: Sequence[Cell]) -> str:
    """Name the hosts that could not be claimed, and the number of cells that they affect. The user may stop the run and
    fix these hosts."""
    named = ", ".join(away[:_NAMED])
    if len(away) > _NAMED:
        named = say.names_and_more(names=named, n=len(away) - _NAMED)
    theirs = most_of(plan, (cell for cell in cells if not set(away).isdisjoint(cell.locks)))
    if theirs == most_of(plan, cells):
        return say.all_refused(hosts=named, n=theirs)
    return say.hosts_refused(hosts=named, failing=theirs, n=most_of(plan, cells))


def leave_hosts(run: RunState, hosts: OpenHosts, held: Sequence[str], kept: KeptClaim | None) -> None:
    """Remove everything of the run from its hosts, and report any failure to do so.

    If the run was not stopped, `kept` keeps the claim on this machine (the host CONTROLLER). Outputs that could not be
    fetched because the disk was full stay on the hosts until there is space.
    """
    # An interrupted run may have left jobs and claims although all its cells are done.
    claimed = [*held, *run.claimed, *(run.plan.hosts if run.resumed else ())]
    here = kept.keep(run.world, run.plan, run.run_dir, claimed) if kept and not run.stopping.is_set() else ""
    keep_jobs = any(isinstance(error, NotKept) for error in run.fatal)
    metering = [CONTROLLER.id] if any(at == CONTROLLER.id for _, at in metered(run.plan).values()) else []
    # A killed controller may have left its claim on hosts that none of the remaining cells needs.
    earlier = hosts_of(run) if run.resumed else []
    but = (here, CONTROLLER.id) if here else ()
    left = release_all(
        hosts, dict.fromkeys(host for host in (*claimed, *metering, *earlier) if host not in but), keep_jobs=keep_jobs
    )
    if here and not keep_jobs:
        left |= fan_out([here], lambda host_id: hosts[host_id].end_leftovers())
    for host_id, ended in left.items():
        with suppress(NotKept):
            if isinstance(ended, Exception):
                command = f"bench stop {shlex.quote(str(run.run_dir))}"
                run.remark("warning", say.not_cleaned_up(said=ended, command=command), passing=True)
            elif ended:
                run.remark("info", say.ended_with_run(n=ended, host=host_id), passing=True)
