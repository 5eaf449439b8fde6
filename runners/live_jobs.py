"""Which running jobs a monitor looks at, and who makes sense of what they print."""

from __future__ import annotations

import time

from benchbrief.compiler.plan import Probe
from benchbrief.runners.attempt import Attempt
from benchbrief.runners.live import Reading
from benchbrief.runners.seams import CellContext, Endpoint, RunningJob, TellsInterim, TellsNow


def watch_load(attempt: Attempt, host_id: str, running: RunningJob) -> None:
    """Look at a load generator until it is collected, if its driver can tell how it goes."""
    tool = attempt.world.driver(attempt.cell.tool.driver)
    if not isinstance(tool, TellsInterim):
        return
    context = CellContext(attempt.plan, attempt.cell, "", Endpoint(), host_id)

    def read(text: str) -> Reading | None:
        said = tool.interim(context, text)
        if said is None:
            return None
        return Reading(
            cell=attempt.cell.id,
            host=host_id,
            at=time.time(),
            ops_per_s=said.ops_per_s,
            latency_s=said.latency_s,
            latency_of=said.latency_of,
        )

    attempt.monitor.watch(running, read)


def watch_probe(attempt: Attempt, probe: Probe, host_id: str, running: RunningJob) -> None:
    """Look at a probe until it is collected, if it can be read while it samples."""
    kind = attempt.world.probe_kind(probe.name)
    if not isinstance(kind, TellsNow):
        return

    def read(text: str) -> Reading | None:
        measures = kind.now(probe, text)
        return (
            Reading(cell=attempt.cell.id, host=host_id, at=time.time(), measures=dict(measures)) if measures else None
        )

    attempt.monitor.watch(running, read)
