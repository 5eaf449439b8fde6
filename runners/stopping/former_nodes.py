"""Nodes that an earlier job of the lane had, and its next job has not: nothing of the run may be left on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchbrief.compiler.messages.text import joined
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_identity import run_name
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.stopping.stop_run import end_all, nodes_ever
from benchbrief.runners.world_seams import World


def leave_former_nodes(
    plan: Plan, record: RunRecord, given: j.HostsGiven, run_dir: Path, world: World
) -> Iterator[j.Remark]:
    """End all of the run on nodes that it no longer has. Yields what is to be said of it, and of cells measured there.

    Raises HostBusy when another process drives the lane there: a scheduler may run a job twice.
    """
    former = {node: host for node, host in nodes_ever(plan, record).items() if node not in given.nodes.values()}
    name = run_name(run_dir)
    with world.hosts(plan.model_copy(update={"hosts": former}), name) as hosts:
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
