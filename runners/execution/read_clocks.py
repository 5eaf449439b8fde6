"""The clocks of a cell's hosts, read before and after its measurement: `runners/hosts/host_clocks.py` says why."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal

from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.execution.attempt import Attempt
from benchbrief.runners.hosts.host_clocks import Offset, axis_step, clock_step, offset_of
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.hosts.tool_clock import ClockSet, was_set
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.messages.run_messages import say

_AT_ONCE = 16


@contextmanager
def read_clocks(attempt: Attempt) -> Iterator[Mapping[str, Offset]]:
    """Read the clocks of a cell's hosts before and after the block, and write them to the journal.

    Yields each host's offset, which is known after the block. A resumed attempt keeps its own readings from before.
    The controller's clock is then not compared, since the controller may have restarted, unless something ran
    there.
    """
    cell = attempt.cell
    sampled = {host for probe in cell.probes if probe.on == "node" for host in probe.hosts}
    touched = {host for event in cell.events for host in event.hosts}
    hosts = [CONTROLLER.id, *sorted({*cell.load_hosts, *sampled, *touched} - {CONTROLLER.id})]
    if attempt.left is not None and attempt.began("measure") is not None:
        before = dict(attempt.left.clocks)
        if CONTROLLER.id not in {*cell.load_hosts, *sampled} and all(p.on != "controller" for p in cell.probes):
            hosts.remove(CONTROLLER.id)
    else:
        before = _read_all(attempt, hosts, "before")
    offsets: dict[str, Offset] = {}
    try:
        yield offsets
    except BadOutput as error:
        # A clock that was set may be the cause: a tool whose clock was set back ends late.
        after = _read_all(attempt, hosts, "after")
        for host in {*cell.load_hosts} & {*hosts} if not isinstance(error, ClockSet) else ():
            if step := clock_step(before.get(host), after.get(host)):
                raise ClockSet(say.because(why=was_set(host, step), what=error), error.hint) from error
        raise
    after = _read_all(attempt, hosts, "after")
    ours = axis_step(before.get(CONTROLLER.id), after.get(CONTROLLER.id))
    offsets.update((host, offset_of(read, after.get(host), ours)) for host, read in before.items())
    for host in hosts:
        step = clock_step(before.get(host), after.get(host))
        if step:
            text = say.because(why=was_set(host, step), what=say.samples_by_boot())
            attempt.journal.write(j.Remark(at=now(), severity="warning", text=text, cell=cell.id))


def _read_all(attempt: Attempt, hosts: Iterable[str], when: Literal["before", "after"]) -> dict[str, j.ClockRead]:
    """Read the clocks of the hosts that answer. The cell's own jobs fail on a host that can't be reached."""
    hosts = tuple(hosts)
    found: dict[str, j.ClockRead] = {}

    def read(host: str) -> None:
        with contextlib.suppress(RunnerError):
            reading = attempt.world.clock(attempt.hosts[host])
            if reading is not None:
                found[host] = j.ClockRead(
                    at=now(),
                    cell=attempt.cell.id,
                    attempt=attempt.number,
                    host=host,
                    when=when,
                    offset_s=reading.offset_s,
                    uncertainty_s=reading.uncertainty_s,
                    booted=reading.booted,
                )

    others = [host for host in hosts if host != CONTROLLER.id]
    read(CONTROLLER.id)
    if len(others) == 1:  # threads would cost more than they save
        read(others[0])
    elif others:
        with ThreadPoolExecutor(min(_AT_ONCE, len(others)), thread_name_prefix="clock") as pool:
            list(pool.map(read, others))
    for host in hosts:
        if host in found:
            attempt.journal.write(found[host])
    return found
