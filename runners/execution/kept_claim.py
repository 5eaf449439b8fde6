"""Keeps this machine claimed while tables and briefs are made, since making them uses its processors."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from benchbrief.model.plan import Plan
from benchbrief.runners.errors import HostBusy, RunnerError
from benchbrief.runners.hosts.host_connections import CONTROLLER, HostPool
from benchbrief.runners.journal.journal_file import wait_for_lock
from benchbrief.runners.journal.run_folder import simulation_of
from benchbrief.runners.journal.run_identity import IDENTITY, run_name
from benchbrief.runners.seams import Hosts
from benchbrief.runners.world.world_seams import World


class KeptClaim:
    """Holds this machine for the run until the `with` block ends, so that no other run measures while reports are
    rendered.

    During that time the run's identity file is open for writing and locked. Other processes see from this that the
    controller is alive.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._is_locked = self._is_held = False
        self.problem = ""
        """Why the machine could not be released, or "" if there was no problem."""

    def keep(self, world: World, plan: Plan, run_dir: Path, held: Collection[str]) -> str:
        """Claim this machine under the name that it has in `held`, and return that name. Returns "" if it is not in
        `held`."""
        if world.simulated is not None:
            return ""
        with ExitStack() as stack, suppress(RunnerError, OSError):
            hosts = stack.enter_context(world.hosts(plan, run_name(run_dir)))
            here = hosts[CONTROLLER.id].claimed_as()
            if here in held and self._hold(hosts, here, run_dir, stack):
                return here
        return ""

    def take(self, plan: Plan, run_dir: Path) -> bool:
        """Hold this machine, unless it is already held. Returns False if another run holds it.

        A simulated run only marks itself as driven, and so does a run on a machine that can't be claimed.
        """
        with ExitStack() as stack, suppress(RunnerError, OSError):
            if self._is_held:
                return True
            name = run_name(run_dir)  # before the lock, as a copy gets a new file for its identity
            if not self._lock(run_dir) or simulation_of(run_dir) is not None:
                return True
            pool = HostPool(plan.model_copy(update={"hosts": {}}), run_name=name)
            try:
                self._hold(stack.enter_context(pool), CONTROLLER.id, run_dir, stack)
            except HostBusy:
                return False
        return True

    def _hold(self, hosts: Hosts, host_id: str, run_dir: Path, stack: ExitStack) -> bool:
        """Claim a host over a connection in `stack`, which is closed when the claim is released. Returns False if the
        run's identity can't be locked."""
        if not self._lock(run_dir):
            return False
        hosts[host_id].claim()
        stack.callback(hosts[host_id].release)
        self._stack.push(stack.pop_all())
        self._is_held = True
        return True

    def _lock(self, run_dir: Path) -> bool:
        """Lock the run's identity file. Returns False if another process holds the lock. Raises OSError and
        RunnerError."""
        if not self._is_locked:
            with ExitStack() as stack:
                identity = os.open(run_dir / IDENTITY, os.O_RDWR)  # as `find_driving_processes` expects
                stack.callback(os.close, identity)
                self._is_locked = wait_for_lock(identity, run_dir / IDENTITY)
                if self._is_locked:
                    self._stack.push(stack.pop_all())
        return self._is_locked

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self._stack.close()
        except RunnerError as error:
            self.problem = str(error)
