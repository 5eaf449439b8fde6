"""The hosts that a lane has lost, why, and how long a cell that is retried waits for one.

A host is waited for once, as long as a job may run without its controller (`unattended`). If it is not back by
then, no other cell waits for it, and each is tried when its turn comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchbrief.compiler.messages.text import figure
from benchbrief.compiler.planning.plan import Cell
from benchbrief.runners.errors import HostError, HostFull, RunnerError
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.world_seams import OpenHosts

_LOOK_EVERY_S = 3.0
_PATIENCE_S = 600.0
"""In seconds, for an experiment that does not say how long its jobs may run alone. Same as in `tasks.Job`."""


class LostHosts:
    """The hosts that a lane has lost. `have_back` brings a host that answers again to its state at the start.

    `have_back` raises HostError or HostFull.
    """

    def __init__(self, run: RunState, hosts: OpenHosts, have_back: Callable[[str], None]) -> None:
        self._run = run
        self._hosts = hosts
        self._have_back = have_back
        self._lost: dict[str, RunnerError] = {}
        self._until: dict[str, float] = {}
        """When the wait for each host ends, by the monotonic clock."""

    def lose(self, host_id: str, error: RunnerError) -> None:
        """Mark a host as lost: it can't be reached, or has no room even to be observed."""
        self._lost[host_id] = error

    def note(self, cell: Cell, error: HostError) -> None:
        """Mark those hosts of the cell as lost that can't be reached now, after the cell failed for a host."""
        for host_id in cell.locks:
            if not self._hosts.reachable(host_id):
                self._lost[host_id] = error

    def of(self, cell: Cell) -> list[str]:
        """Return the lost hosts that the cell needs."""
        return [host_id for host_id in cell.locks if host_id in self._lost]

    def for_good(self, cell: Cell) -> bool:
        """Return whether one of the cell's hosts will not come back by itself: it refuses us, or has no room."""
        errors = [self._lost[host_id] for host_id in self.of(cell)]
        return any(not isinstance(error, HostError) or error.lasting for error in errors)

    def refuse(self, cell: Cell) -> None:
        """Bring the cell's hosts back. Raises HostError or HostFull for one that is still away, or can't be used."""
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
        """Wait for a cell whose hosts answer again or whose wait is over, and return the first. None: the run must
        end."""
        while not self._run.ending.is_set():
            for cell in cells:
                if self._is_over(cell) or all(map(self._hosts.reachable, self.of(cell))):
                    return cell
            away = list(dict.fromkeys(host_id for cell in cells for host_id in self.of(cell)))
            with self._run.monitor.waiting(f"{', '.join(away)} can't be reached, and is tried again"):
                if self._run.world.pause(_LOOK_EVERY_S, self._run.ending):
                    break
        return None

    def _is_over(self, cell: Cell) -> bool:
        """Return whether the wait for a host of the cell is over. Begins the wait for newly lost hosts."""
        patience_s = self._run.plan.experiments[cell.experiment].unattended_s or _PATIENCE_S
        for host_id in self.of(cell):
            if host_id not in self._until:
                self._until[host_id] = time.monotonic() + patience_s
                text = say.host_away(host=host_id, seconds=figure(patience_s, "g"))
                self._run.journal.write(j.Remark(at=now(), severity="info", text=text))
        return any(time.monotonic() > self._until[host_id] for host_id in self.of(cell))
