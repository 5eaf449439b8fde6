"""The hosts that a lane has lost: which they are, why, and for how long a cell that is to be tried again waits for one.

A host is waited for as long as a job may go on without its controller (`unattended`), once: when it has not come back
by then, no other cell waits for it, and each is tried as soon as it is its turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchbrief.compiler.plan import Cell
from benchbrief.runners import journal as j
from benchbrief.runners.errors import HostError, HostFull, RunnerError
from benchbrief.runners.run_state import RunState
from benchbrief.runners.world import OpenHosts

_LOOK_EVERY_S = 3.0
_PATIENCE_S = 600.0
"""Of an experiment that does not say for how long its jobs go on alone; as in `seams.Job`."""


class LostHosts:
    """`have_back` makes a host that answers again as it was at the start; it raises HostError, or HostFull."""

    def __init__(self, run: RunState, hosts: OpenHosts, have_back: Callable[[str], None]) -> None:
        self._run = run
        self._hosts = hosts
        self._have_back = have_back
        self._lost: dict[str, RunnerError] = {}
        self._until: dict[str, float] = {}
        """When each is no longer waited for, by the monotonic clock."""

    def lose(self, host_id: str, error: RunnerError) -> None:
        """The host can't be reached, or had no room even to be looked at."""
        self._lost[host_id] = error

    def note(self, cell: Cell, error: HostError) -> None:
        """The cell has failed for a host: those of its hosts that can't be reached now are lost."""
        for host_id in cell.locks:
            if not self._hosts.reachable(host_id):
                self._lost[host_id] = error

    def of(self, cell: Cell) -> list[str]:
        """Those that the cell needs."""
        return [host_id for host_id in cell.locks if host_id in self._lost]

    def for_good(self, cell: Cell) -> bool:
        """Whether one of them will not be back by itself: it refuses us, or has no room."""
        errors = [self._lost[host_id] for host_id in self.of(cell)]
        return any(not isinstance(error, HostError) or error.lasting for error in errors)

    def refuse(self, cell: Cell) -> None:
        """Have the hosts of a cell back. Raises HostError or HostFull for one that is away still, or can't be had."""
        for host_id in self.of(cell):
            if not self._hosts.reachable(host_id):
                raise self._lost[host_id]
            try:
                self._have_back(host_id)
            except (HostError, HostFull) as error:
                self._lost[host_id] = error
                raise
            del self._lost[host_id]
            self._until.pop(host_id, None)

    def wait(self, cells: Sequence[Cell]) -> Cell | None:
        """The first cell whose hosts answer again, or are not to be waited for any longer. None: the run is to end."""
        while not self._run.ending.is_set():
            for cell in cells:
                if self._is_over(cell) or all(map(self._hosts.reachable, self.of(cell))):
                    return cell
            if self._run.world.pause(_LOOK_EVERY_S, self._run.ending):
                break
        return None

    def _is_over(self, cell: Cell) -> bool:
        """Whether a host of the cell has been waited for long enough; begins to wait for those that are new."""
        patience_s = self._run.plan.experiments[cell.experiment].unattended_s or _PATIENCE_S
        for host_id in self.of(cell):
            if host_id not in self._until:
                self._until[host_id] = time.monotonic() + patience_s
                text = f"{host_id} is away, and waited for up to {patience_s:g} s before its cells are tried again"
                self._run.journal.write(j.Remark(at=time.time(), severity="info", text=text))
        return any(time.monotonic() > self._until[host_id] for host_id in self.of(cell))
