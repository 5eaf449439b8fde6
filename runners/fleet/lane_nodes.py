"""The nodes that a lane runs on, where its hosts were asked for from a scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchbrief.compiler.lanes.plan_lanes import open_hosts, with_nodes
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.fleet.scheduler import Given, SchedulerSilent, scheduler_named
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.run_folder import simulation_of
from benchbrief.runners.journal.run_record import RunRecord, read_run

_WAIT_S = 300.0
_TRY_EVERY_S = 5.0


def on_its_nodes(plan: Plan, lane_dir: Path, say: Callable[[str], None]) -> tuple[Plan, j.HostsGiven | None]:
    """Return the plan of a lane with the nodes that its job was given, and the record of these.

    None where it asks for none, is simulated, or has no cell left to run. Raises RunnerError outside of a job.
    """
    wanted = open_hosts(plan)
    if not wanted or simulation_of(lane_dir):
        return plan, None
    record = read_run(lane_dir)
    if record.end is not None and len(record.finished(plan)) == len(plan.cells):
        return with_nodes(plan, record.nodes), None
    given = _given(plan, wanted, record, say)
    return with_nodes(plan, given.nodes), j.HostsGiven(at=now(), job=given.job, nodes=given.nodes)


def _given(plan: Plan, wanted: list[str], record: RunRecord, say: Callable[[str], None]) -> Given:
    asked = {host: each for host in wanted if (each := plan.hosts[host].asked) is not None}
    scheduler = scheduler_named(next(iter(asked.values())).scheduler)
    used = dict.fromkeys(host for cell in plan.cells for host in cell.locks)
    named = [plan.hosts[host].name for host in used if plan.hosts[host].asked is None]
    began = time.monotonic()
    while True:
        try:
            return scheduler.given(asked, record.nodes, named)
        except SchedulerSilent as error:
            if time.monotonic() - began > _WAIT_S:
                raise
            say(f"{error.message}; it is asked again")
            time.sleep(_TRY_EVERY_S)
