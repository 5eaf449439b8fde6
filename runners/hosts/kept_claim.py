"""The claim of this machine, kept after the last cell: tables and briefs are made on its processors."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.journal.journal_writer import wait_for_lock
from benchbrief.runners.journal.run_identity import IDENTITY, run_name
from benchbrief.runners.world_seams import World


class KeptClaim:
    """Holds this machine for the run until it is left, so that no other run measures beside the rendering.

    The identity of the run is open for writing and locked meanwhile: others see that its controller is still there.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.problem = ""
        """Why the machine could not be released."""

    def keep(self, world: World, plan: Plan, run_dir: Path, held: Collection[str]) -> str:
        """Return the host of `held` that is this machine, under whatever name, and hold it. "" when there is none."""
        if world.simulated is not None:
            return ""
        with ExitStack() as stack, suppress(RunnerError, OSError):
            hosts = stack.enter_context(world.hosts(plan, run_name(run_dir)))
            here = hosts[CONTROLLER.id].claimed_as()
            if here not in held:
                return ""
            hosts[here].claim()  # again, by a connection that stays open
            identity = os.open(run_dir / IDENTITY, os.O_RDWR)  # as `find_driving_processes` expects
            stack.callback(os.close, identity)
            if not wait_for_lock(identity, run_dir / IDENTITY):
                return ""
            stack.callback(hosts[here].release)
            self._stack = stack.pop_all()
            return here
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self._stack.close()
        except RunnerError as error:
            self.problem = str(error)
