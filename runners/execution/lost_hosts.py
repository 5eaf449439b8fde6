"""How a lane behaves if it has no connection to a host: its cells wait for the host, and continue once it is back.

A job continues while its host can't be reached, and `jobs/connection_retry.py` retries each call for a while. This
module takes over after that: the cell has failed, and its host is lost until it answers again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence

from benchbrief.model.message import figure
from benchbrief.model.plan import Cell
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError, HostFull, RunnerError
from benchbrief.runners.execution.retries import Try
from benchbrief.runners.execution.run_state import RunState
from benchbrief.runners.world.world_seams import OpenHosts

_LOOK_EVERY_S = 3.0
_LOOK_AGAIN_S = 60.0
"""For this many seconds after a host was found to be away, cells that need it fail without a new check."""
_PATIENCE_S = 600.0
"""How many seconds to wait for a lost host, unless the experiment sets it. The default of `tasks.Job` is the same."""


class LostHosts:
    """The hosts that a lane has lost. `have_back` restores a host that answers again to its state at the start.

    `have_back` raises HostError or HostFull.
    """

    def __init__(self, run: RunState, hosts: OpenHosts, have_back: Callable[[str], None]) -> None:
        self._run = run
        self._hosts = hosts
        self._have_back = have_back
        self.put_off: list[Try] = []
        self._lost: dict[str, RunnerError] = {}
        self._never_seen: set[str] = set()
        self._until: dict[str, float] = {}
        """When the wait for each host ends, by the monotonic clock."""
        self._looked: dict[str, float] = {}
        """When each host was last found to be away, by the monotonic clock."""
        self._given_up: set[str] = set()
        """The hosts whose wait is over and has been recorded in the journal."""

    def lose(self, host_id: str, error: RunnerError) -> None:
        """Mark a host as lost from the start because it can't be reached, or has no room even to be observed."""
        self._lost[host_id] = error
        self._never_seen.add(host_id)
        self._looked[host_id] = time.monotonic()

    def note(self, cell: Cell, error: HostError) -> None:
        """Mark the cell's unreachable hosts as lost, after the cell failed because of a host."""
        for host_id in cell.locks:
            if not self._is_lately_away(host_id) and not self._is_reachable(host_id):
                self._lost[host_id] = error

    def of(self, cell: Cell) -> list[str]:
        """Return the lost hosts that the cell needs."""
        return [host_id for host_id in cell.locks if host_id in self._lost]

    def for_good(self, cell: Cell) -> bool:
        """Return whether one of the cell's hosts will not recover by itself, since it refuses us or has no room."""
        errors = [self._lost[host_id] for host_id in self.of(cell)]
        return any(not isinstance(error, HostError) or error.lasting for error in errors)

    def may_return(self, cell: Cell, *, retried: bool) -> bool:
        """Return whether the cell needs lost hosts that are still being waited for.

        Only cells that are `retried` wait for a host that could not be reached at the start.
        """
        lost = self.of(cell)
        if not lost or self.for_good(cell) or not (retried or self._never_seen.isdisjoint(lost)):
            return False
        return not any(map(self._is_past, lost))

    def refuse(self, cell: Cell) -> None:
        """Recover the cell's hosts. Raises HostError or HostFull if a host is still away or can't be used."""
        for host_id in self.of(cell):
            if self._is_lately_away(host_id) or not self._is_reachable(host_id):
                raise self._lost[host_id]
            try:
                self._have_back(host_id)
            except (HostError, HostFull) as error:
                self._lost[host_id] = error
                raise
            del self._lost[host_id]
            self._never_seen.discard(host_id)
            self._given_up.discard(host_id)
            self._until.pop(host_id, None)

    def wait_for_each(self) -> Iterator[Try]:
        """Yield each attempt that was put off, once its hosts answer again or the wait for them is over. Stops if the
        run ends."""
        while self.put_off and (cell := self.wait([each.cell for each in self.put_off])) is not None:
            found = next(each for each in self.put_off if each.cell is cell)
            self.put_off.remove(found)
            yield found

    def wait(self, cells: Sequence[Cell]) -> Cell | None:
        """Wait until a cell's hosts answer again or the wait for these hosts is over. Returns the first cell for which
        this happens, or None if the run must end."""
        while not self._run.ending.is_set():
            for cell in cells:
                if self._is_over(cell) or all(map(self._is_reachable, self.of(cell))):
                    return cell
            away = list(dict.fromkeys(host_id for cell in cells for host_id in self.of(cell)))
            with self._run.monitor.waiting(f"{', '.join(away)} can't be reached, and is tried again"):
                if self._run.world.pause(_LOOK_EVERY_S, self._run.ending):
                    break
        return None

    def _is_reachable(self, host_id: str) -> bool:
        if self._hosts.reachable(host_id):
            self._looked.pop(host_id, None)
            return True
        self._looked[host_id] = time.monotonic()
        return False

    def _is_lately_away(self, host_id: str) -> bool:
        return time.monotonic() - self._looked.get(host_id, -math.inf) < _LOOK_AGAIN_S

    def _is_past(self, host_id: str) -> bool:
        return time.monotonic() > self._until.get(host_id, math.inf)

    def _is_over(self, cell: Cell) -> bool:
        """Return whether the wait for one of the cell's hosts is over. Begins the wait for newly lost hosts."""
        patience_s = self._run.plan.experiments[cell.experiment].unattended_s or _PATIENCE_S
        for host_id in self.of(cell):
            if host_id not in self._until:
                self._until[host_id] = time.monotonic() + patience_s
                self._run.remark("info", say.host_away(host=host_id, seconds=figure(patience_s, "g")))
        over = [host_id for host_id in self.of(cell) if self._is_past(host_id)]
        for host_id in over:
            if host_id not in self._given_up:
                self._given_up.add(host_id)
                self._run.remark("info", say.host_not_back(host=host_id))
        return bool(over)
