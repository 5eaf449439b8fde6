"""Which running jobs a monitor reads, and which code parses what they print."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.planning.plan import Probe
from benchbrief.runners.execution.attempt import Attempt
from benchbrief.runners.execution.driver_contexts import CellContext, Endpoint
from benchbrief.runners.execution.live_numbers import Reading
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.seams import RunningJob, TellsInterim, TellsNow


def watch_load(attempt: Attempt, host_id: str, running: RunningJob) -> None:
    """Read a load generator's progress until it is collected, if its driver can."""
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
            at=controller_clock.now(),
            ops_per_s=said.ops_per_s,
            latency_s=said.latency_s,
            latency_of=said.latency_of,
            done=said.done,
        )

    attempt.monitor.watch(running, read)


def watch_probes(attempt: Attempt, probes: Sequence[Probe], host_id: str, running: RunningJob) -> None:
    """Read a job that samples for these probes until it is collected, if they can be read while they sample."""
    kinds = [(probe, kind) for probe in probes if isinstance(kind := attempt.world.probe_kind(probe.name), TellsNow)]
    if not kinds:
        return

    def read(text: str) -> Reading | None:
        measures = {name: value for probe, kind in kinds for name, value in kind.now(probe, text).items()}
        return (
            Reading(cell=attempt.cell.id, host=host_id, at=controller_clock.now(), measures=measures)
            if measures
            else None
        )

    attempt.monitor.watch(running, read)
