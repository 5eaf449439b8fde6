"""The base of engines that have no server. Their data are in a directory on one host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from benchbrief.model.plan import Database, Hardware, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import Endpoint
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.declared_hooks import run_hooks
from benchbrief.runners.errors import PlanRefused, RunnerError
from benchbrief.runners.seams import GoesOn, Hosts, Stopping, Transport


class DirectoryEngine:
    """The common part of engines without a server. Implements parts of `seams.Engine` and `seams.OutlivesController`.

    `host_id` is the host that has the data: the first host of the hardware.
    """

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self.keep: Path | None = None  # there is no server with output
        self.stopping: Stopping = GoesOn()
        self.plan, self.database, self.hardware, self.hosts = plan, database, hardware, hosts
        self.host_id = hardware.hosts[0]
        self._opened = False
        self._entered = False

    # --- what an engine says ---

    def open(self) -> None:
        """Claim the directory before the first cell. Engines that have more to check override this. Raises RunnerError
        if the directory can't be used."""
        self.open_directory()

    def endpoint(self) -> Endpoint:
        """Return where the load generator finds the data. Raises PlanRefused if the spec does not name the
        directory."""
        return Endpoint(path=self.path)

    # --- its life ---

    @property
    def host(self) -> Transport:
        """The host that has the data. Raises HostError."""
        return self.hosts[self.host_id]

    @property
    def path(self) -> str:
        """The database's directory. Raises PlanRefused if the spec names none."""
        if not self.database.path:
            raise PlanRefused(
                say.database_pathless(database=self.database.name), say.hint_path(origin=self.database.origin)
            )
        return self.database.path

    def start(self) -> Endpoint:
        """Run the commands declared for `prepare` and open the directory, each only once. Raises RunnerError."""
        endpoint = self.endpoint()
        if not self._opened:
            self._entered = True
            self.run_hooks("prepare")
            self.open()
            self._opened = True
        return endpoint

    def look(self) -> None:
        """Do nothing, as there is no server."""

    def counters(self) -> dict[str, float]:
        """Return no counters, since there is no server, and a library's counters are gone when its process ends."""
        return {}

    def take_over(self) -> None:
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        return {}

    def require_running_since(self, at: float) -> None:
        """Do nothing, as there is no server."""

    def stop(self) -> None:
        """Run the teardown. The data stay for the next cell or run. Raises TeardownFailed."""
        entered, self._entered, self._opened = self._entered, False, False
        if entered:
            self.run_hooks("teardown")

    # --- for an engine's own methods ---

    def open_directory(self) -> None:
        """Claim the directory. Raises RunnerError if it can't be used or belongs to somebody else."""
        said = data_directories.open_directory(self.host, self.path)
        if said is not None:
            raise RunnerError(
                say.directory_unusable(database=self.database.name, host=self.host_id, said=said),
                say.hint_new_directory(origin=self.database.origin),
            )

    def empty_directory(self, refused: str | None = None) -> None:
        """Empty the directory. Raises RunnerError if it is not ours, or if `refused` is a reason not to empty it."""
        said = refused or data_directories.empty_directory(self.host, self.path)
        if said is not None:
            raise RunnerError(
                say.directory_not_emptied(database=self.database.name, host=self.host_id, said=said),
                say.hint_empty_directory(),
            )

    def run_hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        """Run the commands that the spec declares for this point in time. Raises RunnerError."""
        run_hooks(when, self.database, self.hardware, self.hosts, self.keep, self.stopping)
